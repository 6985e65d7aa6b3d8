"""Whether weights and features belong together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dragoman.errors import InputError
from dragoman.features.index import FeatureIndex
from dragoman.features.weights import Weights
from dragoman.types import Float64Array, Int32Array

__all__ = ["describe_fit", "fitted_values"]

_N_SHOWN = 3


def fitted_values(weights: Weights, index: FeatureIndex, what: str = "candidates") -> Float64Array:
    """The weights of the features of `index`, one each.

    Raises InputError for weights that are not finite and for weights none of which belongs to a feature: the names
    of decoder and weight file then differ, and everything would score 0.
    """
    values = weights.values_on(index)
    if not np.isfinite(weights.values).all():
        raise InputError("the weights are not all finite")
    if weights.values.any() and not values.any():
        theirs = weights.index.name(int(weights.ids()[0]))
        ours = index.name(0) if len(index) else "none"
        raise InputError(
            f"no weight belongs to a feature of the {what}: the weights have '{theirs}', the {what} '{ours}'"
        )
    return values


def describe_fit(weights: Weights, index: FeatureIndex, features: Iterable[int] | None = None) -> str | None:
    """What does not fit, in one sentence: weights without a feature, and features without a weight.

    `features` are those that should have a weight, all of `index` unless given; sparse ones usually have none.
    `weights` are as they were read, over an index of their own. None when everything fits.
    """
    given = weights.ids()
    unknown = given[index.find_all(weights.index, given) < 0]
    asked = np.arange(len(index), dtype=np.int32) if features is None else np.array(sorted(features), dtype=np.int32)
    missing = asked[weights.index.find_all(index, asked) < 0]
    parts = []
    if len(unknown):
        shown = _shown(weights.index, unknown)
        parts.append(f"{_counted(len(unknown), 'weight fits', 'weights fit')} no feature ({shown})")
    if len(missing):
        parts.append(f"{_counted(len(missing), 'feature has', 'features have')} no weight ({_shown(index, missing)})")
    return ", ".join(parts) or None


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _shown(index: FeatureIndex, ids: Int32Array) -> str:
    return ", ".join(index.names(ids[:_N_SHOWN])) + (", …" if len(ids) > _N_SHOWN else "")
