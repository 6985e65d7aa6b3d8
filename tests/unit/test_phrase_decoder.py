"""The phrase-based decoder's edges: long sentences, threads, live weights, bad options."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.batches import views_of

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.grammar import Reordering, ReorderingKind
from dragoman.search import Algorithm, PhraseBatch, PhraseConfig, PhraseDecoder, PhraseFeatures, phrase15

VOCAB = Vocab.of(["a b c d e f g h"])
RNG_SEED = 5


def random_options(lengths, *, seed=RNG_SEED, per_span=3, columns=6):
    """A few options for spans of one to three words."""
    rng = np.random.default_rng(seed)
    begin, end, targets, first = [], [], [], [0]
    for n in lengths:
        for i in range(n):
            for j in range(i + 1, min(n, i + 3) + 1):
                for _ in range(int(rng.integers(0, per_span + 1))):
                    begin.append(i)
                    end.append(j)
                    targets.append(rng.integers(3, len(VOCAB), int(rng.integers(1, 4))))
        first.append(len(begin))
    n = len(begin)
    return PhraseBatch.from_arrays(
        own_words=["x"],
        pass_offsets=np.cumsum([0, *lengths], dtype=np.int64),
        pass_through=np.full(sum(lengths), len(VOCAB), np.int32),
        first=np.array(first, np.int64),
        begin=np.array(begin, np.int32),
        end=np.array(end, np.int32),
        target_offsets=np.cumsum([0, *(len(t) for t in targets)], dtype=np.int64),
        targets=np.concatenate([np.zeros(0, np.int64), *targets]).astype(np.int32),
        rules=np.arange(n, dtype=np.int64),
        scores=-rng.random((n, 4)).astype(np.float32),
        orientations=-rng.random((n, columns)).astype(np.float32),
        feature_offsets=np.zeros(n + 1, np.int64),
        feature_ids=np.zeros(0, np.int32),
        feature_values=np.zeros(0, np.float32),
    )


def decoder(config=None, features=None):
    index = FeatureIndex()
    made = PhraseDecoder(config or PhraseConfig.fast(), VOCAB, index, features=features)
    weights = Weights(index, np.linspace(0.2, 1.0, len(index)))
    return made, weights


def test_threads_do_not_matter():
    options = random_options([0, 1, 5, 9, 3, 12, 7, 2])
    made, weights = decoder()
    one = made.kbest(options, weights, 30, n_threads=1)
    many = made.kbest(options, weights, 30, n_threads=4)
    for name in one.__slots__:
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    assert one.n_sentences == 8
    assert one.sentences[1] == 1  # the empty sentence has the empty translation


@pytest.mark.parametrize("limit", [0, 6, 70, None])
def test_long_sentences(limit):
    options = random_options([150])
    hierarchical = PhraseFeatures(reordering=(Reordering(kind=ReorderingKind.HIERARCHICAL),))
    made, weights = decoder(PhraseConfig(stack_size=15, pop_limit=30, distortion_limit=limit), hierarchical)
    [forest] = made.decode(options, weights)
    best = forest.best(weights)
    assert best is not None
    jumps = [a.source for a in reversed(best.applications) if a.source[1] > a.source[0]]
    assert sorted(p for span in jumps for p in range(*span)) == list(range(150))
    ends = [0, *(end for _, end in jumps)]
    distances = [abs(begin - end) for (begin, _), end in zip(jumps, ends, strict=False)]
    assert limit is None or max(distances) <= limit
    assert best.features().get("distortion", 0) == -sum(distances)


def test_a_wider_stack_search_is_never_worse_than_it_says():
    options = random_options([8, 10])
    exact, weights = decoder(PhraseConfig(algorithm=Algorithm.STACK, stack_size=10**6))
    top = exact.kbest(options, weights, 1).totals
    for config in (PhraseConfig(algorithm=Algorithm.STACK, stack_size=5), PhraseConfig.fast()):
        pruned, same_weights = decoder(config)
        assert np.all(pruned.kbest(options, same_weights, 1).totals <= top + 1e-9)
    assert np.allclose(decoder(PhraseConfig.accurate())[0].kbest(options, weights, 1).totals, top, atol=0.2)


def test_weights_are_live():
    options = random_options([6])
    made, weights = decoder()
    buffer = weights.values
    before = made.kbest(options, buffer, 1).totals[0]
    buffer *= 2
    assert made.kbest(options, buffer, 1).totals[0] != before
    buffer /= 2
    assert made.kbest(options, buffer, 1).totals[0] == before


def test_unknown_words_pass_through():
    options = random_options([2], per_span=0)
    made, weights = decoder()
    [forest] = made.decode(options, weights)
    best = forest.best(weights)
    assert best is not None
    assert best.tokens() == ["x", "x"]
    assert best.features()["unknown"] == 2
    assert "phrases" not in best.features()


def test_phrase15_has_fifteen():
    assert len(phrase15().names()) == 15
    with pytest.raises(ValueError, match="duplicate feature"):
        PhraseFeatures(reordering=(Reordering(), Reordering(n_orientations=4)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("first", np.array([0, 1], np.int64)),
        ("end", np.full(1, 9, np.int32)),
        ("targets", np.array([-1], np.int32)),
        ("scores", np.zeros((1, 3), np.float32)),
        ("orientations", np.full((1, 6), np.nan, np.float32)),
        ("feature_ids", np.array([0], np.int32)),
        ("rules", np.zeros(2, np.int64)),
    ],
)
def test_options_that_do_not_fit_are_refused(name, value):
    made, weights = decoder()
    good = {
        "pass_offsets": np.array([0, 2, 3], np.int64),
        "pass_through": np.full(3, 3, np.int32),
        "first": np.array([0, 1, 1], np.int64),
        "begin": np.array([0], np.int32),
        "end": np.array([2], np.int32),
        "target_offsets": np.array([0, 1], np.int64),
        "targets": np.array([3], np.int32),
        "rules": np.zeros(1, np.int64),
        "scores": np.zeros((1, 4), np.float32),
        "orientations": np.zeros((1, 6), np.float32),
        "feature_offsets": np.array([0, 0], np.int64),
        "feature_ids": np.zeros(0, np.int32),
        "feature_values": np.zeros(0, np.float32),
    }
    assert made.kbest(PhraseBatch.from_arrays(**good), weights, 1).n_sentences == 2
    with pytest.raises(ValueError, match=r"translation options|features"):
        made.kbest(PhraseBatch.from_arrays(**{**good, name: value}), weights, 1)


def test_views_are_read_only_and_outlive_their_batch():
    batch = random_options([5, 3])
    views = {name: view for name, view in views_of(batch).items() if isinstance(view, np.ndarray)}
    before = {name: view.copy() for name, view in views.items()}
    del batch
    others = [random_options([5, 3], seed=seed) for seed in range(20)]  # where the memory would be used again
    assert len(others) == 20
    for name, view in views.items():
        assert np.array_equal(view, before[name])
        assert view.size == 0 or not view.flags.writeable, name
