"""Stochastic descent: updates per second on generated lists as large models have them, beside the same update in SciPy.

A list has 100 candidates with 50 indicator features each, of three million; 45 of them are the sentence's. "Common" is
the easy kind: all candidates have the same 45. In "mixed" lists each has 45 of the sentence's 90. Unless a name says
otherwise, lists are prepared before the clock starts (in columns, without what all candidates share), for us and for
the peer.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.harness import RESULTS, Case, Workload
from bench.shards import overlapping_shard
from dragoman import _core
from dragoman.candidates import Pool, Shard, load_pool, new_words, save_pool
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import External
from dragoman.optim import ScoreLoss, Xbleu
from dragoman.types import Float64Array, Int64Array

N_FEATURES, N_CANDIDATES, N_ACTIVE, N_SHARED = 3_000_000, 100, 50, 45
COMMON, MIXED = 45, 90
PER_SHARD = 1000
NONE = np.zeros(0)


def _shard(first: int, n: int, sentence_features: int) -> Shard:
    return overlapping_shard(
        seed=1,
        first_sentence=first,
        n_sentences=n,
        n_candidates=N_CANDIDATES,
        n_features=N_FEATURES,
        n_active=N_ACTIVE,
        n_shared=N_SHARED,
        n_sentence_features=sentence_features,
    )


def _prepared(shards: list[Shard]) -> _core.ListStore:
    store = _core.ListStore(N_FEATURES, 1 << 40, tempfile.gettempdir())
    for shard in shards:
        gains = np.ascontiguousarray(shard.stats[:, 0])
        store.add(*shard.candidates, gains, np.zeros(0, np.uint8), np.zeros(N_FEATURES))
    store.seal()
    return store


def _learner(method: str, store: _core.ListStore) -> tuple[_core.Learner, _core.ListLoss]:
    """What the defaults of a method come to: plain steps of 0.1; or conditioned steps of 1 with a penalty."""
    start = np.zeros(N_FEATURES)
    if method == "xbleu":
        return _core.Learner(start, len(store), NONE, NONE, 0.1, 0.0, 0.0, False, False), _core.list_loss(
            "expected-gain", 1.0
        )
    rates = 1 / np.maximum(store.list_counts(), 1)
    learner = _core.Learner(start, len(store), rates, rates.copy(), 1.0, 0.0, 0.001, False, False)
    return learner, _core.list_loss("soft-ramp", 20.0)


def _scipy_slopes(method: str, scores: Float64Array, gains: Float64Array) -> Float64Array:
    def softmax(x: Float64Array) -> Float64Array:
        p = np.exp(x - x.max())
        return p / p.sum()

    if method == "xbleu":
        p = softmax(scores)
        return -p * (gains - p @ gains)
    cost = 20 * (1 - gains)
    return softmax(scores + cost) - softmax(scores - cost)


def _peer(method: str, shard: Shard, rates: Float64Array | None) -> Callable[[], None]:
    """The same updates, without the penalty, on SciPy matrices over the features of each list."""
    from scipy.sparse import csr_matrix

    lists = []
    for s in range(shard.n_sentences):
        part = shard.part(s, s + 1)
        ids, columns = np.unique(part.feature_ids, return_inverse=True)
        x = csr_matrix((part.feature_values.astype(np.float64), columns, part.feature_rows), (N_CANDIDATES, len(ids)))
        lists.append((ids, x, x.T.tocsr(), part.stats[:, 0]))
    weights = np.zeros(N_FEATURES)

    def run() -> None:
        for ids, x, transposed, gains in lists:
            gradient = transposed @ _scipy_slopes(method, x @ weights[ids], gains)
            weights[ids] -= 0.1 * gradient if rates is None else rates[ids] * gradient

    return run


def _updates(scale: float, *, method: str, sentence_features: int, batch: int = 1, n_threads: int = 1) -> Workload:
    n = round(10_000 * scale)
    shards = [_shard(first, PER_SHARD, sentence_features) for first in range(0, n, PER_SHARD)]
    store = _prepared(shards)
    learner, loss = _learner(method, store)
    rates = None if method == "xbleu" else 1 / np.maximum(store.list_counts(), 1)
    order = np.random.default_rng(1).permutation(n)
    peer = _peer(method, shards[0], rates) if batch == 1 else None
    return Workload(
        n_items=n,
        ours=lambda: learner.epoch(store, order, loss, batch, n_threads),
        peer=peer,
        peer_repeats=3,
        peer_share=PER_SHARD / n,
    )


def _soft_ramps(scores: Float64Array, gains: Float64Array, offsets: Int64Array) -> tuple[Float64Array, Float64Array]:
    """The soft ramp of lists that follow one another, as somebody would write it."""
    begins, counts = offsets[:-1], np.diff(offsets)
    cost = 20 * (1 - gains)
    values, slopes = [], []
    for tilted in (scores + cost, scores - cost):
        top = np.maximum.reduceat(tilted, begins)
        p = np.exp(tilted - np.repeat(top, counts))
        sums = np.add.reduceat(p, begins)
        values.append(top + np.log(sums))
        slopes.append(p / np.repeat(sums, counts))
    return values[0] - values[1], slopes[0] - slopes[1]


def _in_numpy(scale: float, *, batch: int) -> Workload:
    """Updates against a loss in NumPy, beside the native loss of the same mathematics."""
    n = round(10_000 * scale)
    store = _prepared([_shard(first, PER_SHARD, MIXED) for first in range(0, n, PER_SHARD)])
    own = ScoreLoss(metric=External(), function=_soft_ramps, batched=True)
    (learner, loss), (other, _) = _learner("softramp", store), _learner("softramp", store)
    order = np.random.default_rng(1).permutation(n)

    def run() -> None:
        for begin in range(0, n, batch):
            end = min(begin + batch, n)
            _, slopes = own.slopes(*other.begin_list_step(store, order, begin, end))
            other.finish_list_step(store, order[begin:end], slopes)

    return Workload(n_items=n, ours=run, peer=lambda: learner.epoch(store, order, loss, batch), repeats=3)


def _preparing(scale: float) -> Workload:
    n = round(10_000 * scale)
    shards = [_shard(first, PER_SHARD, COMMON) for first in range(0, n, PER_SHARD)]

    def run() -> None:
        store = _prepared(shards)
        learner, loss = _learner("xbleu", store)
        learner.epoch(store, np.arange(n), loss)

    return Workload(n_items=n, ours=run, repeats=3)


def _store(folder: str, n_sentences: int) -> None:
    index = FeatureIndex()
    for i in range(N_FEATURES):
        index.intern(f"f{i}")
    shards = (_shard(first, PER_SHARD, COMMON) for first in range(0, n_sentences, PER_SHARD))
    save_pool(Pool(index=index, words=new_words(), shards=()), folder, shards=shards)


def _streamed(scale: float) -> Workload:
    """A pool on disk, made by another process so that the memory measured is that of learning."""
    scratch = tempfile.TemporaryDirectory(dir=RESULTS)
    n = round(200_000 * scale)
    maker = multiprocessing.get_context("spawn").Process(target=_store, args=(scratch.name, n))
    maker.start()
    maker.join()

    def run() -> None:
        with scratch:
            loaded = load_pool(scratch.name)
            pool = Pool(index=loaded.index, words=loaded.words, shards=loaded.shards, metric=External())
            optimiser = Xbleu(max_epochs=2)
            optimiser.optimise(pool, Weights(pool.index), seed=1)

    return Workload(n_items=n, ours=run, repeats=1)


def _case(method: str, kind: str, sentence_features: int) -> Case:
    return Case(
        name=f"{method} updates, batch 1, {kind} lists",
        area="descent",
        unit="lists",
        prepare=partial(_updates, method=method, sentence_features=sentence_features),
        peer_name="SciPy",
        target="≥ 25,000/s",
    )


CASES = [
    *(_case(method, *kind) for method in ("xbleu", "softramp") for kind in (("common", COMMON), ("mixed", MIXED))),
    *(
        Case(
            name=f"xbleu updates, batch 512, mixed lists{label}",
            area="descent",
            unit="lists",
            prepare=partial(_updates, method="xbleu", sentence_features=MIXED, batch=512, n_threads=n),
            wall=n > 1,
        )
        for label, n in (("", 1), (", two threads (wall)", 2))
    ),
    *(
        Case(
            name=f"updates by a soft ramp in NumPy, batch {batch}, mixed lists",
            area="descent",
            unit="lists",
            prepare=partial(_in_numpy, batch=batch),
            peer_name="native soft ramp",
            target="≥ a third of native",
        )
        for batch in (1, 64)
    ),
    Case(name="preparing and one epoch of xbleu, common lists", area="descent", unit="lists", prepare=_preparing),
    Case(
        name="two epochs of xbleu on a stored pool, all told",
        area="descent",
        unit="lists",
        prepare=_streamed,
        target="≤ 2 GiB anonymous",
    ),
]
