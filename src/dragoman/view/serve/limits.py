"""What a server takes before it refuses, so that no request costs more than others can bear."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dragoman.errors import InputError
from dragoman.settings import Record

__all__ = ["Limits", "TooLargeError", "check_unicode"]


class TooLargeError(InputError):
    """A request that asks for more than the server gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Record):
    """Sizes, times and counts of requests."""

    body_bytes: int = 1 << 18
    characters: int = 20_000
    """Of all texts of a request."""
    tokens: int = 150
    """Of a sentence."""
    lines: int = 1000
    """Of a text, and texts of a list."""
    candidates: int = 200
    timeout_s: float = 20.0
    """Of a request; its search is stopped then."""
    waiting: int = 256
    """Requests that wait for a thread; more are told to come again."""
    workers: int = 2
    """Requests that are worked on at the same time."""
    kept_spaces: int = 16
    """Search spaces that a system keeps, so that looking again costs nothing."""
    kept_bytes: int = 128 << 20
    """Of these search spaces."""
    grown_features: int = 1 << 18
    """Sparse features that a system's index may gain before it starts anew."""

    def check_text(self, *texts: str) -> None:
        """Raise TooLargeError where texts are longer than a request may be."""
        n = sum(map(len, texts))
        if n > self.characters:
            raise TooLargeError(f"the text has {n:,} characters; the maximum is {self.characters:,}. Send it in parts")
        lines = max((text.count("\n") + 1 for text in texts), default=0)
        if lines > self.lines:
            raise TooLargeError(f"the text has {lines:,} lines; the maximum is {self.lines:,}. Send it in parts")

    def check_tokens(self, n: int) -> None:
        """Raise TooLargeError for a sentence of too many tokens."""
        if n > self.tokens:
            raise TooLargeError(
                f"a sentence of {n:,} tokens is too long; the maximum is {self.tokens}. End sentences, or break lines"
            )


def check_unicode(data: object) -> None:
    """Raise InputError where data hold half of a surrogate pair, which JSON can name and UTF-8 cannot hold."""
    try:
        json.dumps(data, ensure_ascii=False, default=repr).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError("the text has half of a surrogate pair, which is no character; remove it") from error
