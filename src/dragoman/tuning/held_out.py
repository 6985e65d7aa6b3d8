"""Held-out line search on a system with folds: gradients and searches are steps on disk, which tunings may share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Objective
from dragoman.errors import InputError
from dragoman.features import Block, FeatureTable, Weights, parse_templates
from dragoman.metric import Tokenizer
from dragoman.optim import HeldOutText, Hols, Mert
from dragoman.optim.frozen import frozen_members
from dragoman.optim.hols import FROZEN, Last, Start, among
from dragoman.run import RunFolder
from dragoman.run.tunings import TuneRecord
from dragoman.system import System, digest_lines
from dragoman.system.training import TRAINING
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.development import DevelopmentRounds
from dragoman.tuning.gradient_step import GRADIENT, GradientStep
from dragoman.tuning.judge import Judge
from dragoman.tuning.line_search import LineSearch, SearchResult
from dragoman.tuning.line_sets import draw_lines
from dragoman.tuning.loop import LoopSettings
from dragoman.tuning.step_log import StepLog
from dragoman.tuning.task import TuningTask
from dragoman.work.engine import LocalEngine

__all__ = ["HeldOutTask", "tune_held_out"]

_WEIGHT = "weight"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutTask(TuningTask):
    """What there is to do."""

    method: Hols


def tune_held_out(task: HeldOutTask, run: RunFolder) -> TuneRecord:
    """Learn by the task's method; the run gets the rounds of the development set, the result, and the steps.

    Raises InputError for a system without folds, one whose training text has changed, and one without sparse features;
    for too few lines; and where the gradient is 0.
    """
    text = _Text(task, run)
    weights = task.method.learn_text(text)
    return text.record(weights)


class _Text(HeldOutText):
    """The training text and the development set of a task."""

    def __init__(self, task: HeldOutTask, run: RunFolder) -> None:
        self._task, self._run = task, run
        parent, method, config = task.parent, task.method, task.config
        if method.updates and not parent.settings.features:
            raise InputError(f"{method.name} learns sparse features; name some, such as `features=hols_sparse`")
        training = parent.training
        for name, record in parent.manifest.files.items():
            if name.startswith(f"{TRAINING}/"):
                record.check(parent.folder, whole=True)
        self._engine = task.engine or LocalEngine(task.n_threads)
        self._gradients = GradientStep(
            system=parent,
            method=method,
            preset=config.preset,
            metric=config.named_metric(),
            engine=self._engine,
            n_threads=task.n_threads,
            progress=task.progress,
        )
        self._gradients.settings()  # raises for the loss
        self._lines = draw_lines(training, method, fold=config.fold, limit=config.limit, judge_lines=config.judge_lines)
        self._targets = [[training.target(line)] for line in self._lines.search.tolist()]
        self.dense = parent.translator.dense()
        self._frozen_dense, self._frozen_sparse = self._frozen()
        self._log = StepLog(run, self.dense, task.on_stage)
        if config.tokenizer is not Tokenizer.NONE or config.lowercase:
            self._log.notes.append("searches tokenise and lowercase as asked; gradients count the system's own tokens")
        self.weights = self._start()
        self._own, self._shared = task.stores(run)
        self._visited: list[Weights] = []
        self._blocks: Sequence[Block] = ()
        self.found: SearchResult | None = None

    def is_frozen(self, table: FeatureTable) -> NDArray[np.bool_]:
        frozen = self._frozen_sparse
        if not frozen:
            return np.zeros(len(table), dtype=bool)
        return np.array([name in frozen or name.split(":", 1)[0] in frozen for name in table.names()], dtype=bool)

    def gradient(self, update: int, weights: Weights) -> FeatureTable:
        self._visited.append(weights)
        lines = self._lines.part(update)
        name = f"{GRADIENT}-{update}"
        self._log.begin(name, len(lines))
        found = self._gradients.run(self._shared, lines, weights)
        self._log.gradient(name, update, len(lines), found, weights)
        return found.table

    def search(self, update: int, weights: Weights, blocks: Sequence[Block]) -> Weights:
        method, lines = self._task.method, self._lines.search
        if not update and set(self.dense) <= set(self._frozen_dense):
            return weights
        name = f"search-{update}" if update else "start"
        system = self._system(blocks)
        task = self._task
        decoder = task.lines_decoder(self._engine, system, lines)
        objective = task.objective.on(self._targets)
        search = self._line_search(system, decoder, objective, weights, {"lines": digest_lines(lines)})
        rounds = method.search_rounds if update else method.start_rounds
        is_last = method.last is Last.HELD_OUT and update == method.updates
        seed = task.seed if is_last else method.training_seed or task.seed
        search = replace(search, loop=LoopSettings(max_rounds=rounds), seed=seed)
        self._log.begin(name, len(lines))
        result = search.run(self._shared, name.split("-")[0])
        self._log.search(name, len(lines), result, blocks)
        return result.weights

    def last(self, weights: Weights, blocks: Sequence[Block]) -> Weights:
        task, config = self._task, self._task.config
        system = self._system(blocks)
        decoder = task.decoder(system.view(config.fold), task.k)
        search = self._line_search(system, decoder, task.objective, weights, task.of_development())
        kept = tuple(self.dense) if task.method.last is Last.BLOCKS else ()
        search = replace(
            search,
            frozen=tuple(dict.fromkeys((*search.frozen, *kept))),
            loop=config.loop,
            seed=task.seed,
            on_step=task.on_step,
            on_round=task.on_round,
        )
        self._log.begin("last", len(task.objective.references))
        self.found, self._blocks = search.run(self._own, "last"), blocks
        self._log.updated("dev", self.found, blocks)
        return self.found.weights

    def record(self, weights: Weights) -> TuneRecord:
        """Of the whole tuning: with the rounds of the last search, or of the development set after every update."""
        rounds = DevelopmentRounds(self._task, self._run, self._log)
        lines, engine, store = self._lines.judges, self._engine, self._shared
        judge = Judge(task=self._task, lines=lines, engine=engine, store=store, log=self._log)
        verdict = judge.compare([self._task.start], weights)
        if self.found is not None:
            return rounds.searched(weights, self.found, self._blocks, verdict)
        return rounds.measured([*self._visited, weights], verdict, stopped="the updates are done")

    def _frozen(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """The dense features that stay, and names of sparse ones or their templates. Raises InputError for others."""
        parent = self._task.parent
        members = frozen_members(Weights.from_dict(dict.fromkeys(self.dense, 1.0)).index, self._task.config.frozen)
        sparse = frozenset(name for name, found in members.items() if not found)
        templates = {template.name for template in parse_templates(parent.settings.features)}
        for name in sorted(sparse):
            if name.split(":", 1)[0] not in templates and self._task.start.index.find(name) < 0:
                raise InputError(
                    f"the feature '{name}' cannot be frozen: the system has neither it nor such a template"
                )
        if self._task.method.updates and templates <= sparse:
            raise InputError("all sparse features are frozen; there is none to learn a weight of")
        return tuple(dict.fromkeys(name for found in members.values() for name in found)), sparse

    def _start(self) -> Weights:
        """The dense weights; of the sparse ones those that stay, or all where the start is the system's."""
        table = FeatureTable.from_weights(self._task.start, _WEIGHT)
        kept = among(table, self.dense) | self.is_frozen(table)
        if self._task.method.start is Start.SYSTEM:
            kept[:] = True
        elif n_dropped := int((~kept).sum()):
            self._log.notes.append(
                f"{n_dropped:,} sparse weights of the start are not used; start=system begins with them"
            )
        return table.take(np.flatnonzero(kept)).weights(_WEIGHT)

    def _system(self, blocks: Sequence[Block]) -> System:
        """The system as searches see it: dense features and blocks. Freshly opened, so that features have one order."""
        parent = self._task.parent
        templates = parent.settings.features if blocks else ()
        return System.load(parent.folder).with_templates(templates).with_blocks(blocks, rest=False)

    def _line_search(
        self,
        system: System,
        decoder: Decoder,
        objective: Objective,
        start: Weights,
        sentences: dict[str, Any],
    ) -> LineSearch:
        task, method, blocks = self._task, self._task.method, {block.name for block in system.blocks}
        return LineSearch(
            system=system,
            decoder=decoder,
            sentences={**sentences, **task.decoding()},
            objective=objective,
            method=Mert(n_starts=method.n_starts, n_directions=method.n_directions),
            start=start,
            frozen=(*self._frozen_dense, *({FROZEN} & blocks)),
            loop=LoopSettings(),
            seed=task.seed,
            n_threads=task.n_threads,
        )
