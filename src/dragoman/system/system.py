"""A translation system: a folder of tables and weights, and its operations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dragoman.corpus import WordClasses
from dragoman.corpus.tokens import MosesLines, RawLines, TokenLines, WordSplitter, parse_languages, read_text_models
from dragoman.corpus.tokens.pairs import QUOTATION, closes, kind_of
from dragoman.corpus.tokens.scripts import UNSPACED_LANGUAGES, is_unspaced
from dragoman.corpus.tokens.segments import Segmenter
from dragoman.corpus.vocab import N_RESERVED
from dragoman.errors import InputError, naming
from dragoman.features import Block, FeatureIndex, Weights, parse_templates, read_weights
from dragoman.files.store import check_files, checksum, map_array
from dragoman.grammar import Grammar
from dragoman.lm import LanguageModel
from dragoman.search import SearchBlocks
from dragoman.system.folder import CLASSES, COUNTS
from dragoman.system.kinds import kind_named
from dragoman.system.manifest import MANIFEST, TUNE_RECORD, Manifest, read_manifest
from dragoman.system.settings import SystemSettings
from dragoman.system.training import TRAINING, TrainingLines
from dragoman.system.translator import Translator
from dragoman.system.view import SystemView
from dragoman.types import Int64Array, PathLike, Progress
from dragoman.work.engine.folders import Reference, located, refer

if TYPE_CHECKING:
    from dragoman.run.tunings import TuneRecord

__all__ = ["System"]


class System(SystemView):
    """A loaded system, itself the view of all data. Tables are memory-mapped, so that processes share them."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        grammar: Grammar,
        weights: Weights,
        blocks: Sequence[Block] = (),
        rest: bool = True,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.grammar = grammar
        self.blocks = tuple(blocks)
        self.rest = rest
        self.search_blocks = self.blocks_on(weights.index)
        self._lines: dict[tuple[bool | None, str | None], TokenLines] = {}
        super().__init__(self._translator(None, weights.index, self.search_blocks), weights)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, self.reference()

    def _name(self) -> str:
        return f"{os.fspath(self.folder)!r}, {self.settings.kind}, "

    def reference(self) -> tuple[str, str, tuple[str, ...], tuple[Block, ...], bool]:
        """What another process needs to open the same system: folder, identity, sparse features, blocks, the rest."""
        folder, identity = self.folder.resolve(), self.manifest.identity()
        refer(Reference(folder, identity, self.files))
        return str(folder), identity, self.settings.features, self.blocks, self.rest

    def files(self) -> list[Path]:
        """All files of the system, including the parent's."""
        base = self.folder.resolve()
        grammar = (base / self.manifest.files["grammar"].path).parent
        named = [base / record.path for record in self.manifest.files.values()]
        return [base / MANIFEST, *named, *(path for path in grammar.iterdir() if path.is_file())]

    @classmethod
    def load(cls, folder: PathLike) -> System:
        """Map a system. Sizes and headers of all files are checked; `verify` also checks their content."""
        base = Path(folder)
        manifest = read_manifest(base)
        for record in manifest.files.values():
            record.check(base)
        grammar = Grammar.load((base / manifest.files["grammar"].path).parent)
        return cls(base, manifest, grammar, read_weights(base / manifest.files["weights"].path))

    @staticmethod
    def verify(folder: PathLike, *, n_threads: int = 1, progress: Progress | None = None) -> list[Path]:
        """Verify the checksum of every file, including the parent's. Returns the files, or raises InputError.

        `progress` is told the megabytes that are read.
        """
        base = Path(folder)
        manifest = read_manifest(base)
        checks = [(record.n_bytes, partial(record.check, base, whole=True)) for record in manifest.files.values()]
        grammar = (base / manifest.files["grammar"].path).parent
        manifest.files["grammar"].check(base)
        checked = check_files([*checks, *Grammar.checks(grammar)], n_threads=n_threads, progress=progress)
        return sorted({*checked, *(path for path in grammar.iterdir() if path.is_file())})

    @property
    def settings(self) -> SystemSettings:
        return self.manifest.settings

    @property
    def record(self) -> TuneRecord | None:
        """What the tuning that made this system did, round by round; None for a system that was not tuned."""
        from dragoman.run.tunings import RESULT, TuneRecord  # most who load a system do not ask

        path = self.folder / TUNE_RECORD / RESULT
        return TuneRecord.load(path, self.weights) if path.exists() else None

    def file(self, name: str) -> Path:
        if name not in self.manifest.files:
            raise InputError(f"the system has no {name}", path=self.folder)
        return self.folder / self.manifest.files[name].path

    def lm(self, fold: int | None = None) -> LanguageModel:
        """The language model of all data, or of all but a fold."""
        return LanguageModel.load(self.file("lm" if fold is None else f"lm.fold-{fold}"), verify=False)

    @property
    def training(self) -> TrainingLines:
        """The lines that a system with folds was trained on, to learn from. Raises InputError for one without."""
        if self.settings.n_folds == 1 or not self.keeps_text:
            raise InputError("the system has no folds of its training text; train it with `n_folds`", path=self.folder)
        return self.training_text

    @property
    def keeps_text(self) -> bool:
        """Whether the system keeps the text it was trained on, as all do but those of imported tables."""
        return any(name.startswith(f"{TRAINING}/") for name in self.manifest.files)

    @cached_property
    def training_text(self) -> TrainingLines:
        """The lines that the system was trained on. Raises InputError if it does not keep them."""
        if not self.keeps_text:
            raise InputError(
                "the system keeps no training text: its tables were imported, or made by an earlier version",
                path=self.folder,
            )
        for side in ("source", "target"):
            path = self.file(f"{TRAINING}/{side}.vocab")
            if checksum(path) != self.grammar.manifest.files[f"{side}.vocab"].checksum:
                raise InputError("is not the vocabulary of the grammar; the system is damaged", path=path)
        return TrainingLines(
            self.file(f"{TRAINING}/manifest.json").parent, (self.grammar.source_vocab, self.grammar.target_vocab)
        )

    @cached_property
    def classes(self) -> tuple[WordClasses, WordClasses] | None:
        """The classes of source and target words by the ids of the grammar (`train --classes`); None without.

        They were learned from all of the training text; views of folds share them.
        """
        sizes = self.settings.classes
        if not sizes:
            return None
        sides = []
        for name, vocab in zip(CLASSES, (self.grammar.source_vocab, self.grammar.target_vocab), strict=True):
            path = self.file(name)
            table = map_array(path, np.int32, 4 * len(sizes) * len(vocab), "system")
            with naming(path):
                sides.append(WordClasses(sizes, vocab, table.reshape(len(sizes), len(vocab))))
        return sides[0], sides[1]

    def view(self, fold: int | None = None) -> SystemView:
        """The system of all data, or of all data but a fold (`train --folds`); index and weights are shared."""
        if fold is None:
            return self
        self._check_fold(fold)
        return _FoldView(self, fold)

    def view_on(self, index: FeatureIndex, fold: int | None = None) -> SystemView:
        """Such a view over an index that it does not share; the names of dense features come first in an empty one."""
        if fold is not None:
            self._check_fold(fold)
        translator = self._translator(fold, index, self.blocks_on(index))
        return SystemView(translator, self.weights.on(index))

    def _check_fold(self, fold: int) -> None:
        n_folds = self.settings.n_folds
        if not 0 <= fold < n_folds or n_folds == 1:
            has = f"{n_folds} folds" if n_folds > 1 else "no folds; train it with `n_folds`"
            raise InputError(f"there is no fold {fold}; the system has {has}", path=self.folder)

    def with_templates(self, templates: Sequence[str]) -> System:
        """The same system with other sparse features, for tuning. Raises InputError for those of other systems."""
        has_rules = kind_named(self.settings.kind).has_rules
        parse_templates(templates, has_rules=has_rules, has_classes=bool(self.settings.classes))
        settings = replace(self.settings, features=tuple(templates))
        manifest = replace(self.manifest, settings=settings)
        return System(self.folder, manifest, self.grammar, self.weights, self.blocks, self.rest)

    def with_languages(self, languages: str) -> System:
        """The same system, of tokenised text, with languages such as `de-en` for raw text; `save_tuned` keeps them.

        Raises InputError for a system of raw text, whose tables were made with the languages that it names.
        """
        if self.settings.text.raw:
            raise InputError("the system was trained on raw text and has its languages; leave them out")
        settings = replace(self.settings, text=self.settings.text.with_languages(languages))
        manifest = replace(self.manifest, settings=settings)
        return System(self.folder, manifest, self.grammar, self.weights, self.blocks, self.rest)

    def with_blocks(self, blocks: Sequence[Block], rest: bool = True) -> System:
        """The same system with blocks in the place of the sparse features they cover.

        Each is a dense feature of its name in every view, list and forest, with a weight by that name. Sparse features
        that none covers stay; without `rest` they are left out, as if they weighed 0.
        """
        return System(self.folder, self.manifest, self.grammar, self.weights, blocks, rest)

    def blocks_on(self, index: FeatureIndex) -> SearchBlocks | None:
        """The blocks over an index; None if search has all sparse features as they are."""
        return None if self.rest and not self.blocks else SearchBlocks(self.blocks, index, rest=self.rest)

    def blocks_record(self) -> dict[str, Any]:
        """What a record says of the blocks."""
        return {"blocks": {block.name: block.digest() for block in self.blocks}} | (
            {} if self.rest else {"rest": False}
        )

    def lines(self, *, raw: bool | None = None, languages: str | None = None) -> TokenLines:
        """What stands between lines of text and the system's tokens.

        By default they are what the system was trained on; with `raw`, raw text, for which `languages`, such as
        `de-en`, may supply what training did not know. Raises InputError where the languages must be known.
        """
        key = raw, languages
        if key not in self._lines:
            self._lines[key] = self._new_lines(raw, languages)
        return self._lines[key]

    def _new_lines(self, raw: bool | None, languages: str | None) -> TokenLines:
        settings = self.settings.text
        splitter = self._splitter if settings.splits else None
        if not (settings.raw if raw is None else raw):
            return TokenLines(splitter)
        if not settings.raw:
            settings = settings.with_languages(languages)
            unspaced = settings.source_language in UNSPACED_LANGUAGES
            return MosesLines(settings, splitter, self._segmenter() if unspaced else None)
        source, target = read_text_models(self.file("text"))
        if languages is not None:
            codes = parse_languages(languages)
            source, target = replace(source, language=codes[0]), replace(target, language=codes[1])
        return RawLines(source, target, settings, splitter, self._quotes)

    def _segmenter(self) -> Segmenter:
        """Cuts letters of scripts without spaces into words of the training text, if their counts are known."""
        counts, vocab = self.word_counts(), self.grammar.source_vocab
        words = (
            {} if counts is None else {vocab.word(i): n for i, n in enumerate(counts[0].tolist()) if i >= N_RESERVED}
        )
        return Segmenter({word: n for word, n in words.items() if is_unspaced(word)})

    @cached_property
    def _quotes(self) -> tuple[str, str] | tuple[()]:
        """The opening and closing double quotation marks that the target text has most often; none if it has none."""
        counts, vocab = self.word_counts(), self.grammar.target_vocab
        if counts is None:
            return ()
        best: dict[bool, tuple[int, str]] = {}
        for i in range(N_RESERVED, len(vocab)):
            word = vocab.word(i)
            if kind_of(word) == QUOTATION and (ends := closes(word)) is not None:
                best[ends] = max(best.get(ends, (0, "")), (int(counts[1][i]), word))
        return (best[False][1], best[True][1]) if len(best) == 2 else ()

    @cached_property
    def _splitter(self) -> WordSplitter | None:
        """For source words that the tables cannot translate by themselves; None without counts of words."""
        counts = self.word_counts()
        if counts is None:
            return None
        vocab, tables = self.grammar.source_vocab, self.grammar.tables
        return WordSplitter(
            {
                vocab.word(i): n
                for i, n in enumerate(counts[0].tolist())
                if i >= N_RESERVED and tables.find_source(np.array([i], np.int32)) >= 0
            }
        )

    def _translator(self, fold: int | None, index: FeatureIndex, blocks: SearchBlocks | None) -> Translator[Any]:
        make = kind_named(self.settings.kind).translator
        counts = self.word_counts()
        return make(
            self.grammar,
            self.lm(fold),
            self.settings,
            index,
            fold=fold,
            word_counts=counts,
            word_classes=self.classes,
            blocks=blocks,
        )

    def word_counts(self) -> tuple[Int64Array, Int64Array] | None:
        """How often the training text has each source and target word, by id; None if the system does not say."""
        if not self.manifest.files.keys() >= COUNTS.keys():
            return None
        counts = []
        for name, vocab in zip(COUNTS, (self.grammar.source_vocab, self.grammar.target_vocab), strict=True):
            found = np.fromfile(self.file(name), dtype="<i8")
            if len(found) != len(vocab) or found.min(initial=0) < 0:
                raise InputError("does not fit the vocabulary; the system is damaged", path=self.file(name))
            counts.append(found.astype(np.int64))
        return counts[0], counts[1]


class _FoldView(SystemView):
    """The view of all data except one fold."""

    def __init__(self, system: System, fold: int) -> None:
        self._system = system
        self._fold = fold
        super().__init__(system._translator(fold, system.index, system.search_blocks), system.weights)

    def _name(self) -> str:
        return f"{self._system._name()}without fold {self._fold}, "

    def lines(self, *, raw: bool | None = None, languages: str | None = None) -> TokenLines:
        return self._system.lines(raw=raw, languages=languages)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (*self._system.reference(), self._fold)


def _reopened(
    folder: str,
    identity: str,
    templates: tuple[str, ...],
    blocks: tuple[Block, ...],
    rest: bool,
    fold: int | None = None,
) -> SystemView:
    """The system that another process refers to. Raises InputError if it is not the same here."""
    system = System.load(located(folder))
    if system.manifest.identity() != identity:
        raise InputError("has changed since another process referred to it; let it load the system anew", path=folder)
    if system.settings.features != templates:
        system = system.with_templates(templates)
    return (system if rest and not blocks else system.with_blocks(blocks, rest)).view(fold)
