"""Lines of text through a view of a system, whatever kind of text it takes, and what is too long for one search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dragoman.corpus.tokens import TokenLines
from dragoman.corpus.tokens.forced import Glossary, Masks, lost_spans, without_marks
from dragoman.corpus.tokens.pairs import broken_pairs, kind_of, pairs_of, without_strays
from dragoman.corpus.tokens.tags import Tag, put_tags, take_tags
from dragoman.errors import InputError
from dragoman.system.explain import Explanation
from dragoman.text import split_tokens
from dragoman.types import PathLike

__all__ = ["LineTranslation", "LongLines", "check_lengths", "parts_of"]

Decode = Callable[[Sequence[str]], Iterable[str]]
"""Translates sentences of tokens."""
DecodeLinked = Callable[[str], tuple[str, Sequence[tuple[int, int]]]]
"""Translates one sentence and gives its word links, (source, target) positions."""
Explain = Callable[[str], Explanation | None]
"""Explains the translation of one sentence of tokens."""

_SHOWN = 5
"""Lines that a warning names."""


@dataclass(slots=True)
class _Piece:
    """Sentences of a line that are translated at once; `tokens` has no tags, `whole` has."""

    line: int
    whole: str
    tokens: str
    tags: Sequence[Tag]
    masks: Masks
    without: frozenset[str] = frozenset()
    """Kinds of brackets and quotation marks that were taken out, too, and put back as tags are."""
    found: str = ""

    def drop_strays(self) -> None:
        """Leave out halves of brackets that the decoder made of nothing."""
        wanted = " ".join([self.whole, *self.masks.targets.values()])
        self.found = " ".join(without_strays(split_tokens(wanted), split_tokens(self.found)))

    def tagged(self, target: Sequence[str], links: Iterable[tuple[int, int]]) -> str:
        """Target tokens with the tags, given the word links of the translation."""
        if not self.tags:
            return " ".join(target)
        if self.without:  # those that the decoder made of nothing
            kept = [place for place, token in enumerate(target) if kind_of(token) not in self.without]
            new = {place: number for number, place in enumerate(kept)}
            links = [(s, new[t]) for s, t in links if t in new]
            target = [target[place] for place in kept]
        return " ".join(put_tags(target, links, self.tags))


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTranslation:
    """Splits lines into sentences, translates them and joins them.

    Terms have the translation of the glossary. With `protect`, tags are put where the words they stood at went, and a
    sentence that lost or repeated another span (an address, a placeholder, a number) is decoded again with that span
    as an unknown word, which every decoder keeps; one whose brackets or quotation marks are no pairs any more, without
    them, and they are put back as tags are.
    """

    text: TokenLines
    terms: Mapping[str, str] = field(default_factory=dict)
    protect: bool = False

    def translate(self, lines: Sequence[str], decode: Decode, linked: DecodeLinked) -> list[str]:
        """The translation of each line."""
        of_lines = [Masks(line) for line in lines]
        pieces = self._pieces(lines, of_lines)
        for piece, found in zip(pieces, _decode(pieces, [p.tokens for p in pieces], decode, linked), strict=True):
            piece.found = piece.masks.resolved(found)
        if self.protect:
            _decode_again(pieces, decode, linked)
            broken = pieces
            while broken := [piece for piece in broken if self._take_pairs(piece)]:
                again = _decode(broken, [piece.tokens for piece in broken], decode, linked)
                for piece, found in zip(broken, again, strict=True):
                    piece.found = piece.masks.resolved(found)
                _decode_again(broken, decode, linked)
            for piece in pieces:
                piece.drop_strays()
        out: list[list[str]] = [[] for _ in lines]
        for piece in pieces:
            if piece.found:
                out[piece.line].append(piece.found)
        return [
            masks.shown(self.text.restore(" ".join(parts), line))
            for line, parts, masks in zip(lines, out, of_lines, strict=True)
        ]

    def explain(self, line: str, explained: Explain) -> Iterator[Explanation]:
        """How each sentence of a line becomes what `translate` makes of it, without its tags; none for an empty line.

        What is forced or protected is one word on both sides, with no-break spaces inside.
        """
        masks = Masks(line)
        for piece in self._pieces([line], [masks]):
            found = self._explained(piece, explained)
            if found is None:
                continue
            while self.protect and self._take_pairs(piece):
                found = self._explained(piece, explained) or found
            if self.protect:
                piece.drop_strays()
            output = masks.shown(self.text.restore(piece.found, line))
            yield found.with_words(*masks.words(), output if self.text.is_raw else "")

    def _explained(self, piece: _Piece, explained: Explain) -> Explanation | None:
        """The explanation of a piece, whose `found` is then what it becomes."""
        found, masks = explained(piece.tokens), piece.masks
        if found is None:
            return None
        lost = lost_spans(piece.tokens, masks.resolved(found.text)) if self.protect else Counter()
        if lost:
            found = explained(masks.spans(piece.tokens, lost)) or found
        piece.found = masks.resolved(piece.tagged(split_tokens(found.text), found.alignment), lost)
        return found

    def _take_pairs(self, piece: _Piece) -> bool:
        """Whether a translation broke more pairs of brackets or quotation marks; then they are taken out."""
        whole = split_tokens(piece.whole)
        broken = broken_pairs(whole, split_tokens(piece.found)) | piece.without
        pairs = pairs_of(whole, broken) if broken != piece.without else None
        if not pairs:
            return False
        words, tags = take_tags(whole, pairs)
        piece.tokens, piece.without = " ".join(words), broken
        piece.tags = [replace(tag, token=self.text.paired(tag.token, tag.closes)) for tag in tags]
        return bool(words)

    def _pieces(self, lines: Sequence[str], of_lines: Sequence[Masks]) -> list[_Piece]:
        """What is decoded at once, with the masks of each line."""
        glossary = Glossary(self.terms, self.text) if self.terms else None
        pieces: list[_Piece] = []
        for number, (line, masks) in enumerate(zip(lines, of_lines, strict=True)):
            masked = masks.marked(line, self.text)
            if glossary is not None:
                masked = glossary.masked(masked, masks)
            for tokens in self.text.sentences(masks.hidden(masked) if self.text.hides_spans else masked):
                words, tags = take_tags(split_tokens(tokens)) if self.protect and "<" in tokens else ([], [])
                pieces.append(_Piece(number, tokens, " ".join(words) if tags else tokens, tags, masks))
        return pieces


def _decode(pieces: Sequence[_Piece], tokens: Sequence[str], decode: Decode, linked: DecodeLinked) -> list[str]:
    """Translations of the tokens of each piece, with its tags."""
    plain = iter(decode([sentence for piece, sentence in zip(pieces, tokens, strict=True) if not piece.tags]))
    found = []
    for piece, sentence in zip(pieces, tokens, strict=True):
        if piece.tags:
            target, links = linked(sentence)
            found.append(piece.tagged(split_tokens(target), links))
        else:
            found.append(next(plain))
    return found


def _decode_again(pieces: Sequence[_Piece], decode: Decode, linked: DecodeLinked) -> None:
    again = [
        (piece, lost, piece.masks.spans(piece.tokens, lost))
        for piece in pieces
        if (lost := lost_spans(piece.tokens, piece.found))
    ]
    decoded = _decode([piece for piece, *_ in again], [tokens for *_, tokens in again], decode, linked)
    for (piece, lost, _), found in zip(again, decoded, strict=True):
        piece.found = piece.masks.resolved(found, lost)


def parts_of(tokens: str, max_words: int) -> list[str]:
    """The sentence in as few parts as have at most so many words each, of about equal length."""
    if len(tokens) < 2 * max_words:  # too short for more words with spaces between
        return [tokens]
    words = split_tokens(tokens)
    n = max(1, -(-len(words) // max_words))
    return [" ".join(words[part * len(words) // n : (part + 1) * len(words) // n]) for part in range(n)]


def check_lengths(sentences: Iterable[str], max_words: int, path: PathLike) -> None:
    """Raises InputError, with its line, for a sentence of tokens that has more words."""
    for number, sentence in enumerate(sentences, 1):
        _check(split_tokens(sentence), max_words, path, number)


class LongLines:
    """Watches lines of a text on their way to a decoder for sentences of more words than it searches at once."""

    def __init__(self, text: TokenLines, max_words: int) -> None:
        self._text = text
        self._max_words = max_words
        self.numbers: list[int] = []
        """Of lines found so far, from 1."""

    def counted(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines; notes those with such sentences, for translations of which `warning` tells."""
        for number, line in enumerate(lines, 1):
            if any(len(words) > self._max_words for words in self._sentences(line, self._text.sentences)):
                self.numbers.append(number)
            yield line

    def refused(self, lines: Iterable[str], path: PathLike, *, whole: bool = True) -> Iterator[str]:
        """The same lines; raises InputError at the first with such a sentence. A line is one if `whole`."""
        for number, line in enumerate(lines, 1):
            for words in self._sentences(line, self._whole if whole else self._text.sentences):
                _check(words, self._max_words, path, number)
            yield line

    def warning(self) -> str | None:
        """A sentence for the user about the lines that were cut; None if there is none."""
        if not self.numbers:
            return None
        shown = ", ".join(f"{number:,}" for number in self.numbers[:_SHOWN])
        more = f" and {len(self.numbers) - _SHOWN:,} more" if len(self.numbers) > _SHOWN else ""
        lines, have, it = ("line", "has", "it was") if len(self.numbers) == 1 else ("lines", "have", "they were")
        return (
            f"warning: {lines} {shown}{more} {have} a sentence of more than {self._max_words:,} words; {it} cut into "
            "parts that were translated one by one. For better translations put one sentence on a line"
        )

    def _whole(self, line: str) -> list[str]:
        return [self._text.prepare(line)]

    def _sentences(self, line: str, split: Callable[[str], list[str]]) -> Iterator[Sequence[str]]:
        if len(line) > self._max_words:  # a token has at least one character
            yield from map(split_tokens, split(without_marks(line)))


def _check(words: Sequence[str], max_words: int, path: PathLike, number: int) -> None:
    if len(words) > max_words:
        raise InputError(
            f"has a sentence of {len(words):,} words; at most {max_words:,} are searched at once: "
            "put one sentence on a line",
            path=path,
            line=number,
        )
