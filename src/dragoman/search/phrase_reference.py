"""Forests around the reference translations of word-aligned sentence pairs, of phrase pairs."""

from __future__ import annotations

from dragoman.align import Alignment
from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.lm import LanguageModel
from dragoman.search.phrase_builder import PhraseOptionBuilder
from dragoman.search.phrase_config import PhraseConfig, PhraseFeatures
from dragoman.search.phrase_decoder import PhraseDecoder
from dragoman.search.reference import ReferenceConfig, ReferenceForests, checked_pairs
from dragoman.search.sentences import Sentences
from dragoman.types import Float64Array, Int32Array, Int64Array, Progress

__all__ = ["PhraseReferenceParser"]

_OF_BLOCKS = "reorder_stack"


class PhraseReferenceParser:
    """Segments word-aligned pairs into the options that the phrase decoder has, over the same features. Thread-safe.

    All segmentations that agree with the alignment, in the order of the reference, with jumps of any length. A node
    stands for a phrase at its place: its span and target span are those of the phrase. Of an edge compete the other
    options of its span; what is before and after, and so every orientation, stays.
    """

    def __init__(
        self,
        builder: PhraseOptionBuilder,
        features: PhraseFeatures,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        lm: LanguageModel | None = None,
    ) -> None:
        self._builder = builder
        self._index = index
        self._decoder = PhraseDecoder(PhraseConfig(), vocab, index, features=features, lm=lm)

    def parse(
        self,
        sentences: Sentences,
        targets: tuple[Int64Array, Int32Array],
        links: Alignment,
        weights: Weights | Float64Array,
        config: ReferenceConfig | None = None,
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> ReferenceForests:
        """The forests of source sentences with their translations (offsets and target ids) and links.

        The index gets the features on edges. Pairs with more than 1,000 words on a side have no forest. Raises
        InputError for a link outside its sentences, and for what only rules or other templates can do.
        """
        config = config or ReferenceConfig()
        if config.wide or config.tight:
            raise InputError(
                f"{'wide' if config.wide else 'tight'}: forests of phrase pairs have neither other source sides in "
                "place of a phrase nor tight nodes; leave it out or use a hierarchical system"
            )
        if any(template.name == _OF_BLOCKS for template in self._builder.templates):
            raise InputError(
                f"{_OF_BLOCKS} looks at words of the phrases before, so that replacing one would change features of "
                "others; forests around references cannot have it, leave it out"
            )
        rows = self._builder.encoded(sentences)
        pairs = checked_pairs(rows, targets, links)
        arrays = self._decoder.references(
            self._builder.build(rows, n_threads=n_threads),
            live_values(weights, self._index),
            *pairs,
            n_threads=n_threads,
            progress=progress,
            holes=config.holes,
            max_wrong=config.max_wrong,
            prior_weight=config.prior,
            hole_prior=config.hole_prior,
            beam=config.beam,
            wrong_beam=config.wrong_beam,
        )
        return ReferenceForests.of(arrays)
