"""Learned sparse weights phi as blocks: Auli, Galley and Gao 2014, section 4.

Step 4 of the paper keeps phi and tunes the dense weights again, together with one weight lambda for each block of phi;
the weights of the result are lambda.phi. A block is all of phi, a template, or as in the paper an orientation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.features import (
    TEMPLATE_SETS,
    Block,
    FeatureTable,
    Weights,
    blocks_by_orientation,
    blocks_by_template,
    class_sizes,
    is_feature_table,
    parse_templates,
    places_by_template,
    read_binary_weights,
    read_weights,
)
from dragoman.features.blocks import ORIENTATIONS, REORDERING
from dragoman.optim import LearnsFrom, Material, Mert, Optimiser
from dragoman.optim.hols import among
from dragoman.settings import Record, takes_text
from dragoman.types import PathLike

__all__ = [
    "KEPT",
    "PHI",
    "LastSearch",
    "Phi",
    "PhiBlocks",
    "PhiSettings",
    "Theta",
    "check_templates",
    "default_last",
    "possible_blocks",
    "read_phi",
]

PHI, KEPT = "phi", "phi_kept"
"""The block of all of phi, or the beginning of its parts' names; that of sparse weights which stay as they are."""
_WEIGHT = "weight"
_N_SHOWN = 3


class PhiBlocks(StrEnum):
    """Which features of phi share a weight lambda."""

    ONE = "one"  # all of them
    TEMPLATE = "template"  # those of a template
    ORIENTATION = "orientation"  # those of reordering by orientation, others by template
    NONE = "none"  # there is no lambda: phi stays as it is


class LastSearch(StrEnum):
    """What is tuned once phi is known, and on what."""

    NONE = "none"  # nothing: the development set is only measured
    DEV = "dev"  # dense weights and lambdas on the development set
    BLOCKS = "blocks"  # lambdas alone, on the development set
    HELD_OUT = "held-out"  # dense weights and lambdas on lines of the training text's last fold
    HELD_OUT_BLOCKS = "held-out-blocks"  # lambdas alone, on these lines

    @property
    def on_lines(self) -> bool:
        """Whether it is on lines of the training text."""
        return self in (LastSearch.HELD_OUT, LastSearch.HELD_OUT_BLOCKS)

    @property
    def keeps_dense(self) -> bool:
        return self in (LastSearch.BLOCKS, LastSearch.HELD_OUT_BLOCKS)


class Theta(StrEnum):
    """Where the baseline's weights come from."""

    AUTO = "auto"  # the system's if it is tuned, else MERT's
    SYSTEM = "system"  # the system's weights
    SEARCH = "search"  # a search on the development set, without sparse features


def default_last(learner: Optimiser | type[Optimiser] | None, *, all_data: bool = False) -> LastSearch:
    """The last search unless one is chosen, after phi was learned by a method or given (None).

    What is learned from forests has no scale beside theta, whose maximum on the development set lets no phi look good
    there: the weight of its block is searched on other lines, where tables leave them out.
    """
    if learner is None:
        return LastSearch.DEV
    if learner.material is not Material.FORESTS:
        return LastSearch.NONE
    return LastSearch.BLOCKS if all_data else LastSearch.HELD_OUT_BLOCKS


@dataclass(frozen=True, slots=True, kw_only=True)
class PhiSettings(Record):
    """Learning phi from lists of the training text, and what becomes of it; the first three are for a given phi too."""

    blocks: PhiBlocks = PhiBlocks.ONE
    """Which features share a weight in the last search."""
    last: LastSearch | None = None
    """The last search; none: no search after learning from lists, that of blocks on held-out lines after learning from
    forests (with `all_data` on the development set), all on the development set where phi is given."""
    line_search: int = 2500
    """Lines of a last search on the training text at most."""
    search: Optimiser = field(default_factory=Mert)
    """The method of searches: theta, and the last one."""
    theta: Theta = Theta.AUTO
    """Where the baseline's weights come from."""
    size: int | None = None
    """Lists to learn from, evenly over folds; none: all."""
    where: str | None = None
    """Lists of lines of this domain only; of all others with a `!` before it."""
    all_data: bool = False
    """Decode lists by tables that have seen the lines: an ablation."""
    training_seed: int = 1
    """Seed of all that comes before the last step; 0: that of the tuning."""

    def searches_last(self, learner: Optimiser) -> bool:
        """Whether there is a last search once phi is learned by the method."""
        return (self.last or default_last(learner, all_data=self.all_data)) is not LastSearch.NONE

    def _check(self) -> None:
        if self.blocks is PhiBlocks.NONE and self.last is not None and self.last.keeps_dense:
            raise InputError(f"without blocks there is nothing to tune by last = {self.last}; name blocks, or another")
        if self.search.learns_from is not LearnsFrom.LISTS:
            raise InputError(f"{self.search.name} cannot search for theta and lambda; a method for lists can, as mert")
        for name, value, least in (
            ("size", self.size, 1),
            ("line_search", self.line_search, 1),
            ("training_seed", self.training_seed, 0),
        ):
            if value is not None and value < least:
                raise InputError(f"{name} must be at least {least}, not {value}")


def read_phi(path: PathLike) -> FeatureTable:
    """The weights of a file, as a table; a binary one is mapped. Raises InputError for a file of other things."""
    if not is_feature_table(path):
        return FeatureTable.from_weights(read_weights(path), _WEIGHT)
    table = FeatureTable.load(path)
    if _WEIGHT not in table.columns or not np.isfinite(table.columns[_WEIGHT]).all():
        return FeatureTable.from_weights(read_binary_weights(path), _WEIGHT)  # raises
    return table.with_columns({_WEIGHT: np.asarray(table.columns[_WEIGHT], np.float64)})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Phi:
    """Dense weights to begin with, and sparse weights as blocks over which a search works."""

    dense: dict[str, float]
    blocks: tuple[Block, ...]
    frozen: tuple[str, ...]
    """Blocks that keep their weight of 1."""
    notes: tuple[str, ...] = ()

    @classmethod
    @takes_text
    def of(
        cls,
        table: FeatureTable,
        start: Weights,
        kind: PhiBlocks,
        *,
        dense: Sequence[str],
        templates: Sequence[str],
        classes: Collection[int],
        frozen: Collection[str] = (),
    ) -> Phi:
        """Phi are the sparse weights of `table`; those of the start that it lacks stay as they are, and so do those of
        `frozen` features and templates.

        Raises InputError where phi has no features of the system's templates and word classes, or others as well.
        """
        is_dense = among(table, dense)
        is_phi = ~is_dense & (table.columns[_WEIGHT] != 0)
        sparse = table if is_phi.all() else table.take(np.flatnonzero(is_phi))
        _check(sparse, templates, classes)
        first = FeatureTable.from_weights(start, _WEIGHT)
        others = ~among(first, dense)
        both = _has(sparse, first)
        kept = first.take(np.flatnonzero(others & ~both))
        notes = []
        if n_replaced := int((others & both).sum()):
            notes.append(f"{n_replaced:,} sparse weights of the start are replaced by those of phi")
        if len(kept):
            notes.append(f"{len(kept):,} sparse weights of the start are not of phi and stay as they are")
        theta = {name: start[name] for name in dense}
        if _differ(table, is_dense, theta):
            notes.append("phi was learned beside other dense weights than those of the start")
        stays = _is_frozen(sparse, frozen)
        if n_frozen := int(stays.sum()):
            notes.append(f"{n_frozen:,} sparse weights of phi are frozen and stay as they are")
            stay = sparse.take(np.flatnonzero(stays))
            kept = stay.add(kept) if len(kept) else stay
            sparse = sparse.take(np.flatnonzero(~stays))
        blocks = _split(sparse, kind) if len(sparse) else []
        still = [block.name for block in blocks] if kind is PhiBlocks.NONE else []
        if len(kept):
            blocks = [*blocks, Block(KEPT, kept, _WEIGHT)]
            still.append(KEPT)
        return cls(dense=theta, blocks=tuple(blocks), frozen=tuple(still), notes=tuple(notes))

    def start(self) -> Weights:
        """Where a search begins: every block weighs 1."""
        return Weights.from_dict(self.dense | {block.name: 1.0 for block in self.blocks})


def check_templates(
    start: Weights, *, dense: Sequence[str], templates: Sequence[str], classes: Collection[int]
) -> None:
    """Raise InputError where the start has weights of templates or word classes that the system does not use."""
    table = FeatureTable.from_weights(start, _WEIGHT)
    sparse = table.take(np.flatnonzero(~among(table, dense)))
    parts = places_by_template(sparse)
    if missing := sorted(parts.keys() - {template.name for template in parse_templates(templates)}):
        raise InputError(
            f"the start has weights of features of {_shown(missing[:_N_SHOWN], len(missing))}, which `features` leaves "
            "out; name them too, or give dense weights with `weights`"
        )
    _check_classes(class_sizes(sparse, parts), "the start", parts, templates, classes)


@takes_text
def possible_blocks(kind: PhiBlocks, templates: Collection[str]) -> list[str]:
    """Names of the blocks that features of these templates can make."""
    match kind:
        case PhiBlocks.ONE | PhiBlocks.NONE:
            return [PHI]
        case PhiBlocks.TEMPLATE:
            parts = sorted(templates)
        case PhiBlocks.ORIENTATION:
            others = sorted(name for name in templates if not name.startswith(REORDERING))
            parts = [*(ORIENTATIONS if len(others) < len(templates) else ()), *others]
    return [f"{PHI}_{part}" for part in parts]


def _split(sparse: FeatureTable, kind: PhiBlocks) -> list[Block]:
    match kind:
        case PhiBlocks.ONE | PhiBlocks.NONE:
            return [Block(PHI, sparse, _WEIGHT)]
        case PhiBlocks.TEMPLATE:
            return blocks_by_template(sparse, _WEIGHT, prefix=f"{PHI}_")
        case PhiBlocks.ORIENTATION:
            return blocks_by_orientation(sparse, _WEIGHT, prefix=f"{PHI}_")


def _check(sparse: FeatureTable, templates: Sequence[str], classes: Collection[int]) -> None:
    """Raise InputError unless all features are of the templates and word classes, and there are some."""
    known = {template.name for template in parse_templates(templates)}
    if not len(sparse):
        raise InputError("phi has no weight of a sparse feature, which is named like reorder_local:s,f_first,nicht")
    parts = places_by_template(sparse)
    if sum(map(len, parts.values())) < len(sparse):
        odd = np.setdiff1d(np.arange(len(sparse)), np.concatenate([np.zeros(0, np.int64), *parts.values()]))
        raise InputError(
            f"phi has weights of features that are neither the system's dense ones nor of a template: "
            f"{_shown(sparse.names(odd[:_N_SHOWN]), len(odd))}"
        )
    sizes = class_sizes(sparse, parts)
    if missing := [name for name in sorted(parts) if name not in known]:
        such = _with_classes(parts, sizes) if sizes.keys() & {*missing} else missing[0]
        raise InputError(
            f"phi has weights of features of {_shown(missing[:_N_SHOWN], len(missing))}, which the system does not "
            f"use; name the set they were learned with, such as `features={such}`"
        )
    _check_classes(sizes, "phi", parts, templates, classes)


def _check_classes(
    sizes: Mapping[str, Collection[int]],
    whose: str,
    names: Collection[str],
    templates: Sequence[str],
    classes: Collection[int],
) -> None:
    """Raise InputError for features of word classes (their sizes by template) that the system would not have."""
    looking = {template.name for template in parse_templates(templates) if template.needs_classes}
    for name in sorted(sizes):
        shown = ", ".join(f"c{size}" for size in sorted(sizes[name]))
        if name not in looking:
            raise InputError(
                f"{whose} has weights of word classes of {name} ({shown}), which the system does not use: its {name} "
                f"has classes=0; name the set they were learned with, such as `features={_with_classes(names, sizes)}`"
            )
        if lacking := sorted({*sizes[name]} - {*classes}):
            raise InputError(
                f"{whose} has weights of word classes of {name} ({shown}), but the system has classes of "
                f"{', '.join(map(str, classes)) or 'no size'}; take the system they were learned with, or train one "
                f"with `classes=({', '.join(map(str, lacking))})` too"
            )


def _with_classes(names: Collection[str], sizes: Collection[str]) -> str:
    """The first set that has the templates, some with word classes; else one of the latter."""
    for chosen, texts in TEMPLATE_SETS.items():
        templates = parse_templates(texts)
        looking = {template.name for template in templates if template.needs_classes}
        if {template.name for template in templates} >= {*names} and looking >= {*sizes}:
            return chosen
    return f"'{min(sizes)}(classes=1)'"


def _is_frozen(sparse: FeatureTable, asked: Collection[str]) -> NDArray[np.bool_]:
    """Which features have one of the names, or a template that has."""
    found = among(sparse, asked) if asked else np.zeros(len(sparse), np.bool_)
    for name, places in places_by_template(sparse).items() if asked else ():
        if name in asked:
            found[places] = True
    return found


def _has(table: FeatureTable, other: FeatureTable) -> NDArray[np.bool_]:
    """Which features of the other the table has; keys ascend in both."""
    keys = table.features.keys
    places = np.minimum(np.searchsorted(keys, other.features.keys), len(keys) - 1)
    found: NDArray[np.bool_] = keys[places] == other.features.keys
    return found


def _shown(names: Collection[str], n_all: int) -> str:
    return ", ".join(names) + (f" and {n_all - len(names):,} more" if n_all > len(names) else "")


def _differ(table: FeatureTable, is_dense: NDArray[np.bool_], theta: dict[str, float]) -> bool:
    """Whether a table has dense weights, and others than these."""
    places = np.flatnonzero(is_dense)
    if not places.size:
        return False
    found = dict(zip(table.names(places), table.columns[_WEIGHT][places].tolist(), strict=True))
    return not np.allclose([found.get(name, 0.0) for name in theta], list(theta.values()), rtol=1e-6, atol=1e-12)
