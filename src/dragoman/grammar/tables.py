"""The files of a grammar: arrays, vocabularies and a manifest in an atomically created folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman._core import GrammarTables, map_grammar
from dragoman.files.store import Format, Manifest, map_array
from dragoman.grammar.config import RuleCut
from dragoman.types import MAX_INT32, PathLike

__all__ = ["ARRAYS", "FORMAT", "map_tables", "map_unfinished", "read_manifest", "write_manifest"]

FORMAT = Format("dragoman-grammar", 3, "grammar")
_VOCABS = ("source.vocab", "target.vocab")
_COUNTS = ("n_folds", "n_pairs", "n_given_reordering")
KINDS = ("phrases", "rules")

ARRAYS: dict[str, type[np.generic]] = {
    "sources.offsets": np.int64,
    "sources.symbols": np.int32,
    "sources.pairs": np.int64,
    "targets.offsets": np.int64,
    "targets.symbols": np.int32,
    "pairs.target": np.int32,
    "pairs.events": np.int64,
    "events": np.uint64,
    "events.mass": np.uint64,
    "source_counts.offsets": np.int64,
    "source_counts.values": np.uint64,
    "target_counts.offsets": np.int64,
    "target_counts.values": np.uint64,
    "alignments.offsets": np.int64,
    "alignments.links": np.uint8,
    "trie.symbols": np.int32,
    "trie.children": np.int64,
    "trie.source": np.int32,
    "word_pairs.rows": np.int64,
    "word_pairs.keys": np.uint64,
    "word_pairs.offsets": np.int64,
    "word_pairs.values": np.uint64,
    "source_words.offsets": np.int64,
    "source_words.values": np.uint64,
    "target_words.offsets": np.int64,
    "target_words.values": np.uint64,
    "given.scores": np.float32,
    "given.reordering": np.float32,
}


def write_manifest(work: Path, content: dict[str, Any], *, n_threads: int = 1) -> None:
    """Record the sizes and checksums of all files, and the grammar's own fields."""
    FORMAT.write(work, [*ARRAYS, *_VOCABS], content, n_threads=n_threads)


def read_manifest(folder: PathLike) -> Manifest:
    """The manifest, its own fields checked."""
    manifest = FORMAT.read(folder)
    content = manifest.content
    manifest.counts(*_COUNTS)
    if content.get("kind") not in KINDS or not all(_is_names(content.get(name)) for name in ("labels", "score_names")):
        raise manifest.damaged("lacks its kind or the names of labels and scores")
    least = content.get("min_count")
    if content["kind"] == "rules" and not (content["labels"] and isinstance(least, int) and 1 <= least <= MAX_INT32):
        raise manifest.damaged("lacks the labels or the least count of its rules")
    added, share = content.get("added", False), content.get("max_added", 1.0)
    if not (content.get("cut", RuleCut.ALL) in list(RuleCut) and isinstance(added, bool) and isinstance(share, float)):
        raise manifest.damaged("does not say which rules are cut or added")
    manifest.counts(*(("n_added", "n_added_too_long") if added else ()), *(("n_left_out",) if share < 1 else ()))
    return manifest


def map_tables(manifest: Manifest) -> GrammarTables:
    """The mapped tables. Raises InputError if they are inconsistent."""
    given = manifest.content["score_names"]
    return map_grammar(
        {name: manifest.map_array(name, dtype) for name, dtype in ARRAYS.items()},
        n_given_reordering=manifest.content["n_given_reordering"],
        n_given_scores=-1 if given is None else len(given),
        is_rules=manifest.content["kind"] == "rules",
        min_count=manifest.content["min_count"] if manifest.content["kind"] == "rules" else 1,
        cut_composed=manifest.content.get("cut") == RuleCut.COMPOSED,
        has_added=manifest.content.get("added", False),
    )


def map_unfinished(work: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a grammar that has no manifest yet."""
    return {
        name: map_array(work / name, dtype, (work / name).stat().st_size, FORMAT.what) for name, dtype in ARRAYS.items()
    }


def _is_names(names: object) -> bool:
    return names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names))
