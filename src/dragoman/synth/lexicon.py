"""The whole lexicon: the words, and the verbs in pools by what a sentence pattern needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dragoman.synth import lexicon_modifiers, lexicon_special, lexicon_verbs
from dragoman.synth.frames import FrameReader
from dragoman.synth.lexemes import Adverb, Frame
from dragoman.synth.tables import pairs, weighted
from dragoman.synth.words import Words, read_words

__all__ = ["Lexicon", "lexicon"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Everything a sentence pattern draws from; a pool repeats a verb as often as it is frequent."""

    words: Words
    frames: tuple[Frame, ...]
    things: tuple[Frame, ...]
    idioms: tuple[Frame, ...]
    states: tuple[Frame, ...]
    hindrances: tuple[Frame, ...]
    helps: tuple[Frame, ...]
    moods: tuple[Frame, ...]
    weather: tuple[Frame, ...]
    lasting: tuple[Frame, ...]
    passives: tuple[Frame, ...]
    commands: tuple[Frame, ...]
    mishaps: tuple[Frame, ...]
    walking: Frame
    travelling: Frame
    causatives: tuple[Frame, ...]
    reports: tuple[Frame, ...]
    requests: tuple[Frame, ...]
    matrices: tuple[Frame, ...]
    duties: tuple[Frame, ...]
    hobbies: tuple[Frame, ...]
    outings: tuple[Frame, ...]
    big: tuple[Frame, ...]
    arrivals: tuple[Frame, ...]
    gladly: dict[str, Adverb]


@cache
def lexicon() -> Lexicon:
    """Parse and inflect everything, on first use."""
    words = read_words()
    read = FrameReader(words).read
    people = weighted(read(lexicon_verbs.FRAMES), 40)
    senses = weighted(read(lexicon_special.SENSE_FRAMES), 60)
    things = weighted(read(lexicon_special.THING_FRAMES), 12)
    feelings = "\n".join(
        f"sein ; hum ; _{de} ; {' / '.join('be ' + word for word in en)} ; sta neg"
        for de, en in pairs(lexicon_modifiers.CONDITIONS)
    )
    states = weighted(read(lexicon_special.STATE_FRAMES) + read(feelings), 20)
    weather = weighted(read(lexicon_special.WEATHER_FRAMES), 4)
    return Lexicon(
        words=words,
        frames=people + senses,
        lasting=tuple(frame for frame in people if "since" in frame.flags),
        passives=tuple(frame for frame in people + senses + things if "pas" in frame.flags and len(frame.slots) == 1),
        commands=tuple(frame for frame in people + senses if "imp" in frame.flags),
        things=things,
        mishaps=tuple(frame for frame in people + senses if "bad" in frame.flags and frame.human),
        causatives=tuple(
            f for f in people if f.verb.infinitive in ("reparieren", "waschen", "streichen") and "pas" in f.flags
        ),
        walking=next(f for f in people if f.verb.infinitive == "gehen" and f.slots[0].label == "G"),
        travelling=next(f for f in people if f.verb.infinitive == "fahren" and f.slots[0].label == "G"),
        reports=weighted(read(lexicon_special.REPORT_FRAMES), 5),
        requests=weighted(read(lexicon_special.REQUEST_FRAMES), 6),
        matrices=weighted(read(lexicon_special.MATRIX_FRAMES), 8),
        arrivals=weighted(read(lexicon_special.ARRIVAL_FRAMES), 4),
        gladly={words: Adverb(words, (("", "m"),), True) for words in ("gern", "lieber", "nicht gern", "sehr gern")},
        idioms=weighted(read(lexicon_special.IDIOM_FRAMES), 12),
        states=states,
        hindrances=tuple(frame for frame in states + weather if "hinder" in frame.flags),
        helps=tuple(frame for frame in states + weather if "help" in frame.flags),
        moods=tuple(frame for frame in states + weather if "hinder" not in frame.flags),
        duties=tuple(frame for frame in people if "duty" in frame.flags and frame.human),
        hobbies=tuple(frame for frame in people if "hob" in frame.flags and frame.human),
        outings=tuple(
            f for f in people + senses if f.places and f.human and f.aspect == "act" and "noout" not in f.flags
        ),
        big=tuple(frame for frame in people if "big" in frame.flags and "inv" not in frame.flags and frame.human),
        weather=weather,
    )
