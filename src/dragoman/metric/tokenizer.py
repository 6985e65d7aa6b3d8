"""How BLEU splits text: at whitespace, or by one of sacrebleu's tokenisers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Tokenizer"]


class Tokenizer(StrEnum):
    """Names as sacrebleu has them."""

    NONE = "none"
    T13A = "13a"
    INTL = "intl"
    ZH = "zh"
    CHAR = "char"

    def load(self) -> Callable[[str], str]:
        """A function from a line to the line with spaces between tokens."""
        if self is Tokenizer.NONE:
            return str
        # Takes a third of a second to import, and most callers bring tokenised text.
        from sacrebleu.metrics.bleu import BLEU

        tokenise: Callable[[str], str] = BLEU(tokenize=self.value).tokenizer
        return tokenise
