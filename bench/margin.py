"""An epoch of the margin learners on the candidate lists of Moses, and of the same lists twice over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bench.harness import Case, Workload
from bench.tuning import MOSES, anchor_pool
from dragoman.candidates import Pool
from dragoman.candidates.shard import concatenate
from dragoman.features import read_weights
from dragoman.optim import MarginUpdate, Mira, Optimiser, Rampion, Rm


def _copies(n: int) -> Pool:
    pool = anchor_pool(1.0)
    shard = concatenate(pool.shards)
    shards = [replace(shard, sentence_ids=shard.sentence_ids + i * shard.n_sentences) for i in range(n)]
    return replace(pool, shards=tuple(shards))


def _learning(optimiser: Optimiser, pool_at: Callable[[float], Pool]) -> Callable[[float], Workload]:
    def prepare(scale: float) -> Workload:
        pool = pool_at(scale)
        start = read_weights(MOSES / "start.dense")
        return Workload(n_items=pool.n_candidates, ours=lambda: optimiser.optimise(pool, start, seed=1), repeats=5)

    return prepare


_LEARNERS: dict[str, tuple[Optimiser, str]] = {
    "MIRA, one epoch, enja": (Mira(n_epochs=1), "≤ 0.5 s"),
    "MIRA by cutting planes, one epoch, enja": (Mira(n_epochs=1, update=MarginUpdate.CUTTING_PLANE), "≤ 0.5 s"),
    "RM, one epoch, enja": (Rm(n_epochs=1), "≤ 0.5 s"),
    "RM by cutting planes, one epoch, enja": (Rm(n_epochs=1, update=MarginUpdate.CUTTING_PLANE), "≤ 0.5 s"),
    "Rampion, 50 passes, enja": (Rampion(), ""),
}


def _case(name: str, optimiser: Optimiser, target: str, pool_at: Callable[[float], Pool]) -> Case:
    return Case(
        name=name,
        area="tuning",
        unit="candidates",
        prepare=_learning(optimiser, pool_at),
        target=target,
        needs_data=True,
    )


CASES = [_case(name, optimiser, target, anchor_pool) for name, (optimiser, target) in _LEARNERS.items()] + [
    _case(f"{name} twice over", optimiser, "", lambda scale: _copies(round(2 * scale)))
    for name, (optimiser, _) in _LEARNERS.items()
    if "one epoch" in name
]
