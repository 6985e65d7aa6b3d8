"""A comparison as a table in Markdown, CSV, LaTeX or HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from dragoman.analysis import (
    Mark,
    PairedTest,
    Row,
    RunComparison,
    Shown,
    comparison_header,
    comparison_html,
    comparison_rows,
    legend,
    mark_of,
    pooled_header,
    pooled_legend,
    pooled_rows,
    primary_sentence,
)
from dragoman.settings import takes_text
from dragoman.text import printable

__all__ = ["TableFormat", "latex_text", "markdown_table", "markdown_text", "render"]


_P_VALUES = ("p", "holm")
"""As they are, and after Holm's correction."""


class TableFormat(StrEnum):
    """How to write a comparison."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


@takes_text
def render(comparison: RunComparison, form: TableFormat) -> str:
    """The table as text with a final line feed; the terminal format `table` is not supported here."""
    writers: Mapping[TableFormat, Callable[[RunComparison], str]] = {
        TableFormat.MARKDOWN: _markdown,
        TableFormat.CSV: _csv,
        TableFormat.LATEX: _latex,
        TableFormat.HTML: comparison_html,
    }
    return writers[form](comparison)


def markdown_text(text: str) -> str:
    """Text escaped for Markdown."""
    safe = printable(text)
    for special in "\\`*_|[]#~$":
        safe = safe.replace(special, "\\" + special)
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_table(header: Sequence[Shown], rows: Sequence[Sequence[Shown]]) -> str:
    """A Markdown table; the best in bold, scores not significantly worse with ≈."""

    def cell(shown: Shown) -> str:
        text = markdown_text(shown.text)
        return f"**{text}**" if shown.mark is Mark.BEST else f"{text} ≈" if shown.mark is Mark.NOT_WORSE else text

    lines = [[markdown_text(name.text) for name in header], ["---:" if name.numeric else "---" for name in header]]
    lines += [[cell(shown) for shown in row] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _markdown(comparison: RunComparison) -> str:
    table = markdown_table(comparison_header(comparison), comparison_rows(comparison))
    blocks = [table, markdown_text(legend(comparison, "BOLD", "≈")).replace("BOLD", "**Bold**") + "\n"]
    if comparison.pooled:
        blocks += [markdown_table(pooled_header(comparison), pooled_rows(comparison))]
        blocks += [markdown_text(pooled_legend(comparison)) + "\n"]
    blocks += [markdown_text(primary_sentence(comparison, result)) + "\n" for result in comparison.primary]
    blocks += ["".join(f"- {markdown_text(note)}\n" for note in comparison.notes)]
    return "\n".join(filter(None, blocks))


def _csv(comparison: RunComparison) -> str:
    """Plain numbers in points, one column each, including all tests; the rows of all test sets have no corpus."""
    columns = ["mean", "std", "mark", "low", "high"]
    tests = [(against, test) for against in ("best", "baseline") for test in PairedTest]
    header = ["corpus", "test", "system", "features", "optimiser", "n_runs", "n_distinct", "length_ratio"]
    for name in comparison.metrics:
        header += [f"{name}_{column}" for column in columns]
        header += [f"{name}_{kind}_{against}_{test}" for kind in _P_VALUES for against, test in tests]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in (*comparison.rows, *comparison.pooled):
        key = row.key
        values: list[Any] = [key.corpus, row.test, key.system, key.features, key.optimiser]
        values += [len(row.seeds), row.n_distinct, row.length_ratio]
        for name in comparison.metrics:
            score = row.scores[name]
            bounds = (None, None) if score.interval is None else (score.interval.low, score.interval.high)
            low, high = (None if bound is None else 100 * bound for bound in bounds)
            values += [100 * score.mean, None if score.std is None else 100 * score.std, mark_of(score).value]
            values += [low, high]
            values += [getattr(score, f"{kind}_{against}").get(test) for kind in _P_VALUES for against, test in tests]
        writer.writerow([printable(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()


def _latex(comparison: RunComparison) -> str:
    """A LaTeX table that needs the packages array and booktabs."""

    def cell(shown: Shown) -> str:
        text = latex_text(shown.text)
        if shown.mark is Mark.BEST:
            return f"\\textbf{{{text}}}"
        return f"{text}$^{{\\approx}}$" if shown.mark is Mark.NOT_WORSE else text

    def table(header: list[Shown], rows: Sequence[Row], body: list[list[Shown]]) -> list[str]:
        lines = ["\\begin{tabular}{" + "".join("r" if name.numeric else "l" for name in header) + "}", "\\toprule"]
        lines += [" & ".join(latex_text(name.text) for name in header) + " \\\\", "\\midrule"]
        last = None
        for row, cells in zip(rows, body, strict=True):
            if last not in (None, (row.key.corpus, row.test)):
                lines.append("\\midrule")
            last = row.key.corpus, row.test
            lines.append(" & ".join(map(cell, cells)) + " \\\\")
        return [*lines, "\\bottomrule", "\\end{tabular}"]

    lines = [f"% {note}" for note in map(printable, comparison.notes)]
    lines += table(comparison_header(comparison), comparison.rows, comparison_rows(comparison))
    lines += ["% " + printable(legend(comparison, "bold", "approx"))]
    if comparison.pooled:
        lines += ["", *table(pooled_header(comparison), comparison.pooled, pooled_rows(comparison))]
        lines += ["% " + printable(pooled_legend(comparison))]
    lines += ["% " + printable(primary_sentence(comparison, result)) for result in comparison.primary]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    """Text escaped for LaTeX."""
    special = {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "±": "$\\pm$",
        "↓": "$\\downarrow$",
        **{char: f"\\{char}" for char in "&%$#_{}"},
    }
    return "".join(special.get(char, char) for char in printable(text))
