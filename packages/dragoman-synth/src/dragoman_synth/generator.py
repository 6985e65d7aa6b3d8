"""Generate sentence pairs: any slice of the infinite corpus of a seed, or disjoint splits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import count, islice
from typing import TYPE_CHECKING

from dragoman.errors import InputError
from dragoman.settings import Record
from dragoman_synth import coordination, infinitives, predicates, questions, sentences, subordinate
from dragoman_synth.draw import Draw
from dragoman_synth.lexicon import lexicon
from dragoman_synth.noise import MISALIGNED, disturb
from dragoman_synth.sentences import Grammar, Pattern, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dragoman.types import Progress

__all__ = ["PATTERNS", "Example", "SynthConfig", "SynthSplits", "generate", "generate_splits"]

PATTERNS: tuple[tuple[Pattern, int], ...] = (
    (sentences.simple, 240),
    (sentences.thing, 60),
    (sentences.with_relative, 70),
    (sentences.idiom, 35),
    (sentences.proverb, 4),
    (sentences.since, 15),
    (sentences.passive, 30),
    (sentences.anyone, 10),
    (subordinate.because, 50),
    (subordinate.although, 30),
    (subordinate.reported, 60),
    (subordinate.reported_cause, 25),
    (subordinate.if_real, 25),
    (subordinate.if_unreal, 20),
    (subordinate.when_once, 25),
    (subordinate.while_both, 25),
    (subordinate.sequence, 35),
    (infinitives.in_order, 20),
    (infinitives.infinitive, 35),
    (infinitives.it_is, 15),
    (infinitives.have_done, 12),
    (infinitives.gladly, 15),
    (coordination.two_deeds, 40),
    (coordination.contrast, 20),
    (coordination.sequel, 30),
    (questions.yes_no, 35),
    (questions.wh_question, 25),
    (questions.indirect, 20),
    (questions.command, 20),
    (questions.polite, 12),
    (predicates.property_of, 30),
    (predicates.comparison, 16),
    (predicates.superlative, 8),
    (predicates.profession, 12),
    (predicates.there_is, 14),
    (predicates.feeling_cold, 4),
    (predicates.ache, 5),
    (predicates.costs, 8),
    (predicates.general, 8),
)
"""Sentence patterns with their relative frequencies, roughly per thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthConfig(Record):
    """Settings of the generator; `noise` is the fraction of noisy pairs."""

    seed: int = 0
    n_references: int = 1
    noise: float = 0.0
    lowercase: bool = True

    def _check(self) -> None:
        if self.seed < 0:
            raise InputError(f"the seed must be at least 0, not {self.seed}")
        if self.n_references < 1:
            raise InputError(f"n_references must be at least 1, not {self.n_references}")
        if not 0.0 <= self.noise <= 1.0:
            raise InputError(f"noise, the fraction of noisy pairs, must be from 0 to 1, not {self.noise}")


@dataclass(frozen=True, slots=True)
class Example:
    """A German sentence and its English translations, tokenised."""

    source: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthSplits:
    """Three sets that share no sentence."""

    train: list[Example]
    dev: list[Example]
    test: list[Example]


@cache
def _grammar() -> tuple[Grammar, tuple[Pattern, ...]]:
    return Grammar(lexicon()), tuple(pattern for pattern, weight in PATTERNS for _ in range(weight))


def _finish(text: str, mark: str, *, lowercase: bool) -> str:
    """Finish the sentence: drop final commas, add the closing mark and adjust case."""
    while " , ," in text:
        text = text.replace(" , ,", " ,")
    text = f"{text.removesuffix(' ,')} {mark}"
    return text.lower() if lowercase else text[0].upper() + text[1:]


class _Source:
    """Sentence `index` of the infinite corpus of a seed, from its own random stream."""

    def __init__(self, config: SynthConfig) -> None:
        self.config = config
        self.draw = Draw()
        self.grammar, self.patterns = _grammar()

    def example(self, index: int) -> Example:
        r = self.draw
        r.restart(self.config.seed, index)
        sentence = r.pick(self.patterns)(self.grammar, r)
        lowercase = self.config.lowercase
        source = _finish(sentence.german, sentence.mark, lowercase=lowercase)
        wanted = self.config.n_references
        if wanted == 1:
            return Example(source, (_finish(sentence.english(r), sentence.mark, lowercase=lowercase),))
        return Example(source, self._references(sentence, wanted))

    def _references(self, sentence: Sentence, wanted: int) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for _ in range(4 * wanted + 8):
            english = sentence.english(self.draw)
            found[_finish(english, sentence.mark, lowercase=self.config.lowercase)] = None
            if len(found) == wanted:
                break
        distinct = tuple(found)
        return distinct + distinct[-1:] * (wanted - len(distinct))

    def noisy(self, index: int) -> Example:
        clean = self.example(index)
        r = self.draw
        r.restart(self.config.seed, _NOISE + index)
        if not r.chance(self.config.noise):
            return clean
        if r.chance(MISALIGNED):
            other = index + 1 + int(r.random() * 1000)
            return Example(clean.source, self.example(other).references)
        if r.chance(0.5):
            return Example(disturb(clean.source, r), clean.references)
        return Example(clean.source, tuple(disturb(reference, r) for reference in clean.references))


_REPORT = 1000
"""Sentences between two progress reports."""
_NOISE = 1 << 46
_DEV = 1 << 44
_TEST = 1 << 45
"""Start indices of the streams of noise, dev and test; training sets are shorter than the first."""


def generate(n: int, config: SynthConfig, *, start: int = 0) -> Iterator[Example]:
    """Examples `start` to `start + n` of the corpus of `config.seed`.

    Each depends only on the seed and its index, so any slice can be generated independently. References are distinct;
    if the grammar has fewer wordings of a sentence than requested, the last is repeated. The first reference does not
    depend on the number of references.
    """
    if n < 0 or start < 0 or start + n > _DEV:
        raise InputError(f"cannot generate {n} sentences from {start}: both numbers must be from 0 to 2**44")
    source = _Source(config)
    make = source.noisy if config.noise else source.example
    return map(make, range(start, start + n))


def generate_splits(
    n_train: int, n_dev: int, n_test: int, config: SynthConfig, *, progress: Progress | None = None
) -> SynthSplits:
    """Training, development and test sets that share no sentence on either side.

    No source sentence or reference of dev or test occurs in another set, and dev and test have no duplicates. Train has
    one reference per sentence and may contain duplicates, as real text does; only train is noisy. `progress` counts
    training sentences.
    """
    if min(n_train, n_dev, n_test) < 0:
        raise InputError(f"cannot split into {n_train}, {n_dev} and {n_test} sentences: sizes must not be negative")
    clean = _Source(config)
    seen: set[str] = set()
    test = _distinct(clean, n_test, _TEST, seen)
    dev = _distinct(clean, n_dev, _DEV, seen)
    single = _Source(SynthConfig(seed=config.seed, noise=config.noise, lowercase=config.lowercase))
    train: list[Example] = []
    for example in islice(_unseen(single.noisy if config.noise else single.example, 0, seen), n_train):
        train.append(example)
        if progress and len(train) % _REPORT == 0:
            progress(len(train))
    return SynthSplits(train=train, dev=dev, test=test)


def _unseen(make: Callable[[int], Example], start: int, seen: set[str]) -> Iterator[Example]:
    """Examples from `start` on with no string in `seen`."""
    for example in map(make, count(start)):
        if example.source not in seen and seen.isdisjoint(example.references):
            yield example


def _distinct(source: _Source, n: int, start: int, seen: set[str]) -> list[Example]:
    """The next `n` examples with no string in `seen`; adds their strings to it."""
    found: list[Example] = []
    for example in islice(_unseen(source.example, start, seen), n):
        found.append(example)
        seen.update((example.source, *example.references))
    return found
