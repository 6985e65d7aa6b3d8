"""What `dragoman tune` writes and says in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from dragoman.cli.session import Session, table
from dragoman.cli.tuning.options import TuneOptions
from dragoman.features import WeightFormat, write_weights
from dragoman.text import printable
from dragoman.tune import MethodComparison, RoundRecord, TuneRecord, describe_settings

__all__ = ["describe_round", "report", "report_comparison", "show_settings", "write_result"]


def show_settings(session: Session, methods: list[str], *, online: bool = False) -> None:
    """The settings of methods and their defaults."""
    settings = {method: describe_settings(method, online=online) for method in methods}
    rows = table("method", "setting", "default", numeric_from=3)
    for method, defaults in settings.items():
        for name, default in defaults.items():
            rows.add_row(method, name, default)
    session.show(rows)
    session.emit({"settings": settings})


def write_result(record: TuneRecord, options: TuneOptions, out: Path) -> Path:
    """The weights in the format that was asked for."""
    format_ = options.weights_format
    moses = format_ in {WeightFormat.MOSES_INI, WeightFormat.MOSES_DENSE}
    headers = {"metric": record.metric, "score": f"{100 * record.score_after:.4f}"}
    write_weights(
        record.weights,
        out,
        format_=format_,
        headers=headers if format_ is WeightFormat.TSV else None,
        dense=(options.dense or record.dense) if moses else None,
        template=options.template,
    )
    return out


def describe_round(record: RoundRecord) -> str:
    """A round in one line."""
    text = (
        f"round {record.round}: score {100 * record.score:.2f}, {record.n_new:,} new of "
        f"{record.n_candidates:,} candidates, {record.n_features:,} features, decoded in {record.wall_s:.1f} s"
    )
    return text if record.learned is None else f"{text}, learned in {record.learned.wall_s:.1f} s"


def report(session: Session, record: TuneRecord, out: Path, **more: object) -> None:
    """The result for people and, with --json, for programs."""
    for note in record.notes:
        session.say(f"note: {note}")
    before, after = 100 * record.score_before, 100 * record.score_after
    if len(record.rounds) > 1:
        session.show(f"stopped after round {len(record.rounds)}: {record.stopped}; kept round {record.best_round}")
    session.show(f"{record.metric}: {before:.2f} -> {after:.2f} ({record.cpu_s:.1f} CPU seconds); weights in {out}")
    session.emit({**_json(record), "weights": str(out), **more})


def report_comparison(
    session: Session, rows: list[MethodComparison], best: str, record: TuneRecord | None, out: Path | None
) -> None:
    """The table of methods; with -o also the result of the best one on all sentences."""
    columns = ("method", "held out", "deviation", "train", "CPU s", "note")
    lines = table(*columns)
    lines.columns[-1].justify = "left"
    for row in rows:
        if row.failure is not None:
            lines.add_row(row.method, "failed", "", "", "", Text(printable(row.failure)))
            continue
        numbers = (f"{100 * x:.2f}" for x in (row.held_out, row.deviation, row.train))
        lines.add_row(row.method, *numbers, f"{row.cpu_s:.1f}", Text(printable("; ".join(row.notes))))
    session.show(lines)
    result: dict[str, Any] = {"methods": [_comparison_json(row) for row in rows], "best": best}
    if record is not None and out is not None:
        report(session, record, out, **result)
    else:
        session.emit(result)


def _json(record: TuneRecord) -> dict[str, Any]:
    result = record.summary()
    result["rounds"] = [_round_json(entry) for entry in record.rounds]
    for name in ("score_before", "score_after"):
        result[name] *= 100
    del result["dense"]
    return result


def _round_json(record: RoundRecord) -> dict[str, Any]:
    fields = record.as_dict()
    learned = fields.pop("learned") or {}
    fields["score"] *= 100
    fields["gain"] *= 100
    return {
        **fields,
        "notes": [*fields["notes"], *learned.get("notes", ())],
        "trace": learned.get("trace", ()),
        "learn_wall_s": learned.get("wall_s"),
        "learn_cpu_s": learned.get("cpu_s"),
    }


def _comparison_json(row: MethodComparison) -> dict[str, Any]:
    if row.failure is not None:
        return {"method": row.method, "failure": row.failure}
    return {
        "method": row.method,
        "held_out": 100 * row.held_out,
        "deviation": 100 * row.deviation,
        "train": 100 * row.train,
        "folds": [100 * fold.held_out for fold in row.folds],
        "cpu_s": row.cpu_s,
        "notes": row.notes,
    }
