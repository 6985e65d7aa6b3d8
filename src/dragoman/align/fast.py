"""The aligner of the native core: the log-linear IBM Model 2 of Dyer, Chahuneau and Smith (2013).

Three differences from their program: the diagonal tension is the exact maximiser of the expected likelihood in every
iteration (theirs takes eight gradient steps), words that the null word generates carry no weight in it, and all
iterations update the parameters before the final assignment.
"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman._core import Ibm2Model, links_of, train_ibm2
from dragoman.align.config import AlignStep, Direction, FastConfig, StepProgress
from dragoman.align.links import Alignment
from dragoman.corpus import Side
from dragoman.errors import MismatchError

__all__ = ["FastModel", "FastStep", "train_fast"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FastStep:
    """What an iteration saw before it changed the parameters."""

    log_likelihood: float
    tension: float
    null_share: float
    """Expected share of the target words that the null word generates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FastModel:
    """A trained direction, for text that was not in training. Word ids are those of the training text."""

    direction: Direction
    core: Ibm2Model

    def align(self, source: Side, target: Side, *, n_threads: int = 1) -> Alignment:
        """Links of new sentence pairs; pairs over the maximal length or empty on a side have none."""
        given, chosen = _oriented(source, target, self.direction)
        assignment = self.core.align(given.offsets, given.ids, chosen.offsets, chosen.ids, n_threads)
        return Alignment(*links_of(chosen.offsets, assignment, self.direction is Direction.REVERSE))


def train_fast(
    source: Side,
    target: Side,
    direction: Direction,
    config: FastConfig,
    *,
    max_length: int,
    n_threads: int = 1,
    keep_model: bool = False,
    progress: StepProgress | None = None,
) -> tuple[Alignment, list[FastStep], FastModel | None]:
    """Train one direction and align the training text. The result does not depend on the number of threads."""
    given, chosen = _oriented(source, target, direction)
    n_done = 0

    def report(n_pairs: int) -> None:
        nonlocal n_done
        while progress and n_done < min(config.n_iterations, n_pairs // max(1, len(source))):
            n_done += 1
            progress(AlignStep(direction=direction, iteration=n_done, n_iterations=config.n_iterations))

    assignment, steps, core = train_ibm2(
        given.offsets,
        given.ids,
        chosen.offsets,
        chosen.ids,
        n_iterations=config.n_iterations,
        null_prob=config.null_prob,
        tension=config.tension,
        fit_tension=config.fit_tension,
        alpha=config.alpha,
        max_length=max_length,
        n_threads=n_threads,
        keep_model=keep_model,
        progress=report if progress else None,
    )
    report(config.n_iterations * max(1, len(source)))
    alignment = Alignment(*links_of(chosen.offsets, assignment, direction is Direction.REVERSE))
    n_words = max(1, len(chosen.ids))
    trace = [
        FastStep(log_likelihood=float(row[0]), tension=float(row[1]), null_share=float(row[2]) / n_words)
        for row in steps
    ]
    return alignment, trace, FastModel(direction=direction, core=core) if core else None


def _oriented(source: Side, target: Side, direction: Direction) -> tuple[Side, Side]:
    if len(source) != len(target):
        raise MismatchError(f"{len(source)} source and {len(target)} target sentences cannot be pairs")
    return (source, target) if direction is Direction.FORWARD else (target, source)
