"""Learners on the training text: learner k takes the lines of fold k, decoded by the view that has not seen them.

Options are built block by block and thrown away with the block, so memory depends on the block and on the features
that were changed, not on the number of lines. Each block has an index of its own: dense features, those of the
learner's weights in the order of their keys, then what the lines of the block have. So a learner's pass is a function
of the weights, the pass and the fold, whoever computes it and whatever they did before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from dragoman.candidates import Shard
from dragoman.cost import cpu_seconds
from dragoman.features import FeatureIndex, FeatureTable, parse_templates
from dragoman.optim import LearningContext, LearnsFrom
from dragoman.optim.context import LiveDecoder
from dragoman.optim.learner_pass import (
    Ground,
    LearningTask,
    ShareResult,
    in_cpu_seconds,
    learn_share,
    scale_of_lists,
    surveyed,
)
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.units import Scale
from dragoman.system import LineBlock, Lines, LiveLines, shards
from dragoman.tuning.mixing import mix_learners, side_by_side
from dragoman.types import Float64Array, Int64Array
from dragoman.work.engine import Engine, Job

__all__ = ["BLOCK_LINES", "FoldLearners", "FoldPass", "PortableResult", "TrainingContext"]

BLOCK_LINES = 256
"""Lines whose options are in memory at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PortableResult:
    """What a learner leaves behind, by names: the columns of all features that it began with or changed.

    `result` is the rest, without features; its `best` is one shard of statistics alone.
    """

    table: FeatureTable
    result: ShareResult

    def on(self, index: FeatureIndex) -> ShareResult:
        """The result over an index, to which names are added."""
        ids = index.extend_table(self.table.features, None)
        columns = {name: column.astype(np.float64, copy=False) for name, column in self.table.columns.items()}
        return replace(self.result, ids=ids, columns=columns)

    def elsewhere(self) -> PortableResult:
        """The result of another process, with what it cost there."""
        return replace(self, result=replace(self.result, workers_cpu_s=sum(self.result.seconds.values())))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldPass(Job[tuple[Int64Array, ...], list[PortableResult]]):
    """A pass: what learners do, each with the sentences of one fold in the order of its visits; threads take one each.

    `table` has the columns of the state: weights, the sums of averaging of a learner that goes on alone, perhaps
    counts; `state` is where learners begin but for these.
    """

    lines: Lines
    task: LearningTask
    table: FeatureTable
    state: LearnerState
    block_lines: int

    def open(self, n_threads: int) -> Callable[[tuple[Int64Array, ...]], list[PortableResult]]:
        def work(shares: tuple[Int64Array, ...]) -> list[PortableResult]:
            began = cpu_seconds()
            found = side_by_side(self._learn, shares, n_threads)
            results = in_cpu_seconds([portable.result for portable in found], cpu_seconds() - began)
            return [replace(portable, result=result) for portable, result in zip(found, results, strict=True)]

        return work

    def _learn(self, share: Int64Array, go_on: Callable[[], object]) -> PortableResult:
        table, state = self.table, self.state
        results = []
        for block in shards(share, self.block_lines):
            table, result = self._learn_block(block, table, state, go_on)
            state = replace(state, ticks=result.ticks, background=result.background, length=result.length)
            results.append(result)
        return PortableResult(table=table, result=_summed(results))

    def _learn_block(
        self, block: Int64Array, table: FeatureTable, state: LearnerState, go_on: Callable[[], object]
    ) -> tuple[FeatureTable, ShareResult]:
        """Go on from the table and the state through a block of sentences."""
        decoder = LineBlock(self.lines, block, table)
        ground = Ground.of(self.task, decoder, decoder.references)
        index, known = decoder.index, decoder.weight_ids
        columns = {name: np.zeros(len(index)) for name in table.columns}
        for name, values in columns.items():
            values[known] = table.columns[name]
        result = learn_share(ground, state.with_columns(columns), block, alone=True, go_on=go_on)
        kept = np.zeros(len(index), bool)
        for name, values in columns.items():
            values[result.ids] = result.columns[name]
            kept |= values != 0
        kept[known] = True
        ids = np.flatnonzero(kept).astype(np.int32)
        seen = index.keys()[result.seen]
        light = replace(result, best=(_statistics(result.best),), seen=seen)
        return FeatureTable.from_ids(index, ids, {name: values[ids] for name, values in columns.items()}), light


class TrainingContext(LearningContext):
    """Lines of a system's training text, as online learners want them: one learner for each fold."""

    offers = (LearnsFrom.LISTS, LearnsFrom.DECODING)

    def __init__(self, lines: Lines, *, k: int, distinct: bool, engine: Engine | None = None) -> None:
        self._lines = lines
        self._engine = engine
        self.groups = lines.folds()
        self.templates = [template.name for template in parse_templates(lines.system.settings.features)]
        self.k = k
        self.distinct = distinct

    def references_of(self, sentences: Sequence[int]) -> Mapping[int, Sequence[str]]:
        return self._lines.references(sentences)

    def live_decoder(self) -> LiveLines:
        return LiveLines(self._lines)

    def learners(self, task: LearningTask, decoder: LiveDecoder) -> FoldLearners:
        """Workers of the engine, or threads of this process."""
        return FoldLearners(self._lines, task, decoder, self._engine)


class FoldLearners:
    """Learners of all folds: workers of an engine, or threads of this process, take one after the other.

    The index of `decoder` gets the features that learners change.
    """

    def __init__(self, lines: Lines, task: LearningTask, decoder: LiveDecoder, engine: Engine | None = None) -> None:
        self._lines, self._task, self._decoder, self._engine = lines, task, decoder, engine
        self._index = decoder.index

    def measure(self, start: Float64Array, previous: Float64Array, *, n_threads: int) -> Scale:
        """The units of a run, from lists of the start."""
        task, decoder = self._task, self._decoder
        sentences = surveyed(decoder.lengths) if task.rule.surveys else []
        found = self.decode(sentences, start, task.k, n_threads=n_threads)
        ground = Ground.of(task, decoder, self._lines.references(sentences))  # the index has all features by now
        start = np.concatenate([start, np.zeros(len(self._index) - len(start))])
        return scale_of_lists(ground, found, start, previous, n_threads=n_threads)

    def decode(self, sentences: Sequence[int], weights: Float64Array, k: int, *, n_threads: int) -> list[Shard]:
        """The k best candidates of each of these sentences."""
        return [self._decoder.kbest(sentence, weights, k, distinct=self._task.distinct) for sentence in sentences]

    def run(
        self, state: LearnerState, shares: Sequence[Int64Array], *, n_threads: int
    ) -> tuple[LearnerState, list[ShareResult]]:
        """A pass; a share has the sentences of one fold."""
        alone = len(shares) == 1
        columns = state.columns() | ({} if alone else {"past": np.zeros_like(state.past)})
        ids = np.flatnonzero(reduce(operator.or_, (values != 0 for values in columns.values()))).astype(np.int32)
        rest = state.without_columns()
        job = FoldPass(
            lines=self._lines,
            task=self._task,
            table=FeatureTable.from_ids(self._index, ids, {name: values[ids] for name, values in columns.items()}),
            state=rest if alone else replace(rest, ticks=0, background=None),
            block_lines=BLOCK_LINES,
        )
        if self._engine is None:
            found = job.open(n_threads)(tuple(shares))
        else:
            size = self._engine.n_threads
            groups = [tuple(shares[begin : begin + size]) for begin in range(0, len(shares), size)]
            found = [portable.elsewhere() for group in self._engine.map(job, groups) for portable in group]
        results = [portable.on(self._index) for portable in found]
        return mix_learners(state.grown(len(self._index)), results), results


def _summed(results: Sequence[ShareResult]) -> ShareResult:
    """The blocks of one learner, without features."""
    return replace(
        results[-1],
        ids=np.zeros(0, np.int32),
        columns={},
        best=tuple(shard for result in results for shard in result.best),
        sums=reduce(operator.add, (result.sums for result in results)),
        n_lists=sum(result.n_lists for result in results),
        n_candidates=sum(result.n_candidates for result in results),
        seen=np.unique(np.concatenate([result.seen for result in results])),
        seconds={stage: sum(result.seconds[stage] for result in results) for stage in results[0].seconds},
    )


def _statistics(best: Sequence[Shard]) -> Shard:
    """The shards of single candidates as one, of statistics alone."""
    best = sorted(best, key=lambda shard: int(shard.sentence_ids[0]))
    n = len(best)
    no_rows = np.zeros(n + 1, np.int64)
    return Shard(
        sentence_ids=np.concatenate([shard.sentence_ids for shard in best]),
        sentences=np.arange(n + 1, dtype=np.int64),
        feature_rows=no_rows,
        feature_ids=np.zeros(0, np.int32),
        feature_values=np.zeros(0, np.float32),
        token_rows=no_rows,
        tokens=np.zeros(0, np.int32),
        rounds=np.zeros(n, np.int32),
        source_lengths=np.concatenate([shard.source_lengths for shard in best]),
        totals=np.concatenate([shard.totals for shard in best]),
        scores=np.zeros((n, 0)),
        stats=np.concatenate([shard.stats for shard in best]),
    )
