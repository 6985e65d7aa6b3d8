"""Settings of grammars and their views."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from dragoman import _core
from dragoman.errors import InputError
from dragoman.settings import Record, about

__all__ = [
    "PhraseExtraction",
    "PhraseSmoothing",
    "PhraseViewConfig",
    "Reordering",
    "ReorderingKind",
    "RuleCut",
    "RuleExtraction",
    "RuleViewConfig",
]

MAX_PHRASE_LENGTH = 255
MAX_SENTENCE_LENGTH = 4096
MAX_EXTRACTED_NONTERMINALS = 2
MANY_SENTENCE_PAIRS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseExtraction(Record):
    """Settings of phrase extraction."""

    max_length: int = 7
    """Maximum number of words on each side."""
    max_sentence_length: int = 1000
    """Pairs with more words on a side are left out: time grows with the square of the length."""
    max_memory_bytes: int = field(default=4 << 30, metadata=about(most=1 << 62))
    """Occurrences beyond about this go to scratch files; the finished tables are not counted."""
    n_threads: int = 1

    def _check(self) -> None:
        if not 1 <= self.max_length <= MAX_PHRASE_LENGTH:
            raise InputError(f"the maximal phrase length must be from 1 to {MAX_PHRASE_LENGTH}, not {self.max_length}")
        if not 1 <= self.max_sentence_length <= MAX_SENTENCE_LENGTH:
            raise InputError(
                f"the maximal sentence length must be from 1 to {MAX_SENTENCE_LENGTH}, not {self.max_sentence_length}"
            )
        if self.max_memory_bytes < 1 or self.n_threads < 1:
            raise InputError("memory and the number of threads must be positive")


class RuleCut(enum.StrEnum):
    """Which rules `min_count` leaves out."""

    ALL = "all"
    """Rules with nonterminals, minimal ones too."""
    COMPOSED = "composed"
    """Rules that other rules make up wherever they occur, with nonterminals or without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleExtraction(Record):
    """Settings of the extraction of hierarchical rules.

    The defaults are Chiang's (2007), except for two of Moses': phrases may begin and end with unaligned words, which
    translates better (docs/experiments/hiero.md), and a nonterminal covers at least two source words. Chiang's are
    `tight=True, min_source_gap=1`.
    """

    max_length: int = 10
    """Maximum number of words on each side of an initial phrase pair."""
    tight: bool | None = None
    """Initial phrases neither begin nor end with unaligned words. None: so for more than 200,000 sentence pairs, where
    the others would be too many."""
    max_nonterminals: int = 2
    max_symbols: int = 5
    """Maximum number of words and nonterminals of a source side."""
    adjacent: bool = False
    """Whether nonterminals may be adjacent in the source."""
    aligned: bool = True
    """Whether a rule must have at least one pair of linked words."""
    min_source_gap: int = 2
    """Minimum number of source words that a nonterminal covers."""
    min_target_gap: int = 1
    fractional: bool = True
    """Whether the rules of an initial phrase pair share a count of 1 evenly; otherwise each counts 1."""
    min_count: int | None = None
    """Rules with nonterminals that occur less often in all folds are left out, and views ask for as many occurrences
    after subtraction. None: 2 for more than 200,000 sentence pairs or cut=composed, else 1."""
    cut: RuleCut = RuleCut.ALL
    """Whether `min_count` leaves out all rules with nonterminals that occur less often, or only composed rules, with
    nonterminals or without. Minimal rules stay with `composed`, so that no sentence pair loses its derivations."""
    added: bool = False
    """Whether rules of a pair's minimal tree that the limits do not allow are stored too, flagged as added. They may
    have any number of nonterminals; views hide them unless asked. Rules with more than 255 symbols on a side are not
    stored."""
    max_added: float = 1.0
    """Sentence pairs are left out where more than this share of the source words is in rules of the minimal tree that
    the limits do not allow, whether these are stored or not; a rule without words counts 0."""
    max_sentence_length: int = 1000
    """Pairs with more words on a side are left out."""
    max_memory_bytes: int = field(default=4 << 30, metadata=about(most=1 << 62))
    """Occurrences beyond about this go to scratch files; the finished tables are not counted."""
    n_threads: int = 1

    def _check(self) -> None:
        for name in ("max_length", "max_symbols", "min_source_gap", "min_target_gap"):
            if not 1 <= getattr(self, name) <= MAX_PHRASE_LENGTH:
                raise InputError(f"{name} must be from 1 to {MAX_PHRASE_LENGTH}, not {getattr(self, name)}")
        if not 0 <= self.max_nonterminals <= MAX_EXTRACTED_NONTERMINALS:
            raise InputError(
                f"rules with 0 to {MAX_EXTRACTED_NONTERMINALS} nonterminals can be extracted,"
                f" not {self.max_nonterminals}"
            )
        if self.min_count is not None and self.min_count < 1:
            raise InputError(f"the least count must be at least 1, not {self.min_count}")
        if self.cut is RuleCut.COMPOSED and self.min_count == 1:
            raise InputError("cut=composed with min_count=1 would leave out nothing; min_count must be 2 or more")
        if not 0 <= self.max_added <= 1:
            raise InputError(f"max_added is a share of the words of a pair, from 0 to 1, not {self.max_added}")
        if not 1 <= self.max_sentence_length <= MAX_SENTENCE_LENGTH:
            raise InputError(
                f"the maximal sentence length must be from 1 to {MAX_SENTENCE_LENGTH}, not {self.max_sentence_length}"
            )
        if self.max_memory_bytes < 1 or self.n_threads < 1:
            raise InputError("memory and the number of threads must be positive")

    def is_tight(self, n_sentence_pairs: int) -> bool:
        """`tight`, or its default for this number of sentence pairs."""
        return n_sentence_pairs > MANY_SENTENCE_PAIRS if self.tight is None else self.tight

    def least_count(self, n_sentence_pairs: int) -> int:
        """`min_count`, or its default for this number of sentence pairs."""
        is_cut = n_sentence_pairs > MANY_SENTENCE_PAIRS or self.cut is RuleCut.COMPOSED
        return self.min_count or (2 if is_cut else 1)


class ReorderingKind(enum.StrEnum):
    """The context that determines a phrase's orientation."""

    WORD = "word"
    """The word links adjacent to the phrase (Koehn et al. 2005), as in Moses' `wbe` models."""
    PHRASE = "phrase"
    """Any adjacent phrase up to the maximum phrase length (Tillmann 2004)."""
    HIERARCHICAL = "hierarchical"
    """Any adjacent block (Galley and Manning 2008)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordering(Record):
    """A lexicalised reordering model with one score per direction and orientation.

    3 orientations: mono, swap, discontinuous. 4: discontinuous split into left and right, by the source position of the
    later phrase. 5, hierarchical only: mono split into mono and mono next to one block of everything before (after) it.
    """

    kind: ReorderingKind = ReorderingKind.WORD
    n_orientations: int = 3

    def _check(self) -> None:
        most = 5 if self.is_hierarchical else 4
        if not 3 <= self.n_orientations <= most:
            raise InputError(f"a {self.kind} reordering model has 3 to {most} orientations, not {self.n_orientations}")

    @property
    def is_hierarchical(self) -> bool:
        """Whether orientations are relative to blocks."""
        return self.kind is ReorderingKind.HIERARCHICAL

    def names(self) -> list[str]:
        """Names of the scores in order: `bwd_m`, `bwd_s`, … `fwd_d`."""
        letters = {3: "msd", 4: "mslr", 5: "mslrg"}[self.n_orientations]
        return [f"{direction}_{letter}" for direction in ("bwd", "fwd") for letter in letters]

    def native(self) -> tuple[_core.ReorderingModel, int]:
        return _core.ReorderingModel[self.kind.name], self.n_orientations


class PhraseSmoothing(enum.StrEnum):
    """How phrase probabilities are estimated from counts."""

    NONE = "none"
    """Relative frequencies."""
    KNESER_NEY = "kneser-ney"
    """Modified Kneser-Ney (Foster, Kuhn and Johnson 2006): discounts given back by the number of distinct partners."""

    def native(self) -> _core.PhraseSmoothing:
        return _core.PhraseSmoothing[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseViewConfig(Record):
    """Settings of a view of phrase pairs. Counts exclude the excluded fold."""

    excluded_fold: int | None = None
    max_targets: int = 20
    """Of a source side, the best by p(e|f), ties by the other three scores; 0: all."""
    min_count: int = 1
    smoothing: PhraseSmoothing = PhraseSmoothing.NONE
    reordering: tuple[Reordering, ...] = (Reordering(),)
    reordering_smoothing: float = 0.5
    """Added to the count of every orientation (additive smoothing)."""
    n_threads: int = 1
    """Threads for smoothing, which counts all pairs once."""

    def _check(self) -> None:
        if self.excluded_fold is not None and self.excluded_fold < 0:
            raise InputError(f"a fold is counted from 0, not {self.excluded_fold}")
        if self.max_targets < 0 or self.min_count < 1:
            raise InputError("the number of targets must be at least 0 (all), the least count at least 1")
        if not 0 < self.reordering_smoothing < float("inf"):
            raise InputError(f"the smoothing of orientations must be positive, not {self.reordering_smoothing}")
        if self.n_threads < 1:
            raise InputError(f"the number of threads must be positive, not {self.n_threads}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleViewConfig(Record):
    """Settings of a view of rules. Counts exclude the excluded fold."""

    excluded_fold: int | None = None
    max_targets: int = 20
    """Of a source side, the best by p(e|f), ties by the other three scores; 0: all. Imported rules without such a
    score are all shown."""
    min_count: int | None = None
    """Of the rules that the extraction's `cut` is about. None: what it asked for, below which there is nothing."""
    added: bool = False
    """Whether to show added rules as well. The others stay as they are, scores and all: of a source side, the best
    `max_targets` added rules come to them. A decoder matches only source sides that extracted rules have. Imported
    rules are always shown."""

    def _check(self) -> None:
        if self.excluded_fold is not None and self.excluded_fold < 0:
            raise InputError(f"a fold is counted from 0, not {self.excluded_fold}")
        if self.max_targets < 0 or (self.min_count is not None and self.min_count < 1):
            raise InputError("the number of targets must be at least 0 (all), the least count at least 1")
