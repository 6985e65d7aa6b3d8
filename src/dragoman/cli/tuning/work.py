"""What `dragoman tune` does once it knows its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.analysis.resampling import best_method
from dragoman.cli.engine_options import engine_of
from dragoman.cli.session import Session, show_settings
from dragoman.cli.tuning.candidates import Decoding, Lists, choose_kind
from dragoman.cli.tuning.checks import check_options
from dragoman.cli.tuning.options import ALL, TuneOptions, flag
from dragoman.cli.tuning.paths import check_paths
from dragoman.cli.tuning.record import open_run
from dragoman.cli.tuning.report import report, report_comparison, write_result
from dragoman.cli.tuning.shown import rounds_shown
from dragoman.cli.tuning.system import tune_own
from dragoman.cli.tuning.trust import bootstrapped, compared, held_out, hint_of_folds, tests_of
from dragoman.errors import InputError
from dragoman.optim import (
    LIST_METHODS,
    OPTIMISERS,
    LearningContext,
    LearnsFrom,
    Optimiser,
    make_optimiser,
    method_name,
    method_named,
)
from dragoman.run import RunFolder
from dragoman.settings import describe, parse_settings
from dragoman.system import save_tuned
from dragoman.tuning import TuneRecord, tune_decoder, tune_pool
from dragoman.work.engine import Engine, LocalEngine

__all__ = ["tune_as_told"]

_FOLDS = 5


def tune_as_told(options: TuneOptions) -> None:
    """Check everything that can be checked first, then read, tune, write, report."""
    options = options.resolved()
    session = Session(n_threads=options.threads, seed=options.seed, json=options.json, quiet=options.quiet)
    if options.setting == ["help"]:
        names = (
            options.compared_methods()
            if options.comparing
            else (method_name(options.method_name, online=options.online),)
        )
        show_settings(session, {name: describe(method_named(name)) for name in names})
        return
    methods = _methods(options)
    check_options(options, reads_training=any(m.learns_from is LearnsFrom.TRAINING_TEXT for m in methods.values()))
    kind = choose_kind(options)
    check_paths(options)
    if kind.open is None:
        if options.comparing:
            raise _only_lists()
        tune_own(session, options, methods[options.method_name])
        return
    if options.lists is not None:
        _check_workers(options, methods)
    for method in methods.values():
        if method.learns_from not in kind.offers:
            method.learner(LearningContext())  # raises: it learns from more than lists
    if options.comparing and (options.decoder is not None or options.forest is not None):
        raise _only_lists()
    with (
        open_run(options, kind, methods, seed=session.seed) as run,
        engine_of(session, options.engine, options.workers, options.address, threads=options.threads) as engine,
    ):
        candidates = kind.open(session, options)
        match candidates:
            case Decoding():
                _tune_decoder(session, options, candidates, methods[options.method_name], run)
            case Lists() if options.comparing:
                _compare(session, options, candidates, methods, run)
            case Lists():
                session.say(f"tuning with {options.method_name}")
                workers = None if isinstance(engine, LocalEngine) else engine
                method = methods[options.method_name]
                record = _tune_lists(session, options, candidates, method, run, workers)
                more: dict[str, Any] = {}
                if options.folds is not None:
                    more |= held_out(session, options, candidates, method, run)
                if options.bootstrap is not None:
                    more["bootstrap"] = bootstrapped(session, options, candidates, method)
                report(session, candidates.objective, record.summary(), options.target(), **more)
                if options.folds is None and (hint := hint_of_folds(record, options)):
                    session.say(hint)


def _only_lists() -> InputError:
    return InputError(
        f"--method {ALL} compares methods on fixed lists; decode once, or make lists by `forest lists`, and give them "
        "with --nbest"
    )


def _check_workers(options: TuneOptions, methods: Mapping[str, Optimiser]) -> None:
    """Raise InputError for workers that would have nothing to do."""
    named = [flag(name) for name in ("engine", "workers", "address") if name in options.given()]
    if named and (options.comparing or not methods[options.method_name].uses_engine):
        users = ", ".join(name for name in LIST_METHODS if OPTIMISERS[name].uses_engine)
        raise InputError(
            f"--method {options.method_name} learns from lists in this process; leave out {', '.join(named)} "
            f"(workers are for {users})"
        )


def _methods(options: TuneOptions) -> dict[str, Optimiser]:
    values = parse_settings(options.setting or [])
    if not options.comparing:
        name = options.method_name
        return {name: make_optimiser(method_name(name, online=options.online), values)}
    settings: dict[str, dict[str, Any]] = {name: {} for name in options.compared_methods()}
    for method, inner in values.items():
        if method not in settings or not isinstance(inner, dict):
            raise InputError(f"--set {method}: with --method {ALL} expected METHOD.NAME=VALUE")
        settings[method] = inner
    return {method: make_optimiser(method, inner) for method, inner in settings.items()}


def _tune_lists(
    session: Session,
    options: TuneOptions,
    candidates: Lists,
    optimiser: Optimiser,
    run: RunFolder | None,
    engine: Engine | None = None,
) -> TuneRecord:
    record = tune_pool(
        candidates.pool,
        optimiser,
        candidates.start,
        seed=session.seed,
        frozen=options.freeze or (),
        n_threads=session.n_threads,
        engine=engine,
        objective=candidates.objective,
        run=run,
    )
    write_result(record, candidates.objective, options, options.target())
    if options.system_out is not None and candidates.system is not None:
        about = {"method": optimiser.name, "seed": session.seed, "lists": options.lists}
        save_tuned(candidates.system, options.system_out, record.weights, about=about)
    return record


def _tune_decoder(
    session: Session, options: TuneOptions, candidates: Decoding, optimiser: Optimiser, run: RunFolder | None
) -> None:
    settings = options.loop_settings()
    with rounds_shown(session, candidates.objective, options) as shown:
        record = tune_decoder(
            candidates.decoder,
            optimiser,
            candidates.start,
            seed=session.seed,
            objective=candidates.objective,
            settings=settings,
            frozen=options.freeze or (),
            n_threads=session.n_threads,
            context=candidates.context,
            run=run,
            on_step=shown.on_step,
            on_round=shown.on_round,
        )
    write_result(record, candidates.objective, options, options.target())
    report(session, candidates.objective, record.summary(), options.target())


def _compare(
    session: Session,
    options: TuneOptions,
    candidates: Lists,
    methods: Mapping[str, Optimiser],
    run: RunFolder | None,
) -> None:
    n_folds = _FOLDS if options.folds is None else options.folds
    rows = compared(session, options, candidates, methods, n_folds, run)
    best = best_method(rows)
    record = None
    if options.out is not None:
        session.say(f"training {best} on all sentences")
        record = _tune_lists(session, options, candidates, methods[best], run)
    tests = tests_of(session, candidates, rows)
    more = {} if options.bootstrap is None else {"bootstrap": bootstrapped(session, options, candidates, methods[best])}
    report_comparison(session, candidates.objective, options, rows, best, record, tests, more)
