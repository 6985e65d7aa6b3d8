"""A view of a rule grammar for a decoder: all data or all but one fold, scored and limited."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman import _core
from dragoman._core import GrammarTables, escape_word, unescape_word
from dragoman.corpus import UNK, Vocab
from dragoman.errors import InputError
from dragoman.grammar.config import RuleViewConfig
from dragoman.settings import Record
from dragoman.types import Int32Array

__all__ = ["RULE_SCORES", "Rule", "RuleKind", "RuleView", "is_nonterminal", "nonterminal_of"]

RULE_SCORES = ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e", "count_log", "singleton")
"""Names of the scores of extracted rules."""
_NONTERMINAL = re.compile(r"\[([^\[\]\s,]+),([1-9]\d{0,2})\]")


class RuleKind(enum.Enum):
    """The origin of a rule."""

    COMPOSED = 0
    """It can be composed of other rules wherever it occurs in the view."""
    MINIMAL = 1
    """Somewhere in the view it cannot be composed of other rules."""
    ADDED = 2
    """In the view it is only a rule of minimal trees that the limits of the extraction do not allow, or it was read
    from a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Record):
    """A synchronous rule. On both sides `[X,1]` is the first nonterminal of the source side; words that look like one
    stand in their escaped form.
    """

    rule: int
    """The rule's id, the same in every view."""
    lhs: str
    source: str
    target: str
    kind: RuleKind
    count: int
    """Count in the view; for an imported grammar, as in its file."""
    mass: float
    """The fractional count in the view; 0 for an imported grammar."""
    scores: tuple[float, ...]
    """Scores in the order of `RuleView.score_names`."""
    alignment: tuple[tuple[int, int], ...]
    """The most frequent alignment, as (source, target) positions of symbols."""


class RuleView:
    """An immutable, thread-safe view of rules, created by `Grammar.rule_view`."""

    __slots__ = ("config", "core", "labels", "score_names", "source_vocab", "tables", "target_vocab")

    def __init__(
        self,
        core: _core.RuleView,
        tables: GrammarTables,
        config: RuleViewConfig,
        source_vocab: Vocab,
        target_vocab: Vocab,
        labels: tuple[str, ...],
        score_names: tuple[str, ...],
    ) -> None:
        self.core = core
        self.tables = tables
        self.config = config
        self.source_vocab = source_vocab
        self.target_vocab = target_vocab
        self.labels = labels
        self.score_names = score_names

    def lookup(self, source: Sequence[str] | str) -> list[Rule]:
        """The rules of one source side, by decreasing p(e|f)."""
        symbols = self._source_symbols(_split(source))
        found = self.tables.find_source(symbols) if symbols is not None else -1
        return list(self._rules(self.core.lookup(found), symbols)) if symbols is not None and found >= 0 else []

    def find(self, source: Sequence[str] | str, target: Sequence[str] | str, lhs: str = "X") -> Rule | None:
        """One rule, regardless of `max_targets`; None if it does not occur in the view."""
        from_symbols, to_symbols = self._source_symbols(_split(source)), self._target_symbols(_split(target), lhs)
        if from_symbols is None or to_symbols is None:
            return None
        rule = self.tables.find_pair(from_symbols, to_symbols)
        return self.rule(rule) if rule >= 0 else None

    def count(self, source: str, target: str, lhs: str = "X") -> int:
        """How often a rule was extracted, in the view; 0 if it does not occur there."""
        found = self.find(source, target, lhs)
        return 0 if found is None else found.count

    def rule(self, rule: int) -> Rule | None:
        if not 0 <= rule < self.tables.n_pairs():
            raise IndexError(rule)
        source, _ = self.tables.sides(rule)
        return next(self._rules(self.core.rule(rule), source), None)

    def knows_source(self, word: str) -> bool:
        """Whether the view's training data has the word on the source side."""
        return self.core.knows_source(self.source_vocab.id(word))

    def knows_target(self, word: str) -> bool:
        """Whether the view's training data has the word on the target side."""
        return self.core.knows_target(self.target_vocab.id(word))

    def _label(self, name: str) -> int:
        if name not in self.labels:
            raise InputError(f"no nonterminal is called {name!r}; there are {', '.join(self.labels)}")
        return self.labels.index(name)

    def _source_symbols(self, tokens: Sequence[str]) -> Int32Array | None:
        symbols = []
        for token in tokens:
            if nonterminal := nonterminal_of(token):
                symbols.append(-1 - self._label(nonterminal[0]))
            elif (word := _word_id(self.source_vocab, token)) != UNK:
                symbols.append(word)
            else:
                return None
        return np.array(symbols, dtype=np.int32)

    def _target_symbols(self, tokens: Sequence[str], lhs: str) -> Int32Array | None:
        symbols = [-1 - self._label(lhs)]
        for token in tokens:
            if nonterminal := nonterminal_of(token):
                symbols.append(-nonterminal[1])
            elif (word := _word_id(self.target_vocab, token)) != UNK:
                symbols.append(word)
            else:
                return None
        return np.array(symbols, dtype=np.int32)

    def _rules(self, arrays: tuple[np.ndarray, ...], source: Int32Array) -> Iterator[Rule]:
        rules, lhs, kinds, counts, masses, scores, target_offsets, targets, link_offsets, links = arrays
        labels = [self._name(-1 - symbol) for symbol in source.tolist() if symbol < 0]
        names = [f"[{label},{i}]" for i, label in enumerate(labels, 1)]
        places = iter(names)
        source_text = " ".join(next(places) if s < 0 else self._stored(self.source_vocab, s) for s in source.tolist())
        for i in range(len(rules)):
            target = targets[target_offsets[i] : target_offsets[i + 1]].tolist()
            row = links[link_offsets[i] : link_offsets[i + 1]].tolist()
            if any(-1 - s >= len(names) for s in target):
                raise InputError("a target side has a nonterminal that its source side lacks; the grammar is damaged")
            yield Rule(
                rule=int(rules[i]),
                lhs=self._name(int(lhs[i])),
                source=source_text,
                target=" ".join(names[-1 - s] if s < 0 else self._stored(self.target_vocab, s) for s in target),
                kind=RuleKind(int(kinds[i])),
                count=int(counts[i]),
                mass=float(masses[i]),
                scores=tuple(map(float, scores[i])),
                alignment=tuple(zip(row[::2], row[1::2], strict=True)),
            )

    def _name(self, label: int) -> str:
        if label >= len(self.labels):
            raise InputError("a nonterminal has no label; the grammar is damaged")
        return self.labels[label]

    @staticmethod
    def _stored(vocab: Vocab, word: int) -> str:
        if word >= len(vocab):
            raise InputError("a word is not in the vocabulary; the grammar is damaged")
        return vocab.stored(word).decode("utf-8")


def _split(side: Sequence[str] | str) -> Sequence[str]:
    return side.split() if isinstance(side, str) else side


def is_nonterminal(token: str) -> bool:
    """Whether a symbol of a rule in text is a nonterminal such as `[X,1]`."""
    return nonterminal_of(token) is not None


def nonterminal_of(token: str) -> tuple[str, int] | None:
    """The label and the number of `[X,1]`."""
    found = _NONTERMINAL.fullmatch(token)
    return (found[1], int(found[2])) if found else None


def _word_id(vocab: Vocab, token: str) -> int:
    """The id of a word in plain or escaped form; UNK if it is out of vocabulary."""
    word = token.encode("utf-8")
    if not (word.startswith(b"\\") and escape_word(unescape_word(word)) == word):
        word = escape_word(word)
    found = vocab.table.find(word)
    return UNK if found < 0 else found
