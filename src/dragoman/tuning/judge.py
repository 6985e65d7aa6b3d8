"""Who judges what was learned from the training text: lines of it that nothing was learned from.

θ was fitted to the development set, so that this set underrates whatever else changes the translations. Lines of the
last fold that took no part are therefore decoded with the weights of the start and with those that were learned, by the
tables that have not seen the fold; where what was learned is worse, the start is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Objective
from dragoman.features import FeatureTable, Weights
from dragoman.optim.hols import among
from dragoman.run import HeldOutLines, Kept
from dragoman.run.tunings import RoundRecord
from dragoman.system import System, TrainingLines, digest_lines, sample_lines
from dragoman.tuning.choice import first_candidates
from dragoman.tuning.config import FEWEST
from dragoman.tuning.loop import Keep
from dragoman.tuning.notes import length_warning
from dragoman.tuning.step_log import StepLog
from dragoman.tuning.task import TuningTask
from dragoman.types import Int64Array
from dragoman.work.engine import Engine
from dragoman.work.store import Made, Step, Store

__all__ = ["EASILY", "JUDGE", "Judge", "Verdict", "draw_judges", "fall_of_development", "n_judging"]

JUDGE = "judge"
_SHARE = 4
"""Of the fold's lines at most one in so many judges: the others teach, or are searched on."""
_FEW = f"the last fold has too few lines to keep aside {FEWEST} of them, and a quarter at most"
EASILY = "θ was fitted to the development set, so its score there falls easily"
_KEPT = {
    True: "the start is kept (`keep=last` keeps what was learned)",
    False: "it is kept all the same, as `keep=last` asks",
}


def n_judging(n_fold: int, most: int) -> int:
    """Lines of a fold that are kept aside: none of one that has too few."""
    n_lines = min(most, n_fold // _SHARE)
    return n_lines if n_lines >= FEWEST else 0


def draw_judges(
    training: TrainingLines,
    of_fold: Int64Array,
    n_lines: int,
    *,
    learned: Int64Array,
    searched: Int64Array,
    seed: int,
) -> tuple[Int64Array, Int64Array]:
    """Lines that judge, ascending, and the lines that may still be learned from.

    They are drawn from lines of a fold, those whose source sentence is not among those learned from and searched on.
    Where these are too few, lines to learn from join them, and no line with the source of one of those is learned from.
    """
    if not len(of_fold) or not n_lines:
        return of_fold[:0], learned
    fold = int(training.folds[of_fold[0]])
    own = learned[training.folds[learned] == fold]  # equal source sentences share a fold
    taken = _has_source(training, of_fold, searched)
    free = ~taken & ~_has_source(training, of_fold, own)
    judges, rest = of_fold[free], of_fold[~taken & ~free]
    if len(judges) + len(rest) < min(n_lines, FEWEST):
        return of_fold[:0], learned
    if len(judges) >= n_lines:
        return sample_lines(judges, n_lines, fold=fold, seed=seed), learned
    more = sample_lines(rest, min(n_lines - len(judges), len(rest)), fold=fold, seed=seed)
    unlearned = own[_has_source(training, own, more)]
    return np.sort(np.concatenate([judges, more])), learned[~np.isin(learned, unlearned)]


def _has_source(training: TrainingLines, lines: Int64Array, others: Int64Array) -> NDArray[np.bool_]:
    """Which lines have the source sentence of one of the others."""
    texts = {training.source(line) for line in others.tolist()}
    return np.array([training.source(line) in texts for line in lines.tolist()], np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """The weights that were judged against, and what held-out lines say. Without any, the development set may judge."""

    start: Weights
    lines: HeldOutLines | None = None
    by_development: bool = False

    @property
    def keeps_start(self) -> bool:
        """Whether the lines say so; what the development set says is in its rounds."""
        return self.lines is not None and self.lines.kept == Kept.START

    def warnings(self, objective: Objective, rounds: Sequence[RoundRecord], best: int) -> list[str]:
        """What nobody should miss, given the rounds of the development set and which of them is kept."""
        first, kept = rounds[0], rounds[best - 1]
        told = [length_warning(first.length_ratio, kept.length_ratio)]
        dev = f"the development set ({objective.change(first.score, kept.score)})"
        if self.lines is not None:
            change = objective.change(self.lines.score_before, self.lines.score_after)
            held_out = f"{self.lines.n_lines:,} held-out lines of the training text ({change})"
            if self.lines.worse:
                told.append(f"what was learned decodes {held_out} worse than the start; {_KEPT[self.keeps_start]}")
            elif kept.gain < first.gain:
                told.append(f"{dev} fell, but {held_out} did not: what was learned is kept; {EASILY}")
        elif kept.gain < first.gain and not self.by_development:
            told.append(f"the result decodes {dev} worse than the start; {EASILY}")
        return [text for text in told if text]


def fall_of_development(objective: Objective, first: RoundRecord, last: RoundRecord, *, keeps_start: bool) -> str:
    """Where the development set judges: what was learned decodes it worse than the start."""
    change = objective.change(first.score, last.score)
    return f"what was learned decodes the development set ({change}) worse than the start; {_KEPT[keeps_start]}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judge:
    """Decodes lines with several weights; each decoding is a step on disk."""

    task: TuningTask
    lines: Int64Array
    engine: Engine
    store: Store
    log: StepLog
    without: str = ""
    """Why there are no lines."""

    def compare(self, starts: Sequence[Weights], learned: Weights) -> Verdict:
        """What was learned against the start; against the one of several that decodes the lines best."""
        if not len(self.lines):
            self.log.notes.append(f"the development set judges what was learned: {self.without or _FEW}")
            return Verdict(start=starts[0], by_development=True)
        self.log.begin(JUDGE, len(self.lines))
        decoded = {weights.digest(): (self._decoded(weights), weights) for weights in (*starts, learned)}
        after, _ = decoded[learned.digest()]
        before, start = max((decoded[weights.digest()] for weights in starts), key=lambda one: one[0].content["gain"])
        scores = float(before.content["score"]), float(after.content["score"])
        worse = bool(after.content["gain"] < before.content["gain"])
        made = [one for one, _ in decoded.values()]
        whole = replace(
            after,
            cost=replace(
                after.cost,
                wall_s=sum(one.cost.wall_s for one in made),
                cpu_s=sum(one.cost.cpu_s for one in made),
                cached=all(one.found for one in made),
            ),
        )
        self.log.step(JUDGE, len(self.lines), whole, scores)
        keeps_start = worse and self.task.config.loop.keep is Keep.BEST
        return Verdict(
            start=start,
            lines=HeldOutLines(
                n_lines=len(self.lines),
                score_before=scores[0],
                score_after=scores[1],
                length_before=before.content["length_ratio"],
                length_after=after.content["length_ratio"],
                worse=worse,
                kept=(Kept.START if keeps_start else Kept.LEARNED).value,
            ),
        )

    def _decoded(self, weights: Weights) -> Made:
        """Score, gain and length of the best translations."""
        task, parent = self.task, self.task.parent
        # Templates matter only where there are weights of theirs; decodings of a baseline are then shared by all.
        is_dense = among(FeatureTable.from_weights(weights, "weight"), parent.translator.dense())
        features = () if is_dense.all() else parent.settings.features
        key: dict[str, Any] = {
            "system": parent.manifest.identity(),
            "features": list(features),
            "lines": digest_lines(self.lines),
            "weights": weights.digest(),
            "objective": task.objective.on(()).identity,
            "preset": task.config.preset.value,
        }

        def work(_folder: Path, _scratch: Path) -> dict[str, Any]:
            system = System.load(parent.folder).with_templates(features)
            pool = task.lines_decoder(self.engine, system, self.lines, k=1).decode(weights)
            references = [[parent.training.target(line)] for line in self.lines.tolist()]
            objective = task.objective.on(references, allow_missing=True)
            best = first_candidates(objective.measure(pool, n_threads=task.n_threads))
            length = objective.metric.length_ratio(best.total())
            return {"score": best.score(), "gain": best.gain(), "length_ratio": length}

        return self.store.make(Step(kind=JUDGE, key=key, modules=(__name__,), work=work))
