"""Held-out line search: Flanigan, Dyer and Carbonell 2013, sections 4 and 5.

Weights are dense and sparse ones, w = (w_d, w_s). An update goes along one direction of the sparse features,

    g = P_s grad L~(w, D_g)                                              gradient of a surrogate loss on many lines
    (w_d, c_1, alpha) = argmax G(w_d + c_1 w_s + alpha g, D_l)           MERT on other lines, by decoding
    w_s <- c_1 w_s + alpha g

and because w_d, c_1 and alpha are the weights of the dense features, of f_1 = w_s.f_s and of f_2 = g.f_s, the search
is MERT with two more features (blocks) and without the sparse ones. Every line of the training text is decoded by
tables that have not seen its fold (section 5.1). The steps of the summary in section 5.1:

  2  dense weights by MERT on D_l                                        `HeldOutText.search`
  3  gradient on the other folds                                         `HeldOutText.gradient`
  4  conditioning: divide by the lists that have the feature             `Hols.direction`
  5  MERT over (w_d, f_1, f_2) on D_l                                    `HeldOutText.search`
  6  again from 3, with the next part of the lines                       `Hols.learn`
  7  MERT once more, on the development set                              `HeldOutText.last`

Symbols: L~ `loss`, D_g the gradient lines, D_l the `line_search` lines, G the metric, f_1 `hols_before`,
f_2 `hols_step`. Deviations: the direction is -g, so that a positive alpha lowers the loss; MERT may still choose a
negative one. The paper does not say at which scale w meets the costs of the loss; weights of MERT have none, so they
are multiplied by what makes the mean deviation of scores within a list `spread`. Beyond the paper: a step of its own
for features of each range of frequency (`blocks=bands`), or for those of each template; g/(n + `shrinkage`); the last
search on held-out lines, or along the directions alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import reduce
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.features import HOLS_BEFORE, HOLS_STEP, Block, FeatureTable, Weights, blocks_by_template
from dragoman.optim.base import Optimiser
from dragoman.optim.context import LearnsFrom, TextPlan
from dragoman.types import Float64Array

__all__ = [
    "FROZEN",
    "HeldOutText",
    "Hils",
    "Hols",
    "Last",
    "Scaling",
    "Start",
    "StepBlocks",
    "among",
    "has_component",
    "moved",
]

FROZEN = "hols_frozen"
"""The block of frozen sparse features."""
N_LISTS = "n_lists"
"""The column of a gradient that says in how many lists a candidate has the feature."""
_WEIGHT = "weight"
_ROUNDING = 1e-12
"""What a list may add to a component that is 0."""


class Scaling(StrEnum):
    """What the gradient of a feature is divided by (section 5.2)."""

    LISTS = "lists"  # the number of lists in which a candidate has it
    SHRINKAGE = "shrinkage"  # that number and a constant
    NONE = "none"  # nothing


class StepBlocks(StrEnum):
    """Which features share a step."""

    ONE = "one"  # all of them
    BANDS = "bands"  # those that are in about as many lists
    TEMPLATES = "templates"  # those of a template


class Start(StrEnum):
    """Where the first gradient is taken."""

    MERT = "mert"  # dense weights by MERT on the line-search lines, sparse ones 0
    SYSTEM = "system"  # the system's weights


class Last(StrEnum):
    """Where the last search is done."""

    DEV = "dev"  # on the development set, all weights of the search free
    BLOCKS = "blocks"  # on the development set, dense weights kept
    HELD_OUT = "held-out"  # that of the last update is the last: the development set is only measured


class HeldOutText(Protocol):
    """A training text with folds and a development set, as the method wants them. Weights go by names.

    `dense` are the names of the dense features, `weights` where all begins: with sparse weights of 0, unless they are
    frozen or asked for.
    """

    dense: Collection[str]
    weights: Weights

    def gradient(self, update: int, weights: Weights) -> FeatureTable:
        """The gradient over the lines of an update: a column by the name of the loss, and `n_lists`."""
        ...

    def is_frozen(self, table: FeatureTable) -> NDArray[np.bool_]:
        """Which features keep their weights."""
        ...

    def search(self, update: int, weights: Weights, blocks: Sequence[Block]) -> Weights:
        """The weights of dense features and blocks that MERT finds on the line-search lines, from these.

        Update 0 is the start, with the dense features alone.
        """
        ...

    def last(self, weights: Weights, blocks: Sequence[Block]) -> Weights:
        """The same on the development set."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hols(Optimiser):
    """The defaults are the paper's with one pass and one update, but for the size of lists and of the line search."""

    name = "hols"
    learns_from = LearnsFrom.TRAINING_TEXT
    held_in: ClassVar[bool] = False
    """Whether the lines of the search are among those of the gradient."""
    passes: int = 1
    """Passes through the gradient lines."""
    updates: int = 1
    """Updates, each with an equal part of the passes' lines; 0: the start alone."""
    loss: str = "softramp"
    """What the gradient is of: a method that lowers a loss."""
    loss_settings: Mapping[str, int | float | str | bool | Mapping[str, int | float | str | bool]] = field(
        default_factory=dict
    )
    """Settings of the loss."""
    spread: float = 0.25
    """Mean deviation of scores within lists where the loss is taken; the weights are multiplied to make it so."""
    gradient_k: int = 500
    """Candidates of a gradient line."""
    conditioning: Scaling = Scaling.LISTS
    """What the gradient of a feature is divided by."""
    shrinkage: float = 10.0
    """Added to the number of lists where conditioning is shrinkage."""
    blocks: StepBlocks = StepBlocks.ONE
    """Which features share a step."""
    bands: tuple[int, ...] = (2, 8, 30)
    """Lists at most that features of each band are in; one more band has the rest."""
    line_search: int = 2500
    """Lines of the line search."""
    start: Start = Start.MERT
    """Where the first gradient is taken."""
    start_rounds: int = 6
    """Rounds of the start's MERT at most."""
    search_rounds: int = 6
    """Rounds of a line search at most."""
    last: Last = Last.DEV
    """Where the last search is done."""
    n_starts: int = 20
    """Points that MERT climbs from."""
    n_directions: int = 20
    """Random directions of MERT."""
    all_data: bool = False
    """Decode gradient lines by tables that have seen them: an ablation."""
    training_seed: int = 1
    """Seed of all that comes before the last search; 0: that of the tuning. Lines of the search are then those of 1."""

    def _check(self) -> None:
        counts = (self.passes, self.line_search, self.start_rounds, self.search_rounds, self.n_starts)
        if min(counts) < 1 or min(self.updates, self.n_directions) < 0:
            raise InputError(f"{self.name} needs at least one pass, line, round and start")
        if self.updates % self.passes:
            raise InputError(f"{self.updates} updates are no whole number for each of {self.passes} passes")
        if self.gradient_k < 2:
            raise InputError(f"a gradient needs at least two candidates of a line, not {self.gradient_k}")
        if self.training_seed < 0:
            raise InputError(f"training_seed must be at least 0, not {self.training_seed}")
        if not (0 < self.spread < np.inf and 0 <= self.shrinkage < np.inf):
            raise InputError("the spread of scores must be positive, the shrinkage at least 0")
        if self.last is Last.BLOCKS and not self.updates:
            raise InputError("without an update there are no blocks to search alone; choose another last search")
        if not self.bands or self.bands[0] < 1 or any(a >= b for a, b in pairwise(self.bands)):
            raise InputError(f"bands must ascend from 1 or more, not {', '.join(map(str, self.bands)) or 'none'}")
        self._check_used()

    def _check_used(self) -> None:
        """Raise InputError for settings that would do nothing."""
        defaults = {item.name: item.default for item in fields(self)}
        for name, is_used, other in (
            ("shrinkage", self.conditioning is Scaling.SHRINKAGE, "conditioning=shrinkage"),
            ("bands", self.blocks is StepBlocks.BANDS, "blocks=bands"),
        ):
            if not is_used and getattr(self, name) != defaults[name]:
                raise InputError(f"{name} does nothing without {other}; set both, or neither")

    def steps(self) -> tuple[str, ...]:
        """Names of the searches and gradients before the last search, in order."""
        first = ("start",) if self.start is Start.MERT else ()
        steps = (*first, *(f"{what}-{n}" for n in range(1, self.updates + 1) for what in ("gradient", "search")))
        return steps[:-1] if self.last is Last.HELD_OUT else steps

    def text_plan(self) -> TextPlan:
        return TextPlan(
            steps=self.steps(),
            seed=self.training_seed or None,
            loss=self.loss,
            loss_settings=self.loss_settings,
            n_lines=self.line_search,
            learns_sparse=self.updates > 0,
        )

    def learn_text(self, text: HeldOutText) -> Weights:
        """Dense and sparse weights by names."""
        weights = text.weights
        blocks = _before(text, weights)
        found = _point(text, weights, blocks)
        if self.start is Start.MERT:
            found = text.search(0, found, blocks)
            weights = moved(found, blocks)
        for update in range(1, self.updates + 1):
            direction = self.direction(text, text.gradient(update, weights))
            blocks = [*_before(text, weights), *self._steps(direction)]
            found = text.search(update, _point(text, weights, blocks), blocks)
            weights = moved(found, blocks)
        return weights if self.last is Last.HELD_OUT else moved(text.last(found, blocks), blocks)

    def direction(self, text: HeldOutText, gradient: FeatureTable) -> FeatureTable:
        """-g of the sparse features that may move, conditioned; those where it is 0 are left out."""
        sparse = ~among(gradient, text.dense) & ~text.is_frozen(gradient)
        if not sparse.any():
            raise InputError("no candidate of the gradient lines has a sparse feature that is not frozen")
        g, n_lists = gradient.columns[self.loss], gradient.columns[N_LISTS]
        step: Float64Array = -g / self._divisor(n_lists.astype(np.float64))
        if not (places := np.flatnonzero(sparse & has_component(gradient, self.loss))).size:
            raise InputError(f"the gradient of {self.loss} is 0 for every sparse feature; there is no direction to go")
        return gradient.with_columns({HOLS_STEP: step, N_LISTS: n_lists}).take(places)

    def _divisor(self, n_lists: Float64Array) -> Float64Array:
        match self.conditioning:
            case Scaling.LISTS:
                return n_lists
            case Scaling.SHRINKAGE:
                return n_lists + self.shrinkage
            case Scaling.NONE:
                return np.ones_like(n_lists)

    def _steps(self, direction: FeatureTable) -> list[Block]:
        match self.blocks:
            case StepBlocks.ONE:
                return [Block(HOLS_STEP, direction, HOLS_STEP)]
            case StepBlocks.TEMPLATES:
                return blocks_by_template(direction, HOLS_STEP, prefix=f"{HOLS_STEP}_")
            case StepBlocks.BANDS:
                band = np.searchsorted(self.bands, direction.columns[N_LISTS])
                names = [*(f"{HOLS_STEP}_to_{most}_lists" for most in self.bands), f"{HOLS_STEP}_rest"]
                parts = [(name, np.flatnonzero(band == number)) for number, name in enumerate(names)]
                return [Block(name, direction.take(places), HOLS_STEP) for name, places in parts if places.size]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hils(Hols):
    """Held-in line search (section 6.1): D_l is part of D_g, and nothing else differs."""

    name = "hils"
    held_in = True


def among(table: FeatureTable, names: Collection[str]) -> NDArray[np.bool_]:
    """Which features have one of these names."""
    keys = Weights.from_dict(dict.fromkeys(names, 1.0)).index.keys()
    return np.isin(table.features.keys, keys)


def has_component(gradient: FeatureTable, loss: str) -> NDArray[np.bool_]:
    """Which features have a component: in every list it is a difference of expectations, which is 0 up to rounding."""
    return np.abs(gradient.columns[loss]) > _ROUNDING * gradient.columns[N_LISTS]


def _before(text: HeldOutText, weights: Weights) -> list[Block]:
    """f_1, and apart from it the sparse features whose weights stay: a block that is frozen at 1."""
    table = FeatureTable.from_weights(weights, _WEIGHT)
    sparse, stays = ~among(table, text.dense), text.is_frozen(table)
    places = {HOLS_BEFORE: np.flatnonzero(sparse & ~stays), FROZEN: np.flatnonzero(sparse & stays)}
    return [Block(name, table.take(found), _WEIGHT) for name, found in places.items() if found.size]


def _point(text: HeldOutText, weights: Weights, blocks: Sequence[Block]) -> Weights:
    """The weights as the search sees them: those of dense features, 1 for f_1, 0 for f_2."""
    dense = {name: weights[name] for name in text.dense}
    return Weights.from_dict(dense | {block.name: float(block.name in (HOLS_BEFORE, FROZEN)) for block in blocks})


def moved(found: Weights, blocks: Sequence[Block]) -> Weights:
    """w_d of the search, and w_s <- c_1 w_s + alpha g."""
    parts = [block.table.with_columns({_WEIGHT: found[block.name] * block.coefficients}) for block in blocks]
    values = dict(found.items())
    for block in blocks:
        values.pop(block.name, None)
    dense = Weights.from_dict(values)
    if not parts:
        return dense
    weights = reduce(FeatureTable.add, parts).weights(_WEIGHT, dense.index)
    weights.values[: len(values)] = list(values.values())
    return weights
