"""How many words of a text a system does not know, and why that may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.corpus import Vocab
from dragoman.corpus.tokens import TokenLines, look_at
from dragoman.corpus.tokens.tokenizer import GLUE
from dragoman.system.system import System
from dragoman.text import split_tokens

__all__ = ["UnknownWords", "other_kind", "unknown_source", "unknown_target"]

MANY = 0.2
"""Above this share something is probably wrong with the text."""
_FEW = 5
_CLEAR = 0.75
"""Share of punctuation that must look alike to say of what kind a text is."""
_SMALL_TEXT = 20_000
"""With fewer sentence pairs a fifth of the words of other text can be unknown."""
_MUCH_LESS = 0.6
"""What explains unknown words leaves at most this part of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWords:
    """Words of a text, how many of them are unknown, and what probably is the reason where they are many."""

    n_words: int
    n_unknown: int
    causes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return self.n_unknown / self.n_words if self.n_words else 0.0

    @property
    def many(self) -> bool:
        """Whether there are more than an ordinary text has; a few words tell nothing unless all are unknown."""
        return self.share > MANY and (self.n_unknown >= _FEW or self.n_unknown == self.n_words)

    def warning(self, what: str) -> str:
        """What to warn of. `what` names the text."""
        return (
            f"the system does not know {100 * self.share:.0f} % of the words of {what} "
            f"({self.n_unknown:,} of {self.n_words:,}); {' or '.join(self.causes)}"
        )


def unknown_source(system: System, lines: Sequence[str], text: TokenLines) -> UnknownWords:
    """Of source lines, which `text` makes tokens of."""
    tokens = [text.prepare(line) for line in lines]
    return _judge(tokens, lines, text, (system.grammar.source_vocab, system.grammar.target_vocab), _n_pairs(system))


def unknown_target(system: System, lines: Sequence[str], text: TokenLines) -> UnknownWords:
    """Of references."""
    tokens = [text.prepare_target(line) for line in lines]
    return _judge(tokens, lines, text, (system.grammar.target_vocab, system.grammar.source_vocab), _n_pairs(system))


def other_kind(lines: Sequence[str], text: TokenLines) -> str | None:
    """How the lines differ from what the system takes, raw text or tokens, and what to do; None if nothing tells."""
    look = look_at(lines)
    if look.raw is None or look.raw == text.is_raw:
        return None
    n_signs = look.n_attached + look.n_alone
    if n_signs and max(look.n_attached, look.n_alone) < max(_FEW, _CLEAR * n_signs):
        return None
    if look.raw:
        return f"it is not tokenised ({look}), and the system takes tokens: add `tokenized=False`"
    if any(GLUE in line for line in lines):
        return "it is tokenised already, and the system takes raw text: add `tokenized=True`"
    return (
        f"it is tokenised already ({look}), and the system takes raw text: "
        "give the text as people write it, or undo it by `dragoman corpus detokenize --moses`"
    )


def _n_pairs(system: System) -> int | None:
    """Sentence pairs of the training text; None where tables came without it."""
    found = system.manifest.about.get("n_lines")
    return None if found is None else int(found)


def _few(n_pairs: int | None) -> str:
    """Whether a training text is too small to know most words."""
    few = n_pairs is not None and n_pairs < _SMALL_TEXT
    return f", or the training text is small ({n_pairs:,} pairs)" if few else ""


def _judge(
    tokens: Sequence[str],
    lines: Sequence[str],
    text: TokenLines,
    vocabs: tuple[Vocab, Vocab],
    n_pairs: int | None,
) -> UnknownWords:
    own, other = vocabs
    words = [word for line in tokens for word in split_tokens(line) if any(map(str.isalpha, word))]
    n_unknown = _count(words, own)
    found = UnknownWords(n_words=len(words), n_unknown=n_unknown)
    if not found.many:
        return found
    causes = []
    if _count(words, other) < _MUCH_LESS * n_unknown:
        causes.append("source and target are swapped: these are words of the other language")
    if (kind := other_kind(lines, text)) is not None:
        causes.append(kind)
    if _count([word.lower() for word in words], own) < _MUCH_LESS * n_unknown:
        causes.append("the system was trained on lowercased text, and this is not")
    return UnknownWords(
        n_words=len(words),
        n_unknown=n_unknown,
        causes=tuple(causes or [f"it is another language, or of another kind than the training text{_few(n_pairs)}"]),
    )


def _count(words: Iterable[str], vocab: Vocab) -> int:
    """Words that are not in the vocabulary."""
    known: dict[str, bool] = {}
    n = 0
    for word in words:
        if (is_known := known.get(word)) is None:
            is_known = known[word] = word in vocab
        n += not is_known
    return n
