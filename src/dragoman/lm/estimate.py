"""Interpolated modified Kneser-Ney estimation (Chen and Goodman 1998), equivalent to KenLM's lmplz.

Runs in memory: about 60 bytes per token at order 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dragoman._core import LmText, WordTable, estimate_lm
from dragoman.corpus import Side, VocabBuilder
from dragoman.errors import InputError, naming
from dragoman.lm.model import LanguageModel
from dragoman.settings import Record
from dragoman.text import LineBlock, read_blocks
from dragoman.types import PathLike, Progress

__all__ = ["DEFAULT_FALLBACK", "MAX_ORDER", "Estimate", "EstimateConfig", "TrainingText", "estimate", "estimate_work"]

MAX_ORDER = 10
DEFAULT_FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateConfig(Record):
    """Settings of language model estimation."""

    order: int = 5
    prune: tuple[int, ...] = (0,)
    """Pruning thresholds for orders 1, 2, …: n-grams with at most this count are dropped. The last value also applies
    to all higher orders."""
    fallback: tuple[float, float, float] | None = DEFAULT_FALLBACK
    """Discounts for counts 1, 2 and 3+ of orders whose own cannot be estimated (tiny text); None: raise an error."""

    def _check(self) -> None:
        if not 1 <= self.order <= MAX_ORDER:
            raise InputError(f"the order of a language model must be from 1 to {MAX_ORDER}, not {self.order}")
        if not 1 <= len(self.prune) <= self.order:
            raise InputError(f"expected 1 to {self.order} pruning thresholds, not {len(self.prune)}")
        if self.prune[0] != 0:
            raise InputError("unigrams cannot be pruned; the first pruning threshold must be 0")
        if any(high < low for low, high in pairwise(self.prune)):
            raise InputError(f"pruning thresholds must not decrease: {self.prune}")
        if self.fallback is not None:
            for count, discount in enumerate(self.fallback, start=1):
                if not 0 <= discount <= count:
                    raise InputError(f"the discount of count {count} must be from 0 to {count}, not {discount}")

    def thresholds(self) -> list[int]:
        return [*self.prune, *[self.prune[-1]] * (self.order - len(self.prune))]


class TrainingText:
    """Training sentences: files, lines, or one side of a bitext, alone or with more text."""

    def __init__(self) -> None:
        self._builder: VocabBuilder | None = VocabBuilder()
        self._table: WordTable = self._builder.table
        self._text = LmText()

    @classmethod
    def of_side(
        cls,
        side: Side,
        *,
        folds: NDArray[np.uint8] | None = None,
        excluded: int | None = None,
        more: Side | None = None,
    ) -> TrainingText:
        """The sentences of one side of a bitext; with `folds` and `excluded`, those of all other folds.

        Words that occur only in the excluded fold are out of vocabulary. `more` is further text, all of it, whose
        vocabulary continues the side's (`Side.read` with `start`).
        """
        if (folds is None) != (excluded is None):
            raise InputError("give both `folds` and `excluded`, or neither")
        text = cls()
        text._builder = None  # ids are the bitext's
        text._table = (side if more is None else more).vocab.table
        text._add_side(side, folds, -1 if excluded is None else excluded)
        if more is not None:
            text._add_side(more)
        return text

    @property
    def n_sentences(self) -> int:
        return self._text.n_sentences

    @property
    def n_tokens(self) -> int:
        """Number of tokens so far, including `<s>` and `</s>` of every sentence."""
        return self._text.n_tokens

    @property
    def native(self) -> tuple[LmText, WordTable]:
        """Token ids and the word table, for native kernels."""
        return self._text, self._table

    def add_file(self, path: PathLike, progress: Progress | None = None) -> None:
        """Add a file with one sentence per line (plain, gz, xz or zst). `progress` counts its lines."""
        for block in read_blocks(path):
            with naming(path):
                self._add_block(block)
            if progress:
                progress(block.first_line + block.data.count(b"\n") - 1)

    def add_lines(self, lines: Iterable[str]) -> None:
        """Add sentences, which must not contain line feeds."""
        self._add_block(LineBlock("".join([line + "\n" for line in lines]).encode("utf-8", "surrogatepass"), 1))

    def _add_side(self, side: Side, folds: NDArray[np.uint8] | None = None, excluded: int = -1) -> None:
        self._text.add(np.asarray(side.offsets), np.asarray(side.ids), len(side.vocab), folds, excluded)

    def _add_block(self, block: LineBlock) -> None:
        if self._builder is None:
            raise InputError("sentences of a bitext cannot be mixed with other text")
        offsets, ids = self._builder.encode_block(block)
        self._text.add(offsets, ids, len(self._table))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimated model with its discounts."""

    model: LanguageModel
    discounts: tuple[tuple[float, float, float], ...]
    """For each order, the discounts of adjusted counts 1, 2 and 3+."""
    fallback_orders: tuple[int, ...]
    """Orders that use the fallback discounts."""
    n_sentences: int
    n_tokens: int


def estimate(text: TrainingText, config: EstimateConfig, *, progress: Progress | None = None) -> Estimate:
    """Estimate a model. Raises InputError when there is no text. `progress` counts up to `estimate_work`."""
    native, discounts, fallback_orders = estimate_lm(
        *text.native, config.order, config.thresholds(), config.fallback, progress
    )
    return Estimate(
        model=LanguageModel(native),
        discounts=tuple(discounts),
        fallback_orders=tuple(fallback_orders),
        n_sentences=text.n_sentences,
        n_tokens=text.n_tokens,
    )


def estimate_work(text: TrainingText, config: EstimateConfig) -> int:
    """Total of the progress reported by `estimate`."""
    return 3 * config.order * text.n_tokens
