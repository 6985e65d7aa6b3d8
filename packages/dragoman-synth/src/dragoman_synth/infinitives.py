"""Infinitives with zu, the causative lassen, and gern: a verb in one language, an adverb in the other."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dragoman_synth.english import BE
from dragoman_synth.german import ACC, DAT, NOM, GermanVerb, conjugate
from dragoman_synth.phrases import PRONOUNS, Phrase, join
from dragoman_synth.sentences import Grammar, Sentence, generic
from dragoman_synth.tables import expressions, irregular
from dragoman_synth.verbgroups import Plan, Tense

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Frame

__all__ = ["gladly", "have_done", "in_order", "infinitive", "it_is"]


def in_order(g: Grammar, r: Draw) -> Sentence:
    """Um … zu: going somewhere in order to do something."""
    subject = g.choose.subject(r)
    frame = r.pick(g.lexicon.outings)
    place = r.pick(frame.places)
    going = g.lexicon.travelling if "holiday" in place.classes else g.lexicon.walking
    main = g.plain(r, going, subject=subject, time=True)
    main.filled[0] = g.choose.spot(r, place, goal=True)
    main.clock = main.vehicle = None
    goal = g.plain(r, frame, subject=subject, plan=Plan(Tense.HABIT))
    g.decorate(r, goal, 0.08)
    german = f"{main.german_main(g.front(r, main))} , um {goal.german_infinitive()}"

    def english(draw: Draw) -> str:
        return f"{main.english(draw)} {draw.prefer(('to', 'in order to'))} {goal.english_infinitive(draw)}"

    return Sentence(german, english)


def infinitive(g: Grammar, r: Draw) -> Sentence:
    """A verb that takes another one with zu: versuchen, vergessen, aufhören, bitten, erlauben."""
    verb = r.pick(g.lexicon.matrices)
    matrix = g.plain(r, verb, negation=0.08, time=True)
    doer: Phrase = matrix.subject
    if "objc" in verb.flags and isinstance(matrix.filled[0], Phrase):
        doer = matrix.filled[0]
    matrix.clock = None
    matrix.heavy = True
    inner = g.plain(r, r.pick(_pool(g, verb)), subject=doer, plan=Plan(Tense.HABIT), adverbials=0.4)
    g.decorate(r, inner, 0.08)
    german = f"{matrix.german_main(g.front(r, matrix))} , {inner.german_infinitive()}"

    def english(draw: Draw) -> str:
        if "ing" in verb.flags:
            return f"{matrix.english(draw)} {inner.english_infinitive(draw, form='ing')}"
        return f"{matrix.english(draw)} to {inner.english_infinitive(draw)}"

    return Sentence(german, english)


def _pool(g: Grammar, verb: Frame) -> tuple[Frame, ...]:
    """An action that can be tried, forgotten, allowed, …: a duty, a pleasure or an ambition."""
    if "hob" in verb.flags:
        return g.lexicon.hobbies
    return g.lexicon.duties if "duty" in verb.flags else g.lexicon.big


def it_is(g: Grammar, r: Draw) -> Sentence:
    """Es ist schwer, … zu …; es gelingt jemandem, … zu …."""
    who = g.choose.third(r) if r.chance(0.5) else PRONOUNS[0]
    if r.chance(0.4):
        frame = r.pick(g.lexicon.duties)
        inner = g.plain(r, frame, subject=who, plan=Plan(Tense.HABIT), adverbials=0.4)
        german = f"es ist {who.de(DAT)} gelungen , {inner.german_infinitive()}"

        def managed(draw: Draw) -> str:
            if draw.chance(0.7):
                return f"{who.en(draw)} managed to {inner.english_infinitive(draw)}"
            return f"{who.en(draw)} succeeded in {inner.english_infinitive(draw, form='ing')}"

        return Sentence(german, managed)
    judged, translations, kind = r.pick(expressions("judgement"))
    pool = g.lexicon.hobbies if kind == "hob" else g.lexicon.duties
    frame = r.pick_where(pool, lambda frame: all(slot.label not in ("R", "RD") for slot in frame.slots))
    inner = g.plain(r, frame, subject=PRONOUNS[0], plan=Plan(Tense.HABIT), adverbials=0.5)
    past = r.chance(0.4)
    german = f"es {'war' if past else 'ist'} {judged} , {inner.german_infinitive()}"

    def english(draw: Draw) -> str:
        be = "was" if past else draw.prefer(("is", "'s"))
        return f"it {be} {draw.prefer(translations)} to {inner.english_infinitive(draw)}"

    return Sentence(german, english)


@cache
def _lassen() -> GermanVerb:
    return conjugate("lassen", irregular("german"))


def have_done(g: Grammar, r: Draw) -> Sentence:
    """Lassen: somebody has a thing repaired."""
    frame = r.pick(g.lexicon.causatives)
    past = r.chance(0.6)
    subject = r.draw_where(g.choose.subject, lambda who: not past or who.person not in (1, 4))
    clause = g.plain(r, frame, subject=subject, plan=Plan(Tense.PAST if past else Tense.FUTURE), time=True)
    clause.clock = None
    patient = g.choose.thing(r, r.pick(frame.slots[0].nouns), "p", subject.owner)
    finite = (_lassen().past if past else _lassen().present)[subject.person]
    time = clause.time.german if clause.time is not None else ""
    words = [subject.de(NOM), finite, time]
    if time and r.chance(0.3):
        words.reverse()

    def english(draw: Draw) -> str:
        get = draw.prefer(("have", "get"))
        verb = draw.prefer(frame.patterns).verb.participle
        if past:
            finite = "had" if get == "have" else "got"
        else:
            finite = draw.prefer((f"will {get}", f"{BE.present[subject.english_person]} going to {get}"))
        core = f"{subject.en(draw)} {finite} {patient.en(draw)} {verb}"
        if clause.time is None:
            return core
        when, position = draw.prefer(clause.time.english)
        return f"{when} {core}" if not position and draw.chance(0.25) else f"{core} {when}"

    return Sentence(join(*words, patient.de(ACC), frame.verb.infinitive), english)


def gladly(g: Grammar, r: Draw) -> Sentence:
    """Gern and lieber: an adverb in German, like and prefer in English."""
    subject = g.choose.subject(r)
    frame = r.pick(g.lexicon.hobbies)
    clause = g.plain(r, frame, subject=subject, plan=Plan(Tense.HABIT), adverbials=0.6)
    clause.manner = None
    clause.filled = [generic(filler) for filler in clause.filled]
    german, likings = r.pick(_GLADLY)
    clause.time = g.lexicon.gladly[german]
    text = clause.german_main()
    clause.time = None
    person = subject.english_person

    def english(draw: Draw) -> str:
        verb, form = draw.prefer(likings)
        if verb.startswith("not "):
            helper = "doesn 't" if person == 2 else "don 't"
            head = f"{helper} {verb[4:]}"
        else:
            head = verb + "s" if person == 2 else verb
        rest = clause.english_infinitive(draw, form=form)
        return f"{subject.en(draw)} {head} {'to ' if form == 'base' else ''}{rest}"

    return Sentence(text, english)


_GLADLY = (
    ("gern", (("like", "ing"), ("like", "base"), ("enjoy", "ing"))),
    ("gern", (("like", "base"), ("like", "ing"))),
    ("lieber", (("prefer", "base"), ("prefer", "ing"))),
    ("nicht gern", (("not like", "ing"), ("not like", "base"))),
    ("sehr gern", (("love", "ing"), ("love", "base"))),
)
