"""Online learning: a sentence is decoded with the weights as they are, which learn from its list at once.

A pass visits all sentences in an order of its own, drawn by the stream of seed and pass. As in Eidelman et al. 2013,
`learners` share them out: each is truly online on its part, all begin a pass at the same weights, and at its end their
weights are mixed by the sentences that each saw (iterative parameter mixing). With `batch` sentences a learner decodes
so many with the same weights before it takes their steps, one after another, each from where the one before led. The
result depends on learners and batch, not on threads and workers. How weights learn from a list is a rule of its own:
margins (`online_margin`) or steps against the gradient of a loss (`online_descent`).

A round of the outer loop makes `passes` passes, or has the next `measure_every` sentences of one: then the scores of
the rounds are a curve over the sentences seen (Flanigan et al. 2013, figure 1). Its weights are the average over all
steps of all learners so far, or (`mix` last) the mixed weights at its end. Its score is that of decoding with these
weights or, at half the cost, that of what the last pass itself translated to, with weights that moved (`measure` live).
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from pathlib import Path

import numpy as np

from dragoman.candidates import Judge, Pool, compacted, load_pool, metric_of, save_pool
from dragoman.cost import cpu_seconds
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import Metric
from dragoman.optim.base import Learner, Optimiser, Result, finish
from dragoman.optim.context import LearningContext, LearnsFrom
from dragoman.optim.epochs import Entry, visiting_order
from dragoman.optim.frozen import frozen_members, frozen_names
from dragoman.optim.learner_pass import Learners, LearningTask, OnlineRule, ShareResult, surveyed
from dragoman.optim.learner_state import LearnerState, in_key_order
from dragoman.settings import about
from dragoman.types import Float64Array, Int64Array

__all__ = ["MeasuredBy", "Mix", "Online", "OnlineLearner"]

_LEARNERS = 15
_TRANSLATED = "translations"


class Mix(StrEnum):
    """The weights of a round."""

    AVERAGE = "average"  # of all steps of all learners since the first pass
    LAST = "last"  # those at the end of the pass, of several learners mixed


class MeasuredBy(StrEnum):
    """What the score of a round is that of."""

    DECODE = "decode"  # the development set, decoded with its weights
    LIVE = "live"  # what the pass itself translated to


@dataclass(frozen=True, slots=True, kw_only=True)
class Online(Optimiser):
    """A method that decodes as it learns; subclasses say by which rule."""

    learns_from = LearnsFrom.DECODING
    k = 30
    distinct = True  # 30 derivations would often be few translations
    uses_engine = True
    learners: int | None = field(
        default=None, metadata=about(resolved=f"{_LEARNERS}, or the number of sentences if that is less")
    )
    """Learners side by side, each on its share of the sentences, mixed after a pass; 1 is plain online learning."""
    mix: Mix = Mix.AVERAGE
    """The weights of a round: the average over all steps, or the last ones of all learners mixed."""
    measure: MeasuredBy = MeasuredBy.DECODE
    """The score of a round: that of decoding with its weights, or at half the cost that of the pass itself."""
    measure_every: int | None = field(default=None, metadata=about(resolved="a pass"))
    """Sentences of a round, after which learners are mixed and weights measured."""
    batch: int = 1
    """Sentences that a learner decodes with the same weights; 1 is truly online."""
    passes: int = 1
    """Passes over all sentences in a round, after which the weights are measured."""
    all_data: bool = False
    """Decode lines of the training text by tables that have seen them: an ablation."""

    def _check(self) -> None:
        if min(self.batch, self.passes, self.learners or 1) < 1 or self.learners == 0:
            raise InputError("online learning: learners, batch and passes must be at least 1")
        if self.measure_every is None:
            return
        if self.measure_every < 1:
            raise InputError(f"measure_every must be at least 1 sentence, not {self.measure_every}")
        if self.passes > 1:
            raise InputError("a round has measure_every sentences or a number of passes; leave out one of them")
        if self.measure is MeasuredBy.LIVE:
            raise InputError("live scores are those of whole passes; with measure_every measure by decoding")

    @abstractmethod
    def rule(self) -> OnlineRule:
        """How weights learn from a list."""

    def n_learners(self, n_sentences: int) -> int:
        """How many learners share so many sentences. Raises InputError where some would have none."""
        n_sentences = min(n_sentences, self.measure_every or n_sentences)
        n_learners = self.learners or min(_LEARNERS, n_sentences)
        if n_learners > n_sentences:
            raise InputError(f"{n_learners} learners for {n_sentences} sentences; each needs one at least")
        return n_learners

    def check_folds(self, n_folds: int | None = None) -> None:
        if self.measure is MeasuredBy.LIVE:
            raise InputError("the training text is learned from, the development set measured: measure by decoding")
        if n_folds is not None and self.learners not in (None, n_folds):
            raise InputError(f"each of {n_folds} folds has a learner; leave out learners={self.learners}")

    def check_development(self, n_sentences: int | None = None) -> None:
        if self.all_data:
            raise InputError("all_data is for lines of the training text; learn from it, or leave out all_data")
        if n_sentences is not None:
            self.n_learners(n_sentences)

    def decodes_by_all_data(self) -> bool:
        return self.all_data

    def _learner(self, context: LearningContext) -> Learner:
        return OnlineLearner(self, context)


class OnlineLearner(Learner):
    """Goes on in a round where it was in the one before."""

    gradual = True
    uses_pool = False
    keeps_state = True

    def __init__(self, method: Online, context: LearningContext) -> None:
        super().__init__(method)
        decoder = context.live_decoder()
        if context.k < 2:
            raise InputError(f"tuning needs at least two candidates of a sentence, not {context.k}")
        self._sentences = np.flatnonzero(decoder.lengths)
        if not len(self._sentences):
            raise InputError("no sentence has a word; there is nothing to learn from")
        self._n_learners = self._learners_for(method, context)
        self._method = method
        self._context = context
        self._decoder = decoder
        self._learners: Learners | None = None
        self._state: LearnerState | None = None
        self._stored: Path | None = None
        self._translations: Pool | None = None

    def learn(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """The passes of a round. The first begins at `start`, later ones where the one before ended."""
        metric = metric_of(pool)
        if round_number < 1:
            raise ValueError("rounds are counted from 1")
        if self._learners is None:
            start.on(self._decoder.index)  # which then has all names of the start
            self._learners = self._new_learners(pool, frozen)
        began = cpu_seconds()
        state = self._begin(self._learners, pool, start, n_threads)
        units_cpu_s = cpu_seconds() - began
        trace: list[Entry] = []
        for number, order in self._visits(round_number, seed):
            shares = self._shares(order)
            state = replace(state, epoch=number - 1, n_learners=len(shares))
            state, results = self._learners.run(state, shares, n_threads=n_threads)
            trace.append(self._entry(number, metric, results))
        self._state = state
        self._translations = None
        if self._method.measure is MeasuredBy.LIVE:
            self._translations = self._translated(self._learners, results, state, n_threads)
        values = state.restored(state.average() if self._method.mix is Mix.AVERAGE else state.weights)
        notes = []
        if self._method.rule().surveys and round_number == 1:
            trace[0] |= {**state.scale.entry(), "units_cpu_s": units_cpu_s}
            notes.append(state.scale.note())
        if not (np.isfinite(values).all() and np.isfinite(state.weights).all()):
            raise FailedError("the weights left the range of numbers; take smaller steps")
        weights = Weights(self._decoder.index, values)
        if self._context.groups is not None:  # then the index has the order in which results came
            weights = in_key_order(weights)
        return finish(pool, start, weights.on(pool.index), n_threads=n_threads, trace=tuple(trace), notes=notes)

    def frozen(self, pool: Pool, asked: Collection[str]) -> tuple[str, ...]:
        """Groups stay groups: most of their members are on no best translation, which the pool has."""
        found = frozen_members(pool.index, asked)
        unknown = [name for name, members in found.items() if not members and name not in self._context.templates]
        frozen_names(self._decoder.index, unknown)
        return tuple(dict.fromkeys([*asked, *(name for members in found.values() for name in members)]))

    def translations(self) -> Pool | None:
        """The translations of the last pass, where they are what is measured."""
        if self._translations is None and self._stored is not None and (folder := self._stored / _TRANSLATED).is_dir():
            self._translations = load_pool(folder)
        return self._translations

    def save_state(self, folder: Path) -> None:
        """Write what a process that goes on after this round must know."""
        assert self._state is not None
        self._state.save(folder, self._decoder.index)
        if self._translations is not None:
            save_pool(self._translations, folder / _TRANSLATED)

    def load_state(self, folder: Path) -> None:
        """Go on after the round of this folder."""
        self._stored = folder
        self._state = self._translations = None

    def _new_learners(self, pool: Pool, frozen: Collection[str]) -> Learners:
        index = self._decoder.index
        task = LearningTask(
            rule=self._method.rule(),
            metric=metric_of(pool),
            batch=self._method.batch,
            k=self._context.k,
            distinct=self._context.distinct,
            frozen=tuple(frozen),
        )
        kept = {name for members in frozen_members(index, frozen).values() for name in members}
        if len(index) == len(kept) and set(self._context.templates) <= set(frozen):
            raise InputError("all features are frozen; there is nothing to learn")
        return self._context.learners(task, self._decoder)

    def _begin(self, learners: Learners, pool: Pool, start: Weights, n_threads: int) -> LearnerState:
        """Where the next pass begins: after the last one, of this process or of a killed one, or at the start."""
        if self._state is not None:
            return self._state
        index = self._decoder.index
        if self._stored is not None:
            return LearnerState.load(self._stored, index)
        values = start.on(index).values
        previous = self._first_statistics(pool, values)
        scale = learners.measure(values, previous, n_threads=n_threads)
        return LearnerState.first(values, scale, previous, counts=self._method.rule().counts_lists)

    def _learners_for(self, method: Online, context: LearningContext) -> int:
        """How many there are. Raises InputError for a number that the sentences do not allow."""
        if context.groups is None:
            return method.n_learners(len(self._sentences))
        n_groups = len(np.unique(context.groups[self._sentences]))
        method.check_folds(n_groups)
        return n_groups

    def _visits(self, round_number: int, seed: int) -> Iterator[tuple[int, Int64Array]]:
        """The passes of a round, or the one that it has a part of: their numbers and sentences in order."""
        size = self._method.measure_every
        if size is None:
            last = round_number * self._method.passes
            for number in range(last - self._method.passes + 1, last + 1):
                yield number, visiting_order(self._sentences, key=[seed, number])
            return
        n_parts = -(-len(self._sentences) // size)
        before, part = divmod(round_number - 1, n_parts)
        yield before + 1, visiting_order(self._sentences, key=[seed, before + 1])[part * size : (part + 1) * size]

    def _shares(self, order: Int64Array) -> list[Int64Array]:
        """The sentences of each learner, in the order of the pass."""
        groups = self._context.groups
        if groups is None:
            return np.array_split(order, min(self._n_learners, len(order)))
        return [order[groups[order] == group] for group in np.unique(groups[order]).tolist()]

    def _first_statistics(self, pool: Pool, values: Float64Array) -> Float64Array:
        """Of what the start translates each sentence to; in the mean of some, where the pool has other sentences."""
        if self._context.groups is None:
            return _first_statistics(pool, len(self._decoder.lengths))
        decoder, sample = self._decoder, surveyed(self._decoder.lengths)
        best = [decoder.kbest(sentence, values, 1) for sentence in sample]  # whose words the judge must know
        judge = Judge(metric_of(pool), decoder.words, self._context.references_of(sample))
        mean = np.concatenate([judge.statistics(shard) for shard in best]).mean(axis=0)
        return np.tile(mean, (len(decoder.lengths), 1))

    def _entry(self, number: int, metric: Metric, results: list[ShareResult]) -> Entry:
        """What the trace says of a pass."""
        totals = sum(shard.stats.sum(axis=0) for result in results for shard in result.best)
        stages = results[0].seconds
        n_seen = len(np.unique(np.concatenate([result.seen for result in results])))
        return {
            "pass": number,
            "gain": float(metric.gain(totals)),
            **({} if self._context.groups is None else {"train": float(metric.score_of(totals))}),
            "sentences": sum(result.n_lists for result in results),
            "candidates": sum(result.n_candidates for result in results),
            "features": len(self._decoder.index) if self._context.groups is None else n_seen,
            "seen": n_seen,
            **reduce(operator.add, (result.sums for result in results)).entry(),
            "workers_cpu_s": sum(result.workers_cpu_s for result in results),
            **{stage: sum(result.seconds[stage] for result in results) for stage in stages},
        }

    def _translated(self, learners: Learners, results: list[ShareResult], state: LearnerState, n_threads: int) -> Pool:
        """The best candidate of each sentence when its turn came, and of sentences without words."""
        silent = np.flatnonzero(self._decoder.lengths == 0).tolist()
        shards = learners.decode(silent, state.weights, 1, n_threads=n_threads)
        found = [replace(shard, stats=shard.stats[:, :0]) for result in results for shard in result.best]
        return compacted(self._decoder.pool_of([*shards, *found]))


def _first_statistics(pool: Pool, n_sentences: int) -> Float64Array:
    """Of the first candidate of each sentence; zeros where there is none."""
    statistics = np.zeros((n_sentences, metric_of(pool).n_stats))
    for shard in pool.shards:
        filled = np.diff(shard.sentences) > 0
        statistics[shard.sentence_ids[filled]] = shard.stats[shard.sentences[:-1][filled]]
    return statistics
