"""Coordinated main clauses: und, aber, deshalb, trotzdem, and pronouns that refer back to a thing."""

from __future__ import annotations

from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple

from dragoman_synth.lexicon import lexicon
from dragoman_synth.phrases import pronoun_for
from dragoman_synth.sentences import Grammar, Sentence
from dragoman_synth.tables import expressions, read
from dragoman_synth.verbgroups import Plan, Tense

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Frame, Noun

__all__ = ["contrast", "sequel", "two_deeds"]

_WORLDS = (Tense.PAST, Tense.PAST, Tense.NARRATED, Tense.FUTURE, Tense.HABIT)


def two_deeds(g: Grammar, r: Draw) -> Sentence:
    """Somebody does one thing and somebody else another, or the same person does both."""
    tense = r.pick(_WORLDS)
    one = g.absent(r)
    first_frame = g.activity(r) if tense is Tense.HABIT else g.choose.action(r)
    second_frame = g.activity(r) if tense is Tense.HABIT else g.choose.action(r)
    while second_frame is first_frame:
        second_frame = g.activity(r)
    first = g.plain(r, first_frame, subject=one, plan=Plan(tense), adverbials=0.6, time=True)
    if r.chance(0.5):
        second = g.plain(r, second_frame, subject=pronoun_for(one), plan=Plan(tense), adverbials=0.5)
        german = f"{first.german_main(g.front(r, first))} , und dann {second.german_main('none')}"

        def then(draw: Draw) -> str:
            link = draw.prefer(("and then", ", and then"))
            return f"{first.english(draw)} {link} {second.english(draw, fronting=False)}"

        return Sentence(german, then)
    other = r.draw_where(g.absent, lambda who: who.owner != one.owner)
    second = g.plain(r, second_frame, subject=other, plan=Plan(tense), adverbials=0.5)
    german, links = r.pick((("und", ("and", ", and")), ("aber", (", but", "but")), ("und", (", and", ", while"))))
    link = ", aber" if german == "aber" else german
    text = f"{first.german_main(g.front(r, first))} {link} {second.german_main()}"

    def english(draw: Draw) -> str:
        return f"{first.english(draw)} {draw.prefer(links)} {second.english(draw, fronting=False)}"

    return Sentence(text, english)


def contrast(g: Grammar, r: Draw) -> Sentence:
    """A state and its consequence, or something in spite of it: deshalb, trotzdem and the verb."""
    subject = g.actor(r)
    pronoun = pronoun_for(subject)
    past = r.chance(0.6)
    follows = r.chance(0.5)
    state = r.pick_where(g.lexicon.hindrances, lambda frame: frame.human)
    frame = r.draw_where(g.choose.action, lambda frame: frame.negatable)
    first = g.plain(r, state, subject=subject, plan=Plan(Tense.NARRATED if past else Tense.STATE))
    plan = Plan(Tense.PAST if past else Tense.WILL)
    second = g.plain(r, frame, subject=pronoun, plan=plan, negation=float(follows), adverbials=0.5)
    german, links, _ = r.pick(expressions("reason" if follows else "in spite"))
    text = f"{first.german_main()} , {german} {second.german_main('none')}"

    def english(draw: Draw) -> str:
        return f"{first.english(draw)} {draw.prefer(links)} {second.english(draw, fronting=False)}"

    return Sentence(text, english)


class _Sequel(NamedTuple):
    first: Frame
    second: Frame
    link: str
    negated: bool
    nouns: tuple[Noun, ...]


def _object(frame: Frame) -> int:
    return next((place for place, slot in enumerate(frame.slots) if slot.label == "A"), -1)


@cache
def _sequels() -> tuple[_Sequel, ...]:
    """Pairs of verbs that can share an object, with the nouns they share."""
    by_verb: dict[str, list[Frame]] = {}
    for frame in dict.fromkeys(lexicon().frames):
        if frame.human and _object(frame) >= 0:
            by_verb.setdefault(frame.verb.infinitive, []).append(frame)

    def pairs(_: str, entry: str) -> list[_Sequel]:
        one, link, two, sign = entry.split()
        found = []
        for first, second in product(by_verb[one], by_verb[two]):
            wanted = set(second.slots[_object(second)].nouns)
            nouns = tuple(noun for noun in first.slots[_object(first)].nouns if noun in wanted)
            if nouns and len(first.slots) == 1:
                found.append(_Sequel(first, second, link, sign == "-", nouns))
        return found

    return tuple(chain(*read("sequels.txt", pairs)))


def sequel(g: Grammar, r: Draw) -> Sentence:
    """`Ich habe den Schlüssel gesucht , aber ich habe ihn nicht gefunden`: English says it."""
    pair = r.pick(_sequels())
    subject = g.absent(r)
    noun = r.pick(pair.nouns)
    policy = "p" if pair.first.verb.infinitive in ("suchen", "verlieren") else r.pick("dds")
    thing = g.choose.thing(r, noun, policy, subject.owner)
    plan = Plan(r.pick((Tense.PAST, Tense.PAST, Tense.NARRATED)))
    first = g.plain(r, pair.first, subject=subject, plan=plan, adverbials=0.4, time=True)
    first.filled[_object(pair.first)] = thing
    first.clock = None
    second = g.plain(r, pair.second, subject=pronoun_for(subject), plan=plan)
    second.filled[_object(pair.second)] = pronoun_for(thing)
    second.negated = pair.negated
    comma = " ," if pair.link == "aber" else ""
    german = f"{first.german_main(g.front(r, first))}{comma} {pair.link} {second.german_main()}"

    def english(draw: Draw) -> str:
        link = draw.prefer((", but", "but")) if pair.link == "aber" else draw.prefer(("and", ", and"))
        return f"{first.english(draw)} {link} {second.english(draw)}"

    return Sentence(german, english)
