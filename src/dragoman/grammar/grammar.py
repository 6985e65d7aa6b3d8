"""A stored grammar and its extraction."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman import _core
from dragoman._core import GrammarTables, grammar_view, hiero_view
from dragoman.align import Alignment
from dragoman.corpus import Bitext, Side, Vocab
from dragoman.errors import InputError, MismatchError, naming
from dragoman.files.store import Manifest, new_folder
from dragoman.grammar.config import (
    PhraseExtraction,
    PhraseSmoothing,
    PhraseViewConfig,
    Reordering,
    ReorderingKind,
    RuleCut,
    RuleExtraction,
    RuleViewConfig,
)
from dragoman.grammar.phrase_view import PhraseView
from dragoman.grammar.rule_view import RULE_SCORES, RuleView
from dragoman.grammar.tables import FORMAT, map_tables, read_manifest, write_manifest
from dragoman.types import Int64Array, PathLike, Progress

__all__ = ["Grammar", "extract_phrases", "extract_rules"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A memory-mapped, unpruned table of pairs or rules with counts per fold. Views compute scores."""

    folder: Path
    source_vocab: Vocab
    target_vocab: Vocab
    tables: GrammarTables
    n_folds: int
    given_reordering: tuple[Reordering, ...] | None
    """The reordering models of an imported grammar with given scores. None: scores are computed from counts."""
    manifest: Manifest

    def __repr__(self) -> str:
        return f"Grammar({len(self)} {'rules' if self.is_rules else 'phrase pairs'} in {os.fspath(self.folder)!r})"

    def __len__(self) -> int:
        return self.tables.n_pairs()

    @classmethod
    def load(cls, folder: PathLike) -> Grammar:
        """Map a stored grammar. Sizes are checked before anything is mapped; `verify` also checks the content."""
        manifest = read_manifest(folder)
        content, base = manifest.content, manifest.base
        given = _given_reordering(content, base)
        with naming(base):
            tables = map_tables(manifest)
        vocabs = [Vocab.load(base / f"{side}.vocab") for side in ("source", "target")]
        return cls(base, vocabs[0], vocabs[1], tables, content["n_folds"], given, manifest)

    @property
    def is_rules(self) -> bool:
        """Whether it has rules (see `rule_view`); otherwise phrase pairs (see `view`)."""
        return bool(self.manifest.content["kind"] == "rules")

    @property
    def has_added(self) -> bool:
        """Whether it was extracted with `added`, so that views can show the added rules."""
        return bool(self.manifest.content.get("added", False))

    def beyond_limits(self) -> dict[str, int]:
        """Numbers of added rules, of those that were too long to be stored, and of sentence pairs that were left out
        because of too many words in such rules; empty if the extraction was asked for neither.
        """
        content = self.manifest.content
        names = ["n_added", "n_added_too_long"] if self.has_added else []
        names += ["n_left_out"] if content.get("max_added", 1.0) < 1 else []
        return {name: int(content[name]) for name in names}

    def notes(self) -> list[str]:
        """The same for people."""
        share = self.manifest.content.get("max_added")
        texts = {
            "n_added": "{:,} of them added, from minimal trees",
            "n_added_too_long": "{:,} occurrences of added rules have more than 255 symbols and are not stored",
            "n_left_out": "{:,} sentence pairs left out, whose share of source words in rules of the minimal tree that"
            f" the limits do not allow is above max_added={share}",
        }
        return [texts[name].format(n) for name, n in self.beyond_limits().items() if n or name != "n_added_too_long"]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the nonterminal labels; empty for phrase pairs."""
        return tuple(self.manifest.content["labels"] or ())

    @staticmethod
    def verify(folder: PathLike) -> None:
        """Verify the checksum of every file. Raises InputError for the first mismatch."""
        FORMAT.read(folder).check_all()

    @staticmethod
    def checks(folder: PathLike) -> list[tuple[int, Callable[[], Path]]]:
        """Those of `verify`, for `check_files`."""
        return FORMAT.read(folder).checks()

    def view(self, config: PhraseViewConfig | None = None) -> PhraseView:
        """A scored view for a decoder. Cheap: scores are computed on lookup (except with `smoothing`)."""
        if self.is_rules:
            raise InputError("has rules, not phrase pairs; ask for a view of rules", path=self.folder)
        config = config or PhraseViewConfig(reordering=(Reordering(),) if self.given_reordering is None else ())
        self._check_fold(config.excluded_fold)
        if self.given_reordering is not None:
            config = _with_given(config, self.given_reordering)
        core = grammar_view(
            self.tables,
            excluded_fold=-1 if config.excluded_fold is None else config.excluded_fold,
            max_targets=config.max_targets,
            min_count=config.min_count,
            smoothing=config.smoothing.native(),
            reordering=[] if self.given_reordering is not None else [r.native() for r in config.reordering],
            reordering_smoothing=config.reordering_smoothing,
            n_threads=config.n_threads,
        )
        return PhraseView(core, self.tables, config, self.source_vocab, self.target_vocab)

    def rule_view(self, config: RuleViewConfig | None = None) -> RuleView:
        """A scored view of rules for a decoder. Cheap: scores are computed on lookup."""
        if not self.is_rules:
            raise InputError("has phrase pairs, not rules; ask for a view of phrase pairs", path=self.folder)
        config = config or RuleViewConfig()
        self._check_fold(config.excluded_fold)
        given = self.manifest.content["score_names"]
        if given is not None and config.excluded_fold is not None:
            raise InputError("an imported grammar has scores and no counts: its views have no folds")
        least = self.manifest.content["min_count"]
        if config.min_count is not None and config.min_count < least:
            raise InputError(f"rules that occur less than {least} times were left out of the grammar")
        if config.added and not self.has_added:
            raise InputError("has no added rules; extract it with added=true", path=self.folder)
        names = RULE_SCORES if given is None else tuple(given)
        core = hiero_view(
            self.tables,
            excluded_fold=-1 if config.excluded_fold is None else config.excluded_fold,
            max_targets=config.max_targets,
            min_count=config.min_count or least,
            rank_column=names.index("p_e_f") if "p_e_f" in names else -1,
            added=config.added,
        )
        return RuleView(core, self.tables, config, self.source_vocab, self.target_vocab, self.labels, names)

    def minimal_rules(self, source: Side, target: Side, alignment: Alignment, *, n_threads: int = 1) -> Int64Array:
        """Ids of the rules of all nodes of the minimal trees of aligned sentence pairs, in the order of
        `align.minimal_trees`; -1 where the grammar has no such rule.

        The sides are encoded with the grammar's vocabularies. Every node of a pair that was extracted has its rule in a
        grammar with `added` whose cut, if any, is of composed rules, unless it has more than 255 symbols on a side.
        """
        if not self.is_rules:
            raise InputError("has phrase pairs, not rules", path=self.folder)
        if not len(source) == len(target) == len(alignment):
            raise MismatchError(
                f"{len(alignment)} pairs have links, but there are {len(source)} source and {len(target)} target"
                " sentences"
            )
        return _core.minimal_rules(
            self.tables,
            source.offsets,
            source.ids,
            target.offsets,
            target.ids,
            alignment.offsets,
            alignment.links,
            n_threads=n_threads,
        )

    def _check_fold(self, fold: int | None) -> None:
        if fold is not None and fold >= self.n_folds:
            raise InputError(f"there is no fold {fold}; the grammar has {self.n_folds}")


def extract_phrases(
    bitext: Bitext,
    alignment: Alignment,
    folder: PathLike,
    config: PhraseExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Extract all consistent phrase pairs into `folder` (which must not exist) and map it.

    `progress` gets the number of sentence pairs read. The result does not depend on the number of threads.
    """
    config = config or PhraseExtraction()
    limits: dict[str, Any] = {"max_length": config.max_length, "max_sentence_length": config.max_sentence_length}
    with _extraction(bitext, alignment, folder) as (work, text):
        stats = _core.extract_phrases(
            **text,
            **limits,
            max_memory_bytes=config.max_memory_bytes,
            n_threads=config.n_threads,
            progress=(lambda n: progress(min(n, len(bitext)))) if progress else None,
        )
        content = {"kind": "phrases", "labels": None, **limits, **stats}
        _finish(work, bitext, content, config.n_threads)
    return Grammar.load(folder)


def extract_rules(
    bitext: Bitext,
    alignment: Alignment,
    folder: PathLike,
    config: RuleExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Extract hierarchical rules (Chiang 2007) into `folder` (which must not exist) and map it.

    `progress` gets the number of sentence pairs read; where rules of one occurrence are left out they are read three
    times. The result does not depend on the number of threads.
    """
    config = config or RuleExtraction()
    min_count = config.least_count(len(bitext))
    n_readings = 1 if min_count == 1 else 3
    limits: dict[str, Any] = {
        "max_length": config.max_length,
        "tight": config.is_tight(len(bitext)),
        "max_symbols": config.max_symbols,
        "adjacent": config.adjacent,
        "aligned": config.aligned,
        "min_source_gap": config.min_source_gap,
        "min_target_gap": config.min_target_gap,
        "fractional": config.fractional,
        "min_count": min_count,
        "max_sentence_length": config.max_sentence_length,
    }
    with _extraction(bitext, alignment, folder) as (work, text):
        stats = _core.extract_rules(
            **text,
            **limits,
            max_gaps=config.max_nonterminals,
            cut_composed=config.cut is RuleCut.COMPOSED,
            added=config.added,
            max_added=config.max_added,
            max_memory_bytes=config.max_memory_bytes,
            n_threads=config.n_threads,
            progress=(lambda n: progress(min(n // n_readings, len(bitext)))) if progress else None,
        )
        content = {
            "kind": "rules",
            "labels": ["X"],
            "max_nonterminals": config.max_nonterminals,
            "cut": config.cut,
            "added": config.added,
            "max_added": float(config.max_added),
            **limits,
            **stats,
        }
        _finish(work, bitext, content, config.n_threads)
    return Grammar.load(folder)


@contextlib.contextmanager
def _extraction(bitext: Bitext, alignment: Alignment, folder: PathLike) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder to write to, and the arguments that all extractions share."""
    if len(alignment) != len(bitext):
        raise MismatchError(f"the alignment has {len(alignment)} lines for {len(bitext)} sentence pairs")
    with new_folder(folder) as work:
        yield (
            work,
            {
                "source_offsets": bitext.source.offsets,
                "source_ids": bitext.source.ids,
                "target_offsets": bitext.target.offsets,
                "target_ids": bitext.target.ids,
                "folds": bitext.folds,
                "link_offsets": alignment.offsets,
                "links": alignment.links,
                "n_source_words": len(bitext.source.vocab),
                "n_target_words": len(bitext.target.vocab),
                "folder": str(work),
            },
        )


def _finish(work: Path, bitext: Bitext, content: dict[str, Any], n_threads: int) -> None:
    for name in ("given.scores", "given.reordering"):
        (work / name).touch()
    bitext.source.vocab.save(work / "source.vocab")
    bitext.target.vocab.save(work / "target.vocab")
    record = {"n_folds": bitext.n_folds, "n_given_reordering": 0, "score_names": None, **content}
    write_manifest(work, record, n_threads=n_threads)


def _given_reordering(manifest: Mapping[str, Any], base: Path) -> tuple[Reordering, ...] | None:
    if (records := manifest.get("given_reordering")) is None:
        return None
    try:
        given = tuple(Reordering(kind=ReorderingKind(kind), n_orientations=int(n)) for kind, n in records)
    except (TypeError, ValueError, InputError) as error:
        raise InputError("names unknown reordering models; the grammar is damaged", path=base) from error
    if sum(len(model.names()) for model in given) != manifest["n_given_reordering"]:
        raise InputError("the reordering models do not fit; the grammar is damaged", path=base)
    return given


def _with_given(config: PhraseViewConfig, given: tuple[Reordering, ...]) -> PhraseViewConfig:
    if config.excluded_fold is not None or config.smoothing is not PhraseSmoothing.NONE:
        raise InputError("an imported grammar has scores and no counts: its views have no folds and no smoothing")
    if config.reordering and config.reordering != given:
        raise InputError(f"the imported grammar has the reordering models {given}; leave the choice empty")
    return replace(config, reordering=given)
