"""Explanations of given translations: the best derivation, and why the system prefers its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dragoman.features import Weights
from dragoman.search import ForcedConfig
from dragoman.settings import takes_text
from dragoman.system.explain import Explanation, Piece, explain, explanation_of
from dragoman.system.translator import Preset, Translator
from dragoman.text import split_tokens
from dragoman.types import Progress

__all__ = ["Difference", "ForcedExplanation", "Verdict", "force"]

_EQUAL = 1e-3
"""Scores that differ by less are those of equal derivations, but for rounding."""

_NOTHING = "(nothing)"


class Verdict(StrEnum):
    """Why a translation is not the system's own."""

    SAME = "same"
    """It is."""
    MODEL = "model"
    """The weights prefer the system's own."""
    SEARCH = "search"
    """The weights prefer the given one, but search did not find it."""
    UNREACHABLE = "unreachable"
    """The tables cannot make it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A feature in which two translations differ."""

    name: str
    given: float
    own: float
    """Of the system's own translation."""
    weight: float

    @property
    def contribution(self) -> float:
        """What it adds to the given translation's score beyond the own one's."""
        return (self.given - self.own) * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedExplanation:
    """The best derivation of a given translation, beside the system's own translation.

    Words that no derivation accounts for were deleted (source positions), inserted (target positions) or copied though
    the tables translate them; as few as possible. They add no score of their own but `words`, `lm` and, where copied,
    `unknown`.
    """

    given: Explanation
    own: Explanation
    deleted: tuple[int, ...]
    inserted: tuple[int, ...]
    copied: tuple[tuple[int, int], ...]
    """Source and target positions."""
    is_complete: bool
    """Whether nothing was pruned: no derivation is better, and none with fewer edits exists."""
    differences: tuple[Difference, ...]
    """Features with different values, by decreasing absolute contribution."""

    @property
    def is_reachable(self) -> bool:
        """Whether the system's tables make exactly this translation."""
        return not (self.deleted or self.inserted or self.copied)

    @property
    def score_difference(self) -> float:
        return self.given.score - self.own.score

    @property
    def verdict(self) -> Verdict:
        if not self.is_reachable:
            return Verdict.UNREACHABLE
        if self.given.text == self.own.text:
            return Verdict.SAME
        return Verdict.SEARCH if self.score_difference > _EQUAL else Verdict.MODEL

    @property
    def given_pieces(self) -> tuple[Piece, ...]:
        """Pieces with words that the own derivation lacks. An inserted word is a piece without a source."""
        return _without(self.given.pieces, self.own.pieces)

    @property
    def own_pieces(self) -> tuple[Piece, ...]:
        """Pieces with words that the given derivation lacks."""
        return _without(self.own.pieces, self.given.pieces)

    def reason(self) -> str:
        """The verdict in a sentence."""
        match self.verdict:
            case Verdict.SAME:
                return "this is the system's own translation"
            case Verdict.MODEL:
                return f"the weights prefer the system's own translation, by {-self.score_difference:.4f}"
            case Verdict.SEARCH:
                return (
                    f"a search error: the weights prefer this translation, by {self.score_difference:.4f}; "
                    "more search (`preset=accurate`), or a higher limit of options, may find it"
                )
            case Verdict.UNREACHABLE:
                sure = "" if self.is_complete else " that was found (the search was pruned)"
                return f"the system cannot derive this translation; the nearest{sure} leaves words over"

    def edits(self) -> list[str]:
        """What could not be derived, a line a kind."""
        source, target = split_tokens(self.given.source), split_tokens(self.given.text)
        found = []
        if self.deleted:
            found.append(f"source words without a translation: {_places(source, self.deleted)}")
        if self.inserted:
            found.append(f"words that nothing in the source made: {_places(target, self.inserted)}")
        if self.copied:
            found.append(
                f"words copied though the tables translate them: {_places(source, [s for s, _ in self.copied])}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.given.source,
            "verdict": self.verdict.value,
            "reason": self.reason(),
            "score_difference": self.score_difference,
            "is_complete": self.is_complete,
            "deleted": list(self.deleted),
            "inserted": list(self.inserted),
            "copied": [list(pair) for pair in self.copied],
            "differences": [
                {
                    "name": item.name,
                    "given": item.given,
                    "own": item.own,
                    "weight": item.weight,
                    "contribution": item.contribution,
                }
                for item in self.differences
            ],
            "given": self.given.to_json(),
            "own": self.own.to_json(),
        }

    def lines(self) -> list[str]:
        out = [f"source       {self.given.source}", f"given        {self.given.text}", f"own          {self.own.text}"]
        out.append(f"scores       given {self.given.score:.4f}, own {self.own.score:.4f}")
        out.append(f"verdict      {self.reason()}")
        out += [f"  {line}" for line in self.edits()]
        for title, pieces in (("given", self.given_pieces), ("own", self.own_pieces)):
            if pieces:
                out.append(f"pieces of the {title} translation alone")
                width = max(len(piece.source or _NOTHING) for piece in pieces)
                out += [
                    f"  [{p.span[0]}:{p.span[1]}]".ljust(10)
                    + f"{(p.source or _NOTHING).ljust(width)}  ->  {p.target}  ({p.score:+.4f})"
                    for p in pieces
                ]
        if self.differences:
            width = max(len("differences"), *(len(item.name) + 2 for item in self.differences))
            out.append("differences".ljust(width) + "      given        own     weight  contribution")
            out += [
                f"  {d.name}".ljust(width) + f" {d.given:10.4f} {d.own:10.4f} {d.weight:10.4f} {d.contribution:13.4f}"
                for d in self.differences
            ]
        return out


@takes_text
def force(
    translator: Translator[Any],
    source: str,
    target: str,
    weights: Weights,
    *,
    preset: Preset = Preset.DEFAULT,
    config: ForcedConfig | None = None,
    progress: Progress | None = None,
) -> ForcedExplanation | None:
    """An explanation of a given translation of a sentence of tokens; None if the source has no words.

    The preset is for the system's own translation; `progress` is asked during both searches.
    """
    own = explain(translator, source, weights, preset=preset, progress=progress)
    found = translator.force([source], [target], weights, config=config, progress=progress)
    best = found.forests[0].best(weights)
    if own is None or best is None:
        return None
    inserted = found.inserted_in(0)
    given = explanation_of(translator, source, best, weights)
    given = replace(given, pieces=tuple(_sourceless(piece, inserted) for piece in given.pieces))
    return ForcedExplanation(
        given=given,
        own=own,
        deleted=found.deleted_in(0),
        inserted=inserted,
        copied=found.copied_in(0),
        is_complete=bool(found.is_complete[0]),
        differences=_differences(given, own, weights),
    )


def _sourceless(piece: Piece, inserted: Sequence[int]) -> Piece:
    """The piece, without the source words before it if it is an inserted word."""
    if not piece.positions or not set(piece.positions) <= set(inserted):
        return piece
    return replace(piece, source="", span=(piece.span[1], piece.span[1]))


def _differences(given: Explanation, own: Explanation, weights: Weights) -> tuple[Difference, ...]:
    ours = {item.name: item.value for item in own.features}
    theirs = {item.name: item.value for item in given.features}
    found = [
        Difference(name=name, given=theirs.get(name, 0.0), own=ours.get(name, 0.0), weight=weights[name])
        for name in {**theirs, **ours}
        if theirs.get(name, 0.0) != ours.get(name, 0.0)
    ]
    return tuple(sorted(found, key=lambda item: (-abs(item.contribution), item.name)))


def _without(pieces: Sequence[Piece], others: Sequence[Piece]) -> tuple[Piece, ...]:
    known = {(piece.span, piece.source, piece.target) for piece in others}
    return tuple(p for p in pieces if p.positions and (p.span, p.source, p.target) not in known)


def _places(words: Sequence[str], places: Iterable[int]) -> str:
    return ", ".join(f"{words[place]} ({place})" for place in places)
