"""Pharaoh files: one line per sentence pair, with links `0-0 1-2` (source-target, from 0)."""

from __future__ import annotations

import numpy as np

from dragoman._core import format_pharaoh, parse_pharaoh
from dragoman.align.links import Alignment
from dragoman.errors import InputError, MismatchError, naming
from dragoman.text import open_output, read_blocks
from dragoman.types import Int64Array, PathLike

__all__ = ["read_pharaoh", "write_pharaoh"]

_PAIRS_PER_WRITE = 1 << 16


def read_pharaoh(path: PathLike, *, lengths: tuple[Int64Array, Int64Array] | None = None) -> Alignment:
    """Read a plain, gz, xz or zst file. Links of a line may be in any order; duplicates count once.

    `lengths` are the source and target sentence lengths; if given, the number of lines and all link positions are
    checked against them. Raises InputError with file and line.
    """
    offsets, links = [np.zeros(1, np.int64)], [np.zeros((0, 2), np.int32)]
    n_links = 0
    for block in read_blocks(path):
        with naming(path):
            block_offsets, block_links = parse_pharaoh(block.data, block.first_line)
        offsets.append(block_offsets[1:] + n_links)
        links.append(block_links)
        n_links += len(block_links)
    alignment = Alignment(np.concatenate(offsets), np.concatenate(links))
    if lengths is not None:
        _check_lengths(alignment, lengths, path)
    return alignment


def write_pharaoh(path: PathLike, alignment: Alignment) -> None:
    """Write one line per pair, empty if the pair has no links. `-` is standard output."""
    with open_output(path) as output:
        for begin in range(0, len(alignment), _PAIRS_PER_WRITE):
            end = min(len(alignment), begin + _PAIRS_PER_WRITE)
            output.write_block(format_pharaoh(alignment.offsets, alignment.links, begin, end))


def _check_lengths(alignment: Alignment, lengths: tuple[Int64Array, Int64Array], path: PathLike) -> None:
    n_pairs = len(lengths[0])
    if len(alignment) != n_pairs:
        raise MismatchError(f"has {len(alignment)} lines for {n_pairs} sentence pairs", path=path)
    outside = alignment.first_outside(*lengths)
    if outside is not None:
        n_source, n_target = int(lengths[0][outside]), int(lengths[1][outside])
        link = next(link for link in alignment[outside] if link[0] >= n_source or link[1] >= n_target)
        raise InputError(
            f"the link {link[0]}-{link[1]} is out of range for {n_source} source and {n_target} target words; "
            "positions count from 0, source first: is this the alignment of these files, in this direction?",
            path=path,
            line=outside + 1,
        )
