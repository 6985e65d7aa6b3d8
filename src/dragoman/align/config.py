"""What can be chosen about an alignment."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from dragoman.align.symmetrization import Symmetrization
from dragoman.errors import InputError

__all__ = ["AlignConfig", "AlignMethod", "AlignStep", "Direction", "FastConfig", "StepProgress"]

MAX_LENGTH = 1000
"""No setting admits longer sentences: time and memory of a pair grow with the product of its lengths."""


class AlignMethod(enum.StrEnum):
    """Which model is trained. All but fast need the sil-thot library (`pip install 'dragoman[align]'`)."""

    FAST = "fast"
    """Our own log-linear IBM Model 2 (Dyer et al. 2013), threaded."""
    EFLOMAL = "eflomal"
    """Gibbs sampling with fertilities (Östling and Tiedemann 2016)."""
    FASTALIGN = "fastalign"
    """The library's version of the model of fast."""
    HMM = "hmm"
    """IBM Model 1, then the hidden Markov model (Vogel et al. 1996)."""


class Direction(enum.StrEnum):
    """Forward: every target word chooses a source word. Reverse: the other way about."""

    FORWARD = "forward"
    REVERSE = "reverse"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignStep:
    """An iteration of one direction is done."""

    direction: Direction
    iteration: int
    n_iterations: int


StepProgress: TypeAlias = Callable[[AlignStep], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FastConfig:
    """Settings of our own aligner."""

    n_iterations: int = 5
    null_prob: float = 0.2
    """Probability that a target word comes from no source word."""
    tension: float = 1.0
    """How strongly links keep to the diagonal; where training starts from when it is fitted."""
    fit_tension: bool = True
    alpha: float = 0.01
    """Dirichlet prior on translation distributions (variational Bayes); 0: maximum likelihood."""

    def __post_init__(self) -> None:
        if self.n_iterations < 1:
            raise InputError(f"the number of iterations must be at least 1, not {self.n_iterations}")
        if not 0 < self.null_prob < 1:
            raise InputError(f"the probability of the null word must be between 0 and 1, not {self.null_prob}")
        if not 0.1 <= self.tension <= 20:
            raise InputError(f"the diagonal tension must be from 0.1 to 20, not {self.tension}")
        if not 0 <= self.alpha < float("inf"):
            raise InputError(f"alpha must be a finite number of at least 0, not {self.alpha}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignConfig:
    """Settings of an alignment."""

    method: AlignMethod = AlignMethod.FAST
    symmetrization: Symmetrization = Symmetrization.GROW_DIAG_FINAL_AND
    max_length: int = 200
    """A pair with more words on a side keeps its line and stays without links."""
    seed: int = 1
    """Of Eflomal's sampler; the other methods draw nothing."""
    fast: FastConfig = field(default_factory=FastConfig)

    def __post_init__(self) -> None:
        limit = 200 if self.method is AlignMethod.HMM else MAX_LENGTH  # what the library's HMM admits
        if not 1 <= self.max_length <= limit:
            raise InputError(f"the maximal sentence length must be from 1 to {limit}, not {self.max_length}")
