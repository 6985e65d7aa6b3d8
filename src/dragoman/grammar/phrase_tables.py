"""Moses' phrase and reordering tables: read as a grammar with given scores, written from a view."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dragoman._core import MosesTable, format_moses, map_grammar
from dragoman.corpus import VocabBuilder
from dragoman.errors import InputError, naming
from dragoman.grammar.config import PhraseExtraction, Reordering, ReorderingKind
from dragoman.grammar.grammar import Grammar
from dragoman.grammar.phrase_view import PhraseView
from dragoman.grammar.tables import map_unfinished, write_manifest
from dragoman.store import new_folder
from dragoman.text import open_output, read_blocks, replace_bytes
from dragoman.types import PathLike, Progress

__all__ = ["read_tables", "write_tables"]

_SOURCES_PER_WRITE = 1 << 14
_GIVEN = ("given.scores", "given.reordering")


def read_tables(
    phrases: PathLike,
    folder: PathLike,
    *,
    reordering: PathLike | None = None,
    reordering_kind: ReorderingKind = ReorderingKind.WORD,
    config: PhraseExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Read a phrase table, and a bidirectional reordering table beside it, into `folder` (which must not exist).

    The reordering table has three orientations (mono, swap, other) or four (mono, swap, left, right), backward then
    forward; which kind of model it was is for the decoder to know, and said by `reordering_kind`. Probabilities
    of 0 become e^-100, as Moses has it. Errors name file and line. Of `config`, memory and threads count.
    """
    config = config or PhraseExtraction()
    table, source, target = MosesTable(), VocabBuilder(), VocabBuilder()
    for block in read_blocks(phrases):
        with naming(phrases):
            table.add_phrases(block.data, block.first_line, source.table, target.table)
        if progress:
            progress(len(table))
    given: tuple[Reordering, ...] = ()
    if reordering is not None:
        for block in read_blocks(reordering):
            with naming(reordering):
                table.add_reordering(block.data, block.first_line, source.table, target.table)
        if table.n_reordering() not in {6, 8}:
            raise InputError(
                f"has {table.n_reordering()} scores a pair; expected 6 or 8, for both directions",
                path=reordering,
                line=1,
            )
        given = (Reordering(kind=reordering_kind, n_orientations=table.n_reordering() // 2),)
    with new_folder(folder) as work:
        vocabs = source.freeze(), target.freeze()
        stats = table.write(
            str(work),
            n_source_words=len(vocabs[0]),
            n_target_words=len(vocabs[1]),
            max_memory_bytes=config.max_memory_bytes,
            n_threads=config.n_threads,
        )
        for vocab, side in zip(vocabs, ("source", "target"), strict=True):
            vocab.save(work / f"{side}.vocab")
        content = {
            "kind": "phrases",
            "labels": None,
            "score_names": ["p_e_f", "p_f_e", "lex_e_f", "lex_f_e"],
            "n_folds": 1,
            "n_given_reordering": table.n_reordering(),
            "given_reordering": [[model.kind, model.n_orientations] for model in given],
            **stats,
        }
        _place_scores(table, work, phrases)
        write_manifest(work, content, n_threads=config.n_threads)
    return Grammar.load(folder)


def write_tables(
    view: PhraseView, phrases: PathLike, *, reordering: PathLike | None = None, progress: Progress | None = None
) -> None:
    """Write what a view shows; `progress` gets the number of source phrases done.

    Scores are probabilities in Moses' order. Words that could be read as markup stand in their escaped form, which
    `read_tables` understands. Every reordering model of the view goes into the one reordering table.
    """
    if reordering is not None and not view.reordering:
        raise InputError("the view has no reordering scores to write", path=reordering)
    n_sources = view.tables.n_sources()
    with contextlib.ExitStack() as stack:
        phrase_output = stack.enter_context(open_output(phrases))
        reordering_output = stack.enter_context(open_output(reordering)) if reordering is not None else None
        for begin in range(0, n_sources, _SOURCES_PER_WRITE):
            end = min(n_sources, begin + _SOURCES_PER_WRITE)
            texts = format_moses(view.tables, view.core, view.source_vocab.table, view.target_vocab.table, begin, end)
            for output, text in zip((phrase_output, reordering_output), texts, strict=True):
                if output:
                    output.write_block(text)
            if progress:
                progress(end)


def _place_scores(table: MosesTable, work: Path, phrases: PathLike) -> None:
    for name in _GIVEN:
        (work / name).touch()
    tables = map_grammar(map_unfinished(work), 0, -1, False)
    with naming(phrases):
        arrays = table.place(tables)
    for name, array in zip(_GIVEN, arrays, strict=True):
        replace_bytes(work / name, array.tobytes())
