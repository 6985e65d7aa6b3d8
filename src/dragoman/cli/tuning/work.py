"""What `dragoman tune` does once it knows its options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dragoman.cli.session import Session
from dragoman.cli.tuning.candidates import Decoding, Lists, choose_kind
from dragoman.cli.tuning.options import TuneOptions, parse_pairs
from dragoman.cli.tuning.record import open_run
from dragoman.cli.tuning.report import describe_round, report, report_comparison, write_result
from dragoman.errors import InputError
from dragoman.optim import OPTIMISERS, ForestMert, Optimiser, Tuner
from dragoman.pool import read_references
from dragoman.run import RunFolder
from dragoman.tune import (
    Decoder,
    FoldScore,
    Keep,
    LoopSettings,
    Method,
    OnlineMethod,
    RoundRecord,
    Step,
    SystemDecoder,
    TuneRecord,
    best_method,
    build_method,
    build_optimiser,
    cross_validate,
    tune_decoder,
    tune_pool,
)

__all__ = ["ALL", "tune_as_told"]

ALL = "all"
_FOLDS = 5


def tune_as_told(session: Session, options: TuneOptions) -> None:
    """Check everything that can be checked first, then read, tune, write, report."""
    comparing = options.method == ALL
    methods = _methods(options)
    kind = choose_kind(options)
    options.check(comparing=comparing)
    if comparing and kind.decodes:
        raise InputError(f"--method {ALL} compares methods on fixed lists; decode once and give the list with --nbest")
    with open_run(options, kind, methods, seed=session.seed) as run:
        candidates = kind.open(session, options)
        match candidates:
            case Decoding():
                decoder, learner = _at_work(options, candidates, methods[options.method])
                _tune_decoder(session, options, candidates, decoder, learner, run)
            case Lists() if comparing:
                _compare(session, options, candidates, _pool_methods(methods), run)
            case Lists():
                session.say(f"tuning with {options.method}")
                record = _tune_lists(session, options, candidates, _pool_methods(methods)[options.method], run)
                report(session, record, _out(options))


def _methods(options: TuneOptions) -> dict[str, Method]:
    pairs = parse_pairs(options.setting or [])
    if options.online and (options.method == ALL or options.system is None):
        raise InputError("--online decodes as it learns, which needs a system of ours and one method; give --system")
    if options.system is not None and options.method != ALL:
        return {options.method: build_method(options.method, pairs, online=options.online)}
    if options.method != ALL:
        return {options.method: build_optimiser(options.method, pairs)}
    settings: dict[str, dict[str, str]] = {name: {} for name in OPTIMISERS}
    for key, value in pairs.items():
        method, _, name = key.partition(".")
        if method not in settings or not name:
            raise InputError(f"--set {key}={value}: with --method {ALL} expected METHOD.NAME=VALUE")
        settings[method][name] = value
    return {method: build_optimiser(method, values) for method, values in settings.items()}


def _at_work(options: TuneOptions, candidates: Decoding, method: Method) -> tuple[Decoder, Tuner]:
    """What the loop decodes and learns with; a method that learns from more than lists asks the system for it."""
    if not isinstance(method, ForestMert | OnlineMethod):
        return candidates.decoder, method
    assert isinstance(candidates.decoder, SystemDecoder)
    if not options.reference:
        raise InputError(f"{options.method} needs references; give at least one with -r")
    return candidates.decoder.with_method(method, read_references(options.reference))


def _pool_methods(methods: Mapping[str, Method]) -> dict[str, Optimiser]:
    return {name: method for name, method in methods.items() if not isinstance(method, ForestMert | OnlineMethod)}


def _out(options: TuneOptions) -> Path:
    if options.out is None:
        raise InputError("say where the weights go with -o")
    return options.out


def _tune_lists(
    session: Session, options: TuneOptions, candidates: Lists, optimiser: Optimiser, run: RunFolder | None
) -> TuneRecord:
    record = tune_pool(
        candidates.pool,
        optimiser,
        candidates.start,
        seed=session.seed,
        frozen=options.freeze or (),
        n_threads=session.n_threads,
        run=run,
    )
    write_result(record, options, _out(options))
    return record


def _tune_decoder(
    session: Session,
    options: TuneOptions,
    candidates: Decoding,
    decoder: Decoder,
    optimiser: Tuner,
    run: RunFolder | None,
) -> None:
    settings = LoopSettings(
        max_rounds=LoopSettings().max_rounds if options.rounds is None else options.rounds,
        keep=options.keep or Keep.BEST,
    )
    with session.progress("rounds", settings.max_rounds) as progress:

        def on_step(number: int, step: Step) -> None:
            progress(number - 1)
            if step is Step.DECODE:
                session.say(f"round {number}: decoding")

        def on_round(record: RoundRecord) -> None:
            session.say(describe_round(record))
            progress(min(record.round, settings.max_rounds))

        record = tune_decoder(
            decoder,
            optimiser,
            candidates.start,
            seed=session.seed,
            measure=candidates.measure,
            settings=settings,
            frozen=options.freeze or (),
            n_threads=session.n_threads,
            run=run,
            on_step=on_step,
            on_round=on_round,
        )
    report(session, record, candidates.write(record, options, _out(options)))


def _compare(
    session: Session,
    options: TuneOptions,
    candidates: Lists,
    methods: Mapping[str, Optimiser],
    run: RunFolder | None,
) -> None:
    n_folds = _FOLDS if options.folds is None else options.folds
    n_done = 0
    with session.progress("trainings", n_folds * (len(methods) + 1)) as progress:

        def on_fold(score: FoldScore) -> None:
            nonlocal n_done
            n_done += 1
            progress(n_done)
            outcome = f"{100 * score.held_out:.2f}" if score.failure is None else f"failed: {score.failure}"
            session.say(f"fold {score.fold}, {score.method}: {outcome}")

        rows = cross_validate(
            candidates.pool,
            methods,
            candidates.start,
            seed=session.seed,
            n_folds=n_folds,
            frozen=options.freeze or (),
            n_threads=session.n_threads,
            run=run,
            on_fold=on_fold,
        )
    best = best_method(rows)
    record = None
    if options.out is not None:
        session.say(f"training {best} on all sentences")
        record = _tune_lists(session, options, candidates, methods[best], run)
    report_comparison(session, rows, best, record, options.out)
