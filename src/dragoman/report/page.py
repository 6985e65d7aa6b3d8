"""One HTML page that opens offline: no script, no font, no picture from elsewhere. All text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from dragoman.report.templating import environment
from dragoman.text import replace_bytes
from dragoman.types import PathLike

__all__ = ["Cell", "Figure", "Note", "Page", "Rows", "Section"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell; numbers are right-aligned, the best of a column can be marked."""

    text: str
    numeric: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    kind: str = "rows"

    def columns(self) -> list[Cell]:
        """The header; a name stands over its numbers."""
        first = self.cells()[0] if self.rows else []
        numeric = [cell.numeric for cell in first] or [False] * len(self.header)
        return [Cell(name, numeric=right) for name, right in zip(self.header, numeric, strict=True)]

    def cells(self) -> list[list[Cell]]:
        """All cells, bare strings as plain ones."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture made by `dragoman.report.svg`, with a caption."""

    svg: Markup
    caption: str
    kind: str = "figure"


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph of text."""

    text: str
    kind: str = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with what stands under it."""

    title: str
    parts: Sequence[Rows | Figure | Note]


@dataclass(slots=True, kw_only=True)
class Page:
    """A page in the making."""

    title: str
    lead: str
    sections: list[Section] = field(default_factory=list)

    def html(self) -> str:
        """The whole page."""
        return environment().get_template("page.html").render(page=self)

    def save(self, path: PathLike) -> None:
        """Write the page."""
        replace_bytes(path, self.html().encode("utf-8"))
