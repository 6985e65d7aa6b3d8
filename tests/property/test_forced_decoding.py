"""Forced decoding against brute force: of all derivations of a translation the best, or the nearest."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_chart_search import (
    FEATURES,
    BruteForce,
    completed,
    tiny_lm,
)
from test_chart_search import MAX_DERIVATIONS as MAX_TREES
from test_chart_search import VOCAB as CHART_VOCAB
from test_chart_search import build as build_rules
from test_chart_search import problems as chart_problems
from test_phrase_search import (
    FIRST_WORD,
    MAX_DERIVATIONS,
    N_PARTS,
    VOCAB,
    Option,
    all_paths,
    build,
    features_of,
    passed_words,
    problems,
)
from tests.kit.forests import share

from dragoman.features import FeatureIndex
from dragoman.search import (
    ChartDecoder,
    ForcedConfig,
    ForcedPairs,
    PhraseConfig,
    PhraseDecoder,
)
from dragoman.types import offsets_of

DELETED, COPIED = -2, -3
"""Rules of edits in the twin."""
OWN_WORDS = ("unseen", "another")
"""Of a batch, and of a translation."""

words = st.lists(st.integers(FIRST_WORD, FIRST_WORD + 5), max_size=4).map(tuple)


@pytest.fixture(scope="module")
def lm():
    return tiny_lm()


def ragged(rows):
    return offsets_of([len(row) for row in rows]), np.array([id_ for row in rows for id_ in row], np.int32)


def pairs_of(vocab, targets, copies):
    return ForcedPairs(vocab, np.zeros(len(targets), np.int64), ragged(targets), ragged([copies]))


def force(decoder, batch, targets, copies, weights, **settings_):
    pairs = pairs_of(decoder.vocab.extended(OWN_WORDS), targets, copies)
    return decoder.force(batch, pairs, weights, ForcedConfig(**settings_))


def spelt(target, vocab):
    return [vocab.word(word) if word < len(vocab) else OWN_WORDS[word - len(vocab)] for word in target]


def features_in(found, pair, index):
    ids, values = found.lists.features_of(int(found.lists.sentences[pair]))
    return dict(zip(index.names(ids), values.tolist(), strict=True))


def is_close(features, wanted):
    names = {*features, *wanted}
    return all(math.isclose(features.get(n, 0.0), wanted.get(n, 0.0), abs_tol=1e-3) for n in names)


def score_of(features, index, weights):
    return sum(weights[index.find(name)] * value for name, value in features.items())


def check(found, pair, best, index, weights):
    """That a pair has the features of one of the best derivations, [(score, features)]."""
    features = features_in(found, pair, index)
    top = max(score for score, _ in best)
    assert score_of(features, index, weights) == pytest.approx(top, abs=1e-3)
    assert found.lists.totals[found.lists.sentences[pair]] == pytest.approx(top, abs=1e-3)
    assert any(is_close(features, wanted) for score, wanted in best if score > top - 1e-3)
    derivation = found.forests[pair].best(weights)
    assert is_close(derivation.features(), features)


# ---- phrases


def phrase_decoder(problem, index, lm, oriented=""):
    _, features, _, limit, _ = problem
    _, batch = build(problem, index, oriented=oriented)
    decoder = PhraseDecoder(
        PhraseConfig(distortion_limit=limit, option_limit=1), VOCAB, index, features=features, lm=lm
    )
    return decoder, batch


@pytest.mark.parametrize("oriented", ["", "phrases", "blocks"])
@settings(max_examples=20)
@given(problem=problems(), more=words)
def test_phrases_find_the_best_derivation_of_every_translation(lm, oriented, problem, more):
    n, features, _, _, weights = problem
    weights = np.resize(weights, len(weights) + 5 * N_PARTS)
    paths = all_paths(problem)
    assume(len(paths) <= MAX_DERIVATIONS)
    index = FeatureIndex()
    decoder, batch = phrase_decoder(problem, index, lm, oriented)
    derivations: dict[tuple[int, ...], list] = {}
    for path in paths:
        target, values = features_of(path, features, lm, n, oriented=oriented)
        derivations.setdefault(tuple(target), []).append((score_of(values, index, weights), values))
    targets = [more, *sorted(derivations)[:10]]
    found = force(decoder, batch, targets, [-1] * n, weights, may_edit=False, width=10**6)
    assert found.is_complete.all()
    assert not any(len(values) for _, values in (found.deleted, found.inserted, found.copied))
    for pair, target in enumerate(targets):
        if target in derivations:
            check(found, pair, derivations[target], index, weights)
        else:
            assert found.forests[pair].n_nodes == 0


def edited_paths(problem, target):
    """Ways to make the target with the fewest edits, as (path without insertions, edits)."""
    n, _, options, limit, _ = problem
    alone = {o.begin for o in options if o.end == o.begin + 1}
    plain = [*options, *(Option(p, p + 1, passed_words(p), (), (), (), -1) for p in range(n) if p not in alone)]
    plain += [Option(p, p + 1, (), (), (), (), DELETED) for p in range(n)]
    plain += [Option(p, p + 1, passed_words(p), (), (), (), COPIED) for p in alone]
    fewest, found = n + len(target), []

    def extend(path, covered, last_end, position, edits):
        nonlocal fewest
        assume(len(found) <= MAX_DERIVATIONS)
        if edits > fewest:
            return
        if len(covered) == n and position == len(target):
            if edits < fewest:
                fewest = edits
                found.clear()
            found.append(path)
            return
        if position < len(target):
            extend(path, covered, last_end, position + 1, edits + 1)
        gap = min(set(range(n)) - covered, default=n)
        for option in plain:
            span = set(range(option.begin, option.end))
            end = position + len(option.words)
            if span & covered or target[position:end] != option.words:
                continue
            if option.rule == DELETED and option.begin not in {last_end, gap}:
                continue
            if limit is not None and abs(option.begin - last_end) > limit:
                continue
            if limit is not None and option.begin != gap and abs(option.end - gap) > limit:
                continue
            extend([*path, option], covered | span, option.end, end, edits + (option.rule in {DELETED, COPIED}))

    extend([], frozenset(), 0, 0, 0)
    return found, fewest


def edited_features(path, target, problem, lm):
    """Features of a path and of what it lacks of the target."""
    n, features, *_ = problem
    made, values = features_of(path, features, None, n)
    values = Counter(values)
    values["unknown"] -= sum(option.rule == DELETED for option in path)
    values["words"] += len(target) - len(made)
    values["lm"] = lm.score(" ".join(spelt(target, VOCAB)))
    return {name: value for name, value in values.items() if value}


@settings(max_examples=40)
@given(problem=problems(), target=words)
def test_phrases_find_the_nearest_derivation(lm, problem, target):
    n, *_, weights = problem
    index = FeatureIndex()
    decoder, batch = phrase_decoder(problem, index, lm)
    paths, fewest = edited_paths(problem, target)
    copies = [passed_words(p)[0] for p in range(n)]
    found = force(decoder, batch, [target], copies, weights, width=10**6)
    assert found.is_complete.all()
    edits = len(found.deleted_in(0)) + len(found.inserted_in(0)) + len(found.copied_in(0))
    assert edits == fewest
    derivations = [edited_features(path, target, problem, lm) for path in paths]
    check(found, 0, [(score_of(f, index, weights), f) for f in derivations], index, weights)
    for source, place in found.copied_in(0):
        assert copies[source] == target[place]


# ---- rules


def chart_decoder(problem, index, lm):
    batch = build_rules(problem, index)
    return ChartDecoder(problem.config, CHART_VOCAB, index, features=FEATURES, lm=lm), batch


@settings(max_examples=50)
@given(problem=chart_problems(), more=words)
def test_rules_find_the_best_derivation_of_every_translation(lm, problem, more):
    trees = BruteForce(problem).sentences()
    assume(len(trees) <= MAX_TREES)
    index = FeatureIndex()
    decoder, batch = chart_decoder(problem, index, lm)
    derivations: dict[tuple[int, ...], list] = {}
    for target, inner in trees:
        values = completed(target, inner, lm)
        derivations.setdefault(target, []).append((score_of(values, index, problem.weights), values))
    targets = [more, *sorted(derivations)[:10]]
    found = force(decoder, batch, targets, [-1] * len(problem.words), problem.weights, may_edit=False, width=10**6)
    assert found.is_complete.all()
    for pair, target in enumerate(targets):
        if target in derivations:
            check(found, pair, derivations[target], index, problem.weights)
        else:
            assert found.forests[pair].n_nodes == 0


def edited_rows(problem, target, copies):
    """Rows of items and edits that make the target with the fewest edits, as features without those of the string."""
    brute = BruteForce(problem)
    n = len(problem.words)
    goal = problem.labels.index("S") if "S" in problem.labels else -1
    fewest, found = n + len(target), []

    def extend(source, position, has_item, edits, features):
        nonlocal fewest
        assume(len(found) <= MAX_TREES)
        if edits > fewest:
            return
        if (source, position) == (n, len(target)):
            if edits < fewest:
                fewest = edits
                found.clear()
            found.append(features)
            return
        if position < len(target):
            extend(source, position + 1, has_item, edits + 1, features)
        if source == n:
            return
        extend(source + 1, position, has_item, edits + 1, features)
        if position < len(target) and copies[source] == target[position]:
            passed = {**features, "unknown": features["unknown"] + 1}  # a sum of counters drops negative values
            extend(source + 1, position + 1, has_item, edits + 1, Counter(passed))
        for end in range(source + 1, n + 1):
            first = {goal} - {-1} if (source, position, edits) == (0, 0, 0) else set()
            for label in {*brute.glue, *first}:
                for made, inner in brute.of(label, source, end):
                    if target[position : position + len(made)] == made:
                        total = Counter(features)
                        total.update(inner)
                        total["glue"] += has_item
                        extend(end, position + len(made), True, edits, total)

    extend(0, 0, False, 0, Counter())
    return found, fewest


@settings(max_examples=50)
@given(problem=chart_problems(), target=words)
def test_rules_find_the_nearest_row(lm, problem, target):
    index = FeatureIndex()
    decoder, batch = chart_decoder(problem, index, lm)
    copies = [problem.passed(p) for p in range(len(problem.words))]
    rows, fewest = edited_rows(problem, target, copies)
    found = force(decoder, batch, [target], copies, problem.weights, width=10**6)
    assert found.is_complete.all()
    edits = len(found.deleted_in(0)) + len(found.inserted_in(0)) + len(found.copied_in(0))
    assert edits == fewest
    derivations = []
    for row in rows:
        names = spelt(target, CHART_VOCAB)
        whole = {
            "words": len(target),
            "lm": lm.score(" ".join(names)),
            "lm_oov": sum(name not in "abcd" for name in names),
        }
        features = {name: value for name, value in {**row, **whole}.items() if value}
        derivations.append((score_of(features, index, problem.weights), features))
    check(found, 0, derivations, index, problem.weights)
    for source, place in found.copied_in(0):
        assert copies[source] == target[place]


def test_many_problems_need_edits_and_some_do_not():
    def is_edited(case):
        problem, target = case
        return edited_paths(problem, target)[1] > 0

    assert 0.5 <= share(st.tuples(problems(), words), is_edited, n=40) < 1
