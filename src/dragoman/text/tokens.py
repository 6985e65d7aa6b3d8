"""Tokens, separated by ASCII spaces and tabs, and optional Moses-style tokenisation by sacremoses."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol, cast

from dragoman.errors import InputError

__all__ = ["MosesText", "split_tokens"]


def split_tokens(line: str) -> list[str]:
    """Split at ASCII space and tab only; NBSP, U+2028 and other Unicode spaces stay inside tokens."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


@dataclass(frozen=True, slots=True)
class MosesText:
    """Moses-style tokenisation and detokenisation of one language (an ISO 639 code such as `de`)."""

    language: str

    def __post_init__(self) -> None:
        if not (self.language.isascii() and self.language.isalpha() and 2 <= len(self.language) <= 3):
            raise InputError(f"'{self.language}' is not a language code such as 'de' or 'en'")

    def tokenize(self, line: str) -> str:
        """The line with its tokens separated by spaces, unescaped."""
        return " ".join(_tokenizer(self.language).tokenize(line, escape=False))

    def detokenize(self, line: str) -> str:
        """Undo tokenize as far as possible; Moses escapes such as &apos; are decoded."""
        return _detokenizer(self.language).detokenize(split_tokens(line))


class _Tokenizer(Protocol):
    def tokenize(self, text: str, *, escape: bool) -> list[str]: ...


class _Detokenizer(Protocol):
    def detokenize(self, tokens: list[str]) -> str: ...


@functools.cache
def _tokenizer(language: str) -> _Tokenizer:
    from sacremoses import MosesTokenizer

    return cast("_Tokenizer", MosesTokenizer(lang=language))


@functools.cache
def _detokenizer(language: str) -> _Detokenizer:
    from sacremoses import MosesDetokenizer

    return cast("_Detokenizer", MosesDetokenizer(lang=language))
