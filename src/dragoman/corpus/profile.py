"""What the text of one side looks like: its scripts and its sequences of letters, learned from the side itself."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dragoman.types import Float64Array, Int64Array

__all__ = ["Profile", "ProfileBuilder", "outliers"]

_BUCKETS = 1 << 18
_MAIN_SCRIPT = 0.05
"""A script with at least this share of a side's letters belongs to the side."""


@cache
def _script(letter: str) -> str:
    """The script of a letter: the first word of its Unicode name, such as LATIN or CJK."""
    return unicodedata.name(letter, "UNKNOWN").partition(" ")[0]


def _trigrams(line: str) -> Int64Array:
    """Buckets of the letter trigrams of a line; case and digits make no difference."""
    text = "".join("0" if letter.isdigit() else letter for letter in f" {' '.join(line.lower().split())} ")
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    mixed = (codes[:-2] * 1_000_003 + codes[1:-1]) * 1_000_033 + codes[2:]
    return (mixed ^ (mixed >> 17)) & (_BUCKETS - 1)


@dataclass(frozen=True, slots=True)
class Profile:
    """Scripts of a side, and the log probability of each trigram of letters."""

    scripts: frozenset[str]
    log_probs: Float64Array

    def other_scripts(self, line: str) -> float:
        """The share of the letters of a line that are of none of the side's scripts."""
        letters = [letter for letter in line if letter.isalpha()]
        foreign = sum(_script(letter) not in self.scripts for letter in letters)
        return foreign / max(1, len(letters))

    def score(self, line: str) -> tuple[float, int]:
        """The mean log probability of the line's trigrams, and how many it has."""
        found = _trigrams(line)
        return float(self.log_probs[found].mean()) if len(found) else 0.0, len(found)


@dataclass(slots=True)
class ProfileBuilder:
    """Counts letters and trigrams of lines as they come."""

    _letters: Counter[str] = field(default_factory=Counter)
    _counts: Float64Array = field(default_factory=lambda: np.zeros(_BUCKETS))

    def add(self, line: str) -> None:
        self._letters.update(line)
        np.add.at(self._counts, _trigrams(line), 1)

    def build(self) -> Profile:
        scripts: Counter[str] = Counter()
        for letter, count in self._letters.items():
            if letter.isalpha():
                scripts[_script(letter)] += count
        n_letters = scripts.total()
        main = frozenset(name for name, count in scripts.items() if count >= _MAIN_SCRIPT * n_letters)
        smoothed = self._counts + 0.5
        return Profile(main, np.log(smoothed / smoothed.sum()))


def outliers(means: Float64Array, lengths: Float64Array, limit: float) -> NDArray[np.bool_]:
    """Lines whose mean is lower than the median by more than `limit` robust standard deviations of lines as long.

    The deviation of a mean of n trigrams is taken as a/sqrt(n) + b: a and b are fitted to the lines themselves.
    """
    if not len(means):
        return np.zeros(0, dtype=bool)
    spread = np.abs(means - np.median(means)) * 1.4826
    design = np.stack([1 / np.sqrt(np.maximum(lengths, 1)), np.ones_like(lengths)], axis=1)
    order = np.argsort(lengths, kind="stable")
    groups = [group for group in np.array_split(order, 20) if len(group)]
    medians = np.array([np.median(spread[group]) for group in groups])
    rows = np.array([design[group].mean(axis=0) for group in groups])
    fitted = design @ np.linalg.lstsq(rows, medians, rcond=None)[0]
    deviation = np.maximum(fitted, 1e-3 + 0.25 * float(np.median(spread)))
    return np.asarray((np.median(means) - means) / deviation > limit)
