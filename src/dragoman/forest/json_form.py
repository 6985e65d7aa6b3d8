"""Lossless JSON format of forests: words and features are indices into lists of names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dragoman.corpus import VocabBuilder
from dragoman.errors import InputError
from dragoman.features import FeatureIndex
from dragoman.forest.arrays import ForestArrays
from dragoman.forest.forest import Forest
from dragoman.types import Float32Array, Int32Array, Int64Array, offsets_of

__all__ = ["forest_from_json", "forest_to_json"]

_Int = TypeVar("_Int", np.int32, np.int64)
_FORMAT = "dragoman forest 1"


def forest_to_json(forest: Forest) -> dict[str, Any]:
    """The complete forest as JSON-serialisable data."""
    a = ForestArrays.of(forest.core)
    words = np.unique(a.symbols[a.symbols >= 0])
    features = np.unique(np.concatenate([a.local_ids, a.feature_ids]))
    symbols = _rows(a.symbol_offsets, np.where(a.symbols < 0, a.symbols, np.searchsorted(words, a.symbols)).tolist())
    local = zip(np.searchsorted(features, a.local_ids).tolist(), a.local_values.tolist(), strict=True)
    own = zip(np.searchsorted(features, a.feature_ids).tolist(), a.feature_values.tolist(), strict=True)
    edges = [
        {"instance": instance, "tails": tails, "features": row}
        for instance, tails, row in zip(
            a.instances.tolist(),
            _rows(a.tail_offsets, a.tails.tolist()),
            _rows(a.feature_offsets, list(own)),
            strict=True,
        )
    ]
    return {
        "format": _FORMAT,
        "words": [forest.vocab.stored(int(word)).decode("utf-8") for word in words],
        "features": forest.index.names(features.astype(np.int32)),
        "labels": list(forest.labels),
        "instances": [
            {"rule": rule, "span": span, "symbols": row, "features": row_features}
            for rule, span, row, row_features in zip(
                a.rules.tolist(), a.spans.tolist(), symbols, _rows(a.local_offsets, list(local)), strict=True
            )
        ],
        "nodes": [
            {"label": label, "span": [begin, end], "covered": covered, "edges": row}
            for (label, begin, end, covered), row in zip(a.nodes.tolist(), _rows(a.node_edges, edges), strict=True)
        ],
    }


def forest_from_json(data: object, index: FeatureIndex, *, words: VocabBuilder | None = None) -> Forest:
    """The inverse of forest_to_json. Raises InputError for invalid data.

    New feature names are added to `index`, and words to `words` if there are several forests over one vocabulary.
    """
    if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
        raise InputError(f"not a forest; expected an object with the format '{_FORMAT}'")
    try:
        builder = words or VocabBuilder()
        ids = np.array([builder.table.intern(word.encode("utf-8")) for word in data["words"]] or [0], np.int32)
        names = np.array([index.intern(name) for name in data["features"]] or [0], np.int32)
        instances, nodes = data["instances"], data["nodes"]
        edges = list(chain.from_iterable(node["edges"] for node in nodes))
        symbols = _integers(chain.from_iterable(i["symbols"] for i in instances), np.int32)
        local_offsets, local_ids, local_values = _features([i["features"] for i in instances], names)
        feature_offsets, feature_ids, feature_values = _features([e["features"] for e in edges], names)
        arrays = ForestArrays(
            nodes=_integers(
                chain.from_iterable((n["label"], *_pair(n["span"]), n["covered"]) for n in nodes), np.int32
            ).reshape(-1, 4),
            rules=_integers((i["rule"] for i in instances), np.int64),
            spans=_integers(chain.from_iterable(_pair(i["span"]) for i in instances), np.int32).reshape(-1, 2),
            symbol_offsets=_offsets([i["symbols"] for i in instances]),
            symbols=np.where(symbols < 0, symbols, ids[np.maximum(symbols, 0)]).astype(np.int32),
            local_offsets=local_offsets,
            local_ids=local_ids,
            local_values=local_values,
            node_edges=_offsets([node["edges"] for node in nodes]),
            instances=_integers((e["instance"] for e in edges), np.int32),
            tail_offsets=_offsets([e["tails"] for e in edges]),
            tails=_integers(chain.from_iterable(e["tails"] for e in edges), np.int32),
            feature_offsets=feature_offsets,
            feature_ids=feature_ids,
            feature_values=feature_values,
        )
        labels = tuple(str(label) for label in data["labels"])
        return Forest(arrays.build(), builder.freeze(), index, labels=labels)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"not a forest: {error}") from error


def _rows(offsets: Int64Array, values: Sequence[Any]) -> list[list[Any]]:
    return [list(values[begin:end]) for begin, end in pairwise(offsets.tolist())]


def _offsets(rows: Sequence[Sequence[Any]]) -> Int64Array:
    return offsets_of([len(row) for row in rows])


def _pair(span: Sequence[int]) -> tuple[int, int]:
    begin, end = span
    return begin, end


def _integers(values: Iterable[object], dtype: type[_Int]) -> NDArray[_Int]:
    items = list(values)
    if not all(type(item) is int for item in items):
        raise ValueError("ids, tails and spans must be integers")
    return np.array(items, dtype=dtype)


def _features(rows: Sequence[Sequence[Any]], names: Int32Array) -> tuple[Int64Array, Int32Array, Float32Array]:
    pairs = [(place, float(value)) for row in rows for place, value in row]
    if not all(math.isfinite(value) for _, value in pairs):
        raise ValueError("a feature value is not finite")
    places = _integers((place for place, _ in pairs), np.int32)
    if len(places) and places.min() < 0:
        raise ValueError("a feature id is negative")
    return _offsets(rows), names[places], np.array([value for _, value in pairs], np.float32)
