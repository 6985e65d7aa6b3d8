"""Reading candidate lists, MERT, PRO, and reranking a pool larger than one would like to hold."""

from __future__ import annotations

import atexit
import json
import multiprocessing
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path

from bench.harness import ANCHORS, DATA, RESULTS, Case, Workload
from bench.shards import random_shard
from dragoman.candidates import (
    Pool,
    load_pool,
    new_words,
    read_pool,
    read_references,
    rerank,
    save_pool,
    with_metric,
)
from dragoman.features import FeatureIndex, Weights, read_weights
from dragoman.metric import Smoothing, by_name
from dragoman.optim import Mert, Pro

MOSES = ANCHORS / "moses-enja"
LISTS = [MOSES / f"round{i}.nbest.gz" for i in (1, 2, 3, 4)]


@cache
def anchor_pool(scale: float) -> Pool:
    """Two or four rounds of 100-best lists of Moses on 500 sentences, 14 features."""
    pool = read_pool(LISTS[: round(4 * scale)])
    references = read_references([DATA / "enja" / "dev.en.xz"])
    return with_metric(pool, by_name("bleu", smoothing=Smoothing.NONE), references)


def _reading(scale: float) -> Workload:
    paths = LISTS[: round(4 * scale)]
    return Workload(n_items=50_000 * len(paths), ours=lambda: read_pool(paths), repeats=3)


def _json_lines(scale: float) -> Workload:
    """100 candidates a sentence with five features and two scores, beside the json module alone."""
    n_sentences = int(2000 * scale)
    rng = random.Random(1)
    folder = tempfile.mkdtemp(prefix="lists-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "lists.jsonl"
    with path.open("w", encoding="utf-8") as output:
        for id_ in range(n_sentences):
            words = [f"w{rng.randrange(5000)}" for _ in range(12)]
            for _ in range(100):
                words[rng.randrange(12)] = f"w{rng.randrange(5000)}"
                features = {name: round(-9 * rng.random(), 4) for name in ("l2r", "r2l", "reverse", "lm")} | {
                    "words": 12
                }
                scores = {name: round(rng.random(), 4) for name in ("comet", "metricx")}
                row = {"id": id_, "text": " ".join(words), "features": features, "scores": scores}
                output.write(json.dumps(row) + "\n")

    def parse() -> None:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)

    return Workload(n_items=100 * n_sentences, ours=lambda: read_pool([path]), peer=parse, repeats=3, peer_repeats=3)


def _mert(scale: float) -> Workload:
    pool = anchor_pool(scale)
    start = read_weights(MOSES / "start.dense")
    return Workload(n_items=pool.n_candidates, ours=lambda: Mert().optimise(pool, start, seed=1), repeats=3)


def _line_searches(scale: float) -> Workload:
    pool = anchor_pool(scale)
    start = read_weights(MOSES / "start.dense")
    coordinates = Mert(n_directions=0)
    n_searches = sum(int(entry["searches"]) for entry in coordinates.optimise(pool, start, seed=1).trace)
    return Workload(n_items=n_searches, ours=lambda: coordinates.optimise(pool, start, seed=1), repeats=3)


def _pro(scale: float) -> Workload:
    pool = anchor_pool(scale)
    start = read_weights(MOSES / "start.dense")
    return Workload(n_items=pool.n_candidates, ours=lambda: Pro().optimise(pool, start, seed=1), repeats=3)


N_SHARD, N_LISTS, N_ACTIVE, N_FEATURES = 500, 100, 50, 1_000_000


def _index() -> FeatureIndex:
    index = FeatureIndex()
    for i in range(N_FEATURES):
        index.intern(f"f{i}")
    return index


def _store(folder: str, n_shards: int) -> None:
    shards = [
        random_shard(
            seed=1,
            first_sentence=s * N_SHARD,
            n_sentences=N_SHARD,
            n_candidates=N_LISTS,
            n_features=N_FEATURES,
            n_active=N_ACTIVE,
        )
        for s in range(n_shards)
    ]
    save_pool(Pool(index=_index(), words=new_words(), shards=tuple(shards)), folder)


def _streamed(scale: float) -> Workload:
    """A pool on disk, made by another process so that the memory measured is that of reranking."""
    scratch = tempfile.TemporaryDirectory(dir=RESULTS)
    n_shards = round(200 * scale)
    maker = multiprocessing.get_context("spawn").Process(target=_store, args=(scratch.name, n_shards))
    maker.start()
    maker.join()

    def run() -> None:
        pool = load_pool(scratch.name)
        weights = Weights(pool.index)
        weights.values[:] = 1.0
        rerank(pool, weights, n_threads=2)

    return Workload(n_items=n_shards * N_SHARD * N_LISTS, ours=run, repeats=1)


CASES = [
    Case(
        name="read Moses lists, enja",
        area="tuning",
        unit="candidates",
        prepare=_reading,
        target="≤ 1 s",
        needs_data=True,
    ),
    Case(
        name="read JSON Lines, 100 candidates a sentence",
        area="tuning",
        unit="candidates",
        prepare=_json_lines,
        peer_name="json.loads alone",
        target="≥ 300,000/s",
    ),
    Case(
        name="MERT, 20 starts, enja", area="tuning", unit="candidates", prepare=_mert, target="≤ 5 s", needs_data=True
    ),
    Case(
        name="MERT line searches, enja",
        area="tuning",
        unit="searches",
        prepare=_line_searches,
        target="≥ 1,000/s",
        needs_data=True,
    ),
    Case(name="PRO, enja", area="tuning", unit="candidates", prepare=_pro, target="≤ 2 s", needs_data=True),
    Case(
        name="load and rerank a stored pool, 50 features each, two threads (wall)",
        area="tuning",
        unit="candidates",
        prepare=_streamed,
        target="≤ 30 s",
        wall=True,
    ),
]
