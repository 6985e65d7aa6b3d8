"""Random choice of people, things and places for a clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.german import DAT, NOM, PL, F, M
from dragoman_synth.phrases import (
    ALL,
    COUNT,
    DEF,
    DEM,
    EACH,
    GENERIC,
    INDEF,
    NAMED,
    NO,
    POSS,
    PRONOUNS,
    ZERO,
    Common,
    Name,
    Pair,
    Phrase,
    Spot,
)

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Adjective, Noun, Place, Slot
    from dragoman_synth.lexicon import Lexicon

__all__ = ["Participants"]

_SUBJECTS = tuple(PRONOUNS[k] for k in (0, 0, 0, 0, 2, 2, 2, 6, 6, 6, 3, 3, 5, 5, 1))
_OBJECTS = tuple(PRONOUNS[k] for k in (0, 0, 0, 2, 2, 3, 1))
_DATIVES = tuple(PRONOUNS[k] for k in (0, 0, 0, 2, 2, 6, 6, 3, 5, 1))
_SINGLE_OWNERS = ((0, 3), (0, 2))
"""Who has a husband, who has a wife."""
_MEASURES = {"cup": "Tasse", "glass": "Glas", "bottle": "Flasche", "slice": "Scheibe", "bar": "Tafel"}
_PEOPLE = (
    (0.72, DEF, False),
    (0.86, INDEF, False),
    (0.92, DEF, True),
    (0.94, EACH, False),
    (0.96, ALL, True),
    (1.0, DEM, False),
)
"""Determiners of people and whether they are plural, with cumulative probabilities."""
_BARE = {"z": ZERO, "g": GENERIC}
_HIS = 2
_OWNED = frozenset(("own", "portable", "clothes", "opus", "room", "furniture"))


def _same_noun(one: Phrase, other: Phrase) -> bool:
    return isinstance(one, Common) and isinstance(other, Common) and one.noun.english == other.noun.english


class Participants:
    """Draws people, things and places from a lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.relatives = lexicon.words.of("rel")
        self.people = lexicon.words.of("prof", "role")
        self.folk = lexicon.words.of("folk")
        self.small_numbers = lexicon.words.numbers[:4]
        self.measures = {
            key: next(noun for noun in lexicon.words.nouns if noun.singular[0] == word and "measure" in noun.classes)
            for key, word in _MEASURES.items()
        }

    def name(self, r: Draw) -> Name:
        woman = r.chance(0.5)
        if r.chance(0.25):
            if woman:
                return Name(r.pick(self.lexicon.words.surnames), F, "Frau", ("Mrs ", "Ms "))
            return Name(r.pick(self.lexicon.words.surnames), M, "Herr", ("Mr ",))
        return Name(r.pick(self.lexicon.words.women if woman else self.lexicon.words.men), F if woman else M)

    def relative(self, r: Draw, owner: int = 0) -> Common:
        noun = r.pick_where(
            self.relatives, lambda noun: "one" not in noun.classes or owner in _SINGLE_OWNERS[noun.gender]
        )
        return Common(noun, POSS + owner, adjectives=self.adjectives(r, noun, 0.12))

    def person(self, r: Draw, noun: Noun) -> Common:
        draw = r.random()
        adjectives = self.adjectives(r, noun, 0.3)
        if noun.gender == PL:
            return Common(noun, DEF, adjectives=adjectives)
        determiner, plural = next((what, many) for below, what, many in _PEOPLE if draw < below)
        return Common(noun, determiner, plural=plural, adjectives=adjectives)

    def subject(self, r: Draw, *, pronouns: float = 0.42) -> Phrase:
        draw = r.random()
        if draw < pronouns:
            return r.pick(_SUBJECTS)
        draw = r.random()
        if draw < 0.3:
            return self.name(r)
        if draw < 0.56:
            return self.relative(r, 5 if r.chance(0.15) else 0)
        if draw < 0.9:
            return self.person(r, r.pick(self.people))
        if draw < 0.95:
            noun = r.pick(self.folk)
            mine = noun.english[0] not in ("people", "guests") and r.chance(0.6)
            return Common(noun, POSS if mine else DEF)
        return self.pair(r)

    def pair(self, r: Draw) -> Pair:
        """Two people: `Anna und ihr Bruder`."""
        first = self.name(r)
        if r.chance(0.5):
            second: Phrase = self.relative(r, first.owner)
        else:
            second = self.name(r)
            while second.de(NOM) == first.de(NOM):
                second = self.name(r)
        return Pair(first, second)

    def third(self, r: Draw) -> Phrase:
        return r.draw_where(lambda r: self.subject(r, pronouns=0.3), lambda who: who.person in (2, 5))

    def addressee(self, r: Draw, subject: Phrase, *, dative: bool) -> Phrase:
        """A person as object, different from the subject."""
        draw = r.random()
        if draw < 0.3:
            for _ in range(8):
                pronoun = r.pick(_DATIVES if dative else _OBJECTS)
                if pronoun.owner != subject.owner and not (pronoun.person in (0, 3) and subject.person in (0, 3)):
                    return pronoun
        if draw < 0.5:
            return self.name(r)
        if draw < 0.8:
            other: Phrase = self.relative(r, subject.owner if subject.human and r.chance(0.85) else 0)
        else:
            other = self.person(r, r.pick(self.people))
        return self.name(r) if _same_noun(other, subject) else other

    def adjectives(self, r: Draw, noun: Noun, chance: float) -> tuple[Adjective, ...]:
        """Up to two adjectives that suit the noun."""
        suits = noun.adjectives
        if not suits or not r.chance(chance):
            return ()
        first = r.pick(suits)
        if r.chance(0.15):
            second = r.pick(suits)
            if second.order >= 2 and first.order < 2:
                return (first, second)
        return (first,)

    def thing(self, r: Draw, noun: Noun, policy: str, owner: int, *, negated: bool = False) -> Common:
        """A noun with a determiner that the policy allows."""
        classes = noun.classes
        if "one" in classes and owner not in _SINGLE_OWNERS[noun.gender]:
            return self.relative(r, owner)
        if "rel" in classes:
            return Common(noun, POSS + owner, adjectives=self.adjectives(r, noun, 0.12))
        letter = r.pick(policy or "dddiiipn")
        if letter in _BARE:
            return Common(noun, _BARE[letter])
        if "onlydef" in classes:
            return Common(noun, DEF)
        adjectives = self.adjectives(r, noun, 0.3)
        if letter == "p" and not ("fem" in classes and owner == _HIS):
            return Common(noun, POSS + owner, plural="plonly" in classes, adjectives=adjectives)
        if letter in "dp":
            return self._definite(r, noun, adjectives)
        if negated:
            return Common(noun, NO, plural="plonly" in classes, adjectives=adjectives)
        return (self._measured(r, noun) if letter == "m" else None) or self._indefinite(r, noun, letter, adjectives)

    def _indefinite(self, r: Draw, noun: Noun, letter: str, adjectives: tuple[Adjective, ...]) -> Common:
        if letter == "s":
            return Common(noun, INDEF, adjectives=adjectives)
        if noun.mass or noun.gender == PL or letter == "b":
            return Common(noun, ZERO, plural=letter == "b" and not noun.mass, adjectives=adjectives)
        draw = r.random()
        if letter == "m":
            draw = 1.0  # a measure (a glass of) excludes a count
        countable = bool(noun.plural[0]) and not noun.uncountable and not noun.plural_only
        if countable and (letter == "n" or draw < 0.12):
            return Common(noun, COUNT, plural=True, adjectives=adjectives, count=r.pick(self.small_numbers))
        if "plonly" in noun.classes or (countable and draw < 0.25):
            return Common(noun, ZERO, plural=True, adjectives=adjectives)
        return Common(noun, INDEF, adjectives=adjectives)

    def _definite(self, r: Draw, noun: Noun, adjectives: tuple[Adjective, ...]) -> Common:
        draw = r.random()
        countable = bool(noun.plural[0]) and noun.gender != PL and not noun.plural_only
        plural = "plonly" in noun.classes or (draw < 0.12 and countable)
        if draw > 0.93:
            return Common(noun, DEM, plural=plural, adjectives=adjectives)
        if draw > 0.85 and noun.classes & _OWNED:
            if r.chance(0.4):
                woman = r.chance(0.5)
                name = r.pick(self.lexicon.words.women if woman else self.lexicon.words.men)
                if name[-1] not in "sxz":
                    of = Name(name, F if woman else M)
                    return Common(noun, NAMED, plural=plural, adjectives=adjectives, of=of)
            return Common(noun, DEF, plural=plural, adjectives=adjectives, of=self.relative(r))
        return Common(noun, DEF, plural=plural, adjectives=adjectives)

    def _measured(self, r: Draw, noun: Noun) -> Common | None:
        keys = [key for key in _MEASURES if key in noun.classes]
        if not keys or r.chance(0.5):
            return None
        measure = self.measures[r.pick(keys)]
        if r.chance(0.25):
            made = Common(measure, COUNT, plural=True, count=r.pick(self.small_numbers))
        else:
            made = Common(measure, INDEF)
        made.tail = " " + noun.singular[0]
        made.tail_english = tuple(f" of {word}" for word in noun.english)
        return made

    def spot(self, r: Draw, place: Place, *, goal: bool) -> Spot:
        noun = place.noun
        if noun is None:
            return Spot(place, goal=goal)
        adjectives: tuple[Adjective, ...] = ()
        determiner = DEF
        if "plain" not in place.classes and "!" not in place.at_english[-1] and noun.adjectives and r.chance(0.2):
            adjectives = (r.pick(noun.adjectives),)
            if r.chance(0.6) and noun.plural[0] and noun.gender != PL:
                determiner = INDEF
        return Spot(place, goal=goal, phrase=Common(noun, determiner, adjectives=adjectives))

    def fill(self, r: Draw, slot: Slot, subject: Phrase, *, negated: bool) -> Phrase | Spot | None:
        if slot.places:
            return self.spot(r, r.pick(slot.places), goal=slot.label == "G")
        if slot.human and (not slot.nouns or r.chance(0.6)):
            return self.addressee(r, subject, dative=slot.case == DAT)
        if slot.nouns:
            noun = r.pick(slot.nouns)
            if "hum" in noun.classes and "rel" not in noun.classes and not slot.policy:
                return self.person(r, noun)
            owner = subject.owner if subject.human else 0
            return self.thing(r, noun, slot.policy, owner, negated=negated and slot.label == "A")
        return None
