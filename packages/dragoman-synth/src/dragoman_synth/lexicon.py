"""The whole lexicon: words, and pools of verbs for the sentence patterns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dragoman_synth.frames import read_frames
from dragoman_synth.lexemes import Adverb, Frame
from dragoman_synth.tables import weighted
from dragoman_synth.words import Words, read_words

__all__ = ["Lexicon", "lexicon"]

Frames = tuple[Frame, ...]

_OFFSETS = {
    "people": 40,
    "senses": 60,
    "things": 12,
    "states": 20,
    "weather": 4,
    "reports": 5,
    "requests": 6,
    "matrices": 8,
    "arrivals": 4,
    "idioms": 12,
}
"""Offsets of the Zipf-like frequencies by section of verb frames; larger is flatter."""
_REPAIRS = ("reparieren", "waschen", "streichen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Everything the sentence patterns sample from; a pool repeats each verb in proportion to its frequency."""

    words: Words
    frames: Frames
    things: Frames
    idioms: Frames
    states: Frames
    hindrances: Frames
    helps: Frames
    moods: Frames
    lasting: Frames
    passives: Frames
    commands: Frames
    mishaps: Frames
    walking: Frame
    travelling: Frame
    causatives: Frames
    reports: Frames
    requests: Frames
    matrices: Frames
    duties: Frames
    hobbies: Frames
    outings: Frames
    big: Frames
    arrivals: Frames
    gladly: dict[str, Adverb]


def _having(frames: Frames, flag: str) -> Frames:
    return tuple(frame for frame in frames if flag in frame.flags)


def _lacking(frames: Frames, flag: str) -> Frames:
    return tuple(frame for frame in frames if flag not in frame.flags)


def _human(frames: Frames) -> Frames:
    return tuple(frame for frame in frames if frame.human)


def _towards(frames: Frames, verb: str) -> Frame:
    """The frame of a verb of motion with a goal."""
    return next(frame for frame in frames if frame.verb.infinitive == verb and frame.slots[0].label == "G")


@cache
def lexicon() -> Lexicon:
    """Read and inflect the lexicon; cached."""
    words = read_words()
    pools = {section: weighted(made, _OFFSETS[section]) for section, made in read_frames(words).items()}
    people, things = pools["people"], pools["things"]
    deeds = people + pools["senses"]
    states = pools["states"] + pools["weather"]
    return Lexicon(
        words=words,
        frames=deeds,
        lasting=_having(people, "since"),
        passives=tuple(frame for frame in _having(deeds + things, "pas") if len(frame.slots) == 1),
        commands=_having(deeds, "imp"),
        things=things,
        mishaps=_human(_having(deeds, "bad")),
        causatives=tuple(frame for frame in _having(people, "pas") if frame.verb.infinitive in _REPAIRS),
        walking=_towards(people, "gehen"),
        travelling=_towards(people, "fahren"),
        reports=pools["reports"],
        requests=pools["requests"],
        matrices=pools["matrices"],
        arrivals=pools["arrivals"],
        gladly={words: Adverb(words, (("", "m"),), True) for words in ("gern", "lieber", "nicht gern", "sehr gern")},
        idioms=pools["idioms"],
        states=pools["states"],
        hindrances=_having(states, "hinder"),
        helps=_having(states, "help"),
        moods=_lacking(states, "hinder"),
        duties=_human(_having(people, "duty")),
        hobbies=_human(_having(people, "hob")),
        outings=tuple(frame for frame in _human(_lacking(deeds, "noout")) if frame.places and frame.aspect == "act"),
        big=_human(_lacking(_having(people, "big"), "inv")),
    )
