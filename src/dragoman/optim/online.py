"""Online margin learning: a sentence is decoded with the weights as they are, which learn from its list at once.

Hopkins and May 2011, section 5.4.2, after Chiang, Knight and Wang 2009: hope and fear are sought among the `k` best
translations by model score; gains are BLEU in the context of the translations before, which goes on from pass to
pass. A pass visits all sentences in an order of its own. `batch` sentences are decoded at a time, by threads, with the
weights at the beginning of the batch; the steps are then taken one after another, each from where the one before led.
The result depends on the batch, not on threads.

A round of the outer loop makes `passes` passes: its weights are the average over all steps so far, its score is that of
decoding with this average.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.cost import cpu_seconds
from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureIndex, Weights, find_weights, read_weights, store_weights
from dragoman.optim.base import Learner, Optimiser, Result, finish, frozen_ids
from dragoman.optim.context import LearningContext, LearnsFrom
from dragoman.optim.epochs import Entry, visiting_order
from dragoman.optim.margin import PassSums, rates_of
from dragoman.optim.mira import Mira
from dragoman.optim.rm import Rm
from dragoman.pool import Judge, Pool, Shard, metric_of
from dragoman.settings import about
from dragoman.store import read_json, write_json
from dragoman.types import Float64Array

__all__ = ["OnlineLearner", "OnlineMira", "OnlineRm"]

_OFFLINE = frozenset({"n_epochs", "batch", "held_out", "patience"})
"""Settings of margin learners on pools that mean nothing, or something else, online."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineMira(Optimiser):
    """A margin learner that decodes as it learns."""

    name = "online-mira"
    learns_from = LearnsFrom.DECODING
    k = 30
    distinct = True  # 30 derivations would often be few translations
    margin: Mira = field(default=Mira(), metadata=about(inline=_OFFLINE))
    """How the weights learn from a list."""
    batch: int = 8
    """Sentences that are decoded with the same weights; 1 is truly online."""
    passes: int = 1
    """Passes over the development set in a round, after which the weights are measured."""

    def __post_init__(self) -> None:
        if min(self.batch, self.passes) < 1:
            raise InputError("online learning: batch and passes must be at least 1")

    def _learner(self, context: LearningContext) -> Learner:
        return OnlineLearner(self, context)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineRm(OnlineMira):
    """The relative margin, online."""

    name = "online-rm"
    margin: Mira = field(default=Rm(), metadata=about(inline=_OFFLINE))


class OnlineLearner(Learner):
    """Goes on in a round where it was in the one before."""

    gradual = True
    uses_pool = False
    keeps_state = True

    def __init__(self, method: OnlineMira, context: LearningContext) -> None:
        super().__init__(method)
        decoder = context.live_decoder()
        if context.k < 2:
            raise InputError(f"tuning needs at least two candidates of a sentence, not {context.k}")
        if not decoder.lengths.any():
            raise InputError("no sentence has a word; there is nothing to learn from")
        self._method = method
        self._mira = method.margin
        self._context = context
        self._decoder = decoder
        self._judge: Judge | None = None
        self._learner: _core.MarginLearner | None = None
        self._stored: _State | None = None

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
        if self._judge is None:
            self._judge = Judge(metric, self._decoder.words, self._context.references)
        learner = self._learner = self._learner or self._new_learner(pool, start, frozen)
        last = round_number * self._method.passes
        trace = [
            self._visit_all(learner, self._judge, seed, number, n_threads)
            for number in range(last - self._method.passes + 1, last + 1)
        ]
        values = learner.average() if self._mira.averaged else learner.weights()
        if not (np.isfinite(values).all() and np.isfinite(learner.weights()).all()):
            raise FailedError("the weights left the range of numbers; lower the aggressiveness or gain_scale")
        return finish(
            pool, start, Weights(self._decoder.index, values).on(pool.index), n_threads=n_threads, trace=tuple(trace)
        )

    def save_state(self, folder: Path) -> None:
        """Write what a process that goes on after this round must know."""
        assert self._learner is not None
        weights, past, ticks, background, length = self._learner.state()
        store_weights(Weights(self._decoder.index, weights), folder, _WEIGHTS)
        store_weights(Weights(self._decoder.index, past), folder, _PAST)
        state = {"ticks": ticks, "background": background.tolist(), "length": length}
        write_json(folder / _REST, state)

    def load_state(self, folder: Path) -> None:
        """Go on after the round of this folder."""
        state = read_json(folder / _REST, "run")
        try:
            rest = int(state["ticks"]), np.array(state["background"], np.float64), float(state["length"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"is no state of learning ({error}); the run is damaged", path=folder / _REST) from error
        self._stored = _State(_read(folder, _WEIGHTS), _read(folder, _PAST), *rest)

    def _new_learner(self, pool: Pool, start: Weights, frozen: Collection[str]) -> _core.MarginLearner:
        index, metric = self._decoder.index, metric_of(pool)
        frozen_ids(pool, frozen)  # raises for a name that nobody has
        kept = [index.intern(name) for name in frozen]
        values = start.on(index).values
        fixed = np.zeros(len(index), bool)
        fixed[kept] = True
        if fixed.all():
            raise InputError("all features are frozen; there is nothing to learn")
        lengths = self._decoder.lengths[self._decoder.lengths > 0]
        # The pool of the first round has what the start translates to.
        mean = sum(shard.stats[self._have_words(shard)].sum(axis=0) for shard in pool.shards) / len(lengths)
        context = self._mira.pseudo_corpus(metric, mean, float(lengths.mean()))
        nothing = self._mira.lists((), metric, ())
        rates = rates_of(len(index), self._decoder.dense, fixed, self._mira.sparse_rate)
        sparse = len(index) > len(self._decoder.dense)
        learner = self._mira.margin_learner(nothing, values, rates, context, batch=1, sparse=sparse)
        if self._stored is not None:
            state = self._stored
            weights, past = state.weights.values_on(index), state.past.values_on(index)
            learner.restore(weights, past, state.ticks, state.background, state.length)
        return learner

    def _have_words(self, shard: Shard) -> NDArray[np.bool_]:
        """Which candidates are of sentences that have words."""
        has = self._decoder.lengths[shard.sentence_ids] > 0
        return np.repeat(has, np.diff(shard.sentences))

    def _visit_all(self, learner: _core.MarginLearner, judge: Judge, seed: int, number: int, n_threads: int) -> Entry:
        """One pass."""
        decoder, metric, batch = self._decoder, judge.metric, self._method.batch
        order = visiting_order(np.flatnonzero(decoder.lengths), key=[seed, number])
        totals = np.zeros(metric.n_stats)
        sums = PassSums()
        n_candidates = 0
        clock = _Clock("decode_cpu_s", "statistics_cpu_s", "update_cpu_s")
        with _mapper(n_threads) as each:
            for begin in range(0, len(order), batch):
                kbest = partial(
                    decoder.kbest, weights=learner.weights(), k=self._context.k, distinct=self._context.distinct
                )
                lists = [shard for shard in each(kbest, order[begin : begin + batch].tolist()) if shard.n_candidates]
                clock.tick("decode_cpu_s")
                lists = [shard.with_stats(judge.statistics(shard)) for shard in lists]
                clock.tick("statistics_cpu_s")
                learner.turn_to(self._mira.lists(lists, metric, [s.source_lengths.astype(np.float64) for s in lists]))
                sums += PassSums(**learner.visit(np.arange(len(lists))))
                totals += sum(shard.stats[0] for shard in lists)
                n_candidates += sum(shard.n_candidates for shard in lists)
                clock.tick("update_cpu_s")
        if n_candidates == sums.n_lists:
            raise InputError("every sentence has only one candidate, so there is nothing to choose between")
        return {
            "pass": number,
            "gain": float(metric.gain(totals)),
            "candidates": n_candidates,
            **sums.entry(),
            **clock.seconds,
        }


_WEIGHTS, _PAST, _REST = "weights", "past", "rest.json"


def _read(folder: Path, name: str) -> Weights:
    """What `store_weights` wrote: zeros leave no line."""
    path = find_weights(folder, name)
    try:
        return read_weights(path) if path.stat().st_size else Weights(FeatureIndex())
    except OSError as error:
        raise InputError(f"cannot be read ({error}); the run is damaged", path=path) from error


@dataclass(frozen=True, slots=True)
class _State:
    weights: Weights
    past: Weights
    ticks: int
    background: Float64Array
    length: float


class _Clock:
    """CPU time by stage."""

    def __init__(self, *stages: str) -> None:
        self.seconds = dict.fromkeys(stages, 0.0)
        self._last = cpu_seconds()

    def tick(self, stage: str) -> None:
        """What went by since the last tick belongs to this stage."""
        now = cpu_seconds()
        self.seconds[stage] += now - self._last
        self._last = now


_Task = Callable[[int], Shard]


@contextmanager
def _mapper(n_threads: int) -> Iterator[Callable[[_Task, Sequence[int]], Iterator[Shard]]]:
    """`map` by threads: the core lets go of the interpreter while it searches."""
    with ExitStack() as stack:
        yield stack.enter_context(ThreadPoolExecutor(n_threads)).map if n_threads > 1 else map
