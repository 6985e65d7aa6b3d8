"""The rules that match in a sentence equal those that a search over all spans finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_twin import Limits
from test_grammar_definition import sentence_pairs
from test_rule_definition import Built

from dragoman.features import FeatureIndex, Template
from dragoman.grammar import RuleViewConfig
from dragoman.search import RuleOptionBuilder

corpora = st.lists(sentence_pairs(max_words=6), min_size=1, max_size=5)


def matches(symbols, words, max_span, max_gap):
    """Whether a source side matches somewhere."""

    def ends(symbols, at):
        if not symbols:
            return {at}
        steps = range(1, max_gap + 1) if symbols[0] < 0 else [1]
        return {
            end
            for step in steps
            if at + step <= len(words) and (symbols[0] < 0 or words[at] == symbols[0])
            for end in ends(symbols[1:], at + step)
        }

    return any(end - begin <= max_span for begin in range(len(words)) for end in ends(symbols, begin))


@given(
    corpora,
    st.lists(st.lists(st.sampled_from("abcd"), max_size=7), max_size=4),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 2),
    st.sampled_from([None, 0]),
)
@settings(max_examples=30)
def test_rules_of_sentences(pairs, sentences, max_span, max_gap, min_count, fold):
    with Built(pairs, Limits(max_length=6, adjacent=True), min_count=min_count) as grammar:
        view = grammar.rule_view(RuleViewConfig(excluded_fold=fold, max_targets=3))
        builder = RuleOptionBuilder(view, FeatureIndex(), max_span=max_span, max_gap=max_gap)
        options = builder.build(sentences, n_threads=2)
        offsets = np.fromfile(grammar.folder / "sources.offsets", np.int64)
        symbols = np.fromfile(grammar.folder / "sources.symbols", np.int32)
        sources = [tuple(symbols[a:b].tolist()) for a, b in pairwise(offsets)]
        assert len(options) == len(sentences)
        for s, sentence in enumerate(sentences):
            begin, end = options.sentence_offsets[s : s + 2]
            words = options.words[begin:end].tolist()
            expected = [x for x in sorted(sources) if matches(x, words, max_span, max_gap)]
            found = []
            for p in range(*options.first_pattern[s : s + 2]):
                pattern = tuple(options.symbols[slice(*options.symbol_offsets[p : p + 2])].tolist())
                found.append(pattern)
                arrays = view.core.lookup(sources.index(pattern))
                rows = slice(*options.first_rule[p : p + 2])
                assert options.rules[rows].tolist() == arrays[0].tolist()
                assert options.lhs[rows].tolist() == arrays[1].tolist()
                assert np.array_equal(options.scores[rows], arrays[5])
                targets = [
                    options.targets[slice(*options.target_offsets[r : r + 2])].tolist()
                    for r in range(len(options.rules))[rows]
                ]
                assert targets == [arrays[7][a:b].tolist() for a, b in pairwise(arrays[6])]
            # Source sides without rules in the view are left out.
            assert found == [x for x in expected if len(view.core.lookup(sources.index(x))[0])]
            for place, word in enumerate(sentence):
                passed = int(options.pass_through[begin + place])
                if (words[place],) in found:
                    assert passed == 0
                else:
                    assert options.own_words[passed - len(view.target_vocab)] == word


@given(corpora, st.integers(1, 3))
@settings(max_examples=10)
def test_features_of_rules(pairs, n_threads):
    with Built(pairs, Limits(max_length=6)) as grammar:
        view, sentences = grammar.rule_view(), [p.source for p in pairs]
        names = []
        for threads in (1, n_threads):
            index = FeatureIndex()
            templates = [Template.parse(text) for text in ("rule_id", "word_pair", "target_length")]
            builder = RuleOptionBuilder(view, index, templates=templates)
            options = builder.build(sentences, n_threads=threads).interned(index)
            rows = [
                sorted(
                    (index.name(int(i)), float(v))
                    for i, v in zip(options.feature_ids[a:b], options.feature_values[a:b], strict=True)
                )
                for a, b in pairwise(options.feature_offsets)
            ]
            names.append((rows, [index.name(i) for i in range(len(index))]))
            of_rule = {}
            for rule, row in zip(options.rules.tolist(), rows, strict=True):
                assert of_rule.setdefault(rule, row) == row
                assert row
        assert names[0] == names[1]
