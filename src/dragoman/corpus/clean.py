"""Filter out sentence pairs that would harm training, counted by reason."""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dragoman.errors import InputError
from dragoman.settings import Record
from dragoman.text import split_tokens
from dragoman.text.letters import UNSPACED

__all__ = ["CleanConfig", "Cleaner", "DropReason", "Duplicates", "count_words"]

_UNCUT = re.compile(f"[{UNSPACED}]{{5,}}")
"""Letters of a script without spaces that nobody has cut into words."""
_WORD = re.compile(rf"[^\W{UNSPACED}]+|[{UNSPACED}]+")


class DropReason(enum.StrEnum):
    """Why a pair was dropped; when several reasons apply, the first counts."""

    EMPTY = "empty"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    RATIO = "length ratio"
    IDENTICAL = "source equals target"
    COPIED = "copied from the source"
    DUPLICATE = "duplicate"
    SCRIPT = "other script"
    LANGUAGE = "other language"
    ALIGNMENT = "alignment score"


class Duplicates(enum.StrEnum):
    """What happens to pairs that were there before."""

    KEEP = "keep"
    PAIRS = "pairs"
    """The first of equal pairs stays."""
    SIDES = "sides"
    """A pair goes if its source or its target occurred before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanConfig(Record):
    """Which pairs to keep. Lengths are in words (`count_words`)."""

    min_words: int = 1
    max_words: int = 100
    max_ratio: float = 9.0
    duplicates: Duplicates = Duplicates.KEEP
    drop_identical: bool = False
    max_copied: float = 1.0
    """The largest share of target words that are in the source too, of pairs with three target words or more."""

    def _check(self) -> None:
        if not 1 <= self.min_words <= self.max_words:
            raise InputError(f"expected 1 <= min_words <= max_words, not {self.min_words} and {self.max_words}")
        if not self.max_ratio >= 1:
            raise InputError(f"the length ratio must be at least 1, not {self.max_ratio}")
        if not 0 <= self.max_copied <= 1:
            raise InputError(f"the share of copied words must be from 0 to 1, not {self.max_copied}")


@dataclass(slots=True)
class Cleaner:
    """Filters pairs and counts the dropped ones by reason."""

    config: CleanConfig
    n_read: int = 0
    n_kept: int = 0
    dropped: dict[DropReason, int] = field(default_factory=lambda: dict.fromkeys(DropReason, 0))
    _seen: set[bytes] = field(default_factory=set)

    def clean(self, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """The pairs to keep, with whitespace normalised to single spaces and trimmed."""
        for source, target in pairs:
            self.n_read += 1
            f, e = split_tokens(source), split_tokens(target)
            pair = " ".join(f), " ".join(e)
            reason = self._judge(count_words(pair[0]), count_words(pair[1]), pair)
            if reason is None:
                self.n_kept += 1
                yield pair
            else:
                self.dropped[reason] += 1

    def _judge(self, n_f: int, n_e: int, pair: tuple[str, str]) -> DropReason | None:
        config = self.config
        shorter, longer = sorted((n_f, n_e))
        if shorter == 0:
            return DropReason.EMPTY
        if shorter < config.min_words:
            return DropReason.TOO_SHORT
        if longer > config.max_words:
            return DropReason.TOO_LONG
        if longer > config.max_ratio * shorter:
            return DropReason.RATIO
        if config.drop_identical and pair[0] == pair[1]:
            return DropReason.IDENTICAL
        if config.max_copied < 1 and self._copied(pair) > config.max_copied:
            return DropReason.COPIED
        if config.duplicates is not Duplicates.KEEP:
            # A 16-byte digest per text: a collision among a billion is practically impossible.
            by_sides = config.duplicates is Duplicates.SIDES
            texts = [f"{n}\t{text}" for n, text in enumerate(pair)] if by_sides else ["\t".join(pair)]
            digests = {hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest() for text in texts}
            if digests & self._seen:
                return DropReason.DUPLICATE
            self._seen |= digests
        return None

    @staticmethod
    def _copied(pair: tuple[str, str]) -> float:
        source, target = (_WORD.findall(text) for text in pair)
        words = [word for word in target if any(map(str.isalpha, word))]
        known = set(source)
        return sum(word in known for word in words) / len(words) if len(words) >= 3 else 0.0


def count_words(line: str) -> int:
    """What stands between spaces; of a script without spaces, every two letters in a row of five or more."""
    return len(split_tokens(line)) + sum((len(run) + 1) // 2 - 1 for run in _UNCUT.findall(line))
