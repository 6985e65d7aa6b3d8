"""Sentence pairs from line-aligned files, TSV or TMX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.corpus.tmx import read_tmx
from dragoman.errors import InputError
from dragoman.text import read_lines, read_parallel
from dragoman.types import PathLike

__all__ = ["PairFiles", "read_tsv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFiles:
    """The source of sentence pairs: two line-aligned files, the first two columns of a TSV file, or a TMX file."""

    source: PathLike | None = None
    target: PathLike | None = None
    tsv: PathLike | None = None
    tmx: PathLike | None = None
    languages: str | None = None
    """Source and target language in the TMX file, such as `de,en`."""

    def __post_init__(self) -> None:
        given = [self.source is not None or self.target is not None, self.tsv is not None, self.tmx is not None]
        if sum(given) != 1 or (given[0] and (self.source is None or self.target is None)):
            raise InputError("give either a source and a target file, or one TSV file, or one TMX file")
        if (self.tmx is None) != (self.languages is None) or (self.languages is not None and len(self._pair()) != 2):
            raise InputError("a TMX file needs its two languages, source first, such as de,en; other formats take none")

    def _pair(self) -> list[str]:
        return [code.strip() for code in (self.languages or "").split(",") if code.strip()]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self.tsv is not None:
            yield from read_tsv(self.tsv)
        elif self.tmx is not None:
            yield from read_tmx(self.tmx, *self._pair())
        elif self.source is not None and self.target is not None:
            yield from ((f, e) for f, e in read_parallel([self.source, self.target]))


def read_tsv(path: PathLike) -> Iterator[tuple[str, str]]:
    """The first two tab-separated columns of each line; there is no quoting."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError("expected two columns separated by a tab, found one", path=path, line=number)
        yield columns[0], columns[1]
