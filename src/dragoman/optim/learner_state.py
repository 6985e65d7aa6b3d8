"""What online learners carry from pass to pass, in memory and in the folder of a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dragoman.errors import InputError
from dragoman.features import FeatureIndex, FeatureTable, Weights, find_weights, read_weights, store_weights
from dragoman.files.store import read_json, write_json
from dragoman.optim.units import Scale
from dragoman.types import Float64Array

__all__ = ["LearnerState", "in_key_order"]

_START, _PREVIOUS, _REST = "start", "previous.npy", "rest.json"
_WEIGHTS, _PAST, _COUNTS = "weights", "past", "counts"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearnerState:
    """Where a pass begins. The mean of the weights after each of `ticks` steps is weights - past / ticks.

    `previous` has the statistics of the last pass's best translation of each sentence, before the first pass those of
    the start. `background` and `length` are the pseudo-corpus of a learner that goes on alone; None: it begins anew,
    from the mean of `previous`. Weights are on the `scale` of the run, `start`, where its first pass began, is not.
    `counts` are lists of each feature so far, None where the rule does not need them. `epoch` passes were completed
    before, and `n_learners` are side by side; whoever begins a pass says so.
    """

    start: Float64Array
    scale: Scale
    weights: Float64Array
    past: Float64Array
    ticks: int
    previous: Float64Array
    background: Float64Array | None = None
    length: float = 0.0
    counts: Float64Array | None = None
    epoch: int = 0
    n_learners: int = 1

    @classmethod
    def first(cls, start: Float64Array, scale: Scale, previous: Float64Array, *, counts: bool = False) -> LearnerState:
        """Before the first pass."""
        return cls(
            start=start,
            scale=scale,
            weights=scale.scaled(start),
            past=np.zeros(len(start)),
            ticks=0,
            previous=previous,
            counts=np.zeros(len(start)) if counts else None,
        )

    def columns(self) -> dict[str, Float64Array]:
        """What learners change, by the names of the fields: one number for each feature."""
        return {_WEIGHTS: self.weights, _PAST: self.past} | ({} if self.counts is None else {_COUNTS: self.counts})

    def with_columns(self, columns: Mapping[str, Float64Array]) -> LearnerState:
        """With others in their place."""
        return replace(self, weights=columns[_WEIGHTS], past=columns[_PAST], counts=columns.get(_COUNTS))

    def without_columns(self) -> LearnerState:
        """The rest, which is small but for `previous`."""
        none = np.zeros(0)
        return replace(self.with_columns(dict.fromkeys(self.columns(), none)), start=none)

    def grown(self, n_features: int) -> LearnerState:
        """The same over an index that has more features since."""

        def longer(values: Float64Array) -> Float64Array:
            return np.concatenate([values, np.zeros(n_features - len(values))])

        columns = {name: longer(values) for name, values in self.columns().items()}
        return replace(self.with_columns(columns), start=longer(self.start))

    def average(self) -> Float64Array:
        """The mean of the weights after each step."""
        return self.weights - self.past / self.ticks if self.ticks else self.weights.copy()

    def restored(self, values: Float64Array) -> Float64Array:
        """Weights on the scale of the start."""
        return self.scale.restored(values, self.start)

    def save(self, folder: Path, index: FeatureIndex) -> None:
        """Write it to a folder; weights go by the names of the index."""
        for name, values in {_START: self.start, **self.columns()}.items():
            store_weights(in_key_order(Weights(index, values)), folder, name)
        np.save(folder / _PREVIOUS, self.previous)
        background = None if self.background is None else self.background.tolist()
        rest = {"ticks": self.ticks, "background": background, "length": self.length, "scale": self.scale.to_json()}
        rest["has_counts"] = self.counts is not None
        write_json(folder / _REST, rest)

    @classmethod
    def load(cls, folder: Path, index: FeatureIndex) -> LearnerState:
        """What `save` wrote; names that the index lacks are added. Raises InputError where it is damaged."""
        rest = read_json(folder / _REST, "run")
        try:
            background = rest["background"]
            names = [_START, _WEIGHTS, _PAST, *([_COUNTS] if rest.get("has_counts") else [])]
            read = [_read(folder, name).on(index) for name in names]  # each may add to the index
            columns = {name: weights.values for name, weights in zip(names, read, strict=True)}
            return cls(
                start=columns[_START],
                weights=columns[_WEIGHTS],
                past=columns[_PAST],
                counts=columns.get(_COUNTS),
                scale=Scale.from_json(rest["scale"]),
                ticks=int(rest["ticks"]),
                previous=np.load(folder / _PREVIOUS, allow_pickle=False),
                background=None if background is None else np.array(background, np.float64),
                length=float(rest["length"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"is no state of learning ({error}); the run is damaged", path=folder) from error


def in_key_order(weights: Weights) -> Weights:
    """The same weights over an index of their own, whose order depends on their names alone."""
    return FeatureTable.from_weights(weights).weights("weight")


def _read(folder: Path, name: str) -> Weights:
    """What `store_weights` wrote: zeros leave no line."""
    path = find_weights(folder, name)
    return read_weights(path) if path.stat().st_size else Weights(FeatureIndex())
