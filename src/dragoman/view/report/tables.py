"""What all tables of a report share: their form, the names of rows, and means as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, stdev

from dragoman.analysis import RowKey, Shown
from dragoman.metric import recorded_metric

__all__ = ["Table", "deviating", "mean_points", "mean_text", "names_of_row", "row_header", "signed", "words"]

Table = tuple[list[Shown], list[list[Shown]]]
"""The cells of the header, and those of every row."""


def words(*texts: str) -> list[Shown]:
    """Cells with words: names, and the headers of their columns."""
    return [Shown(text, numeric=False) for text in texts]


def row_header(*numbers: str) -> list[Shown]:
    """The header of a table of the rows of one corpus."""
    return [*words("system", "features", "optimiser"), *map(Shown, numbers)]


def names_of_row(key: RowKey) -> list[Shown]:
    """The first cells of a row of one corpus."""
    return [Shown(part, numeric=False) for part in (key.system, key.features, key.optimiser)]


def mean_points(scores: Iterable[float | None], metric: str = "bleu") -> str:
    """The mean of the known scores, in points; of an external score as it is."""
    known = [score for score in scores if score is not None]
    return recorded_metric(metric).shown(fmean(known)) if known else ""


def deviating(scores: Sequence[float]) -> str:
    """Mean and sample standard deviation (ddof=1) of scores, in points; empty without scores."""
    points = [100 * score for score in scores]
    return mean_text(points, 2) + (f" ± {stdev(points):.2f}" if len(points) > 1 else "")


def mean_text(values: Sequence[float], n_digits: int) -> str:
    """The mean; empty without values."""
    return f"{fmean(values):,.{n_digits}f}" if values else ""


def signed(value: float, n_digits: int = 2) -> str:
    """A difference with its sign, +0.00 for what rounds to nothing."""
    return f"{round(value, n_digits) or 0.0:+.{n_digits}f}"
