"""The lexicon in memory: tables parsed once, all forms inflected, a frequency-weighted pool for each semantic class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from dragoman.corpus.synth import english, german, lexicon_modifiers, lexicon_nouns, lexicon_special, lexicon_verbs
from dragoman.corpus.synth.calendar import clock_times, dated_times, number_words
from dragoman.corpus.synth.german import ACC, DAT, PL, F, M, N
from dragoman.corpus.synth.lexemes import Adjective, Adverb, Frame, Noun, Pattern, Place, Slot

__all__ = ["Lexicon", "lexicon", "weighted"]

T = TypeVar("T")

_GENDERS = {"der": M, "die": F, "das": N, "die+": PL}
_CASES = {"A": ACC, "D": DAT}


def weighted(items: Sequence[T], offset: int = 3) -> tuple[T, ...]:
    """Repeat items so that a uniform draw is Zipf-like: the i-th comes in proportion to 1 / (i + offset)."""
    top = len(items) + offset
    return tuple(item for rank, item in enumerate(items) for _ in range(max(1, round(top / (rank + offset)))))


def _entries(table: str) -> Iterator[tuple[str, str]]:
    """Entries of a table with the section they stand in."""
    section = ""
    for line in table.strip().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line:
            for entry in line.split(" ; "):
                yield section, entry.strip()


def _pairs(table: str) -> list[tuple[str, tuple[str, ...]]]:
    """Entries `german = english / english`."""
    pairs = []
    for _, entry in _entries(table):
        de, _, en = entry.partition(" = ")
        pairs.append((de, tuple(en.split(" / "))))
    return pairs


def _adverb(de: str, translations: Iterable[str]) -> Adverb:
    made = []
    for translation in translations:
        words, _, position = translation.partition(" @")
        made.append((words, position))
    return Adverb(de, tuple(made), made[0][1] in ("m", "n"))


def _parse_adjectives() -> list[Adjective]:
    found = []
    for line in lexicon_modifiers.ADJECTIVES.strip().splitlines():
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
        tags = frozenset(name for name in classes if f"no{name}" not in classes) | {words[0].replace(" ", "_")}
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
        lines = lexicon_nouns.COMPOUNDS.strip().splitlines()
        for modifiers, head in zip(lines[::2], lines[1::2], strict=True):
            de, _, en = modifiers.partition(" = ")
            forms, _, rest = head.partition(" = ")
            translation, _, classes = rest.partition(" | ")
            word, _, nouns = forms.partition(" ")
            for first, first_english in zip(de.split(), en.split(), strict=True):
                compound = ", ".join(first + part for part in nouns.split(", "))
                translated = "/".join(f"{first_english} {part}" for part in translation.split("/"))
                self.make(f"{word} {compound}", translated, set(classes.split()))


def _parse_places(nouns: _Nouns) -> list[Place]:
    found = []
    for section, text in _entries(lexicon_nouns.PLACES):
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
    for table, group in ((lexicon_nouns.CITIES, "city"), (lexicon_nouns.COUNTRIES, "region")):
        for entry in table.replace("\n", ";").split(";"):
            if entry.strip():
                found.append(_geographic(entry.strip(), group))
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


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Everything a grammar rule draws from."""

    nouns: tuple[Noun, ...]
    places: tuple[Place, ...]
    frames: tuple[Frame, ...]
    things: tuple[Frame, ...]
    idioms: tuple[Frame, ...]
    states: tuple[Frame, ...]
    hindrances: tuple[Frame, ...]
    helps: tuple[Frame, ...]
    moods: tuple[Frame, ...]
    weather: tuple[Frame, ...]
    lasting: tuple[Frame, ...]
    passives: tuple[Frame, ...]
    commands: tuple[Frame, ...]
    mishaps: tuple[Frame, ...]
    walking: Frame | None
    travelling: Frame | None
    causatives: tuple[Frame, ...]
    reports: tuple[Frame, ...]
    requests: tuple[Frame, ...]
    matrices: tuple[Frame, ...]
    duties: tuple[Frame, ...]
    hobbies: tuple[Frame, ...]
    outings: tuple[Frame, ...]
    big: tuple[Frame, ...]
    arrivals: tuple[Frame, ...]
    gladly: dict[str, Adverb]
    adjectives: tuple[Adjective, ...]
    times: dict[str, tuple[Adverb, ...]]
    sentence_adverbs: dict[str, tuple[Adverb, ...]]
    proverbs: tuple[tuple[str, tuple[str, ...]], ...]
    numbers: tuple[tuple[str, str], ...]
    cities: tuple[tuple[str, str], ...]
    women: tuple[str, ...]
    men: tuple[str, ...]
    surnames: tuple[str, ...]
    german_parts: dict[str, str]
    english_parts: dict[str, str]

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


_PREPOSITIONS = frozenset(
    [
        "auf",
        "in",
        "im",
        "ins",
        "aus",
        "vom",
        "von",
        "am",
        "an",
        "mit",
        "zu",
        "zum",
        "zur",
        "nach",
        "bei",
        "über",
        "durch",
        "vor",
        "unter",
        "als",
        "beim",
        "spazieren",
    ]
)


_PARTICLES = frozenset(["on", "off", "up", "down", "away", "in", "out", "along"])


def _for_pronoun(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """`turn on {A}` → `turn {A} on`; `give {D} {A}` → `give {A} to {D}`."""
    if len(pieces) > 1 and pieces[1] == "{A}":
        if pieces[0] in _PARTICLES:
            return ("{A}", pieces[0], *pieces[2:])
        if pieces[0] == "{D}":
            return ("{A}", "to", "{D}", *pieces[2:])
    return pieces


def _for_heavy(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """`turn {A} on` → `turn on {A}`."""
    if len(pieces) == 2 and pieces[0] == "{A}" and pieces[1] in _PARTICLES:
        return (pieces[1], "{A}")
    return pieces


class _Frames:
    """Parses verb frames against the nouns, places and manners."""

    def __init__(self, base: Lexicon) -> None:
        self.base = base
        self.manners = _parse_adverbs(lexicon_modifiers.MANNERS)

    def read(self, line: str) -> Frame:
        verb, subjects, complements, patterns, flags = (part.strip() for part in line.split(" ; "))
        slots = tuple(self.slot(text) for text in complements.split() if text != "-")
        names = flags.split()
        options = dict(name.split("=") for name in names if "=" in name)
        kinds = subjects.split(",")
        made = tuple(self.pattern(text) for text in patterns.split(" / "))
        return Frame(
            verb=german.conjugate(verb, self.base.german_parts),
            human="hum" in kinds,
            nouns=self.base.of(*kinds) if kinds[0] not in ("hum", "es") else (),
            slots=slots,
            patterns=made,
            patterns_pronoun=tuple(Pattern(p.verb, _for_pronoun(p.pieces)) for p in made),
            patterns_heavy=tuple(Pattern(p.verb, _for_heavy(p.pieces)) for p in made),
            aspect=names[0],
            flags=frozenset(name for name in names[1:] if "=" not in name),
            places=self.base.where(*options["loc"].split(",")) if "loc" in options else (),
            manners=weighted([a for group in options.get("man", "").split(",") if group for a in self.manners[group]]),
            swap=names[0] == "swap",
            negatable="noneg" not in names
            and ("neg" in names or all(s.label or s.words.split()[0] in _PREPOSITIONS for s in slots)),
        )

    def slot(self, text: str) -> Slot:
        if text == "_es":
            return Slot("es", "", ACC, False, (), (), "", "es")
        if text.startswith("_"):
            return Slot("", "", 0, False, (), (), "", text[1:].replace("_", " "))
        if text.startswith("~"):
            noun, _, gender = text[1:].partition(".")
            negative = german.determiner_forms("kein")["mfn".index(gender)][ACC]
            return Slot("~", negative, ACC, False, (), (), "", noun)
        if text in ("R", "RD"):
            return Slot(text, "", ACC if text == "R" else DAT, False, (), (), "", "")
        head, _, rest = text.partition("=")
        fillers, _, policy = rest.partition("/")
        kinds = fillers.split(",")
        if head in ("G", "L"):
            return Slot(head, "", 0, False, (), self.base.where(*kinds), "", "")
        preposition, _, case = head.rpartition(".")
        label = "P" if preposition else case
        others = [kind for kind in kinds if kind != "hum"]
        nouns = self.base.of(*others) if others else ()
        return Slot(label, preposition, _CASES[case], "hum" in kinds, nouns, (), policy, "")

    def pattern(self, text: str) -> Pattern:
        words = text.split()
        head = 1 if words[0] == "{D}" else 0
        verb = english.conjugate(words[head], self.base.english_parts)
        return Pattern(verb, tuple(words[head + 1 :]))


def _parse_adverbs(table: str) -> dict[str, list[Adverb]]:
    """Lines `kind: german = english ; …`."""
    found: dict[str, list[Adverb]] = {}
    for line in table.strip().splitlines():
        kind, _, rest = line.partition(": ")
        found.setdefault(kind, []).extend(_adverb(de, en) for de, en in _pairs(rest))
    return found


def _parse_times() -> dict[str, list[Adverb]]:
    found = _parse_adverbs(lexicon_modifiers.TIMES)
    weekdays, months = _pairs(lexicon_modifiers.WEEKDAYS), _pairs(lexicon_modifiers.MONTHS)
    for kind, de, en in dated_times(weekdays, months, _pairs(lexicon_modifiers.SEASONS), _numbers()):
        found.setdefault(kind, []).append(_adverb(de, en))
    for de, en in clock_times(_numbers()):
        found.setdefault("clock", []).append(_adverb(de, en))
    return found


def _numbers() -> list[tuple[str, str]]:
    return number_words([(de, en[0]) for de, en in _pairs(lexicon_modifiers.NUMBERS)])


def _parts(table: str) -> dict[str, str]:
    entries = (entry.split(" ", 1) for entry in table.strip().replace("\n", " ; ").split(" ; "))
    return {head: rest.strip() for head, rest in entries}


@cache
def lexicon() -> Lexicon:
    """Parse and inflect everything, on first use."""
    adjectives = _parse_adjectives()
    nouns = _Nouns(adjectives)
    for section, entry in _entries(lexicon_nouns.NOUNS):
        nouns.read(section, entry)
    nouns.read_compounds()
    places = _parse_places(nouns)
    names = dict(line.split(" ", 1) for line in lexicon_nouns.FIRST_NAMES.strip().splitlines())
    base = Lexicon(
        nouns=tuple(nouns.all),
        places=tuple(places),
        frames=(),
        things=(),
        idioms=(),
        states=(),
        hindrances=(),
        helps=(),
        moods=(),
        duties=(),
        hobbies=(),
        outings=(),
        big=(),
        weather=(),
        lasting=(),
        passives=(),
        commands=(),
        mishaps=(),
        causatives=(),
        walking=None,
        travelling=None,
        reports=(),
        requests=(),
        matrices=(),
        arrivals=(),
        gladly={},
        adjectives=tuple(adjectives),
        times={kind: weighted(adverbs) for kind, adverbs in _parse_times().items()},
        sentence_adverbs={k: weighted(a) for k, a in _parse_adverbs(lexicon_modifiers.SENTENCE_ADVERBS).items()},
        proverbs=weighted(_pairs(lexicon_special.PROVERBS), 10),
        numbers=tuple(_numbers()),
        cities=weighted([(p.at[3:], p.at_english[0][3:]) for p in places if "city" in p.classes]),
        women=weighted(names["f"].split()),
        men=weighted(names["m"].split()),
        surnames=weighted(lexicon_nouns.SURNAMES.split()),
        german_parts=_parts(lexicon_verbs.GERMAN_IRREGULAR),
        english_parts=_parts(lexicon_verbs.ENGLISH_IRREGULAR),
    )
    return _with_frames(base)


def _with_frames(base: Lexicon) -> Lexicon:
    reader = _Frames(base)

    def read(table: str) -> list[Frame]:
        return [reader.read(line) for line in table.strip().splitlines()]

    people = weighted(read(lexicon_verbs.FRAMES), 40)
    senses = weighted(read(lexicon_special.SENSE_FRAMES), 60)
    things = weighted(read(lexicon_special.THING_FRAMES), 12)
    feelings = "\n".join(
        f"sein ; hum ; _{de} ; {' / '.join('be ' + word for word in en)} ; sta neg"
        for de, en in _pairs(lexicon_modifiers.CONDITIONS)
    )
    states = weighted(read(lexicon_special.STATE_FRAMES) + read(feelings), 20)
    weather = weighted(read(lexicon_special.WEATHER_FRAMES), 4)
    return replace(
        base,
        frames=people + senses,
        lasting=tuple(frame for frame in people if "since" in frame.flags),
        passives=tuple(frame for frame in people + senses + things if "pas" in frame.flags and len(frame.slots) == 1),
        commands=tuple(frame for frame in people + senses if "imp" in frame.flags),
        things=things,
        mishaps=tuple(frame for frame in people + senses if "bad" in frame.flags and frame.human),
        causatives=tuple(
            f for f in people if f.verb.infinitive in ("reparieren", "waschen", "streichen") and "pas" in f.flags
        ),
        walking=next(f for f in people if f.verb.infinitive == "gehen" and f.slots[0].label == "G"),
        travelling=next(f for f in people if f.verb.infinitive == "fahren" and f.slots[0].label == "G"),
        reports=weighted(read(lexicon_special.REPORT_FRAMES), 5),
        requests=weighted(read(lexicon_special.REQUEST_FRAMES), 6),
        matrices=weighted(read(lexicon_special.MATRIX_FRAMES), 8),
        arrivals=weighted(read(lexicon_special.ARRIVAL_FRAMES), 4),
        gladly={words: Adverb(words, (("", "m"),), True) for words in ("gern", "lieber", "nicht gern", "sehr gern")},
        idioms=weighted(read(lexicon_special.IDIOM_FRAMES), 12),
        states=states,
        hindrances=tuple(frame for frame in states + weather if "hinder" in frame.flags),
        helps=tuple(frame for frame in states + weather if "help" in frame.flags),
        moods=tuple(frame for frame in states + weather if "hinder" not in frame.flags),
        duties=tuple(frame for frame in people if "duty" in frame.flags and frame.human),
        hobbies=tuple(frame for frame in people if "hob" in frame.flags and frame.human),
        outings=tuple(
            f for f in people + senses if f.places and f.human and f.aspect == "act" and "noout" not in f.flags
        ),
        big=tuple(frame for frame in people if "big" in frame.flags and "inv" not in frame.flags and frame.human),
        weather=weather,
    )
