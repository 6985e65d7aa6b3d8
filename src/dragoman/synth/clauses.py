"""A clause: a verb frame with its complements filled, spoken in any German word order and in English.

German order after the finite verb: subject, pronouns, time, dative, definite accusative, negation, manner,
place, indefinite accusative, and the complements that belong to the verb; then the right bracket. English
puts manner, place and time last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman.synth.english import conjugate
from dragoman.synth.german import ACC, DAT, NOM
from dragoman.synth.phrases import OWNERS, Phrase, Spot, contract
from dragoman.synth.verbgroups import (
    Plan,
    english_group,
    german_group,
    join_subject,
)

if TYPE_CHECKING:
    from dragoman.synth.draw import Draw
    from dragoman.synth.lexemes import Adverb, Frame, Pattern

__all__ = ["Clause"]

_BE = conjugate("be", {})
_REFLEXIVE = (
    ("mich", "mir"),
    ("dich", "dir"),
    ("sich", "sich"),
    ("uns", "uns"),
    ("euch", "euch"),
    ("sich", "sich"),
)


class Clause:
    """One clause. `filled` has a phrase or a place for each slot of the frame that needs one, in order."""

    __slots__ = (
        "adverb",
        "clock",
        "extrapose",
        "filled",
        "frame",
        "heavy",
        "location",
        "manner",
        "negated",
        "plan",
        "subject",
        "time",
        "vehicle",
    )

    def __init__(self, frame: Frame, subject: Phrase, filled: list[Phrase | Spot | None], plan: Plan) -> None:
        self.frame = frame
        self.subject = subject
        self.filled = filled
        self.plan = plan
        self.negated = False
        self.extrapose = True
        self.heavy = False
        self.time: Adverb | None = None
        self.clock: Adverb | None = None
        self.adverb: Adverb | None = None
        self.manner: Adverb | None = None
        self.location: Spot | None = None
        self.vehicle: tuple[str, str] | None = None

    # German

    def _german(self, *, skip: str = "", gap: int = -1) -> tuple[list[str], list[str]]:
        """Pronouns, and the words after them, without what stands elsewhere (`skip`) and slot `gap`."""
        pronouns: list[str] = []
        words: list[str] = []
        datives: list[str] = []
        definite: list[str] = []
        indefinite: list[str] = []
        tail: list[str] = []
        negated = self.negated
        for place, (slot, filler) in enumerate(zip(self.frame.slots, self.filled, strict=True)):
            if place == gap:
                continue
            label = slot.label
            if not label:
                tail.append(slot.words)
            elif label == "R" or label == "RD":
                pronouns.append(_REFLEXIVE[self.subject.person][slot.case == DAT])
            elif label == "es":
                pronouns.insert(0, "es")
            elif label == "~":
                tail.append(f"{slot.preposition} {slot.words}" if negated else slot.words)
                negated = False
            elif isinstance(filler, Spot):
                tail.append(filler.german)
            elif isinstance(filler, Phrase):
                if label == "P":
                    tail.append(contract(slot.preposition, filler, slot.case))
                elif filler.pronoun:
                    pronouns.append(filler.de(slot.case))
                elif slot.case == DAT:
                    datives.append(filler.de(DAT))
                elif filler.definite:
                    definite.append(filler.de(ACC))
                else:
                    indefinite.append(filler.de(ACC))
        if len(pronouns) == 2 and pronouns[1] in _ACCUSATIVES:
            pronouns.reverse()
        time, adverb = self.time, self.adverb
        if adverb is not None and skip != "adverb":
            words.append(adverb.german)
        late = ""
        if time is not None and skip != "time":
            if time.middle:
                late = time.german
                negated = negated and time.english[0][1] != "n"
            else:
                words.append(time.german)
        if self.clock is not None:
            words.append(self.clock.german)
        words += datives
        words += definite
        if late:
            words.append(late)
        # A bare noun (Klavier spielen) has no article that could become kein.
        if negated and not any(phrase.startswith("kein") for phrase in indefinite):
            words.append("nicht")
        if self.manner is not None:
            words.append(self.manner.german)
        if self.vehicle is not None:
            words.append(self.vehicle[0])
        if self.location is not None and skip != "location":
            words.append(self.location.german)
        words += indefinite
        words += tail
        return pronouns, words

    def _with_subject(self, pronouns: list[str], words: list[str]) -> list[str]:
        """Subject and what follows where the verb does not come between: pronouns go before a noun."""
        subject = self.subject.de(NOM)
        if self.subject.pronoun:
            return [subject, *pronouns, *words]
        return [*pronouns, subject, *words]

    def _close(self, words: list[str], bracket: str) -> None:
        """Add the right bracket; a relative clause at the end of the field may move behind it."""
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
        if front == "time" and self.time is not None:
            return self.time.german
        if front == "adverb" and self.adverb is not None:
            return self.adverb.german
        if front == "location" and self.location is not None:
            return self.location.german
        filler = self.filled[gap] if front == "object" else None
        return filler.de(ACC) if isinstance(filler, Phrase) else ""

    def german_final(self, *, gap: int = -1, subject: bool = True) -> str:
        """Verb-final clause without its conjunction; without its subject as a relative clause."""
        _, _, cluster = german_group(self.frame.verb, self.plan, self.subject.person)
        pronouns, words = self._german(gap=gap)
        words = self._with_subject(pronouns, words) if subject else pronouns + words
        self._close(words, cluster)
        return " ".join(words)

    def german_infinitive(self, *, zu: bool = True) -> str:
        """The predicate as an infinitive: `seinen Bruder anzurufen`."""
        pronouns, words = self._german()
        words = pronouns + words
        self._close(words, self.frame.verb.zu if zu else self.frame.verb.infinitive)
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
        negated = self.negated
        middle, initial, end = self._adverbials(r, fronting=fronting and subject is None and gap < 0)
        auxiliary, rest = english_group(
            pattern.verb,
            self.plan,
            person,
            r,
            negated=negated,
            question=False,
            stative=self.frame.aspect == "sta",
        )
        parts = [initial] if initial else []
        if auxiliary:
            parts.append(join_subject(who, auxiliary, r) if who else auxiliary)
            if middle:
                parts.append(middle)
            if rest:
                parts.append(rest)
        else:
            if who:
                parts.append(who)
            if middle:
                parts.append(middle)
            parts.append(rest)
        if self.manner is not None and pattern.pieces and pattern.pieces[0] in _PLACING:
            parts.append(end.pop(0))
        self._complements(pattern, r, gap, parts)
        parts += end
        return " ".join(parts)

    def english_passive(self, r: Draw, place: int, agent: Phrase | None) -> str:
        """The slot at `place` as subject, and the doer, if any, after `by`."""
        patient = self.filled[place]
        if not isinstance(patient, Phrase):
            raise TypeError("only a noun phrase can be the subject of a passive")
        pattern = self._pattern(r, place)
        middle, initial, end = self._adverbials(r, fronting=True)
        person = patient.english_person
        auxiliary, rest = english_group(_BE, self.plan, person, r, negated=self.negated, question=False, stative=True)
        parts = [initial] if initial else []
        parts += [patient.en(r), auxiliary]
        if middle:
            parts.append(middle)
        if rest:
            parts.append(rest)
        parts.append(pattern.verb.participle)
        self._complements(pattern, r, place, parts)
        if agent is not None:
            parts.append(f"by {agent.en_object(r)}")
        parts += end
        return " ".join(parts)

    def english_question(self, r: Draw, *, wh: str = "", gap: int = -1) -> str:
        """A question with inversion and do-support."""
        pattern = self._pattern(r, gap)
        who, person = self._agent(r)
        middle, _, end = self._adverbials(r, fronting=False)
        auxiliary, rest = english_group(
            pattern.verb,
            self.plan,
            person,
            r,
            negated=self.negated,
            question=True,
            stative=self.frame.aspect == "sta",
        )
        if auxiliary.endswith(" not"):
            parts = [wh, auxiliary[:-4], who, "not", middle, rest]
        else:
            parts = [wh, auxiliary, who, middle, rest]
        parts = [part for part in parts if part]
        self._complements(pattern, r, gap, parts)
        parts += end
        return " ".join(parts)

    def english_infinitive(self, r: Draw, *, form: str = "base") -> str:
        """The predicate without subject: base form, `ing` or participle."""
        pattern = self._pattern(r, -1)
        middle, _, end = self._adverbials(r, fronting=False)
        verb = pattern.verb
        parts = [middle] if middle else []
        parts.append(verb.ing if form == "ing" else verb.base)
        self._complements(pattern, r, -1, parts)
        parts += end
        return " ".join(parts)

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
        return patterns[0] if len(patterns) == 1 else r.prefer(patterns)

    def _agent(self, r: Draw) -> tuple[str, int]:
        if self.frame.swap:
            experiencer = self.filled[0]
            if isinstance(experiencer, Phrase):
                return experiencer.en(r), experiencer.english_person
        return self.subject.en(r), self.subject.english_person

    def _adverbials(self, r: Draw, *, fronting: bool) -> tuple[str, str, list[str]]:
        """Middle adverb, initial adverb and what comes last, in order."""
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
            elif fronting and (self.heavy if position == "e" else not position and (self.heavy or r.chance(0.25))):
                initial = f"{words} ," if r.chance(0.3) else words
            else:
                end.append(words)
        if self.adverb is not None:
            words, position = r.prefer(self.adverb.english)
            if position == "m" and not middle:
                middle = words
            elif fronting and not initial:
                initial = f"{words} ," if r.chance(0.5) and words not in ("maybe", "perhaps") else words
            else:
                middle = middle or words
        return middle, initial, end

    def _owner(self) -> int:
        filler = self.filled[0] if self.frame.swap else None
        return filler.owner if isinstance(filler, Phrase) else self.subject.owner

    def _complements(self, pattern: Pattern, r: Draw, gap: int, parts: list[str]) -> None:
        for piece in pattern.pieces:
            if piece[0] != "{":
                parts.append(piece)
                continue
            name = piece[1:-1]
            if name == "own":
                parts.append(OWNERS[self._owner()][1])
            elif name == "self":
                parts.append(OWNERS[self._owner()][3])
            elif name == "obj":
                parts.append(OWNERS[self._owner()][2])
            elif name == "S":
                parts.append(self.subject.en_object(r))
            else:
                label = name[0]
                for place, slot in enumerate(self.frame.slots):
                    if slot.label == label and place != gap:
                        filler = self.filled[place]
                        if isinstance(filler, Spot):
                            parts.append(filler.en(r))
                        elif isinstance(filler, Phrase):
                            parts.append(filler.en_possessive(r) if name.endswith("'s") else filler.en_object(r))


_ACCUSATIVES = frozenset(["mich", "dich", "ihn", "uns", "euch", "sie", "es"])
_PLACING = frozenset(("on", "in", "at", "from", "across", "over", "through"))
