"""The tables and figures of an experiment as Markdown, for pages that are kept with the sources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman.errors import InputError
from dragoman.report.charts import Chart
from dragoman.report.comparison import legend, markdown_table, markdown_text
from dragoman.report.experiment import Experiment, load_experiment, write_figures
from dragoman.report.results import Table, class_table, cost_table, score_table
from dragoman.text import replace_bytes
from dragoman.types import PathLike

__all__ = ["markdown_tables", "write_markdown"]


def markdown_tables(runs: Sequence[PathLike] | Experiment, *, figures: str | None = None, threads: int = 1) -> str:
    """Results with their marks, scores of dev and test, active features by class and time by stage.

    `figures` is the folder of the SVG files, seen from the page; None leaves the figures out.
    """
    experiment = runs if isinstance(runs, Experiment) else load_experiment(runs, threads=threads)
    return "\n".join(_blocks(experiment, figures))


def write_markdown(
    runs: Sequence[PathLike] | Experiment, out: PathLike, *, svg: PathLike | None = None, threads: int = 1
) -> Path:
    """Write the tables, and the figures into `svg` (default: a folder beside the page, with the page's name)."""
    page = Path(out)
    if not page.parent.is_dir():
        raise InputError("its folder does not exist; make it, or name another", path=page)
    experiment = runs if isinstance(runs, Experiment) else load_experiment(runs, threads=threads)
    folder = page.with_suffix("") if svg is None else Path(svg)
    write_figures(experiment, folder)
    beside = Path(os.path.relpath(folder, page.parent)).as_posix()
    replace_bytes(page, markdown_tables(experiment, figures=beside).encode("utf-8"))
    return page


def _blocks(experiment: Experiment, figures: str | None) -> Iterator[str]:
    records, comparison = experiment.records, experiment.comparison
    several = len(records.corpora) > 1
    yield f"# {markdown_text(experiment.title)}\n"
    for key in ("citation", "expected"):
        for text in records.setting(key):
            yield f"{markdown_text(text)}\n"
    yield "## Results\n"
    for corpus in records.corpora:
        yield from _table(corpus if several else "", experiment.results(corpus))
    yield markdown_text(legend(comparison, "BOLD", "≈")).replace("BOLD", "**Bold**") + "\n"
    published = experiment.published()
    if published[1]:
        yield from _table("Published", published)
    yield from _pictures(experiment.charts["spread"], figures)
    yield "## Dev and test\n"
    yield "Means over runs; dev and active features are those of the best round.\n"
    for corpus in records.corpora:
        yield from _table(corpus if several else "", score_table(records, corpus))
    yield from _pictures(experiment.charts["learning"], figures)
    yield "## Active features by class\n"
    yield "Means over runs, at the best round; the class of a feature is what stands before the colon of its name.\n"
    for corpus in records.corpora:
        yield from _table(corpus if several else "", class_table(records, corpus))
    yield "## Time of a tuning run\n"
    yield "Means over runs; the peak is that of all stages of the cells.\n"
    for corpus in records.corpora:
        yield from _table(corpus if several else "", cost_table(records, corpus))
    yield from _pictures(experiment.charts["time"], figures)
    if comparison.notes:
        yield "## What is missing\n"
        yield "".join(f"- {markdown_text(note)}\n" for note in comparison.notes)


def _table(title: str, content: Table) -> Iterator[str]:
    if title:
        yield f"### {markdown_text(title)}\n"
    yield markdown_table(*content)


def _pictures(charts: Sequence[Chart], figures: str | None) -> Iterator[str]:
    if figures is not None:
        for chart in charts:
            yield f"![{markdown_text(chart.title)}]({figures}/{chart.name}.svg)\n"
