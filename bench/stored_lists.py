"""Lists of the training text by folds: features computed from stored derivations, and the bytes that are stored."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np

from bench.harness import DATA, RESULTS, Case, Workload
from dragoman.lists import ListShard, StoredLists, write_shard
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu
from dragoman.system import (
    FoldDecoder,
    HieroSettings,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    train,
)

N_FOLDS = 10
N_LINES = 1024
TEXTS = {"phrase": ("multi30k", "de"), "hiero": ("enja", "ja")}


@cache
def system(kind: str) -> System:
    """A system with folds, kept for the next run."""
    corpus, source = TEXTS[kind]
    folder = RESULTS / "stored-lists" / kind
    if not folder.exists():
        model = PhraseSettings() if kind == "phrase" else HieroSettings()
        config = TrainConfig(settings=SystemSettings(model=model, n_folds=N_FOLDS), lm=EstimateConfig(order=4))
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
