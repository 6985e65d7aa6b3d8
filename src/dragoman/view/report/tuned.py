"""The page of a tuned system: what tuning did to scores, weights and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dragoman.analysis import Mark, Shown, SystemOutput, SystemScore, compare_systems, is_significant
from dragoman.errors import InputError, naming
from dragoman.features import Weights, read_weights
from dragoman.files.store import read_json, unseal
from dragoman.metric import Tokenizer, metric_label, recorded_metric
from dragoman.system import Preset, System
from dragoman.system.manifest import MANIFEST
from dragoman.text import open_binary_output, read_lines
from dragoman.tuning import DEVELOPMENT, RESULT, TEST, TUNE_RECORD, BeforeAfter, raw_tokenizer
from dragoman.tuning.notes import by_round
from dragoman.tuning.rounds import recorded_weights
from dragoman.types import PathLike, Paths, one_or_many
from dragoman.view.drawing import contribution_bar, feature_name, fragment, label, table
from dragoman.view.report.charts import Dash, Line, LineChart
from dragoman.view.report.figures import UNKNOWN, scaled_weights
from dragoman.view.report.samples import Name, Sample, ShownDerivation, make_samples, sentence_scores, shown_derivation
from dragoman.view.report.tables import Table, signed, words
from dragoman.view.report.templating import render_page

__all__ = ["TestFiles", "is_tuned", "load_tuned", "write_tuned_page"]

_METRICS = ("bleu", "chrf", "ter")
N_WEIGHTS = 24
"""Number of features shown: those whose weights changed most."""
N_EXPLAINED = 8
"""Number of sentences whose derivations are drawn: those that changed most."""
_BEFORE, _AFTER = Name(main="before"), Name(main="after")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFiles:
    """A test set to translate for the page."""

    __test__ = False

    source: PathLike
    references: Paths


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChange:
    """A weight before and after, both scaled; the change as a bar."""

    name: str
    before: float
    after: float
    bar: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class SetChange:
    """A set of sentences before and after tuning."""

    name: str
    """`test set` or `development set`."""
    is_learned_from: bool
    pair: BeforeAfter
    scores: tuple[SystemScore, SystemScore]
    explained: Mapping[Name, Mapping[int, ShownDerivation]]

    @property
    def n_changed(self) -> int:
        """Sentences that are translated otherwise."""
        return sum(a != b for a, b in zip(self.pair.before, self.pair.after, strict=True))

    def table(self) -> Table:
        """Both rows by every metric, with p-values and marks."""
        header = [*words("weights")]
        before, after = self.scores
        rows: list[list[Shown]] = [words("before"), words("after"), words("change")]
        for one, other in zip(before.scores, after.scores, strict=True):
            metric = recorded_metric(one.metric)
            header += map(Shown, [metric_label(one.metric) + ("" if metric.higher_is_better else "↓"), "p"])
            gain = (other.score - one.score) * (1 if metric.higher_is_better else -1)
            p_value = other.p_randomisation
            same = not is_significant(p_value)
            marks = [Mark.BEST if gain < 0 else Mark.WORSE, Mark.BEST if gain > 0 else Mark.WORSE]
            if same:
                marks = [Mark.NOT_WORSE if mark is Mark.WORSE else mark for mark in marks]
            rows[0] += [Shown(f"{100 * one.score:.2f}", mark=marks[0]), Shown("")]
            rows[1] += [
                Shown(f"{100 * other.score:.2f}", mark=marks[1]),
                Shown("" if p_value is None else f"{p_value:.4f}"),
            ]
            rows[2] += [Shown(signed(100 * (other.score - one.score))), Shown("")]
        header.append(Shown("length"))
        rows[0].append(Shown(f"{before.length_ratio:.3f}"))
        rows[1].append(Shown(f"{after.length_ratio:.3f}"))
        rows[2].append(Shown(signed(after.length_ratio - before.length_ratio, 3)))
        return header, rows

    def said(self, metric: str) -> str:
        """What happened to the set by a metric, in a sentence."""
        index = next((i for i, score in enumerate(self.scores[0].scores) if score.metric == metric), 0)
        before, after = (system.scores[index] for system in self.scores)
        shown, sense = metric_label(before.metric), 1 if recorded_metric(before.metric).higher_is_better else -1
        gain = sense * 100 * (after.score - before.score)
        p_value = after.p_randomisation
        if not self.n_changed:
            return f"On the {self.name} no translation changed: {shown} is {100 * after.score:.2f} before and after."
        verdict = "better" if gain > 0 else "worse" if gain < 0 else "the same"
        sure = "" if p_value is None else f" (p = {p_value:.4f})"
        real = "" if p_value is None or is_significant(p_value) else ", which may be chance"
        return (
            f"On the {self.name}, {shown} went from {100 * before.score:.2f} to {100 * after.score:.2f}: "
            f"{abs(gain):.2f} points {verdict}{sure}{real}."
        )

    def samples(self) -> list[Sample]:
        """Sentences, those that changed most first."""
        systems = {_BEFORE: self.pair.before, _AFTER: self.pair.after}
        found = make_samples(self.pair.source, self.pair.references, systems, self.explained)
        found = [replace(sample, change=(_score(sample, _BEFORE), _score(sample, _AFTER))) for sample in found]
        return sorted(found, key=lambda sample: (sample.worst - sample.best, sample.number))


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedReport:
    """All that the page shows."""

    name: str
    result: Mapping[str, Any]
    settings: Mapping[str, Any]
    method: str
    sets: Sequence[SetChange]
    weights: Sequence[WeightChange]
    n_changed: int
    chart: LineChart | None
    notes: Sequence[str]

    def _repr_html_(self) -> str:
        """What notebooks show: scores before and after, and the weights that changed most."""
        said = [Markup("<p>{}</p>").format(label(text)) for text in self.headlines]
        scores = [
            table([cell.text for cell in header], ([cell.text for cell in row] for row in rows), caption=one.name)
            for one in self.sets
            for header, rows in (one.table(),)
        ]
        changes = [
            [feature_name(change.name), change.before, change.after, change.after - change.before, change.bar]
            for change in self.weights
        ]
        weights = table(["feature", "before", "after", "change", ""], changes)
        return fragment(*said, *scores, weights)

    @property
    def headlines(self) -> list[str]:
        """A sentence for every set."""
        return [one.said(str(self.result["metric"])) for one in self.sets]


def is_tuned(folder: PathLike) -> bool:
    """Whether a folder is a tuned system, as opposed to a run of a recipe."""
    base = Path(folder)
    return (base / MANIFEST).exists() and (base / TUNE_RECORD / RESULT).exists()


def load_tuned(
    folder: PathLike, test: TestFiles | None = None, *, n_threads: int = 1, n_trials: int = 10_000
) -> TunedReport:
    """Read what a tuning left; with `test`, translate that set with the weights before and after.

    Raises InputError for a folder that is no tuned system and for a test set that does not fit together.
    """
    base = Path(folder)
    if not is_tuned(base):
        raise InputError("is no tuned system: it has no record of a tuning", path=base)
    run = base / TUNE_RECORD
    with naming(run / RESULT):
        result = unseal(read_json(run / RESULT, "run"), "run")
    settings = read_json(run / "run.json", "run").get("settings", {})
    system = System.load(base)
    start = _start_weights(run, settings)
    preset = Preset(settings.get("preset", Preset.DEFAULT))
    notes = by_round(str(note) for note in result.get("notes", ()))
    pairs: list[tuple[str, bool, BeforeAfter]] = []
    if test is not None:
        pairs.append(("test set", False, _translated(system, start, preset, test, n_threads=n_threads)))
    elif (stored := BeforeAfter.load(run / TEST)) is not None:
        pairs.append(("test set", False, stored))
    else:
        notes.append(
            "No test set was translated: the development set alone cannot tell what is learned from what is "
            "memorised. Name one with --test and -r."
        )
    if (stored := BeforeAfter.load(run / DEVELOPMENT)) is not None:
        pairs.append(("development set", True, stored))
    sets = [
        _change(name, pair, system, start, preset, is_tokens=tokens, n_threads=n_threads, n_trials=n_trials)
        for name, tokens, pair in pairs
    ]
    return TunedReport(
        name=base.resolve().name,
        result=result,
        settings=settings,
        method=str(settings.get("method", "")),
        sets=sets,
        weights=_weight_changes(start, system.weights),
        n_changed=_n_changed(start, system.weights),
        chart=_chart(result, sets),
        notes=notes,
    )


def write_tuned_page(report: TunedReport, out: PathLike) -> Path:
    """Write the page, compressed according to its suffix."""
    page = Path(out)
    if not page.parent.is_dir():
        raise InputError("its folder does not exist; create it, or choose another", path=page)
    text = render_page("tuned.html", title=f"Tuning of {report.name}", report=report, label=metric_label)
    with open_binary_output(page) as stream:
        stream.write(text.encode("utf-8"))
    return page


def _score(sample: Sample, name: Name) -> float:
    return next(translation.score for translation in sample.translations if name in translation.names)


def _start_weights(run: Path, settings: Mapping[str, Any]) -> Weights:
    """The weights that tuning began with: those of the settings, or if they were too many those of the first round."""
    start = settings.get("start")
    if isinstance(start, dict) and "digest" not in start:
        return Weights.from_dict({str(name): float(value) for name, value in start.items()})
    return read_weights(recorded_weights(run / "rounds" / "0001"))


def _translated(system: System, start: Weights, preset: Preset, test: TestFiles, *, n_threads: int) -> BeforeAfter:
    source = list(read_lines(test.source))
    paths = one_or_many(test.references)
    references = [list(read_lines(path)) for path in paths]
    for path, lines in zip(paths, references, strict=True):
        if len(lines) != len(source):
            raise InputError(f"{test.source} has {len(source)} lines but the references have {len(lines)}", path=path)
    if not any(line.strip() for line in source):
        raise InputError("has no words to translate", path=test.source)
    before, after = (
        list(system.translate(source, weights=weights.on(system.index), preset=preset, n_threads=n_threads))
        for weights in (start, system.weights)
    )
    tokenizer = raw_tokenizer(system, references) if system.lines().is_raw else Tokenizer.NONE
    return BeforeAfter(source=source, references=references, before=before, after=after, tokenizer=tokenizer)


def _change(
    name: str,
    pair: BeforeAfter,
    system: System,
    start: Weights,
    preset: Preset,
    *,
    is_tokens: bool,
    n_threads: int,
    n_trials: int,
) -> SetChange:
    metrics = pair.metrics(_METRICS)
    outputs = [SystemOutput(name=n, runs=(list(o),)) for n, o in (("before", pair.before), ("after", pair.after))]
    first, second = compare_systems(
        outputs, pair.references, metrics, n_bootstrap=0, n_trials=n_trials, n_threads=n_threads
    )
    scores = sentence_scores([pair.before, pair.after], pair.references)
    order = abs(scores[1] - scores[0]).argsort(kind="stable")[::-1][:N_EXPLAINED].tolist()
    text = system.lines(raw=False if is_tokens else None)
    explained: dict[Name, dict[int, ShownDerivation]] = {}
    for who, weights in ((_BEFORE, start), (_AFTER, system.weights)):
        on = weights.on(system.index)
        for number in order:
            found = system.explain(text.prepare(pair.source[number]), weights=on, preset=preset)
            if found is not None:
                explained.setdefault(who, {})[number] = shown_derivation(found.to_json())
    return SetChange(name=name, is_learned_from=is_tokens, pair=pair, scores=(first, second), explained=explained)


def _weight_changes(before: Weights, after: Weights) -> list[WeightChange]:
    """Those that changed most, scaled so that vectors compare; UNKNOWN last, out of the bars' scale."""
    old, new = (scaled_weights(dict(weights.items())) for weights in (before, after))
    changed = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {*old, *new}}
    names = sorted(changed, key=lambda name: (name == UNKNOWN, -abs(changed[name]), name))
    if UNKNOWN in changed:
        names = [*names[:-1][: N_WEIGHTS - 1], UNKNOWN]
    names = names[:N_WEIGHTS]
    largest = max((abs(changed[name]) for name in names if name != UNKNOWN), default=0.0)
    return [
        WeightChange(
            name=name,
            before=old.get(name, 0.0),
            after=new.get(name, 0.0),
            bar=Markup("") if name == UNKNOWN else contribution_bar(changed[name], largest),
        )
        for name in names
    ]


def _n_changed(before: Weights, after: Weights) -> int:
    """Weights that changed, once both vectors are scaled."""
    old, new = (scaled_weights(dict(weights.items())) for weights in (before, after))
    return sum(new.get(name, 0.0) != old.get(name, 0.0) for name in {*old, *new})


def _chart(result: Mapping[str, Any], sets: Sequence[SetChange]) -> LineChart | None:
    """Scores by round, of the test set before and after; None of a tuning with a single round."""
    points = [(float(entry["round"]), 100 * float(entry["score"])) for entry in result["rounds"]]
    if len(points) < 2:
        return None
    metric = str(result["metric"])
    lines = [Line(name="development set", points=points, colour=0, dash=Dash.DASHED)]
    for one in sets:
        scores = [100 * score.score for system in one.scores for score in system.scores if score.metric == metric]
        if not one.is_learned_from and len(scores) == 2:
            ends = zip((1.0, float(result["best_round"])), scores, strict=True)
            lines.append(Line(name=f"{one.name}, before and after", points=[*ends], colour=0))
    name = metric_label(metric)
    return LineChart(name="learning", title=f"{name} by round", x_label="round", y_label=name, lines=lines)
