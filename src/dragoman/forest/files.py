"""Search spaces in files: our JSON, which keeps everything, and what other decoders write, recognised by content."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import FeatureIndex
from dragoman.forest.forest import Forest
from dragoman.forest.forest_set import ForestSet
from dragoman.forest.json_form import forest_to_json
from dragoman.text import open_output
from dragoman.types import MAX_INT32, PathLike, Paths, one_or_many

if TYPE_CHECKING:
    from dragoman.forest.reading import ReadForest

__all__ = ["read_forest", "read_forests", "write_forest"]

_ENDINGS = (".gz", ".xz", ".zst", ".bz2")


def read_forest(path: PathLike, *, index: FeatureIndex | None = None) -> Forest:
    """Read the search space of one sentence, in any format of `read_forests`. New feature names go into `index`."""
    from dragoman.forest.builder import ForestTables  # the readers of others' formats are much to import
    from dragoman.forest.reading import read_file

    tables = ForestTables(FeatureIndex() if index is None else index)
    found = list(islice(read_file(path, tables), 2))
    if len(found) != 1:
        raise InputError("holds the search spaces of several sentences; read_forests reads them", path=path)
    return found[0].on(tables.words.freeze(), tables.index)


def read_forests(paths: Paths, *, index: FeatureIndex | None = None) -> ForestSet:
    """Read the search spaces of many sentences, over one vocabulary and one index.

    A path is a folder with a file for each sentence, named by its number from 0 (`7.gz`, `7.json.gz`; files of other
    names are passed over), such a file, or a file of many: Travatar's forests, one a line, or Moses' search graphs,
    which have numbers. What has no number is counted. Raises InputError for a sentence that comes twice.
    """
    paths = one_or_many(paths)
    from dragoman.forest.builder import ForestTables
    from dragoman.forest.reading import read_file

    tables = ForestTables(FeatureIndex() if index is None else index)
    found: dict[int, ReadForest] = {}
    where: dict[int, str] = {}
    n_counted = 0
    for path in chain.from_iterable(map(_files, paths)):
        parts = read_file(path, tables)
        begin = list(islice(parts, 2))
        alone = _number_in_name(path) if len(begin) == 1 else None
        for part in chain(begin, parts):
            number = alone if part.number is None else part.number
            if number is None:
                number, n_counted = n_counted, n_counted + 1
            if number in found:
                raise InputError(f"has sentence {number}, as has {where[number]}", path=path)
            found[number], where[number] = part, os.fspath(path)
    vocab = tables.words.freeze()
    return ForestSet(
        ids=tuple(sorted(found)),
        forests=tuple(found[number].on(vocab, tables.index) for number in sorted(found)),
        vocab=vocab,
        index=tables.index,
    )


def write_forest(forest: Forest, path: PathLike) -> None:
    """Write a search space: JSON when the file's name ends so (before .gz, .xz, .zst), else hypergraph text."""
    if _plain_name(path).endswith(".json"):
        text = json.dumps(forest_to_json(forest), ensure_ascii=False, separators=(",", ":"))
    else:
        own = [_core.escape_word(word.encode("utf-8")) for word in forest.vocab.beyond]
        data = _core.write_hypergraph(forest.core, forest.vocab.table, own, forest.index)
        text = data.decode("utf-8").removesuffix("\n")
    with open_output(path) as output:
        output.write(text)


def _files(path: PathLike) -> Iterable[PathLike]:
    """The file, or the files of a folder whose names are numbers, by number."""
    if not Path(path).is_dir():
        return [path]
    numbered = [(number, file) for file in Path(path).iterdir() if (number := _number_in_name(file)) is not None]
    if not numbered:
        raise InputError("has no file of a search space, such as 0.gz or 0.json.gz", path=path)
    return [file for _, file in sorted(numbered)]


def _number_in_name(path: PathLike) -> int | None:
    """The number of the sentence in a name such as 7.json.gz."""
    stem = Path(_plain_name(path)).name.partition(".")[0]
    return int(stem) if stem.isascii() and stem.isdigit() and len(stem) < 11 and int(stem) < MAX_INT32 else None


def _plain_name(path: PathLike) -> str:
    name = os.fspath(path)
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name
