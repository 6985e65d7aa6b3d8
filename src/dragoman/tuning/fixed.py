"""Tuning on fixed lists: read a pool elsewhere, optimise once, measure."""

from __future__ import annotations

import time
from collections.abc import Collection

from dragoman.candidates import Objective, Pool, doubt_of_references, metric_of, rerank
from dragoman.cost import cpu_seconds
from dragoman.features import Weights, describe_fit
from dragoman.optim import Optimiser
from dragoman.optim.frozen import frozen_at_zero, frozen_names
from dragoman.run import RunFolder
from dragoman.run.tunings import Learned, RoundRecord, TuneRecord, plain_trace
from dragoman.tuning.notes import length_warning
from dragoman.tuning.rounds import RoundStore
from dragoman.work.engine import Engine

__all__ = ["tune_pool"]


def tune_pool(
    pool: Pool,
    optimiser: Optimiser,
    start: Weights | None = None,
    *,
    seed: int = 1,
    frozen: Collection[str] = (),
    n_threads: int = 1,
    engine: Engine | None = None,
    objective: Objective | None = None,
    run: RunFolder | None = None,
) -> TuneRecord:
    """Optimise once on a pool; the score of the only round is that of the result.

    Without `start` all weights begin at 0: then the first candidate of every list is chosen. The pool carries its
    metric, or `objective` measures it, whose references are compared with the first candidates: do they belong to the
    sentences? An `engine` is for methods that use one. With `run` the round is recorded; if the run has it already,
    nothing is done again.
    """
    store = RoundStore(run)
    start = Weights({}) if start is None else start
    if objective is not None:
        pool = objective.measure(pool, n_threads=n_threads)
    # Before learning, which adds the names of all weights to the index.
    misfit = describe_fit(start, pool.index, pool.dense) if start.values.any() else None
    before = rerank(pool, start, n_threads=n_threads)
    found = store.find_learned(1, pool.index)
    names = frozen_names(start.on(pool.index).index, frozen)
    weights, learned = found or _learn(pool, optimiser, start, seed, names, n_threads, engine)
    after = rerank(pool, weights, n_threads=n_threads)
    record = RoundRecord(
        round=1,
        score=after.score(),
        gain=after.gain(),
        n_new=pool.n_candidates,
        n_candidates=pool.n_candidates,
        n_features=pool.n_features,
        learned=learned,
        length_ratio=metric_of(pool).length_ratio(after.total()),
    )
    if found is None:
        with store.new_round() as folder:
            store.save(folder, start, None, after, record)
            store.save_learned(folder, weights, learned)
    store.log_learned(1, learned)
    length = metric_of(pool).length_ratio
    lengths = length(before.total()), length(after.total())
    references = () if objective is None else objective.references
    doubt = doubt_of_references(pool, references, n_threads=n_threads) if references else None
    warnings = [text for text in (misfit, doubt, length_warning(*lengths)) if text]
    result = TuneRecord(
        weights=weights,
        metric=metric_of(pool).name,
        higher_is_better=metric_of(pool).higher_is_better,
        score_before=before.score(),
        score_after=record.score,
        rounds=(record,),
        n_sentences=pool.n_sentences,
        n_candidates=pool.n_candidates,
        n_features=pool.n_features,
        cpu_s=learned.cpu_s,
        notes=(*warnings, *frozen_at_zero(start, names), *learned.notes),
        warnings=(*warnings, *learned.warnings),
        length_before=lengths[0],
        length_after=lengths[1],
        dense=tuple(pool.dense_names()),
        stopped="fixed lists need one round",
    )
    store.finish(result)
    return result


def _learn(
    pool: Pool,
    optimiser: Optimiser,
    start: Weights,
    seed: int,
    frozen: Collection[str],
    n_threads: int,
    engine: Engine | None,
) -> tuple[Weights, Learned]:
    began, cpu_began = time.perf_counter(), cpu_seconds()
    result = optimiser.optimise(pool, start, seed=seed, frozen=frozen, n_threads=n_threads, engine=engine)
    return result.weights, Learned(
        gain_before=result.gain_before,
        gain_after=result.gain_after,
        trace=plain_trace(result.trace),
        notes=result.notes,
        warnings=result.warnings,
        wall_s=time.perf_counter() - began,
        cpu_s=cpu_seconds() - cpu_began,
    )
