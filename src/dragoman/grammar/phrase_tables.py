"""Moses' phrase and reordering tables: read as a grammar with given scores, written from a view."""

from __future__ import annotations

import contextlib

from dragoman._core import MosesTable, format_moses
from dragoman.errors import InputError
from dragoman.grammar.config import PhraseExtraction, Reordering, ReorderingKind
from dragoman.grammar.grammar import Grammar
from dragoman.grammar.phrase_view import PhraseView
from dragoman.grammar.text_tables import TextTable, source_ranges
from dragoman.settings import takes_text
from dragoman.text import open_output
from dragoman.types import PathLike, Progress

__all__ = ["read_tables", "write_tables"]


@takes_text
def read_tables(
    phrases: PathLike,
    folder: PathLike,
    *,
    reordering: PathLike | None = None,
    reordering_kind: ReorderingKind = ReorderingKind.WORD,
    config: PhraseExtraction | None = None,
    progress: Progress | None = None,
) -> Grammar:
    """Read a phrase table, and optionally a bidirectional reordering table, into `folder` (which must not exist).

    The reordering table has three orientations (mono, swap, other) or four (mono, swap, left, right), backward then
    forward; which kind of model it was is for the decoder to know, and said by `reordering_kind`. Probabilities
    of 0 become e^-100, as Moses has it. Errors name file and line. Of `config`, memory and threads count.
    """
    native = MosesTable()
    table = TextTable(native)
    table.add(phrases, native.add_phrases, progress)
    given: tuple[Reordering, ...] = ()
    if reordering is not None:
        table.add(reordering, native.add_reordering)
        if native.n_reordering() not in {6, 8}:
            raise InputError(
                f"has {native.n_reordering()} scores a pair; expected 6 or 8, for both directions",
                path=reordering,
                line=1,
            )
        given = (Reordering(kind=reordering_kind, n_orientations=native.n_reordering() // 2),)
    content = {
        "kind": "phrases",
        "labels": None,
        "score_names": ["p_e_f", "p_f_e", "lex_e_f", "lex_f_e"],
        "n_given_reordering": native.n_reordering(),
        "given_reordering": [[model.kind, model.n_orientations] for model in given],
    }
    return table.store(folder, phrases, content, config or PhraseExtraction(), is_rules=False)


def write_tables(
    view: PhraseView, phrases: PathLike, *, reordering: PathLike | None = None, progress: Progress | None = None
) -> None:
    """Write the phrase pairs of a view; `progress` gets the number of source phrases done.

    Scores are probabilities in Moses' order. Words that could be read as markup are escaped, as `read_tables` expects.
    All reordering models of the view go into one reordering table.
    """
    if reordering is not None and not view.reordering:
        raise InputError("the view has no reordering scores to write", path=reordering)
    with contextlib.ExitStack() as stack:
        phrase_output = stack.enter_context(open_output(phrases))
        reordering_output = stack.enter_context(open_output(reordering)) if reordering is not None else None
        for begin, end in source_ranges(view.tables.n_sources(), progress):
            texts = format_moses(view.tables, view.core, view.source_vocab.table, view.target_vocab.table, begin, end)
            for output, text in zip((phrase_output, reordering_output), texts, strict=True):
                if output:
                    output.write_block(text)
