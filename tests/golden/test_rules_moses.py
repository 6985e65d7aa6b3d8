"""Rules, masses, scores and alignments equal those of Moses from the same word alignment."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from dragoman.corpus import Bitext
from dragoman.features import FeatureIndex
from dragoman.grammar import Grammar, RuleCut, RuleExtraction, RuleKind, RuleViewConfig, extract_rules
from dragoman.grammar.rule_tables import read_moses_glue, read_moses_rules
from dragoman.search import RuleOptionBuilder
from dragoman.text import read_lines

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def grammar(corpus) -> Grammar:
    """With Moses' settings: unaligned words at the ends of phrases, gaps of at least two source words."""
    folder, bitext, alignment = corpus
    config = RuleExtraction(tight=False, min_source_gap=2, n_threads=2)
    return extract_rules(bitext, alignment, folder / "grammar", config)


def with_numbers(source, target, links):
    """Moses' sides with their nonterminals numbered by the links, and the links of words."""
    numbers, words = {}, []
    for place, token in enumerate(source):
        if token == "[X][X]":
            numbers[place] = f"[X,{len(numbers) + 1}]"
    source = [numbers.get(place, token) for place, token in enumerate(source)]
    for s, t in (map(int, link.split("-")) for link in links):
        if s in numbers:
            target[t] = numbers[s]
        else:
            words.append((s, t))
    return " ".join(source), " ".join(target), tuple(sorted(words))


def moses_rules(path):
    for line in read_lines(path):
        source, target, scores, links, counts = (field.split() for field in line.split(" ||| ")[:5])
        text = " ".join(source), " ".join(target)
        yield text, with_numbers(source[:-1], target[:-1], links), [*map(float, scores)], [*map(float, counts)]


@pytest.fixture(scope="module")
def moses(anchors):
    rules, texts = defaultdict(dict), Counter()
    for text, (source, target, links), scores, counts in moses_rules(
        anchors / "moses-enja/hiero/rule-table.test100.xz"
    ):
        rules[source][target] = text, links, scores, counts
        texts[text] += 1
    assert sum(map(len, rules.values())) == 375417
    return rules, texts


def close(ours, theirs, relative=2e-5):
    return abs(ours - theirs) <= relative * theirs


def test_every_rule_and_score_of_moses(grammar, moses):
    rules, texts = moses
    view = grammar.rule_view(RuleViewConfig(max_targets=0))
    n_rules = n_two_orders = n_other_links = 0
    for source in sorted(rules)[::5]:
        ours = {rule.target: rule for rule in view.lookup(source)}
        assert ours.keys() == rules[source].keys()
        for target, (text, links, scores, counts) in rules[source].items():
            n_rules += 1
            # Where two rules differ in the order of their nonterminals alone, Moses exchanges their values.
            if texts[text] > 1:
                n_two_orders += 1
                continue
            rule = ours[target]
            assert close(rule.mass, counts[2], 1e-4)
            p_e_f, p_f_e, lex_e_f, lex_f_e, *_ = map(math.exp, rule.scores)
            assert close(p_f_e, scores[0], 1e-4)
            assert close(p_e_f, scores[2], 1e-4)
            if rule.alignment != links:
                n_other_links += 1
                continue
            # Moses rounds probabilities of words to seven decimals, and the other direction breaks ties of alignments
            # its own way.
            assert close(lex_e_f, scores[3], 5e-3)
            assert close(lex_f_e, scores[1], 5e-3)
    assert n_rules > 50000
    assert n_two_orders < n_rules / 20
    assert n_other_links < n_rules / 10000


@pytest.fixture(scope="module")
def others(corpus):
    """The pairs of all folds but fold 2."""
    folder, bitext, alignment = corpus
    kept = [i for i in range(len(bitext)) if bitext.folds[i] != 2]
    for name, side in (("s", bitext.source), ("t", bitext.target)):
        (folder / name).write_text("".join(side.text(i) + "\n" for i in kept), encoding="utf-8")
    part = Bitext.build(folder / "s", folder / "t", folder / "part")
    return part, type(alignment).of(alignment[i] for i in kept)


def test_a_fold_s_view_equals_a_grammar_of_the_other_folds(corpus, grammar, moses, others):
    folder, *_ = corpus
    config = RuleExtraction(tight=False, min_source_gap=2, n_threads=2)
    fresh = extract_rules(*others, folder / "fresh", config)
    views = (
        grammar.rule_view(RuleViewConfig(excluded_fold=2, max_targets=0)),
        fresh.rule_view(RuleViewConfig(max_targets=0)),
    )
    n_rules = 0
    for source in sorted(moses[0])[::20]:
        rows = [
            sorted((r.target, r.kind.value, r.count, r.mass, r.scores, r.alignment) for r in view.lookup(source))
            for view in views
        ]
        assert rows[0] == rows[1]
        n_rules += len(rows[0])
    assert n_rules > 10000


def test_rules_of_all_minimal_trees_are_there_and_equal_those_of_the_other_folds(corpus, others):
    folder, bitext, alignment = corpus
    config = RuleExtraction(tight=True, min_source_gap=1, added=True, cut=RuleCut.COMPOSED, n_threads=2)
    grammar = extract_rules(bitext, alignment, folder / "added", config)
    fresh = extract_rules(*others, folder / "fresh-added", config)
    assert grammar.minimal_rules(bitext.source, bitext.target, alignment).min() >= 0
    ids = np.unique(fresh.minimal_rules(others[0].source, others[0].target, others[1]))
    assert ids[0] >= 0
    view = grammar.rule_view(RuleViewConfig(excluded_fold=2, added=True))
    fresh_view = fresh.rule_view(RuleViewConfig(added=True))
    n_added = 0
    for rule in map(fresh_view.rule, ids[::7].tolist()):
        found = view.find(rule.source, rule.target)
        assert replace(found, rule=rule.rule) == rule
        n_added += rule.kind is RuleKind.ADDED
    assert 1000 < n_added < len(ids) // 7


def test_moses_rules_become_a_grammar(moses, anchors, tmp_path):
    rules, _ = moses
    grammar = read_moses_rules(anchors / "moses-enja/hiero/rule-table.test100.xz", tmp_path / "g")
    assert len(grammar) == 375417
    assert (grammar.labels, grammar.is_rules) == (("X",), True)
    view = grammar.rule_view(RuleViewConfig(max_targets=0))
    assert view.score_names == ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e")
    for source in sorted(rules)[::50]:
        imported = {rule.target: rule for rule in view.lookup(source)}
        assert imported.keys() == rules[source].keys()
        for target, (_, links, scores, counts) in rules[source].items():
            expected = [max(-100, math.log(scores[i])) for i in (2, 0, 3, 1)]
            assert imported[target].scores == pytest.approx(expected, abs=1e-5)
            assert imported[target].alignment == links
            assert imported[target].count == max(1, math.floor(counts[2] + 0.5))


def expression(source):
    """What a source side matches in a sentence with a space before and after each word."""
    parts = [r"\S+(?: \S+)*" if token.startswith("[X,") else re.escape(token) for token in source.split()]
    return re.compile("(?= " + " ".join(parts) + " )")


def test_rules_of_the_test_sentences(moses, data, anchors, tmp_path):
    """The table was cut down to what its decoder may use in the first 100 sentences."""
    sources = list(moses[0])
    expressions = [expression(source) for source in sources]
    view = read_moses_rules(anchors / "moses-enja/hiero/rule-table.test100.xz", tmp_path / "g").rule_view(
        RuleViewConfig(max_targets=0)
    )
    builder = RuleOptionBuilder(view, FeatureIndex(), max_span=None)
    lines = list(read_lines(data / "enja/test.ja.xz"))[:100]
    options = builder.build(lines, n_threads=2)
    patterns = []
    for p in range(len(options.symbol_offsets) - 1):
        numbers = count(1)
        symbols = options.symbols[options.symbol_offsets[p] : options.symbol_offsets[p + 1]].tolist()
        patterns.append(" ".join(f"[X,{next(numbers)}]" if s < 0 else view.source_vocab.word(s) for s in symbols))
    assert set(patterns) <= set(sources)
    for s in range(0, 100, 10):
        found = patterns[options.first_pattern[s] : options.first_pattern[s + 1]]
        padded = f" {lines[s]} "
        assert sorted(found) == sorted(x for x, e in zip(sources, expressions, strict=True) if e.search(padded))
    for p in range(0, len(patterns), 100):
        begin, end = options.first_rule[p : p + 2]
        assert end - begin == len(moses[0][patterns[p]])
    words = {word for line in lines for word in line.split()}
    assert set(options.own_words) == {word for word in words if word not in moses[0] and word not in view.target_vocab}


def test_moses_glue_is_recognised(anchors):
    glue = read_moses_glue(anchors / "moses-enja/hiero/glue-grammar")
    assert (glue.goal, glue.labels) == ("S", ("X",))
    assert glue.score == pytest.approx(0.999896, abs=1e-6)
