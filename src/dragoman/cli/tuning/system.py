"""What `dragoman tune --system` leaves behind: a tuned system."""

from __future__ import annotations

from pathlib import Path

from dragoman.cli.session import Session
from dragoman.cli.tuning.options import TuneOptions
from dragoman.errors import InputError
from dragoman.system import System
from dragoman.system.manifest import MANIFEST
from dragoman.tune import TuneRecord, keep_tuned

__all__ = ["holds_system", "report_finished", "write_system"]


def holds_system(out: Path) -> bool:
    """Whether the tuning is done, or something else is in the way."""
    return (out / MANIFEST).exists()


def report_finished(session: Session, out: Path, resume: bool) -> None:
    """What a finished tuning did; without --resume, an InputError."""
    if not resume:
        raise InputError("holds a system already; remove it or choose another folder", path=out)
    system = System.load(out)
    tuning = dict(system.manifest.about.get("tuning", {}))
    if not tuning:
        raise InputError("holds a system that was not made by tuning; choose another folder", path=out)
    before, after = (100 * tuning[name] for name in ("score_before", "score_after"))
    session.show(
        f"was finished before: {tuning['metric']}: {before:.2f} -> {after:.2f}; weights in {system.file('weights')}"
    )
    rounds = [{**entry, "score": 100 * entry["score"], "gain": 100 * entry["gain"]} for entry in tuning["rounds"]]
    finished = {"score_before": before, "score_after": after, "rounds": rounds, "weights": str(system.file("weights"))}
    session.emit(tuning | finished)


def write_system(parent: System, seed: int, record: TuneRecord, options: TuneOptions, out: Path) -> Path:
    """The parent's tables with the weights that were found."""
    return keep_tuned(parent, out, record, method=options.method, seed=seed).file("weights")
