"""Align a bitext in both directions, then symmetrise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dragoman.align.config import AlignConfig, AlignMethod, Direction, StepProgress
from dragoman.align.fast import FastStep, train_fast
from dragoman.align.library import train_library
from dragoman.align.links import Agreement, Alignment
from dragoman.align.pairing import Pairing, look_at_pairing
from dragoman.align.symmetrization import symmetrize
from dragoman.corpus import Side
from dragoman.errors import InputError, MismatchError
from dragoman.types import PathLike

__all__ = ["AlignResult", "align", "align_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignResult:
    """A symmetrised alignment and its statistics. Every pair has a row; pairs left out have no links."""

    alignment: Alignment
    forward: Alignment
    """Every target word aligned to at most one source word."""
    reverse: Alignment
    """Every source word aligned to at most one target word."""
    agreement: Agreement
    """Agreement of the two directions before symmetrisation."""
    n_pairs: int
    n_empty: int
    """Number of pairs with an empty side."""
    n_too_long: int
    """Number of pairs with a side longer than `max_length`."""
    trace: dict[Direction, list[FastStep]]
    """Statistics per iteration of the method `fast`; empty otherwise."""
    pairing: Pairing | None = None
    """A comparison with sentences of other pairs; None where the directions agree well."""

    @property
    def doubt(self) -> str | None:
        """Why the sides may not belong together, if there is a reason."""
        return self.pairing.warning() if self.pairing is not None and self.pairing.is_doubtful else None


def align(
    source: Side,
    target: Side,
    config: AlignConfig | None = None,
    *,
    n_threads: int = 1,
    progress: StepProgress | None = None,
) -> AlignResult:
    """Train both directions on the sentence pairs, align them, and symmetrise."""
    config = config or AlignConfig()
    if len(source) != len(target):
        raise MismatchError(f"{len(source)} source sentences but {len(target)} target sentences")
    for name, side in (("source", source), ("target", target)):
        if len(side.ids) and not 0 <= side.ids.min() <= side.ids.max() < len(side.vocab):
            raise InputError(f"the {name} side has word ids outside its vocabulary; the bitext is damaged")
    lengths = np.stack([source.lengths(), target.lengths()])
    is_empty = lengths.min(axis=0) == 0
    is_too_long = ~is_empty & (lengths.max(axis=0) > config.max_length)
    usable = np.flatnonzero(~is_empty & ~is_too_long)
    trace: dict[Direction, list[FastStep]] = {}
    if config.method is AlignMethod.FAST:
        aligned = []
        for direction in Direction:
            alignment, trace[direction], _ = train_fast(
                source,
                target,
                direction,
                config.fast,
                max_length=config.max_length,
                n_threads=n_threads,
                progress=progress,
            )
            aligned.append(alignment)
        forward, reverse = aligned
    else:
        forward, reverse = train_library(
            source, target, usable, config.method, seed=config.seed, n_threads=n_threads, progress=progress
        )
    agreement = forward.agreement(reverse, n_threads=n_threads)
    return AlignResult(
        alignment=symmetrize(forward, reverse, config.symmetrization, n_threads=n_threads),
        forward=forward,
        reverse=reverse,
        agreement=agreement,
        n_pairs=len(source),
        n_empty=int(is_empty.sum()),
        n_too_long=int(is_too_long.sum()),
        trace=trace,
        pairing=look_at_pairing(source, target, usable, agreement.f1, config, n_threads=n_threads),
    )


def align_files(
    source: PathLike,
    target: PathLike,
    config: AlignConfig | None = None,
    *,
    n_threads: int = 1,
    progress: StepProgress | None = None,
) -> AlignResult:
    """Align two line-aligned text files (plain, gz, xz or zst)."""
    sides = [Side.read(path) for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise MismatchError(
            f"line-aligned files must have the same number of lines, but {source} has {len(sides[0])}, "
            f"{target} has {len(sides[1])}"
        )
    return align(sides[0], sides[1], config, n_threads=n_threads, progress=progress)
