"""Sentence pairs from line-aligned files or TSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.errors import InputError
from dragoman.text import read_lines, read_parallel
from dragoman.types import PathLike

__all__ = ["PairFiles", "read_tsv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFiles:
    """Where sentence pairs come from: two line-aligned files, or one TSV file whose first two columns they are."""

    source: PathLike | None = None
    target: PathLike | None = None
    tsv: PathLike | None = None

    def __post_init__(self) -> None:
        both = self.source is not None and self.target is not None
        neither = self.source is None and self.target is None
        if not (both and self.tsv is None) and not (neither and self.tsv is not None):
            raise InputError("give either a source and a target file, or one TSV file")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self.tsv is not None:
            yield from read_tsv(self.tsv)
        elif self.source is not None and self.target is not None:
            yield from ((f, e) for f, e in read_parallel([self.source, self.target]))


def read_tsv(path: PathLike) -> Iterator[tuple[str, str]]:
    """The first two tab-separated columns of each line; there is no quoting."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError("expected two columns with a tab between them, found one", path=path, line=number)
        yield columns[0], columns[1]
