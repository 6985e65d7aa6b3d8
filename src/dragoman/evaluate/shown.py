"""A comparison as cells of text, for tables of every format, and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from markupsafe import Markup, escape

from dragoman.evaluate.rows import PairedTest, Row, RowScore, RunComparison, Within
from dragoman.metric import metric_label
from dragoman.text import printable

__all__ = [
    "Mark",
    "Shown",
    "comparison_header",
    "comparison_html",
    "comparison_rows",
    "legend",
    "mark_of",
    "plus_minus",
]

_TESTS = {
    PairedTest.RANDOMISATION: "approximate randomisation over sentences",
    PairedTest.BOOTSTRAP: "paired bootstrap over sentences",
}
_GROUPS = {
    Within.CORPUS: "corpus",
    Within.SYSTEM: "system on its corpus",
    Within.FEATURES: "system and feature set on its corpus",
}


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


def comparison_html(comparison: RunComparison) -> Markup:
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
    return Markup(
        "<table>\n<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>\n{}"
    ).format(printable(legend(comparison, "Bold", "≈")), head, body, notes)
