"""The phrase-based translator: options from a grammar, then stack decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dragoman.align import Alignment
from dragoman.corpus import Bitext, WordClasses
from dragoman.features import FeatureIndex, parse_templates
from dragoman.forest import Derivation
from dragoman.grammar import Grammar, PhraseExtraction, extract_phrases
from dragoman.lm import LanguageModel
from dragoman.search import (
    PhraseBatch,
    PhraseConfig,
    PhraseDecoder,
    PhraseFeatures,
    PhraseOptionBuilder,
    PhraseReferenceParser,
    SearchBlocks,
)
from dragoman.settings import takes_text
from dragoman.system.extraction_counts import extraction_shares
from dragoman.system.settings import PhraseSettings, SystemSettings
from dragoman.system.translator import Preset, ShownPair, Translator
from dragoman.types import Float64Array, Int64Array, PathLike, Progress

__all__ = ["PhraseTranslator", "extract", "look_up", "start_weights"]

_SCORES = ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e")
_CONFIGS = {
    Preset.FAST: PhraseConfig.fast,
    Preset.DEFAULT: PhraseConfig,
    Preset.ACCURATE: PhraseConfig.accurate,
}


class PhraseTranslator(Translator[PhraseBatch]):
    """Options from a view of the grammar, then stack decoding.

    `word_counts` (by id) of the training text say which words are frequent to templates, `word_classes` what classes
    they are in.
    """

    in_a_row = True

    def __init__(
        self,
        grammar: Grammar,
        lm: LanguageModel,
        settings: SystemSettings,
        index: FeatureIndex,
        *,
        fold: int | None = None,
        word_counts: tuple[Int64Array, Int64Array] | None = None,
        word_classes: tuple[WordClasses, WordClasses] | None = None,
        blocks: SearchBlocks | None = None,
    ) -> None:
        model = settings.of(PhraseSettings)
        self._grammar = grammar
        self._view = grammar.view(model.view_config(settings.max_targets, fold))
        self._features = PhraseFeatures(reordering=model.reordering)
        self._lm = lm
        self._distortion_limit = model.distortion_limit
        self._options = builder = PhraseOptionBuilder(
            self._view,
            index,
            templates=parse_templates(settings.features),
            word_counts=word_counts,
            word_classes=word_classes,
            blocks=blocks,
        )
        super().__init__(index, grammar.target_vocab, builder, self._features.names(), blocks)

    @property
    def max_words(self) -> int:
        return PhraseConfig().max_words

    @takes_text
    def new_decoder(self, preset: Preset) -> PhraseDecoder:
        config = _CONFIGS[preset](distortion_limit=self._distortion_limit)
        return PhraseDecoder(config, self.vocab, self.index, features=self._features, lm=self._lm)

    def reference_parser(self) -> PhraseReferenceParser:
        return PhraseReferenceParser(self._options, self._features, self.vocab, self.index, lm=self._lm)

    def shown_pair(self, number: int) -> ShownPair | None:
        pair = self._view.pair(number)
        return None if pair is None else ShownPair(source=pair.source, target=pair.target)

    def extraction_shares(self, names: Sequence[str]) -> Float64Array:
        return extraction_shares(names, self._view, self._grammar)

    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word alignment: the links of the phrase pairs at their positions; a copied word is aligned to itself."""
        links = []
        for application, positions in zip(derivation.applications, derivation.target_positions(), strict=True):
            begin, end = application.source
            pair = self._view.pair(application.rule) if application.rule >= 0 else None
            if pair is not None:
                links += [(begin + s, positions[t]) for s, t in pair.alignment]
            elif end - begin == 1 and len(positions) == 1:
                links.append((begin, positions[0]))
        return sorted(links)


def extract(
    bitext: Bitext,
    alignment: Alignment,
    folder: PathLike,
    settings: PhraseSettings,
    n_threads: int,
    progress: Progress | None = None,
    max_memory_bytes: int | None = None,
) -> Grammar:
    """Extract the phrase pairs of a corpus."""
    config = PhraseExtraction(max_length=settings.max_phrase_length, n_threads=n_threads)
    if max_memory_bytes is not None:
        config = replace(config, max_memory_bytes=max_memory_bytes)
    return extract_phrases(bitext, alignment, folder, config, progress)


def start_weights(settings: PhraseSettings) -> dict[str, float]:
    """The default weights of an untuned system, from which tuning starts.

    About those that phrase-based systems are tuned to: the language model counts most, the two directions of the
    phrase probabilities less, words are rewarded against the language model's liking for short output.
    """
    start = {"lm": 0.5, "p_e_f": 0.2, "p_f_e": 0.2, "lex_e_f": 0.2, "lex_f_e": 0.2}
    start |= {"words": 1.0, "phrases": 0.2, "unknown": -5.0, "distortion": 0.1}
    names = PhraseFeatures(reordering=settings.reordering).reordering_names()
    share = 0.3 / max(1, len(names))
    return start | {name: share for model in names for name in model}


def look_up(grammar: Grammar, settings: PhraseSettings, source: str) -> Iterator[tuple[str, int, dict[str, float]]]:
    """The translations of a source phrase in all tables: target, occurrences, scores by name."""
    for option in grammar.view(settings.view_config(0, None)).lookup(source):
        yield option.target, option.count, {name: getattr(option, name) for name in _SCORES}
