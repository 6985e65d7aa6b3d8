"""The rounds of a tuning by steps: those of its last search, or the development set measured on the way."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dragoman.candidates import rerank
from dragoman.cost import cpu_seconds
from dragoman.features import Block, Weights
from dragoman.optim.hols import moved
from dragoman.run import RunFolder
from dragoman.run.tunings import RoundRecord, TuneRecord
from dragoman.system import System
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.judge import Verdict, fall_of_development
from dragoman.tuning.line_search import SearchResult
from dragoman.tuning.loop import Keep, Phase
from dragoman.tuning.rounds import RoundStore
from dragoman.tuning.step_log import StepLog
from dragoman.tuning.task import TuningTask

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
        verdict: Verdict,
        found: Mapping[str, float] = _NO_BLOCKS,
    ) -> TuneRecord:
        """The record of a last search, whose rounds get all weights instead of those of blocks; `found` are these.

        Where the start is kept, one more round decodes with it.
        """
        rounds, summary, store = result.rounds(), result.summary, self._store
        for entry in rounds:
            if store.folder(entry.round) is None:
                store.add(moved(result.weights_of(entry.round), blocks), result.output_of(entry.round), entry)
        kept: dict[str, Any] = {"stopped": str(summary["stopped"]), "notes": summary["notes"], "blocks": found}
        if verdict.keeps_start:
            rounds.append(self._round(verdict.start, len(rounds) + 1))
            return self._finish(verdict.start, rounds, verdict, best=len(rounds), **kept)
        self._log.warnings += summary.get("warnings", ())
        return self._finish(weights, rounds, verdict, best=summary["best_round"], **kept)

    def measured(
        self,
        visited: Sequence[Weights],
        verdict: Verdict,
        *,
        stopped: str,
        found: Mapping[str, float] = _NO_BLOCKS,
    ) -> TuneRecord:
        """The record of a tuning that only measures the development set, with each of these weights."""
        if verdict.keeps_start and verdict.start.digest() not in (weights.digest() for weights in visited):
            visited = [*visited, verdict.start]
        rounds = [self._round(used, number) for number, used in enumerate(visited, start=1)]
        best = len(rounds)
        if verdict.keeps_start:
            best = 1 + [weights.digest() for weights in visited].index(verdict.start.digest())
        elif verdict.by_development and rounds[-1].gain < rounds[0].gain:
            keeps_start = self._task.config.loop.keep is Keep.BEST
            best = 1 if keeps_start else best
            self._log.warn(fall_of_development(self._task.objective, rounds[0], rounds[-1], keeps_start=keeps_start))
        return self._finish(visited[best - 1], rounds, verdict, best=best, stopped=stopped, blocks=found)

    @cached_property
    def _decoder(self) -> Decoder:
        task = self._task
        system = System.load(task.parent.folder).with_templates(task.parent.settings.features)
        return task.decoder(system.view(task.config.fold), 1)

    def _round(self, weights: Weights, number: int) -> RoundRecord:
        """The development set decoded with some weights, now or before a stop."""
        task, store = self._task, self._store
        if (record := store.record(number)) is None:
            if task.on_step:
                task.on_step(number, Phase.DECODE)
            with store.new_round() as folder:
                record = self._measure(weights, folder, number)
        store.log_decoded(record)
        if task.on_round:
            task.on_round(record)
        return record

    def _measure(self, weights: Weights, folder: Path, number: int) -> RoundRecord:
        began, cpu_began, task = time.perf_counter(), cpu_seconds(), self._task
        pool = task.objective.measure(self._decoder.decode(weights), n_threads=task.n_threads)
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
            length_ratio=task.objective.metric.length_ratio(best.total()),
        )
        self._store.save(folder, weights, None, best, record)
        return record

    def _finish(
        self, weights: Weights, rounds: Sequence[RoundRecord], verdict: Verdict, *, best: int, **kept: Any
    ) -> TuneRecord:
        task, log = self._task, self._log
        for text in verdict.warnings(task.objective, rounds, best):
            log.warn(text)
        record = log.record(
            weights,
            rounds,
            objective=task.objective,
            best=best,
            held_out_lines=verdict.lines,
            **kept,
        )
        self._store.finish(record)
        return record
