"""Optimisers of forests inside the outer loop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import ForestMert, Result
from dragoman.pool import Pool, metric_of
from dragoman.system import Preset, SystemView

__all__ = ["ForestTuner"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestTuner:
    """A ForestMert as the loop wants an optimiser: it decodes the sentences itself, with the start weights.

    Only the forests of the present round count, so that a resumed run needs nothing of earlier ones. The pool of the
    round gives the metric.
    """

    mert: ForestMert
    view: SystemView
    sentences: Sequence[str]
    references: Sequence[Sequence[str]]
    preset: Preset = Preset.DEFAULT

    def __post_init__(self) -> None:
        if len(self.sentences) != len(self.references):
            raise InputError(f"{len(self.sentences)} sentences but references of {len(self.references)}")

    def optimise(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """Better weights on the search spaces of `start`, over the pool's index."""
        forests = self.view.forests(self.sentences, start.on(self.view.index), preset=self.preset, n_threads=n_threads)
        result = self.mert.optimise(
            [[forest] for forest in forests],
            self.references,
            metric_of(pool),
            start.on(self.view.index),
            dense=self.view.translator.dense(),
            seed=seed,
            round_number=round_number,
            frozen=frozen,
            n_threads=n_threads,
        )
        return Result(
            weights=result.weights.on(pool.index),
            gain_before=result.gain_before,
            gain_after=result.gain_after,
            trace=result.trace,
            notes=result.notes,
        )
