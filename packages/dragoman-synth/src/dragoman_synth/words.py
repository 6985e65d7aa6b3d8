"""Nouns, adjectives, places, times and names, read from the lexicon and inflected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TypeVar

from dragoman_synth import english, german
from dragoman_synth.dates import clock_times, dated_times, number_words
from dragoman_synth.german import PL, F, M, N
from dragoman_synth.lexemes import Adjective, Adverb, Noun, Place
from dragoman_synth.tables import Pair, grouped, pair, read, weighted

__all__ = ["Words", "read_words"]

Lexeme = TypeVar("Lexeme", Noun, Place)

_GENDERS = {"der": M, "die": F, "das": N, "die+": PL}
_ARTICLES = {"Schweiz": "der", "Türkei": "der", "USA": "den", "Niederlande": "den"}
"""Dative articles of countries that have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Everything but verbs; `manners` are unweighted, as verbs take several groups of them."""

    nouns: tuple[Noun, ...]
    places: tuple[Place, ...]
    adjectives: tuple[Adjective, ...]
    manners: dict[str, list[Adverb]]
    times: dict[str, tuple[Adverb, ...]]
    sentence_adverbs: dict[str, tuple[Adverb, ...]]
    proverbs: tuple[Pair, ...]
    numbers: tuple[tuple[str, str], ...]
    cities: tuple[tuple[str, str], ...]
    women: tuple[str, ...]
    men: tuple[str, ...]
    surnames: tuple[str, ...]

    def of(self, *classes: str) -> tuple[Noun, ...]:
        """Weighted pool of the nouns in any of these classes."""
        return _pool([noun for noun in self.nouns if "place" not in noun.classes], classes)

    def where(self, *classes: str) -> tuple[Place, ...]:
        """Weighted pool of the places in any of these classes."""
        return _pool(self.places, classes)


def _pool(lexemes: Sequence[Lexeme], classes: Iterable[str]) -> tuple[Lexeme, ...]:
    wanted = set(classes)
    chosen = [lexeme for lexeme in lexemes if wanted & lexeme.classes]
    missing = wanted.difference(*(lexeme.classes for lexeme in chosen))
    if missing:
        raise ValueError(f"nothing in the lexicon has the class {', '.join(sorted(missing))}")
    return weighted(chosen)


def _adjective(_: str, entry: str) -> Adjective:
    head, rest = entry.split(" = ")
    translations, order, classes = rest.split(" | ")
    word, _, graded = head.partition(" (")
    plain, _, stem = word.partition(",")
    comparative, best = graded.rstrip(")").split() if graded else ("", "")
    return Adjective(
        plain=plain.rstrip("!"),
        forms=german.adjective_forms(stem.rstrip("-") or plain),
        order="osacm".index(order),
        english=tuple(translations.split("/")),
        comparative=comparative,
        superlative=german.adjective_forms(best) if best else None,
        classes=frozenset(name for name in classes.split() if name[0] != "-"),
        excepted=frozenset(name[1:] for name in classes.split() if name[0] == "-"),
    )


class _Nouns:
    """Parses noun entries and gives each noun the adjectives that suit it."""

    def __init__(self, adjectives: list[Adjective]) -> None:
        self.adjectives = adjectives
        self.all: list[Noun] = []

    def make(self, head: str, translations: str, classes: set[str]) -> Noun:
        word, _, forms = head.partition(" ")
        lemma, *others = (form.strip() for form in forms.split(","))
        plural, genitive = (*others, "", "")[:2]
        gender = _GENDERS[word]
        if gender == PL:
            singular, plurals = german.noun_forms(lemma, F, lemma)
        else:
            weak = lemma.endswith("*")
            singular, plurals = german.noun_forms(lemma.rstrip("*"), gender, plural, weak=weak, genitive=genitive)
        words = tuple(text.strip("!~").replace("'s", " 's").replace("  ", " ") for text in translations.split("/"))
        marks = translations[-1]
        tags = frozenset(name for name in classes if f"no{name}" not in classes)
        if "measure" not in tags:
            tags |= {words[0].replace(" ", "_")}
        noun = Noun(
            gender=gender,
            singular=singular,
            plural=plurals,
            english=words,
            english_plural=words if marks in "!~" else tuple(english.plural(text) for text in words),
            plural_only=marks == "!",
            uncountable=marks == "~",
            mass=gender != PL and not others,
            classes=tags,
            adjectives=tuple(a for a in self.adjectives if a.classes & tags and not a.excepted & tags),
        )
        self.all.append(noun)
        return noun

    def simple(self, section: str, entry: str) -> None:
        entry, _, extra = entry.partition(" #")
        head, translations = entry.split(" = ")
        classes = {*section.split(), *extra.split()}
        masculine = head.removesuffix(" /in")
        self.make(masculine, translations, classes)
        if masculine != head:
            lemma = head.split()[1].rstrip(",*").removesuffix("e")
            self.make(f"die {lemma}in, {lemma}innen", translations.replace("waiter", "waitress"), classes)

    def compounds(self, _: str, entry: str) -> None:
        first, head, classes = entry.split(" | ")
        firsts, first_translations = first.split(" = ")
        forms, translation = head.split(" = ")
        article, _, parts = forms.partition(" ")
        for de, en in zip(firsts.split(), first_translations.split(), strict=True):
            compound = ", ".join(de + part for part in parts.split(", "))
            translated = "/".join(f"{en} {part}" for part in translation.split("/"))
            self.make(f"{article} {compound}", translated, set(classes.split()))

    def place(self, section: str, entry: str) -> Place:
        text, _, extra = entry.partition(" #")
        classes = {section, *extra.split()}
        if text.startswith("@"):
            at, to = (part.split(" = ") for part in text[1:].split(" | "))
            return Place(None, at[0], (at[1],), to[0], (to[1],), frozenset(classes))
        head, at_text, to_text = text.split(" | ")
        de, en = head.split(" = ")
        noun = self.make(de, en, {"place", f"{section}-place"})
        at_de, at_en = at_text.split(" ")
        to_de, to_en = to_text.split(" ")
        classes.add(noun.english[0])
        return Place(noun, at_de, tuple(at_en.split("/")), to_de, tuple(to_en.split("/")), frozenset(classes))


def _geographic(entry: str, group: str) -> Place:
    de, _, en = entry.partition(" = ")
    name, en = de.removeprefix("die "), en or de
    at, to = f"in {name}", f"nach {name}"
    if name != de:
        at, to = f"in {_ARTICLES[name]} {name}{'n' if name == 'Niederlande' else ''}", f"in die {name}"
    return Place(None, at, (f"in {en}",), to, (f"to {en}",), frozenset({group}))


def _adverb(de: str, translations: Iterable[str]) -> Adverb:
    made = [text.partition(" @")[::2] for text in translations]
    return Adverb(de, tuple(made), made[0][1] in ("m", "n"))


def _adverbs() -> dict[str, dict[str, list[Adverb]]]:
    """Adverbs by use (manner, sentence, time) and kind."""
    found: dict[str, dict[str, list[Adverb]]] = {}
    for section, adverbs in grouped("adverbs.txt", lambda entry: _adverb(*pair(entry))).items():
        use, _, kind = section.partition(" ")
        found.setdefault(use, {})[kind] = adverbs
    return found


def read_words() -> Words:
    """Read the files of the lexicon."""
    adjectives = read("adjectives.txt", _adjective)
    nouns = _Nouns(adjectives)
    read("nouns.txt", nouns.simple)
    read("compounds.txt", nouns.compounds)
    places = read("places.txt", nouns.place)
    names = grouped("names.txt", str)
    cities = [_geographic(entry, "city") for entry in names["cities"]]
    countries = [_geographic(entry, "region") for entry in names["countries"]]
    places += [place for place in chain(*zip_longest(cities, countries)) if place is not None]
    calendar = grouped("calendar.txt", pair)
    numbers = number_words([(de, en[0]) for de, en in calendar["numbers"]])
    adverbs = _adverbs()
    times = adverbs["time"]
    for kind, de, en in dated_times(calendar["weekdays"], calendar["months"], calendar["seasons"], numbers):
        times.setdefault(kind, []).append(_adverb(de, en))
    times["clock"] = [_adverb(de, en) for de, en in clock_times(numbers)]
    return Words(
        nouns=tuple(nouns.all),
        places=tuple(places),
        adjectives=tuple(adjectives),
        manners=adverbs["manner"],
        times={kind: weighted(found) for kind, found in times.items()},
        sentence_adverbs={kind: weighted(found) for kind, found in adverbs["sentence"].items()},
        proverbs=weighted(read("proverbs.txt", lambda _, entry: pair(entry)), 10),
        numbers=tuple(numbers),
        cities=weighted([(city.at[3:], city.at_english[0][3:]) for city in places if "city" in city.classes]),
        women=weighted(names["women"]),
        men=weighted(names["men"]),
        surnames=weighted(names["surnames"]),
    )
