"""The phrase-based engine."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.features import FeatureIndex, Weights, parse_templates
from dragoman.forest import Derivation, Forest, KBest
from dragoman.grammar import Grammar, ReorderingKind
from dragoman.grammar import Reordering as ReorderingModel
from dragoman.lm import LanguageModel
from dragoman.search import PhraseConfig, PhraseDecoder, PhraseFeatures, PhraseOptionBuilder, Reordering
from dragoman.system.engine import Preset, live_values
from dragoman.system.settings import SystemSettings
from dragoman.types import Float64Array, Int64Array, Progress

__all__ = ["PhraseEngine", "phrase_features", "start_weights"]


_CONFIGS = {
    Preset.FAST: PhraseConfig.fast,
    Preset.DEFAULT: PhraseConfig,
    Preset.ACCURATE: PhraseConfig.accurate,
}


class PhraseEngine:
    """Options from a view of the grammar, then stack decoding.

    `word_counts` (by id) of the training text say which words are frequent to templates.
    """

    def __init__(
        self,
        grammar: Grammar,
        lm: LanguageModel,
        settings: SystemSettings,
        index: FeatureIndex,
        *,
        fold: int | None = None,
        word_counts: tuple[Int64Array, Int64Array] | None = None,
    ) -> None:
        self.index = index
        self.vocab = grammar.target_vocab
        self._view = grammar.view(settings.view_config(fold))
        self._features = phrase_features(settings.reordering)
        source_counts, target_counts = (None, None) if word_counts is None else word_counts
        self._builder = PhraseOptionBuilder(
            self._view,
            index,
            templates=parse_templates(settings.features),
            source_counts=source_counts,
            target_counts=target_counts,
        )
        self._lm = lm
        self._distortion_limit = settings.distortion_limit
        self._decoders: dict[Preset, PhraseDecoder] = {}
        for name in self._features.names():
            index.intern(name)

    def dense(self) -> tuple[str, ...]:
        """Names of the dense features."""
        return self._features.names()

    def forests(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        *,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence of tokens."""
        options, own_words = self._builder.build(sentences, n_threads=n_threads)
        values = live_values(weights, self.index)  # after the options, which may name new features
        return self._decoder(preset).decode(
            options, values, own_words=own_words, n_threads=n_threads, progress=progress
        )

    def kbest(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        grow: bool = True,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[KBest, tuple[str, ...]]:
        """The k best candidates of each, and the words that ids beyond the vocabulary stand for."""
        options, own_words = self._builder.build(sentences, grow=grow, n_threads=n_threads)
        values = live_values(weights, self.index)
        best = self._decoder(preset).kbest(
            options, values, k, distinct=distinct, n_threads=n_threads, progress=progress
        )
        return best, own_words

    def _decoder(self, preset: Preset) -> PhraseDecoder:
        if preset not in self._decoders:
            config = _CONFIGS[preset](distortion_limit=self._distortion_limit)
            self._decoders[preset] = PhraseDecoder(config, self.vocab, self.index, features=self._features, lm=self._lm)
        return self._decoders[preset]

    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word links: those of the phrase pairs, moved to where the phrases stand; a word passed through is its own."""
        links = []
        for application, positions in zip(derivation.applications, derivation.target_positions(), strict=True):
            begin, end = application.source
            pair = self._view.pair(application.rule) if application.rule >= 0 else None
            if pair is not None:
                links += [(begin + s, positions[t]) for s, t in pair.alignment]
            elif end - begin == 1 and len(positions) == 1:
                links.append((begin, positions[0]))
        return sorted(links)


def phrase_features(reordering: Sequence[ReorderingModel]) -> PhraseFeatures:
    """The dense features of a system with these reordering models; `hrm` names a hierarchical one beside another."""
    models = []
    for model in reordering:
        hierarchical = model.kind is ReorderingKind.HIERARCHICAL
        name = "hrm" if hierarchical and len(reordering) > 1 else "reorder"
        models.append(Reordering(name=name, hierarchical=hierarchical, n_orientations=model.n_orientations))
    return PhraseFeatures(reordering=tuple(models))


def start_weights(reordering: Sequence[ReorderingModel]) -> dict[str, float]:
    """Weights to translate with before any tuning, and where tuning starts.

    About those that phrase-based systems are tuned to: the language model counts most, the two directions of the
    phrase probabilities less, words are rewarded against the language model's liking for short output.
    """
    start = {"lm": 0.5, "p_e_f": 0.2, "p_f_e": 0.2, "lex_e_f": 0.2, "lex_f_e": 0.2}
    start |= {"words": 1.0, "phrases": 0.2, "unknown": -5.0, "distortion": 0.1}
    models = phrase_features(reordering).reordering
    share = 0.3 / max(1, len(models))
    return start | {name: share for model in models for name in (*model.backward(), *model.forward())}
