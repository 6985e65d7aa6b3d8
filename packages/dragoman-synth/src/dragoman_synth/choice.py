"""Random choice of verbs, tenses and adverbials that fit together in a clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.clauses import Clause
from dragoman_synth.participants import Participants
from dragoman_synth.phrases import POSS, Common, Phrase
from dragoman_synth.tables import expressions
from dragoman_synth.verbgroups import Modal, Plan, Tense, plans

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Adverb, Frame
    from dragoman_synth.lexicon import Lexicon

__all__ = ["Chooser"]

_MODALS = (
    *(Modal.MUSS,) * 6,
    *(Modal.KANN,) * 5,
    *(Modal.WILL,) * 4,
    *(Modal.MÖCHTE,) * 2,
    *(Modal.SOLL,) * 2,
    Modal.DARF,
)
_TENSES = {
    "act": plans(PAST=10, NARRATED=4, HABIT=7, NOW=5, FUTURE=4, WILL=2, PERFECT=3),
    "evt": plans(PAST=12, NARRATED=5, FUTURE=4, WILL=2, PERFECT=3),
    "sta": plans(STATE=3, NARRATED=1),
    "swap": plans(STATE=2, NARRATED=1),
}
_INVOLUNTARY = plans(PAST=2, NARRATED=1, PERFECT=1)
"""Tenses of involuntary events, which are not planned for the future."""
_NEEDS_TIME = {Tense.PERFECT: Tense.PAST, Tense.FUTURE: Tense.WILL}
"""Tenses that need a time expression, and their replacement without one."""
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


def _narrowed(r: Draw, kind: str, frame: Frame) -> str:
    """The kind of time expression that suits the verb."""
    if kind in ("past", "fut") and "big" in frame.flags and r.chance(0.7):
        return f"{kind} far"
    if kind == "since" and "short" in frame.flags:
        return "short"
    if kind == "perf" and frame.aspect == "act" and "inv" not in frame.flags and r.chance(0.35):
        return "often"
    return kind


class Chooser(Participants):
    """Draws clauses from a lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__(lexicon)
        days = [time.german for kind in ("past", "fut", "hab") for time in lexicon.words.times[kind]]
        self.clocked = frozenset({"gestern", "morgen", "heute", "jeden Tag", "übermorgen"}).union(
            day for day in days if day.endswith("tag") and len(day.split()) == 2 and day != "am Nachmittag"
        )

    def frame(self, r: Draw) -> Frame:
        return r.pick(self.lexicon.frames)

    def action(self, r: Draw, *, voluntary: bool = True) -> Frame:
        """A frame of an action verb with a person as subject."""
        return r.pick_where(
            self.lexicon.frames,
            lambda f: f.human and f.aspect in ("act", "evt") and not (voluntary and "inv" in f.flags),
        )

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
        """A clause around a verb; anything not given is sampled."""
        frame = frame or self.frame(r)
        plan = plan or self.plan(r, frame)
        if subject is None:
            subject = self.subject(r) if frame.human else self.topic(r, frame)
        if plan.tense is Tense.NARRATED and subject.person in (1, 4):
            plan = Plan(Tense.PAST)
        if "notime" in frame.flags and plan.tense in _NEEDS_TIME:
            plan = Plan(_NEEDS_TIME[plan.tense])
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
        """A subject for a verb that restricts its subjects."""
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
        clause.time = self._time(r, _narrowed(r, kind, clause.frame), clause)
        if clause.time.german in self.clocked and plan.tense is not Tense.PERFECT and r.chance(0.15):
            clause.clock = r.pick(self.lexicon.words.times["clock"])

    def _time(self, r: Draw, kind: str, clause: Clause) -> Adverb:
        times = self.lexicon.words.times[kind]
        undefined = any(
            isinstance(filler, Common) and not filler.definite and slot.label == "A"
            for slot, filler in zip(clause.frame.slots, clause.filled, strict=True)
        )
        while True:
            time = r.pick(times)
            position = time.english[0][1]
            if position == "n":
                if undefined or not clause.frame.negatable:
                    continue
                clause.negated = True
            if position == "m" and (clause.negated or "attr" in clause.frame.flags):
                continue
            return time

    def _set_circumstances(self, r: Draw, clause: Clause, adverbials: float) -> None:
        frame = clause.frame
        bare = 2.0 if not frame.slots else 1.0
        free = clause.plan.tense not in (Tense.FUTURE, Tense.WILL, Tense.PERFECT)
        if frame.manners and not clause.negated and free and r.chance(0.3 * bare * adverbials):
            manner = r.pick(frame.manners)
            going_on = clause.plan.tense in (Tense.NOW, Tense.PROGRESS)
            if not (going_on and manner.german.endswith(("lang", "lange"))):
                clause.manner = manner
        if frame.places and r.chance(0.3 * bare * adverbials):
            clause.location = self.spot(r, r.pick(frame.places), goal=False)
        if "veh" in frame.flags and r.chance(0.4):
            vehicle = r.pick(expressions("vehicle"))
            clause.vehicle = vehicle.german, vehicle.english[0]
        if clause.clock is not None and clause.manner is not None:
            clause.clock = None
        if clause.plan.modal is None and not (clause.time and clause.time.middle) and r.chance(0.08 * adverbials):
            self._set_adverb(r, clause)

    def _set_adverb(self, r: Draw, clause: Clause) -> None:
        past = clause.plan.tense in (Tense.PAST, Tense.NARRATED) and clause.frame.aspect == "evt"
        kind = "done" if past and r.chance(0.6) else "any"
        if clause.negated or "bad" in clause.frame.flags:
            kind = "sad"
        clause.adverb = r.pick(self.lexicon.words.sentence_adverbs[kind])
