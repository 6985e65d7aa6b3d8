"""What a system's tables say of a source phrase, and the training sentences it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from dragoman.corpus import Side
from dragoman.corpus.tokens import TokenLines, detokenize
from dragoman.corpus.tokens.spans import MASKS
from dragoman.errors import InputError
from dragoman.system.kinds import kind_named
from dragoman.system.system import System
from dragoman.system.training import TrainingLines
from dragoman.text import GLUE, split_tokens
from dragoman.types import Int32Array, Int64Array

__all__ = ["Lookup", "LookupRow", "look_up", "training_pair"]

_GAP = re.compile(r"\[X(?:,\d+)?\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupRow:
    """A translation, how often it was extracted, its scores (natural logs), and sentence pairs that it comes from."""

    target: str
    count: int
    scores: dict[str, float]
    sentences: tuple[tuple[int, str, str], ...] = ()
    """Line number from 1, tokens of source and target. With gaps: sentence pairs that have the words of both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What was found for the tokens `source`."""

    source: str
    n_occurrences: int | None
    """Lines of the training text with the phrase; None if the system does not keep it."""
    rows: tuple[LookupRow, ...]


def look_up(
    system: System, phrase: str, *, n_targets: int = 10, n_sentences: int = 3, raw: bool | None = None
) -> Lookup:
    """The best translations of a source phrase by p(e|f), which may be raw text if the system takes such.

    Of the forms that the phrase may have in a sentence it is the one that was extracted most often. A hierarchical
    system also finds sources with gaps, such as `[X,1] nicht`. Sentences are those of the training text in which the
    word alignment links the two phrases; a system of imported tables has none. Raises InputError for a phrase without
    words, and for gaps in another system.
    """
    if not _GAP.sub("", phrase).strip():
        raise InputError(f"'{phrase}' has no words to look up")
    if _GAP.search(phrase) and not kind_named(system.settings.kind).has_rules:
        raise InputError(f"'{phrase}' has gaps, and only a hierarchical system has rules with gaps")
    readings = list(_readings(system.lines(raw=raw), phrase))
    look, settings = kind_named(system.settings.kind).look_up, system.settings.model
    options = [list(look(system.grammar, settings, reading)) for reading in readings]
    totals = [sum(count for _, count, _ in each) for each in options]
    best = totals.index(max(totals)) if any(totals) else -1  # what translation takes
    source, found = readings[best], options[best]
    lines = _lines_with(system.training_text.source_ids, source) if system.keeps_text else None
    rows = []
    for target, count, scores in found[:n_targets]:
        shown: tuple[tuple[int, str, str], ...] = ()
        if lines is not None and n_sentences:
            chosen = islice(_linked(system.training_text, lines, source, target), n_sentences)
            text = system.training_text
            shown = tuple((line + 1, text.source(line), text.target(line)) for line in chosen)
        rows.append(LookupRow(target=target, count=count, scores=scores, sentences=shown))
    return Lookup(source=source, n_occurrences=None if lines is None else len(lines), rows=tuple(rows))


def training_pair(system: System, line: int) -> tuple[str, str]:
    """Both sides of a line of the training text, counted from 0; of a system of raw text as text, joined."""
    text = system.training_text
    pair = text.source(line), text.target(line)
    return (detokenize(pair[0].split(" ")), detokenize(pair[1].split(" "))) if system.settings.text.raw else pair


def _readings(text: TokenLines, phrase: str) -> Iterator[str]:
    """As tokens, which is how derivations show it, as in the middle of a sentence, and as at its beginning.

    Gaps are numbered from left to right.
    """
    typed = " ".join(split_tokens(phrase))
    if GLUE in typed:  # no raw text is read as such
        yield typed
        return
    masks = (chr(code) for code in range(ord(MASKS[0]), ord(MASKS[-1])))
    gaps: dict[str, str] = {}

    def mask(_: re.Match[str]) -> str:
        one = next(masks)
        gaps[one] = f"[X,{len(gaps) + 1}]"
        return one if text.is_raw else f" {one} "

    line = _GAP.sub(mask, phrase)
    as_tokens = " ".join(split_tokens("".join(f" {char} " if char in gaps else char for char in line)))
    found = [as_tokens, text.term(line, target=False), text.prepare(line)]
    for tokens in dict.fromkeys(found):
        yield " ".join(gaps.get(token.strip(GLUE), token) for token in split_tokens(tokens))


def _lines_with(side: Side, phrase: str) -> Int64Array:
    """Lines that contain the words of the phrase side by side; gaps break it into parts, all of which are needed."""
    lines = np.arange(len(side), dtype=np.int64)
    part: list[str] = []
    for word in [*phrase.split(" "), "[X,1]"]:
        if not (word.startswith("[") and word.endswith("]") and "," in word):
            part.append(word)
        elif part:
            lines = lines[_contain(side, side.vocab.encode(" ".join(part)))[lines]]
            part = []
    return lines


def _linked(text: TrainingLines, lines: Int64Array, source: str, target: str) -> Iterator[int]:
    """Those of the lines, which have the source, whose links make a phrase pair of it and the target.

    With gaps: those that have the target's words.
    """
    both = np.intersect1d(lines, _lines_with(text.target_ids, target)).tolist()
    if any(map(_GAP.fullmatch, split_tokens(source))):
        yield from both
        return
    words = text.source_ids.vocab.encode(source), text.target_ids.vocab.encode(target)
    for line in both:
        sources, targets = _spans(text.source_ids[line], words[0]), _spans(text.target_ids[line], words[1])
        links = text.links[line]
        if any(_is_pair(links, one, other) for one in sources for other in targets):
            yield line


def _spans(ids: Int32Array, words: Int32Array) -> list[tuple[int, int]]:
    n = len(words)
    return [(i, i + n) for i in range(len(ids) - n + 1) if np.array_equal(ids[i : i + n], words)]


def _is_pair(links: Sequence[tuple[int, int]], source: tuple[int, int], target: tuple[int, int]) -> bool:
    """Whether some link joins the two spans, and none leaves them."""
    inside = [(source[0] <= s < source[1], target[0] <= t < target[1]) for s, t in links]
    return (True, True) in inside and all(s == t for s, t in inside)


def _contain(side: Side, words: Int32Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    ids = side.ids
    n = len(ids) - len(words) + 1
    found = np.zeros(len(side), bool)
    if n < 1 or not len(words):
        return found
    places = np.flatnonzero(np.logical_and.reduce([ids[i : n + i] == word for i, word in enumerate(words)]))
    lines = np.searchsorted(side.offsets, places, side="right") - 1
    whole = places + len(words) <= side.offsets[lines + 1]
    found[lines[whole]] = True
    return found
