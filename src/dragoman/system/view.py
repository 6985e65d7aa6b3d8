"""A translator with weights, and its operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

from dragoman.candidates import Pool
from dragoman.corpus.tokens import TokenLines
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest
from dragoman.search import ForcedConfig
from dragoman.settings import takes_text
from dragoman.system.candidates import pool_of
from dragoman.system.explain import Explanation, explain
from dragoman.system.force import ForcedExplanation, force
from dragoman.system.text import LineTranslation, parts_of
from dragoman.system.translator import Preset, Translator
from dragoman.text import split_tokens
from dragoman.types import Float64Array, Progress, sentences_of

__all__ = ["SystemView"]

_BATCH = 256


class SystemView:
    """A system over all data, or all but one fold: a translator with weights."""

    def __init__(self, translator: Translator[Any], weights: Weights) -> None:
        self.translator = translator
        self.weights = weights

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name()}{len(self.weights.ids())} weights)"

    def _name(self) -> str:
        """What `repr` says beside the weights."""
        return ""

    @property
    def index(self) -> FeatureIndex:
        return self.translator.index

    @takes_text
    def translate(
        self,
        sentences: Iterable[str],
        *,
        weights: Weights | Float64Array | None = None,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        tokenized: bool | None = None,
        progress: Progress | None = None,
    ) -> Iterator[str]:
        """The best translation of each line, in batches; an empty line stays empty. `progress` may stop a search.

        Lines are raw text if the system was trained on raw text, unless `tokenized` says that they are tokens. A
        sentence of more words than a search takes (`translator.max_words`) is cut into parts that are translated one
        by one.
        """
        text = self.lines(raw=None if tokenized is None else not tokenized)

        def decode(tokens: Iterable[str]) -> Iterator[str]:
            return self.translate_tokens(tokens, weights=weights, preset=preset, n_threads=n_threads, progress=progress)

        if text.is_plain:
            yield from decode(sentences)
            return

        def linked(tokens: str) -> tuple[str, Sequence[tuple[int, int]]]:
            return self.translate_linked(tokens, weights=weights, preset=preset, progress=progress)

        job = LineTranslation(text=text, protect=text.is_raw)
        for batch in _batches(sentences):
            yield from job.translate(batch, decode, linked)

    @takes_text
    def translate_linked(
        self,
        sentence: str,
        *,
        weights: Weights | Float64Array | None = None,
        preset: Preset = Preset.DEFAULT,
        progress: Progress | None = None,
    ) -> tuple[str, list[tuple[int, int]]]:
        """The best translation of a sentence of tokens, and its word links as (source, target) positions."""
        used = self.weights if weights is None else weights
        source, target, links = 0, list[str](), list[tuple[int, int]]()
        for part in parts_of(sentence, self.translator.max_words):
            words = split_tokens(part)
            best = self.translator.forests([part], used, preset=preset, progress=progress)[0].best(used)
            if best is not None and words:
                links += [(source + s, len(target) + t) for s, t in self.translator.alignment(best)]
                target += best.tokens()
            source += len(words)
        return " ".join(target), links

    @takes_text
    def translate_tokens(
        self,
        sentences: Iterable[str],
        *,
        weights: Weights | Float64Array | None = None,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> Iterator[str]:
        """The best translation of each sentence of tokens, as tokens."""
        used = self.weights if weights is None else weights
        for batch in _batches(sentences):
            parts = [parts_of(sentence, self.translator.max_words) for sentence in batch]
            best, vocab = self.translator.kbest(
                [*chain.from_iterable(parts)],
                used,
                1,
                grow=False,
                preset=preset,
                n_threads=n_threads,
                progress=progress,
            )
            found = (vocab.decode(best.tokens_of(c)) if c < end else "" for c, end in pairwise(best.sentences.tolist()))
            for of_one in parts:
                yield " ".join(filter(None, islice(found, len(of_one))))

    def lines(self, *, raw: bool | None = None, languages: str | None = None) -> TokenLines:
        """What stands between lines of text and the tokens of this view."""
        return TokenLines()

    @takes_text
    def decode(
        self, sentence: str, weights: Weights | Float64Array | None = None, *, preset: Preset = Preset.DEFAULT
    ) -> Forest:
        """The search space of one sentence. A float64 array over `index` is read at the time of the call."""
        used = self.weights if weights is None else weights
        return self.translator.forests([sentence], used, preset=preset)[0]

    @takes_text
    def forests(
        self,
        sentences: Iterable[str],
        weights: Weights | Float64Array | None = None,
        *,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
    ) -> Iterator[Forest]:
        """The search spaces of many sentences, in batches."""
        used = self.weights if weights is None else weights
        for batch in _batches(sentences):
            yield from self.translator.forests(batch, used, preset=preset, n_threads=n_threads)

    @takes_text
    def kbest(
        self,
        sentences: Sequence[str],
        k: int,
        *,
        weights: Weights | Float64Array | None = None,
        distinct: bool = False,
        derivations: bool = False,
        round_number: int = 0,
        first_sentence: int = 0,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> Pool:
        """k-best lists as a pool; the first sentence has the id `first_sentence`.

        With `derivations`, the shard says which rules every candidate is made of.
        """
        used = self.weights if weights is None else weights
        best, vocab = self.translator.kbest(
            sentences_of(sentences),
            used,
            k,
            distinct=distinct,
            derivations=derivations,
            preset=preset,
            n_threads=n_threads,
            progress=progress,
        )
        return pool_of(
            best,
            sentences,
            vocab=vocab,
            index=self.translator.index,
            dense=self.translator.dense(),
            round_number=round_number,
            first_sentence=first_sentence,
        )

    @takes_text
    def explain(
        self, sentence: str, *, weights: Weights | None = None, preset: Preset = Preset.DEFAULT
    ) -> Explanation | None:
        """An explanation of the best translation; None for an empty sentence."""
        used = self.weights if weights is None else weights
        return explain(self.translator, sentence, used, preset=preset)

    @takes_text
    def force(
        self,
        source: str,
        target: str,
        *,
        weights: Weights | None = None,
        preset: Preset = Preset.DEFAULT,
        config: ForcedConfig | None = None,
        tokenized: bool | None = None,
    ) -> ForcedExplanation | None:
        """Why a given translation is not the system's own: its best derivation, or the nearest; None without a source.

        Both are raw text if the system was trained on raw text, unless `tokenized` says that they are tokens; a line of
        several sentences is one. `preset` is the effort for the system's own translation, `config` that for the given.
        """
        text = self.lines(raw=None if tokenized is None else not tokenized)
        source, target = text.prepare(source), text.prepare_target(target)
        return self.force_tokens(source, target, weights=weights, preset=preset, config=config)

    @takes_text
    def force_tokens(
        self,
        source: str,
        target: str,
        *,
        weights: Weights | None = None,
        preset: Preset = Preset.DEFAULT,
        config: ForcedConfig | None = None,
    ) -> ForcedExplanation | None:
        """The same of tokens."""
        used = self.weights if weights is None else weights
        return force(self.translator, source, target, used, preset=preset, config=config)


def _batches(sentences: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(sentences_of(sentences))
    while batch := list(islice(iterator, _BATCH)):
        yield batch
