"""A comparison as cells of text, for tables of every format, and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from markupsafe import Markup, escape

from dragoman.analysis.primary import PrimaryResult
from dragoman.analysis.rows import PairedTest, Row, RowScore, RunComparison, Within
from dragoman.analysis.significance import LEVEL, is_significant
from dragoman.metric import metric_label
from dragoman.settings import Record
from dragoman.text import printable

__all__ = [
    "Mark",
    "Shown",
    "comparison_header",
    "comparison_html",
    "comparison_rows",
    "legend",
    "mark_of",
    "n_runs",
    "plus_minus",
    "pooled_header",
    "pooled_legend",
    "pooled_rows",
    "primary_sentence",
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


_METHOD = ("system", "features", "optimiser")


class Mark(StrEnum):
    """How a score compares with the best of its group."""

    BEST = "best"
    NOT_WORSE = "not significantly worse"
    WORSE = ""


@dataclass(frozen=True, slots=True)
class Shown(Record):
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
    words = ["corpus", *(["test"] if comparison.several_tests else []), *_METHOD]
    return [*(Shown(word, numeric=False) for word in words), Shown("runs"), *_score_header(comparison)]


def pooled_header(comparison: RunComparison) -> list[Shown]:
    """The column headers of the table over all test sets."""
    return [*(Shown(word, numeric=False) for word in _METHOD), *_score_header(comparison)]


def _score_header(comparison: RunComparison) -> list[Shown]:
    numbers = []
    for name in comparison.metrics:
        arrow = "↓" if name in comparison.lower_is_better else ""
        numbers += [f"{metric_label(name)}{arrow}", "p"]
    return [*map(Shown, [*numbers, "length"])]


def comparison_rows(comparison: RunComparison) -> list[list[Shown]]:
    """A row of cells for every row of the comparison."""
    return [_cells(comparison, row) for row in comparison.rows]


def pooled_rows(comparison: RunComparison) -> list[list[Shown]]:
    """A row of cells for every row of the table over all test sets."""
    return [[*_method(row), *_scores(comparison, row)] for row in comparison.pooled]


def _cells(comparison: RunComparison, row: Row) -> list[Shown]:
    names = (row.key.corpus, *([row.test] if comparison.several_tests else []))
    words = [Shown(printable(name), numeric=False) for name in names]
    return [*words, *_method(row), Shown(n_runs(row)), *_scores(comparison, row)]


def _method(row: Row) -> list[Shown]:
    names = (row.key.system, row.key.features, row.key.optimiser)
    return [Shown(printable(name), numeric=False) for name in names]


def n_runs(row: Row) -> str:
    """The number of runs; where some gave the same output, how many differ of how many."""
    return str(len(row.seeds)) if row.n_distinct == len(row.seeds) else f"{row.n_distinct} of {len(row.seeds)}"


def _scores(comparison: RunComparison, row: Row) -> list[Shown]:
    cells = []
    for name in comparison.metrics:
        score = row.scores[name]
        p_value = comparison.p_holm(score)
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
    copies = any(row.n_distinct < len(row.seeds) for row in comparison.rows)
    starts = any(row.key.is_start for row in comparison.rows)
    return (
        f"{scores}; {not_worse}: not significantly worse than the best (p ≥ {LEVEL}, {test}). "
        f"p: the same test against {against}, with Holm's correction for the rows tested against the same row."
        + (" Runs 1 of 3: three runs gave one output." if copies else "")
        + (" start: the untuned weights." if starts else "")
    )


def pooled_legend(comparison: RunComparison) -> str:
    """What the table over all test sets shows."""
    return (
        f"Means over corpora of the rows that all of {', '.join(comparison.pooled_over)} have; the test swaps or draws "
        "sentences within each test set, and the statistic is the mean difference."
    )


def primary_sentence(comparison: RunComparison, result: PrimaryResult) -> str:
    """A primary comparison, its difference and its p-value, which needs no correction."""
    primary, tests = result.primary, result.tests
    where = tests[0] if len(tests) == 1 else f"the mean over {', '.join(tests)}"
    said = (
        f"Primary comparison: {', '.join(result.rows)} against {primary.baseline} by {metric_label(primary.metric)}, "
        f"{where}: {100 * result.score:.2f} and {100 * result.baseline_score:.2f}"
    )
    if result.p_value is None:
        return f"{said}, not tested."
    worse = "worse" if result.gain < 0 else "better"
    verdict = f"significantly {worse}" if is_significant(result.p_value) else "no significant difference"
    return f"{said}, p = {result.p_value:.4f} ({_TESTS[comparison.test]}; not corrected): {verdict}."


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

    def table(caption: str, header: list[Shown], rows: list[list[Shown]]) -> Markup:
        head = Markup("").join(Markup("<th>{}</th>").format(name.text) for name in header)
        body = Markup("\n").join(Markup("<tr>{}</tr>").format(Markup("").join(map(cell, row))) for row in rows)
        return Markup(
            "<table>\n<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>\n"
        ).format(printable(caption), head, body)

    found = table(legend(comparison, "Bold", "≈"), comparison_header(comparison), comparison_rows(comparison))
    if comparison.pooled:
        found += table(pooled_legend(comparison), pooled_header(comparison), pooled_rows(comparison))
    said = [*(primary_sentence(comparison, result) for result in comparison.primary), *comparison.notes]
    return found + Markup("").join(Markup("<p>{}</p>\n").format(printable(text)) for text in said)
