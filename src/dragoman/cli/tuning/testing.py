"""A test set before and after tuning: what the development set does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dragoman.cli.session import Session
from dragoman.cli.tuning.options import TuneOptions
from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights
from dragoman.metric import Metric, Tokenizer
from dragoman.system import Preset, System
from dragoman.text import count_lines, read_lines
from dragoman.tuning import TEST, TUNE_RECORD, BeforeAfter, raw_tokenizer

if TYPE_CHECKING:
    from dragoman.analysis import SystemScore

__all__ = ["check_test", "compare_on_test", "say_change"]

_METRICS = ("bleu", "chrf", "ter")


def check_test(options: TuneOptions) -> None:
    """Raise InputError before anything is decoded for a test set that could not be scored."""
    if (options.test is None) != (not options.test_reference):
        raise InputError("a test set has a source and references: give both --test and --test-reference")
    if options.test is None:
        return
    n_lines = count_lines(options.test)
    for path in options.test_reference or ():
        if (n := count_lines(path)) != n_lines:
            raise MismatchError(f"{options.test} has {n_lines} lines but {path} has {n}")
    if n_lines == 0:
        raise InputError("has no lines", path=options.test)


def compare_on_test(
    session: Session, options: TuneOptions, tuned: System, start: Weights, preset: Preset
) -> list[dict[str, Any]]:
    """Translate the test set with the weights before and after, and show scores and what their difference means."""
    from dragoman.analysis import SystemOutput, compare_systems
    from dragoman.cli.score import record_of, show_scores

    assert options.test is not None
    source = list(read_lines(options.test))
    view = tuned.view(options.without_fold)
    is_raw = view.lines(raw=options.raw).is_raw
    outputs = []
    for name, weights in (("before", start), ("after", tuned.weights)):
        lines = view.translate(
            session.track(source, f"translating the test set, {name}", len(source)),
            weights=weights.on(view.index),
            preset=preset,
            n_threads=session.n_threads,
            tokenized=None if options.raw is None else not options.raw,
        )
        outputs.append(SystemOutput(name=name, runs=(list(lines),)))
    references = [list(read_lines(path)) for path in options.test_reference or ()]
    tokenizer = raw_tokenizer(tuned, references) if is_raw and options.tokenize is Tokenizer.NONE else options.tokenize
    assert options.out is not None
    pair = BeforeAfter(
        source=source,
        references=references,
        before=outputs[0].runs[0],
        after=outputs[1].runs[0],
        tokenizer=tokenizer,
        lowercase=options.lowercase,
    )
    pair.save(options.out / TUNE_RECORD / TEST)
    metrics = pair.metrics(_METRICS)
    scores = compare_systems(outputs, references, metrics, n_threads=session.n_threads)
    show_scores(session, scores, {metric.name for metric in metrics if not metric.higher_is_better})
    say_change(session, metrics, *scores)
    return [record_of(system) for system in scores]


def say_change(session: Session, metrics: Sequence[Metric], first: SystemScore, second: SystemScore) -> None:
    """What tests of significance say of the second system beside the first; a loss is a warning."""
    from dragoman.analysis import LEVEL, is_significant

    gains = {}
    for metric, before, after in zip(metrics, first.scores, second.scores, strict=True):
        if is_significant(after.p_randomisation):
            gains[metric.name] = (after.score - before.score) * (1 if metric.higher_is_better else -1)
    better = [name for name, gain in gains.items() if gain > 0]
    worse = [name for name, gain in gains.items() if gain < 0]
    lengths = f"the length ratio went from {first.length_ratio:.3f} to {second.length_ratio:.3f}"
    if better and worse:
        session.warn(
            f"the metrics disagree on the test set: {', '.join(better)} better, {', '.join(worse)} worse; {lengths}"
        )
    elif worse:
        session.warn(f"significantly worse on the test set (p < {LEVEL}): {', '.join(worse)}; {lengths}")
    elif not better:
        session.say(f"note: no metric is significantly better on the test set (p < {LEVEL})")
