"""A user's own numbers for candidates: a table with a header, a line for each candidate of a list, in order."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.errors import InputError
from dragoman.text import read_lines
from dragoman.types import Float64Array, PathLike

__all__ = ["ScoreTable"]


class ScoreTable:
    """Columns separated by tabs; read once, from the beginning to the end.

    `NAME=FILE` is a file with a number a line and no header.
    """

    def __init__(self, path: PathLike) -> None:
        name, equals, file = str(path).partition("=")
        self._path: PathLike = file if equals and name and not Path(path).exists() else path
        self._lines = iter(read_lines(self._path))
        self._line = self._n_read = 0
        if self._path is not path:
            self.names: tuple[str, ...] = (name.strip(),)
            self._check_names("`scores=NAME=FILE`")
            return
        self._line = 1
        header = next(self._lines, None)
        if header is None or not header.strip():
            raise InputError("is empty; expected a header with the names of columns, separated by tabs", path=path)
        self.names = tuple(name.strip() for name in header.split("\t"))
        self._check_names("is the header missing?")

    def _check_names(self, hint: str) -> None:
        if any(not name or " " in name for name in self.names) or len(set(self.names)) < len(self.names):
            raise InputError(
                f"names of columns must differ, and have no spaces; {hint}", path=self._path, line=self._line or None
            )

    def next_columns(self, n: int) -> dict[str, list[Float64Array]]:
        """The numbers of the next `n` candidates, as Pool.add_features takes them."""
        rows = np.empty((n, len(self.names)))
        found = 0
        for found, line in enumerate(islice(self._lines, n), start=1):
            self._line += 1
            parts = line.split("\t")
            try:
                if len(parts) != len(self.names):
                    raise ValueError(f"{len(parts)} columns")
                rows[found - 1] = [float(part) for part in parts]
            except ValueError:
                raise InputError(
                    f"expected {len(self.names)} number{'s' * (len(self.names) > 1)} separated by tabs",
                    path=self._path,
                    line=self._line,
                ) from None
        self._n_read += found
        if found < n:
            raise InputError(
                f"ends after {self._n_read} candidates; the list has more: expected a line for each", path=self._path
            )
        return {name: [np.ascontiguousarray(rows[:, column])] for column, name in enumerate(self.names)}

    def expect_end(self, n_candidates: int) -> None:
        """Raise InputError if the table has more lines than the list has candidates."""
        if next(self._lines, None) is not None:
            raise InputError(f"has more lines than the list's {n_candidates} candidates", path=self._path)
