"""Added rules, composed singletons and pairs that are left out: grammars, systems, files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.kit.small_text import damage, write_lines, write_splits

from dragoman.align import Alignment, minimal_trees
from dragoman.corpus import Bitext
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, parse_templates
from dragoman.grammar import Grammar, RuleCut, RuleExtraction, RuleKind, RuleViewConfig, extract_rules
from dragoman.grammar.rule_tables import RuleStyle, read_hiero, write_hiero
from dragoman.grammar.tables import ARRAYS
from dragoman.lm import EstimateConfig
from dragoman.search import RuleOptionBuilder
from dragoman.system import HieroSettings, System, SystemSettings, TrainConfig, train

CHIANG = RuleExtraction(tight=True, min_source_gap=1, added=True)
SHOWN = RuleViewConfig(max_targets=0, added=True)
PAIRS = [
    ("a b c d", "B D A C", [(0, 2), (1, 0), (2, 3), (3, 1)]),  # no two neighbours make a phrase pair
    ("a b c d", "B D A C", [(0, 2), (1, 0), (2, 3), (3, 1)]),
    ("a u b v c w", "A B x C", [(0, 0), (2, 1), (4, 3)]),  # a row with unaligned words between and at the end
    ("a b", "A B", [(0, 0), (1, 1)]),
    ("q r", "Q R", []),  # no links
    ("", "E", []),
]
FOUR = ("[X,1] [X,2] [X,3] [X,4]", "[X,2] [X,4] [X,1] [X,3]")


def bitext_of(folder, pairs, **config):
    source = write_lines(folder / "s", [pair[0] for pair in pairs])
    target = write_lines(folder / "t", [pair[1] for pair in pairs])
    return Bitext.build(source, target, folder / "bitext", **config)


@pytest.fixture
def bitext(tmp_path) -> Bitext:
    return bitext_of(tmp_path, PAIRS, n_folds=2, seed=1)


@pytest.fixture
def links() -> Alignment:
    return Alignment.of([pair[2] for pair in PAIRS])


@pytest.fixture
def grammar(bitext, links, tmp_path) -> Grammar:
    return extract_rules(bitext, links, tmp_path / "grammar", CHIANG)


def shown(view):
    """Everything a view shows, without ids."""
    found = (view.rule(i) for i in range(view.tables.n_pairs()))
    return sorted((r.source, r.target, r.kind.value, r.count, r.scores, r.alignment) for r in found if r)


def test_rules_of_minimal_trees_that_the_limits_do_not_allow(grammar):
    view = grammar.rule_view(SHOWN)
    added = {(r[0], r[1]): r[3] for r in shown(view) if r[2] == RuleKind.ADDED.value}
    assert added == {
        FOUR: 2,  # four nonterminals and no word
        ("[X,1] u [X,2]", "[X,1] [X,2]"): 1,  # u has no link: no pair of linked words
        ("[X,1] v [X,2] w", "[X,1] x [X,2]"): 1,  # the rest of the row and the word at the end
        ("[X,1] [X,2]", "[X,1] [X,2]"): 1,
        ("q r", "Q R"): 1,
    }
    rule = view.find(*FOUR)
    assert (rule.kind, rule.count, rule.alignment) == (RuleKind.ADDED, 2, ())
    assert rule.mass == pytest.approx(2 / 9)  # eight more rules with up to two nonterminals share the phrase pair
    assert rule.scores == pytest.approx((0, 0, 0, 0, math.log(3), 0))
    assert view.lookup(FOUR[0]) == [rule]
    assert grammar.manifest.content["n_added"] == len(added)
    assert grammar.beyond_limits() == {"n_added": 5, "n_added_too_long": 0}
    Grammar.verify(grammar.folder)


def test_views_hide_them_unless_asked(bitext, links, grammar, tmp_path):
    plain = extract_rules(bitext, links, tmp_path / "plain", RuleExtraction(tight=True, min_source_gap=1))
    hidden = grammar.rule_view(RuleViewConfig(max_targets=0))
    assert shown(hidden) == shown(plain.rule_view(RuleViewConfig(max_targets=0)))
    assert hidden.find(*FOUR) is None
    assert hidden.lookup(FOUR[0]) == []
    assert (plain.beyond_limits(), plain.notes(), plain.has_added) == ({}, [], False)
    with pytest.raises(InputError, match="has no added rules; extract it with added=true"):
        plain.rule_view(SHOWN)
    # Files of a decoder are as they were.
    for name in ("trie.symbols", "trie.children"):
        assert (grammar.folder / name).read_bytes() == (plain.folder / name).read_bytes()


def test_ids_of_the_rules_of_trees(bitext, links, grammar):
    trees = minimal_trees(links, bitext.source.lengths(), bitext.target.lengths())
    ids = grammar.minimal_rules(bitext.source, bitext.target, links)
    assert len(ids) == len(trees.spans)
    assert np.array_equal(ids, grammar.minimal_rules(bitext.source, bitext.target, links, n_threads=3))
    view = grammar.rule_view(SHOWN)
    top = view.rule(int(ids[trees.offsets[1] - 1]))
    assert (top.source, top.target) == FOUR
    assert min(ids) >= 0
    assert view.rule(int(ids[0])).source == "a"
    with pytest.raises(MismatchError):
        grammar.minimal_rules(bitext.source, bitext.target, Alignment.of([]))
    with pytest.raises(InputError, match="line 2"):
        grammar.minimal_rules(bitext.source, bitext.target, Alignment.of([[], [(0, 9)], [], [], [], []]))


@pytest.mark.parametrize("style", list(RuleStyle))
def test_text_with_any_number_of_nonterminals_there_and_back(grammar, tmp_path, style):
    view = grammar.rule_view(SHOWN)
    write_hiero(view, tmp_path / "rules", style=style)
    again = read_hiero(tmp_path / "rules", tmp_path / "imported").rule_view(RuleViewConfig(max_targets=0))
    there, back = ([(r[0], r[1], r[4], r[5]) for r in shown(v)] for v in (view, again))
    assert there == back
    assert again.find(*FOUR) is not None


def test_long_rules_and_long_pairs(tmp_path):
    words = [" ".join(f"{side}{i}" for i in range(n)) for n in (255, 256, 30) for side in "st"]
    pairs = [(words[i], words[i + 1], []) for i in (0, 2)]
    crossed = [(i, i) for i in range(30)] + [(i, (i + 17) % 30) for i in range(30)]
    pairs.append((words[4], words[5], sorted(crossed)))
    bitext = bitext_of(tmp_path, pairs)
    grammar = extract_rules(bitext, Alignment.of([p[2] for p in pairs]), tmp_path / "g", CHIANG)
    assert grammar.beyond_limits() == {"n_added": 2, "n_added_too_long": 1}
    assert any("more than 255 symbols" in note for note in grammar.notes())
    found = [grammar.rule_view(SHOWN).rule(i) for i in range(len(grammar))]
    assert sorted(len(rule.source.split()) for rule in found) == [30, 255]
    assert all(math.isfinite(score) for rule in found for score in rule.scores)
    ids = grammar.minimal_rules(bitext.source, bitext.target, Alignment.of([p[2] for p in pairs]))
    assert sorted(ids >= 0) == [False, True, True]
    # The product of 255 probabilities of unaligned words, which have 511 occurrences, does not become 0.
    assert min(rule.scores[2] for rule in found) == pytest.approx(255 * math.log(2 / 511), rel=1e-5)


def test_pairs_are_left_out_by_the_words_of_such_rules(bitext, links, tmp_path):
    def extracted(share, **config):
        settings = RuleExtraction(tight=True, min_source_gap=1, max_added=share, **config)
        return extract_rules(bitext, links, tmp_path / f"{share}-{len(config)}", settings)

    # Rules without words count 0, so that only u, v and w of six words and the pair without links matter.
    for share, n in ((1.0, 0), (0.5, 1), (0.49, 2), (0.0, 2)):
        grammar = extracted(share)
        assert grammar.manifest.content["n_left_out"] == n
        assert grammar.manifest.content["n_sentences"] == 5 - n
        assert grammar.beyond_limits() == ({} if share == 1 else {"n_left_out": n})
    assert "2 sentence pairs left out" in grammar.notes()[0]
    assert "max_added=0.0" in grammar.notes()[0]
    assert not grammar.rule_view().knows_source("u")
    both = extracted(0.0, added=True)
    assert both.beyond_limits() == {"n_added": 2, "n_added_too_long": 0, "n_left_out": 2}


def test_a_cut_of_composed_rules_leaves_the_minimal_ones(bitext, links, grammar, tmp_path):
    every = grammar.rule_view(RuleViewConfig(max_targets=0))
    for cut, stays in (
        (RuleCut.COMPOSED, lambda rule: rule.count >= 2 or rule.kind is RuleKind.MINIMAL),
        (RuleCut.ALL, lambda rule: rule.count >= 2 or "[X," not in rule.source),
    ):
        settings = RuleExtraction(tight=True, min_source_gap=1, cut=cut, min_count=2)
        less = extract_rules(bitext, links, tmp_path / cut, settings)
        expected = [rule for i in range(len(grammar)) if (rule := every.rule(i)) and stays(rule)]
        assert 0 < len(expected) < len(shown(every))
        assert {(r[0], r[1], r[4]) for r in shown(less.rule_view())} == {
            (r.source, r.target, r.scores) for r in expected
        }
    assert RuleExtraction(cut=RuleCut.COMPOSED).least_count(1) == 2
    assert RuleExtraction(cut=RuleCut.COMPOSED, min_count=3).least_count(1) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleExtraction(cut=RuleCut.COMPOSED, min_count=1),
        lambda: RuleExtraction(max_added=-0.1),
        lambda: RuleExtraction(max_added=1.1),
        lambda: RuleExtraction(max_added=math.nan),
    ],
)
def test_wrong_settings(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize("name", list(ARRAYS))
def test_wild_content_never_crashes(grammar, name):
    """Files of the right size with any content: an error or an answer."""
    for _ in damage(grammar.folder / name):
        try:
            view = Grammar.load(grammar.folder).rule_view(SHOWN)
            RuleOptionBuilder(view, FeatureIndex(), templates=parse_templates(["rm_sparse"])).build(["a b u c d"])
            write_hiero(view, grammar.folder / "out")
            for rule in range(view.tables.n_pairs()):
                view.rule(rule)
        except InputError:
            continue


@pytest.mark.parametrize(
    "change",
    [
        {"added": 3},
        {"cut": "some"},
        {"cut": None},
        {"max_added": "x"},
        {"n_added": -1},
        {"n_added": None},
        {"max_added": 0.5, "n_left_out": []},
        {"min_count": 1 << 80},
    ],
)
def test_a_manifest_that_says_nonsense(grammar, change):
    path = grammar.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match="manifest"):
        Grammar.load(grammar.folder)


def test_a_system_translates_as_if_there_were_none(tmp_path):
    write_splits(tmp_path, 200, 0, 10, seed=3)
    made = {}
    for added in (False, True):
        model = HieroSettings(rules=RuleExtraction(added=added))
        config = TrainConfig(settings=SystemSettings(model=model, n_folds=2), lm=EstimateConfig(order=2))
        made[added] = train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / f"{added}", config=config)
    lines = (tmp_path / "test.de").read_text().splitlines()
    for views in (made.values(), [system.view(fold=1) for system in made.values()]):
        plain, more = ([shard.totals.tolist() for shard in view.kbest(lines, 5).shards] for view in views)
        assert plain == more
    assert list(made[True].translate(lines)) == list(made[False].translate(lines))
    assert made[True].manifest.about["n_added"] > 0
    assert "n_added" not in made[False].manifest.about
    assert "added" not in made[False].settings.to_json()["rules"]
    assert made[True].settings.to_json()["rules"]["added"] is True
    assert System.load(tmp_path / "True").settings == made[True].settings
    assert System.load(tmp_path / "False").settings == made[False].settings
