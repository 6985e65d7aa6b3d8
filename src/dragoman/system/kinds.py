"""The kinds of systems. A new one is an entry of `KINDS`: its settings, its extraction, its translator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dragoman.align import Alignment
from dragoman.corpus import Bitext, WordClasses
from dragoman.errors import InputError
from dragoman.features import FeatureIndex
from dragoman.grammar import Grammar
from dragoman.lm import LanguageModel
from dragoman.search import SearchBlocks
from dragoman.system import hiero, hiero_files, moses, phrase
from dragoman.system.foreign import ForeignTables
from dragoman.system.settings import HieroSettings, ModelSettings, PhraseSettings, SystemSettings
from dragoman.system.stages import Monitor
from dragoman.system.translator import Translator
from dragoman.types import Int64Array, PathLike, Progress

if TYPE_CHECKING:
    from dragoman.system.system import System

__all__ = ["KINDS", "Kind", "kind_named"]


class MakeTranslator(Protocol):
    """Opens the translator of a view: all data, or all but a fold."""

    def __call__(
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
    ) -> Translator[Any]:
        """`word_counts` (by id) of the training text say which words are frequent to templates, `word_classes` what
        classes they are in.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What sets one kind of system apart from others. Functions take settings of the type `settings`."""

    settings: type[ModelSettings]
    unit: str
    """What its grammar holds, in the plural."""
    has_rules: bool
    """Whether templates that look at nonterminals apply."""
    extract: Callable[[Bitext, Alignment, PathLike, Any, int, Progress | None, int | None], Grammar]
    """Corpus, alignment, folder of the grammar, settings, number of threads, progress, bytes of memory for occurrences
    (None: as the settings say).
    """
    start_weights: Callable[[Any], dict[str, float]]
    """Weights to translate with before any tuning, and where tuning starts."""
    translator: MakeTranslator
    look_up: Callable[[Grammar, Any, str], Iterator[tuple[str, int, dict[str, float]]]]
    """What all tables say of a source phrase, with the settings: translation, occurrences, scores by name."""
    find_tables: Callable[[Path, Any, frozenset[str]], ForeignTables] | None = None
    """Tables of other toolkits in a folder; with the settings, and which of them were stated. None: cannot import."""
    export: Callable[[System, Path, int | None, Monitor], dict[str, Path]] | None = None
    """Write the tables of a view as other toolkits read them; returns the main files. None: cannot export."""


KINDS: dict[str, Kind] = {
    "phrase": Kind(
        settings=PhraseSettings,
        unit="phrase pairs",
        has_rules=False,
        extract=phrase.extract,
        start_weights=phrase.start_weights,
        translator=phrase.PhraseTranslator,
        look_up=phrase.look_up,
        find_tables=moses.find_tables,
        export=moses.export,
    ),
    "hiero": Kind(
        settings=HieroSettings,
        unit="rules",
        has_rules=True,
        extract=hiero.extract,
        start_weights=hiero.start_weights,
        translator=hiero.HieroTranslator,
        look_up=hiero.look_up,
        find_tables=hiero_files.find_tables,
        export=hiero_files.export,
    ),
}


def kind_named(name: str) -> Kind:
    """Raises InputError with the kinds that exist."""
    if name not in KINDS:
        raise InputError(f"there is no kind of system '{name}'; there are: {', '.join(KINDS)}")
    return KINDS[name]
