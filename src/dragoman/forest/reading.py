"""The search spaces of a file, whoever wrote it: the format is recognised by content."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex
from dragoman.forest.builder import ForestTables
from dragoman.forest.cdec_json import is_cdec, read_cdec
from dragoman.forest.forest import Forest
from dragoman.forest.json_form import forest_from_json
from dragoman.forest.json_values import JsonPairs, parse_json
from dragoman.forest.search_graph import is_search_graph, read_search_graphs
from dragoman.forest.travatar_json import is_travatar, read_travatar
from dragoman.text import read_content
from dragoman.types import PathLike

__all__ = ["ReadForest", "read_file"]

_MAX_BYTES = 1 << 30
"""Of a line, or of a search space; more is no search space that anybody could use."""


@dataclass(frozen=True, slots=True)
class ReadForest:
    """A search space whose vocabulary may still grow, and its sentence's number where the file has one."""

    core: _core.Forest
    labels: tuple[str, ...] = ()
    number: int | None = None

    def on(self, vocab: Vocab, index: FeatureIndex) -> Forest:
        return Forest(self.core, vocab, index, labels=self.labels)


def read_file(path: PathLike, tables: ForestTables) -> Iterator[ReadForest]:
    """The search spaces of a file, of one format."""
    with naming(path):
        lines = _lines(path)
        begin = []
        for number, line in lines:
            begin.append((number, line))
            if line.strip():
                break
        head = begin[-1][1].lstrip() if begin else b""
        everything = chain(begin, lines)
        if head.startswith(b"{"):
            yield from _read_json(begin[-1], lines, tables)
        elif is_search_graph(head[:64].decode("utf-8", "replace").rstrip("\r\n")):
            for number, core in read_search_graphs(_decoded(everything), tables):
                yield ReadForest(core, number=number)
        else:
            data = _joined(line for _, line in everything)
            yield ReadForest(_core.read_hypergraph(data, tables.words.table, tables.index))


def _read_json(
    first: tuple[int, bytes], lines: Iterator[tuple[int, bytes]], tables: ForestTables
) -> Iterator[ReadForest]:
    """A search space on each line, or one over all lines."""
    number, line = first
    try:
        data = parse_json(line)
    except InputError:
        yield _of_json(parse_json(_joined(chain([b"\n" * (number - 1), line], (line for _, line in lines)))), tables)
        return
    yield _of_json(data, tables)
    for number, line in lines:
        if line.strip():
            try:
                found = _of_json(parse_json(line), tables)
            except InputError as error:
                raise InputError(error.message, line=number) from None
            yield found


def _of_json(data: object, tables: ForestTables) -> ReadForest:
    if isinstance(data, JsonPairs):
        if is_cdec(data):
            return ReadForest(read_cdec(data, tables))
        keys = [key for key, _ in data]
        twice = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise InputError(f"not a forest: the key '{twice}' occurs twice")
    if isinstance(data, dict):
        if is_travatar(data):
            return ReadForest(read_travatar(data, tables))
        if is_cdec(data.items()):
            return ReadForest(read_cdec(data.items(), tables))
    forest = forest_from_json(data, tables.index, words=tables.words)
    return ReadForest(forest.core, forest.labels)


def _lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Lines with their line ends, and their numbers; unlike in text there may be long ones."""
    number = 0
    pending: list[bytes] = []
    n_pending = 0
    is_first = True
    for block in read_content(path):
        data = block.removeprefix(codecs.BOM_UTF8) if is_first else block
        is_first = False
        *whole, rest = data.split(b"\n")
        for piece in whole:
            number += 1
            yield number, b"".join([*pending, piece, b"\n"])
            pending, n_pending = [], 0
        pending.append(rest)
        n_pending += len(rest)
        if n_pending > _MAX_BYTES:
            raise InputError(f"a line of more than {_MAX_BYTES >> 20} MiB", line=number + 1)
    if n_pending:
        yield number + 1, b"".join(pending)


def _joined(lines: Iterable[bytes]) -> bytes:
    kept, n_bytes = [], 0
    for line in lines:
        kept.append(line)
        n_bytes += len(line)
        if n_bytes > _MAX_BYTES:
            raise InputError(f"a search space of more than {_MAX_BYTES >> 20} MiB")
    return b"".join(kept)


def _decoded(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise InputError("invalid UTF-8; convert the file to UTF-8", line=number) from None
