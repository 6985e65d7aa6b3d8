"""How far the result of `dragoman tune` on lists can be trusted: held-out sentences, tests, intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from dragoman.analysis import START
from dragoman.analysis.resampling import FoldScore, MethodComparison, bootstrap_weights, cross_validate
from dragoman.candidates import Objective
from dragoman.cli.session import Session, table
from dragoman.cli.tuning.candidates import Lists
from dragoman.cli.tuning.options import TuneOptions
from dragoman.optim import Optimiser
from dragoman.run import RunFolder
from dragoman.text import printable
from dragoman.tuning import TuneRecord

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.analysis.resampling.held_out import HeldOutTest

__all__ = ["bootstrapped", "compared", "describe_tests", "held_out", "hint_of_folds", "tested_json", "tests_of"]

_HOLDS = 2 / 3
"""A result that keeps less than this share of its gain on held-out sentences is worth a warning."""
_FEW = 50
"""Weights up to which learning anew for every fold is a matter of seconds."""
_FOLDS, _FEWEST = 5, 50
"""Folds to suggest, and sentences from which on they tell something."""
_WORTH = 0.002
"""Gains on what was learned from below this (0.2 points of BLEU) are too small to ask what holds of them."""


def compared(
    session: Session,
    options: TuneOptions,
    candidates: Lists,
    methods: Mapping[str, Optimiser],
    n_folds: int,
    run: RunFolder | None,
) -> list[MethodComparison]:
    """Cross-validation of methods, shown as it goes on."""
    n_done = 0
    with session.progress("trainings", n_folds * (len(methods) + 1)) as progress:
        shown = candidates.objective.shown

        def on_fold(score: FoldScore) -> None:
            nonlocal n_done
            n_done += 1
            progress(n_done)
            outcome = shown(score.held_out) if score.failure is None else f"failed: {score.failure}"
            session.say(f"fold {score.fold}, {score.method}: {outcome}")

        return cross_validate(
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


def tests_of(session: Session, candidates: Lists, rows: list[MethodComparison]) -> list[HeldOutTest]:
    """Tests of the methods that were compared."""
    from dragoman.analysis.resampling import held_out_tests  # comparing runs is much to import

    return held_out_tests(candidates.pool, rows, fold_seed=session.seed)


def describe_tests(
    objective: Objective, rows: Sequence[MethodComparison], tests: Sequence[HeldOutTest], best: str
) -> tuple[list[str], list[str]]:
    """Sentences on what the best method is worth, and warnings."""
    from dragoman.analysis import LEVEL, is_significant

    by_name = {test.method: test for test in tests}
    if best not in by_name or START not in by_name:
        return [], []
    mine, start = by_name[best], by_name[START]
    gain = objective.shown(mine.gain - start.gain)
    said = [
        f"{best} held out: {_with_interval(objective, mine)}; "
        f"start: {objective.shown(start.score)}; gain: {gain} (p = {mine.p_start:.4f})"
    ]
    others = [test for test in tests if test.p_best is not None and test.method != START]
    equal = [test.method for test in others if not is_significant(test.p_best)]
    if equal:
        said.append(f"not distinguishable from {best} (p >= {LEVEL}): {', '.join(equal)}")
    elif others:
        said.append(f"every other method is worse than {best} (p < {LEVEL})")
    learned = {row.method: row.train_gain for row in rows if row.failure is None}
    on_learned = learned[best] - learned[START]
    warnings = []
    if mine.holds is not None and on_learned > _WORTH and mine.holds < _HOLDS:
        warnings.append(
            f"the gain of {best} does not hold: {objective.shown(on_learned)} on what it learned from, {gain} on "
            "held-out sentences; use fewer features, more sentences or another method"
        )
    return said, warnings


def held_out(
    session: Session, options: TuneOptions, candidates: Lists, optimiser: Optimiser, run: RunFolder | None
) -> dict[str, Any]:
    """What the gain of one method is on sentences that it did not learn from."""
    assert options.folds is not None
    rows = compared(session, options, candidates, {optimiser.name: optimiser}, options.folds, run)
    if rows[-1].failure is not None:
        session.warn(f"no held-out score: {rows[-1].failure}")
        return {"held_out": None, "warnings": [str(rows[-1].failure)]}
    tests = tests_of(session, candidates, rows)
    said, warnings = describe_tests(candidates.objective, rows, tests, optimiser.name)
    for sentence in said:
        _show(session, options)(sentence)
    for warning in warnings:
        session.warn(warning)
    return {"held_out": tested_json(candidates.objective, tests[-1]) if tests else None, "warnings": warnings}


def hint_of_folds(record: TuneRecord, options: TuneOptions) -> str | None:
    """How to find out what of a gain holds, where there is one and it is quick: lists with few features."""
    gain = record.score_after - record.score_before
    n_learned = sum(1 for _, value in record.weights.items() if value)
    if (gain if record.higher_is_better else -gain) <= _WORTH or n_learned > _FEW:
        return None
    if options.lists is not None or record.n_sentences < _FEWEST:
        return None
    return f"note: this is the score on the sentences that it learned from; --folds {_FOLDS} says what holds on others"


def _show(session: Session, options: TuneOptions) -> Callable[[Table | str], None]:
    """How results are shown: on standard error where standard output holds the weights."""
    return session.tell if str(options.out) == "-" else session.show


def tested_json(objective: Objective, test: HeldOutTest) -> dict[str, Any]:
    """A test in points."""
    return {
        "score": objective.points(test.score),
        "low": objective.points(test.interval.low),
        "high": objective.points(test.interval.high),
        "p_best": test.p_best,
        "p_start": test.p_start,
        "holds": test.holds,
    }


def _with_interval(objective: Objective, test: HeldOutTest) -> str:
    low, high = objective.shown(test.interval.low), objective.shown(test.interval.high)
    return f"{objective.shown(test.score)} (95% {low} to {high})"


def bootstrapped(session: Session, options: TuneOptions, candidates: Lists, optimiser: Optimiser) -> dict[str, Any]:
    """Intervals of weights and of the score on sentences left out, as a table."""
    assert options.bootstrap is not None
    objective = candidates.objective
    with session.progress("resamples", options.bootstrap) as progress:
        found = bootstrap_weights(
            candidates.pool,
            optimiser,
            candidates.start,
            seed=session.seed,
            n_resamples=options.bootstrap,
            frozen=options.freeze or (),
            n_threads=session.n_threads,
            on_resample=progress,
        )
    lines = table("feature", "share", "2.5%", "97.5%", "same sign")
    for weight in found.weights:
        numbers = (f"{number:+.4f}" for number in (weight.median, weight.low, weight.high))
        lines.add_row(Text(printable(weight.name)), *numbers, f"{100 * weight.same_sign:.0f}%")
    show = _show(session, options)
    show(lines)
    mean, low, high = found.interval()
    show(
        f"on sentences left out of {found.n_resamples} resamples: {objective.shown(mean)} "
        f"(95% {objective.shown(low)} to {objective.shown(high)})"
    )
    return {
        "n_resamples": found.n_resamples,
        "weights": found.weights,
        "left_out": {"mean": objective.points(mean), "low": objective.points(low), "high": objective.points(high)},
    }
