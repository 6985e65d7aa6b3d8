"""Development and test sets that are drawn from the training text.

Flanigan, Dyer and Carbonell 2013, section 3.1: lines that stay in the training (`in`) against lines that are taken out
of grammar and language model (`out`). A drawing puts the different source sentences of the training text into a random
order; a set has the lines from `skip` on. So sets of the same drawing that do not overlap in this order share no
sentence, and `in` and `out` with the same numbers are the same lines. Section 6.1: a fold of the system's training text
is the tuning set (`fold`), decoded by the tables without it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path

import numpy as np

from dragoman.corpus import MAX_FOLDS, read_folds
from dragoman.errors import InputError
from dragoman.experiments.table import RecipeTable
from dragoman.files.store import make_folder
from dragoman.settings import Record
from dragoman.system import draw_fold
from dragoman.text import open_output, read_lines
from dragoman.types import Int64Array

__all__ = [
    "LEFT_OUT",
    "Drawn",
    "DrawnPart",
    "FoldPart",
    "Where",
    "check_drawn",
    "draw_lines",
    "read_drawn",
    "trained_on",
    "write_drawn",
]

LEFT_OUT = "left-out.txt"
"""Beside the text: the numbers of the training lines that `out` takes out, all that have a drawn source sentence."""


class Where(StrEnum):
    """Whether drawn lines are trained on."""

    IN = "in"
    OUT = "out"
    FOLD = "fold"  # they are, but the system's tables can leave out their fold


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPart(Record):
    """Lines of the training text, from `skip` on in the order of the drawing."""

    where: Where
    n_lines: int
    skip: int

    @property
    def is_out(self) -> bool:
        return self.where is Where.OUT

    @property
    def stop(self) -> int:
        return self.skip + self.n_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPart:
    """Lines of one fold of the training text, in their order there."""

    fold: int
    n_folds: int
    fold_seed: int
    n_lines: int | None
    """Number of lines that are drawn; None: all lines of the fold."""

    is_out = False

    def draw(self, source: Path, seed: int) -> Int64Array:
        """Line numbers; those that `TrainingLines.of_fold` of a system with these folds draws."""
        return draw_fold(read_folds(source, self.n_folds, self.fold_seed), self.fold, self.n_lines, seed=seed)


Drawn = DrawnPart | FoldPart


def read_drawn(table: RecipeTable) -> Drawn:
    """`{ drawn = "in", lines = 1000, skip = 0 }`, `{ drawn = "fold", fold = 4, folds = 5, lines = 1000 }`."""
    where = table.choice("drawn", Where, Where.IN)
    part: Drawn
    if where is Where.FOLD:
        n_folds = table.number("folds", 2, most=MAX_FOLDS)
        part = FoldPart(
            fold=table.number("fold", 0, most=n_folds - 1),
            n_folds=n_folds,
            fold_seed=table.number("fold_seed", 0, 0),
            n_lines=table.number("lines", 1) if "lines" in table else None,
        )
    else:
        part = DrawnPart(where=where, n_lines=table.number("lines", 1), skip=table.number("skip", 0, 0))
    table.done()
    return part


def check_drawn(parts: Mapping[str, Drawn]) -> None:
    """Raise InputError if two sets of a drawing overlap, or may."""
    for (one, a), (other, b) in combinations(parts.items(), 2):
        if isinstance(a, FoldPart) or isinstance(b, FoldPart):
            raise InputError(f"'{other}' may overlap '{one}': a set of a fold's lines is the only one that is drawn")
        if a.skip < b.stop and b.skip < a.stop:
            raise InputError(
                f"'{other}' overlaps '{one}': lines {b.skip} to {b.stop - 1} and {a.skip} to {a.stop - 1} of the "
                f"drawing; give it another 'skip', such as {a.stop}"
            )


def draw_lines(source: Sequence[str], parts: Iterable[DrawnPart], seed: int) -> list[Int64Array]:
    """Line numbers of each part, in the order of the drawing; of lines with the same source sentence the first.

    Raises InputError if there are not enough of them.
    """
    first: dict[str, int] = {}
    for number, sentence in enumerate(source):
        if sentence.strip():
            first.setdefault(sentence, number)
    lines = np.random.default_rng(seed).permutation(np.fromiter(first.values(), np.int64, len(first)))
    found = []
    for part in parts:
        if part.stop >= len(lines):
            raise InputError(
                f"the training text has {len(lines)} different source sentences, too few to draw {part.n_lines} "
                f"after {part.skip} and to train on others"
            )
        found.append(lines[part.skip : part.stop])
    return found


def write_drawn(folder: Path, parts: Mapping[str, Drawn], seed: int) -> None:
    """Write drawn sets next to the training text in `folder`, and the lines that `out` takes out of it."""
    source, target = (list(read_lines(folder / f"train.{side}")) for side in ("source", "target"))
    out: set[str] = set()
    ordered = [part for part in parts.values() if isinstance(part, DrawnPart)]
    in_order = iter(draw_lines(source, ordered, seed) if ordered else ())
    for name, part in parts.items():
        lines = part.draw(folder / "train.source", seed) if isinstance(part, FoldPart) else next(in_order)
        _write(folder / f"{name}.source", (source[line] for line in lines))
        _write(folder / f"{name}.reference.0", (target[line] for line in lines))
        if part.is_out:
            out.update(source[line] for line in lines)
    if out:
        _write(folder / LEFT_OUT, (str(number) for number, sentence in enumerate(source) if sentence in out))


@contextlib.contextmanager
def trained_on(text: Path, files: Sequence[Path], scratch: Path) -> Iterator[list[Path]]:
    """The line-aligned files of the training text, while it lasts without the lines that were taken out of it."""
    if not (text / LEFT_OUT).exists():
        yield list(files)
        return
    out = {int(line) for line in read_lines(text / LEFT_OUT)}
    folder = make_folder(scratch / "without")
    for path in files:
        _write(folder / path.name, (line for number, line in enumerate(read_lines(path)) if number not in out))
    yield [folder / path.name for path in files]
    shutil.rmtree(folder)


def _write(path: Path, lines: Iterable[str]) -> None:
    with open_output(path) as output:
        for line in lines:
            output.write(line)
