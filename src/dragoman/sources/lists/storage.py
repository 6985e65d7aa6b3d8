"""Shards of lists on disk: a file of arrays each.

The header names the dense features too. Matrices are stored by columns, offsets as lengths: a few dozen bytes a
candidate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError, naming
from dragoman.files.arrays import ArrayFile, ArrayFormat
from dragoman.forest import Derivations
from dragoman.sources.lists.shard import ListShard
from dragoman.types import PathLike, offsets_of

__all__ = ["map_shard", "write_shard"]

_FORMAT = ArrayFormat("dragoman-lists-shard", 1, "shard of lists", "make the lists again")


def write_shard(path: PathLike, shard: ListShard) -> None:
    """Write a shard; the file appears by rename once all of it is on disk."""
    derivations = shard.derivations
    arrays: dict[str, NDArray[Any]] = {
        "lines": shard.lines,
        "folds": shard.folds,
        "source_lengths": shard.source_lengths,
        "candidates": np.diff(shard.sentences),
        "listed": np.diff(derivations.sentences),
        "rules": derivations.rules,
        "begins": derivations.begins,
        "lengths": derivations.ends - derivations.begins,
        "applied": np.diff(derivations.rows),
        "applications": derivations.applications,
        "totals": shard.totals,
        **{f"dense-{i}": shard.dense[:, i] for i in range(shard.dense.shape[1])},
        **{f"stats-{i}": shard.stats[:, i] for i in range(shard.stats.shape[1])},
    }
    _FORMAT.write(path, arrays, {"dense": list(shard.dense_names), "n_stats": shard.stats.shape[1]})


def map_shard(path: PathLike) -> ListShard:
    """Read a shard. Raises InputError, with the file's name, when it is damaged."""
    path = Path(path)
    with naming(path):
        file = _FORMAT.read(path)
        n_stats, names = file.header.get("n_stats"), file.header.get("dense")
        if not (
            type(n_stats) is int
            and n_stats >= 0
            and isinstance(names, list)
            and all(type(name) is str for name in names)
        ):
            raise InputError(f"has a header with other fields than expected; the {_FORMAT.what} is damaged")
        try:
            return _shard(file)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"its arrays do not fit together; the {_FORMAT.what} is damaged") from error


def _shard(file: ArrayFile) -> ListShard:
    header, array = file.header, file.array

    def matrix(name: str, n_columns: int, dtype: type[np.generic]) -> NDArray[Any]:
        columns = [array(f"{name}-{i}", dtype) for i in range(n_columns)]
        return np.stack(columns, axis=1) if columns else np.zeros((len(totals), 0), dtype)

    totals = array("totals", np.float64)
    begins = array("begins", np.int32)
    derivations = Derivations(
        offsets_of(array("listed", np.int64)),
        array("rules", np.int64),
        begins,
        begins + array("lengths", np.int32),
        offsets_of(array("applied", np.int64)),
        array("applications", np.int32),
    )
    n_listed, n_applied = int(derivations.sentences[-1]), int(derivations.rows[-1])
    if not len(derivations.rules) == len(begins) == n_listed or len(derivations.applications) != n_applied:
        raise ValueError("derivations")
    dense, stats = matrix("dense", len(header["dense"]), np.float32), matrix("stats", header["n_stats"], np.float64)
    if not (np.isfinite(dense).all() and np.isfinite(stats).all()):
        raise ValueError("numbers that are not finite")
    return ListShard(
        lines=array("lines", np.int32),
        folds=array("folds", np.int16),
        source_lengths=array("source_lengths", np.int32),
        sentences=offsets_of(array("candidates", np.int64)),
        derivations=derivations,
        dense_names=tuple(header["dense"]),
        dense=dense,
        stats=stats,
        totals=totals,
    )
