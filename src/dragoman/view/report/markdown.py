"""The tables and figures of an experiment as Markdown, for pages under version control."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dragoman.analysis import legend, pooled_legend, primary_sentence
from dragoman.errors import InputError
from dragoman.metric import metric_label
from dragoman.text import replace_bytes
from dragoman.types import PathLike, Paths
from dragoman.view.report import captions
from dragoman.view.report.baseline import baseline_table
from dragoman.view.report.charts import Chart
from dragoman.view.report.choices import choice_table
from dragoman.view.report.comparison import markdown_table, markdown_text
from dragoman.view.report.experiment import Experiment, load_experiment, write_figures
from dragoman.view.report.margins import spread_table, units_table
from dragoman.view.report.published import Topic
from dragoman.view.report.records import Records
from dragoman.view.report.results import class_table, cost_table, feature_table, score_table
from dragoman.view.report.sets import breakdown_table, set_table, text_table
from dragoman.view.report.tables import Table
from dragoman.view.report.training import flip_table, update_table

__all__ = ["markdown_tables", "write_markdown"]

_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"
_WIDTH = 120
_NOT_WRAPPED = ("|", "#", "!", "<", "- ")
_PICTURED = ("runs", "learning", "training", "sizes", "time")


def markdown_tables(runs: Paths | Experiment, *, figures: str | None = None, n_threads: int = 1) -> str:
    """Results with marks, dev and test scores, active features by class, and time by stage.

    `figures` is the folder of the SVG files relative to the page; None omits the figures.
    """
    experiment = runs if isinstance(runs, Experiment) else load_experiment(runs, n_threads=n_threads)
    return "\n".join(_wrapped([*_heading(experiment), *_tables(experiment, figures)]))


def write_markdown(runs: Paths | Experiment, out: PathLike, *, svg: PathLike | None = None, n_threads: int = 1) -> Path:
    """Write the tables, and their figures into a folder next to the page with the page's name.

    With `svg` all figures go there instead. Results are written between the lines `<!-- results -->` and `<!-- end of
    results -->`; an existing page must have them and keeps the text around them.
    """
    page = Path(out)
    if not page.parent.is_dir():
        raise InputError("its folder does not exist; create it, or choose another", path=page)
    folder = page.with_suffix("") if svg is None else Path(svg)
    if folder == page:
        raise InputError("a folder of this name is for the figures; give the page a suffix, such as .md", path=page)
    before, after = _kept(page)
    experiment = runs if isinstance(runs, Experiment) else load_experiment(runs, n_threads=n_threads)
    write_figures(experiment, folder, _PICTURED if svg is None else None)
    beside = Path(os.path.relpath(folder, page.parent)).as_posix()
    if not before:
        before, after = "\n".join(_wrapped([*_heading(experiment), f"{_BEGIN}\n"])), f"{_END}\n"
    replace_bytes(page, (before + "\n".join(_wrapped(_tables(experiment, beside))) + after).encode("utf-8"))
    return page


def _wrapped(blocks: Iterable[str]) -> Iterator[str]:
    """The blocks of a page, paragraphs among them in lines of a moderate length."""
    for block in blocks:
        text = block.rstrip("\n")
        is_paragraph = "\n" not in text and not text.startswith(_NOT_WRAPPED)
        lines = textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) if is_paragraph else text
        yield lines + block[len(text) :]


def _kept(page: Path) -> tuple[str, str]:
    """The text of a page before and after the results; empty if the page does not exist."""
    if not page.exists():
        return "", ""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=page) from error
    lines = text.splitlines(keepends=True)
    begins, ends = ([i for i, line in enumerate(lines) if line.strip() == mark] for mark in (_BEGIN, _END))
    if len(begins) != 1 or len(ends) != 1 or begins > ends:
        raise InputError(
            f"expected the line {_BEGIN} once and below it {_END} once; fix the page, or choose another", path=page
        )
    return "".join(lines[: begins[0] + 1]), "".join(lines[ends[0] :])


def _heading(experiment: Experiment) -> Iterator[str]:
    yield f"# {markdown_text(experiment.title)}\n"
    for key in ("citation", "expected"):
        for text in experiment.records.setting(key):
            yield f"{markdown_text(text)}\n"


def _tables(experiment: Experiment, figures: str | None) -> Iterator[str]:
    records, comparison = experiment.records, experiment.comparison
    several = len(records.corpora) > 1
    yield "## Results\n"
    yield from (f"{markdown_text(remark)}\n" for remark in experiment.remarks())
    overview = experiment.overview()
    if overview is not None:
        yield f"{metric_label(comparison.metrics[0])} on the test set:\n"
        yield from _table("", overview)
    for corpus in records.corpora:
        yield from _table(corpus if several else "", experiment.results(corpus))
    yield markdown_text(legend(comparison, "BOLD", "≈")).replace("BOLD", "**Bold**") + "\n"
    yield from (f"{markdown_text(primary_sentence(comparison, result))}\n" for result in comparison.primary)
    pooled = experiment.pooled()
    if pooled is not None:
        yield from _table("All test sets together" if several else "", pooled)
        yield f"{markdown_text(pooled_legend(comparison))}\n"
    yield from _pictures(experiment.charts["runs"], figures)
    yield from _texts(records)
    yield from _baseline(experiment)
    yield from _choices(experiment)
    yield from _tuning_sets(experiment)
    yield from _focus(experiment)
    yield from _sets(experiment)
    yield "## Dev and test\n"
    yield (
        "Means over runs; "
        + ("dev and active features are those" if records.has_sparse else "dev is that")
        + f" {captions.KEPT}\n"
    )
    for corpus in records.corpora:
        yield from _table(corpus if several else "", score_table(records, corpus))
    if figures is not None and experiment.charts["learning"]:
        yield f"{captions.LEARNING}\n"
    yield from _pictures(experiment.charts["learning"], figures)
    yield from _training(experiment, figures)
    if figures is not None and experiment.charts["sizes"]:
        yield "## Tuning sentences\n"
        yield f"{captions.SIZES}\n"
    yield from _pictures(experiment.charts["sizes"], figures)
    spread = spread_table(records)
    if spread[1]:
        yield "## Spread of model scores\n"
        yield f"{markdown_text(captions.SPREAD)}\n"
        yield from _table("", spread)
        yield from _published(experiment, Topic.SPREAD)
        if units_table(records)[1]:
            yield f"{captions.UNITS}\n"
            yield from _table("", units_table(records))
    if records.has_sparse:
        yield "## Active features\n"
        yield f"{captions.POSSIBLE}\n"
        yield from _table("", feature_table(records))
        yield from _published(experiment, Topic.FEATURES)
        yield "## Active features by class\n"
        yield "Means over runs, at the best round; the class of a feature is the part of its name before the colon.\n"
        for corpus in records.corpora:
            yield from _table(corpus if several else "", class_table(records, corpus))
    if experiment.errors:
        yield "## Errors by kind\n"
        yield f"{captions.ERRORS}\n"
    for corpus, errors in experiment.errors.items():
        yield from _table(corpus if several else "", errors)
    yield "## Time of a tuning run\n"
    yield "Means over runs; the peak is that of all stages of the cells.\n"
    for corpus in records.corpora:
        yield from _table(corpus if several else "", cost_table(records, corpus))
    yield from _pictures(experiment.charts["time"], figures)
    if experiment.published()[1]:
        yield "## Published\n"
        yield from _table("", experiment.published())
    if comparison.notes:
        yield "## What is missing\n"
        yield "".join(f"- {markdown_text(note)}\n" for note in comparison.notes)


def _texts(records: Records) -> Iterator[str]:
    """Sizes of the texts, where they were recorded."""
    table = text_table(records)
    if table[1]:
        yield "## Corpora\n"
        yield f"{captions.TEXTS}\n"
        yield from _table("", table)


def _baseline(experiment: Experiment) -> Iterator[str]:
    """All methods beside the baseline, by corpus."""
    records, comparison = experiment.records, experiment.comparison
    if comparison.baseline is not None:
        yield f"## Against {markdown_text(comparison.baseline)}\n"
        yield f"{markdown_text(captions.BASELINE)}\n"
    for corpus in records.corpora:
        table = baseline_table(records, comparison, corpus)
        if table is not None:
            yield from _table(corpus if len(records.corpora) > 1 else "", table)


def _choices(experiment: Experiment) -> Iterator[str]:
    """Choices from fixed lists, where there are any."""
    records = experiment.records
    tables = {corpus: choice_table(records, corpus) for corpus in records.corpora}
    if any(tables.values()):
        yield "## Choices from lists\n"
        yield f"{captions.CHOICES}\n"
    for corpus, table in tables.items():
        if table is not None:
            yield from _table(corpus if len(records.corpora) > 1 else "", table)


def _tuning_sets(experiment: Experiment) -> Iterator[str]:
    """Tuning sets against test sets."""
    if experiment.tuning_sets:
        yield "## Tuning sets\n"
        yield f"{captions.TUNING_SETS}\n"
    for sets in experiment.tuning_sets:
        yield from _table(sets.title, sets.scores())
        if sets.compared:
            yield f"{captions.PAIRS}\n"
            yield from _table("", sets.pairs())


def _training(experiment: Experiment, figures: str | None) -> Iterator[str]:
    """Learning from the training text: curves over its sentences, and updates of held-out line search."""
    records = experiment.records
    if figures is not None and experiment.charts["training"]:
        yield "## Learning from the training text\n"
        yield f"{captions.TRAINING}\n"
    yield from _pictures(experiment.charts["training"], figures)
    updates, flips = update_table(records), flip_table(records)
    if updates[1]:
        yield "## Updates of held-out line search\n"
        yield f"{captions.UPDATES}\n"
        yield from _table("", updates)
    if flips[1]:
        yield f"{captions.FLIPS}\n"
        yield from _table("", flips)


def _focus(experiment: Experiment) -> Iterator[str]:
    """Gains of the method in the focus."""
    focus = experiment.focus
    if focus is not None:
        yield f"## Gains of {markdown_text(focus.name)}\n"
        yield f"{markdown_text(captions.FOCUS)}\n"
        yield from _table("", focus.gains())
        yield from _published(experiment, Topic.GAINS)
        yield "Test sets on which it is significantly better or worse than the best other method:\n"
        yield from _table("", focus.counts())
        yield from _table("", focus.verdicts())


def _sets(experiment: Experiment) -> Iterator[str]:
    """Tuning and test sets of every corpus that recorded them."""
    records = experiment.records
    found = [
        (corpus, table)
        for corpus in records.corpora
        if (table := set_table(records, experiment.comparison, corpus)) is not None
    ]
    if found:
        yield "## Tuning and test sets\n"
        yield f"{captions.SETS}\n"
    for corpus, table in found:
        yield from _table(corpus if len(records.corpora) > 1 else "", table)
    for corpus, _ in found:
        table = breakdown_table(records, corpus)
        if table is not None:
            of_corpus = f" of {markdown_text(corpus)}" if len(records.corpora) > 1 else ""
            yield f"Precisions of BLEU, brevity penalty and length ratio{of_corpus}:\n"
            yield from _table("", table)


def _published(experiment: Experiment, topic: Topic) -> Iterator[str]:
    """Published figures on the topic of a section."""
    table = experiment.published(topic)
    if table[1]:
        yield "Published:\n"
        yield from _table("", table)


def _table(title: str, content: Table) -> Iterator[str]:
    if title:
        yield f"### {markdown_text(title)}\n"
    yield markdown_table(*content)


def _pictures(charts: Sequence[Chart], figures: str | None) -> Iterator[str]:
    if figures is not None:
        for chart in charts:
            title = markdown_text(chart.title)
            yield f"![{title}]({figures}/{chart.name}.svg)\n\n*{title}*\n"
