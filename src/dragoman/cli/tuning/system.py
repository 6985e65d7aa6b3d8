"""`dragoman tune --system`: options to the one function that tunes systems, and back to what the user sees."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.candidates import Objective
from dragoman.cli.engine_options import engine_of
from dragoman.cli.scoring import warn_of_empty_references
from dragoman.cli.session import Session
from dragoman.cli.tuning.candidates import read_start
from dragoman.cli.tuning.options import TuneOptions
from dragoman.cli.tuning.report import report
from dragoman.cli.tuning.shown import StagesShown, rounds_shown, stages_shown
from dragoman.cli.tuning.testing import check_test, compare_on_test
from dragoman.errors import InputError, naming
from dragoman.files.store import read_json, unseal
from dragoman.optim import LearnsFrom, Optimiser
from dragoman.system import Preset, System, other_kind, unknown_source, unknown_target
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.manifest import MANIFEST
from dragoman.text import read_lines
from dragoman.tuning import RESULT, TUNE_RECORD, LearnFrom, TuneConfig, tune_system
from dragoman.work.engine import LocalEngine

__all__ = ["tune_own"]

_LOOKED_AT = 2000
"""Lines whose words are looked up before tuning begins."""


def tune_own(session: Session, options: TuneOptions, optimiser: Optimiser) -> None:
    """Tune a system of ours; the folder -o becomes the tuned system."""
    assert options.system is not None
    assert options.out is not None
    if options.source is None or options.source == "-":
        raise InputError("a system is tuned on a file of source sentences; name it with --source")
    if not options.reference:
        raise InputError("no references; give at least one with -r")
    check_test(options)
    for path in options.reference:
        warn_of_empty_references(session.warn, path, list(read_lines(path)))
    finished = _manifest(options.out)
    if finished is None:
        with session.progress("verifying the system (MB)") as progress:
            System.verify(options.system, n_threads=session.n_threads, progress=progress)
    system = System.load(options.system)
    if options.languages is not None:
        if not options.raw:
            raise InputError("--languages is for raw text and a system of tokens; add --raw, or leave it out")
        system = system.with_languages(options.languages)
    if finished is None:
        _say_unknown(session, system, options)
    config = TuneConfig(
        metric=options.metric,
        tokenizer=options.tokenize,
        lowercase=options.lowercase,
        k=options.k,
        distinct=options.distinct,
        loop=options.loop_settings(),
        features=None if options.features is None else tuple(options.features),
        frozen=tuple(options.freeze or ()),
        preset=Preset.FAST if options.fast else Preset.ACCURATE if options.accurate else Preset.DEFAULT,
        fold=options.without_fold,
        learn_from=options.learns_from,
        limit=options.limit,
        phi=options.phi_settings(),
        judge_lines=TuneConfig().judge_lines if options.judge_lines is None else options.judge_lines,
    )
    by_steps = optimiser.learns_from is LearnsFrom.TRAINING_TEXT or options.learns_from is LearnFrom.LISTS
    show = stages_shown if by_steps or options.phi is not None else rounds_shown
    start = read_start(options) if options.weights else None
    with (
        _telling_how_to_go_on(session, config.objective(), options),
        engine_of(session, options.engine, options.workers, options.address, threads=options.threads) as engine,
        show(session, config.objective(), options) as shown,
    ):
        workers = None if isinstance(engine, LocalEngine) else engine
        tuned = tune_system(
            system,
            options.source,
            options.reference,
            options.out,
            optimiser=optimiser,
            config=config,
            weights=start,
            seed=session.seed,
            resume=options.resume,
            phi=options.phi,
            pairs=_pairs(system, options),
            raw=options.raw,
            n_threads=session.n_threads,
            engine=workers,
            progress=shown.progress if isinstance(shown, StagesShown) else None,
            say=session.say,
            on_stage=shown.on_stage if isinstance(shown, StagesShown) else None,
            on_step=shown.on_step,
            on_round=shown.on_round,
        )
    if finished is not None and _manifest(options.out) == finished:
        session.show("was finished before")
    more = {}
    if options.test is not None:
        more["test"] = compare_on_test(session, options, tuned, start or system.weights, config.preset)
    report(session, config.objective(), _result(options.out), tuned.file("weights"), **more)


def _pairs(system: System, options: TuneOptions) -> AlignedPairs | None:
    """What is learned from instead of the training text."""
    source, target, align = options.text_files()
    if source is None or target is None or align is None:
        return None
    return AlignedPairs.read(system, source, target, align)


def _say_unknown(session: Session, system: System, options: TuneOptions) -> None:
    """Tell what share of the development set the system does not know, and warn where that is much."""
    assert options.source is not None
    text = system.lines(raw=options.raw)
    for path in (options.source, *(options.reference or ())):
        lines = list(islice(read_lines(path), _LOOKED_AT))
        found = (unknown_source if path == options.source else unknown_target)(system, lines, text)
        if path == options.source:
            session.say(f"{100 * found.share:.1f} % of the source words are unknown to the system")
        if found.many:
            session.warn(found.warning(path))
        elif (kind := other_kind(lines, text)) is not None:
            session.warn(f"{path}: {kind}")


@contextlib.contextmanager
def _telling_how_to_go_on(session: Session, objective: Objective, options: TuneOptions) -> Iterator[None]:
    """Say what an interrupted tuning keeps."""
    try:
        yield
    except KeyboardInterrupt:
        assert options.out is not None
        gains = {}
        for path in sorted((options.out / TUNE_RECORD / "rounds").glob("*/round.json")):
            entry = read_json(path, "run")
            gains[int(entry["round"])] = float(entry["gain"]), float(entry["score"]), path.parent
        if not gains:
            session.say(f"interrupted in the first round; go on with --resume, or remove {options.out}")
            raise
        best = max(gains, key=lambda number: gains[number][0])
        session.say(
            f"interrupted; the best of {len(gains)} rounds is {best} ({objective.shown(gains[best][1])}), with its "
            f"weights in {gains[best][2]}. Go on with --resume"
            + (f", or end with the best round: --resume --rounds {len(gains) - 1}" if len(gains) > 1 else "")
        )
        raise


def _manifest(out: Path) -> bytes | None:
    """What the system in a folder says of itself; None if there is none."""
    path = out / MANIFEST
    return path.read_bytes() if path.exists() else None


def _result(out: Path) -> dict[str, Any]:
    path = out / TUNE_RECORD / RESULT
    with naming(path):
        return unseal(read_json(path, "run"), "run")
