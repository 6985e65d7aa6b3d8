"""What names a tuning of a system: a run goes on only where all of this is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from dragoman.candidates import Objective
from dragoman.features import MANY_WEIGHTS, Block, FeatureTable, Weights
from dragoman.metric import Metric
from dragoman.optim import Optimiser
from dragoman.register import code_of
from dragoman.settings import plain
from dragoman.system import System
from dragoman.tuning.config import TuneConfig

__all__ = ["phi_digest", "settings_record"]


def settings_record(
    optimiser: Optimiser,
    config: TuneConfig,
    metric: Metric,
    k: int,
    distinct: bool,
    parent: System,
    sentences: Sequence[str],
    references: Sequence[Sequence[str]],
    start: Weights,
    seed: int,
) -> dict[str, Any]:
    """What must be the same for a run to go on, wherever its files are now and whoever began it."""
    return {
        "method": optimiser.name,
        "method_settings": plain(optimiser),
        **code_of(optimiser, config, metric),
        **_metric_record(config.metric),
        "tokenizer": config.tokenizer.value,
        "lowercase": config.lowercase,
        "k": k,
        "distinct": distinct,
        **config.loop.record(),
        "features": list(parent.settings.features),
        "frozen": list(config.frozen),
        "preset": config.preset.value,
        "fold": config.fold,
        "learn_from": config.learn_from.value,
        "limit": config.limit,
        "seed": seed,
        "source": _digest(sentences),
        "references": _digest([line for lines in references for line in lines]),
        "system": {name: file.blake2b for name, file in parent.manifest.files.items()},
        "start": _start(start),
    }


def _metric_record(metric: Metric | str) -> dict[str, Any]:
    """A metric by the name that was told; another by what it counts."""
    if isinstance(metric, str):
        return {"metric": metric}
    return {"metric": metric.name, "objective": Objective(metric).identity}


def _start(weights: Weights) -> dict[str, Any]:
    n_weights = len(weights.ids())
    if n_weights > MANY_WEIGHTS:
        return {"n_weights": n_weights, "digest": weights.digest()}
    return dict(weights.items())


def phi_digest(phi: FeatureTable) -> str:
    """Of sparse weights that are given."""
    return Block("phi", phi, "weight").digest() if len(phi) else ""


def _digest(lines: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode("utf-8"), digest_size=16).hexdigest()
