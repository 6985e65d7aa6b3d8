"""Lines of text through a view of a system, whatever kind of text it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dragoman.pipeline import TokenLines
from dragoman.pipeline.forced import Glossary, Masks, lost_spans

__all__ = ["LineTranslation"]

Decode = Callable[[Sequence[str]], Iterable[str]]
"""Translates sentences of tokens."""


@dataclass(slots=True)
class _Piece:
    """A sentence of a line."""

    line: int
    tokens: str
    masks: Masks
    found: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTranslation:
    """Splits lines into sentences, translates them and joins them.

    Terms have the translation of the glossary. With `protect`, a sentence that lost or repeated a span (an address, a
    placeholder, a tag, a number) is decoded again with that span as an unknown word, which every decoder keeps.
    """

    text: TokenLines
    terms: Mapping[str, str] = field(default_factory=dict)
    protect: bool = False

    def translate(self, lines: Sequence[str], decode: Decode) -> list[str]:
        """The translation of each line."""
        glossary = Glossary(self.terms, self.text) if self.terms else None
        pieces: list[_Piece] = []
        of_lines = [Masks(line) for line in lines]
        for number, (line, masks) in enumerate(zip(lines, of_lines, strict=True)):
            marked = masks.marked(line, self.text)
            for tokens in self.text.sentences(masks.hidden(marked) if self.text.hides_spans else marked):
                masked = tokens if glossary is None else glossary.masked(tokens, masks)
                pieces.append(_Piece(number, masked, masks))
        for piece, found in zip(pieces, decode([piece.tokens for piece in pieces]), strict=True):
            piece.found = piece.masks.resolved(found)
        if self.protect:
            self._decode_again(pieces, decode)
        out: list[list[str]] = [[] for _ in lines]
        for piece in pieces:
            if piece.found:
                out[piece.line].append(piece.found)
        return [
            masks.shown(self.text.restore(" ".join(parts), line))
            for line, parts, masks in zip(lines, out, of_lines, strict=True)
        ]

    def _decode_again(self, pieces: Sequence[_Piece], decode: Decode) -> None:
        again = [
            (piece, lost, piece.masks.spans(piece.tokens, lost))
            for piece in pieces
            if (lost := lost_spans(piece.tokens, piece.found))
        ]
        if again:
            for (piece, lost, _), found in zip(again, decode([tokens for *_, tokens in again]), strict=True):
                piece.found = piece.masks.resolved(found, lost)
