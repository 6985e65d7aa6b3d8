"""`dragoman tune --system`: the outer loop around one of our own systems."""

from __future__ import annotations

from pathlib import Path

from dragoman.cli.session import Session
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.system import System
from dragoman.tune import RoundRecord, Step, TuneConfig, tune_system

__all__ = ["run_system"]


def run_system(
    session: Session,
    folder: Path,
    source: str | None,
    references: list[str] | None,
    out: Path,
    *,
    config: TuneConfig,
    weights: str | None,
    resume: bool,
) -> None:
    """Tune a system, say what happens round by round, and report."""
    if source is None or not references:
        raise InputError("a system is tuned on a development set: name it with --source and -r")

    def on_step(number: int, step: Step) -> None:
        if step is Step.LEARN:
            session.say(f"round {number}: learning with {config.method}")

    def on_round(record: RoundRecord) -> None:
        seconds = record.wall_s + (record.learned.wall_s if record.learned else 0.0)
        session.say(
            f"round {record.round}: dev {100 * record.score:.2f}, {record.n_candidates:,} candidates "
            f"({record.n_new:,} new), {record.n_features:,} features, {seconds:.1f} s"
        )

    tuned = tune_system(
        folder,
        source,
        references,
        out,
        config=config,
        weights=None if weights is None else read_weights(weights),
        seed=session.seed,
        resume=resume,
        n_threads=session.threads,
        on_step=on_step,
        on_round=on_round,
    )
    _report(session, tuned)


def _report(session: Session, tuned: System) -> None:
    tuning = tuned.manifest.about["tuning"]
    for note in tuning["notes"]:
        session.say(f"note: {note}")
    before, after = 100 * tuning["score_before"], 100 * tuning["score_after"]
    session.say(f"stopped: {tuning['stopped']}; the weights are those of round {tuning['best_round']}")
    session.show(f"{tuning['metric']}: {before:.2f} -> {after:.2f} ({tuning['cpu_s']:.1f} CPU seconds); {tuned.folder}")
    rounds = [{**entry, "score": 100 * entry["score"]} for entry in tuning["rounds"]]
    session.emit(
        {
            **tuning,
            "score_before": before,
            "score_after": after,
            "rounds": rounds,
            "system": str(tuned.folder),
            "weights": str(tuned.folder / "weights.tsv"),
        }
    )
