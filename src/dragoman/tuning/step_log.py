"""What a tuning by steps has done so far: its steps, updates and notes, for the record and for who watches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dragoman.candidates import Objective
from dragoman.features import HOLS_BEFORE, Block, FeatureTable, Weights, sign_flips
from dragoman.optim.hols import FROZEN, among, has_component
from dragoman.run import HeldOutLines, RunFolder, Update
from dragoman.run.tunings import RoundRecord, StepRecord, TuneRecord
from dragoman.tuning.gradient_step import MadeGradient
from dragoman.tuning.line_search import SearchResult
from dragoman.tuning.notes import by_round
from dragoman.work.store import Made

__all__ = ["OnStage", "StepLog"]

OnStage = Callable[[str, int, StepRecord | None], None]
"""Called with the name of a step and its number of lines when it begins, and with its record when it has ended."""


class StepLog:
    """Keeps a log of one tuning in the trace of its run."""

    def __init__(self, run: RunFolder, dense: Sequence[str], on_stage: OnStage | None) -> None:
        self._run, self._dense, self._on_stage = run, dense, on_stage
        logged = [entry for entry in run.trace() if entry["event"] == "step"]
        self._logged = {entry.get("name"): bool(entry.get("found")) for entry in logged}
        self._steps: list[StepRecord] = []
        self._updates: list[Update] = []
        self._gradient: dict[str, Any] = {}
        self._before: FeatureTable | None = None
        self._norm = 0.0
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        """A note that nobody should miss, unless a search has told it already."""
        if text not in self.warnings:
            self.notes.append(text)
            self.warnings.append(text)

    def begin(self, name: str, n_lines: int) -> None:
        if self._on_stage:
            self._on_stage(name, n_lines, None)

    def gradient(self, name: str, update: int, n_lines: int, found: MadeGradient, weights: Weights) -> None:
        """A gradient has been taken at these weights: the searches that follow are along it."""
        loss, scale, deviation = found.mean_loss, found.scale, found.deviation
        step = self._step(name, n_lines, found.made, (found.score, found.score), more_cpu_s=found.scaling.cost.cpu_s)
        self._end(step, loss=loss, scale=scale, spread=deviation)
        self.notes.append(
            f"update {update}: scores deviate by {deviation:.4g} in a list; times {scale:.4g} they met the loss"
        )
        table = found.table
        sparse = table.take(np.flatnonzero(~among(table, self._dense) & has_component(table, found.loss)))
        self._gradient = {
            "update": update,
            "n_lines": n_lines,
            "n_seen": len(table),
            "loss": loss,
            "factor": scale,
            "gradient_cpu_s": found.cpu_s,
            "flips": () if self._before is None else sign_flips(self._before, sparse, found.loss),
        }
        self._before = sparse
        self._norm = self.dense_norm(weights)

    def search(self, name: str, n_lines: int, result: SearchResult, blocks: Sequence[Block]) -> None:
        """A search on lines of the training text has ended."""
        summary = result.summary
        scores = summary["score_before"], summary["score_after"]
        self._end(self._step(name, n_lines, result.made, scores, n_rounds=len(summary["rounds"])))
        self.notes += [f"{name}: {note}" for note in by_round(summary["notes"])]
        self.updated("held-out", result, blocks)

    def step(self, name: str, n_lines: int, made: Made, scores: tuple[float, float], *, n_rounds: int = 0) -> None:
        """Another step has ended."""
        self._end(self._step(name, n_lines, made, scores, n_rounds=n_rounds))

    def updated(self, searched: str, result: SearchResult, blocks: Sequence[Block]) -> None:
        """Keep what a search after a gradient did to the blocks."""
        if self._gradient:
            found = result.weights
            steps = [block for block in blocks if block.name not in (HOLS_BEFORE, FROZEN)]
            if not any(found[block.name] for block in steps):
                update = self._gradient["update"]
                self.notes.append(f"update {update}: the search on {searched} lines went no step along the gradient")
            self._updates.append(
                Update(
                    searched=searched,
                    blocks={block.name: found[block.name] for block in blocks},
                    score_before=result.summary["score_before"],
                    score_after=result.summary["score_after"],
                    n_features=sum(len(block.table) for block in steps),
                    search_cpu_s=result.summary["cpu_s"],
                    dense_scale=self._norm / after if (after := self.dense_norm(found)) else 1.0,
                    **self._gradient,
                )
            )

    def record(
        self,
        weights: Weights,
        rounds: Sequence[RoundRecord],
        *,
        objective: Objective,
        best: int,
        stopped: str,
        notes: Sequence[str] = (),
        blocks: Mapping[str, float] = MappingProxyType({}),
        held_out_lines: HeldOutLines | None = None,
    ) -> TuneRecord:
        """The whole tuning; `rounds` are those of the development set, `best` the one that was kept."""
        first, kept = rounds[0], rounds[best - 1]
        spent = [entry.cpu_s + (entry.learned.cpu_s if entry.learned else 0.0) for entry in rounds]
        return TuneRecord(
            weights=weights,
            metric=objective.name,
            higher_is_better=objective.higher_is_better,
            score_before=first.score,
            score_after=kept.score,
            rounds=tuple(rounds),
            n_sentences=len(objective.references),
            n_candidates=rounds[-1].n_candidates,
            n_features=len(weights.ids()),
            cpu_s=sum(spent) + sum(step.cpu_s for step in self._steps),
            notes=(*self.notes, *notes),
            dense=tuple(self._dense),
            best_round=best,
            stopped=stopped,
            updates=tuple(self._updates),
            steps=tuple(self._steps),
            blocks=dict(blocks),
            warnings=tuple(self.warnings),
            length_before=first.length_ratio,
            length_after=kept.length_ratio,
            held_out_lines=held_out_lines,
        )

    def dense_norm(self, weights: Weights) -> float:
        """The sum of the magnitudes of dense weights."""
        return sum(abs(weights[name]) for name in self._dense)

    def _step(
        self,
        name: str,
        n_lines: int,
        made: Made,
        scores: tuple[float, float],
        *,
        n_rounds: int = 0,
        more_cpu_s: float = 0.0,
    ) -> StepRecord:
        return StepRecord(
            name=name,
            folder=Path(os.path.relpath(made.folder, self._run.path)).as_posix(),
            n_lines=n_lines,
            score_before=scores[0],
            score_after=scores[1],
            n_rounds=n_rounds,
            wall_s=made.cost.wall_s,
            cpu_s=made.cost.cpu_s + more_cpu_s,
            found=self._logged.get(name, made.found),  # what this tuning made before a stop is its own
        )

    def _end(self, step: StepRecord, **more: float) -> None:
        self._steps.append(step)
        if step.name not in self._logged:
            self._run.log("step", **asdict(step), **more)
        if self._on_stage:
            self._on_stage(step.name, step.n_lines, step)
