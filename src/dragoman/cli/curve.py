"""`dragoman curve`: the score of a system as a function of single weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dragoman.analysis.curves import CurveConfig, WeightCurve, system_curves
from dragoman.cli.declared import takes
from dragoman.cli.scoring import Lowercase, Tokenize, warn_of_empty_references
from dragoman.cli.search_weights import read_search_weights
from dragoman.cli.session import Json, Quiet, Session, Threads, check_inputs, check_outputs, table
from dragoman.cost import cpu_seconds
from dragoman.errors import InputError
from dragoman.metric import Tokenizer, metric_label
from dragoman.settings import Record
from dragoman.system import Preset, System
from dragoman.text import open_output, printable, read_lines, replace_bytes

__all__ = ["curve"]

_DEFAULTS = CurveConfig()
_features, _range, _search, _metric, _result = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Features", "Range", "Search", "Metric", "Result")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(Record):
    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system.")]
    source: Annotated[str, typer.Option(metavar="FILE", help="Source sentences, one per line.")]
    reference: Annotated[
        list[str], typer.Option("--reference", "-r", metavar="FILE", help="References; repeat for several.")
    ]
    feature: Annotated[
        list[str] | None, _features(metavar="NAME", help="Vary the weight of this feature, dense or sparse; repeat.")
    ] = None
    frequent: Annotated[
        int, _features(min=0, metavar="N", help="N sparse features in which the most candidate lists differ.")
    ] = 0
    rare: Annotated[
        int, _features(min=0, metavar="N", help="N sparse features in which the fewest candidate lists differ.")
    ] = 0
    features: Annotated[
        list[str] | None,
        _features(
            metavar="NAME",
            help="Sparse features, a set such as hols_sparse or a template; repeat. Those of the system unless given.",
        ),
    ] = None
    from_: Annotated[
        float | None,
        _range(
            "--from",
            metavar="A",
            help="The least weight; unless given, the range is centred at the present weight and as wide as it takes "
            "to outweigh every dense feature.",
        ),
    ] = None
    to: Annotated[float | None, _range("--to", metavar="B", help="The greatest weight.")] = None
    k: Annotated[int, _search("--k", "-k", metavar="N", help="Candidates of a sentence and decoding.")] = _DEFAULTS.k
    rounds: Annotated[int, _search(min=0, metavar="N", help="Rounds that widen the lists, by two decodings each.")] = (
        _DEFAULTS.n_rounds
    )
    check: Annotated[
        int,
        _search(min=0, metavar="M", help="Compare with decoding at M weights: the best, the ends, and evenly between."),
    ] = 0
    weights: Annotated[
        list[str] | None, _search(metavar="FILE", help="Other weights than the system's; repeat to unite files.")
    ] = None
    raw: Annotated[
        bool | None,
        _search(
            "--raw/--tokenized",
            help="Whether source and references are raw or tokens; what the system was trained on unless given.",
        ),
    ] = None
    languages: Annotated[
        str | None, _search(metavar="SRC-TGT", help="With --raw: codes such as de-en that training lacked.")
    ] = None
    without_fold: Annotated[
        int | None, _search(min=0, metavar="N", help="As if this fold had not been in the training.")
    ] = None
    fast: Annotated[bool, _search("--fast", help="Less search.")] = False
    accurate: Annotated[bool, _search("--accurate", help="More search.")] = False
    metric: Annotated[
        str,
        _metric("--metric", "-m", metavar="NAME", help="bleu, chrf, chrf++, ter, wer, ribes, or a mix: (ter-bleu)/2."),
    ] = "bleu"
    tokenize: Tokenize = Tokenizer.NONE
    lowercase: Lowercase = False
    out: Annotated[
        list[Path] | None,
        _result("--out", "-o", metavar="FILE", help="Picture (.svg), page (.html) or intervals (.tsv, .json); repeat."),
    ] = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False

    def config(self) -> CurveConfig:
        """What was chosen. Raises InputError for what cannot be."""
        if self.fast and self.accurate:
            raise InputError("choose one of --fast and --accurate")
        if not self.feature and not self.frequent + self.rare:
            raise InputError("which weight? Name a feature with --feature, or ask for --frequent N and --rare N")
        return CurveConfig(
            low=self.from_,
            high=self.to,
            k=self.k,
            n_rounds=self.rounds,
            n_checks=self.check,
            n_frequent=self.frequent,
            n_rare=self.rare,
            metric=self.metric,
            tokenizer=self.tokenize,
            lowercase=self.lowercase,
            features=None if self.features is None else tuple(self.features),
            preset=Preset.FAST if self.fast else Preset.ACCURATE if self.accurate else Preset.DEFAULT,
            fold=self.without_fold,
        )


@takes(_Options)
def curve(options: _Options) -> None:
    """Draw the score of a system as a function of single weights, exactly, with all others fixed.

    The score is that of the best candidates in k-best lists, which are widened by decoding at weights along the
    range; between the corners of the curve it is constant. --check decodes anew and says how far the curve is off.

    Examples: dragoman curve system --source dev.de -r dev.en --feature lm -o lm.svg

    dragoman curve system --source dev.de -r dev.en --feature words --from -1 --to 2 --check 9 -o w.html -o w.tsv

    dragoman curve tuned --source dev.de -r dev.en --features hols_sparse --frequent 4 --rare 4 --check 5 -o rules.svg
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    config = options.config()
    outputs = options.out or []
    writers = [_writer(path) for path in outputs]
    inputs = [options.source, *options.reference, *(options.weights or [])]
    check_inputs(*inputs)
    for path in outputs:
        check_outputs(inputs, out=path)
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise InputError("-o names a file twice; give different files")
    for name in options.reference:
        if name != "-":
            warn_of_empty_references(session.warn, name, list(read_lines(name)))
    system = System.load(options.folder)
    if options.languages is not None:
        if not options.raw:
            raise InputError("--languages is for raw text and a system of tokens; add --raw, or leave it out")
        system = system.with_languages(options.languages)
    cpu, wall = cpu_seconds(), time.monotonic()
    found = system_curves(
        system,
        options.source,
        options.reference,
        options.feature or (),
        config=config,
        weights=read_search_weights(options.weights, system) if options.weights else None,
        raw=options.raw,
        n_threads=session.n_threads,
        shown=session.progress,
    )
    for path, write in zip(outputs, writers, strict=True):
        write(path, found)
        session.say(f"-> {path}")
    _show(session, found)
    cost = {"wall_s": time.monotonic() - wall, "cpu_s": cpu_seconds() - cpu}
    session.emit({**_record(found), "outputs": [str(path) for path in outputs], **cost})


_Writer = Callable[[Path, Sequence[WeightCurve]], None]


def _writer(path: Path) -> _Writer:
    """How to write a file of this name."""
    name = path.with_suffix("") if path.suffix in {".gz", ".xz", ".zst"} else path
    if name.suffix in {".tsv", ".json"}:
        return _write_tsv if name.suffix == ".tsv" else _write_json
    if path.suffix in {".svg", ".html"}:
        return _write_svg if path.suffix == ".svg" else _write_html
    raise InputError(f"-o {path}: the name says what to write; expected .svg, .html, .tsv or .json")


def _write_svg(path: Path, curves: Sequence[WeightCurve]) -> None:
    from dragoman.view.report import draw_chart
    from dragoman.view.report.curves import curve_chart

    replace_bytes(path, str(draw_chart(curve_chart(curves))).encode("utf-8"))


def _write_html(path: Path, curves: Sequence[WeightCurve]) -> None:
    from dragoman.view.report.curves import write_curve_page

    n_decoded = sum(len(curve.decoded) + len(curve.checks) for curve in curves)
    write_curve_page(path, curves, f"{len(curves)} weights, one at a time; {n_decoded} decodings")


def _write_tsv(path: Path, curves: Sequence[WeightCurve]) -> None:
    """A line for every interval: feature, ends, score in points."""
    with open_output(path) as writer:
        writer.write("feature\tfrom\tto\tscore")
        for found in curves:
            for part in found.curve.stretches():
                score = found.curve.metric.points(part.score)
                writer.write(f"{found.feature}\t{part.low!r}\t{part.high!r}\t{score!r}")


def _write_json(path: Path, curves: Sequence[WeightCurve]) -> None:
    record = _record(curves)
    for entry, found in zip(record["curves"], curves, strict=True):
        points = found.curve.metric.points
        entry["intervals"] = [[part.low, part.high, points(part.score)] for part in found.curve.stretches()]
    Session().write_json(path, record)


def _record(curves: Sequence[WeightCurve]) -> dict[str, Any]:
    metric = curves[0].curve.metric
    return {
        "metric": metric.name,
        "higher_is_better": metric.higher_is_better,
        "curves": [_entry(found) for found in curves],
        "deviation": max((entry for entry in map(_deviation, curves) if entry is not None), default=None),
    }


def _entry(found: WeightCurve) -> dict[str, Any]:
    curve, points = found.curve, found.curve.metric.points
    best = curve.best()
    return {
        "feature": found.feature,
        "chosen_as": found.frequency.value,
        "weight": found.weight,
        "score": points(found.score),
        "n_lists": found.n_lists,
        "n_sentences": found.n_sentences,
        "from": curve.low,
        "to": curve.high,
        "n_intervals": len(curve.scores),
        "lowest": points(float(curve.scores.min())),
        "highest": points(float(curve.scores.max())),
        "range": points(curve.span()),
        "best": {"from": best.low, "to": best.high, "score": points(best.score)},
        "gain": points(found.gain()),
        "decoded_at": list(found.decoded),
        "checks": [
            {"weight": check.weight, "decoded": points(check.decoded), "curve": points(check.curve)}
            for check in found.checks
        ],
        "deviation": _deviation(found),
    }


def _deviation(found: WeightCurve) -> float | None:
    deviation = found.deviation()
    return None if deviation is None else found.curve.metric.points(deviation)


def _show(session: Session, curves: Sequence[WeightCurve]) -> None:
    metric = curves[0].curve.metric
    checked = any(found.checks for found in curves)
    label = f"{metric_label(metric.name)}{'' if metric.higher_is_better else ' ↓'}"
    rows = table("feature", "lists", "weight", label, "range", "best at", "gain", *(["check"] if checked else []))
    for found in curves:
        curve, best = found.curve, found.curve.best()
        cells = [f"{found.n_lists:,}", f"{found.weight:.4g}", f"{metric.shown(found.score)}"]
        cells += [f"{metric.points(curve.span()):.4f}", f"{best.low:.4g} … {best.high:.4g}"]
        cells += [f"{metric.points(found.gain()):+.4f}"]
        cells += [f"±{metric.points(found.deviation() or 0.0):.4f}"] if checked else []
        rows.add_row(Text(printable(found.feature)), *cells)
    session.show(rows)
    if checked:
        n = sum(len(found.checks) for found in curves)
        deviation = max(found.deviation() or 0.0 for found in curves)
        session.show(f"{n} checks by decoding, {metric.points(deviation):.4f} from the curve at most")
