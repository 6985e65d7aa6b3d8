"""Relative clauses: `das Buch , das er gekauft hat` / `the book (that) he bought`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.german import NOM
from dragoman_synth.phrases import ALL, DEM, EACH, GENERIC, NAMED, NO, POSS, ZERO, Common, Phrase
from dragoman_synth.verbgroups import plans

if TYPE_CHECKING:
    from dragoman_synth.choice import Chooser
    from dragoman_synth.clauses import Clause
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Frame

__all__ = ["Relativiser"]

_PRONOUNS = (
    ("der", "den", "dem"),
    ("die", "die", "der"),
    ("das", "das", "dem"),
    ("die", "die", "denen"),
)
_PAST = plans(PAST=3, NARRATED=1)


class Relativiser:
    """Attaches relative clauses that suit the noun they modify."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.objects: dict[int, list[tuple[Frame, int]]] = {}
        for frame in dict.fromkeys(chooser.lexicon.frames):
            if not frame.human or frame.aspect == "sta":
                continue
            for place, slot in enumerate(frame.slots):
                if slot.label in ("A", "P") and slot.policy not in ("z", "g", "m", "b"):
                    for noun in dict.fromkeys(slot.nouns):
                        self.objects.setdefault(id(noun), []).append((frame, place))

    def can(self, phrase: object) -> bool:
        return (
            isinstance(phrase, Common)
            and phrase.relative is None
            and not phrase.tail
            and phrase.determiner not in (ZERO, GENERIC, NAMED, DEM, NO, EACH, ALL)
            and phrase.of is None
            and (phrase.determiner < POSS or phrase.human)
            and "rel" not in phrase.noun.classes
            and (phrase.human or id(phrase.noun) in self.objects)
        )

    def attach(self, r: Draw, phrase: Common, *, avoid: Frame | None = None) -> None:
        """Add a relative clause about a person's action, or a thing as its object, excluding the frame `avoid`."""
        if phrase.human:
            self._about_person(r, phrase, avoid)
        else:
            options = [option for option in self.objects[id(phrase.noun)] if option[0] is not avoid]
            if options:
                self._about_thing(r, phrase, *r.pick(options))

    def _about_person(self, r: Draw, phrase: Common, avoid: Frame | None) -> None:
        chooser = self.chooser
        frame = chooser.action(r, voluntary=False)
        while frame is avoid:
            frame = chooser.action(r, voluntary=False)
        clause = chooser.clause(r, frame, subject=phrase, plan=r.pick(_PAST), negation=0.04, adverbials=0.6)
        clause.adverb = None
        if r.chance(0.12):
            self._deepen(r, clause)
        pronoun = _PRONOUNS[phrase.gender][NOM]
        german = clause.german_final(subject=False)
        phrase.tail = f" , {pronoun} {german} ,"
        phrase.heavy = True
        phrase.relative = lambda draw: clause.english(draw, subject=draw.prefer(("who", "that")))

    def _deepen(self, r: Draw, clause: Clause) -> None:
        for filler in clause.filled:
            if isinstance(filler, Common) and not filler.human and self.can(filler):
                self.attach(r, filler, avoid=clause.frame)
                clause.time = clause.clock = clause.location = clause.manner = None
                return

    def _about_thing(self, r: Draw, phrase: Common, frame: Frame, place: int) -> None:
        chooser = self.chooser
        subject: Phrase = chooser.subject(r, pronouns=0.6)
        clause = chooser.clause(r, frame, subject=subject, plan=r.pick(_PAST), negation=0.0, adverbials=0.5)
        clause.adverb = None
        slot = frame.slots[place]
        clause.filled[place] = phrase
        pronoun = _PRONOUNS[phrase.gender][slot.case]
        head = f"{slot.preposition} {pronoun}" if slot.preposition else pronoun
        german = clause.german_final(gap=place)
        phrase.tail = f" , {head} {german} ,"
        phrase.heavy = True

        def english(draw: Draw) -> str:
            link = draw.prefer(("that", "", "which"))
            text = clause.english(draw, gap=place)
            return f"{link} {text}" if link else text

        phrase.relative = english
