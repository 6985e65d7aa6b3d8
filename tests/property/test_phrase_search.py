"""Phrase-based search without pruning against brute force: every derivation, its string and its features."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from orientation_twin import backward_by_blocks, gap_words, top_block
from tests.kit.forests import share

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.grammar import Reordering, ReorderingKind
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.search import Algorithm, PhraseBatch, PhraseConfig, PhraseDecoder, PhraseFeatures

WORDS = "a b c d"
VOCAB = Vocab.of([WORDS + " e"])
FIRST_WORD = 3
OWN = ("unseen",)
N_SPARSE = 2
N_PARTS = 3
MAX_DERIVATIONS = 4000


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    text = TrainingText()
    text.add_lines(["a b c", "b a d a b", "c c a", "a b d", "d a b c a", "b", "a c", "c a b"] * 2)
    return estimate(text, EstimateConfig(order=3)).model


@dataclass(frozen=True)
class Option:
    begin: int
    end: int
    words: tuple[int, ...]
    scores: tuple[float, ...]
    orientations: tuple[float, ...]
    sparse: tuple[tuple[int, float], ...]
    rule: int

    @property
    def is_unknown(self) -> bool:
        return self.rule < 0


HIERARCHICAL = ReorderingKind.HIERARCHICAL
MODELS = (
    (),
    (Reordering(),),
    (Reordering(n_orientations=4),),
    (Reordering(kind=HIERARCHICAL),),
    (Reordering(), Reordering(kind=HIERARCHICAL, n_orientations=5)),
    (Reordering(kind=HIERARCHICAL, n_orientations=4),),
)

logs = st.integers(-4, -1).map(float)


@st.composite
def problems(draw):
    """A span with two translations at least, and random ones around it; one sentence in twenty is empty."""
    n = draw(st.integers(1, 4)) if draw(st.integers(0, 19)) != 7 else 0
    features = PhraseFeatures(scores=("p_e_f", "p_f_e"), reordering=draw(st.sampled_from(MODELS)))
    options = []
    begin = end = 0
    for row in range(draw(st.integers(2, 5)) if n else 0):
        if row != 1:
            begin = draw(st.integers(0, n - 1))
            end = draw(st.integers(begin + 1, n))
        options.append(
            Option(
                begin=begin,
                end=end,
                words=tuple(draw(st.lists(st.integers(FIRST_WORD, FIRST_WORD + 4), min_size=0, max_size=3))),
                scores=tuple(draw(st.tuples(logs, logs))),
                orientations=tuple(draw(logs) for _ in range(features.n_orientation_columns)),
                sparse=tuple(draw(st.lists(st.tuples(st.integers(0, N_SPARSE - 1), st.just(1.0)), max_size=2))),
                rule=len(options),
            )
        )
    limit = draw(st.sampled_from([None, 0, 1, 2, 3]))
    weights = draw(st.lists(st.integers(-4, 4).map(lambda x: x / 4), min_size=26, max_size=26))
    return n, features, options, limit, np.array(weights)


def parts_of(option):
    """What orientation features look at, of an option or of a word that passes through."""
    return sorted({option.rule % N_PARTS, option.begin % N_PARTS}) if option.rule >= 0 else [option.begin % N_PARTS]


def edge_part(words, place):
    """What later orientations tell of the first (0) or last (-1) word of a block: some words are all the same."""
    return (words[place] - place) % 2 if words else -1


def block_parts(path, span):
    """Parts of the words at the edges of the block before `span`, and of those between the two."""
    if not path:
        return [2, 1, 0, 2], [p % N_PARTS for p in range(span[0])]
    spans = [(option.begin, option.end) for option in path]
    block, n = top_block(spans)
    edges = edge_part(path[-n].words, 0), edge_part(path[-1].words, -1)
    return (
        [(block[0] + 1) % N_PARTS, block[1] % 2, *(part for part in edges if part >= 0)],
        [p % N_PARTS for p in gap_words(block, span)],
    )


def part_arrays(n, options, index, *, blocks):
    """Features of orientation templates; one has no id."""
    rows = [parts_of(option) for option in options]
    ids = [index.intern(f"part:{part},{letter}") for part in range(N_PARTS) for letter in "mslrg"]
    edges = [[edge_part(words, place) for place in (0, -1)] for words in (option.words for option in options)]
    passed = [[edge_part(passed_words(p), place) for place in (0, -1)] for p in range(n)]
    around = {
        "block_targets": np.array(edges, np.int32).reshape(-1),
        "block_passed": np.array(passed, np.int32).reshape(-1),
        "block_sources": np.array([[(p + 1) % N_PARTS, (p + 1) % 2] for p in range(n)], np.int32).reshape(-1),
        "block_start": np.array([2, 1, 0, 2], np.int32),
        "gap_words": np.arange(n, dtype=np.int32) % N_PARTS,
    }
    return (around if blocks else dict.fromkeys(around, np.zeros(0, np.int32))) | {
        "part_offsets": np.cumsum([0, *map(len, rows)], dtype=np.int64),
        "parts": np.array([part for row in rows for part in row], np.int32),
        "word_part_offsets": np.arange(n + 1, dtype=np.int64),
        "word_parts": np.arange(n, dtype=np.int32) % N_PARTS,
        "part_feature_offsets": np.array([*range(len(ids)), len(ids) - 1], np.int64),
        "part_feature_ids": np.array(ids[:-1], np.int32),
        "part_feature_values": np.ones(len(ids) - 1, np.float32),
    }


def passed_words(place):
    return (len(VOCAB) if place == 0 else FIRST_WORD + place,)


def build(problem, index, *, oriented=""):
    n, features, options, *_ = problem
    dense = [index.intern(name) for name in features.names()]
    sparse = [index.intern(f"sparse:{i}") for i in range(N_SPARSE)]
    flat = [word for o in options for word in o.words]
    rows = [[sparse[i] for i, _ in o.sparse] for o in options]
    return dense, PhraseBatch.from_arrays(
        own_words=OWN,
        pass_offsets=np.array([0, n], np.int64),
        pass_through=np.array([word for p in range(n) for word in passed_words(p)], np.int32),
        first=np.array([0, len(options)], np.int64),
        begin=np.array([o.begin for o in options], np.int32),
        end=np.array([o.end for o in options], np.int32),
        target_offsets=np.cumsum([0, *(len(o.words) for o in options)], dtype=np.int64),
        targets=np.array(flat, np.int32),
        rules=np.array([o.rule for o in options], np.int64),
        scores=np.array([o.scores for o in options], np.float32).reshape(len(options), 2),
        orientations=np.array([o.orientations for o in options], np.float32).reshape(len(options), -1)
        if options
        else np.zeros((0, features.n_orientation_columns), np.float32),
        feature_offsets=np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64),
        feature_ids=np.array([i for row in rows for i in row], np.int32),
        feature_values=np.array([v for o in options for _, v in o.sparse], np.float32),
        **(part_arrays(n, options, index, blocks=oriented == "blocks") if oriented else {}),
    )


def by_neighbour(previous, current):
    if previous[1] == current[0]:
        return "m"
    if current[1] == previous[0]:
        return "s"
    return "r" if current[0] > previous[1] else "l"


def forward_by_blocks(spans, current, n):
    begin, end = spans[-1]
    covered = {p for span in spans for p in range(*span)}
    if current[0] >= end:
        if current[0] == end or end not in covered:
            return "g" if covered == set(range(end)) else "m"
        return "r"
    return "s" if current[1] == begin or begin - 1 not in covered else "l"


def column(letter, n_orientations):
    if n_orientations < 5 and letter == "g":
        letter = "m"
    if n_orientations == 3 and letter in "lr":
        letter = "d"
    return {3: "msd", 4: "mslr", 5: "mslrg"}[n_orientations].index(letter)


def features_of(path, features, lm, n, *, oriented=""):
    """The features of a sequence of options, recomputed from the definitions."""
    total = {}

    def add(name, value):
        total[name] = total.get(name, 0.0) + value

    last_end = 0
    spans = []
    for k, option in enumerate(path):
        span = (option.begin, option.end)
        add("words", len(option.words))
        add("unknown" if option.is_unknown else "phrases", 1)
        for name, value in zip(features.scores, option.scores, strict=False):
            add(name, value)
        for i, value in option.sparse:
            add(f"sparse:{i}", value)
        add("distortion", -abs(option.begin - last_end))
        parts = parts_of(option) if oriented else []
        if oriented == "blocks":
            edges, between = block_parts(path[:k], span)
            parts = parts + edges + between
        for part in parts:
            if (letter := backward_by_blocks(spans, span)) != "g" or part != N_PARTS - 1:
                add(f"part:{part},{letter}", 1)
        offset = 0
        for model, names in zip(features.reordering, features.reordering_names(), strict=True):
            size = model.n_orientations
            if model.is_hierarchical:
                back = backward_by_blocks(spans, span)
            else:
                back = by_neighbour(spans[-1] if spans else (0, 0), span)
            if not option.is_unknown:
                c = column(back, size)
                add(names[c], option.orientations[offset + c])
            if spans and not path[k - 1].is_unknown:
                forth = forward_by_blocks(spans, span, n) if model.is_hierarchical else by_neighbour(spans[-1], span)
                c = column(forth, size)
                add(names[size + c], path[k - 1].orientations[offset + size + c])
            offset += 2 * size
        spans.append(span)
        last_end = option.end
    words = [word for option in path for word in option.words]
    if lm is None:
        return words, {name: value for name, value in total.items() if value}
    text = " ".join(VOCAB.word(w) if w < len(VOCAB) else OWN[w - len(VOCAB)] for w in words)
    add("lm", lm.score(text))
    return words, {name: value for name, value in total.items() if value}


def all_paths(problem):
    n, _, options, limit, _ = problem
    alone = {o.begin for o in options if o.end == o.begin + 1}
    unknown = [Option(p, p + 1, passed_words(p), (), (), (), -1) for p in range(n) if p not in alone]
    found = []

    def extend(path, covered, last_end):
        if len(found) > MAX_DERIVATIONS:
            return
        if len(covered) == n:
            found.append(path)
            return
        gap = min(set(range(n)) - covered)
        for option in [*options, *unknown]:
            span = set(range(option.begin, option.end))
            if span & covered:
                continue
            if limit is not None:
                if abs(option.begin - last_end) > limit:
                    continue
                if option.begin != gap and abs(option.end - gap) > limit:
                    continue
            extend([*path, option], covered | span, option.end)

    extend([], frozenset(), 0)
    return found


def test_most_problems_have_several_derivations():
    assert share(problems(), lambda problem: len(all_paths(problem)) > 1, n=100) >= 0.9


@pytest.mark.parametrize("oriented", ["", "phrases", "blocks"])
@pytest.mark.parametrize("algorithm", list(Algorithm))
@settings(max_examples=60)
@given(problem=problems())
def test_search_without_pruning_is_brute_force(algorithm, lm, oriented, problem):
    n, features, _, limit, weights = problem
    weights = np.resize(weights, len(weights) + 5 * N_PARTS)
    paths = all_paths(problem)
    assume(len(paths) <= MAX_DERIVATIONS)
    index = FeatureIndex()
    dense, options = build(problem, index, oriented=oriented)
    config = PhraseConfig(
        algorithm=algorithm, stack_size=10**6, pop_limit=10**6, option_limit=None, distortion_limit=limit
    )
    decoder = PhraseDecoder(config, VOCAB, index, features=features, lm=lm)
    [forest] = decoder.decode(options, weights)
    assert len(dense) + N_SPARSE + 5 * N_PARTS * bool(oriented) == len(index)
    got = forest.kbest(weights, MAX_DERIVATIONS + 1)
    wanted = []
    for path in paths:
        words, values = features_of(path, features, lm, n, oriented=oriented)
        score = sum(weights[index.find(name)] * value for name, value in values.items())
        wanted.append((tuple(words), values, score))
    assert len(got) == len(wanted)
    np.testing.assert_allclose(got.totals, sorted((s for *_, s in wanted), reverse=True), atol=1e-4)
    names = index.names(np.arange(len(index), dtype=np.int32))
    left = wanted
    for c in range(len(got)):
        ids, values = got.features_of(c)
        found = dict(zip((names[i] for i in ids), values.tolist(), strict=True))
        for place, (words, features_wanted, _) in enumerate(left):
            if (
                words == tuple(got.tokens_of(c).tolist())
                and found.keys() == features_wanted.keys()
                and all(math.isclose(found[name], features_wanted[name], abs_tol=1e-4) for name in found)
            ):
                left = left[:place] + left[place + 1 :]
                break
        else:
            raise AssertionError(f"no path has {found}")
    best = forest.best(weights)
    assert best is not None
    covered = sorted(p for a in best.applications for p in range(*a.source))
    assert covered == list(range(n))


@st.composite
def crowded_problems(draw):
    """Few states of each kind and all orders of up to five words, so that search meets itself again by other ways."""
    n = draw(st.integers(3, 5))
    model = draw(st.sampled_from(MODELS))
    features = PhraseFeatures(scores=("p_e_f", "p_f_e"), reordering=model)
    rows = [tuple(draw(logs) for _ in range(features.n_orientation_columns)) for _ in range(2)]
    spans = [(p, p + 1) for p in range(n)]
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, n - 1))
        spans.append((begin, draw(st.integers(begin + 1, min(n, begin + 2)))))
    options = [
        Option(begin, end, words, draw(st.tuples(logs, logs)), draw(st.sampled_from(rows)), (), rule)
        for rule, (begin, end) in enumerate(spans)
        for words in [(FIRST_WORD + draw(st.integers(0, 1)),)]
    ]
    return n, features, options, draw(st.sampled_from([None, 4])), np.linspace(-1, 1, 40)


@pytest.mark.parametrize("oriented", ["", "phrases", "blocks"])
@pytest.mark.parametrize("algorithm", list(Algorithm))
@settings(max_examples=60)
@given(problem=crowded_problems())
def test_recombination_keeps_all_that_later_scores_need(algorithm, oriented, problem):
    n, features, _, limit, weights = problem
    paths = all_paths(problem)
    assume(len(paths) <= MAX_DERIVATIONS)
    index = FeatureIndex()
    _, options = build(problem, index, oriented=oriented)
    config = PhraseConfig(
        algorithm=algorithm, stack_size=10**6, pop_limit=10**6, option_limit=None, distortion_limit=limit
    )
    decoder = PhraseDecoder(config, VOCAB, index, features=features)
    got = decoder.kbest(options, weights, MAX_DERIVATIONS + 1)
    names = index.names(np.arange(len(index), dtype=np.int32))
    found: Counter[frozenset[tuple[str, float]]] = Counter()
    for c in range(len(got)):
        ids, values = got.features_of(c)
        found[frozenset(zip((names[i] for i in ids), values.tolist(), strict=True))] += 1
    # All values are small whole numbers, so sums are exact.
    assert found == Counter(
        frozenset(features_of(path, features, None, n, oriented=oriented)[1].items()) for path in paths
    )


@settings(max_examples=25)
@given(problem=problems(), pop_limit=st.integers(1, 6), k=st.integers(1, 20), beam=st.floats(0, 3))
def test_pruned_search_is_consistent(lm, problem, pop_limit, k, beam):
    _, features, _, limit, weights = problem
    index = FeatureIndex()
    _, options = build(problem, index)
    for algorithm in Algorithm:
        config = PhraseConfig(
            algorithm=algorithm, stack_size=pop_limit, pop_limit=pop_limit, beam=beam, distortion_limit=limit
        )
        decoder = PhraseDecoder(config, VOCAB, index, features=features, lm=lm)
        [forest] = decoder.decode(options, weights)
        again = decoder.kbest(options, weights, k)
        from_forest = forest.kbest(weights, k)
        assert len(again) >= 1
        for a, b in zip(
            (again.totals, again.tokens, again.feature_ids, again.feature_values),
            (from_forest.totals, from_forest.tokens, from_forest.feature_ids, from_forest.feature_values),
            strict=True,
        ):
            assert np.array_equal(a, b)
        for c in range(len(again)):
            ids, values = again.features_of(c)
            found = dict(zip(index.names(ids), values.tolist(), strict=True))
            text = forest.text(again.tokens_of(c))
            assert found.get("lm", 0.0) == pytest.approx(lm.score(text), abs=1e-4)
            assert again.totals[c] == pytest.approx(float(weights[ids] @ values), abs=1e-4)
