"""Tenses and modals: which finite verb and which non-finite rest, in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from dragoman.synth import english, german
from dragoman.synth.english import EnglishVerb, contract_not
from dragoman.synth.tables import irregular

if TYPE_CHECKING:
    from dragoman.synth.draw import Draw
    from dragoman.synth.german import GermanVerb

__all__ = ["Modal", "Plan", "Tense", "english_group", "german_group", "german_passive", "join_subject"]


class Tense(Enum):
    """What is said about time; German and English express it differently."""

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
class Plan:
    """Tense, and a modal in the present or past if there is one."""

    tense: Tense
    modal: Modal | None = None
    past: bool = False


_AUXILIARY = {
    "haben": ("habe", "hast", "hat", "haben", "habt", "haben"),
    "sein": ("bin", "bist", "ist", "sind", "seid", "sind"),
    "hatte": ("hatte", "hattest", "hatte", "hatten", "hattet", "hatten"),
    "war": ("war", "warst", "war", "waren", "wart", "waren"),
    "werden": ("werde", "wirst", "wird", "werden", "werdet", "werden"),
    "wurde": ("wurde", "wurdest", "wurde", "wurden", "wurdet", "wurden"),
    "würde": ("würde", "würdest", "würde", "würden", "würdet", "würden"),
    "möchte": ("möchte", "möchtest", "möchte", "möchten", "möchtet", "möchten"),
    "könnte": ("könnte", "könntest", "könnte", "könnten", "könntet", "könnten"),
}


@cache
def _modal_forms(modal: Modal, *, past: bool) -> tuple[str, ...]:
    if modal.value in _AUXILIARY:
        return _AUXILIARY[modal.value]
    verb = german.conjugate(modal.value, irregular("german"))
    return verb.past if past else verb.present


def german_group(verb: GermanVerb, plan: Plan, person: int) -> tuple[str, str, str]:
    """Finite verb, right bracket of a main clause, and the whole cluster of a verb-final clause."""
    tense = plan.tense
    if plan.modal is not None:
        finite = _modal_forms(plan.modal, past=plan.past)[person]
        return finite, verb.infinitive, f"{verb.infinitive} {finite}"
    if tense is Tense.PAST or tense is Tense.PERFECT or tense is Tense.BEFORE:
        if tense is Tense.BEFORE:
            finite = _AUXILIARY["war" if verb.with_sein else "hatte"][person]
        else:
            finite = _AUXILIARY["sein" if verb.with_sein else "haben"][person]
        return finite, verb.participle, f"{verb.participle} {finite}"
    if tense is Tense.NARRATED or tense is Tense.PROGRESS:
        return verb.past[person], verb.prefix, verb.past_final[person]
    if tense is Tense.WILL or tense is Tense.WOULD:
        finite = _AUXILIARY["werden" if tense is Tense.WILL else "würde"][person]
        return finite, verb.infinitive, f"{verb.infinitive} {finite}"
    return verb.present[person], verb.prefix, verb.present_final[person]


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


_BE = english.conjugate("be", {})
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
    if modal is Modal.KANN:
        if past:
            return r.prefer((("could", "", True), (_BE.past[person], "able to", True)))
        return ("can", "", True)
    if modal is Modal.KÖNNTE:
        return ("could", "", True)
    if modal is Modal.MÖCHTE:
        return ("would", "like to", True)
    if modal is Modal.WILL:
        return ((_WANT.past if past else _WANT.present)[person], "to", False)
    if modal is Modal.SOLL:
        if past:
            return (_BE.past[person], "supposed to", True)
        return r.prefer((("should", "", True), (_BE.present[person], "supposed to", True)))
    if modal is Modal.DARF:
        if past:
            return (_BE.past[person], "allowed to", True)
        return r.prefer(((_BE.present[person], "allowed to", True), ("can" if not negated else "must", "", True)))
    have = (_HAVE.past if past else _HAVE.present)[person]
    if past or negated:
        return (have, "to", False)
    return r.prefer(((have, "to", False), ("must", "", True)))


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
    if tense is Tense.PAST or tense is Tense.NARRATED:
        return "", verb.past[person]
    if tense is Tense.HABIT or tense is Tense.STATE:
        return "", verb.present[person]
    if tense is Tense.NOW:
        return ("", verb.present[person]) if stative else (_BE.present[person], verb.ing)
    if tense is Tense.PROGRESS:
        return ("", verb.past[person]) if stative else (_BE.past[person], verb.ing)
    if tense is Tense.FUTURE or tense is Tense.WILL:
        draw = r.random()
        if draw < 0.55 or stative:
            return "will", verb.base
        if draw < 0.85 or tense is Tense.WILL:
            return _BE.present[person], f"going to {verb.base}"
        return _BE.present[person], verb.ing
    if tense is Tense.PERFECT:
        return _HAVE.present[person], verb.participle
    if tense is Tense.SINCE:
        if stative or r.chance(0.4):
            return _HAVE.present[person], verb.participle
        return _HAVE.present[person], f"been {verb.ing}"
    if tense is Tense.BEFORE:
        return _HAVE.past[person], verb.participle
    return "would", verb.base


def _negate(auxiliary: str, r: Draw) -> str:
    return (
        contract_not(auxiliary)
        if r.chance(0.6)
        else f"{'can' if auxiliary == 'can' else auxiliary} not".replace("can not", "cannot")
    )


def join_subject(subject: str, auxiliary: str, r: Draw) -> str:
    """Subject and auxiliary, contracted now and then: `he 's`."""
    if subject in _SUBJECTS and auxiliary in _CONTRACTED and r.chance(0.4):
        return subject + _CONTRACTED[auxiliary]
    return f"{subject} {auxiliary}"
