"""Held-out line search on a system with folds: gradients and searches are steps on disk, which tunings may share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dragoman.cost import cpu_seconds
from dragoman.engine import Engine, LocalEngine
from dragoman.errors import InputError
from dragoman.features import Block, FeatureTable, Weights, parse_templates
from dragoman.metric import Metric, Tokenizer
from dragoman.optim import HeldOutText, Hols, Mert
from dragoman.optim.frozen import frozen_members
from dragoman.optim.hols import FROZEN, Last, Start, among, moved
from dragoman.pool import rerank, with_metric
from dragoman.run import RunFolder
from dragoman.system import System, SystemView
from dragoman.system.training import TRAINING
from dragoman.tune.decoder import Decoder
from dragoman.tune.gradient_step import GRADIENT, GradientStep
from dragoman.tune.held_out_log import HeldOutLog, OnStage
from dragoman.tune.line_search import LinesDecoder, LineSearch, SearchResult
from dragoman.tune.line_sets import digest_lines, draw_lines
from dragoman.tune.loop import LoopSettings, Step
from dragoman.tune.record import RoundRecord, TuneRecord
from dragoman.tune.rounds import RoundStore
from dragoman.tune.steps import Steps
from dragoman.types import Progress

if TYPE_CHECKING:
    from dragoman.tune.system import TuneConfig

__all__ = ["HeldOutTask", "tune_held_out"]

_STEPS, _WEIGHT = "steps", "weight"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutTask:
    """What there is to do: a system that is to be tuned, and its development set. `k` and `distinct` are for searches.

    `development` names the sentences and references of the development set; `decoder` makes the decoder of its
    sentences, given a view and k. Steps go to `shared`, but for the last one.
    """

    parent: System
    method: Hols
    config: TuneConfig
    start: Weights
    metric: Metric
    references: Sequence[Sequence[str]]
    development: str
    decoder: Callable[[SystemView, int], Decoder]
    k: int
    distinct: bool
    seed: int
    shared: Path | None = None
    n_threads: int = 1
    engine: Engine | None = None
    progress: Progress | None = None
    on_stage: OnStage | None = None
    on_step: Callable[[int, Step], None] | None = None
    on_round: Callable[[RoundRecord], None] | None = None


def tune_held_out(task: HeldOutTask, run: RunFolder) -> TuneRecord:
    """Learn by the task's method; the run gets the rounds of the development set, the result, and the steps.

    Raises InputError for a system without folds, one whose training text has changed, and one without sparse features;
    for too few lines; and where the gradient is 0.
    """
    text = _Text(task, run)
    weights = task.method.learn(text)
    record = text.measured(weights) if text.found is None else text.searched(weights, text.found)
    RoundStore(run).finish(record)
    return record


class _Text(HeldOutText):
    """The training text and the development set of a task."""

    def __init__(self, task: HeldOutTask, run: RunFolder) -> None:
        self._task, self._run = task, run
        parent, method, config = task.parent, task.method, task.config
        if method.updates and not parent.settings.features:
            raise InputError(f"{method.name} learns sparse features; name some, such as --features hols_sparse")
        training = parent.training
        for name, record in parent.manifest.files.items():
            if name.startswith(f"{TRAINING}/"):
                record.check(parent.folder, whole=True)
        self._engine = task.engine or LocalEngine(task.n_threads)
        self._gradients = GradientStep(
            system=parent,
            method=method,
            preset=config.preset,
            metric=config.metric,
            engine=self._engine,
            n_threads=task.n_threads,
            progress=task.progress,
        )
        self._gradients.settings()  # raises for the loss
        self._lines = draw_lines(training, method, fold=config.fold, limit=config.limit)
        self._targets = [[training.target(line)] for line in self._lines.search.tolist()]
        self.dense = parent.translator.dense()
        self._frozen_dense, self._frozen_sparse = self._frozen()
        self._log = HeldOutLog(run, self.dense, task.on_stage)
        if config.tokenizer is not Tokenizer.NONE or config.lowercase:
            self._log.notes.append("searches tokenise and lowercase as asked; gradients count the system's own tokens")
        self.weights = self._start()
        own = Steps(run.path / _STEPS)
        self._own, self._shared = own, own if task.shared is None else Steps(task.shared)
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
        self._log.gradient(name, update, len(lines), found)
        return found.table

    def search(self, update: int, weights: Weights, blocks: Sequence[Block]) -> Weights:
        method, lines = self._task.method, self._lines.search
        if not update and set(self.dense) <= set(self._frozen_dense):
            return weights
        name = f"search-{update}" if update else "start"
        system = self._system(blocks)
        task, config = self._task, self._task.config
        decoder = LinesDecoder(
            self._engine,
            system,
            lines,
            k=task.k,
            distinct=task.distinct,
            preset=config.preset,
            progress=task.progress,
        )
        search = self._line_search(system, decoder, self._targets, weights, {"lines": digest_lines(lines)})
        rounds = method.search_rounds if update else method.start_rounds
        is_last = method.last is Last.HELD_OUT and update == method.updates
        seed = task.seed if is_last else method.training_seed
        search = replace(search, loop=LoopSettings(max_rounds=rounds), seed=seed)
        self._log.begin(name, len(lines))
        result = search.run(self._shared, name.split("-")[0])
        self._log.search(name, len(lines), result, blocks)
        return result.weights

    def last(self, weights: Weights, blocks: Sequence[Block]) -> Weights:
        task, config = self._task, self._task.config
        system = self._system(blocks)
        decoder = task.decoder(system.view(config.fold), task.k)
        of_dev = {"development": task.development, "fold": config.fold}
        search = self._line_search(system, decoder, task.references, weights, of_dev)
        kept = tuple(self.dense) if task.method.last is Last.BLOCKS else ()
        search = replace(
            search,
            frozen=tuple(dict.fromkeys((*search.frozen, *kept))),
            loop=config.loop,
            seed=task.seed,
            on_step=task.on_step,
            on_round=task.on_round,
        )
        self._log.begin("last", len(task.references))
        self.found, self._blocks = search.run(self._own, "last"), blocks
        self._log.updated("dev", self.found, blocks)
        return self.found.weights

    def searched(self, weights: Weights, result: SearchResult) -> TuneRecord:
        """The record of a last search, whose rounds get all weights instead of those of blocks."""
        rounds, summary = result.rounds(), result.summary
        store = RoundStore(self._run)
        for entry in rounds:
            if store.folder(entry.round) is None:
                store.add(moved(result.weights_of(entry.round), self._blocks), result.output_of(entry.round), entry)
        best, stopped = summary["best_round"], str(summary["stopped"])
        return self._record(weights, rounds, best=best, stopped=stopped, notes=summary["notes"])

    def measured(self, weights: Weights) -> TuneRecord:
        """The record of a method that only measures the development set: after the start, and after every update."""
        task = self._task
        system = System.load(task.parent.folder).with_templates(task.parent.settings.features)
        decoder = task.decoder(system.view(task.config.fold), 1)
        store, rounds = RoundStore(self._run), []
        for number, used in enumerate([*self._visited, weights], start=1):
            if (record := store.record(number)) is None:
                if task.on_step:
                    task.on_step(number, Step.DECODE)
                with store.new_round() as folder:
                    record = self._measure(decoder, used, store, folder, number)
            store.log_decoded(record)
            rounds.append(record)
            if task.on_round:
                task.on_round(record)
        return self._record(weights, rounds, best=len(rounds), stopped="the updates are done")

    def _measure(self, decoder: Decoder, weights: Weights, store: RoundStore, folder: Path, number: int) -> RoundRecord:
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
        store.save(folder, weights, None, best, record)
        return record

    def _record(self, weights: Weights, rounds: Sequence[RoundRecord], **kept: Any) -> TuneRecord:
        metric, n_sentences = self._task.metric, len(self._task.references)
        return self._log.record(weights, rounds, metric=metric, n_sentences=n_sentences, **kept)

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
        references: Sequence[Sequence[str]],
        start: Weights,
        sentences: dict[str, Any],
    ) -> LineSearch:
        task, method, blocks = self._task, self._task.method, {block.name for block in system.blocks}
        how = {"k": task.k, "distinct": task.distinct, "preset": task.config.preset.value}
        return LineSearch(
            system=system,
            decoder=decoder,
            references=references,
            sentences={**sentences, **how},
            metric=task.metric,
            mert=Mert(n_starts=method.n_starts, n_directions=method.n_directions),
            start=start,
            frozen=(*self._frozen_dense, *({FROZEN} & blocks)),
            loop=LoopSettings(),
            seed=task.seed,
            n_threads=task.n_threads,
        )
