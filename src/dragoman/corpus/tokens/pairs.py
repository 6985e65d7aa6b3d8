"""Brackets and double quotation marks of a sentence, which belong together two by two."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dragoman.corpus.tokens.tokenizer import GLUE, bare

__all__ = ["QUOTATION", "broken_pairs", "closes", "kind_of", "pairs_of", "without_strays"]

QUOTATION = '"'
"""The kind of all double quotation marks."""
_OPENING = {"(": "(", "[": "[", "{": "{", "（": "（", "“": QUOTATION, "„": QUOTATION, "‟": QUOTATION, "«": QUOTATION}
_OPENING |= {"「": QUOTATION, "『": QUOTATION}
_CLOSING = {")": "(", "]": "[", "}": "{", "）": "（", "”": QUOTATION, "»": QUOTATION, "」": QUOTATION, "』": QUOTATION}
_KINDS = {**_OPENING, **_CLOSING, '"': QUOTATION}


def kind_of(token: str) -> str | None:
    """What kind of pair a token begins or ends; None if it does neither."""
    return _KINDS.get(bare(token)) if len(token) < 4 else None


def closes(token: str) -> bool | None:
    """Whether a bracket or quotation mark ends a pair. Glue tells it of quotation marks; None if nothing does."""
    sign, on_left, on_right = bare(token), token.startswith(GLUE), token.endswith(GLUE)
    if _KINDS.get(sign) == QUOTATION and (on_left or on_right):
        return None if on_left and on_right else on_left
    return sign in _CLOSING if sign in _OPENING or sign in _CLOSING else None


def pairs_of(tokens: Sequence[str], kinds: Collection[str]) -> list[tuple[int, int]] | None:
    """Places where pairs of these kinds begin and end; None if they are not balanced."""
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if (kind := kind_of(token)) is None or kind not in kinds:
            continue
        fits = bool(opened) and kind_of(tokens[opened[-1]]) == kind
        ends = closes(token)
        if not (fits if ends is None else ends):
            opened.append(place)
        elif not fits:
            return None
        else:
            pairs.append((opened.pop(), place))
    return None if opened else pairs


def broken_pairs(source: Sequence[str], target: Sequence[str]) -> frozenset[str]:
    """Kinds of pairs that the source has and that the target does not have two by two, or has crossing each other."""
    kinds = {kind for token in source if (kind := kind_of(token)) is not None}
    whole = frozenset(kind for kind in kinds if pairs_of(source, (kind,)))
    broken = frozenset(kind for kind in whole if pairs_of(target, (kind,)) is None)
    crossing = len(whole) > 1 and pairs_of(source, whole) is not None and pairs_of(target, whole) is None
    return whole if crossing and not broken else broken


def without_strays(source: Sequence[str], target: Sequence[str]) -> list[str]:
    """The target without brackets that are not two by two, where the source has none of their kind."""
    kinds = {kind_of(token) for token in target} - {kind_of(token) for token in source} - {None, QUOTATION}
    strays = {kind for kind in kinds if kind is not None and pairs_of(target, (kind,)) is None}
    return [token for token in target if kind_of(token) not in strays] if strays else list(target)
