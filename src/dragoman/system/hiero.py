"""The hierarchical translator: rules from a grammar, then chart decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from dragoman.align import Alignment
from dragoman.corpus import Bitext, WordClasses
from dragoman.features import FeatureIndex, parse_templates
from dragoman.forest import Derivation
from dragoman.grammar import Grammar, RuleKind, extract_rules, is_nonterminal
from dragoman.lm import LanguageModel
from dragoman.search import (
    ChartConfig,
    ChartDecoder,
    ChartFeatures,
    DerivationFeatures,
    ReferenceParser,
    RuleBatch,
    RuleOptionBuilder,
    SearchBlocks,
)
from dragoman.search.reference import COUNT
from dragoman.settings import takes_text
from dragoman.system.extraction_counts import extraction_shares
from dragoman.system.settings import DenseSet, HieroSettings, SystemSettings
from dragoman.system.translator import Preset, ShownPair, Translator
from dragoman.types import Float64Array, Int64Array, PathLike, Progress

__all__ = ["HieroTranslator", "chart_features", "extract", "look_up", "start_weights"]

_CONFIGS = {
    Preset.FAST: ChartConfig.fast,
    Preset.DEFAULT: ChartConfig,
    Preset.ACCURATE: ChartConfig.accurate,
}


class HieroTranslator(Translator[RuleBatch]):
    """Rules from a view of the grammar, then chart decoding.

    `word_counts` (by id) of the training text say which words are frequent to templates. No template of
    rules looks at `word_classes`.
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
        word_classes: tuple[WordClasses, WordClasses] | None = None,
        blocks: SearchBlocks | None = None,
    ) -> None:
        model = settings.of(HieroSettings)
        self._grammar = grammar
        self._view = grammar.rule_view(model.view_config(settings.max_targets, fold))
        self._with_added = (
            grammar.rule_view(model.view_config(settings.max_targets, fold, added=True)) if grammar.has_added else None
        )
        given = grammar.manifest.content["score_names"]
        self._features = chart_features(model.dense, None if given is None else tuple(given))
        self._lm = lm
        self._max_span = model.max_span
        templates = parse_templates(settings.features)
        self._make_templates = partial(
            DerivationFeatures,
            grammar,
            index,
            templates=templates,
            word_counts=word_counts,
            word_classes=word_classes,
            blocks=blocks,
        )
        self._make_builder = partial(
            RuleOptionBuilder,
            index=index,
            templates=templates,
            max_span=model.max_span,
            word_counts=word_counts,
            blocks=blocks,
        )
        builder = self._make_builder(self._view, scores=self._features.scores)
        super().__init__(index, grammar.target_vocab, builder, self._features.names(), blocks)

    @property
    def max_words(self) -> int:
        return ChartConfig().max_words

    @takes_text
    def new_decoder(self, preset: Preset) -> ChartDecoder:
        config = _CONFIGS[preset](max_span=self._max_span)
        return ChartDecoder(config, self.vocab, self.index, features=self._features, lm=self._lm)

    def shown_pair(self, number: int) -> ShownPair | None:
        rule = (self._with_added or self._view).rule(number)
        if rule is None:
            return None
        return ShownPair(source=rule.source, target=rule.target, is_added=rule.kind is RuleKind.ADDED)

    def reference_parser(self) -> ReferenceParser:
        counts = (COUNT,) if COUNT in self._view.score_names else ()
        scores = (*self._features.scores, *counts)
        return ReferenceParser(
            self._make_builder(self._view, scores=scores),
            self._features,
            self.vocab,
            self.index,
            lm=self._lm,
            max_span=self._max_span,
            tight=bool(self._grammar.manifest.content.get("tight", False)),
            minimal=None if self._with_added is None else self._make_builder(self._with_added, scores=scores),
        )

    def extraction_shares(self, names: Sequence[str]) -> Float64Array:
        return extraction_shares(names, self._view, self._grammar)

    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word alignment: the links of the rules at their positions; a copied word is aligned to itself."""
        links = []
        for place, (application, positions) in enumerate(
            zip(derivation.applications, derivation.target_positions(), strict=True)
        ):
            begin, end = application.source
            rule = self._view.rule(application.rule) if application.rule >= 0 else None
            if rule is None:
                if end - begin == 1 and len(positions) == 1 and not application.children:
                    links.append((begin, positions[0]))
                continue
            spans = [derivation.applications[child].source for child in derivation.applications[place].children]
            sources = _word_places(rule.source.split(" "), begin, spans)
            targets = _nth_words(rule.target.split(" "))
            links += [(sources[s], positions[targets[t]]) for s, t in rule.alignment]
        return sorted(links)


def _word_places(symbols: Sequence[str], begin: int, spans: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Source positions of the words of a source side, whose nonterminals cover `spans` in order."""
    places, at, gaps = {}, begin, iter(spans)
    for number, symbol in enumerate(symbols):
        if is_nonterminal(symbol):
            at = next(gaps)[1]
        else:
            places[number] = at
            at += 1
    return places


def _nth_words(symbols: Sequence[str]) -> dict[int, int]:
    """For the position of each word of a side, the number of words before it."""
    words = [number for number, symbol in enumerate(symbols) if not is_nonterminal(symbol)]
    return {number: n for n, number in enumerate(words)}


@takes_text
def chart_features(dense: DenseSet, given: tuple[str, ...] | None = None) -> ChartFeatures:
    """The dense features of a set, or with the score names of an imported grammar."""
    features = ChartFeatures.chiang8() if dense is DenseSet.CHIANG8 else ChartFeatures.full14()
    return features if given is None else replace(features, scores=given)


def extract(
    bitext: Bitext,
    alignment: Alignment,
    folder: PathLike,
    settings: HieroSettings,
    n_threads: int,
    progress: Progress | None = None,
    max_memory_bytes: int | None = None,
) -> Grammar:
    """Extract the rules of a corpus."""
    rules = replace(settings.rules, n_threads=n_threads)
    if max_memory_bytes is not None:
        rules = replace(rules, max_memory_bytes=max_memory_bytes)
    return extract_rules(bitext, alignment, folder, rules, progress)


def start_weights(settings: HieroSettings) -> dict[str, float]:
    """The default weights of an untuned system, from which tuning starts."""
    start = {"lm": 0.5, "p_e_f": 0.2, "p_f_e": 0.2, "lex_e_f": 0.2, "lex_f_e": 0.2, "words": 1.0, "glue": -0.2}
    if settings.dense is DenseSet.CHIANG8:
        return start | {"rules": 0.2}
    more = {"lm_oov": -1.0, "unknown": -5.0, "count_log": 0.0, "singleton": 0.0}
    return start | more | {f"arity_{n}": 0.2 for n in range(3)}


def look_up(grammar: Grammar, settings: HieroSettings, source: str) -> Iterator[tuple[str, int, dict[str, float]]]:
    """The translations of a source side in all tables: target, occurrences, scores by name."""
    view = grammar.rule_view(settings.view_config(0, None))
    for rule in view.lookup(source):
        yield rule.target, rule.count, dict(zip(view.score_names, rule.scores, strict=True))
