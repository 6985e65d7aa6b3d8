"""Optimisers on the four rounds of n-best lists of a Moses run, whose own MERT stays at 29.3856."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.candidates import oracle, read_nbest, read_pool, read_references, rerank, with_metric
from dragoman.features import Weights, read_weights
from dragoman.metric import Bleu, SentenceBleu, score_text
from dragoman.optim import Cll, Mert, Mira, Perceptron, Pro, Rampion, Rm, SoftRamp, Svm, Units, Xbleu

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def references(data):
    return read_references([data / "enja" / "dev.en.xz"])


@pytest.fixture(scope="module")
def pool(anchors, references):
    lists = [anchors / "moses-enja" / f"round{i}.nbest.gz" for i in range(1, 5)]
    return with_metric(read_pool(lists), Bleu(), references)


@pytest.fixture(scope="module")
def start(anchors):
    return read_weights(anchors / "moses-enja" / "start.dense")


def test_the_union_of_the_lists(pool):
    assert pool.n_sentences == 500
    assert pool.n_candidates == 120_472
    assert len(pool.dense_names()) == 14


def test_the_start_scores_what_moses_says(pool, start, references):
    choice = rerank(pool, start)
    assert choice.score() == pytest.approx(0.293856, abs=5e-7)
    texts = [text for _, text in choice.texts()]
    assert score_text(Bleu(), texts, [[refs[0] for refs in references]]).score == choice.score()


def test_mert_beats_the_start(pool, start):
    result = Mert(n_starts=4).optimise(pool, start, seed=1, n_threads=2)
    assert result.gain_before == pytest.approx(0.293856, abs=5e-7)
    assert result.gain_after > 0.2949
    assert np.abs(result.weights.values).sum() == pytest.approx(1.0)


def test_mert_tunes_lists_that_leave_out_zeros_whole(anchors, references, tmp_path):
    """The first round as cdec writes it: every optimiser gets what Moses' own list gives."""
    pool = with_metric(read_pool([anchors / "moses-enja" / "round1.nbest.gz"]), Bleu(), references)
    lines = (
        " ||| ".join([str(sentence), text, " ".join(f"{name}={value!r}" for name, value in row), "0"])
        for sentence, text, row in candidates(pool)
    )
    (tmp_path / "list").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    # With features in the same order: random starts depend on it.
    sparse = with_metric(read_nbest(tmp_path / "list", index=pool.index).distinct(), Bleu(), references)
    assert sparse.dense == pool.dense
    results = [Mert().optimise(p, Weights(p.index), seed=1, n_threads=2) for p in (pool, sparse)]
    assert results[0].gain_after == pytest.approx(0.2815, abs=5e-5)
    assert results[0].weights.values.tobytes() == results[1].weights.values.tobytes()


def candidates(pool):
    """Sentence, text, and features by name, without zeros."""
    shard = pool.shards[0]
    sentence = shard.sentence_ids[shard.sentence_of_each()].tolist()
    names = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
    for c in range(shard.n_candidates):
        row = slice(shard.feature_rows[c], shard.feature_rows[c + 1])
        values = zip(shard.feature_ids[row].tolist(), shard.feature_values[row].tolist(), strict=True)
        yield sentence[c], pool.text(shard, c), [(names[id_], value) for id_, value in values]


@pytest.mark.parametrize("make", [Xbleu, SoftRamp, Cll, Svm, Perceptron])
def test_descent_keeps_a_start_that_it_cannot_improve(pool, start, make):
    # The start is a MERT optimum of these very lists: what ranks sentence by sentence finds nothing better.
    result = make().optimise(pool, start, seed=1)
    assert result.gain_after >= result.gain_before == pytest.approx(0.293856, abs=5e-7)
    assert not [note for note in result.notes if "worse than the start" in note]


BREVITY = SentenceBleu(smooth_brevity=True)
"""Plain BLEU+1 makes short translations (Nakov et al. 2012)."""


@pytest.mark.parametrize(
    ("method", "least"),
    [
        (Xbleu(), 0.287),
        (SoftRamp(), 0.282),
        (Cll(), 0.278),
        (Svm(), 0.275),
        (Perceptron(), 0.255),
        (Pro(), 0.265),
        (Pro(sentence_bleu=BREVITY), 0.279),
        (Mira(), 0.281),
        (Mira(units=Units.RAW), 0.286),
        (Rm(), 0.281),
        (Rampion(), 0.285),
        (Rampion(sentence_bleu=BREVITY), 0.285),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, float) else "",
)
def test_every_method_learns_from_nothing(pool, method, least):
    result = method.optimise(pool, Weights(pool.index), seed=1, n_threads=2)
    assert result.gain_before == pytest.approx(0.2416, abs=1e-4)
    assert result.gain_after > least


@pytest.mark.parametrize("method", [Pro(), Mira(), Rm(), Rampion()], ids=lambda x: type(x).__name__)
def test_methods_that_forget_the_start_say_what_it_costs(pool, start, method):
    """These end where the lists lead them, whatever the start: downwards from an optimum of the corpus metric."""
    result = method.optimise(pool, start, seed=1, n_threads=2)
    assert result.gain_after < result.gain_before
    assert [note for note in result.notes if "worse than the start" in note]


def test_pro_learns_precise_translations(pool, start):
    result = Pro().optimise(pool, start, seed=1, n_threads=2)
    total, by_start = rerank(pool, result.weights).total(), rerank(pool, start).total()
    assert total[2] / total[6] > by_start[2] / by_start[6]


def test_rm_bounds_the_spread_that_mira_lets_grow(pool, start):
    mira, rm = (method.optimise(pool, start, seed=1) for method in (Mira(units=Units.RAW), Rm()))
    total = rerank(pool, mira.weights).total()
    assert 0.94 < total[0] / total[1] < 1.0
    assert rm.trace[-1]["spread"] < 2 < mira.trace[-1]["spread"]


def test_the_oracle_is_far_above(pool):
    assert oracle(pool).score() > 0.51
