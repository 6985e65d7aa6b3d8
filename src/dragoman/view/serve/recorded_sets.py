"""The sets that a tuned system keeps, before and after tuning: scores, and the sentences that changed most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.analysis import SystemOutput, compare_systems
from dragoman.metric import metric_label
from dragoman.tuning import DEVELOPMENT, TEST, BeforeAfter
from dragoman.view.report.samples import sentence_scores

__all__ = ["ChangedSentence", "RecordedSet", "SetScore", "read_sets"]

_METRICS = ("bleu", "chrf", "ter")
_CHANGED = 12
"""Sentences of a set that the page lists."""
_TRIALS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScore:
    """A metric of a set before and after, in points."""

    label: str
    higher_is_better: bool
    before: float
    after: float
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSentence:
    """A sentence that tuning changed, and by how many points of chrF."""

    source: str
    reference: str
    before: str
    after: str
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSet:
    """A set of sentences before and after tuning."""

    name: str
    """`test set` or `development set`."""
    is_learned_from: bool
    n_sentences: int
    n_changed: int
    """Sentences whose translation is another one."""
    scores: tuple[SetScore, ...]
    sentences: tuple[ChangedSentence, ...]
    """Of those that changed, the ones with the greatest differences."""


def read_sets(run: Path) -> Iterator[tuple[RecordedSet, BeforeAfter]]:
    """What a tuning left of its test set, where it has one, and of its development set."""
    for name, folder, is_learned_from in (("test set", TEST, False), ("development set", DEVELOPMENT, True)):
        if (pair := BeforeAfter.load(run / folder)) is not None and pair.source:
            yield _compared(name, pair, is_learned_from), pair


def _compared(name: str, pair: BeforeAfter, is_learned_from: bool) -> RecordedSet:
    metrics = pair.metrics(_METRICS)
    outputs = [SystemOutput(name=n, runs=(list(o),)) for n, o in (("before", pair.before), ("after", pair.after))]
    first, second = compare_systems(outputs, pair.references, metrics, n_bootstrap=0, n_trials=_TRIALS)
    scores = [
        SetScore(
            label=metric_label(one.metric),
            higher_is_better=metric.higher_is_better,
            before=metric.points(one.score),
            after=metric.points(other.score),
            p_value=other.p_randomisation,
        )
        for metric, one, other in zip(metrics, first.scores, second.scores, strict=True)
    ]
    chrf = sentence_scores([pair.before, pair.after], pair.references)
    gains = 100 * (chrf[1] - chrf[0])
    changed = [i for i, (a, b) in enumerate(zip(pair.before, pair.after, strict=True)) if a != b]
    changed.sort(key=lambda i: (-abs(gains[i]), i))
    return RecordedSet(
        name=name,
        is_learned_from=is_learned_from,
        n_sentences=len(pair.source),
        n_changed=len(changed),
        scores=tuple(scores),
        sentences=tuple(
            ChangedSentence(
                source=pair.source[i],
                reference=pair.references[0][i],
                before=pair.before[i],
                after=pair.after[i],
                change=float(gains[i]),
            )
            for i in changed[:_CHANGED]
        ),
    )
