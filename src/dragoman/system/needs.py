"""What training will need of memory and disk, told before it takes long, and how it stays within a limit of memory.

Memory is what the process allocates. Mapped files (the tables, scratch files) are not counted: the system takes their
pages back when it needs them. The figures are those of the native code's arrays, times what docs/training-memory.md
measures where the text decides (phrase pairs of a word, n-grams of a word).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman.align import AlignConfig, AlignMethod
from dragoman.corpus import Bitext
from dragoman.cost import format_bytes
from dragoman.errors import InputError
from dragoman.system.settings import ModelSettings
from dragoman.types import rows_of

if TYPE_CHECKING:
    from dragoman.system.train import TrainConfig

__all__ = ["Need", "Plan", "TextSize", "plan_training"]

_PROGRAM = 40 << 20
"""The interpreter with the modules that training imports, beyond what it has when it asks."""
_LEFT_BEHIND = 40 << 20
"""What the allocator keeps of an extraction, although it was freed."""
_SAMPLE_CELLS = 300_000
_CELL, _WORD_PAIR, _ALIGNED_WORD = 4, 16, 24
"""Bytes of the aligner: a pair of positions, of words that occur together, a running word of both sides."""
_LM_WORD, _NGRAM = 20, 43
_NGRAMS = (0.0, 0.22, 0.5, 0.7, 0.78)
"""Distinct n-grams of a running word, by order; higher orders as the last."""
_OCCURRENCE = 50
"""Bytes of an occurrence of a phrase pair or rule while all are in memory; beyond a limit they go to scratch files."""
_SPOOLS = 1.25
"""What the spools of an extraction hold, of the memory that it is told."""
_WRITER = 8 << 20
"""Buffers of a thread that extracts."""
_BUCKETS, _BUCKET_COPIES = 256, 4
_LEAST_SPOOL = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSize:
    """What the need depends on."""

    n_pairs: int
    n_words: tuple[int, int]
    """Running words of source and target."""
    n_cells: int
    """Pairs of positions of sentence pairs that are aligned."""
    n_word_pairs: int
    """Distinct pairs of words that occur together, about."""

    @classmethod
    def of(cls, bitext: Bitext, max_length: int) -> TextSize:
        """Counts cells; word pairs are those of every so manieth source word."""
        lengths = [side.lengths() for side in (bitext.source, bitext.target)]
        aligned = (lengths[0] <= max_length) & (lengths[1] <= max_length)
        n_cells = int((lengths[0] * lengths[1])[aligned].sum())
        return cls(
            n_pairs=len(bitext),
            n_words=(len(bitext.source.ids), len(bitext.target.ids)),
            n_cells=n_cells,
            n_word_pairs=_word_pairs(bitext, lengths[1], max(1, n_cells // _SAMPLE_CELLS)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The need of a stage, in bytes."""

    stage: str
    memory: int
    least: int
    """Memory that it can do with, more slowly."""
    disk: int = 0
    """What it leaves in the system's folder."""
    scratch: int = 0
    """What it writes on the way."""
    advice: str = ""
    """What would need less, where the least is too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The needs of all stages, and what the extraction may use."""

    needs: tuple[Need, ...]
    max_memory_bytes: int | None
    """Of the occurrences of the extraction; None: as its settings say."""
    n_threads: int
    """Of the extraction."""

    @property
    def memory(self) -> int:
        return max((need.memory for need in self.needs), default=0)

    @property
    def disk(self) -> int:
        """Most that the folder holds: what stages leave, and the scratch files of the greediest."""
        return sum(need.disk for need in self.needs) + max((need.scratch for need in self.needs), default=0)

    def __str__(self) -> str:
        stages = ", ".join(f"{need.stage} {format_bytes(need.memory)}" for need in self.needs)
        memory, disk = format_bytes(self.memory), format_bytes(self.disk)
        return f"training will need about {memory} of memory ({stages}) and {disk} of disk"


def plan_training(
    size: TextSize,
    config: TrainConfig,
    *,
    n_threads: int,
    resident: int,
    limit: int | None = None,
    align: bool = True,
    lm: bool = True,
    n_lm_words: int = 0,
) -> Plan:
    """The plan for a text, in a process that has `resident` bytes allocated.

    `align` and `lm`: whether these are made; `n_lm_words` is other text for the language model. Raises InputError where
    a stage cannot stay within `limit` bytes.
    """
    base = resident + _PROGRAM
    needs = []
    if align:
        needs.append(_alignment(size, config.alignment, base))
    grammar, max_memory_bytes, n_threads = _grammar(size, config.settings.model, base, n_threads, limit)
    needs.append(grammar)
    if lm:
        needs.append(
            _lm(size.n_words[1] + 2 * size.n_pairs + n_lm_words, config.lm.order, config.settings.n_folds, base)
        )
    for need in needs:
        if limit is not None and need.least > limit:
            raise InputError(
                f"`memory={format_bytes(limit)}`: the {need.stage} needs at least about {format_bytes(need.least)}; "
                f"say `resume=True` with more, or {need.advice}"
            )
    return Plan(needs=tuple(needs), max_memory_bytes=max_memory_bytes, n_threads=n_threads)


def _word_pairs(bitext: Bitext, target_lengths: np.ndarray, every: int) -> int:
    """Distinct words of both sides that occur in a pair, by every so manieth word of the source vocabulary."""
    source, target = bitext.source, bitext.target
    sentences = np.repeat(np.arange(len(bitext)), source.lengths())
    chosen = source.ids % every == 0
    sentences, words = sentences[chosen], source.ids[chosen].astype(np.int64)
    counts = target_lengths[sentences]
    if not counts.sum():
        return 0
    others = target.ids[rows_of(target.offsets, sentences)[1]]
    return len(np.unique(np.repeat(words, counts) * len(target.vocab) + others)) * every


def _alignment(size: TextSize, config: AlignConfig, base: int) -> Need:
    own = _CELL * size.n_cells + _WORD_PAIR * size.n_word_pairs + _ALIGNED_WORD * sum(size.n_words)
    if config.method is not AlignMethod.FAST:
        own *= 2  # the library's tables; not measured beyond small corpora
    return Need(
        stage="alignment",
        memory=base + own,
        least=base + own,
        disk=4 * size.n_words[1],
        advice="leave out long pairs (corpus clean --max-words), or align elsewhere and give `alignment`",
    )


def _grammar(
    size: TextSize, model: ModelSettings, base: int, n_threads: int, limit: int | None
) -> tuple[Need, int | None, int]:
    """The need of the extraction, and how much its occurrences and how many threads it may have."""
    per_word, pairs_of_occurrences, pair_bytes, row_bytes = model.extraction_rates(size.n_pairs)
    n_occurrences = per_word * size.n_words[0]
    n_pairs = pairs_of_occurrences * n_occurrences
    bucket = _BUCKET_COPIES * _OCCURRENCE * n_occurrences / _BUCKETS
    fixed = base + row_bytes * n_pairs
    usual = model.extraction_memory

    def memory(spool: float, n: int) -> int:
        return int(fixed + min(_OCCURRENCE * n_occurrences, _SPOOLS * spool + n * (bucket + _WRITER)))

    least = memory(_LEAST_SPOOL, 1)
    spool, n = usual, n_threads
    if limit is not None and memory(usual, n) > limit:
        while n > 1 and memory(_LEAST_SPOOL, n) > limit:
            n -= 1
        spool = int(max(_LEAST_SPOOL, min(usual, (limit - fixed - n * (bucket + _WRITER)) / _SPOOLS)))
    need = Need(
        stage="grammar",
        memory=memory(spool, n),
        least=least,
        disk=int(pair_bytes * n_pairs),
        scratch=int(2 * pair_bytes * n_pairs + (_OCCURRENCE * n_occurrences if spool < usual else 0)),
        advice=f"extract less ({model.fewer}), or train on fewer pairs",
    )
    return need, None if spool == usual else spool, n


def _lm(n_words: int, order: int, n_folds: int, base: int) -> Need:
    n_ngrams = sum(_NGRAMS[min(n, len(_NGRAMS) - 1)] for n in range(order)) * n_words
    own = int(_LM_WORD * n_words + _NGRAM * n_ngrams)
    disk = int(27 * n_ngrams) * (1 if n_folds == 1 else n_folds + 1)
    advice = "lower `order`, or give a finished model with `lm`"
    return Need(stage="language model", memory=base + own, least=base + own, disk=disk, advice=advice)
