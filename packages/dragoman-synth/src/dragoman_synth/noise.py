"""Optional noise as found in real corpora.

A disturbed pair has one of these: a typing error (two letters swapped, one lost, one doubled), a lost word,
two neighbouring words swapped, a word doubled (each on one side, source or target, with equal chance), or,
one time in ten, a translation that belongs to another sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw

__all__ = ["MISALIGNED", "disturb"]

MISALIGNED = 0.1
"""Fraction of the noisy pairs that get the translation of another sentence."""


def _typo(words: list[str], r: Draw) -> None:
    long = [place for place, word in enumerate(words) if len(word) > 3]
    if not long:
        return
    place = r.pick(long)
    word = words[place]
    at = int(r.random() * (len(word) - 1))
    kind = r.random()
    if kind < 0.4:
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    elif kind < 0.75:
        words[place] = word[:at] + word[at + 1 :]
    else:
        words[place] = word[: at + 1] + word[at:]


def _lose(words: list[str], r: Draw) -> None:
    if len(words) > 2:
        del words[int(r.random() * (len(words) - 1))]


def _swap(words: list[str], r: Draw) -> None:
    if len(words) > 2:
        at = int(r.random() * (len(words) - 2))
        words[at], words[at + 1] = words[at + 1], words[at]


def _double(words: list[str], r: Draw) -> None:
    at = int(r.random() * len(words))
    words.insert(at, words[at])


def disturb(text: str, r: Draw) -> str:
    """One sentence with one error; its closing mark keeps its position, but may be doubled."""
    words = text.split(" ")
    draw = r.random()
    if draw < 0.4:
        _typo(words, r)
    elif draw < 0.65:
        _lose(words, r)
    elif draw < 0.85:
        _swap(words, r)
    else:
        _double(words, r)
    return " ".join(words)
