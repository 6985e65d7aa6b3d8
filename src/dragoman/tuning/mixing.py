"""Learners side by side: each makes a pass over its share of the sentences, then their weights are mixed.

McDonald, Hall and Mann 2010, *Distributed training strategies for the structured perceptron*, iterative parameter
mixing, as Eidelman et al. 2013 have it: all begin a pass at the same weights w, learner l takes n_l steps and ends at
w_l, and the next pass begins at

    w' = w + sum_l n_l / n (w_l - w),    n = sum_l n_l

over the features that anybody changed. Beside it goes the sum of the weights after each step of each learner, for
their mean: weights - past / ticks with past' = past + ticks (w' - w) + sum_l past_l, where past_l counts the steps of
this pass alone. Counts of lists add up. Learners are logical: threads of this process take one after the other, and a
finished one keeps only what it changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from dragoman.candidates import Shard
from dragoman.cost import cpu_seconds
from dragoman.errors import FailedError, InputError
from dragoman.optim.learner_pass import (
    Ground,
    ShareResult,
    in_cpu_seconds,
    learn_share,
    scale_of_start,
    threads,
)
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.units import Scale
from dragoman.types import Float64Array, Int64Array

__all__ = ["LocalLearners", "mix_learners", "side_by_side"]

Found = TypeVar("Found")


class LocalLearners:
    """Learners in this process, which share its decoder."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def run(
        self, state: LearnerState, shares: Sequence[Int64Array], *, n_threads: int
    ) -> tuple[LearnerState, list[ShareResult]]:
        """A pass by threads over learners, or over the batch of the only one."""
        results = self.results(state, shares, alone=len(shares) == 1, n_threads=n_threads)
        return mix_learners(state, results), results

    def results(
        self, state: LearnerState, shares: Sequence[Int64Array], *, alone: bool, n_threads: int
    ) -> list[ShareResult]:
        """Those of some learners of a pass; one that is `alone` is the only one."""
        began = cpu_seconds()
        if len(shares) == 1:
            results = [learn_share(self._ground, state, shares[0], alone=alone, n_threads=n_threads)]
        else:
            results = side_by_side(partial(learn_share, self._ground, state, alone=False), shares, n_threads)
        return in_cpu_seconds(results, cpu_seconds() - began)

    def measure(self, start: Float64Array, previous: Float64Array, *, n_threads: int) -> Scale:
        """The units of the run."""
        decode = partial(self.decode, weights=start, k=self._ground.task.k, n_threads=n_threads)
        return scale_of_start(self._ground, start, previous, decode=decode, n_threads=n_threads)

    def decode(self, sentences: Sequence[int], weights: Float64Array, k: int, *, n_threads: int) -> list[Shard]:
        """The k best candidates of each of these sentences."""
        distinct = self._ground.task.distinct
        with threads(n_threads) as each:
            return list(each(partial(self._ground.decoder.kbest, weights=weights, k=k, distinct=distinct), sentences))


def side_by_side(learn: Callable[..., Found], shares: Sequence[Int64Array], n_threads: int) -> list[Found]:
    """`learn` of every share, by threads; it gets the share and `go_on`, which raises once another learner failed."""
    stop = threading.Event()

    def go_on() -> None:
        if stop.is_set():
            raise FailedError("another learner failed")

    with threads(min(n_threads, len(shares))) as each:
        try:
            return list(each(partial(learn, go_on=go_on), shares))
        except BaseException:
            stop.set()
            raise


def mix_learners(state: LearnerState, results: Sequence[ShareResult]) -> LearnerState:
    """Where the next pass begins: the state of the only learner, or the weights of several mixed."""
    n_lists = sum(result.n_lists for result in results)
    if n_lists == sum(result.n_candidates for result in results):
        raise InputError("every sentence has only one candidate, so there is nothing to choose between")
    previous = state.previous.copy()
    for result in results:
        for shard in result.best:
            previous[shard.sentence_ids] = shard.stats
    columns = {name: values.copy() for name, values in state.columns().items()}
    if len(results) == 1:
        only = results[0]
        for name, values in only.columns.items():
            columns[name][only.ids] = values
        return replace(
            state.with_columns(columns),
            ticks=only.ticks,
            previous=previous,
            background=only.background,
            length=only.length,
        )
    change = np.zeros_like(state.weights)
    for result in results:
        ids, found = result.ids, result.columns
        change[ids] += result.n_lists / n_lists * (found["weights"] - state.weights[ids])
        columns["past"][ids] += found["past"]
        if state.counts is not None:
            columns["counts"][ids] += found["counts"] - state.counts[ids]
    columns["weights"] += change
    columns["past"] += state.ticks * change
    return replace(
        state.with_columns(columns),
        ticks=state.ticks + n_lists,
        previous=previous,
    )
