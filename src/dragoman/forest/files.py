"""Search spaces in files: our JSON, which keeps everything, and the hypergraph text of Moses and kenlm."""

from __future__ import annotations

import json
import os

from dragoman import _core
from dragoman.corpus import VocabBuilder
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex
from dragoman.forest.forest import Forest
from dragoman.forest.json_form import forest_from_json, forest_to_json
from dragoman.text import open_output, read_blocks
from dragoman.types import PathLike

__all__ = ["read_forest", "write_forest"]


def read_forest(path: PathLike, *, index: FeatureIndex | None = None) -> Forest:
    """Read a search space, JSON or hypergraph text by its first character. New feature names go into `index`."""
    data = b"".join(block.data for block in read_blocks(path))
    index = FeatureIndex() if index is None else index
    with naming(path):
        if data.lstrip()[:1] == b"{":
            return forest_from_json(_parsed(data), index)
        builder = VocabBuilder()
        core = _core.read_hypergraph(data, builder.table, index)
        return Forest(core, builder.freeze(), index)


def write_forest(forest: Forest, path: PathLike) -> None:
    """Write a search space: JSON when the file's name ends so (before .gz, .xz, .zst), else hypergraph text."""
    name = os.fspath(path)
    for suffix in (".gz", ".xz", ".zst"):
        name = name.removesuffix(suffix)
    if name.endswith(".json"):
        text = json.dumps(forest_to_json(forest), ensure_ascii=False, separators=(",", ":"))
    else:
        own = [_core.escape_word(word.encode("utf-8")) for word in forest.vocab.beyond]
        data = _core.write_hypergraph(forest.core, forest.vocab.table, own, forest.index)
        text = data.decode("utf-8").removesuffix("\n")
    with open_output(path) as output:
        output.write(text)


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not JSON that holds a forest: {error}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", line=error.lineno) from error
