"""Direct and indirect questions, and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.german import ACC, NOM
from dragoman_synth.phrases import PRONOUNS, SIE, WHICH, Common, Phrase
from dragoman_synth.sentences import Grammar, Sentence
from dragoman_synth.tables import expressions
from dragoman_synth.verbgroups import Modal, Plan, Tense, plans

if TYPE_CHECKING:
    from dragoman_synth.clauses import Clause
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Frame

__all__ = ["command", "indirect", "polite", "wh_question", "yes_no"]

_ASKED = tuple(PRONOUNS[k] for k in (1, 1, 1, 4, 2, 6, 5))
_WHEN = (("wann", "when"), ("warum", "why"))
_SETTLED = plans(PAST=2, NARRATED=1, WILL=1)


def _settled(r: Draw, frame: Frame) -> Plan:
    """A tense that is clear without a time expression."""
    if "inv" in frame.flags:
        return _SETTLED[0]
    if r.chance(0.2):
        return Plan(Tense.HABIT, r.pick((Modal.MUSS, Modal.WILL)), past=r.chance(0.5))
    return r.pick(_SETTLED)


def _asked(g: Grammar, r: Draw) -> Phrase:
    return r.pick(_ASKED) if r.chance(0.6) else g.choose.third(r)


def yes_no(g: Grammar, r: Draw) -> Sentence:
    """The verb comes first; English needs do."""
    frame = g.choose.frame(r)
    if r.chance(0.12):
        clause = _about_state(g, r)
    else:
        clause = g.choose.clause(r, frame, subject=_asked(g, r) if frame.human else None)
    clause.adverb = None
    return Sentence(clause.german_main("none"), clause.english_question, "?")


def _about_state(g: Grammar, r: Draw) -> Clause:
    subject = r.pick(_ASKED)
    frame = r.pick_where(g.lexicon.states, lambda frame: "onlyneg" not in frame.flags)
    clause = g.plain(r, frame, subject=subject, plan=Plan(Tense.STATE))
    clause.time = r.pick(g.lexicon.words.times["now"])
    return clause


def wh_question(g: Grammar, r: Draw) -> Sentence:
    """Wer, was, wem, wohin, wann, warum: the questioned constituent leaves a gap."""
    draw = r.random()
    if draw < 0.25:
        clause = g.plain(r, g.choose.action(r, voluntary=False), subject=PRONOUNS[2], adverbials=0.6, time=True)
        while clause.plan.modal is not None and not clause.plan.past:
            clause.plan = g.choose.plan(r, clause.frame)
        return Sentence(f"wer {clause.german_main()[3:]}", lambda d: clause.english(d, subject="who"), "?")
    frame = g.choose.action(r, voluntary=False)
    subject = _asked(g, r)
    if draw < 0.6:
        clause = g.plain(r, frame, subject=subject, adverbials=0.4, time=True)
        if clause.time is not None and clause.time.english[0][1] == "n":
            clause.time, clause.negated = None, False
    else:
        clause = g.plain(r, frame, subject=subject, plan=_settled(r, frame), adverbials=0.4)
    found = _gap(clause)
    if found is not None:
        place, word, english = found
        filler = clause.filled[place]
        if isinstance(filler, Common) and word == "was" and r.chance(0.4):
            which = Common(filler.noun, WHICH, plural=filler.number)
            return _asking(clause, which.de(ACC), which, place)
        return _asking(clause, word, english, place)
    word, english = r.pick(_WHEN) if clause.time is None else _WHEN[1]
    clause.clock = None
    return _asking(clause, word, english, -1)


def _gap(clause: Clause) -> tuple[int, str, str] | None:
    """The first slot that can be questioned, with the question words."""
    for place, (slot, filler) in enumerate(zip(clause.frame.slots, clause.filled, strict=True)):
        if slot.label == "A" and isinstance(filler, Phrase):
            return place, *_whom(filler)
        if slot.label == "D" and isinstance(filler, Phrase) and len(clause.frame.slots) == 1:
            return place, "wem", "who"
        if slot.label == "G":
            return place, "wohin", "where"
    return None


def _whom(filler: Phrase) -> tuple[str, str]:
    return ("wen", "who") if filler.human else ("was", "what")


def _asking(clause: Clause, word: str, english: str | Common, gap: int) -> Sentence:
    def say(r: Draw) -> str:
        wh = english if isinstance(english, str) else english.en(r)
        return clause.english_question(r, wh=wh, gap=gap)

    return Sentence(clause.german_main("none", first=word, gap=gap), say, "?")


def indirect(g: Grammar, r: Draw) -> Sentence:
    """A question inside a sentence: verb-final in German, no inversion in English."""
    intro, translations, mark = r.pick(expressions("asking"))
    frame = g.choose.action(r, voluntary=False)
    clause = g.plain(r, frame, subject=g.choose.third(r), plan=_settled(r, frame), adverbials=0.6)
    word, english = r.pick(_WHEN)
    gap = -1
    labels = [slot.label for slot in clause.frame.slots]
    if "G" in labels and r.chance(0.7):
        gap, word, english = labels.index("G"), "wohin", "where"
    elif "A" in labels and r.chance(0.4):
        filler = clause.filled[labels.index("A")]
        if isinstance(filler, Phrase):
            gap = labels.index("A")
            word, english = _whom(filler)

    def say(draw: Draw) -> str:
        return f"{draw.prefer(translations)} {english} {clause.english(draw, gap=gap, fronting=False)}"

    return Sentence(f"{intro} , {word} {clause.german_final(gap=gap)}", say, mark)


def command(g: Grammar, r: Draw) -> Sentence:
    """Imperatives with bitte, to a friend or to a stranger."""
    formal = r.chance(0.35)
    you = SIE if formal else PRONOUNS[1]
    clause = g.plain(r, r.pick(g.lexicon.commands), subject=you, plan=Plan(Tense.FUTURE), adverbials=0.4)
    name = r.draw_where(g.choose.name, lambda name: bool(name.title) == formal)
    vocative = r.chance(0.5)
    german = clause.german_imperative(formal=formal)
    text = f"{name.de(NOM)} , {german}" if vocative else german

    def english(draw: Draw) -> str:
        core = clause.english_infinitive(draw)
        said = f"please {core}" if draw.chance(0.7) else f"{core} , please"
        return f"{name.en(draw)} , {said}" if vocative else said

    return Sentence(text, english, r.pick(("!", ".")))


def polite(g: Grammar, r: Draw) -> Sentence:
    """`Könnten Sie mir bitte …`: bitte and the name disambiguate the formal Sie."""
    name = r.draw_where(g.choose.name, lambda name: bool(name.title))
    modal = r.pick((Modal.KÖNNTE, Modal.KANN))
    clause = g.plain(r, r.pick(g.lexicon.commands), subject=SIE, plan=Plan(Tense.HABIT, modal), adverbials=0.3)

    def english(draw: Draw) -> str:
        core = clause.english_infinitive(draw)
        could = draw.prefer(("could", "can") if modal is Modal.KÖNNTE else ("can", "could"))
        said = f"{could} you please {core}" if draw.chance(0.7) else f"{could} you {core} , please"
        return f"{name.en(draw)} , {said}"

    german = clause.german_main("none", please=True)
    return Sentence(f"{name.de(NOM)} , {german}", english, "?")
