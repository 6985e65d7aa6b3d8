"""Subordinate clauses before and after the main clause: weil, obwohl, dass, wenn, als, während, bevor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.german import NOM, past_forms
from dragoman_synth.phrases import OWNERS, PRONOUNS, Phrase, pronoun_for
from dragoman_synth.sentences import IT, Grammar, Sentence
from dragoman_synth.tables import expressions
from dragoman_synth.verbgroups import Modal, Plan, Tense, plans

if TYPE_CHECKING:
    from collections.abc import Callable

    from dragoman_synth.clauses import Clause
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Frame

__all__ = [
    "although",
    "because",
    "if_real",
    "if_unreal",
    "reported",
    "reported_cause",
    "sequence",
    "when_once",
    "while_both",
]

_PAST = plans(PAST=2, NARRATED=1)
_PRESENT_MODAL = (Plan(Tense.HABIT, Modal.WILL), Plan(Tense.HABIT, Modal.KANN))
_PLANNED = plans(FUTURE=1, NOW=1, WILL=1)


def _german(main: Clause, front: str, link: str, sub: Clause, *, fronted: bool) -> str:
    """Both clauses; after a subordinate clause the main clause begins with its verb."""
    if fronted:
        return f"{link} {sub.german_final()} , {main.german_main('none')}"
    return f"{main.german_main(front)} , {link} {sub.german_final()}"


def _english(
    main: Clause,
    sub: Clause,
    links: tuple[str, ...],
    *,
    fronted: bool,
    free: bool = False,
    comma: bool = False,
) -> Callable[[Draw], str]:
    """Both clauses; `free` allows another order than German, if no pronoun refers to a noun of the other clause."""

    def say(r: Draw) -> str:
        link = r.prefer(links)
        first = fronted if not free or r.chance(0.75) else not fronted
        after = sub.english(r, fronting=False)
        if first:
            return f"{link} {after} , {main.english(r, fronting=False)}"
        return f"{main.english(r)}{' ,' if comma and r.chance(0.5) else ''} {link} {after}"

    return say


def _swap_names(main: Clause, sub: Clause, subject: Phrase) -> None:
    """Name the person in the clause that comes first, and use the pronoun in the other."""
    pronoun = pronoun_for(subject)
    if sub.subject is pronoun:
        sub.subject, main.subject = subject, pronoun


def _state(g: Grammar, r: Draw, frame: Frame, subject: Phrase, *, past: bool) -> Clause:
    """A state of a person, or the weather, now or then."""
    plan = Plan(Tense.NARRATED if past else Tense.STATE)
    if not frame.human:
        if frame.aspect == "act":
            plan = Plan(Tense.PROGRESS if past else Tense.NOW)
        subject = g.choose.topic(r, frame) if frame.nouns else IT
    return g.plain(r, frame, subject=subject, plan=plan, adverbials=0.5)


def _cause(g: Grammar, r: Draw, deed: Frame, who: Phrase, *, past: bool, hindered: bool) -> Clause:
    if hindered and past and r.chance(0.2):
        return g.plain(r, r.pick(g.lexicon.mishaps), subject=who, plan=Plan(Tense.BEFORE), adverbials=0.4)
    if hindered and r.chance(0.25):
        plan = Plan(Tense.HABIT, Modal.MUSS, past=past)
        return g.plain(r, r.pick(g.lexicon.duties), subject=who, plan=plan, adverbials=0.5)
    if not hindered and past and r.chance(0.4):
        return g.plain(r, r.pick(g.lexicon.requests), subject=who, plan=Plan(Tense.BEFORE))
    return _state(g, r, _reason(g, r, deed, hindered=hindered), who, past=past)


def _reason(g: Grammar, r: Draw, deed: Frame, *, hindered: bool) -> Frame:
    """A circumstance that prevents or permits an action; the weather matters only outdoors."""
    pool = g.lexicon.hindrances if hindered else g.lexicon.helps
    outdoors = any(slot.label == "G" for slot in deed.slots) or (
        "hob" in deed.flags and any("nature" in place.classes for place in deed.places)
    )
    return r.pick_where(pool, lambda reason: reason.human or outdoors)


def _deed(g: Grammar, r: Draw, subject: Phrase, *, past: bool, negated: bool) -> Clause:
    if past:
        plan = r.pick(_PAST) if r.chance(0.7) else Plan(Tense.HABIT, Modal.KANN, past=True)
    else:
        plan = r.pick(_PLANNED) if r.chance(0.6) else r.pick(_PRESENT_MODAL)
    frame = g.choose.action(r)
    while (negated and not frame.negatable) or (plan.tense is Tense.NOW and (negated or frame.aspect != "act")):
        frame = g.choose.action(r)
        plan = Plan(Tense.FUTURE) if plan.tense is Tense.NOW else plan
    return g.plain(r, frame, subject=subject, plan=plan, negation=float(negated), adverbials=0.7, time=True)


def because(g: Grammar, r: Draw) -> Sentence:
    """Weil and da: verb-final, before or after the main clause; denn: verb-second."""
    past = r.chance(0.6)
    subject = g.actor(r)
    negated = r.chance(0.55)
    main = _deed(g, r, subject, past=past, negated=negated)
    g.decorate(r, main, 0.06)
    cause = _cause(g, r, main.frame, pronoun_for(subject), past=past, hindered=negated)
    links = ("because", "as", "since")
    if r.chance(0.15):
        german = f"{main.german_main()} , denn {cause.german_main()}"
        return Sentence(german, _english(main, cause, links, fronted=False))
    fronted = r.chance(0.3)
    if fronted:
        _swap_names(main, cause, subject)
    link = "da" if fronted and r.chance(0.5) else "weil"
    german = _german(main, g.front(r, main), link, cause, fronted=fronted)
    return Sentence(german, _english(main, cause, links, fronted=fronted))


def although(g: Grammar, r: Draw) -> Sentence:
    """Obwohl: somebody does it nevertheless."""
    past = r.chance(0.65)
    subject = g.actor(r)
    negated = r.chance(0.25)
    main = _deed(g, r, subject, past=past, negated=negated)
    frame = _reason(g, r, main.frame, hindered=not negated)
    obstacle = _state(g, r, frame, pronoun_for(subject), past=past)
    fronted = r.chance(0.35)
    if fronted:
        _swap_names(main, obstacle, subject)
    german = _german(main, g.front(r, main), "obwohl", obstacle, fronted=fronted)
    return Sentence(
        german, _english(main, obstacle, ("although", "even though", "though"), fronted=fronted, comma=True)
    )


def reported(g: Grammar, r: Draw) -> Sentence:
    """Dass and ob clauses; English may drop its that."""
    verb = r.pick(g.lexicon.reports)
    subject = g.choose.subject(r, pronouns=0.55)
    past = r.chance(0.3) and subject.person not in (1, 4)
    matrix = g.plain(r, verb, subject=subject, plan=Plan(Tense.NARRATED if past else Tense.STATE))
    frame = g.choose.frame(r)
    plan = g.choose.plan(r, frame)
    while plan.modal is Modal.MÖCHTE or (past and plan.tense not in (Tense.PAST, Tense.NARRATED) and not plan.past):
        plan = r.pick(_PAST) if past else g.choose.plan(r, frame)
    inner = g.plain(r, frame, plan=plan, negation=0.12, adverbials=0.8, time=True)
    g.decorate(r, inner, 0.1)
    whether = "ob" in verb.flags
    german = f"{matrix.german_main()} , {'ob' if whether else 'dass'} {inner.german_final()}"

    def english(draw: Draw) -> str:
        link = draw.prefer(("whether ", "if ")) if whether else draw.prefer(("that ", ""))
        return f"{matrix.english(draw)} {link}{inner.english(draw, fronting=False)}"

    return Sentence(german, english)


def reported_cause(g: Grammar, r: Draw) -> Sentence:
    """A long sentence: what somebody says, with its reason, and maybe a relative clause."""
    verb = r.pick_where(g.lexicon.reports, lambda frame: "ob" not in frame.flags)
    matrix = g.plain(r, verb, plan=Plan(Tense.STATE))
    subject = g.absent(r)
    negated = r.chance(0.6)
    deed = _deed(g, r, subject, past=True, negated=negated)
    g.decorate(r, deed, 0.35)
    cause = _cause(g, r, deed.frame, pronoun_for(subject), past=True, hindered=negated)
    german = f"{matrix.german_main()} , dass {deed.german_final()} , weil {cause.german_final()}"

    def english(draw: Draw) -> str:
        link = draw.prefer(("that ", ""))
        reason = f"{draw.prefer(('because', 'as', 'since'))} {cause.english(draw, fronting=False)}"
        return f"{matrix.english(draw)} {link}{deed.english(draw, fronting=False)} {reason}"

    return Sentence(german, english)


_SPEAKERS = tuple(PRONOUNS[k] for k in (0, 0, 1, 1, 3, 2, 6))


def if_real(g: Grammar, r: Draw) -> Sentence:
    """Wenn: if something is so, something else will be; immer wenn: whenever."""
    subject = r.pick(_SPEAKERS)
    often = r.chance(0.3)
    if often:
        plan, frame, negated = Plan(Tense.HABIT), r.pick(g.lexicon.hobbies), False
        condition = _state(g, r, r.pick(g.lexicon.moods), subject, past=False)
    else:
        negated = r.chance(0.3)
        plan = r.pick((Plan(Tense.WILL), Plan(Tense.HABIT, Modal.KANN)))
        frame = r.draw_where(g.choose.action, lambda frame: frame.negatable or not negated)
        condition = _state(g, r, _reason(g, r, frame, hindered=negated), subject, past=False)
    main = g.plain(r, frame, subject=subject, plan=plan, negation=float(negated), adverbials=0.8)
    fronted = r.chance(0.6)
    german = _german(main, "subject", "immer wenn" if often else "wenn", condition, fronted=fronted)
    links = ("whenever", "every time") if often else ("if",)
    return Sentence(german, _english(main, condition, links, fronted=fronted, free=True))


_HÄTTE = past_forms("hätte")
_WÄRE = ("wäre", "wärst", "wäre", "wären", "wärt", "wären")


def if_unreal(g: Grammar, r: Draw) -> Sentence:
    """Wenn with hätte and wäre, and würde in the main clause."""
    subject = r.pick(_SPEAKERS) if r.chance(0.7) else PRONOUNS[5]
    german, english, kind = r.pick(expressions("unreal"))
    lexicon = g.lexicon
    pools = {"big": lexicon.big, "hob": lexicon.hobbies, "duty": lexicon.duties}
    frame = r.pick(pools[kind]) if kind in pools else g.choose.action(r)
    plan = Plan(Tense.WOULD) if r.chance(0.75) else Plan(Tense.HABIT, Modal.KÖNNTE)
    main = g.plain(r, frame, subject=subject, plan=plan, adverbials=0.8)
    condition = german.format(s=subject.de(NOM), have=_HÄTTE[subject.person], be=_WÄRE[subject.person])
    fronted = r.chance(0.7)
    deed = main.german_main("none" if fronted else "subject")
    text = f"wenn {condition} , {deed}" if fronted else f"{deed} , wenn {condition}"

    def say(draw: Draw) -> str:
        were = draw.prefer(("were", "was")) if subject.english_person in (0, 2) else "were"
        clause = draw.prefer(english).format(s=subject.en(draw), were=were)
        if fronted if draw.chance(0.8) else not fronted:
            return f"if {clause} , {main.english(draw)}"
        return f"{main.english(draw)} if {clause}"

    return Sentence(text, say)


def _pair_of_actors(g: Grammar, r: Draw) -> tuple[Phrase, Phrase]:
    one, other = g.actor(r), g.actor(r)
    while one.person in (1, 4):
        one = g.actor(r)
    while other.person in (1, 4) or OWNERS[other.owner] == OWNERS[one.owner]:
        other = g.actor(r)
    return one, other


def when_once(g: Grammar, r: Draw) -> Sentence:
    """Als with the past: somebody arrives while something goes on."""
    one, other = _pair_of_actors(g, r)
    event = g.plain(r, r.pick(g.lexicon.arrivals), subject=one, plan=Plan(Tense.NARRATED), adverbials=0.5)
    scene = g.plain(r, g.activity(r), subject=other, plan=Plan(Tense.PROGRESS), adverbials=0.8)
    fronted = r.chance(0.65)
    german = _german(scene, "subject", "als", event, fronted=fronted)
    return Sentence(german, _english(scene, event, ("when", "as"), fronted=fronted, free=True))


def while_both(g: Grammar, r: Draw) -> Sentence:
    """Während: two people do two things."""
    one, other = _pair_of_actors(g, r)
    plan = Plan(Tense.PROGRESS if r.chance(0.5) else Tense.NOW)
    frame = g.activity(r)
    main = g.plain(r, frame, subject=one, plan=plan, adverbials=0.7)
    sub = g.plain(r, g.activity(r, frame), subject=other, plan=plan, adverbials=0.7)
    fronted = r.chance(0.6)
    german = _german(main, "subject", "während", sub, fronted=fronted)
    return Sentence(german, _english(main, sub, ("while",), fronted=fronted, free=True))


_LINKS = {"bevor": ("before",), "nachdem": ("after",), "sobald": ("as soon as", "once")}


def sequence(g: Grammar, r: Draw) -> Sentence:
    """Bevor, nachdem, sobald: one thing after the other, by the same person."""
    subject = g.absent(r)
    kind = r.pick(("bevor", "bevor", "nachdem", "nachdem", "sobald"))
    fronted = r.chance(0.6)
    pronoun = pronoun_for(subject)
    main_plan, sub_plan = Plan(Tense.NARRATED), Plan(Tense.NARRATED)
    if kind == "nachdem":
        sub_plan = Plan(Tense.BEFORE)
    elif kind == "sobald":
        main_plan, sub_plan = Plan(Tense.WILL), Plan(Tense.PERFECT)
    frame = g.choose.action(r)
    main = g.plain(r, frame, subject=pronoun if fronted else subject, plan=main_plan, adverbials=0.5)
    other = r.draw_where(g.choose.action, lambda other: other is not frame)
    sub = g.plain(r, other, subject=subject if fronted else pronoun, plan=sub_plan, adverbials=0.4)
    german = _german(main, "subject", kind, sub, fronted=fronted)
    return Sentence(german, _english(main, sub, _LINKS[kind], fronted=fronted))
