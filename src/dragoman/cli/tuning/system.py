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
    tuning = System.load(out).manifest.about.get("tuning", {})
    session.show(f"was finished before: {out}")
    session.emit({**tuning, "weights": str(out / "weights.tsv")})


def write_system(parent: System, seed: int, record: TuneRecord, options: TuneOptions, out: Path) -> Path:
    """The parent's tables with the weights that were found."""
    return keep_tuned(parent, out, record, method=options.method, seed=seed).file("weights")
