"""Tokenisation for BLEU: whitespace, or one of sacrebleu's tokenisers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Tokenizer"]

_BY_CHARACTERS = frozenset({"ja", "th", "lo", "km", "my", "bo"})
"""Languages without spaces for which sacrebleu itself has no tokeniser, or one that needs a dictionary."""


class Tokenizer(StrEnum):
    """Tokenisers by sacrebleu's names."""

    NONE = "none"
    T13A = "13a"
    INTL = "intl"
    ZH = "zh"
    CHAR = "char"

    @classmethod
    def of_language(cls, code: str | None) -> Tokenizer:
        """The tokeniser for raw text of a language; None: unknown, with spaces between words."""
        if code == "zh":
            return cls.ZH
        return cls.CHAR if code in _BY_CHARACTERS else cls.T13A

    @property
    def is_unspaced(self) -> bool:
        """Whether it is for text without spaces between words."""
        return self in (Tokenizer.ZH, Tokenizer.CHAR)

    def load(self) -> Callable[[str], str]:
        """A function that separates the tokens of a line by spaces."""
        if self is Tokenizer.NONE:
            return str
        # Importing takes a third of a second, and most callers have tokenised text.
        from sacrebleu.metrics.bleu import BLEU

        tokenise: Callable[[str], str] = BLEU(tokenize=self.value).tokenizer
        return tokenise
