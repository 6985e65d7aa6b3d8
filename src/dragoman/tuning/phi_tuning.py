"""Tuning with learned sparse weights: Auli, Galley and Gao 2014, section 4, as steps on disk.

  1  baseline weights theta, without sparse features          `theta`
  2  lists of the training text by theta, fold by fold        `lists`
  3  phi on these lists, by the method of the tuning          `model`
  4  theta and the weights lambda of phi's blocks once more    `last`

Where phi is given, only the last step is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dragoman.errors import InputError
from dragoman.features import FeatureTable, Weights, parse_templates
from dragoman.metric import Tokenizer
from dragoman.optim import Material, Optimiser
from dragoman.optim.frozen import frozen_members
from dragoman.optim.hols import among, moved
from dragoman.run import RunFolder
from dragoman.run.tunings import TuneRecord
from dragoman.system import System, digest_lines
from dragoman.system.kinds import kind_named
from dragoman.system.training import sample_lines
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.development import DevelopmentRounds
from dragoman.tuning.forest_steps import ForestSteps, MadeForests
from dragoman.tuning.judge import Judge, Verdict, draw_judges, n_judging
from dragoman.tuning.line_search import LineSearch, SearchResult
from dragoman.tuning.list_steps import ListSteps, MadeLists, MadeModel, list_lines
from dragoman.tuning.phi import PHI, LastSearch, Phi, Theta, check_templates, default_last, possible_blocks
from dragoman.tuning.step_log import StepLog
from dragoman.tuning.task import TuningTask
from dragoman.types import Int64Array
from dragoman.work.engine import LocalEngine

__all__ = ["PhiTask", "tune_phi"]

_WEIGHT = "weight"
_NOT_SEARCHED = "there is no last search"
_NO_LINES = "tables that have seen the lines (all_data) made the lists"
_OTHER_PAIRS = "it was learned from other pairs than the training text"


class MaterialSteps(Protocol):
    """What is made of lines of the training text, and what a method learns from it: steps on disk."""

    def make(self, lines: Int64Array) -> MadeLists | MadeForests: ...

    def learn(self, found: Any, lines: Int64Array, *, frozen: Sequence[str], seed: int) -> MadeModel:
        """From what `make` made of lines, those of `lines`."""
        ...


_STEPS: dict[Material, Callable[..., MaterialSteps]] = {Material.LISTS: ListSteps, Material.FORESTS: ForestSteps}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PhiTask(TuningTask):
    """`method` learns phi; where that is given, it is the method of the last search."""

    method: Optimiser
    phi: FeatureTable | None = None

    @property
    def learns(self) -> bool:
        """Whether phi is still to be learned."""
        return self.phi is None

    @property
    def last(self) -> LastSearch:
        phi = self.config.phi
        no_lines = phi.all_data or (self.pairs is not None and self.parent.settings.n_folds < 2)
        return phi.last or default_last(self.method if self.learns else None, all_data=no_lines)

    @property
    def search(self) -> Optimiser:
        return self.config.phi.search if self.learns else self.method


def tune_phi(task: PhiTask, run: RunFolder) -> TuneRecord:
    """All steps; the run gets them, and the rounds of the development set.

    Raises InputError for a system without folds where lines of its training text are needed, for a phi that does not
    fit to the system, and where nothing was learned that could be searched.
    """
    tuning = _Tuning(task, run)
    if task.phi is not None:
        return tuning.finish(task.phi, task.start)
    theta = tuning.theta()
    learned = tuning.learn(theta)
    return tuning.finish(FeatureTable.from_weights(learned, _WEIGHT), learned, theta)


class _Tuning:
    def __init__(self, task: PhiTask, run: RunFolder) -> None:
        self._task, self._run = task, run
        self._dense = task.parent.translator.dense()
        if task.learns and task.last is not LastSearch.NONE and not task.parent.settings.features:
            raise InputError(
                f"last = {task.last} is for weights of sparse features; name some, such as `features=reorder_local`"
            )
        if task.learns and task.config.phi.theta is not Theta.SEARCH:
            check_templates(task.start, dense=self._dense, **self._sparse())
        # Raises for a system without folds.
        self._lines = self._to_learn_from() if task.learns else np.zeros(0, np.int64)
        self._search_lines = self._draw() if task.last.on_lines else np.zeros(0, np.int64)
        self._judges = self._keep_aside() if self._judged_by_lines else np.zeros(0, np.int64)
        self._chosen = self._learned_from(self._lines) if task.learns else self._lines
        self._frozen, self._frozen_blocks = self._check_frozen()
        self._engine = task.engine or LocalEngine(task.n_threads)
        self._log = StepLog(run, self._dense, task.on_stage)
        self._own, self._shared = task.stores(run)
        if task.learns and (task.config.tokenizer is not Tokenizer.NONE or task.config.lowercase):
            self._log.notes.append("searches tokenise and lowercase as asked; lists count the system's own tokens")

    @property
    def _training_seed(self) -> int:
        return self._task.config.phi.training_seed or self._task.seed

    def _sparse(self) -> dict[str, Any]:
        """The templates of sparse features, and the word classes that they can look at."""
        settings = self._task.parent.settings
        return {"templates": settings.features, "classes": settings.classes}

    # ---- step 1

    def theta(self) -> Weights:
        """Those of the system or the start, or those that a search finds without sparse features."""
        task, wanted = self._task, self._task.config.phi.theta
        if wanted is Theta.AUTO:
            wanted = Theta.SEARCH if self._is_default() else Theta.SYSTEM
        if wanted is Theta.SYSTEM:
            self._log.notes.append("theta: the weights of the start as they are")
            return task.start
        start = Weights.from_dict({name: task.start[name] for name in self._dense})
        system = System.load(task.parent.folder).with_templates(())
        decoder = task.decoder(system, task.k)
        search = self._line_search(system, decoder, start, task.of_development(), self._frozen_dense())
        self._log.begin("theta", len(task.objective.references))
        result = replace(search, seed=self._training_seed).run(self._shared, "theta")
        self._log.search("theta", len(task.objective.references), result, ())
        self._log.notes.append(
            f"theta: {task.search.name} on the development set, because the weights of the start are the defaults"
            if task.config.phi.theta is Theta.AUTO
            else f"theta: {task.search.name} on the development set"
        )
        return result.weights

    def _is_default(self) -> bool:
        """Whether the start is what training leaves, and was not tuned to stay so."""
        settings, manifest = self._task.parent.settings, self._task.parent.manifest
        if "tuning" in manifest.about:
            return False
        defaults = kind_named(settings.kind).start_weights(settings.model)
        found = dict(self._task.start.items())
        return all(found.get(name, 0.0) == defaults.get(name, 0.0) for name in {*found, *defaults})

    # ---- steps 2 and 3

    def learn(self, theta: Weights) -> Weights:
        """Theta and phi by the method, from what is made of the lines."""
        task, lines, chosen = self._task, self._lines, self._chosen
        # The last step is that of the seed.
        seed = task.seed if task.last is LastSearch.NONE else self._training_seed
        name, method = task.method.material, task.method
        steps = _STEPS[name](task=task, method=method, theta=theta, engine=self._engine, store=self._shared)
        self._log.begin(name.value, len(lines))
        found = steps.make(lines)
        self._log.step(name.value, len(lines), found.made, found.scores)
        self._log.begin("model", len(chosen))
        model = steps.learn(found, chosen, frozen=self._frozen, seed=seed)
        self._log.step("model", len(chosen), model.made, model.scores)
        self._log.notes += model.notes
        self._log.warnings += model.warnings
        weights = model.weights()
        is_dense = among(FeatureTable.from_weights(weights, _WEIGHT), self._dense)
        if task.parent.settings.features and is_dense.all():
            and_so = "" if task.last is LastSearch.NONE else ", so there is no last search"
            self._log.notes.append(f"{task.method.name} learned no weight of a sparse feature{and_so}")
        return weights

    def _to_learn_from(self) -> Int64Array:
        """Numbers of lines of the training text, or of other pairs."""
        task = self._task
        return list_lines(task) if task.pairs is None else task.pairs.evenly(task.config.limit)

    def _learned_from(self, lines: Int64Array) -> Int64Array:
        """Of the lines of lists those that the model may see: not the fold of a last search on such lines."""
        settings = self._task.config.phi
        if self._task.pairs is not None:
            return self._task.pairs.evenly(settings.size, lines)
        training = self._task.parent.training
        if self._task.last.on_lines:
            lines = lines[training.folds[lines] != training.n_folds - 1]
            if not len(lines):
                raise InputError("all lists are of the fold of the last search; make lists of more lines")
        lines = training.evenly(settings.size, lines)
        held, folds = getattr(self._task.method, "held_out_fold", None), np.unique(training.folds[lines]).tolist()
        if held is not None and (held not in folds or len(folds) == 1):
            raise InputError(
                f"held_out_fold={held} leaves nothing to {'learn from' if held in folds else 'watch'}; the lists to "
                f"learn from are of folds {', '.join(map(str, folds))}"
            )
        return lines

    # ---- step 4

    def finish(self, table: FeatureTable, start: Weights, before: Weights | None = None) -> TuneRecord:
        """The last search over blocks of the table's sparse weights, beside the dense weights of `start`.

        `before` are weights without phi, to be measured first.
        """
        task, last = self._task, self._task.last
        rounds = DevelopmentRounds(task, self._run, self._log)
        first = Weights.from_dict({name: start[name] for name in self._dense}) if before is None else before
        if task.learns and not (~among(table, self._dense)).any():
            return rounds.measured([first, start], self._judged(first, start), stopped=_NOT_SEARCHED)
        own = start if task.phi is not None else Weights.from_dict({name: start[name] for name in self._dense})
        phi = Phi.of(table, own, task.config.phi.blocks, dense=self._dense, frozen=self._frozen, **self._sparse())
        self._log.notes += phi.notes
        whole = moved(phi.start(), phi.blocks)
        if last is LastSearch.NONE:
            return rounds.measured([first, whole], self._judged(first, whole), stopped=_NOT_SEARCHED)
        result = self._search(phi)
        weights = moved(result.weights, phi.blocks)
        relative = not self._frozen_in(phi)  # what is frozen fixes the scale; a search over all weights has none
        old, new = self._log.dense_norm(phi.start()), self._log.dense_norm(weights)
        scale = old / new if relative and old and new else 1.0
        free = [block.name for block in phi.blocks if block.name not in phi.frozen]
        found = {name: scale * result.weights[name] for name in free}
        if found:
            shown = ", ".join(f"{name} {value:.4g}" for name, value in found.items())
            to_dense = ", relative to the dense weights" if relative else ""
            self._log.notes.append(f"weights of blocks, which were 1{to_dense}: {shown}")
        if last.on_lines:
            verdict, stopped = self._judged(first, weights), "the search on held-out lines is done"
            return rounds.measured([first, whole, weights], verdict, stopped=stopped, found=found)
        return rounds.searched(weights, result, phi.blocks, self._judged(first, weights), found)

    def _judged(self, start: Weights, learned: Weights) -> Verdict:
        """What was learned beside the start; a phi that was given is not judged."""
        task = self._task
        if not task.learns:
            return Verdict(start=start)
        without = "" if self._judged_by_lines else _NO_LINES if task.pairs is None else _OTHER_PAIRS
        lines, engine, store = self._judges, self._engine, self._shared
        judge = Judge(task=task, lines=lines, engine=engine, store=store, log=self._log, without=without)
        return judge.compare([start, task.start], learned)

    def _search(self, phi: Phi) -> SearchResult:
        task, config = self._task, self._task.config
        system = System.load(task.parent.folder).with_templates(task.parent.settings.features)
        system = system.with_blocks(phi.blocks, rest=False)
        frozen = self._frozen_in(phi)
        if not task.last.on_lines:
            on_dev = task.decoder(system.view(config.fold), task.k)
            search = self._line_search(system, on_dev, phi.start(), task.of_development(), frozen)
            search = replace(search, on_step=task.on_step, on_round=task.on_round)
            self._log.begin("last", len(task.objective.references))
            return search.run(self._own, "last")
        lines = self._search_lines
        decoder = task.lines_decoder(self._engine, system, lines)
        search = self._line_search(system, decoder, phi.start(), {"lines": digest_lines(lines)}, frozen)
        targets = [[task.parent.training.target(line)] for line in lines.tolist()]
        search = replace(search, objective=task.objective.on(targets))
        self._log.begin("search", len(lines))
        result = search.run(self._own, "search")
        self._log.search("search", len(lines), result, ())
        return result

    def _draw(self) -> Int64Array:
        """The lines of a last search on the training text: of the last fold, and of the domain."""
        training, settings = self._task.parent.training, self._task.config.phi
        fold, lines = training.n_folds - 1, training.select(where=settings.where)
        lines = lines[training.folds[lines] == fold]
        if not len(lines):
            raise InputError(
                f"the last fold has no lines of '{settings.where}' to search on; choose another last search"
            )
        n_judges = n_judging(len(lines), self._task.config.judge_lines) if self._judged_by_lines else 0
        n_lines = min(settings.line_search, len(lines) - n_judges)
        return sample_lines(lines, n_lines, fold=fold, seed=settings.training_seed or 1)

    @property
    def _judged_by_lines(self) -> bool:
        """Whether there are lines that tables have not seen and that nothing need be learned from."""
        task = self._task
        return task.learns and task.pairs is None and not task.config.phi.all_data

    def _keep_aside(self) -> Int64Array:
        """Lines of the last fold, and of the domain, that judge what was learned; lists are made of all others."""
        training, config = self._task.parent.training, self._task.config
        fold = training.n_folds - 1
        lines = training.select(where=config.phi.where)
        lines = lines[training.folds[lines] == fold]
        n_lines, seed = n_judging(len(lines), config.judge_lines), config.phi.training_seed or 1
        if self._task.last.on_lines:  # then the last fold is not learned from
            return draw_judges(training, lines, n_lines, learned=lines[:0], searched=self._search_lines, seed=seed)[0]
        judges, self._lines = draw_judges(
            training, lines, n_lines, learned=self._lines, searched=self._search_lines, seed=seed
        )
        return judges

    def _line_search(
        self, system: System, decoder: Decoder, start: Weights, sentences: dict[str, Any], frozen: Sequence[str]
    ) -> LineSearch:
        task = self._task
        return LineSearch(
            system=system,
            decoder=decoder,
            sentences={**sentences, **task.decoding()},
            objective=task.objective,
            method=task.search,
            start=start,
            frozen=tuple(frozen),
            loop=task.config.loop,
            seed=task.seed,
            n_threads=task.n_threads,
        )

    # ---- what stays

    def _check_frozen(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Features and blocks that were asked to stay. Raises InputError for a name of neither."""
        asked = self._task.config.frozen
        blocks = tuple(name for name in asked if name == PHI or name.startswith(f"{PHI}_"))
        features = tuple(name for name in asked if name not in blocks)
        templates = {template.name for template in parse_templates(self._task.parent.settings.features)}
        for name, found in self._members(features).items():
            if not found and name.split(":", 1)[0] not in templates:
                raise InputError(
                    f"the feature '{name}' cannot be frozen: the system has neither it nor such a template"
                )
        if blocks and self._task.last is LastSearch.NONE:
            raise InputError(f"the block '{blocks[0]}' cannot be frozen: there is no last search over blocks")
        if blocks and self._task.learns:
            _check_blocks(blocks, possible_blocks(self._task.config.phi.blocks, templates))
        return features, blocks

    def _members(self, asked: Sequence[str]) -> dict[str, list[str]]:
        """Dense features that each name means."""
        return frozen_members(Weights.from_dict(dict.fromkeys(self._dense, 1.0)).index, asked)

    def _frozen_dense(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for found in self._members(self._frozen).values() for name in found))

    def _frozen_in(self, phi: Phi) -> tuple[str, ...]:
        """What stays in a search over blocks."""
        blocks = [block.name for block in phi.blocks]
        if not self._task.learns:
            _check_blocks(self._frozen_blocks, blocks)
        dense = self._dense if self._task.last.keeps_dense else self._frozen_dense()
        frozen = {*dense, *phi.frozen, *({*self._frozen_blocks} & {*blocks})}  # nothing may be learned of a block
        if frozen >= {*self._dense, *blocks}:
            raise InputError("all dense features and blocks are frozen; there is nothing left to search")
        return tuple(sorted(frozen))


def _check_blocks(asked: Sequence[str], known: Sequence[str]) -> None:
    """Raise InputError for a block to freeze that does not exist."""
    for name in asked:
        if name not in known:
            raise InputError(f"the block '{name}' cannot be frozen: there are {', '.join(known)}")
