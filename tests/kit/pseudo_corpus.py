"""BLEU of a sentence in the context of a pseudo-corpus (Chiang, Marton and Resnik 2008): a slow twin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dragoman.errors import InputError
from dragoman.metric import Bleu, Smoothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dragoman.metric.base import Totals

__all__ = ["PseudoCorpus"]


def _unsmoothed() -> Bleu:
    return Bleu(smoothing=Smoothing.NONE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PseudoCorpus:
    """An exponentially weighted past: O of the paper is `background`, O_f is `source_length`.

    A candidate's value is (O_f + |f|) * BLEU(O + its statistics): how good the whole would be with it, in
    proportion to how much text the whole stands for.
    """

    background: NDArray[np.float64]
    source_length: float = 0.0
    decay: float = 0.9
    bleu: Bleu = field(default_factory=_unsmoothed)

    def __post_init__(self) -> None:
        if self.background.shape != (self.bleu.n_stats,):
            raise InputError(f"{self.bleu.n_stats} BLEU statistics expected, not shape {self.background.shape}")
        if not 0 <= self.decay <= 1:
            raise InputError(f"decay must be in [0, 1], not {self.decay}")

    @classmethod
    def start(cls, *, pseudo_count: float = 0.0, decay: float = 0.9, bleu: Bleu | None = None) -> PseudoCorpus:
        """No past; with a small `pseudo_count` of everything the first sentences do not all score 0."""
        bleu = bleu or _unsmoothed()
        return cls(background=np.full(bleu.n_stats, pseudo_count), decay=decay, bleu=bleu)

    def score(self, statistics: Totals) -> Totals:
        """BLEU of the background with each candidate added, [..., n_stats] -> [...], in [0, 1]."""
        return self.bleu.score_of(self.background + statistics)

    def value(self, statistics: Totals, source_length: Totals | float) -> Totals:
        """The score scaled by the source length of the whole, in words."""
        return (self.source_length + source_length) * self.score(statistics)

    def update(self, statistics: Totals, source_length: float) -> PseudoCorpus:
        """The background after this sentence was translated so: both add up, then decay."""
        return replace(
            self,
            background=self.decay * (self.background + statistics),
            source_length=self.decay * (self.source_length + source_length),
        )
