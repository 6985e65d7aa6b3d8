"""What `dragoman tune` writes and says in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.text import Text

from dragoman.analysis.resampling import MethodComparison
from dragoman.candidates import Objective
from dragoman.cli.session import Session, table
from dragoman.cli.tuning.options import TuneOptions
from dragoman.cli.tuning.trust import describe_tests, tested_json
from dragoman.features import WeightFormat, write_weights
from dragoman.run import Kept
from dragoman.text import printable
from dragoman.tuning import EASILY, TuneRecord

if TYPE_CHECKING:
    from dragoman.analysis.resampling.held_out import HeldOutTest

__all__ = ["report", "report_comparison", "write_result"]


def write_result(record: TuneRecord, objective: Objective, options: TuneOptions, out: Path) -> Path:
    """The weights in the format that was asked for."""
    # A file by the name of weights.bin is binary.
    format_ = None if options.weights_format is WeightFormat.TSV else options.weights_format
    moses = format_ in {WeightFormat.MOSES_INI, WeightFormat.MOSES_DENSE}
    headers = {"metric": record.metric, "score": f"{objective.points(record.score_after):.4f}"}
    write_weights(
        record.weights,
        out,
        format_=format_,
        headers=headers if format_ in {None, WeightFormat.BINARY} else None,
        dense=(options.dense or record.dense) if moses else None,
        template=options.template,
    )
    return out


def report(session: Session, objective: Objective, result: Mapping[str, Any], out: Path, **more: object) -> None:
    """The result, a TuneRecord's summary, for people and, with --json, for programs."""
    alarming = result.get("warnings", ())  # older records have none
    for note in result["notes"]:
        if note not in alarming:
            session.say(f"note: {note}")
    for warning in alarming:
        session.warn(warning)
    before, after = result["score_before"], result["score_after"]
    rounds = result["rounds"]
    show = session.say if str(out) == "-" else session.show  # standard output holds the weights
    if len(rounds) > 1:
        show(f"stopped: {result['stopped']}; kept the weights of decoding {result['best_round']} of {len(rounds)}")
    cpu = f"{result['cpu_s']:.1f} CPU seconds"
    name = f"{result['metric']}{'' if result['higher_is_better'] else ' ↓'}"
    on_dev = objective.shown(before, after)
    if (lines := result.get("held_out_lines")) is None:
        show(f"{name}: {on_dev} ({cpu}); weights in {out}")
    else:
        learned = objective.shown(lines["score_before"], lines["score_after"])
        kept = "" if lines["kept"] == Kept.LEARNED else "; the start is kept"
        show(f"{name} of {lines['n_lines']:,} held-out lines: {learned}{kept} ({cpu}); weights in {out}")
        show(f"{name} of the development set: {on_dev}; {EASILY}")
    fields = {name: value for name, value in result.items() if name != "dense"}
    scores = {
        "score_before": objective.points(before),
        "score_after": objective.points(after),
        "rounds": [_round_json(entry, objective) for entry in rounds],
        **{name: [_in_points(entry, objective) for entry in result[name]] for name in ("updates", "steps")},
        "held_out_lines": None if lines is None else _in_points(lines, objective),
    }
    session.emit({**fields, **scores, "weights": str(out), **more})


def report_comparison(
    session: Session,
    objective: Objective,
    options: TuneOptions,
    rows: list[MethodComparison],
    best: str,
    record: TuneRecord | None,
    tests: Sequence[HeldOutTest] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """The table of methods; with -o also the result of the best one on all sentences."""
    columns = ("method", "held out", "deviation", "95% of all", "p", "train", "CPU s", "note")
    tested = {test.method: test for test in tests}
    lines = table(*columns)
    lines.columns[-1].justify = "left"
    for row in rows:
        if row.failure is not None:
            lines.add_row(row.method, "failed", "", "", "", "", "", Text(printable(row.failure)))
            continue
        test = tested.get(row.method)
        interval = "" if test is None else f"{objective.shown(test.interval.low)}–{objective.shown(test.interval.high)}"
        lines.add_row(
            row.method,
            objective.shown(row.held_out),
            objective.shown(row.deviation),
            interval,
            "" if test is None or test.p_best is None else f"{test.p_best:.3f}",
            objective.shown(row.train),
            f"{row.cpu_s:.1f}",
            Text(printable("; ".join(row.notes))),
        )
    session.show(lines)
    said, warnings = describe_tests(objective, rows, tests, best)
    for sentence in said:
        session.show(sentence)
    for warning in warnings:
        session.warn(warning)
    result: dict[str, Any] = {
        "methods": [_comparison_json(row, objective, tested.get(row.method)) for row in rows],
        "best": best,
        "warnings": warnings,
        **more,
    }
    if record is not None:
        report(session, objective, record.summary(), options.target(), **result)
    else:
        session.emit(result)


def _round_json(entry: Mapping[str, Any], objective: Objective) -> dict[str, Any]:
    learned = entry["learned"] or {}
    return {
        **{name: value for name, value in entry.items() if name != "learned"},
        "score": objective.points(entry["score"]),
        "gain": objective.points(entry["gain"]),
        "reranked": None if entry["reranked"] is None else objective.points(entry["reranked"]),
        "notes": [*entry["notes"], *learned.get("notes", ())],
        "trace": learned.get("trace", ()),
        "learn_wall_s": learned.get("wall_s"),
        "learn_cpu_s": learned.get("cpu_s"),
    }


def _in_points(entry: Mapping[str, Any], objective: Objective) -> dict[str, Any]:
    """An update or a step of held-out line search, or what held-out lines say."""
    return {**entry, **{name: objective.points(entry[name]) for name in ("score_before", "score_after")}}


def _comparison_json(row: MethodComparison, objective: Objective, test: HeldOutTest | None) -> dict[str, Any]:
    if row.failure is not None:
        return {"method": row.method, "failure": row.failure}
    return {
        "method": row.method,
        "held_out": objective.points(row.held_out),
        "deviation": objective.points(row.deviation),
        "train": objective.points(row.train),
        "folds": [objective.points(fold.held_out) for fold in row.folds],
        "cpu_s": row.cpu_s,
        "notes": row.notes,
        "test": None if test is None else tested_json(objective, test),
    }
