"""A gradient over training lines as a step on disk, at weights scaled so that losses can tell candidates apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from dragoman.errors import InputError
from dragoman.features import FeatureTable, Weights
from dragoman.gradients import Gradient, GradientPass, PassSettings
from dragoman.optim import Hols
from dragoman.settings import Record
from dragoman.system import FoldDecoder, Preset, System, digest_lines
from dragoman.types import Int64Array, Progress
from dragoman.work.engine import Engine
from dragoman.work.store import Made, Step, Store

__all__ = ["GRADIENT", "GradientStep", "MadeGradient"]

GRADIENT = "gradient"
_SCALE = "scale"
_SCALE_LINES = 500
"""Lines whose lists tell how far the scores of a list deviate."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeGradient:
    """The gradient, and the step that told the scale of its weights."""

    made: Made
    scaling: Made
    scale: float
    """What the weights were multiplied by."""
    loss: str

    @cached_property
    def gradient(self) -> Gradient:
        return Gradient.load(self.made.folder / GRADIENT)

    @property
    def table(self) -> FeatureTable:
        return self.gradient.table

    @property
    def deviation(self) -> float:
        """Mean standard deviation of the model scores in a list, before scaling."""
        return float(self.scaling.content["deviation"])

    @property
    def cpu_s(self) -> float:
        return self.made.cost.cpu_s + self.scaling.cost.cpu_s

    @property
    def mean_loss(self) -> float:
        """Over the lists."""
        sums = self.gradient.sums
        return sums.losses[self.loss] / max(1, sums.n_lists)

    @property
    def score(self) -> float:
        """Of the best candidates by the model."""
        return float(self.gradient.metric().score_of(np.array(self.gradient.sums.best)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientStep(Record):
    """How the gradients of a method are taken."""

    system: System
    method: Hols
    preset: Preset
    metric: str
    engine: Engine
    n_threads: int = 1
    progress: Progress | None = None

    def settings(self, scale: float = 1.0) -> PassSettings:
        """Raises InputError for an unknown loss, or settings that it lacks."""
        method = self.method
        return PassSettings(
            k=method.gradient_k,
            losses={method.loss: dict(method.loss_settings)},
            scale=scale,
            all_data=method.all_data,
            features=self.system.settings.features,
            preset=self.preset,
            metric=self.metric,
        )

    def run(self, store: Store, lines: Int64Array, weights: Weights) -> MadeGradient:
        """The gradient over lines, ascending, at the weights; from an earlier step if there was one."""
        scaling = self._deviation(store, lines, weights)
        deviation = float(scaling.content["deviation"])
        if not deviation > 0:
            raise InputError("all candidates of a list have the same model score; there is no scale for the loss")
        scale = self.method.spread / deviation
        work = GradientPass.of(self.system, self.settings(scale), weights, lines=lines)
        make = partial(self._pass, work)
        made = store.make(Step(kind=GRADIENT, key=work.record, modules=(__name__,), work=make, resumes=True))
        return MadeGradient(made=made, scaling=scaling, scale=scale, loss=self.method.loss)

    def _pass(self, work: GradientPass, folder: Path, scratch: Path) -> None:
        with work.opened(scratch, resume=True) as (tree, checkpoint):
            work.run(self.engine, tree, checkpoint=checkpoint, progress=self.progress)
            work.total(tree).save(folder / GRADIENT)

    def _deviation(self, store: Store, lines: Int64Array, weights: Weights) -> Made:
        """A step that tells the mean standard deviation of model scores in a list, over some of the lines."""
        settings = self.settings()
        some = lines[np.arange(n := min(len(lines), _SCALE_LINES)) * len(lines) // n]
        key = {
            "system": self.system.manifest.identity(),
            "weights": weights.digest(),
            "lines": digest_lines(some),
            **{name: settings.to_json()[name] for name in ("k", "features", "preset", "all_data")},
        }

        def work(_folder: Path, _scratch: Path) -> dict[str, float]:
            system = System.load(self.system.folder).with_templates(settings.features)
            decoder = FoldDecoder(system, preset=settings.preset, all_data=settings.all_data)
            pool = decoder.kbest(some, weights.on(system.index), settings.k, n_threads=self.n_threads)
            (shard,) = pool.shards
            lists = np.split(shard.totals, shard.sentences[1:-1])
            deviations = [float(np.std(scores)) for scores in lists if len(scores) > 1]
            return {"deviation": float(np.mean(deviations)) if deviations else 0.0}

        return store.make(Step(kind=_SCALE, key=key, modules=(__name__,), work=work))
