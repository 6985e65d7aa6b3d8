"""Lists of the training text by folds: features computed from stored derivations, updates on them, and bytes."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from bench.harness import DATA, RESULTS, Case, Workload
from dragoman import _core
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu
from dragoman.optim import Xbleu
from dragoman.sources.lists import ListShard, StoredLists, write_shard
from dragoman.system import (
    FoldDecoder,
    HieroSettings,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    train,
)

N_FOLDS = 10
N_LINES = 1024
TEXTS = {"phrase": ("multi30k", "de"), "hiero": ("enja", "ja"), "oriented": ("multi30k", "de")}
SETTINGS = {
    "phrase": SystemSettings(model=PhraseSettings(), n_folds=N_FOLDS),
    "hiero": SystemSettings(model=HieroSettings(), n_folds=N_FOLDS),
    "oriented": SystemSettings(
        model=PhraseSettings(reordering=reordering_by_name("hrm5")), n_folds=N_FOLDS, classes=(20, 50, 80)
    ),
}


@cache
def system(kind: str) -> System:
    """A system with folds, kept for the next run."""
    corpus, source = TEXTS[kind]
    folder = RESULTS / "stored-lists" / kind
    if not folder.exists():
        config = TrainConfig(settings=SETTINGS[kind], lm=EstimateConfig(order=4))
        train(DATA / corpus / f"train.{source}.xz", DATA / corpus / "train.en.xz", folder, config=config, n_threads=2)
    return System.load(folder)


@cache
def stored(kind: str, n_lines: int, k: int) -> tuple[Path, int]:
    """A shard of lists, and its number of candidates."""
    path = RESULTS / "stored-lists" / f"{kind}-{n_lines}-{k}"
    decoder = FoldDecoder(system(kind).with_templates(()), preset=Preset.FAST)
    lines = np.arange(n_lines, dtype=np.int64)
    pool = decoder.kbest(lines, decoder.system.weights, k, distinct=True, derivations=True, n_threads=2)
    pool = decoder.measured(pool, Bleu())
    write_shard(path, ListShard.of(pool, pool.shards[0], decoder.training.folds[lines]))
    return path, pool.n_candidates


def _features(kind: str, features: str, k: int, scale: float) -> Workload:
    path, n_candidates = stored(kind, round(N_LINES * scale), k)
    lists = StoredLists(system(kind).with_templates((features,)), [path])
    n_lists = len(lists.outlines[0].sentence_ids)
    size = path.stat().st_size / n_candidates
    # A shard is computed whenever another was asked for in between.
    return Workload(n_items=n_lists, ours=lambda: lists.compute(0), note=lambda: f"{size:.0f} bytes a candidate")


def _updates(features: str, scale: float) -> Workload:
    """Epochs of expected BLEU with the dense weights fixed, on prepared lists."""
    path, _ = stored("oriented", round(N_LINES * scale), 100)
    found = system("oriented").with_templates((features,))
    pool = StoredLists(found, [path]).pool(Bleu())
    (shard,) = pool.shards
    fixed = np.zeros(len(pool.index), np.uint8)
    fixed[sorted(pool.dense)] = 1
    loss = Xbleu().loss(Bleu(), pool.shards)
    lists = _core.ListStore(len(pool.index), 1 << 40, tempfile.gettempdir())
    start = found.weights.values_on(pool.index)
    lists.add(*shard.candidates, loss.gains(shard), fixed, start, 1)
    lists.seal()
    n_lists = len(lists)
    learner = _core.Learner(start, n_lists, np.zeros(0), np.zeros(0), 0.1, 0.0, 0.0, False, False)
    order = np.random.default_rng(1).permutation(n_lists)
    native = _core.list_loss("expected-gain", 1.0)
    size = lists.n_bytes() / n_lists
    return Workload(
        n_items=n_lists,
        ours=lambda: learner.epoch(lists, order, native),
        note=lambda: f"{size / 1000:.1f} kB a prepared list",
    )


CASES = [
    Case(
        name=name,
        area="stored lists",
        unit="lists",
        prepare=partial(_features, kind, features, k),
        target=target,
        needs_data=True,
    )
    for name, kind, features, k, target in (
        ("phrase, extended, k 100", "phrase", "extended", 100, "1,500 lists/s, 300 bytes a candidate"),
        ("phrase, rule_id, k 100", "phrase", "rule_id", 100, "1,500 lists/s"),
        ("hierarchical, rm_sparse, k 100", "hiero", "rm_sparse", 100, "1,500 lists/s"),
        ("hierarchical, rm_sparse, k 500", "hiero", "rm_sparse", 500, "300 bytes a candidate"),
    )
]
CASES += [
    Case(
        name=f"updates of xbleu, phrase, {features}, k 100",
        area="stored lists",
        unit="lists",
        prepare=partial(_updates, features),
        target=f"{target} updates/s, 20 kB a prepared list",
        needs_data=True,
    )
    for features, target in (("sparse_hrm_local", "50,000"), ("sparse_hrm", "30,000"))
]
