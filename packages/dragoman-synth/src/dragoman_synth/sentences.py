"""The shared base of sentence patterns, and the simple sentences.

A pattern draws a meaning and gives its German wording and a function that says it in English, a little
differently each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from dragoman_synth.choice import Chooser
from dragoman_synth.draw import Draw
from dragoman_synth.german import DAT, N
from dragoman_synth.phrases import (
    COUNT,
    EACH,
    INDEF,
    MAN,
    POSS,
    PRONOUNS,
    ZERO,
    Common,
    Phrase,
    Spot,
    contract,
)
from dragoman_synth.relative import Relativiser
from dragoman_synth.verbgroups import Modal, Plan, Tense, german_passive, plans

if TYPE_CHECKING:
    from dragoman_synth.clauses import Clause
    from dragoman_synth.lexemes import Frame
    from dragoman_synth.lexicon import Lexicon

__all__ = [
    "IT",
    "KINDS",
    "Grammar",
    "Pattern",
    "Sentence",
    "anyone",
    "generic",
    "idiom",
    "passive",
    "proverb",
    "simple",
    "since",
    "thing",
    "with_relative",
]


class Sentence(NamedTuple):
    """German words without final punctuation, a way to say it in English, and the closing mark."""

    german: str
    english: Callable[[Draw], str]
    mark: str = "."


class Grammar:
    """The lexicon with the choosers that patterns draw from."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.choose = Chooser(lexicon)
        self.relatives = Relativiser(self.choose)
        self.describable = tuple(n for n in lexicon.words.of(*KINDS) if any(a.comparative for a in n.adjectives))
        self.best = lexicon.words.of("building", "film", "book")
        self.sights = lexicon.words.of("building")
        self.creatures = lexicon.words.of("wild", "grow")
        self.towns = lexicon.words.where("city", "village")
        self.nature = lexicon.words.where("forest", "lake", "garden", "park", "river", "meadow")
        self.priced = lexicon.words.of("buy", "clothes", "order", "gadget")
        self.professions = tuple(noun for noun in lexicon.words.of("prof") if "learn" not in noun.classes)
        self.body = lexicon.words.of("body")
        self.ideas = lexicon.words.of("generic")
        self.human_adjectives = tuple(
            a for a in lexicon.words.adjectives if a.plain in _HUMAN_ADJECTIVES and "role" in a.classes
        )

    def front(self, r: Draw, clause: Clause) -> str:
        """The constituent before the finite verb of a main clause."""
        draw = r.random()
        if clause.adverb is not None and draw < 0.35:
            return "adverb"
        time = clause.time
        if time is not None and (not time.middle or time.german in _FRONTED) and draw < 0.7 and r.chance(0.5):
            return "time"
        if clause.location is not None and not clause.negated and draw > 0.9:
            return "location"
        if 0.82 < draw < 0.9 and clause.subject.human and not clause.negated and self._object_can_lead(clause):
            return "object"
        return "subject"

    def _object_can_lead(self, clause: Clause) -> bool:
        for slot, filler in zip(clause.frame.slots, clause.filled, strict=True):
            if slot.label == "A":
                return (
                    isinstance(filler, Common) and filler.definite and not filler.human and clause.frame.aspect != "sta"
                )
        return False

    def actor(self, r: Draw) -> Phrase:
        """A person that a pronoun can refer back to unambiguously."""

        def unclear(who: Phrase) -> bool:
            if isinstance(who, Common) and (not who.definite or who.determiner == EACH):
                return True
            return who.human and who.gender == N

        return r.draw_where(self.choose.subject, lambda who: not unclear(who))

    def absent(self, r: Draw) -> Phrase:
        return r.draw_where(self.actor, lambda who: who.person not in (1, 4))

    def plain(
        self,
        r: Draw,
        frame: Frame,
        *,
        subject: Phrase | None = None,
        plan: Plan | None = None,
        negation: float = 0.0,
        adverbials: float = 0.0,
        time: bool = False,
    ) -> Clause:
        """A clause without sentence adverb and, by default, without time or other adverbials."""
        clause = self.choose.clause(
            r, frame, subject=subject, plan=plan, negation=negation, adverbials=adverbials, time=time
        )
        clause.adverb = None
        return clause

    def activity(self, r: Draw, other: Frame | None = None) -> Frame:
        """A frame of a durative action at one place."""

        def lasting(frame: Frame) -> bool:
            return frame.aspect == "act" and frame is not other and all(slot.label != "G" for slot in frame.slots)

        return r.draw_where(self.choose.action, lasting)

    def decorate(self, r: Draw, clause: Clause, chance: float) -> None:
        """Add a relative clause to one of the phrases, with some probability."""
        if r.chance(chance):
            self.modify(r, clause)

    def modify(self, r: Draw, clause: Clause) -> bool:
        """Add a relative clause to one of the phrases, if any can take it."""
        candidates = [
            filler
            for slot, filler in zip(clause.frame.slots, clause.filled, strict=True)
            if isinstance(filler, Common) and "s" not in slot.policy and self.relatives.can(filler)
        ]
        if isinstance(clause.subject, Common) and self.relatives.can(clause.subject):
            candidates.append(clause.subject)
        if not candidates:
            return False
        chosen = r.pick(candidates)
        self.relatives.attach(r, chosen, avoid=clause.frame)
        clause.extrapose = r.chance(0.8)
        if chosen is not clause.subject:
            clause.heavy = True
            clause.location = clause.manner = clause.clock = clause.vehicle = None
        return True


KINDS = (
    "food",
    "building",
    "vehicle",
    "clothes",
    "furniture",
    "text",
    "show",
    "room",
    "device",
    "animal",
    "knife",
    "hardwork",
)
_HUMAN_ADJECTIVES = ("alt", "jung", "nett", "freundlich", "klug", "ehrlich")

Pattern = Callable[[Grammar, Draw], Sentence]

_FRONTED = frozenset(("oft", "manchmal", "meistens", "normalerweise"))


def simple(g: Grammar, r: Draw) -> Sentence:
    """Somebody does something."""
    clause = g.choose.clause(r)
    g.decorate(r, clause, 0.04)
    return Sentence(clause.german_main(g.front(r, clause)), clause.english)


def thing(g: Grammar, r: Draw) -> Sentence:
    """A thing, an animal or an institution is the subject."""
    frame = r.pick(g.lexicon.things)
    clause = g.choose.clause(r, frame)
    g.decorate(r, clause, 0.12 if not frame.swap else 0.0)
    return Sentence(clause.german_main(g.front(r, clause)), clause.english)


def with_relative(g: Grammar, r: Draw) -> Sentence:
    """A sentence with a relative clause, sometimes nested."""
    for _ in range(6):
        clause = g.choose.clause(r, adverbials=0.6)
        if g.modify(r, clause):
            break
    return Sentence(clause.german_main(g.front(r, clause)), clause.english)


def idiom(g: Grammar, r: Draw) -> Sentence:
    """A fixed expression whose words do not translate one by one."""
    frame = r.pick(g.lexicon.idioms)
    clause = g.choose.clause(r, frame, plan=r.pick(_TOLD[frame.aspect]), negation=0.0)
    return Sentence(clause.german_main(g.front(r, clause)), clause.english)


_TOLD = {
    "act": plans(PAST=2, NARRATED=1, HABIT=2, NOW=1),
    "evt": plans(PAST=2, NARRATED=1, PERFECT=1),
    "sta": plans(STATE=2, NARRATED=1),
}


def proverb(g: Grammar, r: Draw) -> Sentence:
    """A saying, quoted."""
    german, english = r.pick(g.lexicon.words.proverbs)
    who = g.choose.relative(r) if r.chance(0.7) else g.choose.name(r)
    intro, translations = r.pick(
        (
            ("wie {} immer sagt", ("as {} always says", "as {} likes to say")),
            ("wie {} oft gesagt hat", ("as {} often said", "as {} used to say")),
        )
    )

    def say(draw: Draw) -> str:
        return f"{draw.prefer(translations).format(who.en(draw))} , {draw.prefer(english)}"

    return Sentence(f"{intro.format(who.de(0))} : {german}", say)


def since(g: Grammar, r: Draw) -> Sentence:
    """An ongoing state or action that began in the past: German present, English perfect."""
    frame = r.pick(g.lexicon.lasting)
    clause = g.choose.clause(r, frame, plan=Plan(Tense.SINCE), negation=0.0, adverbials=0.3)
    clause.adverb = None
    clause.manner = None
    return Sentence(clause.german_main(r.pick(("subject", "subject", "time"))), clause.english)


_PASSIVE_PLANS = plans(PERFECT=1, NARRATED=2, PAST=1, WILL=1)


def passive(g: Grammar, r: Draw) -> Sentence:
    """The object as subject; with an agent the English may be active."""
    frame = r.pick(g.lexicon.passives)
    plan = r.pick(_PASSIVE_PLANS if frame.aspect == "evt" else _PASSIVE_PLANS[1:])
    active = g.choose.clause(r, frame, plan=plan, negation=0.0, adverbials=0.0)
    place = next(i for i, slot in enumerate(frame.slots) if slot.label == "A")
    patient = active.filled[place]
    while not isinstance(patient, Common) or not patient.definite or patient.determiner >= POSS:
        patient = g.choose.thing(r, r.pick(frame.slots[place].nouns), "d", 0)
    active.filled[place] = patient
    active.clock = None
    agent = active.subject if isinstance(active.subject, Common) and r.chance(0.5) else None
    finite, right, _ = german_passive(frame.verb, plan, patient.person)
    time = active.time
    if time is not None and time.english[0][1] == "n":
        active.negated = True
    words = [patient.de(0), finite]
    if time is not None and not time.middle and r.chance(0.3):
        words = [time.german, finite, patient.de(0)]
    elif time is not None:
        words.append(time.german)
    if agent is not None:
        words.append(contract("von", agent, DAT))
    words += [slot.words for slot in frame.slots if not slot.label]
    words.append(right)

    def english(draw: Draw) -> str:
        if agent is not None and draw.chance(0.3):
            return active.english(draw)
        return active.english_passive(draw, place, agent)

    return Sentence(" ".join(words), english)


def anyone(g: Grammar, r: Draw) -> Sentence:
    """Man: what you, or one, can do somewhere."""
    frame = r.pick(g.lexicon.hobbies)
    plan = Plan(Tense.HABIT, r.pick((Modal.KANN, Modal.KANN, Modal.DARF)))
    clause = g.plain(r, frame, subject=MAN if r.chance(0.8) else g.actor(r), plan=plan)
    clause.filled = [generic(filler) for filler in clause.filled]
    clause.location = g.choose.spot(r, r.pick(frame.places or g.towns), goal=False)
    return Sentence(clause.german_main(r.pick(("location", "location", "subject"))), clause.english)


def generic(filler: Phrase | Spot | None) -> Phrase | Spot | None:
    """Generic statements have plural objects: pictures, not a picture."""
    if isinstance(filler, Common) and filler.determiner in (INDEF, COUNT) and filler.noun.plural[0] and not filler.tail:
        return Common(filler.noun, ZERO, plural=True, adjectives=filler.adjectives)
    return filler


IT = PRONOUNS[9]
