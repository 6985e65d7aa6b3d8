"""Tokenisation for BLEU: whitespace, or one of sacrebleu's tokenisers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Tokenizer"]


class Tokenizer(StrEnum):
    """Tokenisers by sacrebleu's names."""

    NONE = "none"
    T13A = "13a"
    INTL = "intl"
    ZH = "zh"
    CHAR = "char"

    def load(self) -> Callable[[str], str]:
        """A function that separates the tokens of a line by spaces."""
        if self is Tokenizer.NONE:
            return str
        # Importing takes a third of a second, and most callers have tokenised text.
        from sacrebleu.metrics.bleu import BLEU

        tokenise: Callable[[str], str] = BLEU(tokenize=self.value).tokenizer
        return tokenise
