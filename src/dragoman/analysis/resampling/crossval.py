"""Cross-validation of optimisers: which method generalises best on these lists.

Sentences are dealt into folds, the same for every method. Each fold is held out once: a method learns on the others
and its weights choose from the lists of the held-out sentences.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from dragoman.analysis.rows import START
from dragoman.candidates import Pool, metric_of, outlines, rerank
from dragoman.cost import cpu_seconds
from dragoman.errors import DragomanError, InputError
from dragoman.features import Weights
from dragoman.optim import Optimiser
from dragoman.optim.frozen import frozen_names
from dragoman.run import RunFolder
from dragoman.types import Int64Array

__all__ = ["FoldScore", "MethodComparison", "best_method", "cross_validate", "deal_sentences"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldScore:
    """One method with one fold held out. Scores are the metric's own; the gain is higher for better.

    `failure` says why there are none.
    """

    method: str
    fold: int
    held_out: float = 0.0
    gain: float = 0.0
    train: float = 0.0
    train_gain: float = 0.0
    chosen: tuple[int, ...] = ()
    """The place in its list of what was chosen for each held-out sentence, by number."""
    cpu_s: float = 0.0
    notes: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodComparison:
    """A method over all folds: means, and the deviation of the held-out score between folds."""

    method: str
    folds: tuple[FoldScore, ...]

    @property
    def failure(self) -> str | None:
        """Why the method failed, in the first fold where it did."""
        return next((fold.failure for fold in self.folds if fold.failure is not None), None)

    @property
    def held_out(self) -> float:
        """Mean score of the held-out folds."""
        return statistics.fmean(fold.held_out for fold in self.folds)

    @property
    def deviation(self) -> float:
        """Standard deviation of the held-out scores."""
        return statistics.stdev(fold.held_out for fold in self.folds)

    @property
    def gain(self) -> float:
        """Mean held-out gain: what to compare methods by."""
        return statistics.fmean(fold.gain for fold in self.folds)

    @property
    def train(self) -> float:
        """Mean score of what was trained on."""
        return statistics.fmean(fold.train for fold in self.folds)

    @property
    def train_gain(self) -> float:
        """Mean gain on what was trained on."""
        return statistics.fmean(fold.train_gain for fold in self.folds)

    @property
    def cpu_s(self) -> float:
        """Mean CPU time of one training."""
        return statistics.fmean(fold.cpu_s for fold in self.folds)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method said of every fold."""
        return tuple(note for note in self.folds[0].notes if all(note in fold.notes for fold in self.folds))


def deal_sentences(pool: Pool, n_folds: int, *, seed: int) -> list[Int64Array]:
    """The ids of each fold's sentences, ascending; folds differ by at most one sentence."""
    ids = np.concatenate([each.sentence_ids[np.diff(each.sentences) > 0] for each in outlines(pool.shards)]).astype(
        np.int64
    )
    if not 2 <= n_folds <= len(ids):
        raise InputError(f"{len(ids)} sentences cannot be dealt into {n_folds} folds; expected 2 to {len(ids)}")
    shuffled = np.random.default_rng(seed).permutation(ids)
    return [np.sort(shuffled[fold::n_folds]) for fold in range(n_folds)]


def cross_validate(
    pool: Pool,
    optimisers: Mapping[str, Optimiser],
    start: Weights,
    *,
    seed: int,
    n_folds: int = 5,
    frozen: Collection[str] = (),
    n_threads: int = 1,
    run: RunFolder | None = None,
    on_fold: Callable[[FoldScore], None] | None = None,
) -> list[MethodComparison]:
    """Every optimiser on every fold, after a row for the start itself.

    A method that fails has its reason in its row and is not tried on further folds; the others go on. Folds that
    `run` has in its trace are not done again.
    """
    metric_of(pool)
    frozen = frozen_names(start.on(pool.index).index, frozen)
    done = _logged(run)
    rows: dict[str, list[FoldScore]] = {START: [], **{method: [] for method in optimisers}}
    for fold, held_ids in enumerate(deal_sentences(pool, n_folds, seed=seed), start=1):
        wanted = [method for method, scores in rows.items() if not (scores and scores[-1].failure)]
        missing = [method for method in wanted if (method, fold) not in done]
        if missing:
            held = pool.of_sentences(held_ids)
            train = pool.of_sentences(_others(pool, held_ids))
        for method in wanted:
            score = done.get((method, fold))
            if score is None:
                trained = _Training(train, held, start, seed, frozen, n_threads)
                score = trained.score(method, optimisers.get(method), fold)
                if run is not None:
                    run.log_record("fold", score)
            rows[method].append(score)
            if on_fold:
                on_fold(score)
    return [MethodComparison(method=method, folds=tuple(scores)) for method, scores in rows.items()]


def best_method(rows: list[MethodComparison]) -> str:
    """The method with the best mean held-out gain. Raises InputError when all failed."""
    good = [row for row in rows if row.failure is None and row.method != START]
    if not good:
        raise InputError(f"every method failed; {rows[-1].method}: {rows[-1].failure}")
    return max(good, key=lambda row: row.gain).method


@dataclass(frozen=True, slots=True)
class _Training:
    train: Pool
    held: Pool
    start: Weights
    seed: int
    frozen: Collection[str]
    n_threads: int

    def score(self, method: str, optimiser: Optimiser | None, fold: int) -> FoldScore:
        began = cpu_seconds()
        weights = self.start
        notes: tuple[str, ...] = ()
        try:
            if optimiser is not None:
                result = optimiser.optimise(
                    self.train, self.start, seed=self.seed, frozen=self.frozen, n_threads=self.n_threads
                )
                weights, notes = result.weights, result.notes
            cpu_s = cpu_seconds() - began
            held_out = rerank(self.held, weights, n_threads=self.n_threads)
            train = rerank(self.train, weights, n_threads=self.n_threads)
        except DragomanError as error:
            return FoldScore(method=method, fold=fold, failure=str(error))
        except Exception as error:  # a fault of one method must not cost the work of the others
            return FoldScore(method=method, fold=fold, failure=f"{type(error).__name__}: {error}")
        return FoldScore(
            method=method,
            fold=fold,
            held_out=held_out.score(),
            gain=held_out.gain(),
            train=train.score(),
            train_gain=train.gain(),
            chosen=tuple(
                place
                for outline, chosen in zip(outlines(self.held.shards), held_out.candidates, strict=True)
                for place in (chosen - outline.sentences[:-1]).tolist()
            ),
            cpu_s=cpu_s,
            notes=notes,
        )


def _others(pool: Pool, ids: Int64Array) -> Int64Array:
    every = np.concatenate([each.sentence_ids for each in outlines(pool.shards)]).astype(np.int64)
    return np.setdiff1d(every, ids)


def _logged(run: RunFolder | None) -> dict[tuple[str, int], FoldScore]:
    scores = run.records("fold", FoldScore) if run else []
    return {(score.method, score.fold): score for score in scores}
