"""The rounds of a tuning by steps: those of its last search, or the development set measured on the way."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dragoman.cost import cpu_seconds
from dragoman.features import Block, Weights
from dragoman.optim.hols import moved
from dragoman.pool import rerank, with_metric
from dragoman.run import RunFolder
from dragoman.system import System
from dragoman.tune.decoder import Decoder
from dragoman.tune.line_search import SearchResult
from dragoman.tune.loop import Step
from dragoman.tune.record import RoundRecord, TuneRecord
from dragoman.tune.rounds import RoundStore
from dragoman.tune.step_log import StepLog
from dragoman.tune.task import TuningTask

__all__ = ["DevelopmentRounds"]

_NO_BLOCKS: Mapping[str, float] = MappingProxyType({})


class DevelopmentRounds:
    """Writes the rounds of a tuning into its run; both ways end it."""

    def __init__(self, task: TuningTask, run: RunFolder, log: StepLog) -> None:
        self._task, self._log = task, log
        self._store = RoundStore(run)

    def searched(
        self,
        weights: Weights,
        result: SearchResult,
        blocks: Sequence[Block],
        found: Mapping[str, float] = _NO_BLOCKS,
    ) -> TuneRecord:
        """The record of a last search, whose rounds get all weights instead of those of blocks; `found` are these."""
        rounds, summary, store = result.rounds(), result.summary, self._store
        for entry in rounds:
            if store.folder(entry.round) is None:
                store.add(moved(result.weights_of(entry.round), blocks), result.output_of(entry.round), entry)
        best, stopped = summary["best_round"], str(summary["stopped"])
        return self._finish(weights, rounds, best=best, stopped=stopped, notes=summary["notes"], blocks=found)

    def measured(
        self, visited: Sequence[Weights], *, stopped: str, found: Mapping[str, float] = _NO_BLOCKS
    ) -> TuneRecord:
        """The record of a tuning that only measures the development set, with each of these weights."""
        task = self._task
        system = System.load(task.parent.folder).with_templates(task.parent.settings.features)
        decoder = task.decoder(system.view(task.config.fold), 1)
        store, rounds = self._store, []
        for number, used in enumerate(visited, start=1):
            if (record := store.record(number)) is None:
                if task.on_step:
                    task.on_step(number, Step.DECODE)
                with store.new_round() as folder:
                    record = self._measure(decoder, used, folder, number)
            store.log_decoded(record)
            rounds.append(record)
            if task.on_round:
                task.on_round(record)
        return self._finish(visited[-1], rounds, best=len(rounds), stopped=stopped, blocks=found)

    def _measure(self, decoder: Decoder, weights: Weights, folder: Path, number: int) -> RoundRecord:
        began, cpu_began, task = time.perf_counter(), cpu_seconds(), self._task
        pool = with_metric(decoder.decode(weights), task.metric, task.references, n_threads=task.n_threads)
        best = rerank(pool, weights.on(pool.index), n_threads=task.n_threads)
        record = RoundRecord(
            round=number,
            score=best.score(),
            gain=best.gain(),
            n_new=pool.n_candidates,
            n_candidates=pool.n_candidates,
            n_features=pool.n_features,
            wall_s=time.perf_counter() - began,
            cpu_s=cpu_seconds() - cpu_began,
        )
        self._store.save(folder, weights, None, best, record)
        return record

    def _finish(self, weights: Weights, rounds: Sequence[RoundRecord], **kept: Any) -> TuneRecord:
        task = self._task
        record = self._log.record(weights, rounds, metric=task.metric, n_sentences=len(task.references), **kept)
        self._store.finish(record)
        return record
