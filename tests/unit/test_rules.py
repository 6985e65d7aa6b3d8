"""Grammars of rules: views, limits, text formats, damaged files."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.kit.small_text import damage

from dragoman.align import Alignment
from dragoman.corpus import Bitext
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, Template, Weights, parse_templates
from dragoman.grammar import (
    RULE_SCORES,
    Grammar,
    PhraseExtraction,
    RuleExtraction,
    RuleKind,
    RuleViewConfig,
    extract_phrases,
    extract_rules,
)
from dragoman.grammar.rule_tables import RuleStyle, read_hiero, read_moses_glue, read_moses_rules, write_hiero
from dragoman.grammar.tables import ARRAYS
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures, RuleOptionBuilder

SOURCE = ["das haus", "das haus ist klein", "das haus", "ein haus ist das", "a ||| [X,1]"]
TARGET = ["the house", "the house is small", "the building", "that is a house", "x <s> [X,2]"]
CHIANG = RuleExtraction(tight=True, min_source_gap=1)
LINKS = [
    [(0, 0), (1, 1)],
    [(0, 0), (1, 1), (2, 2), (3, 3)],
    [(0, 0), (1, 1)],
    [(0, 2), (1, 3), (2, 1), (3, 0)],
    [(0, 0), (1, 1), (2, 2)],
]


@pytest.fixture
def bitext(tmp_path) -> Bitext:
    for name, lines in (("s", SOURCE), ("t", TARGET)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return Bitext.build(tmp_path / "s", tmp_path / "t", tmp_path / "bitext", n_folds=2, seed=1)


@pytest.fixture
def grammar(bitext, tmp_path) -> Grammar:
    return extract_rules(bitext, Alignment.of(LINKS), tmp_path / "grammar", CHIANG)


def test_rules_share_the_mass_of_their_phrase(grammar):
    view = grammar.rule_view()
    # das haus: the phrase, [X,1] haus, das [X,1]; a third each.
    rule = view.find("das haus", "the house")
    assert (rule.count, rule.mass) == (2, pytest.approx(2 / 3))
    assert rule.kind is RuleKind.COMPOSED
    assert rule.scores[:2] == pytest.approx((math.log(2 / 3), 0))
    assert rule.scores[2] == pytest.approx(math.log(3 / 4 * 3 / 4))
    assert rule.scores[4:] == pytest.approx((math.log(3), 0))
    gap = view.find("[X,1] haus", "[X,1] building")
    assert (gap.lhs, gap.kind, gap.count, gap.alignment) == ("X", RuleKind.MINIMAL, 1, ((1, 1),))
    assert gap.scores[5] == 1


def test_nonterminals_change_their_order(grammar):
    rules = grammar.rule_view().lookup("[X,1] ist [X,2]")
    assert {rule.target for rule in rules} == {"[X,1] is [X,2]", "[X,2] is [X,1]"}
    # Both share the marginal of their target side.
    assert sum(math.exp(rule.scores[1]) for rule in rules) == pytest.approx(1)


def test_what_is_not_there(grammar):
    view = grammar.rule_view()
    assert view.lookup("nichts") == view.lookup("") == view.lookup("[X,1]") == []
    assert view.find("haus", "nothing") is None
    assert view.find("nichts", "house") is None
    assert view.find("haus", "the") is None
    with pytest.raises(InputError, match="no nonterminal is called 'NP'"):
        view.lookup("[NP,1] haus")
    with pytest.raises(IndexError):
        view.rule(len(grammar))
    assert view.knows_source("das")
    assert not view.knows_source("nichts")
    assert view.knows_target("house")


def test_words_that_look_like_markup(grammar):
    view = grammar.rule_view()
    (rule,) = view.lookup("a ||| [X,1]")
    assert (rule.source, rule.target) == (r"a \\p\p\p [X,1]", r"x \<s> [X,1]")
    assert view.find(r"\[X,1]", r"\[X,2]").count == 1


def test_limits(bitext, grammar, tmp_path):
    assert [r.target for r in grammar.rule_view(RuleViewConfig(max_targets=1)).lookup("haus")] == ["house"]
    assert grammar.rule_view().find("[X,1] haus", "[X,1] building").count == 1
    assert grammar.rule_view(RuleViewConfig(min_count=2)).find("[X,1] haus", "[X,1] building") is None
    flat = extract_rules(bitext, Alignment.of(LINKS), tmp_path / "flat", replace(CHIANG, max_nonterminals=0))
    assert flat.rule_view().lookup("[X,1] haus") == []
    often = extract_rules(bitext, Alignment.of(LINKS), tmp_path / "often", replace(CHIANG, min_count=2))
    assert len(often) < len(grammar)
    with pytest.raises(InputError, match="less than 2 times were left out"):
        often.rule_view(RuleViewConfig(min_count=1))
    # What was left out still counts for the others.
    for source, target in (("[X,1] haus", "[X,1] house"), ("das [X,1]", "the [X,1]")):
        assert often.rule_view().find(source, target).scores == grammar.rule_view().find(source, target).scores


def test_errors(bitext, grammar, tmp_path):
    with pytest.raises(MismatchError, match="4 lines for 5"):
        extract_rules(bitext, Alignment.of(LINKS[:4]), tmp_path / "g")
    with pytest.raises(InputError, match=r"line 4.*1-7 points beyond a sentence pair"):
        extract_rules(bitext, Alignment.of([*LINKS[:3], [(1, 7)], LINKS[4]]), tmp_path / "g")
    with pytest.raises(InputError, match="has rules, not phrase pairs"):
        grammar.view()
    phrases = extract_phrases(bitext, Alignment.of(LINKS), tmp_path / "p", PhraseExtraction(max_length=3))
    with pytest.raises(InputError, match="has phrase pairs, not rules"):
        phrases.rule_view()
    with pytest.raises(InputError, match="no fold 2"):
        grammar.rule_view(RuleViewConfig(excluded_fold=2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleExtraction(max_length=0),
        lambda: RuleExtraction(max_length=256),
        lambda: RuleExtraction(max_nonterminals=3),
        lambda: RuleExtraction(max_symbols=0),
        lambda: RuleExtraction(min_source_gap=0),
        lambda: RuleExtraction(min_count=0),
        lambda: RuleExtraction(max_sentence_length=0),
        lambda: RuleExtraction(n_threads=0),
        lambda: RuleViewConfig(excluded_fold=-1),
        lambda: RuleViewConfig(max_targets=-1),
        lambda: RuleViewConfig(min_count=0),
    ],
)
def test_bad_settings(make):
    with pytest.raises(InputError):
        make()


def test_many_pairs_ask_for_two_occurrences():
    assert RuleExtraction().least_count(200_000) == 1
    assert RuleExtraction().least_count(200_001) == 2
    assert RuleExtraction(min_count=1).least_count(10**6) == 1
    assert (RuleExtraction().is_tight(200_000), RuleExtraction().is_tight(200_001)) == (False, True)
    assert (RuleExtraction(tight=True).is_tight(1), RuleExtraction(tight=False).is_tight(10**6)) == (True, False)


@pytest.mark.parametrize("features", [ChartFeatures.chiang8(), ChartFeatures.full14()])
def test_a_chart_decoder_takes_the_rules(grammar, features):
    view, index = grammar.rule_view(), FeatureIndex()
    templates = [Template.parse("rule_id")]
    builder = RuleOptionBuilder(view, index, templates=templates, scores=features.scores)
    options = builder.build(["das haus ist klein", "wer"])
    assert options.scores.shape == (len(options.rules), len(features.scores))
    assert options.own_words == ("wer",)
    decoder = ChartDecoder(ChartConfig(), view.target_vocab, index, features=features)
    weights = Weights.from_dict({"p_e_f": 1.0, "words": 1.0}, index)
    found = [" ".join(f.best(weights).tokens()) for f in decoder.decode(options, weights)]
    assert found == ["the house is small", "wer"]
    with pytest.raises(InputError, match="no score 'p'"):
        RuleOptionBuilder(view, index, scores=("p",))


def test_names_tell_rules_apart(tmp_path):
    """By left-hand side, by label and by the order of nonterminals."""
    (tmp_path / "rules").write_text(
        "[X] ||| [X,1] f [X,2] ||| [X,1] e [X,2] ||| p_e_f=-1\n"
        "[Y] ||| [X,1] f [X,2] ||| [X,1] e [X,2] ||| p_e_f=-1\n"
        "[X] ||| [X,1] f [Y,2] ||| [X,1] e [Y,2] ||| p_e_f=-1\n"
        "[X] ||| [X,1] f [X,2] ||| [X,2] e [X,1] ||| p_e_f=-1\n"
        "[X] ||| g ||| e ||| p_e_f=-1\n"
    )
    index = FeatureIndex()
    view = read_hiero(tmp_path / "rules", tmp_path / "grammar").rule_view()
    templates = parse_templates(["rule_id", "rule_shape", "node_count", "rule_overlap"])
    RuleOptionBuilder(view, index, templates=templates).build(["g f g"]).interned(index)
    assert {index.name(i) for i in range(len(index))} == {
        r"rule_id:[X],[X]\sf\s[X],[1]\se\s[2]",
        r"rule_id:[Y],[X]\sf\s[X],[1]\se\s[2]",
        r"rule_id:[X],[X]\sf\s[Y],[1]\se\s[2]",
        r"rule_id:[X],[X]\sf\s[X],[2]\se\s[1]",
        "rule_id:[X],g,e",
        r"rule_shape:[1]\sw\s[2],[1]\sw\s[2]",
        r"rule_shape:[1]\sw\s[2],[2]\sw\s[1]",
        "rule_shape:w,w",
        "node_count:[X]",
        "node_count:[Y]",
        "rule_overlap:[X]",
        "rule_overlap:[Y]",
    }


@pytest.mark.parametrize("name", list(ARRAYS))
def test_wild_content_never_crashes(grammar, name):
    """Files of the right size with any content: an error or an answer."""
    for _ in damage(grammar.folder / name):
        try:
            view = Grammar.load(grammar.folder).rule_view()
            templates = parse_templates(["rm_sparse", "rule_overlap", "node_count"])
            RuleOptionBuilder(view, FeatureIndex(), templates=templates).build(["das haus ist klein ein haus"])
            write_hiero(view, grammar.folder / "out")
            for rule in range(view.tables.n_pairs()):
                view.rule(rule)
        except InputError:
            continue


def shown(view):
    """Everything a view shows, without ids."""
    found = (view.rule(i) for i in range(view.tables.n_pairs()))
    return sorted((r.lhs, r.source, r.target, r.scores, r.alignment) for r in found if r)


@pytest.mark.parametrize("style", list(RuleStyle))
def test_hiero_there_and_back(grammar, tmp_path, style):
    view = grammar.rule_view(RuleViewConfig(max_targets=0))
    write_hiero(view, tmp_path / "rules.gz", style=style)
    imported = read_hiero(tmp_path / "rules.gz", tmp_path / "imported")
    again = imported.rule_view(RuleViewConfig(max_targets=0))
    assert again.score_names == RULE_SCORES
    assert shown(again) == shown(view)
    assert again.lookup("haus")[0].kind is RuleKind.ADDED
    write_hiero(again, tmp_path / "again", style=style)
    write_hiero(view, tmp_path / "first", style=style)
    assert sorted((tmp_path / "again").read_text().split("\n")) == sorted((tmp_path / "first").read_text().split("\n"))


LABELLED = """\
[NP] ||| das [NN,1] ||| the [NN,1] ||| 0.5 1.25 rare=1 ||| 0-0
[NP] ||| [NP,2] [PP,1] [NN,7] ||| [NN,7] [PP,1] [NP,2] ||| 0.25
[NN] ||| haus ||| house ||| Glue=0
[X] ||| haus ||| house ||| 1
[X] ||| [X,1] [applause] ||| [1] [noise] |||
[S] ||| [NP,1] ||| [1] ||| 0
[S] ||| [S,1] [NP,2] ||| [1] [2] ||| 1
[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| 1
"""


def test_labelled_rules(tmp_path):
    (tmp_path / "rules").write_text(LABELLED)
    grammar = read_hiero(tmp_path / "rules", tmp_path / "g")
    assert grammar.labels == ("NN", "NP", "PP", "X")
    assert grammar.manifest.content["glue"] == {"goal": "S", "labels": ["NP", "X"]}
    view = grammar.rule_view()
    assert view.score_names == ("PhraseModel_0", "PhraseModel_1", "rare", "Glue")
    assert len(grammar) == 5
    assert [(r.lhs, r.scores[0]) for r in view.lookup("haus")] == [("X", 1), ("NN", 0)]
    (three,) = view.lookup("[NP,1] [PP,2] [NN,3]")
    assert (three.target, three.scores) == ("[NN,3] [PP,2] [NP,1]", (0.25, 0, 0, 0))
    assert view.find("das [NN,1]", "the [NN,1]", lhs="NP").alignment == ((0, 0),)
    assert view.find(r"[X,1] \[applause]", r"[X,1] \[noise]").rule >= 0
    with pytest.raises(InputError, match="no folds"):
        grammar.rule_view(RuleViewConfig(excluded_fold=0))


GOOD = "[X] ||| a [X,1] ||| [X,1] b ||| 1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ||| b\n", "line 1: expected"),
        (GOOD + "X ||| a ||| b ||| 1\n", "line 2: expected one label"),
        ("[X] [Y] ||| a ||| b ||| 1\n", "expected one label"),
        (" ||| a ||| b ||| 1\n", "expected a label"),
        ("[X] ||| ||| b ||| 1\n", "the source side has 0 symbols"),
        ("[X] ||| a ||| ||| 1\n", "the target side has 0 symbols"),
        ("[X] ||| a [X,1] ||| b ||| 1\n", "the same, each once"),
        ("[X] ||| a [X,1] ||| b [X,2] ||| 1\n", "the same, each once"),
        ("[X] ||| a [X,1] ||| b [1] [1] ||| 1\n", "the same, each once"),
        ("[X] ||| a [X,1] b [X,1] ||| b [1] ||| 1\n", "duplicate nonterminal 1 on the source side"),
        ("[X] ||| a [X,1] ||| [Y,1] b ||| 1\n", "'X' on the source side and 'Y' on the target side"),
        ("[X] ||| a ||| b ||| one\n", "expected a number or name=number, not 'one'"),
        ("[X] ||| a ||| b ||| p=nan\n", "not finite"),
        ("[X] ||| a ||| b ||| p=1 p=2\n", "duplicate feature 'p=2'"),
        ("[X] ||| a ||| b ||| 1 ||| 0-1\n", "points beyond"),
        ("[X] ||| a ||| b ||| 1 ||| 0-0 ||| 3\n", "expected '"),
        (GOOD + GOOD, "line 2: duplicate rule; it is already in line 1"),
        (
            "[X] ||| a ||| b ||| " + " ".join(f"f{i}=1" for i in range(300)) + "\n",
            "more than 256 different feature names",
        ),
        ("[X] ||| " + "a " * 255 + "||| b ||| 1\n", "expected 1 to 254"),
    ],
)
def test_errors_in_hiero_grammars(tmp_path, text, message):
    (tmp_path / "rules").write_text(text)
    with pytest.raises(InputError, match=message.replace("|", r"\|")) as caught:
        read_hiero(tmp_path / "rules", tmp_path / "g")
    assert caught.value.path == str(tmp_path / "rules")
    assert not (tmp_path / "g").exists()


MOSES = "[X][X] a [X] ||| b [X][X] [X] ||| 0.5 0.25 1 0 ||| 0-1 1-0 ||| 2 3 1.6 ||| |||\n"


def test_moses_rules(tmp_path):
    (tmp_path / "rules").write_text(MOSES + "a [X] ||| b [X] ||| 1 1 1 1 2.718 ||| 0-0\n")
    grammar = read_moses_rules(tmp_path / "rules", tmp_path / "g")
    (rule,) = grammar.rule_view().lookup("[X,1] a")
    assert (rule.target, rule.count, rule.alignment) == ("b [X,1]", 2, ((1, 0),))
    assert rule.scores == pytest.approx((0, math.log(0.5), -100, math.log(0.25)))
    assert grammar.rule_view().find("a", "b").scores == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ||| b ||| 1\n", "line 1: expected 'source"),
        (MOSES + "a ||| b [X] ||| 1 1 1 1 ||| 0-0\n", "line 2: expected the left-hand label"),
        ("a [X] ||| b [X] ||| 1 1 1 ||| 0-0\n", "expected four scores"),
        ("a [X] ||| b [X] ||| 1 1 1 2 ||| 0-0\n", "not a probability"),
        ("[X][X] a [X] ||| [X][X] b [X] ||| 1 1 1 1 ||| 0-1\n", "joins a word and a nonterminal"),
        ("[X][X] a [X] ||| [X][X] b [X] ||| 1 1 1 1 ||| 1-1\n", "the same, each once"),
        ("[A][B] a [X] ||| [A][B] b [X] ||| 1 1 1 1 ||| 0-0\n", "has two labels"),
        (MOSES + MOSES, "line 2: duplicate rule; it is already in line 1"),
    ],
)
def test_errors_in_moses_rules(tmp_path, text, message):
    (tmp_path / "rules").write_text(text)
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        read_moses_rules(tmp_path / "rules", tmp_path / "g")


GLUE = """\
<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||
[X][S] [X][NP] [X] ||| [X][S] [X][NP] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||
"""


def test_moses_glue(tmp_path):
    (tmp_path / "glue").write_text(GLUE)
    glue = read_moses_glue(tmp_path / "glue")
    assert (glue.goal, glue.labels, glue.score) == ("S", ("X", "NP"), math.log(2.718))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rule that puts"),
        (MOSES, "line 1: expected a glue rule"),
        (GLUE + "a [X] ||| a [S] ||| 1 |||\n", "line 5: is not a glue rule"),
        (GLUE.replace("2.718", "no"), "'no' is not a positive number"),
        (GLUE.replace("[NP] [S] ||| 2.718", "[NP] [S] ||| 1"), "line 4: has another score"),
    ],
)
def test_errors_in_moses_glue(tmp_path, text, message):
    (tmp_path / "glue").write_text(text)
    with pytest.raises(InputError, match=message):
        read_moses_glue(tmp_path / "glue")
