"""A clause: a verb frame with its complements filled, realised in any German word order and in English.

German order after the finite verb: subject, pronouns, time, dative, definite accusative, negation, manner,
place, indefinite accusative, and the complements that belong to the verb; then the right bracket. English
puts manner, place and time last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dragoman_synth.english import BE
from dragoman_synth.german import ACC, DAT, NOM
from dragoman_synth.phrases import OWNERS, Phrase, Spot, contract, join
from dragoman_synth.verbgroups import Plan, english_group, german_group, join_subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Adverb, Frame, Pattern, Slot

__all__ = ["Clause"]

_REFLEXIVE = (
    ("mich", "mir"),
    ("dich", "dir"),
    ("sich", "sich"),
    ("uns", "uns"),
    ("euch", "euch"),
    ("sich", "sich"),
)


@dataclass(slots=True, eq=False)
class _Field:
    """Complements of a German clause by position; `negation` means that one of them is negated."""

    pronouns: list[str] = field(default_factory=list)
    datives: list[str] = field(default_factory=list)
    definite: list[str] = field(default_factory=list)
    indefinite: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    negation: bool = False

    def place(self, slot: Slot, phrase: Phrase) -> None:
        if slot.label == "P":
            self.tail.append(contract(slot.preposition, phrase, slot.case))
        elif phrase.pronoun:
            self.pronouns.append(phrase.de(slot.case))
        elif slot.case == DAT:
            self.datives.append(phrase.de(DAT))
        else:
            (self.definite if phrase.definite else self.indefinite).append(phrase.de(ACC))

    def ordered_pronouns(self) -> list[str]:
        """The accusative comes first."""
        if len(self.pronouns) == 2 and self.pronouns[1] in _ACCUSATIVES:
            self.pronouns.reverse()
        return self.pronouns


def _said(words: Adverb | Spot | None) -> str:
    return words.german if words is not None else ""


@dataclass(slots=True, eq=False)
class Clause:
    """One clause. `filled` has a phrase or a place for each open slot of the frame, in order."""

    frame: Frame
    subject: Phrase
    filled: list[Phrase | Spot | None]
    plan: Plan
    negated: bool = False
    extrapose: bool = True
    heavy: bool = False
    time: Adverb | None = None
    clock: Adverb | None = None
    adverb: Adverb | None = None
    manner: Adverb | None = None
    location: Spot | None = None
    vehicle: tuple[str, str] | None = None

    # German

    def _german(self, *, skip: str = "", gap: int = -1) -> tuple[list[str], list[str]]:
        """Pronouns, and the words after them, without the fronted constituent (`skip`) and slot `gap`."""
        found = _Field()
        for place, (slot, filler) in enumerate(zip(self.frame.slots, self.filled, strict=True)):
            if place != gap:
                self._place(found, slot, filler)
        negated = self.negated and not found.negation
        time = self.time if skip != "time" else None
        late = time is not None and time.middle
        if time is not None and late and time.english[0][1] == "n":
            negated = False
        # A bare noun (Klavier spielen) has no article that could become kein.
        negated = negated and not any(phrase.startswith("kein") for phrase in found.indefinite)
        words = (
            _said(self.adverb) if skip != "adverb" else "",
            _said(time) if not late else "",
            _said(self.clock),
            *found.datives,
            *found.definite,
            _said(time) if late else "",
            "nicht" if negated else "",
            _said(self.manner),
            self.vehicle[0] if self.vehicle is not None else "",
            _said(self.location) if skip != "location" else "",
            *found.indefinite,
            *found.tail,
        )
        return found.ordered_pronouns(), [word for word in words if word]

    def _place(self, found: _Field, slot: Slot, filler: Phrase | Spot | None) -> None:
        if not slot.label:
            found.tail.append(slot.words)
        elif slot.label in ("R", "RD"):
            found.pronouns.append(_REFLEXIVE[self.subject.person][slot.case == DAT])
        elif slot.label == "es":
            found.pronouns.insert(0, "es")
        elif slot.label == "~":
            found.tail.append(f"{slot.preposition} {slot.words}" if self.negated and not found.negation else slot.words)
            found.negation = True
        elif isinstance(filler, Spot):
            found.tail.append(filler.german)
        elif isinstance(filler, Phrase):
            found.place(slot, filler)

    def _with_subject(self, pronouns: list[str], words: list[str]) -> list[str]:
        """Subject, pronouns and the rest, with no verb in between: pronouns precede a noun subject."""
        subject = self.subject.de(NOM)
        if self.subject.pronoun:
            return [subject, *pronouns, *words]
        return [*pronouns, subject, *words]

    def _close(self, words: list[str], bracket: str) -> None:
        """Add the right bracket; a relative clause at the end of the field may be extraposed after it."""
        if not bracket:
            return
        last = words[-1] if words else ""
        if self.extrapose and last.endswith(" ,"):
            head, _, clause = last.partition(" , ")
            words[-1] = head
            words.append(f"{bracket} , {clause}")
        else:
            words.append(bracket)

    def german_main(self, front: str = "subject", *, first: str = "", gap: int = -1, please: bool = False) -> str:
        """Verb-second clause; `front` is subject, time, adverb, location, object or none.

        With none the verb comes first, or second after `first`.
        """
        finite, right, _ = german_group(self.frame.verb, self.plan, self.subject.person)
        if front == "object":
            gap = next(i for i, slot in enumerate(self.frame.slots) if slot.label == "A")
        pronouns, words = self._german(skip=front, gap=gap)
        if please:
            words.insert(0, "bitte")
        if front == "subject":
            parts = [self.subject.de(NOM), finite, *pronouns, *words]
        else:
            parts = [finite, *self._with_subject(pronouns, words)]
            first = first or self._front(front, gap)
            if first:
                parts.insert(0, first)
        self._close(parts, right)
        return " ".join(parts)

    def _front(self, front: str, gap: int) -> str:
        if front == "object":
            filler = self.filled[gap]
            return filler.de(ACC) if isinstance(filler, Phrase) else ""
        return _said({"time": self.time, "adverb": self.adverb, "location": self.location}.get(front))

    def german_final(self, *, gap: int = -1, subject: bool = True) -> str:
        """Verb-final clause without its conjunction; without its subject as a relative clause."""
        _, _, cluster = german_group(self.frame.verb, self.plan, self.subject.person)
        pronouns, words = self._german(gap=gap)
        words = self._with_subject(pronouns, words) if subject else pronouns + words
        self._close(words, cluster)
        return " ".join(words)

    def german_infinitive(self) -> str:
        """The predicate as an infinitive: `seinen Bruder anzurufen`."""
        pronouns, words = self._german()
        words = pronouns + words
        self._close(words, self.frame.verb.zu)
        return " ".join(words)

    def german_imperative(self, *, formal: bool) -> str:
        """`mach bitte das Licht an`, `machen Sie bitte das Licht an`."""
        verb = self.frame.verb
        pronouns, words = self._german()
        head = [verb.present[5], "Sie"] if formal else [verb.imperative]
        parts = [*head, *pronouns, "bitte", *words]
        if verb.prefix:
            parts.append(verb.prefix)
        return " ".join(parts)

    # English

    def english(self, r: Draw, *, gap: int = -1, subject: str | None = None, fronting: bool = True) -> str:
        """A declarative clause; `subject` replaces the subject (who), `gap` leaves a slot empty."""
        pattern = self._pattern(r, gap)
        if subject is None:
            who, person = self._agent(r)
        else:
            who, person = subject, self.subject.english_person
        middle, initial, end = self._adverbials(r, fronting=fronting and subject is None and gap < 0)
        auxiliary, rest = self._group(pattern, person, r)
        if auxiliary and who:
            who, auxiliary = join_subject(who, auxiliary, r), ""
        early = self.manner is not None and pattern.pieces and pattern.pieces[0] in _PLACING
        head = join(initial, who, auxiliary, middle, rest, end.pop(0) if early else "")
        return self._finish(head, pattern, r, gap, end)

    def english_passive(self, r: Draw, place: int, agent: Phrase | None) -> str:
        """A passive clause: the slot at index `place` as subject, and the agent, if any, after `by`."""
        patient = self.filled[place]
        if not isinstance(patient, Phrase):
            raise TypeError("only a noun phrase can be the subject of a passive")
        pattern = self._pattern(r, place)
        middle, initial, end = self._adverbials(r, fronting=True)
        person = patient.english_person
        auxiliary, rest = english_group(BE, self.plan, person, r, negated=self.negated, question=False, stative=True)
        head = join(initial, patient.en(r), auxiliary, middle, rest, pattern.verb.participle)
        return self._finish(head, pattern, r, place, end, agent)

    def english_question(self, r: Draw, *, wh: str = "", gap: int = -1) -> str:
        """A question with inversion and do-support."""
        pattern = self._pattern(r, gap)
        who, person = self._agent(r)
        middle, _, end = self._adverbials(r, fronting=False)
        auxiliary, rest = self._group(pattern, person, r, question=True)
        negation = "not" if auxiliary.endswith(" not") else ""
        head = join(wh, auxiliary.removesuffix(" not"), who, negation, middle, rest)
        return self._finish(head, pattern, r, gap, end)

    def english_infinitive(self, r: Draw, *, form: str = "base") -> str:
        """The predicate without subject: base form, `ing` or participle."""
        pattern = self._pattern(r, -1)
        middle, _, end = self._adverbials(r, fronting=False)
        verb = pattern.verb.ing if form == "ing" else pattern.verb.base
        return self._finish(join(middle, verb), pattern, r, -1, end)

    def _group(self, pattern: Pattern, person: int, r: Draw, *, question: bool = False) -> tuple[str, str]:
        stative = self.frame.aspect == "sta"
        return english_group(
            pattern.verb, self.plan, person, r, negated=self.negated, question=question, stative=stative
        )

    def _finish(
        self, head: str, pattern: Pattern, r: Draw, gap: int, end: list[str], agent: Phrase | None = None
    ) -> str:
        """The verb group, its complements, the agent of a passive, and final adverbials."""
        parts = [head]
        for piece in pattern.pieces:
            parts += self._complement(piece[1:-1], r, gap) if piece[0] == "{" else [piece]
        if agent is not None:
            parts.append(f"by {agent.en_object(r)}")
        return " ".join(parts + end)

    def _pattern(self, r: Draw, gap: int) -> Pattern:
        frame = self.frame
        patterns = frame.patterns
        for place, slot in enumerate(frame.slots):
            filler = self.filled[place]
            if isinstance(filler, Phrase) and place != gap:
                if (slot.label == "A" and filler.pronoun) or (slot.label == "D" and filler.heavy):
                    patterns = frame.patterns_pronoun
                elif slot.label == "A" and filler.heavy:
                    patterns = frame.patterns_heavy
        return r.prefer(patterns)

    def _agent(self, r: Draw) -> tuple[str, int]:
        if self.frame.swap:
            experiencer = self.filled[0]
            if isinstance(experiencer, Phrase):
                return experiencer.en(r), experiencer.english_person
        return self.subject.en(r), self.subject.english_person

    def _adverbials(self, r: Draw, *, fronting: bool) -> tuple[str, str, list[str]]:
        """Medial adverb, initial adverb and final adverbials, in order."""
        middle = initial = ""
        end: list[str] = []
        if self.manner is not None:
            words = r.prefer(self.manner.english)[0]
            end.append(words.replace("{own}", OWNERS[self._owner()][1]) if "{" in words else words)
        if self.vehicle is not None:
            end.append(self.vehicle[1])
        if self.location is not None:
            end.append(self.location.en(r))
        if self.clock is not None:
            end.append(r.prefer(self.clock.english)[0])
        if self.time is not None:
            words, position = r.prefer(self.time.english)
            if position == "m":
                middle = words
            elif fronting and self._time_leads(position, r):
                initial = f"{words} ," if r.chance(0.3) else words
            else:
                end.append(words)
        if self.adverb is not None:
            words, position = r.prefer(self.adverb.english)
            if fronting and not initial and (position != "m" or middle):
                initial = f"{words} ," if r.chance(0.5) and words not in ("maybe", "perhaps") else words
            else:
                middle = middle or words
        return middle, initial, end

    def _time_leads(self, position: str, r: Draw) -> bool:
        return self.heavy if position == "e" else not position and (self.heavy or r.chance(0.25))

    def _owner(self) -> int:
        filler = self.filled[0] if self.frame.swap else None
        return filler.owner if isinstance(filler, Phrase) else self.subject.owner

    def _complement(self, name: str, r: Draw, gap: int) -> Iterator[str]:
        """The words for a slot name in the braces of a pattern."""
        if name in _AGREEING:
            yield OWNERS[self._owner()][_AGREEING[name]]
        elif name == "S":
            yield self.subject.en_object(r)
        for place, slot in enumerate(self.frame.slots):
            filler = self.filled[place]
            if slot.label == name.removesuffix("'s") and place != gap:
                if isinstance(filler, Spot):
                    yield filler.en(r)
                elif isinstance(filler, Phrase):
                    yield filler.en_possessive(r) if name.endswith("'s") else filler.en_object(r)


_AGREEING = {"own": 1, "obj": 2}
"""Columns of OWNERS."""
_ACCUSATIVES = frozenset(["mich", "dich", "ihn", "uns", "euch", "sie", "es"])
_PLACING = frozenset(("on", "in", "at", "from", "across", "over", "through"))
