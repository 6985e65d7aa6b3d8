"""Lexicon entries after parsing and inflection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman_synth.german import Declension, Four, GermanVerb

if TYPE_CHECKING:
    from dragoman_synth.english import EnglishVerb

__all__ = ["Adjective", "Adverb", "Frame", "Noun", "Pattern", "Place", "Slot"]

Declensions = tuple[Declension, Declension, Declension]
"""Weak, mixed and strong declension."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective in one of its meanings."""

    plain: str
    forms: Declensions
    order: int
    english: tuple[str, ...]
    comparative: str
    superlative: Declensions | None
    classes: frozenset[str]
    excepted: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun in one of its meanings; with `gender` PL it has no singular, with `mass` no plural."""

    gender: int
    singular: Four
    plural: Four
    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    plural_only: bool
    uncountable: bool
    mass: bool
    classes: frozenset[str]
    adjectives: tuple[Adjective, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place as location and goal: a noun with prepositions, or fixed words; an English `!` drops the article."""

    noun: Noun | None
    at: str
    at_english: tuple[str, ...]
    to: str
    to_english: tuple[str, ...]
    classes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """Fixed words; a translation comes with its position: `` end or start,
    `e` end, `i` start, `m` by the verb, `n` (not …) end.
    """

    german: str
    english: tuple[tuple[str, str], ...]
    middle: bool


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A complement of a verb: its name in English patterns, its German form, and what may fill it."""

    label: str
    preposition: str = ""
    case: int = 0
    human: bool = False
    nouns: tuple[Noun, ...] = ()
    places: tuple[Place, ...] = ()
    policy: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """An English verb and what follows it; a piece in braces is a slot."""

    verb: EnglishVerb
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A verb with its complements on both sides.

    Patterns differ for a pronoun as direct object (turn it on) and for a long one (turn on the light that
    …); with `swap` the German dative is the English subject.
    """

    verb: GermanVerb
    human: bool
    nouns: tuple[Noun, ...]
    slots: tuple[Slot, ...]
    patterns: tuple[Pattern, ...]
    patterns_pronoun: tuple[Pattern, ...]
    patterns_heavy: tuple[Pattern, ...]
    aspect: str
    flags: frozenset[str]
    places: tuple[Place, ...]
    manners: tuple[Adverb, ...]
    swap: bool
    negatable: bool
