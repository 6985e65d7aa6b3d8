"""Shared code of reading and writing phrase and rule tables as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dragoman._core import GrammarTables, MosesTable, RuleTable, WordTable, map_grammar
from dragoman.corpus import VocabBuilder
from dragoman.errors import naming
from dragoman.files.store import new_folder
from dragoman.grammar.config import PhraseExtraction, RuleExtraction
from dragoman.grammar.grammar import Grammar
from dragoman.grammar.tables import map_unfinished, write_manifest
from dragoman.text import read_blocks, replace_bytes
from dragoman.types import PathLike, Progress

__all__ = ["TextTable", "source_ranges"]

_SOURCES_PER_WRITE = 1 << 14
_GIVEN = ("given.scores", "given.reordering")


class TextTable:
    """A table being read: its entries in the core, and their vocabularies."""

    def __init__(self, native: MosesTable | RuleTable) -> None:
        self._native = native
        self._vocabs = VocabBuilder(), VocabBuilder()

    def add(
        self,
        path: PathLike,
        add: Callable[[bytes, int, WordTable, WordTable], None],
        progress: Progress | None = None,
    ) -> None:
        """Read a file block by block; errors name file and line."""
        for block in read_blocks(path):
            with naming(path):
                add(block.data, block.first_line, self._vocabs[0].table, self._vocabs[1].table)
            if progress:
                progress(len(self._native))

    def store(
        self,
        folder: PathLike,
        path: PathLike,
        content: Mapping[str, Any],
        config: PhraseExtraction | RuleExtraction,
        *,
        is_rules: bool,
    ) -> Grammar:
        """Make the grammar's folder, which must not exist; of `config`, memory and threads count."""
        with new_folder(folder) as work:
            source, target = (builder.freeze() for builder in self._vocabs)
            stats = self._native.write(
                str(work),
                n_source_words=len(source),
                n_target_words=len(target),
                max_memory_bytes=config.max_memory_bytes,
                n_threads=config.n_threads,
            )
            source.save(work / "source.vocab")
            target.save(work / "target.vocab")
            for name in _GIVEN:
                (work / name).touch()
            # The number of reordering scores is known only after they are placed.
            tables = map_grammar(map_unfinished(work), 0, 0 if is_rules else -1, is_rules)
            with naming(path):
                given = self._placed(tables)
            for name, data in zip(_GIVEN, given, strict=False):
                replace_bytes(work / name, data)
            write_manifest(work, {"n_folds": 1, **content, **stats}, n_threads=config.n_threads)
        return Grammar.load(folder)

    def _placed(self, tables: GrammarTables) -> list[bytes]:
        """Scores, and those of reordering where there are any, in the order of the stored entries."""
        placed = self._native.place(tables)
        return [array.tobytes() for array in (placed if isinstance(placed, tuple) else (placed,))]


def source_ranges(n_sources: int, progress: Progress | None) -> Iterator[tuple[int, int]]:
    """Ranges of source sides to write together; `progress` gets the number done."""
    for begin in range(0, n_sources, _SOURCES_PER_WRITE):
        end = min(n_sources, begin + _SOURCES_PER_WRITE)
        yield begin, end
        if progress:
            progress(end)
