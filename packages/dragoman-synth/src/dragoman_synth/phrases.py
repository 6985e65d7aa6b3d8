"""Noun phrases and prepositional phrases, realised in both languages.

A phrase is fixed on the German side when it is built; each call of `en` may choose another English wording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.english import article
from dragoman_synth.english import superlative as graded_superlative
from dragoman_synth.german import DAT, GEN, NOM, PL, Declension, F, M, N, determiner_forms

if TYPE_CHECKING:
    from collections.abc import Callable

    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Adjective, Noun, Place

__all__ = [
    "ALL",
    "COUNT",
    "DEF",
    "DEM",
    "EACH",
    "GENERIC",
    "INDEF",
    "MAN",
    "NAMED",
    "NO",
    "OWNERS",
    "POSS",
    "PRONOUNS",
    "SIE",
    "WHICH",
    "ZERO",
    "Common",
    "Name",
    "Pair",
    "Phrase",
    "Pronoun",
    "Spot",
    "contract",
    "join",
    "pronoun_for",
]

DEF, INDEF, DEM, EACH, NO, WHICH, ZERO, GENERIC, ALL, COUNT, NAMED, POSS = range(12)
"""Determiners; POSS + k is the possessive of owner k."""

OWNERS = (
    ("mein", "my", "me"),
    ("dein", "your", "you"),
    ("sein", "his", "him"),
    ("ihr", "her", "her"),
    ("sein", "its", "it"),
    ("unser", "our", "us"),
    ("euer", "your", "you"),
    ("ihr", "their", "them"),
    ("Ihr", "your", "you"),
    ("sein", "your", "you"),
)
"""German possessive, English possessive and object pronoun, by owner."""

_WEAK, _MIXED, _STRONG = range(3)
_NONE: Declension = (("",) * 4,) * 4
_DETERMINERS = (
    ("der", _WEAK, "the"),
    ("ein", _MIXED, ""),
    ("dies-", _WEAK, "this"),
    ("jed-", _WEAK, "every"),
    ("kein", _MIXED, ""),
    ("welch-", _WEAK, "which"),
    ("", _STRONG, ""),
    ("der", _WEAK, ""),
    ("all-", _WEAK, "all the"),
    ("", _STRONG, ""),
    ("", _STRONG, ""),
    *((owner[0], _MIXED, owner[1]) for owner in OWNERS),
)
"""German word, declension of the adjectives after it, and English word."""
_FORMS = tuple(determiner_forms(word) if word else _NONE for word, _, _ in _DETERMINERS)
_OWNER_OF_GENDER = (2, 3, 4, 7)


def join(*parts: str) -> str:
    """The non-empty parts, joined by spaces."""
    return " ".join([part for part in parts if part])


class Phrase:
    """Subject or object; `person` and `english_person` agree with verbs, `owner` with possessives."""

    __slots__ = ("definite", "english_person", "gender", "heavy", "human", "owner", "person", "pronoun")

    def __init__(self, person: int, english_person: int, owner: int, gender: int, *, human: bool) -> None:
        self.person = person
        self.english_person = english_person
        self.owner = owner
        self.gender = gender
        self.human = human
        self.pronoun = False
        self.definite = True
        self.heavy = False

    def de(self, case: int) -> str:
        raise NotImplementedError

    def en(self, r: Draw) -> str:
        raise NotImplementedError

    def en_object(self, r: Draw) -> str:
        return self.en(r)

    def en_possessive(self, r: Draw) -> str:
        """The English possessive, before the thing possessed."""
        text = self.en(r)
        return text + (" '" if text.endswith("s") and self.english_person == 5 else " 's")


class Pronoun(Phrase):
    """A personal pronoun."""

    __slots__ = ("forms", "words")

    def __init__(self, forms: str, words: str, person: int, english_person: int, owner: int, gender: int = M) -> None:
        super().__init__(person, english_person, owner, gender, human=True)
        self.forms = forms.split()
        self.words = words.split()
        self.pronoun = True

    def de(self, case: int) -> str:
        return self.forms[case]

    def en(self, r: Draw) -> str:
        return self.words[0]

    def en_object(self, r: Draw) -> str:
        return self.words[1]

    def en_possessive(self, r: Draw) -> str:
        return OWNERS[self.owner][1]


PRONOUNS = (
    Pronoun("ich mich mir", "I me", 0, 0, 0),
    Pronoun("du dich dir", "you you", 1, 1, 1),
    Pronoun("er ihn ihm", "he him", 2, 2, 2, M),
    Pronoun("wir uns uns", "we us", 3, 3, 5, PL),
    Pronoun("ihr euch euch", "you you", 4, 4, 6, PL),
    Pronoun("sie sie ihnen", "they them", 5, 5, 7, PL),
    Pronoun("sie sie ihr", "she her", 2, 2, 3, F),
    Pronoun("er ihn ihm", "it it", 2, 2, 4, M),
    Pronoun("sie sie ihr", "it it", 2, 2, 4, F),
    Pronoun("es es ihm", "it it", 2, 2, 4, N),
    Pronoun("sie sie ihr", "they them", 2, 5, 7, F),
    Pronoun("sie sie ihnen", "it it", 5, 2, 4, PL),
)
"""ich, du, er, wir, ihr, sie (they), sie (she); for things er, sie, es, sie (trousers), sie (furniture)."""
SIE = Pronoun("Sie Sie Ihnen", "you you", 5, 1, 8)
MAN = Pronoun("man einen einem", "you you", 2, 1, 9)


class Name(Phrase):
    """A first name, or a surname with Herr or Frau."""

    __slots__ = ("english", "name", "title")

    def __init__(self, name: str, gender: int, title: str = "", english: tuple[str, ...] = ("",)) -> None:
        super().__init__(2, 2, _OWNER_OF_GENDER[gender], gender, human=True)
        self.name = name
        self.title = title
        self.english = english

    def de(self, case: int) -> str:
        if self.title:
            return f"{self.title}n {self.name}" if self.title == "Herr" and case != NOM else f"{self.title} {self.name}"
        return self.name + "s" if case == GEN else self.name

    def en(self, r: Draw) -> str:
        return r.prefer(self.english) + self.name


class Pair(Phrase):
    """Two phrases joined by und."""

    __slots__ = ("first", "second")

    def __init__(self, first: Phrase, second: Phrase) -> None:
        speaker = first.owner == 0 or second.owner == 0
        super().__init__(3 if speaker else 5, 3 if speaker else 5, 5 if speaker else 7, PL, human=True)
        self.first = first
        self.second = second

    def de(self, case: int) -> str:
        return f"{self.first.de(case)} und {self.second.de(case)}"

    def en(self, r: Draw) -> str:
        return f"{self.first.en(r)} and {self.second.en(r)}"

    def en_object(self, r: Draw) -> str:
        return f"{self.first.en_object(r)} and {self.second.en_object(r)}"


def pronoun_for(phrase: Phrase) -> Pronoun:
    """The third-person pronoun that refers back to a phrase; English may differ in number (die Hose, sie: they)."""
    if phrase.pronoun and isinstance(phrase, Pronoun):
        return phrase
    if phrase.human:
        if phrase.person == 3:
            return PRONOUNS[3]
        return (PRONOUNS[2], PRONOUNS[6], PRONOUNS[9], PRONOUNS[5])[phrase.gender]
    if phrase.gender == PL:
        return PRONOUNS[5] if phrase.english_person == 5 else PRONOUNS[11]
    if phrase.english_person == 5:
        return PRONOUNS[10]
    return PRONOUNS[7 + phrase.gender]


class Common(Phrase):
    """Determiner, adjectives, noun, and postmodifiers (genitive, place, relative clause) as tails."""

    __slots__ = (
        "adjectives",
        "count",
        "determiner",
        "noun",
        "number",
        "of",
        "relative",
        "superlative",
        "tail",
        "tail_english",
    )

    def __init__(
        self,
        noun: Noun,
        determiner: int,
        *,
        plural: bool = False,
        adjectives: tuple[Adjective, ...] = (),
        count: tuple[str, str] = ("", ""),
        of: Phrase | None = None,
    ) -> None:
        plural = plural or noun.gender == PL
        gender = PL if plural else noun.gender
        many = (plural or noun.plural_only) and not noun.uncountable
        human = "hum" in noun.classes
        super().__init__(5 if plural else 2, 5 if many else 2, _OWNER_OF_GENDER[gender], gender, human=human)
        if human and gender == N:
            self.owner = 3 if noun.english[0] == "girl" else 2
        if not human and not plural:
            self.owner = 4
        self.noun = noun
        self.determiner = determiner
        self.number = plural
        self.adjectives = adjectives
        self.count = count
        self.of = of
        self.definite = determiner not in (INDEF, ZERO, NO, COUNT)
        self.superlative = False
        self.tail = ""
        self.tail_english: tuple[str, ...] = ("",)
        self.relative: Callable[[Draw], str] | None = None

    def de(self, case: int) -> str:
        gender, determiner = self.gender, self.determiner
        first = _FORMS[determiner][gender][case]
        if determiner == COUNT:
            first = self.count[0]
        elif determiner == NAMED and self.of is not None:
            first = self.of.de(GEN)
        text = (self.noun.plural if gender == PL else self.noun.singular)[case]
        if self.adjectives:
            kind = _DETERMINERS[determiner][1]
            for adjective in reversed(self.adjectives):
                forms = adjective.superlative if self.superlative and adjective.superlative else adjective.forms
                text = f"{forms[kind][gender][case]} {text}"
        if first:
            text = f"{first} {text}"
        if self.of is not None and determiner == DEF:
            text = f"{text} {self.of.de(GEN)}"
        return text + self.tail

    def en(self, r: Draw) -> str:
        noun = self.noun
        words = noun.english_plural if self.number else noun.english
        text = r.prefer(words)
        for adjective in reversed(self.adjectives):
            text = f"{_word(adjective, r, superlative=self.superlative)} {text}"
        tail = r.prefer(self.tail_english)
        if self.relative is not None:
            tail = f"{tail} {self.relative(r)}"
        determiner = self.determiner
        if self.of is not None:
            if determiner == NAMED or (r.chance(0.7) and self.relative is None):
                return f"{self.of.en_possessive(r)} {text}{tail}"
            return f"the {text} of {self.of.en(r)}{tail}"
        if determiner in (INDEF, NO):
            first = self._indefinite(r, text, negated=determiner == NO)
        elif determiner == COUNT:
            first = self.count[1]
        elif determiner == DEM:
            first = "these" if self.english_person == 5 else "this"
        elif determiner == EACH:
            first = r.prefer(("every", "each"))
        else:
            first = _DETERMINERS[determiner][2]
        return f"{first} {text}{tail}" if first else text + tail

    def _indefinite(self, r: Draw, text: str, *, negated: bool) -> str:
        noun = self.noun
        if noun.plural_only and not self.number and not noun.mass and not negated:
            return r.prefer(("", "a pair of")) if text.endswith("s") else ""
        if self.number or noun.mass or noun.uncountable or noun.plural_only:
            return "any" if negated else r.prefer(("", "some")) if self.number else ""
        return article(text)


def _word(adjective: Adjective, r: Draw, *, superlative: bool) -> str:
    word = r.prefer(adjective.english)
    return graded_superlative(word) if superlative else word


_CONTRACTED = {
    "in dem ": "im ",
    "in das ": "ins ",
    "an dem ": "am ",
    "an das ": "ans ",
    "zu dem ": "zum ",
    "zu der ": "zur ",
    "von dem ": "vom ",
    "bei dem ": "beim ",
}


def contract(preposition: str, phrase: Phrase, case: int) -> str:
    """Preposition and phrase, contracted (in dem → im) unless a relative clause follows."""
    text = f"{preposition} {phrase.de(case)}"
    if isinstance(phrase, Common) and phrase.determiner in (DEF, GENERIC) and not phrase.tail.startswith(" ,"):
        head = text[: text.find(" ", len(preposition) + 1) + 1]
        short = _CONTRACTED.get(head)
        if short is not None:
            return short + text[len(head) :]
    return text


class Spot:
    """A place as location or goal."""

    __slots__ = ("english", "german", "phrase")

    def __init__(self, place: Place, *, goal: bool, phrase: Common | None = None) -> None:
        self.phrase = phrase
        self.english = place.to_english if goal else place.at_english
        words = place.to if goal else place.at
        if phrase is None:
            self.german = words
        else:
            self.german = contract(words, phrase, DAT if not goal or words in ("zu", "nach") else 1)

    def en(self, r: Draw) -> str:
        words = r.prefer(self.english)
        if self.phrase is None:
            return words
        text = self.phrase.en(r)
        return f"{words[:-1]} {text.removeprefix('the ')}" if words.endswith("!") else f"{words} {text}"
