"""Translation options from views: forms of sentences, words passed through, growth of the index, threads, errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.batches import same

from dragoman.align import Alignment
from dragoman.corpus import UNK, Bitext
from dragoman.errors import InputError
from dragoman.features import TEMPLATE_SETS, FeatureIndex, Template, feature_name, known_templates, parse_templates
from dragoman.grammar import Grammar, extract_phrases, extract_rules
from dragoman.grammar.phrase_tables import read_tables, write_tables
from dragoman.search import PhraseOptionBuilder, RuleOptionBuilder

SOURCE = ["das haus", "das haus ist klein", "ein haus", "klein ist das haus"]
TARGET = ["the house", "the house is small", "a house", "small is the house"]
BATCH = ["das haus", "", "ein neues haus ist the", "klein"]


@pytest.fixture(scope="module")
def grammar(tmp_path_factory) -> Grammar:
    folder = tmp_path_factory.mktemp("grammar")
    for name, lines in (("s", SOURCE), ("t", TARGET)):
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    bitext = Bitext.build(folder / "s", folder / "t", folder / "bitext", n_folds=2, seed=1)
    links = [[(i, i) for i in range(len(line.split()))] for line in SOURCE]
    return extract_phrases(bitext, Alignment.of(links), folder / "grammar")


def test_lines_tokens_and_ids_are_the_same(grammar):
    view = grammar.view()
    builder = PhraseOptionBuilder(view, FeatureIndex(), templates=parse_templates(["extended"]))
    lines = builder.build(BATCH)
    assert lines.own_words == ("neues",)
    assert same(lines, builder.build([line.split() for line in BATCH]))
    ids = [view.source_vocab.encode(line) for line in BATCH]
    assert same(lines, builder.build([ids[0], BATCH[1], BATCH[2].split(), ids[3]]))
    by_id = builder.build(ids)
    assert by_id.own_words == ("<unk>",)
    assert np.array_equal(by_id.rules, lines.rules)
    empty = builder.build([])
    assert (len(empty), empty.own_words) == (0, ())


def test_words_pass_through_to_what_the_target_side_knows(grammar):
    view = grammar.view()
    options = PhraseOptionBuilder(view, FeatureIndex()).build(["the neu neu"])
    assert options.pass_through.tolist() == [
        view.target_vocab.id("the"),
        len(view.target_vocab),
        len(view.target_vocab),
    ]
    assert options.own_words == ("neu",)
    assert options.feature_offsets.tolist() == [0]


def test_without_growth_new_features_are_left_out(grammar):
    index = FeatureIndex()
    builder = PhraseOptionBuilder(grammar.view(), index, templates=parse_templates(["rule_id", "source_length"]))
    full = builder.build(["das haus"]).interned(index)
    n = len(index)
    again = builder.build(["das haus"], grow=False)
    assert same(full, again)
    less = builder.build(["klein"], grow=False)
    assert len(index) == n
    assert {index.name(i).split(":")[0] for i in less.feature_ids.tolist()} == {"source_length"}


def test_threads_do_not_matter(grammar):
    results = []
    for n_threads in (1, 3):
        index = FeatureIndex()
        builder = PhraseOptionBuilder(grammar.view(), index, templates=parse_templates(["extended", "rule_id"]))
        options = builder.build(BATCH * 300, n_threads=n_threads).interned(index)
        results.append((options, index.names(np.arange(len(index), dtype=np.int32))))
    assert results[0][1] == results[1][1]
    assert same(results[0][0], results[1][0])


def test_scores_that_are_no_numbers_are_damage(grammar, tmp_path):
    write_tables(grammar.view(), tmp_path / "phrases", reordering=tmp_path / "reordering")
    folder = tmp_path / "imported"
    read_tables(tmp_path / "phrases", folder, reordering=tmp_path / "reordering")
    scores = np.fromfile(folder / "given.scores", np.float32)
    np.full_like(scores, np.nan).tofile(folder / "given.scores")
    with pytest.raises(InputError, match="a score is not finite; the system may be damaged"):
        PhraseOptionBuilder(Grammar.load(folder).view(), FeatureIndex()).build(["das haus"])


def test_an_imported_grammar_needs_word_counts(grammar, tmp_path):
    write_tables(grammar.view(), tmp_path / "phrases", reordering=tmp_path / "reordering")
    imported = read_tables(tmp_path / "phrases", tmp_path / "imported", reordering=tmp_path / "reordering").view()
    templates = parse_templates(["word_pair(top=1)"])
    with pytest.raises(InputError, match="counts"):
        PhraseOptionBuilder(imported, FeatureIndex(), templates=templates)
    with pytest.raises(
        InputError, match="by=unaligned needs counts of linked word pairs, which an imported grammar lacks"
    ):
        PhraseOptionBuilder(imported, FeatureIndex(), templates=parse_templates(["source_deletion(by=unaligned)"]))
    counts = []
    for vocab, frequent in ((imported.source_vocab, "haus"), (imported.target_vocab, "house")):
        of_word = np.ones(len(vocab), np.int64)
        of_word[vocab.id(frequent)] = 9
        of_word[UNK] = 99
        counts.append(of_word)
    index = FeatureIndex()
    builder = PhraseOptionBuilder(imported, index, templates=templates, word_counts=tuple(counts))
    builder.build(["das haus"]).interned(index)
    assert index.find("word_pair:haus,house") >= 0
    assert index.find("word_pair:<other>,<other>") >= 0
    assert len(index) == 2


@pytest.mark.parametrize("sentence", [["das haus"], [""], ["das", "\n"], ["a\tb"]])
def test_tokens_with_white_space_are_refused(grammar, sentence):
    with pytest.raises(InputError, match="white space"):
        PhraseOptionBuilder(grammar.view(), FeatureIndex()).build([sentence])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word_pairs", "unknown template"),
        ("word_pair(", "expected a template"),
        ("word_pair(top)", "expected settings"),
        ("word_pair(top=x)", "expected settings"),
        ("word_pair(top=0)", "must be from 1"),
        ("word_pair(top=1,top=2)", "duplicate setting top"),
        ("word_pair(max=1)", "has no setting"),
        ("discount(top=1)", "has no setting"),
        ("source_deletion(by=length)", "by of source_deletion must be frequency or unaligned, not 'length'"),
        ("source_deletion(by=1)", "must be frequency or unaligned"),
        ("source_deletion(top=unaligned)", "expected settings of source_deletion such as top=50"),
    ],
)
def test_texts_that_name_no_template(text, message):
    with pytest.raises(InputError, match=message):
        Template.parse(text)


def test_choices_of_a_template_go_by_name():
    template = Template.parse("target_insertion(by=unaligned)")
    assert template == Template("target_insertion", (50, 0, "unaligned"))
    assert template.codes() == [50, 0, 1]
    assert str(template) == "target_insertion(top=50,aligned=0,by=unaligned)"
    with pytest.raises(InputError, match="must be frequency or unaligned"):
        Template("source_deletion", (50, 1))
    with pytest.raises(InputError, match="must be from 1"):
        Template("source_deletion", ("50", "unaligned"))


def test_rm_phrase_is_what_phrases_can_have_of_rm_sparse():
    rules, phrases = parse_templates(["rm_sparse"]), parse_templates(["rm_phrase"], has_rules=False)
    assert phrases == tuple(t for t in rules if not known_templates()[t.name].for_rules_only)
    assert {t.values[-1] for t in phrases if t.name in ("target_insertion", "source_deletion")} == {"unaligned"}


def test_sets_of_templates():
    assert parse_templates(["phrase15"]) == ()
    assert [str(t) for t in parse_templates(["extended"])] == list(TEMPLATE_SETS["extended"])
    assert str(parse_templates([" word_pair( top = 5 ) "])[0]) == "word_pair(top=5)"
    with pytest.raises(InputError, match="duplicate template"):
        parse_templates(["extended", "discount"])


@pytest.mark.parametrize("name", ["rule_shape", "rule_overlap", "node_count", "structural_distortion"])
def test_templates_about_rules_are_refused(grammar, name):
    with pytest.raises(InputError, match=f"{name} is for rules"):
        PhraseOptionBuilder(grammar.view(), FeatureIndex(), templates=parse_templates([name]))
    with pytest.raises(InputError, match=f"{name} is for rules"):
        parse_templates(["rule_id", name], has_rules=False)


def test_templates_about_phrases_are_refused_for_rules(tmp_path):
    with pytest.raises(InputError, match="reorder_local is for orientations of phrases, which a hierarchical system"):
        parse_templates(["rule_id", "reorder_local"], has_rules=True)
    (tmp_path / "s").write_text("a b\n")
    bitext = Bitext.build(tmp_path / "s", tmp_path / "s", tmp_path / "bitext")
    rules = extract_rules(bitext, Alignment.of([[(0, 0), (1, 1)]]), tmp_path / "grammar")
    with pytest.raises(InputError, match="reorder_local is for orientations of phrases, which a hierarchical system"):
        RuleOptionBuilder(rules.rule_view(), FeatureIndex(), templates=parse_templates(["reorder_local"]))


@pytest.mark.parametrize("text", ["sparse_hrm", "sparse_hrm_local", "reorder_gap(top=0,classes=1)"])
def test_classes_need_a_system_that_has_them(text):
    with pytest.raises(InputError, match=r"classes=1\) needs word classes, .* `classes=\(20, 50, 80\)`"):
        parse_templates([text], has_rules=False, has_classes=False)
    assert any(template.needs_classes for template in parse_templates([text]))
    assert not any(template.needs_classes for template in parse_templates(["reorder_gap", "word_pair", "discount"]))


def test_pairs_in_context_need_an_extracted_grammar(grammar, tmp_path):
    write_tables(grammar.view(), tmp_path / "phrases", reordering=tmp_path / "reordering")
    imported = read_tables(tmp_path / "phrases", tmp_path / "imported", reordering=tmp_path / "reordering").view()
    with pytest.raises(InputError, match="pairs"):
        PhraseOptionBuilder(imported, FeatureIndex(), templates=parse_templates(["word_context(top=0,pairs=3)"]))
    index = FeatureIndex()
    builder = PhraseOptionBuilder(imported, index, templates=parse_templates(["word_context(top=0)"]))
    builder.build(["das haus new"]).interned(index)
    assert index.find("word_context:das,the,-1,<s>") >= 0
    assert index.find("word_context:haus,house,+1,<unk>") >= 0


def test_words_with_control_characters_have_names():
    assert feature_name("word_pair", "a\x0bb", "\x7f") == "word_pair:a\\x0bb,\\x7f"
