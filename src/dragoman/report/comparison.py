"""A comparison as a table in Markdown, CSV, LaTeX or HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from markupsafe import Markup, escape

from dragoman.evaluate import PairedTest, Row, RowScore, RunComparison, Within
from dragoman.metric import metric_label
from dragoman.text import printable

__all__ = [
    "Mark",
    "Shown",
    "TableFormat",
    "comparison_header",
    "comparison_rows",
    "legend",
    "mark_of",
    "markdown_table",
    "markdown_text",
    "plus_minus",
    "render",
]

_TESTS = {
    PairedTest.RANDOMISATION: "approximate randomisation over sentences and runs",
    PairedTest.BOOTSTRAP: "paired bootstrap over sentences",
}
_GROUPS = {
    Within.CORPUS: "corpus",
    Within.SYSTEM: "system on its corpus",
    Within.FEATURES: "system and feature set on its corpus",
}


class TableFormat(StrEnum):
    """How to write a comparison."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


class Mark(StrEnum):
    """How a score compares with the best of its group."""

    BEST = "best"
    NOT_WORSE = "not significantly worse"
    WORSE = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell of a table as displayed."""

    text: str
    numeric: bool = True
    mark: Mark | None = None
    """None if it is not a score."""


def mark_of(score: RowScore) -> Mark:
    """Best, not significantly worse than the best, or neither."""
    return Mark.BEST if score.best else Mark.NOT_WORSE if score.not_worse else Mark.WORSE


def comparison_header(comparison: RunComparison) -> list[Shown]:
    """The column headers."""
    words = ["corpus", *(["test"] if comparison.several_tests else []), "system", "features", "optimiser"]
    numbers = ["runs"]
    for name in comparison.metrics:
        arrow = "↓" if name in comparison.lower_is_better else ""
        numbers += [f"{metric_label(name)}{arrow}", "p"]
    return [*(Shown(word, numeric=False) for word in words), *map(Shown, [*numbers, "length"])]


def comparison_rows(comparison: RunComparison) -> list[list[Shown]]:
    """A row of cells for every row of the comparison."""
    return [_cells(comparison, row) for row in comparison.rows]


def _cells(comparison: RunComparison, row: Row) -> list[Shown]:
    test = [row.test] if comparison.several_tests else []
    names = (row.key.corpus, *test, row.key.system, row.key.features, row.key.optimiser)
    cells = [*(Shown(printable(name), numeric=False) for name in names), Shown(str(len(row.seeds)))]
    for name in comparison.metrics:
        score = row.scores[name]
        p_value = comparison.p_value(score)
        cells.append(Shown(plus_minus(score), mark=mark_of(score)))
        cells.append(Shown("" if p_value is None else f"{p_value:.4f}"))
    return [*cells, Shown(f"{row.length_ratio:.3f}")]


def plus_minus(score: RowScore) -> str:
    """Mean and standard deviation, in points."""
    return f"{100 * score.mean:.2f}" + ("" if score.std is None else f" ± {100 * score.std:.2f}")


def legend(comparison: RunComparison, best: str, not_worse: str) -> str:
    """An explanation of the marks and p-values of a table."""
    group = _GROUPS[comparison.within].replace("corpus", "test set" if comparison.several_tests else "corpus")
    scores = f"Mean ± standard deviation over tuning runs. {best}: best of its {group}"
    against = "that best" if comparison.baseline is None else f"the baseline {comparison.baseline}"
    all_scores = [score for row in comparison.rows for score in row.scores.values()]
    if not any(comparison.test in {*score.p_best, *score.p_baseline} for score in all_scores):
        return f"{scores}; nothing was tested."
    test = _TESTS[comparison.test]
    return (
        f"{scores}; {not_worse}: not significantly worse than the best (p ≥ 0.05, {test}). "
        f"p: the same test against {against}."
    )


def render(comparison: RunComparison, form: TableFormat) -> str:
    """The table as text with a final line feed; the terminal format `table` is not supported here."""
    writers: Mapping[TableFormat, Callable[[RunComparison], str]] = {
        TableFormat.MARKDOWN: _markdown,
        TableFormat.CSV: _csv,
        TableFormat.LATEX: _latex,
        TableFormat.HTML: _html,
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
    notes = "".join(f"- {markdown_text(note)}\n" for note in comparison.notes)
    text = table + "\n" + markdown_text(legend(comparison, "BOLD", "≈")).replace("BOLD", "**Bold**") + "\n"
    return text + (f"\n{notes}" if notes else "")


def _csv(comparison: RunComparison) -> str:
    """Plain numbers in points, one column each, including all tests."""
    columns = ["mean", "std", "mark", "low", "high"]
    tests = [(against, test) for against in ("best", "baseline") for test in PairedTest]
    header = ["corpus", "test", "system", "features", "optimiser", "n_runs", "length_ratio"]
    for name in comparison.metrics:
        header += [f"{name}_{column}" for column in columns]
        header += [f"{name}_p_{against}_{test}" for against, test in tests]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in comparison.rows:
        key = row.key
        values: list[Any] = [key.corpus, row.test, key.system, key.features, key.optimiser]
        values += [len(row.seeds), row.length_ratio]
        for name in comparison.metrics:
            score = row.scores[name]
            bounds = (None, None) if score.interval is None else (score.interval.low, score.interval.high)
            low, high = (None if bound is None else 100 * bound for bound in bounds)
            values += [100 * score.mean, None if score.std is None else 100 * score.std, mark_of(score).value]
            values += [low, high, *(getattr(score, f"p_{against}").get(test) for against, test in tests)]
        writer.writerow([printable(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()


def _latex(comparison: RunComparison) -> str:
    """A LaTeX table that needs the packages array and booktabs."""

    def cell(shown: Shown) -> str:
        text = latex_text(shown.text)
        if shown.mark is Mark.BEST:
            return f"\\textbf{{{text}}}"
        return f"{text}$^{{\\approx}}$" if shown.mark is Mark.NOT_WORSE else text

    header = comparison_header(comparison)
    lines = [f"% {note}" for note in map(printable, comparison.notes)]
    lines += ["\\begin{tabular}{" + "".join("r" if name.numeric else "l" for name in header) + "}", "\\toprule"]
    lines += [" & ".join(latex_text(name.text) for name in header) + " \\\\", "\\midrule"]
    last = None
    for row, cells in zip(comparison.rows, comparison_rows(comparison), strict=True):
        if last not in (None, (row.key.corpus, row.test)):
            lines.append("\\midrule")
        last = row.key.corpus, row.test
        lines.append(" & ".join(map(cell, cells)) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}", "% " + printable(legend(comparison, "bold", "approx"))]
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


def _html(comparison: RunComparison) -> str:
    """An HTML table to embed; marks have a title in words, for accessibility."""

    def cell(shown: Shown) -> Markup:
        style = Markup(' style="text-align: right"') if shown.numeric else Markup("")
        text = escape(shown.text)
        if shown.mark is Mark.BEST:
            text = Markup('<strong title="{}">{}</strong>').format(shown.mark.value, text)
        elif shown.mark is Mark.NOT_WORSE:
            text = Markup('{} <span title="{}">≈</span>').format(text, shown.mark.value)
        return Markup("<td{}>{}</td>").format(style, text)

    head = Markup("").join(Markup("<th>{}</th>").format(name.text) for name in comparison_header(comparison))
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(cell, row))) for row in comparison_rows(comparison)
    )
    notes = Markup("").join(Markup("<p>{}</p>\n").format(printable(note)) for note in comparison.notes)
    return str(
        Markup(
            "<table>\n<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>\n{}"
        ).format(printable(legend(comparison, "Bold", "≈")), head, body, notes)
    )
