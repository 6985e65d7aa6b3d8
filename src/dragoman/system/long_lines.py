"""Lines with more words than a search takes at once: parts that are translated by themselves, and what to say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dragoman.corpus.tokens import TokenLines
from dragoman.corpus.tokens.forced import without_marks
from dragoman.errors import InputError
from dragoman.text import split_tokens
from dragoman.types import PathLike

__all__ = ["LongLines", "check_lengths", "parts_of"]

_SHOWN = 5


def parts_of(tokens: str, max_words: int) -> list[str]:
    """The sentence in as few parts as have at most so many words each, of about equal length."""
    if len(tokens) < 2 * max_words:  # too short for more words with spaces between
        return [tokens]
    words = split_tokens(tokens)
    n = max(1, -(-len(words) // max_words))
    return [" ".join(words[part * len(words) // n : (part + 1) * len(words) // n]) for part in range(n)]


def check_lengths(sentences: Iterable[str], max_words: int, path: PathLike) -> None:
    """Raises InputError, with its line, for a sentence of tokens that has more words."""
    for number, sentence in enumerate(sentences, 1):
        _check(split_tokens(sentence), max_words, path, number)


class LongLines:
    """Watches lines of a text on their way to a decoder for sentences of more words than it searches at once."""

    def __init__(self, text: TokenLines, max_words: int) -> None:
        self._text = text
        self._max_words = max_words
        self.numbers: list[int] = []
        """Of lines found so far, from 1."""

    def counted(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines; notes those with such sentences, for translations of which `warning` tells."""
        for number, line in enumerate(lines, 1):
            if any(len(words) > self._max_words for words in self._sentences(line, self._text.sentences)):
                self.numbers.append(number)
            yield line

    def refused(self, lines: Iterable[str], path: PathLike, *, whole: bool = True) -> Iterator[str]:
        """The same lines; raises InputError at the first with such a sentence. A line is one if `whole`."""
        for number, line in enumerate(lines, 1):
            for words in self._sentences(line, self._whole if whole else self._text.sentences):
                _check(words, self._max_words, path, number)
            yield line

    def warning(self) -> str | None:
        """A sentence for the user about the lines that were cut; None if there is none."""
        if not self.numbers:
            return None
        shown = ", ".join(f"{number:,}" for number in self.numbers[:_SHOWN])
        more = f" and {len(self.numbers) - _SHOWN:,} more" if len(self.numbers) > _SHOWN else ""
        lines, have, it = ("line", "has", "it was") if len(self.numbers) == 1 else ("lines", "have", "they were")
        return (
            f"warning: {lines} {shown}{more} {have} a sentence of more than {self._max_words:,} words; {it} cut into "
            "parts that were translated one by one. For better translations put one sentence on a line"
        )

    def _whole(self, line: str) -> list[str]:
        return [self._text.prepare(line)]

    def _sentences(self, line: str, split: Callable[[str], list[str]]) -> Iterator[Sequence[str]]:
        if len(line) > self._max_words:  # a token has at least one character
            yield from map(split_tokens, split(without_marks(line)))


def _check(words: Sequence[str], max_words: int, path: PathLike, number: int) -> None:
    if len(words) > max_words:
        raise InputError(
            f"has a sentence of {len(words):,} words; at most {max_words:,} are searched at once: "
            "put one sentence on a line",
            path=path,
            line=number,
        )
