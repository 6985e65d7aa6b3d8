"""The report of an experiment: one self-contained page, and its figures as files."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from markupsafe import Markup

from dragoman.analysis import (
    RunComparison,
    Within,
    compare_runs,
    comparison_header,
    comparison_html,
    comparison_rows,
    legend,
    pooled_header,
    pooled_legend,
    pooled_rows,
)
from dragoman.errors import InputError
from dragoman.metric import metric_label
from dragoman.text import open_binary_output, replace_bytes
from dragoman.types import PathLike, Paths, one_or_many
from dragoman.view.drawing import fragment, label
from dragoman.view.report import captions
from dragoman.view.report.baseline import baseline_table
from dragoman.view.report.chart_svg import draw_chart
from dragoman.view.report.charts import Chart
from dragoman.view.report.choices import choice_table
from dragoman.view.report.errors import error_table
from dragoman.view.report.figures import (
    active_charts,
    candidate_charts,
    learning_charts,
    run_charts,
    time_charts,
    weight_charts,
)
from dragoman.view.report.focus import Focus, focus_of
from dragoman.view.report.gains import remarks
from dragoman.view.report.headline import headlines
from dragoman.view.report.margins import spread_table, units_table
from dragoman.view.report.published import Topic, published_table, topic_of
from dragoman.view.report.records import Records
from dragoman.view.report.results import (
    class_table,
    cost_table,
    feature_table,
    overview_table,
    score_table,
    stage_table,
)
from dragoman.view.report.samples import samples
from dragoman.view.report.sets import breakdown_table, set_table, text_table
from dragoman.view.report.sizes import size_charts
from dragoman.view.report.tables import Table
from dragoman.view.report.templating import render_page
from dragoman.view.report.training import flip_table, training_charts, update_table
from dragoman.view.report.tuning_sets import TuningSets, tuning_sets

__all__ = ["Experiment", "load_experiment", "write_figures", "write_page", "write_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Loaded and compared runs, with their figures by topic."""

    records: Records
    comparison: RunComparison
    charts: dict[str, list[Chart]]
    focus: Focus | None
    """The method that the recipe wants compared with all others; None without one."""
    errors: dict[str, Table]
    """Errors of translations by kind, by corpus; empty if TER is not reported."""
    tuning_sets: Sequence[TuningSets]
    """Methods that were tuned on several sets; empty without corpora that differ in their tuning set alone."""
    said: Sequence[str] = ()
    """What it shows, in a sentence for each corpus."""
    groups: Table | None = None
    """Groups of features that were added one after another, each tested against the one before."""
    chosen: str | None = None
    """What was chosen without the test set, and what it is worth there, in the place of the best row of a test set."""

    @property
    def title(self) -> str:
        """The titles of all recipes, for the head of the page."""
        return " · ".join(self.records.setting("title")) or "Experiment"

    def _repr_html_(self) -> str:
        """What notebooks show: what learning gained, and the comparison."""
        said = [Markup("<p>{}</p>").format(label(text)) for text in self.headlines()]
        return fragment(*said, comparison_html(self.comparison))

    def overview(self) -> Table | None:
        """All methods side by side, by system and features; None if one table of results is as short."""
        table = overview_table(self.records, self.comparison)
        return table if len(table[1]) > 1 and len(self.records.optimisers) > 1 else None

    def results(self, corpus: str) -> Table:
        """The rows of a corpus, on one test set after the other."""
        rows = [
            cells[1:]
            for row, cells in zip(self.comparison.rows, comparison_rows(self.comparison), strict=True)
            if row.key.corpus == corpus
        ]
        return comparison_header(self.comparison)[1:], rows

    def pooled(self) -> Table | None:
        """The rows that all test sets have, over all of them; None of a single test set."""
        if not self.comparison.pooled:
            return None
        return pooled_header(self.comparison), pooled_rows(self.comparison)

    def remarks(self) -> list[str]:
        """Remarks on gains on the development set that did not generalise to the test set."""
        return list(remarks(self.records, self.comparison))

    def headlines(self) -> list[str]:
        """What the page shows, in a sentence for each corpus."""
        return list(self.said) if self.chosen is None else [self.chosen]

    @property
    def has_learning(self) -> bool:
        """Whether any run recorded a round."""
        return any(cell.rounds for cells in self.records.rows.values() for cell in cells)

    def published(self, topic: str = Topic.RESULTS) -> Table:
        """What the recipes cite on a topic."""
        entries = [entry for run in self.records.runs for entry in run.entries("published")]
        unique = list({json.dumps(entry, sort_keys=True): entry for entry in entries}.values())
        return published_table([entry for entry in unique if topic_of(entry) == topic], self.comparison)


def load_experiment(runs: Paths, *, n_threads: int = 1, n_trials: int = 10_000) -> Experiment:
    """Read and compare runs with the metrics, baseline and groups of the first recipe's report settings."""
    runs = one_or_many(runs)
    records = Records(runs)
    plan = records.runs[0].table("report")
    metrics = plan.get("metrics")
    metrics = [metrics] if isinstance(metrics, str) else metrics
    baseline = plan.get("baseline")
    baseline = [baseline] if isinstance(baseline, str) else baseline
    within = plan.get("within")
    comparison = compare_runs(
        records.outputs,
        metrics=[str(name) for name in metrics] if isinstance(metrics, list) and metrics else ["bleu", "chrf", "ter"],
        baseline=_known(records, baseline) if isinstance(baseline, list) else None,
        within=Within(within) if within in list(Within) else Within.CORPUS,
        n_threads=n_threads,
        n_trials=n_trials,
    )
    charts: dict[str, list[Chart]] = {
        "learning": [*learning_charts(records)],
        "training": [*training_charts(records)],
        "sizes": [*size_charts(records, comparison.metrics[0])],
        "runs": [*run_charts(comparison, records.optimisers)],
        "weights": [*weight_charts(records)],
        "active": [*active_charts(records)],
        "candidates": [*candidate_charts(records)],
        "time": [*time_charts(records)],
    }
    focus = focus_of(records, n_trials=n_trials, n_threads=n_threads)
    errors = {
        corpus: error_table(records, comparison, corpus, n_threads=n_threads)
        for corpus in (records.corpora if "ter" in comparison.metrics else ())
    }
    sets = [*tuning_sets(records, comparison.metrics[0], n_trials=n_trials, n_threads=n_threads)]
    return Experiment(
        records=records,
        comparison=comparison,
        charts=_distinct(charts),
        focus=focus,
        errors=errors,
        tuning_sets=sets,
        said=[*headlines(records, comparison)],
    )


def _distinct(charts: dict[str, list[Chart]]) -> dict[str, list[Chart]]:
    """The same charts with unique names, even if two corpora differ only in punctuation."""
    taken: set[str] = set()
    result: dict[str, list[Chart]] = {}
    for topic, group in charts.items():
        result[topic] = []
        for chart in group:
            names = chain([chart.name], (f"{chart.name}-{number}" for number in count(2)))
            name = next(name for name in names if name.lower() not in taken)
            taken.add(name.lower())
            result[topic].append(replace(chart, name=name))
    return result


def _known(records: Records, baselines: Sequence[object]) -> list[str]:
    """The baselines that have finished cells."""
    names = {part for key in records.rows for part in (key.name, key.system, key.features, key.optimiser)}
    return [str(name) for name in baselines if name in names]


def write_report(
    runs: Paths, out: PathLike, *, svg: PathLike | None = None, n_threads: int = 1, n_trials: int = 10_000
) -> Path:
    """Write the page, and with `svg` every figure as a file into that folder."""
    experiment = load_experiment(runs, n_threads=n_threads, n_trials=n_trials)
    if svg is not None:
        write_figures(experiment, svg)
    return write_page(experiment, out)


def write_page(experiment: Experiment, out: PathLike) -> Path:
    """Write only the page, compressed according to its suffix."""
    page = Path(out)
    if not page.parent.is_dir():
        raise InputError("its folder does not exist; create it, or choose another", path=page)
    with open_binary_output(page) as stream:
        stream.write(experiment_html(experiment).encode("utf-8"))
    return page


def write_figures(experiment: Experiment, folder: PathLike, topics: Collection[str] | None = None) -> dict[str, Path]:
    """Write all figures, or those of some topics, as SVG; return their paths by name."""
    base = Path(folder)
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"is not a usable folder for figures: {error.strerror or error}", path=base) from error
    paths = {}
    for topic, charts in experiment.charts.items():
        for chart in charts if topics is None or topic in topics else ():
            paths[chart.name] = base / f"{chart.name}.svg"
            replace_bytes(paths[chart.name], str(draw_chart(chart)).encode("utf-8"))
    return paths


def experiment_html(experiment: Experiment) -> str:
    """The page as HTML text."""
    return render_page(
        "experiment.html",
        title=experiment.title,
        experiment=experiment,
        records=experiment.records,
        comparison=experiment.comparison,
        metric_label=metric_label,
        legend=legend(experiment.comparison, "Bold", "≈"),
        pooled_legend=pooled_legend(experiment.comparison),
        baseline_table=baseline_table,
        choice_table=choice_table,
        class_table=class_table,
        breakdown_table=breakdown_table,
        cost_table=cost_table,
        feature_table=feature_table,
        flip_table=flip_table,
        update_table=update_table,
        captions=captions,
        score_table=score_table,
        set_table=set_table,
        spread_table=spread_table,
        units_table=units_table,
        stage_table=stage_table,
        text_table=text_table,
        samples=samples,
        settings=lambda run: json.dumps(dict(run.settings), indent=2, ensure_ascii=False),
    )
