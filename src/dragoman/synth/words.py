"""Nouns, adjectives, places, times and names, parsed from their tables and inflected."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.synth import english, german, lexicon_modifiers, lexicon_nouns, lexicon_special
from dragoman.synth.dates import clock_times, dated_times, number_words
from dragoman.synth.german import PL, F, M, N
from dragoman.synth.lexemes import Adjective, Adverb, Noun, Place
from dragoman.synth.tables import adverb, adverbs, entries, lines, pairs, weighted

__all__ = ["Words", "read_words"]

_GENDERS = {"der": M, "die": F, "das": N, "die+": PL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Everything but verbs."""

    nouns: tuple[Noun, ...]
    places: tuple[Place, ...]
    adjectives: tuple[Adjective, ...]
    times: dict[str, tuple[Adverb, ...]]
    sentence_adverbs: dict[str, tuple[Adverb, ...]]
    proverbs: tuple[tuple[str, tuple[str, ...]], ...]
    numbers: tuple[tuple[str, str], ...]
    cities: tuple[tuple[str, str], ...]
    women: tuple[str, ...]
    men: tuple[str, ...]
    surnames: tuple[str, ...]

    def of(self, *classes: str) -> tuple[Noun, ...]:
        """Weighted pool of the nouns in any of these classes."""
        wanted = set(classes)
        chosen = [noun for noun in self.nouns if wanted & noun.classes and "place" not in noun.classes]
        if not chosen or wanted - set().union(*(noun.classes for noun in chosen)):
            raise KeyError(f"no noun for one of the classes {sorted(wanted)}")
        return weighted(chosen)

    def where(self, *classes: str) -> tuple[Place, ...]:
        """Weighted pool of the places in any of these classes."""
        wanted = set(classes)
        chosen = [place for place in self.places if wanted & place.classes]
        if not chosen or wanted - set().union(*(place.classes for place in chosen)):
            raise KeyError(f"no place for one of the classes {sorted(wanted)}")
        return weighted(chosen)


def _adjectives() -> list[Adjective]:
    found = []
    for line in lines(lexicon_modifiers.ADJECTIVES):
        head, _, rest = line.partition(" = ")
        translations, order, classes = rest.split(" | ")
        word, _, graded = head.partition(" (")
        plain, _, stem = word.partition(",")
        comparative, superlative = "", None
        if graded:
            comparative, best = graded.rstrip(")").split()
            superlative = german.adjective_forms(best)
        found.append(
            Adjective(
                plain=plain.rstrip("!"),
                forms=german.adjective_forms(stem.rstrip("-") or plain),
                order="osacm".index(order),
                english=tuple(translations.split("/")),
                comparative=comparative,
                superlative=superlative,
                classes=frozenset(name for name in classes.split() if name[0] != "-"),
                excepted=frozenset(name[1:] for name in classes.split() if name[0] == "-"),
            )
        )
    return found


class _Nouns:
    """Parses noun entries and gives each noun the adjectives that suit it."""

    def __init__(self, adjectives: list[Adjective]) -> None:
        self.adjectives = adjectives
        self.all: list[Noun] = []

    def make(self, head: str, translations: str, classes: set[str]) -> Noun:
        word, _, forms = head.partition(" ")
        plurals = [form.strip() for form in forms.split(",")]
        lemma = plurals[0].rstrip("*")
        gender = _GENDERS[word]
        if gender == PL:
            singular, plural = german.noun_forms(lemma, F, lemma)
        else:
            singular, plural = german.noun_forms(
                lemma,
                gender,
                plurals[1] if len(plurals) > 1 else "",
                weak=plurals[0].endswith("*"),
                genitive=plurals[2] if len(plurals) > 2 else "",
            )
        words = tuple(text.strip("!~").replace("'s", " 's").replace("  ", " ") for text in translations.split("/"))
        marks = translations[-1]
        tags = frozenset(name for name in classes if f"no{name}" not in classes)
        if "measure" not in tags:
            tags |= {words[0].replace(" ", "_")}
        suits = [a for a in self.adjectives if a.classes & tags and not a.excepted & tags]
        noun = Noun(
            gender=gender,
            singular=singular,
            plural=plural,
            english=words,
            english_plural=words if marks in "!~" else tuple(english.plural(text) for text in words),
            plural_only=marks == "!",
            uncountable=marks == "~",
            mass=gender != PL and len(plurals) == 1,
            classes=tags,
            adjectives=tuple(suits),
        )
        self.all.append(noun)
        return noun

    def read(self, section: str, entry: str) -> None:
        entry, _, extra = entry.partition(" #")
        head, _, translations = entry.partition(" = ")
        classes = set(section.split()) | set(extra.split())
        feminine = head.endswith(" /in")
        head = head.removesuffix(" /in")
        self.make(head, translations, classes)
        if feminine:
            lemma = head.split()[1].rstrip(",*").removesuffix("e")
            self.make(f"die {lemma}in, {lemma}innen", translations.replace("waiter", "waitress"), classes)

    def read_compounds(self) -> None:
        rows = lines(lexicon_nouns.COMPOUNDS)
        for modifiers, head in zip(rows[::2], rows[1::2], strict=True):
            de, _, en = modifiers.partition(" = ")
            forms, _, rest = head.partition(" = ")
            translation, _, classes = rest.partition(" | ")
            word, _, nouns = forms.partition(" ")
            for first, first_english in zip(de.split(), en.split(), strict=True):
                compound = ", ".join(first + part for part in nouns.split(", "))
                translated = "/".join(f"{first_english} {part}" for part in translation.split("/"))
                self.make(f"{word} {compound}", translated, set(classes.split()))


def _places(nouns: _Nouns) -> list[Place]:
    found = []
    for section, text in entries(lexicon_nouns.PLACES):
        entry, _, extra = text.partition(" #")
        classes = {section, *extra.split()}
        if entry.startswith("@"):
            at, to = (part.split(" = ") for part in entry[1:].split(" | "))
            found.append(Place(None, at[0], (at[1],), to[0], (to[1],), frozenset(classes)))
            continue
        head, at_text, to_text = entry.split(" | ")
        de, _, en = head.partition(" = ")
        noun = nouns.make(de, en, {"place", f"{section}-place"})
        at_de, at_en = at_text.split(" ")
        to_de, to_en = to_text.split(" ")
        classes.add(noun.english[0])
        found.append(Place(noun, at_de, tuple(at_en.split("/")), to_de, tuple(to_en.split("/")), frozenset(classes)))
    cities = [_geographic(entry, "city") for _, entry in entries(lexicon_nouns.CITIES)]
    countries = [_geographic(entry, "region") for _, entry in entries(lexicon_nouns.COUNTRIES)]
    for place in range(max(len(cities), len(countries))):
        found += cities[place : place + 1] + countries[place : place + 1]
    return found


def _geographic(entry: str, group: str) -> Place:
    de, _, en = entry.partition(" = ")
    name, en = de.removeprefix("die "), en or de
    at, to = f"in {name}", f"nach {name}"
    if name != de:
        many = name in ("USA", "Niederlande")
        dative = name + "n" if name == "Niederlande" else name
        at, to = f"in {'den' if many else 'der'} {dative}", f"in die {name}"
    return Place(None, at, (f"in {en}",), to, (f"to {en}",), frozenset({group}))


def _times() -> dict[str, list[Adverb]]:
    found = adverbs(lexicon_modifiers.TIMES)
    weekdays, months = pairs(lexicon_modifiers.WEEKDAYS), pairs(lexicon_modifiers.MONTHS)
    for kind, de, en in dated_times(weekdays, months, pairs(lexicon_modifiers.SEASONS), _numbers()):
        found.setdefault(kind, []).append(adverb(de, en))
    for de, en in clock_times(_numbers()):
        found.setdefault("clock", []).append(adverb(de, en))
    return found


def _numbers() -> list[tuple[str, str]]:
    return number_words([(de, en[0]) for de, en in pairs(lexicon_modifiers.NUMBERS)])


def read_words() -> Words:
    """Parse the tables."""
    adjectives = _adjectives()
    nouns = _Nouns(adjectives)
    for section, entry in entries(lexicon_nouns.NOUNS):
        nouns.read(section, entry)
    nouns.read_compounds()
    places = _places(nouns)
    women, men = lines(lexicon_nouns.FIRST_NAMES)
    moods = adverbs(lexicon_modifiers.SENTENCE_ADVERBS)
    return Words(
        nouns=tuple(nouns.all),
        places=tuple(places),
        adjectives=tuple(adjectives),
        times={kind: weighted(found) for kind, found in _times().items()},
        sentence_adverbs={kind: weighted(found) for kind, found in moods.items()},
        proverbs=weighted(pairs(lexicon_special.PROVERBS), 10),
        numbers=tuple(_numbers()),
        cities=weighted([(p.at[3:], p.at_english[0][3:]) for p in places if "city" in p.classes]),
        women=weighted(women.split()[1:]),
        men=weighted(men.split()[1:]),
        surnames=weighted(lexicon_nouns.SURNAMES.split()),
    )
