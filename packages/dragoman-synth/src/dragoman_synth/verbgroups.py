"""Tenses and modals: the finite verb and the non-finite rest, in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from dragoman.settings import Record
from dragoman_synth import english, german
from dragoman_synth.english import BE, EnglishVerb, contract_not
from dragoman_synth.tables import irregular

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.german import GermanVerb

__all__ = ["Modal", "Plan", "Tense", "english_group", "german_group", "german_passive", "join_subject", "plans"]


class Tense(Enum):
    """Temporal meanings, which German and English express differently."""

    HABIT = "habit"
    NOW = "now"
    STATE = "state"
    FUTURE = "future"
    WILL = "will"
    PAST = "past"
    NARRATED = "narrated"
    PROGRESS = "progress"
    PERFECT = "perfect"
    BEFORE = "before"
    SINCE = "since"
    WOULD = "would"


class Modal(Enum):
    """German modal verbs, with möchte as a verb of its own."""

    KANN = "können"
    MUSS = "müssen"
    WILL = "wollen"
    SOLL = "sollen"
    DARF = "dürfen"
    MÖCHTE = "möchte"
    KÖNNTE = "könnte"


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """Tense, and a modal in the present or past if there is one."""

    tense: Tense
    modal: Modal | None = None
    past: bool = False


def plans(**weights: int) -> tuple[Plan, ...]:
    """Plans without a modal, by the name of their tense, each repeated by its weight."""
    return tuple(Plan(Tense[name]) for name, weight in weights.items() for _ in range(weight))


_AUXILIARY = german.AUXILIARIES | {
    word: german.past_forms(word) for word in ("hatte", "war", "wurde", "würde", "möchte", "könnte")
}


@cache
def _modal_forms(modal: Modal, *, past: bool) -> tuple[str, ...]:
    if modal.value in _AUXILIARY:
        return _AUXILIARY[modal.value]
    verb = german.conjugate(modal.value, irregular("german"))
    return verb.past if past else verb.present


_COMPOUND = {Tense.PAST: ("haben", "sein"), Tense.PERFECT: ("haben", "sein"), Tense.BEFORE: ("hatte", "war")}
_PERIPHRASTIC = {Tense.WILL: "werden", Tense.WOULD: "würde"}


def german_group(verb: GermanVerb, plan: Plan, person: int) -> tuple[str, str, str]:
    """Finite verb, right bracket of a main clause, and the whole cluster of a verb-final clause."""
    tense = plan.tense
    if plan.modal is not None:
        finite, rest = _modal_forms(plan.modal, past=plan.past)[person], verb.infinitive
    elif tense in _COMPOUND:
        finite, rest = _AUXILIARY[_COMPOUND[tense][verb.with_sein]][person], verb.participle
    elif tense in _PERIPHRASTIC:
        finite, rest = _AUXILIARY[_PERIPHRASTIC[tense]][person], verb.infinitive
    elif tense is Tense.NARRATED or tense is Tense.PROGRESS:
        return verb.past[person], verb.prefix, verb.past_final[person]
    else:
        return verb.present[person], verb.prefix, verb.present_final[person]
    return finite, rest, f"{rest} {finite}"


def german_passive(verb: GermanVerb, plan: Plan, person: int) -> tuple[str, str, str]:
    """The same for the passive with werden."""
    tense, participle = plan.tense, verb.participle
    if plan.modal is not None:
        finite, rest = _modal_forms(plan.modal, past=plan.past)[person], f"{participle} werden"
    elif tense is Tense.PAST or tense is Tense.PERFECT:
        finite, rest = _AUXILIARY["sein"][person], f"{participle} worden"
    elif tense is Tense.NARRATED:
        finite, rest = _AUXILIARY["wurde"][person], participle
    elif tense is Tense.WILL:
        finite, rest = _AUXILIARY["werden"][person], f"{participle} werden"
    else:
        finite, rest = _AUXILIARY["werden"][person], participle
    return finite, rest, f"{rest} {finite}"


_HAVE = english.conjugate("have", {"have": "had had"})
_DO = english.conjugate("do", {"do": "did done"})
_WANT = english.conjugate("want", {})
_CONTRACTED = {
    "am": " 'm",
    "are": " 're",
    "is": " 's",
    "have": " 've",
    "has": " 's",
    "had": " 'd",
    "will": " 'll",
    "would": " 'd",
}
_SUBJECTS = frozenset(["I", "you", "he", "she", "it", "we", "they"])


def _modal_english(modal: Modal, person: int, r: Draw, *, past: bool, negated: bool) -> tuple[str, str, bool]:
    """Finite word, words before the infinitive, and whether the finite word is an auxiliary."""
    be = (BE.past if past else BE.present)[person]
    have = ((_HAVE.past if past else _HAVE.present)[person], "to", False)
    if modal is Modal.MUSS:
        return have if past or negated else r.prefer((have, ("must", "", True)))
    if modal is Modal.KANN:
        return r.prefer((("could", "", True), (be, "able to", True))) if past else ("can", "", True)
    if modal is Modal.SOLL:
        supposed = (be, "supposed to", True)
        return supposed if past else r.prefer((("should", "", True), supposed))
    if modal is Modal.DARF:
        allowed = (be, "allowed to", True)
        return allowed if past else r.prefer((allowed, ("must" if negated else "can", "", True)))
    if modal is Modal.WILL:
        return (_WANT.past if past else _WANT.present)[person], "to", False
    return ("would", "like to", True) if modal is Modal.MÖCHTE else ("could", "", True)


def english_group(
    verb: EnglishVerb, plan: Plan, person: int, r: Draw, *, negated: bool, question: bool, stative: bool
) -> tuple[str, str]:
    """Auxiliary (empty if the verb itself is finite) and the rest."""
    tense = plan.tense
    if plan.modal is not None:
        finite, before, auxiliary = _modal_english(plan.modal, person, r, past=plan.past, negated=negated)
        rest = f"{before} {verb.base}" if before else verb.base
        if auxiliary:
            return _negate(finite, r) if negated else finite, rest
        if negated or question:
            base = "want" if plan.modal is Modal.WILL else "have"
            support = (_DO.past if plan.past else _DO.present)[person]
            return _negate(support, r) if negated else support, f"{base} {rest}"
        return "", f"{finite} {rest}"
    finite, rest = _tensed(verb, tense, person, r, stative=stative)
    if finite:
        return _negate(finite, r) if negated else finite, rest
    if verb.base == "be":
        return _negate(rest, r) if negated else rest, ""
    if negated or question:
        support = (_DO.present if tense in (Tense.HABIT, Tense.STATE, Tense.NOW) else _DO.past)[person]
        return _negate(support, r) if negated else support, verb.base
    return "", rest


def _tensed(verb: EnglishVerb, tense: Tense, person: int, r: Draw, *, stative: bool) -> tuple[str, str]:
    if tense in (Tense.PAST, Tense.NARRATED) or (stative and tense is Tense.PROGRESS):
        return "", verb.past[person]
    if tense in (Tense.HABIT, Tense.STATE) or (stative and tense is Tense.NOW):
        return "", verb.present[person]
    if tense in (Tense.NOW, Tense.PROGRESS):
        return (BE.present if tense is Tense.NOW else BE.past)[person], verb.ing
    if tense in (Tense.FUTURE, Tense.WILL):
        return _future(verb, tense, person, r, stative=stative)
    if tense in (Tense.PERFECT, Tense.SINCE):
        going_on = tense is Tense.SINCE and not stative and not r.chance(0.4)
        return _HAVE.present[person], f"been {verb.ing}" if going_on else verb.participle
    if tense is Tense.BEFORE:
        return _HAVE.past[person], verb.participle
    return "would", verb.base


def _future(verb: EnglishVerb, tense: Tense, person: int, r: Draw, *, stative: bool) -> tuple[str, str]:
    draw = r.random()
    if draw < 0.55 or stative:
        return "will", verb.base
    going_to = draw < 0.85 or tense is Tense.WILL
    return BE.present[person], f"going to {verb.base}" if going_to else verb.ing


def _negate(auxiliary: str, r: Draw) -> str:
    return contract_not(auxiliary) if r.chance(0.6) else f"{auxiliary} not".replace("can not", "cannot")


def join_subject(subject: str, auxiliary: str, r: Draw) -> str:
    """Subject and auxiliary, sometimes contracted: `he 's`."""
    if subject in _SUBJECTS and auxiliary in _CONTRACTED and r.chance(0.4):
        return subject + _CONTRACTED[auxiliary]
    return f"{subject} {auxiliary}"
