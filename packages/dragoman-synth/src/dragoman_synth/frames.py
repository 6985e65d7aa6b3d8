"""Verb frames, read from the lexicon against the words that fill them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth import english, german
from dragoman_synth.german import ACC, DAT
from dragoman_synth.lexemes import Frame, Pattern, Slot
from dragoman_synth.tables import grouped, irregular, weighted

if TYPE_CHECKING:
    from dragoman_synth.words import Words

__all__ = ["read_frames"]

_CASES = {"A": ACC, "D": DAT}
_PREPOSITIONS = "auf in im ins aus vom von am an mit zu zum zur nach bei über durch vor unter als beim spazieren"
"""First words of fixed complements that can follow nicht."""


_PARTICLES = frozenset(["on", "off", "up", "down", "away", "in", "out", "along"])


def _for_pronoun(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """`turn on {A}` → `turn {A} on`; `give {D} {A}` → `give {A} to {D}`."""
    if len(pieces) > 1 and pieces[1] == "{A}":
        if pieces[0] in _PARTICLES:
            return ("{A}", pieces[0], *pieces[2:])
        if pieces[0] == "{D}":
            return ("{A}", "to", "{D}", *pieces[2:])
    return pieces


def _for_heavy(patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """The patterns that put {A} last (`turn {A} on` → `turn on {A}`); all patterns if none does."""
    moved = [
        Pattern(p.verb, (p.pieces[1], "{A}"))
        if len(p.pieces) == 2 and p.pieces[0] == "{A}" and p.pieces[1] in _PARTICLES
        else p
        for p in patterns
    ]
    return tuple(p for p in moved if p.pieces and p.pieces[-1] == "{A}") or patterns


def read_frames(words: Words) -> dict[str, list[Frame]]:
    """The verb frames of the lexicon, by section."""
    return grouped("frames.txt", _FrameReader(words).frame)


class _FrameReader:
    """Parses verb frames and resolves their nouns, places and manners."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.prepositions = frozenset(_PREPOSITIONS.split())
        self.german = irregular("german")
        self.english = irregular("english")

    def frame(self, line: str) -> Frame:
        verb, subjects, complements, patterns, flags = (part.strip() for part in line.split(" ; "))
        slots = tuple(self._slot(text) for text in complements.split() if text != "-")
        names = flags.split()
        options = dict(name.split("=") for name in names if "=" in name)
        groups = options["man"].split(",") if "man" in options else ()
        kinds = subjects.split(",")
        made = tuple(self._pattern(text) for text in patterns.split(" / "))
        return Frame(
            verb=german.conjugate(verb, self.german),
            human="hum" in kinds,
            nouns=self.words.of(*kinds) if kinds[0] not in ("hum", "es") else (),
            slots=slots,
            patterns=made,
            patterns_pronoun=tuple(Pattern(p.verb, _for_pronoun(p.pieces)) for p in made),
            patterns_heavy=_for_heavy(made),
            aspect=names[0],
            flags=frozenset(name for name in names[1:] if "=" not in name),
            places=self.words.where(*options["loc"].split(",")) if "loc" in options else (),
            manners=weighted([manner for group in groups for manner in self.words.manners[group]]),
            swap=names[0] == "swap",
            negatable="noneg" not in names
            and ("neg" in names or all(s.label or s.words.split()[0] in self.prepositions for s in slots)),
        )

    def _slot(self, text: str) -> Slot:
        if text == "_es":
            return Slot("es", case=ACC, words="es")
        if text.startswith("_"):
            return Slot("", words=text[1:].replace("_", " "))
        if text.startswith("~"):
            noun, _, gender = text[1:].partition(".")
            negative = german.determiner_forms("kein")["mfn".index(gender)][ACC]
            return Slot("~", preposition=negative, case=ACC, words=noun)
        if text in ("R", "RD"):
            return Slot(text, case=ACC if text == "R" else DAT)
        head, _, rest = text.partition("=")
        fillers, _, policy = rest.partition("/")
        kinds = fillers.split(",")
        if head in ("G", "L"):
            return Slot(head, places=self.words.where(*kinds))
        preposition, _, case = head.rpartition(".")
        label = "P" if preposition else case
        others = [kind for kind in kinds if kind != "hum"]
        nouns = self.words.of(*others) if others else ()
        return Slot(label, preposition=preposition, case=_CASES[case], human="hum" in kinds, nouns=nouns, policy=policy)

    def _pattern(self, text: str) -> Pattern:
        words = text.split()
        head = 1 if words[0] == "{D}" else 0
        verb = english.conjugate(words[head], self.english)
        return Pattern(verb, tuple(words[head + 1 :]))
