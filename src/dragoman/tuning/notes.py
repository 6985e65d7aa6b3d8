"""What a tuning tells in the end: notes, of which some are warnings, and what its rounds say alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dragoman.run.tunings import RoundRecord

__all__ = ["by_round", "length_warning", "no_gain", "told_by_rounds"]

_ROUND = re.compile(r"round (\d+): ")
_ROUNDS = re.compile(r"rounds? \d[\d, -]*: ")
_SHORT, _LONG = 0.97, 1.03
"""A ratio of lengths beyond these is worth a warning: at 0.97 the brevity penalty takes 3 % of BLEU."""


def by_round(notes: Iterable[str]) -> list[str]:
    """Notes, each once: what several rounds say alike stands once with their numbers."""
    rounds: dict[str, list[int]] = {}
    for note in notes:
        found = _ROUND.match(note)
        rounds.setdefault(note[found.end() :] if found else note, []).extend([int(found[1])] if found else [])
    return [f"{_numbers(numbers)}: {said}" if numbers else said for said, numbers in rounds.items()]


def told_by_rounds(rounds: Sequence[RoundRecord], best: int) -> tuple[list[str], list[str]]:
    """Notes of rounds, each once with the numbers of its rounds; and those of them that are warnings.

    Warnings of learning count only where the weights of the `best` round come from, and only if these decode no better
    than the start: decoding judges what lists cannot.
    """
    learned = [() if record.learned is None else record.learned.notes for record in rounds]
    numbered = [
        f"round {record.round}: {note}"
        for record, own in zip(rounds, learned, strict=True)
        for note in (*record.notes, *own)
    ]
    alarming = {text for record in rounds for text in record.warnings}
    source = rounds[best - 2].learned if best > 1 else None
    if source is not None and rounds[best - 1].gain <= rounds[0].gain:
        alarming |= {*source.warnings}
    notes = by_round(numbered)
    return notes, [note for note in notes if _ROUNDS.sub("", note, count=1) in alarming]


def no_gain(rounds: Sequence[RoundRecord], best: int) -> str | None:
    """Whether what is kept is no better than the start; of a live pass, decoding with its weights says so."""
    (first, *others), kept = rounds, rounds[best - 1]
    if kept.live or not others:
        return None
    if kept.gain < first.gain:
        return "the weights that are kept decode worse than the start"
    return "no round is better than the start" if max(one.gain for one in others) <= first.gain else None


def _numbers(numbers: Sequence[int]) -> str:
    """`round 3`, or `rounds 1, 3-7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"round {shown}" if len(numbers) == 1 else f"rounds {shown}"


def length_warning(before: float | None, after: float | None) -> str | None:
    """Of ratios of output words to reference words: the result's is far from 1, and farther than the start's."""
    if before is None or after is None or _SHORT <= after <= _LONG or abs(after - 1) <= abs(before - 1):
        return None
    return (
        f"the translations are too {'short' if after < 1 else 'long'}: the ratio of their words to those of the "
        f"references went from {before:.3f} to {after:.3f}"
    )
