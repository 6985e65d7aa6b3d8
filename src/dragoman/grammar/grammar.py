"""A stored grammar and its extraction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman._core import GrammarTables, extract_phrases, grammar_view, map_grammar
from dragoman.align import Alignment
from dragoman.corpus import Bitext, Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.grammar.config import ExtractConfig, Reordering, ReorderingKind, Smoothing, ViewConfig
from dragoman.grammar.tables import map_arrays, new_folder, read_manifest, verify, write_manifest
from dragoman.grammar.view import View
from dragoman.types import PathLike, Progress

__all__ = ["Grammar", "extract"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A memory-mapped, unpruned table of pairs with counts per fold. Scores are a matter of its views."""

    folder: Path
    source_vocab: Vocab
    target_vocab: Vocab
    tables: GrammarTables
    n_folds: int
    given_reordering: tuple[Reordering, ...] | None
    """Of an imported grammar, whose scores are given: its reordering scores. None: scores come from counts."""
    manifest: dict[str, Any]

    def __len__(self) -> int:
        return self.tables.n_pairs()

    @classmethod
    def load(cls, folder: PathLike) -> Grammar:
        """Map a stored grammar. Sizes are checked before anything is mapped; `verify` also checks the content."""
        base = Path(folder)
        manifest = read_manifest(base)
        given = _given_reordering(manifest, base)
        try:
            tables = map_grammar(map_arrays(base, manifest), manifest["n_given_reordering"])
        except InputError as error:
            raise error.at(error.path or base) from None
        vocabs = [Vocab.load(base / f"{side}.vocab") for side in ("source", "target")]
        return cls(base, vocabs[0], vocabs[1], tables, manifest["n_folds"], given, manifest)

    @staticmethod
    def verify(folder: PathLike) -> None:
        """Compare every file with its checksum; raises InputError at the first that differs."""
        verify(folder)

    def view(self, config: ViewConfig | None = None) -> View:
        """Scores for a decoder. Cheap: nothing is computed before it is looked up (but see ViewConfig.smoothing)."""
        config = config or ViewConfig(reordering=(Reordering(),) if self.given_reordering is None else ())
        if config.excluded_fold is not None and config.excluded_fold >= self.n_folds:
            raise InputError(f"there is no fold {config.excluded_fold}; the grammar has {self.n_folds}")
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
        return View(core, self.tables, config, self.source_vocab, self.target_vocab)


def extract(
    bitext: Bitext,
    alignment: Alignment,
    folder: PathLike,
    config: ExtractConfig | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Extract all consistent phrase pairs into `folder` (which must not exist) and map it.

    `progress` gets the number of sentence pairs read. The result does not depend on the number of threads.
    """
    config = config or ExtractConfig()
    if len(alignment) != len(bitext):
        raise MismatchError(f"the alignment has {len(alignment)} lines for {len(bitext)} sentence pairs")
    with new_folder(folder) as work:
        stats = extract_phrases(
            bitext.source.offsets,
            bitext.source.ids,
            bitext.target.offsets,
            bitext.target.ids,
            bitext.folds,
            alignment.offsets,
            alignment.links,
            n_source_words=len(bitext.source.vocab),
            n_target_words=len(bitext.target.vocab),
            folder=str(work),
            max_length=config.max_length,
            max_sentence_length=config.max_sentence_length,
            max_memory_bytes=config.max_memory_bytes,
            n_threads=config.n_threads,
            progress=(lambda n: progress(min(n, len(bitext)))) if progress else None,
        )
        for name in ("given.scores", "given.reordering"):
            (work / name).touch()
        bitext.source.vocab.save(work / "source.vocab")
        bitext.target.vocab.save(work / "target.vocab")
        content = {
            "n_folds": bitext.n_folds,
            "n_given_reordering": 0,
            "max_length": config.max_length,
            "max_sentence_length": config.max_sentence_length,
            **stats,
        }
        write_manifest(work, content, n_threads=config.n_threads)
    return Grammar.load(folder)


def _given_reordering(manifest: dict[str, Any], base: Path) -> tuple[Reordering, ...] | None:
    if (records := manifest.get("given_reordering")) is None:
        return None
    try:
        given = tuple(Reordering(kind=ReorderingKind(kind), n_orientations=int(n)) for kind, n in records)
    except (TypeError, ValueError, InputError) as error:
        raise InputError("names unknown reordering models; the grammar is damaged", path=base) from error
    if sum(len(model.names()) for model in given) != manifest["n_given_reordering"]:
        raise InputError("the reordering models do not fit; the grammar is damaged", path=base)
    return given


def _with_given(config: ViewConfig, given: tuple[Reordering, ...]) -> ViewConfig:
    if config.excluded_fold is not None or config.smoothing is not Smoothing.NONE:
        raise InputError("an imported grammar has scores and no counts: its views have no folds and no smoothing")
    if config.reordering and config.reordering != given:
        raise InputError(f"the imported grammar has the reordering models {given}; leave the choice empty")
    return replace(config, reordering=given)
