"""Learners in other processes: workers that keep a decoder of the development set from pass to pass.

A worker opens the system and builds the options of all sentences once. Its features then have the ids that they have
here, which is verified, so that weights travel as ids and values and every worker computes the same bits. Items carry
where the pass begins; a lost worker's items are done again by another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dragoman.candidates import Shard
from dragoman.cost import cpu_seconds
from dragoman.errors import FailedError
from dragoman.features import FeatureIndex
from dragoman.optim import SparseVector
from dragoman.optim.learner_pass import Ground, LearningTask, ShareResult, scale_of_start
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.units import Scale
from dragoman.settings import Record
from dragoman.system import LiveDecoder, Preset, SystemView
from dragoman.tuning.mixing import LocalLearners, mix_learners
from dragoman.types import Float64Array, Int64Array
from dragoman.work.engine import Engine, Job

__all__ = ["EngineLearners", "LearnerJob", "LearningWorkers", "features_of"]

_BLOCK = 16
"""Sentences of an item that only decodes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecodeItem:
    """Sentences to translate."""

    sentences: tuple[int, ...]
    weights: SparseVector
    k: int
    distinct: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassItem:
    """Shares of a pass for one worker. `state` has no numbers of features: they are `columns`."""

    task: LearningTask
    state: LearnerState
    columns: Mapping[str, SparseVector]
    shares: tuple[Int64Array, ...]
    alone: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearnerJob(Record, Job[DecodeItem | PassItem, list[Shard] | list[ShareResult]]):
    """A system and its development set, for items of all passes. `known` are the features that come first.

    `features` names all of them: see `features_of`.
    """

    view: SystemView
    sentences: Sequence[str]
    references: Sequence[Sequence[str]]
    preset: Preset
    known: bytes
    features: str

    def open(self, n_threads: int) -> Callable[[DecodeItem | PassItem], list[Shard] | list[ShareResult]]:
        if self.known:
            self.view.index.intern_lines(self.known)
        return _Worker(self, n_threads)


class _Worker:
    """What a worker keeps between items."""

    def __init__(self, job: LearnerJob, n_threads: int) -> None:
        self._references = job.references
        self._n_threads = n_threads
        self._decoder = LiveDecoder(job.view, job.sentences, preset=job.preset)
        if features_of(self._decoder.index) != job.features:
            raise FailedError("a worker finds other features than this process; is the system the same everywhere?")
        self._task: LearningTask | None = None
        self._learners: LocalLearners | None = None

    def __call__(self, item: DecodeItem | PassItem) -> list[Shard] | list[ShareResult]:
        if isinstance(item, DecodeItem):
            weights = self._dense(item.weights)
            return [self._decoder.kbest(s, weights, item.k, distinct=item.distinct) for s in item.sentences]
        if self._learners is None or self._task != item.task:
            self._task = item.task
            self._learners = LocalLearners(Ground.of(item.task, self._decoder, self._references))
        state = item.state.with_columns({name: self._dense(vector) for name, vector in item.columns.items()})
        began = cpu_seconds()
        results = self._learners.results(state, item.shares, alone=item.alone, n_threads=self._n_threads)
        cost = (cpu_seconds() - began) / len(results)
        return [replace(result, workers_cpu_s=cost) for result in results]

    def _dense(self, vector: SparseVector) -> Float64Array:
        values = np.zeros(len(self._decoder.index))
        values[vector.ids] = vector.values
        return values


class LearningWorkers:
    """Workers of an engine that hold the decoder of a job. Features from `n_features` on, which no candidate has, stay
    here.
    """

    def __init__(self, engine: Engine, job: LearnerJob, n_features: int) -> None:
        self._engine, self._job, self._n_features = engine, job, n_features

    def decode(self, sentences: Sequence[int], weights: Float64Array, k: int, *, distinct: bool) -> list[Shard]:
        """The k best candidates of each of these sentences."""
        sparse = self._sparse(weights)
        blocks = [tuple(sentences[begin : begin + _BLOCK]) for begin in range(0, len(sentences), _BLOCK)]
        items = [DecodeItem(sentences=block, weights=sparse, k=k, distinct=distinct) for block in blocks]
        return [shard for found in self._engine.map(self._job, items) for shard in found if isinstance(shard, Shard)]

    def results(self, task: LearningTask, state: LearnerState, shares: Sequence[Int64Array]) -> list[ShareResult]:
        """Those of the learners of a pass; a worker has as many at a time as it has threads."""
        alone, size = len(shares) == 1, self._engine.n_threads
        columns = state.columns() | ({} if alone else {"past": np.zeros(0)})
        item = PassItem(
            task=task,
            state=state.without_columns(),
            columns={name: self._sparse(values) for name, values in columns.items()},
            shares=(),
            alone=alone,
        )
        groups = [tuple(shares[begin : begin + size]) for begin in range(0, len(shares), size)]
        answers = self._engine.map(self._job, [replace(item, shares=group) for group in groups])
        return [result for answer in answers for result in answer if isinstance(result, ShareResult)]

    def _sparse(self, values: Float64Array) -> SparseVector:
        ids = np.flatnonzero(values[: self._n_features]).astype(np.int32)
        return SparseVector(ids, values[ids])


class EngineLearners:
    """Learners on workers. `ground` is that of this process, whose decoder need not search."""

    def __init__(self, workers: LearningWorkers, ground: Ground) -> None:
        self._workers, self._ground = workers, ground

    def run(
        self, state: LearnerState, shares: Sequence[Int64Array], *, n_threads: int
    ) -> tuple[LearnerState, list[ShareResult]]:
        """A pass."""
        results = self._workers.results(self._ground.task, state, shares)
        return mix_learners(state, results), results

    def measure(self, start: Float64Array, previous: Float64Array, *, n_threads: int) -> Scale:
        """The units of the run, from lists that the workers make."""
        decode = partial(self.decode, weights=start, k=self._ground.task.k, n_threads=n_threads)
        return scale_of_start(self._ground, start, previous, decode=decode, n_threads=n_threads)

    def decode(self, sentences: Sequence[int], weights: Float64Array, k: int, *, n_threads: int) -> list[Shard]:
        """The k best candidates of each of these sentences."""
        return self._workers.decode(sentences, weights, k, distinct=self._ground.task.distinct)


def features_of(index: FeatureIndex) -> str:
    """Names the features of an index and their order."""
    return hashlib.blake2b(index.keys().astype("<u8").tobytes(), digest_size=16).hexdigest()
