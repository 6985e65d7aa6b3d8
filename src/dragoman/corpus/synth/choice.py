"""Choices: who, what, when and how, so that the parts of a clause fit together."""

from __future__ import annotations

from dragoman.corpus.synth.clauses import Clause
from dragoman.corpus.synth.draw import Draw
from dragoman.corpus.synth.german import DAT, NOM, PL, F, M
from dragoman.corpus.synth.lexemes import Adjective, Adverb, Frame, Noun, Place, Slot
from dragoman.corpus.synth.lexicon import Lexicon
from dragoman.corpus.synth.phrases import (
    COUNT,
    DEF,
    DEM,
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
from dragoman.corpus.synth.verbgroups import Modal, Plan, Tense

__all__ = ["Chooser"]

_SUBJECTS = tuple(PRONOUNS[k] for k in (0, 0, 0, 0, 2, 2, 2, 6, 6, 6, 3, 3, 5, 5, 1))
_ASKED = tuple(PRONOUNS[k] for k in (1, 1, 1, 4, 2, 6, 5))
_OBJECTS = tuple(PRONOUNS[k] for k in (0, 0, 0, 2, 2, 3, 1))
_DATIVES = tuple(PRONOUNS[k] for k in (0, 0, 0, 2, 2, 6, 6, 3, 5, 1))
_SINGLE_OWNERS = ((0, 3), (0, 2))
"""Who has a husband, who has a wife."""
_MEASURES = {"cup": "Tasse", "glass": "Glas", "bottle": "Flasche", "slice": "Scheibe", "bar": "Tafel"}
_VEHICLES = (
    ("mit dem Zug", "by train"),
    ("mit dem Auto", "by car"),
    ("mit dem Bus", "by bus"),
    ("mit dem Fahrrad", "by bicycle"),
    ("mit der Straßenbahn", "by tram"),
)
_MODALS = tuple(
    modal
    for modal, weight in (
        (Modal.MUSS, 6),
        (Modal.KANN, 5),
        (Modal.WILL, 4),
        (Modal.MÖCHTE, 2),
        (Modal.SOLL, 2),
        (Modal.DARF, 1),
    )
    for _ in range(weight)
)
_TENSES = {
    "act": tuple(
        Plan(tense)
        for tense, weight in (
            (Tense.PAST, 10),
            (Tense.NARRATED, 4),
            (Tense.HABIT, 7),
            (Tense.NOW, 5),
            (Tense.FUTURE, 4),
            (Tense.WILL, 2),
            (Tense.PERFECT, 3),
        )
        for _ in range(weight)
    ),
    "evt": tuple(
        Plan(tense)
        for tense, weight in (
            (Tense.PAST, 12),
            (Tense.NARRATED, 5),
            (Tense.FUTURE, 4),
            (Tense.WILL, 2),
            (Tense.PERFECT, 3),
        )
        for _ in range(weight)
    ),
    "sta": (Plan(Tense.STATE), Plan(Tense.STATE), Plan(Tense.STATE), Plan(Tense.NARRATED)),
    "swap": (Plan(Tense.STATE), Plan(Tense.STATE), Plan(Tense.NARRATED)),
}
_INVOLUNTARY = (Plan(Tense.PAST), Plan(Tense.PAST), Plan(Tense.NARRATED), Plan(Tense.PERFECT))
"""What happens to people is not planned for tomorrow."""
_TIME_OF = {
    Tense.HABIT: ("hab", 0.92),
    Tense.NOW: ("now", 0.85),
    Tense.FUTURE: ("fut", 1.0),
    Tense.WILL: ("fut", 0.5),
    Tense.PAST: ("past", 0.6),
    Tense.NARRATED: ("past", 0.6),
    Tense.PERFECT: ("perf", 1.0),
    Tense.SINCE: ("since", 1.0),
}


def _same_noun(one: Phrase, other: Phrase) -> bool:
    return isinstance(one, Common) and isinstance(other, Common) and one.noun.english == other.noun.english


_OWNED = frozenset(("own", "portable", "clothes", "work", "room", "furniture"))


class Chooser:
    """Draws phrases and clauses from a lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.relatives = lexicon.of("rel")
        self.people = lexicon.of("prof", "role")
        self.folk = lexicon.of("folk")
        self.small_numbers = lexicon.numbers[:4]
        days = [time.german for kind in ("past", "fut", "hab") for time in lexicon.times[kind]]
        self.clocked = frozenset({"gestern", "morgen", "heute", "jeden Tag", "übermorgen"}).union(
            day for day in days if day.endswith("tag") and day.split()[0] in ("am", "jeden", "letzten", "nächsten")
        )
        self.measures = {
            key: next(noun for noun in lexicon.nouns if noun.singular[0] == word and "measure" in noun.classes)
            for key, word in _MEASURES.items()
        }

    # who

    def name(self, r: Draw) -> Name:
        """A person's name."""
        woman = r.chance(0.5)
        if r.chance(0.25):
            if woman:
                return Name(r.pick(self.lexicon.surnames), F, "Frau", ("Mrs ", "Ms "))
            return Name(r.pick(self.lexicon.surnames), M, "Herr", ("Mr ",))
        return Name(r.pick(self.lexicon.women if woman else self.lexicon.men), F if woman else M)

    def relative(self, r: Draw, owner: int = 0) -> Common:
        """Somebody's relative or friend."""
        noun = r.pick(self.relatives)
        while "one" in noun.classes and owner not in _SINGLE_OWNERS[noun.gender]:
            noun = r.pick(self.relatives)
        return Common(noun, POSS + owner, adjectives=self.adjectives(r, noun, 0.12))

    def person(self, r: Draw, noun: Noun) -> Common:
        """A person by profession or role."""
        draw = r.random()
        adjectives = self.adjectives(r, noun, 0.3)
        if noun.gender == PL:
            return Common(noun, DEF, adjectives=adjectives)
        if draw < 0.72:
            return Common(noun, DEF, adjectives=adjectives)
        if draw < 0.86:
            return Common(noun, INDEF, adjectives=adjectives)
        if draw < 0.94:
            return Common(noun, DEF, plural=True, adjectives=adjectives)
        return Common(noun, DEM, adjectives=adjectives)

    def subject(self, r: Draw, *, pronouns: float = 0.42) -> Phrase:
        """Somebody to do something."""
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
        """Somebody who is not spoken to and does not speak."""
        who = self.subject(r, pronouns=0.3)
        while who.person not in (2, 5):
            who = self.subject(r, pronouns=0.3)
        return who

    def addressee(self, r: Draw, subject: Phrase, *, dative: bool) -> Phrase:
        """A person as object; never the subject again."""
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

    # what

    def adjectives(self, r: Draw, noun: Noun, chance: float) -> tuple[Adjective, ...]:
        """No, one or two adjectives that suit the noun."""
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
        if "rel" in classes:
            return Common(noun, POSS + owner, adjectives=self.adjectives(r, noun, 0.12))
        letter = r.pick(policy) if policy else r.pick("dddiiipn")
        if letter == "z":
            return Common(noun, ZERO)
        if letter == "g":
            return Common(noun, GENERIC)
        if "onlydef" in classes:
            return Common(noun, DEF)
        adjectives = self.adjectives(r, noun, 0.3)
        if letter == "d":
            return self._definite(r, noun, adjectives)
        if letter == "p":
            return Common(noun, POSS + owner, plural="plonly" in classes, adjectives=adjectives)
        if negated:
            plural = noun.gender == PL or "plonly" in classes
            return Common(noun, NO, plural=plural, adjectives=adjectives)
        if letter == "m":
            measured = self._measured(r, noun)
            if measured is not None:
                return measured
        if letter == "s":
            return Common(noun, INDEF, adjectives=adjectives)
        if noun.mass or noun.gender == PL:
            return Common(noun, ZERO, adjectives=adjectives)
        if letter == "b":
            return Common(noun, ZERO, plural=True, adjectives=adjectives)
        draw = r.random()
        countable = bool(noun.plural[0]) and not noun.uncountable and not noun.plural_only
        if countable and (letter == "n" or (letter != "m" and draw < 0.12)):
            number = r.pick(self.small_numbers)
            return Common(noun, COUNT, plural=True, adjectives=adjectives, count=number)
        if "plonly" in classes or (countable and letter != "m" and draw < 0.25):
            return Common(noun, ZERO, plural=True, adjectives=adjectives)
        return Common(noun, INDEF, adjectives=adjectives)

    def _definite(self, r: Draw, noun: Noun, adjectives: tuple[Adjective, ...]) -> Common:
        draw = r.random()
        plural = "plonly" in noun.classes or (draw < 0.12 and bool(noun.plural[0]) and noun.gender != PL)
        if draw > 0.93:
            return Common(noun, DEM, plural=plural, adjectives=adjectives)
        if draw > 0.85 and noun.classes & _OWNED:
            if r.chance(0.4):
                woman = r.chance(0.5)
                name = r.pick(self.lexicon.women if woman else self.lexicon.men)
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
        """A place with its preposition."""
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
        """Something for a slot of the verb."""
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

    # the clause

    def frame(self, r: Draw) -> Frame:
        """A verb that people do."""
        return r.pick(self.lexicon.frames)

    def action(self, r: Draw, *, voluntary: bool = True) -> Frame:
        """A verb of doing with a person as subject."""
        while True:
            frame = r.pick(self.lexicon.frames)
            if frame.human and frame.aspect in ("act", "evt") and not (voluntary and "inv" in frame.flags):
                return frame

    def plan(self, r: Draw, frame: Frame) -> Plan:
        """A tense, or a modal, that suits the verb."""
        if "inv" in frame.flags:
            return r.pick(_INVOLUNTARY)
        if frame.aspect in ("act", "evt") and frame.human and r.chance(0.16):
            modal = r.pick(_MODALS)
            return Plan(Tense.HABIT, modal, past=modal is not Modal.MÖCHTE and r.chance(0.35))
        return r.pick(_TENSES[frame.aspect])

    def clause(
        self,
        r: Draw,
        frame: Frame | None = None,
        *,
        subject: Phrase | None = None,
        plan: Plan | None = None,
        negation: float = 0.1,
        adverbials: float = 1.0,
        time: bool = True,
    ) -> Clause:
        """A clause around a verb; what is not given is drawn."""
        frame = frame or self.frame(r)
        plan = plan or self.plan(r, frame)
        if subject is None:
            subject = self.subject(r) if frame.human else self.topic(r, frame)
        if plan.tense is Tense.NARRATED and subject.person in (1, 4):
            plan = Plan(Tense.PAST)
        positive = plan.tense in (Tense.PERFECT, Tense.NOW, Tense.SINCE)
        negated = frame.negatable and not positive and r.chance(negation)
        if "onlyneg" in frame.flags:
            negated = True
        filled = [self.fill(r, slot, subject, negated=negated) for slot in frame.slots]
        clause = Clause(frame, subject, filled, plan)
        clause.negated = negated
        if time and "notime" not in frame.flags:
            self._set_time(r, clause)
        self._set_circumstances(r, clause, adverbials)
        return clause

    def topic(self, r: Draw, frame: Frame) -> Phrase:
        """A subject for a verb whose subject is not just anybody."""
        noun = r.pick(frame.nouns)
        if "rel" in noun.classes:
            return Common(noun, POSS, adjectives=self.adjectives(r, noun, 0.12))
        if "hum" in noun.classes:
            return self.person(r, noun)
        return self.thing(r, noun, "ddddp" if noun.classes & {"own", "portable", "pet", "clothes"} else "d", 0)

    def _set_time(self, r: Draw, clause: Clause) -> None:
        plan = clause.plan
        if plan.modal is not None:
            kind, chance = ("past", 0.5) if plan.past else ("fut", 0.4)
        elif plan.tense in _TIME_OF:
            kind, chance = _TIME_OF[plan.tense]
        else:
            return
        if clause.frame.aspect in ("sta", "swap") and kind == "past":
            kind, chance = "was", 0.3
        if not r.chance(chance) or (kind == "hab" and clause.negated):
            return
        if kind in ("past", "fut") and "big" in clause.frame.flags and r.chance(0.7):
            kind += " far"
        if kind == "since" and "short" in clause.frame.flags:
            kind = "short"
        if kind == "perf" and clause.frame.aspect == "act" and "inv" not in clause.frame.flags and r.chance(0.35):
            kind = "often"
        clause.time = self._time(r, kind, clause)
        if clause.time.german in self.clocked and plan.tense is not Tense.PERFECT and r.chance(0.15):
            clause.clock = r.pick(self.lexicon.times["clock"])

    def _time(self, r: Draw, kind: str, clause: Clause) -> Adverb:
        times = self.lexicon.times[kind]
        while True:
            time = r.pick(times)
            position = time.english[0][1]
            if position == "n":
                if any(
                    isinstance(f, Common) and not f.definite and s.label == "A"
                    for s, f in zip(clause.frame.slots, clause.filled, strict=True)
                ):
                    continue
                if not clause.frame.negatable:
                    continue
                clause.negated = True
            if clause.negated and position == "m":
                continue
            return time

    def _set_circumstances(self, r: Draw, clause: Clause, adverbials: float) -> None:
        frame = clause.frame
        bare = 2.0 if not frame.slots else 1.0
        planned = clause.plan.tense in (Tense.FUTURE, Tense.WILL)
        if frame.manners and not clause.negated and not planned and r.chance(0.3 * bare * adverbials):
            manner = r.pick(frame.manners)
            going_on = clause.plan.tense in (Tense.NOW, Tense.PROGRESS)
            if not (going_on and manner.german.endswith(("lang", "lange"))):
                clause.manner = manner
        if frame.places and r.chance(0.3 * bare * adverbials):
            clause.location = self.spot(r, r.pick(frame.places), goal=False)
        if "veh" in frame.flags and r.chance(0.4):
            clause.vehicle = r.pick(_VEHICLES)
        if clause.clock is not None and clause.manner is not None:
            clause.clock = None
        if clause.plan.modal is None and not (clause.time and clause.time.middle) and r.chance(0.08 * adverbials):
            past = clause.plan.tense in (Tense.PAST, Tense.NARRATED) and frame.aspect == "evt"
            if clause.negated or "bad" in frame.flags:
                kind = "sad"
            else:
                kind = "done" if past and r.chance(0.6) else "any"
            clause.adverb = r.pick(self.lexicon.sentence_adverbs[kind])
