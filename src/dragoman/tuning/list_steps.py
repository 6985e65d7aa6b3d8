"""Lists of the training text, and what a method learns from them, as steps on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.features import FeatureTable, Weights, find_weights, read_weights, store_weights
from dragoman.metric import Metric
from dragoman.optim import Optimiser
from dragoman.optim.hols import among
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.settings import plain
from dragoman.sources.lists import ListsFolder, ListsSettings, StoredLists, make_lists, map_shard
from dragoman.sources.lists.folder import tables_of
from dragoman.system import digest_lines
from dragoman.tuning.fixed import tune_pool
from dragoman.tuning.task import TuningTask
from dragoman.types import Int64Array
from dragoman.work.engine import Engine
from dragoman.work.store import Made, Step, Store

__all__ = ["ListSteps", "MadeLists", "MadeModel", "list_lines"]

_FOLDER, _WEIGHTS, _WEIGHT = "lists", "weights", "weight"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MadeLists:
    """Lists of some lines; `key` names all that they depend on."""

    made: Made
    key: dict[str, Any]

    @property
    def lists(self) -> ListsFolder:
        return ListsFolder.load(self.made.folder / _FOLDER)

    @property
    def score(self) -> float:
        """Of the candidates that the search found best."""
        return float(self.made.content["score"])

    @property
    def scores(self) -> tuple[float, float]:
        """What the step's record says of them."""
        return self.score, self.score


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MadeModel:
    """What was learned from lists."""

    made: Made

    def weights(self) -> Weights:
        """Dense and sparse ones."""
        return read_weights(find_weights(self.made.folder, _WEIGHTS))

    @property
    def scores(self) -> tuple[float, float]:
        """Of what the weights before and after choose from the lists."""
        return float(self.made.content["score_before"]), float(self.made.content["score_after"])

    @property
    def notes(self) -> list[str]:
        return [f"model: {note}" for note in self.made.content["notes"]]

    @property
    def warnings(self) -> list[str]:
        """Those of the notes that say that something is probably wrong."""
        return [f"model: {note}" for note in self.made.content.get("warnings", ())]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListSteps:
    """Lists by the weights `theta`, and a method that learns from them."""

    task: TuningTask
    method: Optimiser
    theta: Weights
    engine: Engine
    store: Store

    def make(self, lines: Int64Array) -> MadeLists:
        """The lists of the lines, from an earlier step if there was one; a stopped making goes on."""
        task, settings = self.task, self._settings()
        key = {
            "system": tables_of(task.parent),
            "weights": self.theta.digest(),
            "lines": digest_lines(lines),
            **settings.to_json(),
            **code_of(settings.measure()),
        }

        def work(folder: Path, _: Path) -> dict[str, Any]:
            made = make_lists(
                task.parent.folder,
                folder / _FOLDER,
                settings,
                weights=self.theta,
                lines=lines,
                engine=self.engine,
                resume=True,
                n_threads=task.n_threads,
                progress=task.progress,
            )
            return {"score": _score(made, settings.measure()), "n_candidates": made.n_candidates}

        step = Step(kind="lists", key=key, modules=(__name__,), work=work, resumes=True)
        return MadeLists(made=self.store.make(step), key=key)

    def learn(self, found: MadeLists, lines: Int64Array, *, frozen: Sequence[str], seed: int) -> MadeModel:
        """The method's weights from the lists of these lines, starting with theta."""
        task, templates = self.task, self.task.parent.settings.features
        key = {
            "lists": found.key,
            "features": list(templates),
            "method": self.method.name,
            "method_settings": plain(self.method),
            **code_of(self.method),
            "learned_from": digest_lines(lines),
            "frozen": list(frozen),
            "seed": seed,
        }

        def work(folder: Path, scratch: Path) -> dict[str, Any]:
            lists = found.lists
            system = lists.open_system(task.parent.folder, features=templates)
            pool = StoredLists(system, lists.paths(), n_threads=task.n_threads).pool(lists.settings.measure())
            if len(lines) < pool.n_sentences:
                pool = pool.of_sentences(lines)
            with RunFolder.open(scratch, key, resume=True) as run:
                record = tune_pool(
                    pool,
                    self.method,
                    self.theta,
                    seed=seed,
                    frozen=frozen,
                    n_threads=task.n_threads,
                    engine=task.engine if self.method.uses_engine else None,
                    run=run,
                )
            summary = record.summary()
            kept = ("score_before", "score_after", "notes", "warnings", "n_sentences", "n_candidates", "n_features")
            store_weights(record.weights, folder, _WEIGHTS)
            return {name: summary[name] for name in kept}

        step = Step(kind="model", key=key, modules=(__name__, type(self.method).__module__), work=work, resumes=True)
        return MadeModel(made=self.store.make(step))

    def _settings(self) -> ListsSettings:
        """Of the lists. Sparse features matter to their search only where theta has weights of them."""
        task, config = self.task, self.task.config
        sparse = ~among(FeatureTable.from_weights(self.theta, _WEIGHT), task.parent.translator.dense())
        return ListsSettings(
            k=task.k,
            distinct=task.distinct,
            all_data=config.phi.all_data,
            features=task.parent.settings.features if sparse.any() else (),
            preset=config.preset,
            metric=config.named_metric(),
        )


def list_lines(task: TuningTask) -> Int64Array:
    """The lines of the lists, ascending: as many of each fold as of any other.

    Raises InputError for a system that does not keep its training text, and for a domain that this lacks.
    """
    training, config = task.parent.training, task.config
    return training.evenly(config.limit, training.select(where=config.phi.where))


def _score(lists: ListsFolder, metric: Metric) -> float:
    """Of the first candidates, the search's best."""
    total = np.zeros(metric.n_stats)
    for path in lists.paths():
        shard = map_shard(path)
        firsts = shard.sentences[:-1][np.diff(shard.sentences) > 0]
        total += shard.stats[firsts].sum(axis=0)
    return float(metric.score_of(total))
