"""A view of a grammar for a decoder: all data or all but one fold, scored and limited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman import _core
from dragoman._core import GrammarTables
from dragoman.corpus import Vocab
from dragoman.grammar.config import PhraseViewConfig, Reordering
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["OptionArrays", "PhraseOption", "PhraseView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseOption:
    """A translation of a source phrase. Scores are natural logs."""

    begin: int
    """First source position; the span [begin, end) is half-open."""
    end: int
    source: str
    target: str
    pair: int
    """The pair's id, the same in every view."""
    count: int
    """Count in the view; for an imported grammar, as in its file."""
    p_e_f: float
    p_f_e: float
    lex_e_f: float
    lex_f_e: float
    reordering: tuple[float, ...]
    alignment: tuple[tuple[int, int], ...]
    """The most frequent alignment, as (source, target) positions."""


@dataclass(frozen=True, slots=True)
class OptionArrays:
    """The options of a sentence: option i has target_ids[target_offsets[i]:target_offsets[i + 1]], and so on."""

    spans: Int32Array
    pairs: Int64Array
    counts: Int64Array
    scores: Float32Array
    """Columns p(e|f), p(f|e), lex(e|f), lex(f|e)."""
    reordering: Float32Array
    target_offsets: Int64Array
    target_ids: Int32Array
    link_offsets: Int64Array
    links: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
    """Alternating source and target positions."""

    def __len__(self) -> int:
        return len(self.pairs)


class PhraseView:
    """An immutable, thread-safe view, created by `Grammar.view`."""

    __slots__ = ("config", "core", "source_vocab", "tables", "target_vocab")

    def __init__(
        self,
        core: _core.PhraseView,
        tables: GrammarTables,
        config: PhraseViewConfig,
        source_vocab: Vocab,
        target_vocab: Vocab,
    ) -> None:
        self.core = core
        self.tables = tables
        self.config = config
        self.source_vocab = source_vocab
        self.target_vocab = target_vocab

    @property
    def reordering(self) -> tuple[Reordering, ...]:
        """The reordering models of an option's scores, in order."""
        return self.config.reordering

    def options(self, sentence: Sequence[str] | str) -> list[PhraseOption]:
        """The translations of all phrases of a sentence, sorted by begin, end and decreasing p(e|f)."""
        ids = self._encode(sentence)
        return list(self._records(self.option_arrays(ids), ids))

    def option_arrays(self, sentence: Int32Array) -> OptionArrays:
        """The same for word ids, as arrays."""
        return OptionArrays(*self.core.options(sentence))

    def lookup(self, source: Sequence[str] | str) -> list[PhraseOption]:
        """The translations of one source phrase, by decreasing p(e|f)."""
        ids = self._encode(source)
        found = self.tables.find_source(ids)
        return list(self._records(OptionArrays(*self.core.lookup(found)), ids)) if found >= 0 else []

    def find(self, source: Sequence[str] | str, target: Sequence[str] | str) -> PhraseOption | None:
        """One pair, regardless of `max_targets`; None if it does not occur in the view."""
        pair = self.tables.find_pair(self._encode(source), self._encode(target, self.target_vocab))
        return self.pair(pair) if pair >= 0 else None

    def count(self, source: str, target: str) -> int:
        """How often a pair of phrases was extracted, in the view; 0 if it does not occur there."""
        pair = self.tables.find_pair(self._encode(source), self._encode(target, self.target_vocab))
        return int(self.core.pair(pair)[2].sum()) if pair >= 0 else 0

    def pair(self, pair: int) -> PhraseOption | None:
        if not 0 <= pair < self.tables.n_pairs():
            raise IndexError(pair)
        source, _ = self.tables.sides(pair)
        return next(self._records(OptionArrays(*self.core.pair(pair)), source), None)

    def knows_source(self, word: str) -> bool:
        """Whether the view's training data has the word on the source side."""
        return self.core.knows_source(self.source_vocab.id(word))

    def knows_target(self, word: str) -> bool:
        """Whether the view's training data has the word on the target side."""
        return self.core.knows_target(self.target_vocab.id(word))

    def _encode(self, words: Sequence[str] | str, vocab: Vocab | None = None) -> Int32Array:
        return (vocab or self.source_vocab).encode(words if isinstance(words, str) else " ".join(words))

    def _records(self, arrays: OptionArrays, sentence: Int32Array) -> Iterator[PhraseOption]:
        for i in range(len(arrays)):
            begin, end = map(int, arrays.spans[i])
            p_e_f, p_f_e, lex_e_f, lex_f_e = map(float, arrays.scores[i])
            links = arrays.links[arrays.link_offsets[i] : arrays.link_offsets[i + 1]]
            target = arrays.target_ids[arrays.target_offsets[i] : arrays.target_offsets[i + 1]]
            yield PhraseOption(
                begin=begin,
                end=end,
                source=self.source_vocab.decode(sentence[begin:end]),
                target=self.target_vocab.decode(target),
                pair=int(arrays.pairs[i]),
                count=int(arrays.counts[i]),
                p_e_f=p_e_f,
                p_f_e=p_f_e,
                lex_e_f=lex_e_f,
                lex_f_e=lex_f_e,
                reordering=tuple(map(float, arrays.reordering[i])),
                alignment=tuple((int(s), int(t)) for s, t in zip(links[::2], links[1::2], strict=True)),
            )
