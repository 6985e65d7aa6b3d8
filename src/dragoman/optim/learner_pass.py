"""A learner's pass over its share of the sentences: a pure function of where it begins and of the share.

It decodes `batch` sentences at a time with the weights as they are and takes a step from the list of each, by whatever
rule. Whoever computes it, on whatever machine, gets the same bits; learners side by side share one decoder, and what a
finished one leaves behind are the features it changed and the best translation of each sentence.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Judge, Shard
from dragoman.metric import Metric
from dragoman.optim.context import LiveDecoder
from dragoman.optim.epochs import Entry
from dragoman.optim.frozen import frozen_members
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.units import Scale
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = [
    "Ground",
    "Learners",
    "LearningTask",
    "ListSteps",
    "OnlineRule",
    "ShareResult",
    "Sums",
    "in_cpu_seconds",
    "learn_share",
    "scale_of_lists",
    "scale_of_start",
    "surveyed",
    "threads",
]

_MOST_SURVEYED = 500
_STAGES = ("decode_cpu_s", "statistics_cpu_s", "update_cpu_s")


class Sums(Protocol):
    """What lists told on the way; passes and learners add up."""

    def __add__(self, other: Self) -> Self: ...

    def entry(self) -> Entry:
        """For a trace."""
        ...


class ListSteps(Protocol):
    """The weights of a learner at work, which move with every list."""

    def live_weights(self) -> Float64Array:
        """The array itself: it changes with every visit."""
        ...

    def visit(self, lists: Sequence[Shard]) -> Sums:
        """A step for each of these lists, which have statistics, one after the other."""
        ...

    def end(self, state: LearnerState) -> LearnerState:
        """The state that it began with, and what became of it: columns, ticks and pseudo-corpus."""
        ...


class OnlineRule(Protocol):
    """How weights learn from the list of a sentence. Compared and sent to workers as a value."""

    @property
    def surveys(self) -> bool:
        """Whether the scale to learn on comes from lists of the start."""
        ...

    @property
    def counts_lists(self) -> bool:
        """Whether steps depend on the lists that had a feature before."""
        ...

    def scale(
        self, ground: Ground, lists: Sequence[Shard], start: Float64Array, previous: Float64Array, *, n_threads: int
    ) -> Scale:
        """The scale to learn on, from lists of the start with statistics; there are none unless it surveys.

        `previous` has the statistics of the start's translations.
        """
        ...

    def begin(self, ground: Ground, state: LearnerState, *, alone: bool) -> ListSteps:
        """A learner at the state; one that is `alone` goes on with the state's sums and pseudo-corpus."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningTask:
    """What learners do with sentences, besides the sentences and the decoder: small, and the same in all passes."""

    rule: OnlineRule
    metric: Metric
    batch: int
    k: int
    distinct: bool
    frozen: tuple[str, ...]
    """Features, or groups of them, whose members may be known only once they are decoded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ground:
    """What the learners of one process share, by threads too. `frozen` says of each feature whether it must stay."""

    task: LearningTask
    decoder: LiveDecoder
    judge: Judge
    frozen: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        task: LearningTask,
        decoder: LiveDecoder,
        references: Sequence[Sequence[str]] | Mapping[int, Sequence[str]],
    ) -> Ground:
        """References may be those of some sentences."""
        frozen = np.zeros(len(decoder.index), bool)
        for members in frozen_members(decoder.index, task.frozen).values():
            frozen[[decoder.index.find(name) for name in members]] = True
        return cls(task=task, decoder=decoder, judge=Judge(task.metric, decoder.words, references), frozen=frozen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareResult:
    """What a learner leaves behind: new values of the features `ids`, the rest of its state, and what it saw.

    `columns` are those of the state, one number for each of `ids`. `best` has the first candidate of each sentence of
    the share with its statistics. `sums` are those of the trace, over `n_lists` lists; `seen` are the features of all
    candidates, ids or, where learners have no index in common, keys; `seconds` go by stage (see `in_cpu_seconds`).
    """

    ids: Int32Array
    columns: Mapping[str, Float64Array]
    ticks: int
    background: Float64Array | None
    length: float
    best: tuple[Shard, ...]
    sums: Sums
    n_lists: int
    n_candidates: int
    seen: Int32Array | NDArray[np.uint64]
    seconds: dict[str, float]
    workers_cpu_s: float = 0.0
    """What it cost another process."""


class Learners(Protocol):
    """Those who compute passes."""

    def run(
        self, state: LearnerState, shares: Sequence[Int64Array], *, n_threads: int
    ) -> tuple[LearnerState, list[ShareResult]]:
        """A pass: where the next one begins, and the result of each share, in order.

        Raises InputError where no list has two candidates.
        """
        ...

    def measure(self, start: Float64Array, previous: Float64Array, *, n_threads: int) -> Scale:
        """The units of a run: see `scale_of_start`."""
        ...

    def decode(self, sentences: Sequence[int], weights: Float64Array, k: int, *, n_threads: int) -> list[Shard]:
        """The k best candidates of each of these sentences."""
        ...


def learn_share(
    ground: Ground,
    state: LearnerState,
    share: Int64Array,
    *,
    alone: bool,
    n_threads: int = 1,
    go_on: Callable[[], object] = lambda: None,
) -> ShareResult:
    """Visit the sentences of a share in order, which must not be empty. `go_on` is called before each batch.

    A learner that is `alone` goes on with the state's sums and pseudo-corpus. Threads decode the sentences of a batch.
    """
    task, decoder = ground.task, ground.decoder
    learner = task.rule.begin(ground, state, alone=alone)
    visits: list[Sums] = []
    best: list[Shard] = []
    n_lists = n_candidates = 0
    seen = np.zeros(len(decoder.index), bool)
    weights = learner.live_weights()
    clock = _Clock()

    decode = partial(decoder.kbest, weights=weights, k=task.k, distinct=task.distinct)
    with threads(min(n_threads, task.batch)) as each:
        for begin in range(0, len(share), task.batch):
            go_on()
            found = list(each(decode, share[begin : begin + task.batch].tolist()))
            clock.tick(_STAGES[0])
            lists = [shard.with_stats(ground.judge.statistics(shard)) for shard in found if shard.n_candidates]
            best += [_first(shard) for shard in lists]
            clock.tick(_STAGES[1])
            visits.append(learner.visit(lists))
            for shard in lists:
                seen[shard.feature_ids] = True
            n_lists += len(lists)
            n_candidates += sum(shard.n_candidates for shard in lists)
            clock.tick(_STAGES[2])
    end = learner.end(state)
    before = state.columns()
    if not alone:
        before["past"] = np.zeros(len(decoder.index))
    columns = end.columns()
    changed = reduce(operator.or_, (values != before[name] for name, values in columns.items()))
    ids = np.flatnonzero(changed).astype(np.int32)
    return ShareResult(
        ids=ids,
        columns={name: values[ids] for name, values in columns.items()},
        ticks=end.ticks,
        background=end.background,
        length=end.length,
        best=tuple(best),
        sums=reduce(operator.add, visits),
        n_lists=n_lists,
        n_candidates=n_candidates,
        seen=np.flatnonzero(seen).astype(np.int32),
        seconds=clock.seconds,
    )


def scale_of_start(
    ground: Ground,
    start: Float64Array,
    previous: Float64Array,
    *,
    decode: Callable[[Sequence[int]], Sequence[Shard]],
    n_threads: int = 1,
) -> Scale:
    """The scale to learn on: what a rule surveys are lists of the start, of up to 500 sentences evenly spaced.

    `previous` has the statistics of the start's translations; `decode` gives its lists of sentences.
    """
    sentences = surveyed(ground.decoder.lengths) if ground.task.rule.surveys else []
    return scale_of_lists(ground, decode(sentences), start, previous, n_threads=n_threads)


def surveyed(lengths: Int32Array) -> list[int]:
    """Sentences whose lists say what sizes things have: up to 500 that have words, evenly spaced."""
    sentences = np.flatnonzero(lengths)
    n = min(_MOST_SURVEYED, len(sentences))
    return [int(sentence) for sentence in sentences[np.arange(n) * len(sentences) // max(n, 1)]]


def scale_of_lists(
    ground: Ground, found: Sequence[Shard], start: Float64Array, previous: Float64Array, *, n_threads: int = 1
) -> Scale:
    """The scale to learn on, from lists of the start; there are none where the rule surveys nothing."""
    lists = [shard.with_stats(ground.judge.statistics(shard)) for shard in found if shard.n_candidates]
    return ground.task.rule.scale(ground, lists, start, previous, n_threads=n_threads)


def in_cpu_seconds(results: Sequence[ShareResult], cpu_s: float) -> list[ShareResult]:
    """The wall seconds of decoding as parts of the CPU time that all these results took together, less other stages."""
    decode, *others = _STAGES
    left = cpu_s - sum(result.seconds[stage] for result in results for stage in others)
    factor = max(left, 0.0) / (sum(result.seconds[decode] for result in results) or 1.0)
    return [replace(result, seconds={**result.seconds, decode: factor * result.seconds[decode]}) for result in results]


def _first(shard: Shard) -> Shard:
    """The best candidate alone, in arrays of its own, so that the list itself can go."""
    n_features, n_tokens = int(shard.feature_rows[1]), int(shard.token_rows[1])
    return Shard(
        sentence_ids=shard.sentence_ids,
        sentences=np.array([0, 1], np.int64),
        feature_rows=shard.feature_rows[:2].copy(),
        feature_ids=shard.feature_ids[:n_features].copy(),
        feature_values=shard.feature_values[:n_features].copy(),
        token_rows=shard.token_rows[:2].copy(),
        tokens=shard.tokens[:n_tokens].copy(),
        rounds=shard.rounds[:1].copy(),
        source_lengths=shard.source_lengths,
        totals=shard.totals[:1].copy(),
        scores=shard.scores[:1].copy(),
        stats=shard.stats[:1].copy(),
    )


class _Clock:
    """Wall time of decoding, which other threads do, and CPU time of the other stages, which are this thread's."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(_STAGES, 0.0)
        self._wall = self._cpu = 0.0
        self._start()

    def _start(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.thread_time()

    def tick(self, stage: str) -> None:
        """What went by since the last call belongs to this stage."""
        wall, cpu = self._wall, self._cpu
        self._start()
        self.seconds[stage] += self._wall - wall if stage == _STAGES[0] else self._cpu - cpu


@contextmanager
def threads(n_threads: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """`map` by threads: the core lets go of the interpreter while it searches."""
    with ExitStack() as stack:
        yield stack.enter_context(ThreadPoolExecutor(n_threads)).map if n_threads > 1 else map
