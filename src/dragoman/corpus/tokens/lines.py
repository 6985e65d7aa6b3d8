"""What stands between a line of text and the tokens of a system, whatever kind of text it takes."""

from __future__ import annotations

import re

from dragoman.corpus.tokens.settings import TextSettings
from dragoman.corpus.tokens.tokenizer import Segment
from dragoman.corpus.tokens.unknown import WordSplitter
from dragoman.errors import InputError
from dragoman.text import MosesText, split_tokens
from dragoman.text.letters import UNSPACED, UNSPACED_SIGNS

__all__ = ["MosesLines", "TokenLines"]

_RUN = re.compile(f"[{UNSPACED}]+|[{UNSPACED_SIGNS}]")
"""Letters of scripts without spaces, and single signs of theirs."""


class TokenLines:
    """Lines that are tokens already; the base of those that are not.

    With a splitter, source words that the system lacks become words that it has.
    """

    def __init__(self, splitter: WordSplitter | None = None) -> None:
        self._splitter = splitter

    is_raw = False
    """Whether lines are ordinary text."""
    hides_spans = False
    """Whether spans that no translation may change are hidden from the tokeniser, which would break them."""

    @property
    def is_plain(self) -> bool:
        """Whether lines are tokens of the system just as they are."""
        return not self.is_raw and self._splitter is None

    def sentences(self, line: str) -> list[str]:
        """The sentences of a source line, as tokens with spaces between."""
        return [self.prepare(line)]

    def prepare(self, line: str) -> str:
        """The tokens of a source line."""
        return self._split(line)

    def prepare_target(self, line: str) -> str:
        """The tokens of a reference, or of the target side of a training text."""
        return line

    def term(self, text: str, *, target: bool) -> str:
        """The tokens of a term, in the middle of a sentence."""
        return text

    def paired(self, token: str, ends: bool) -> str:
        """The target token for a bracket, quotation mark or tag of the source that begins or ends a pair."""
        return token

    def restore(self, tokens: str, source: str) -> str:
        """The text of a translation of this source line."""
        return tokens

    def _split(self, tokens: str) -> str:
        if self._splitter is None:
            return tokens
        return " ".join(self._splitter.split(token) for token in split_tokens(tokens))


class MosesLines(TokenLines):
    """Raw lines for a system whose text was tokenised by others, as Moses does; lowercased if it was.

    `restore` detokenises. What was lowercased begins with a capital where the source does, and gets the source's case
    where a word is also one of the source, as names are. `segment` cuts letters of scripts without spaces, which Moses
    leaves as they are, into words of the source.
    """

    is_raw = True
    hides_spans = True

    def __init__(
        self, settings: TextSettings, splitter: WordSplitter | None = None, segment: Segment | None = None
    ) -> None:
        super().__init__(splitter)
        self._segment = segment
        if settings.source_language is None or settings.target_language is None:
            raise InputError(
                "the system was trained on tokenised text and does not know its languages; name them "
                "(`languages=de-en`), or tokenise the text yourself"
            )
        self._source = MosesText(settings.source_language)
        self._target = MosesText(settings.target_language)
        self._lowercase = settings.lowercase

    def prepare(self, line: str) -> str:
        return self._split(self._source_tokens(line))

    def prepare_target(self, line: str) -> str:
        return self._cased(self._target.tokenize(line))

    def term(self, text: str, *, target: bool) -> str:
        return self._cased(self._target.tokenize(text)) if target else self._source_tokens(text)

    def restore(self, tokens: str, source: str) -> str:
        if not self._lowercase:
            return self._target.detokenize(tokens)
        words = self._source.tokenize(source).split(" ")[1:]  # the first has its capital from the sentence
        cased = {word.lower(): word for word in words if word != word.lower()}
        text = self._target.detokenize(" ".join(cased.get(token, token) for token in split_tokens(tokens)))
        if next(filter(str.isalpha, source), "A").islower():
            return text
        place = next((i for i, char in enumerate(text) if char.isalnum()), 0)
        return text[:place] + text[place : place + 1].upper() + text[place + 1 :]

    def _source_tokens(self, line: str) -> str:
        tokens = self._cased(self._source.tokenize(line))
        segment = self._segment
        if segment is None:
            return tokens
        return " ".join(_RUN.sub(lambda run: f" {' '.join(segment(run.group()))} ", tokens).split())

    def _cased(self, tokens: str) -> str:
        return tokens.lower() if self._lowercase else tokens
