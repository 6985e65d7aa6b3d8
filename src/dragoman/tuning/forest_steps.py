"""Forests around the target side of the training text, and what is learned from them, as steps on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex, FeatureTable, Weights, store_weights
from dragoman.files.arrays import ArrayFormat
from dragoman.optim import FastForest, Form, fit_scale
from dragoman.optim.centring import source_groups
from dragoman.optim.frozen import frozen_names
from dragoman.register import code_of
from dragoman.search import Reach, ReferenceConfig, ReferenceForests
from dragoman.search.reference import ARRAY_TYPES
from dragoman.settings import plain
from dragoman.sources.lists.folder import tables_of
from dragoman.system import System, digest_lines
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.kinds import kind_named
from dragoman.system.references import FoldReferences, LineForests, PairReferences, References
from dragoman.system.training import shards
from dragoman.tuning.list_steps import MadeModel
from dragoman.tuning.task import TuningTask
from dragoman.types import Int64Array
from dragoman.work.engine import Engine, Job
from dragoman.work.store import Made, Step, Store

__all__ = ["ForestSteps", "MadeForests"]

_FORMAT = ArrayFormat("dragoman-reference-forests", 1, "shard of forests", "remove it and go on with `resume=True`")
_WEIGHTS, _WEIGHT = "weights", "weight"
_N_SCALE_LINES = 500
_SHARD_LINES = 512


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MadeForests:
    """Forests of some lines; `key` names all that they depend on."""

    made: Made
    key: dict[str, Any]

    @property
    def scale(self) -> float:
        """What multiplied the weights."""
        return float(self.made.content["scale"])

    @property
    def scores(self) -> tuple[float, float]:
        """What the step's record says of them."""
        return self.shares

    @property
    def shares(self) -> tuple[float, float]:
        """Of the references those that the tables can derive as they decode, and those that they can with holes."""
        return float(self.made.content["reached"]), float(self.made.content["reached_with_holes"])

    @property
    def added_share(self) -> float:
        """Those that they can with added rules."""
        return float(self.made.content["reached_with_added"])

    @property
    def n_shards(self) -> int:
        return int(self.made.content["n_shards"])

    def store(self, index: FeatureIndex) -> tuple[_core.ReferenceStore, Int64Array]:
        """All forests over an index, which gets their features, and the line of each sentence of the store.

        Raises InputError for a damaged shard.
        """
        folder = self.made.folder
        ids = [index.extend_table(_features(folder, i).features, None) for i in range(self.n_shards)]
        store = _core.ReferenceStore(len(index))
        lines = [np.zeros(0, np.int64)]
        for i, own in enumerate(ids):
            part = _load(folder, i)
            store.add(part.forests.arrays(), own)
            lines.append(part.lines)
        return store, np.concatenate(lines)[store.places()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestSteps:
    """Forests by the weights `theta`, and a method that learns from them.

    Lines are those of the task's pairs, if it has any.
    """

    task: TuningTask
    method: FastForest
    theta: Weights
    engine: Engine
    store: Store

    def make(self, lines: Int64Array) -> MadeForests:
        """The forests of the lines, from an earlier step if there was one; a stopped making goes on."""
        task, method = self.task, self.method
        if method.form is Form.LIST and not kind_named(task.parent.settings.kind).has_rules:
            raise InputError(
                "form=list moves in trees of rules; forests of phrase pairs are summed whole, with neighbours joined "
                "and split in all ways: leave out form"
            )
        settings = ("added", "holes", "wide", "tight", "max_wrong", "prior", "beam", "wrong_beam", "scale")
        all_data = task.config.phi.all_data
        key = {
            "system": tables_of(task.parent),
            "weights": self.theta.digest(),
            "lines": digest_lines(lines),
            "features": list(task.parent.settings.features),
            "all_data": all_data,
            **({} if task.pairs is None else {"pairs": task.pairs.digest()}),
            **{name: plain(getattr(method, name)) for name in settings},
        }

        def work(folder: Path, _: Path) -> dict[str, Any]:
            weights = FeatureTable.from_weights(self.theta, _WEIGHT)
            parts = shards(lines, _SHARD_LINES)
            scale = method.scale or self._fit_scale(lines, weights)
            # What is left out is what has next to no share at the scale that is learned at.
            config = replace(_config(method), beam=method.beam, wrong_beam=method.wrong_beam)
            job = _ForestJob(task.parent, _scaled(weights, scale), config, all_data, task.pairs)
            missing = [i for i, part in enumerate(parts) if not _is_made(folder, i, part)]
            n_done = sum(map(len, parts)) - sum(len(parts[i]) for i in missing)
            made = self.engine.map(job, (parts[i] for i in missing))
            for i, found in zip(missing, made, strict=True):
                _store(folder, i, found)
                n_done += len(parts[i])
                if task.progress is not None:
                    task.progress(n_done)
            counts = np.zeros(len(Reach), np.int64)
            n_edges = 0
            for i in range(len(parts)):
                forests = _load(folder, i).forests
                counts += np.bincount(forests.reached, minlength=len(Reach))
                n_edges += forests.n_edges
            return {
                "scale": scale,
                "n_shards": len(parts),
                "n_edges": n_edges,
                "reached": int(counts[Reach.YES]) / max(1, len(lines)),
                "reached_with_added": int(counts[Reach.ADDED]) / max(1, len(lines)),
                "reached_with_holes": int(counts[Reach.HOLES]) / max(1, len(lines)),
            }

        step = Step(kind="forests", key=key, modules=(__name__,), work=work, resumes=True)
        return MadeForests(made=self.store.make(step), key=key)

    def learn(self, found: MadeForests, lines: Int64Array, *, frozen: Sequence[str], seed: int) -> MadeModel:
        """The method's weights from the forests of these lines, starting with theta."""
        task, method = self.task, self.method
        key = {
            "forests": found.key,
            "method": method.name,
            "method_settings": plain(method),
            **code_of(method),
            "learned_from": digest_lines(lines),
            "frozen": list(frozen),
            "seed": seed,
        }

        def work(folder: Path, _: Path) -> dict[str, Any]:
            index = FeatureIndex()
            dense = [index.intern(name) for name in task.parent.translator.dense()]
            self.theta.on(index)  # weights that no forest has are kept, too
            store, of_store = found.store(index)
            positions = np.flatnonzero(np.isin(of_store, lines))
            folds = None
            if task.pairs is None and not task.config.phi.all_data:
                folds = task.parent.training.folds[of_store[positions]].astype(np.int64)
            theta = self.theta.values_on(index)
            kept = [index.find(name) for name in frozen_names(index, frozen)]
            learned = method.learn_forests(
                store,
                theta * found.scale,
                dense,
                kept,
                positions=positions,
                folds=folds,
                seed=seed,
                groups=source_groups(index) if method.centred else None,
                n_threads=task.n_threads,
            )
            # What did not move is theta's to the bit.
            values = np.where(learned.values == theta * found.scale, theta, learned.values / found.scale)
            store_weights(Weights(index, values), folder, _WEIGHTS)
            reached, with_holes = found.shares
            added = f"{found.added_share:.1%} with added rules, " if found.added_share else ""
            notes = [
                f"weights times {found.scale:.3g} while it learned; {reached:.1%} of {len(lines):,} references can be "
                f"derived, {added}{with_holes:.1%} with supplied rules, {len(positions):,} of them teach something",
                f"mean probability of the reference {learned.share_before:.3f} -> {learned.share_after:.3f}, mean loss "
                f"{learned.loss_before:.4f} -> {learned.loss_after:.4f}",
                *learned.notes,
            ]
            return {
                "score_before": learned.share_before,
                "score_after": learned.share_after,
                "notes": notes,
                "trace": [dict(entry) for entry in learned.trace],
                "n_sentences": len(positions),
                "n_candidates": store.n_edges,
                "n_features": int(np.count_nonzero(learned.values)),
            }

        return MadeModel(made=self.store.make(Step(kind="model", key=key, modules=(__name__,), work=work)))

    def _fit_scale(self, lines: Int64Array, weights: FeatureTable) -> float:
        """From forests of some lines in which nothing is left out."""
        task = self.task
        sample = (task.pairs or task.parent.training).evenly(_N_SCALE_LINES, lines)
        references = _references(task.parent, task.pairs, all_data=task.config.phi.all_data)
        part = references.parse(sample, weights, _config(self.method), n_threads=task.n_threads)
        index = FeatureIndex()
        ids = index.extend_table(part.features.features, None)
        store = _core.ReferenceStore(len(index))
        store.add(part.forests.arrays(), ids)
        if not len(store):
            raise InputError(
                "no reference of the text that is learned from can be derived with a rule that has an alternative; the "
                "links may be those of another text"
            )
        return fit_scale(self.method, store, weights.weights(_WEIGHT).values_on(index), n_threads=task.n_threads)


def _config(method: FastForest) -> ReferenceConfig:
    """Without beams."""
    return ReferenceConfig(
        tight=method.tight,
        added=method.added,
        holes=method.holes,
        wide=method.wide,
        max_wrong=method.max_wrong,
        prior=method.prior,
    )


def _scaled(weights: FeatureTable, scale: float) -> FeatureTable:
    return weights.with_columns({_WEIGHT: np.asarray(weights.columns[_WEIGHT] * scale, np.float64)})


@dataclass(frozen=True, slots=True)
class _ForestJob(Job[Int64Array, LineForests]):
    system: System
    weights: FeatureTable
    config: ReferenceConfig
    all_data: bool
    pairs: AlignedPairs | None

    def open(self, n_threads: int) -> Callable[[Int64Array], LineForests]:
        references = _references(self.system, self.pairs, all_data=self.all_data)

        def make(lines: Int64Array) -> LineForests:
            return references.parse(lines, self.weights, self.config, n_threads=n_threads)

        return make


def _references(system: System, pairs: AlignedPairs | None, *, all_data: bool) -> References:
    return FoldReferences(system, all_data=all_data) if pairs is None else PairReferences(system, pairs)


# ---- shards on disk


def _names(i: int) -> tuple[str, str]:
    return f"forests-{i:05}", f"features-{i:05}"


def _store(folder: Path, i: int, found: LineForests) -> None:
    arrays, features = _names(i)
    found.features.save(folder / features)
    _FORMAT.write(folder / arrays, {"lines": found.lines, **found.forests.arrays()}, {})


def _features(folder: Path, i: int) -> FeatureTable:
    return FeatureTable.load(folder / _names(i)[1])


def _load(folder: Path, i: int) -> LineForests:
    path = folder / _names(i)[0]
    with naming(path):
        file = _FORMAT.read(path)
        try:
            forests = ReferenceForests.of({name: file.array(name, dtype) for name, dtype in ARRAY_TYPES.items()})
            return LineForests(file.array("lines", np.int64), forests, _features(folder, i))
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"its arrays do not fit together; the {_FORMAT.what} is damaged") from error


def _is_made(folder: Path, i: int, lines: Int64Array) -> bool:
    """Whether a stopped making left this shard."""
    if not all((folder / name).exists() for name in _names(i)):
        return False
    try:
        return np.array_equal(np.sort(_load(folder, i).lines), lines)
    except InputError:
        return False
