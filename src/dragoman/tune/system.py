"""Tuning a system: the outer loop around its decoder."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights
from dragoman.metric import Smoothing, by_name
from dragoman.optim import ForestMert, Tuner
from dragoman.pool import Pool, read_references, with_metric
from dragoman.run import RunFolder
from dragoman.system import LiveDecoder, Preset, System, SystemView, save_tuned
from dragoman.system.manifest import MANIFEST
from dragoman.text import read_lines
from dragoman.tune.decoder import Decoder
from dragoman.tune.forest import ForestTuner
from dragoman.tune.loop import LoopSettings, Step, tune_decoder
from dragoman.tune.online import OnlineTuner
from dragoman.tune.record import RoundRecord, TuneRecord
from dragoman.tune.settings import Method, OnlineMethod, build_method
from dragoman.types import PathLike, Progress

__all__ = ["SystemDecoder", "TuneConfig", "keep_tuned", "tune_system"]

TUNE_RECORD = "tune"
"""The run folder inside a tuned system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneConfig:
    """What can be chosen about tuning a system."""

    method: str = "mert"
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of the method, as text."""
    metric: str = "bleu"
    online: bool = False
    """Learn from each sentence as soon as it is decoded (`mira`, `rm`); a round is a pass over all sentences."""
    k: int | None = None
    """Candidates of a sentence and round; None: 100, online 30."""
    distinct: bool | None = None
    """Candidates with different words only; None: online, where 30 derivations would often be few translations."""
    loop: LoopSettings = field(default_factory=LoopSettings)
    features: tuple[str, ...] | None = None
    """Sparse features; None: those that the system was trained with."""
    frozen: tuple[str, ...] = ()
    preset: Preset = Preset.DEFAULT
    fold: int | None = None
    """Decode as if this fold had not been in the training."""

    @property
    def n_best(self) -> int:
        """k, decided."""
        return self.k if self.k is not None else 30 if self.online else 100

    @property
    def only_distinct(self) -> bool:
        """`distinct`, decided."""
        return self.online if self.distinct is None else self.distinct


class SystemDecoder:
    """A system and a development set, as the outer loop wants them."""

    def __init__(
        self,
        view: SystemView,
        sentences: Sequence[str],
        *,
        k: int = 100,
        distinct: bool = False,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        if k < 2:
            raise InputError(f"tuning needs at least two candidates of a sentence, not {k}")
        if not any(sentence.split() for sentence in sentences):
            raise InputError("the development set has no words")
        self._view = view
        self._sentences = sentences
        self._k = k
        self._distinct = distinct
        self._preset = preset
        self._n_threads = n_threads
        self._progress = progress

    def decode(self, weights: Weights) -> Pool:
        """The k best candidates of every sentence."""
        return self._view.kbest(
            self._sentences,
            self._k,
            weights=weights,
            distinct=self._distinct,
            preset=self._preset,
            n_threads=self._n_threads,
            progress=self._progress,
        )

    def with_method(self, method: Method, references: Sequence[Sequence[str]]) -> tuple[Decoder, Tuner]:
        """What the loop decodes and learns with: a method may want more of a system than lists."""
        match method:
            case OnlineMethod():
                tuner = OnlineTuner(
                    method,
                    LiveDecoder(self._view, self._sentences, preset=self._preset),
                    references,
                    k=self._k,
                    distinct=self._distinct,
                    n_threads=self._n_threads,
                )
                return tuner, tuner
            case ForestMert():
                return self, ForestTuner(
                    mert=method, view=self._view, sentences=self._sentences, references=references, preset=self._preset
                )
            case _:
                return self, method


def tune_system(
    system: System | PathLike,
    source: PathLike,
    references: Sequence[PathLike],
    out: PathLike,
    *,
    config: TuneConfig | None = None,
    weights: Weights | None = None,
    seed: int = 1,
    resume: bool = False,
    n_threads: int = 1,
    progress: Progress | None = None,
    on_step: Callable[[int, Step], None] | None = None,
    on_round: Callable[[RoundRecord], None] | None = None,
) -> System:
    """Tune a system's weights on a development set; the folder `out` becomes the tuned system.

    `out/tune` records every round, so that a stopped tuning goes on with `resume` to the same result; its candidates
    are dropped at the end. What tuning did is in the result's `manifest.about["tuning"]`. `weights` is where to start,
    by default the system's own.
    """
    config = config or TuneConfig()
    base = Path(out)
    if (base / MANIFEST).exists():
        if resume:
            return System.load(base)
        raise InputError("holds a system already; remove it or choose another folder", path=base)
    parent = system if isinstance(system, System) else System.load(system)
    if config.features is not None:
        parent = parent.with_templates(config.features)
    sentences = list(read_lines(source))
    texts = read_references(references)
    if len(texts) != len(sentences):
        raise MismatchError(f"{source} has {len(sentences)} lines but the references have {len(texts)}")
    metric = by_name(config.metric, smoothing=Smoothing.NONE)
    start = parent.weights if weights is None else weights
    method = build_method(config.method, config.settings, online=config.online)
    made = SystemDecoder(
        parent.view(config.fold),
        sentences,
        k=config.n_best,
        distinct=config.only_distinct,
        preset=config.preset,
        n_threads=n_threads,
        progress=progress,
    )
    decoder, optimiser = made.with_method(method, texts)
    with RunFolder.open(
        base / TUNE_RECORD, _record(config, parent, sentences, texts, start, seed), resume=resume
    ) as run:
        record = tune_decoder(
            decoder,
            optimiser,
            start,
            seed=seed,
            measure=lambda pool: with_metric(pool, metric, texts, n_threads=n_threads),
            settings=config.loop,
            frozen=config.frozen,
            n_threads=n_threads,
            run=run,
            on_step=on_step,
            on_round=on_round,
        )
        return keep_tuned(parent, base, record, method=config.method, seed=seed)


def keep_tuned(parent: System, out: PathLike, record: TuneRecord, *, method: str, seed: int) -> System:
    """A tuned system in the folder `out`, whose record of the rounds loses the candidates that it no longer needs."""
    about = {"method": method, "seed": seed, **record.summary()}
    for entry in about["rounds"]:
        if entry["learned"] is not None:
            del entry["learned"]["trace"]  # long, and in the record of the run
    tuned = save_tuned(parent, out, record.weights, about=about)
    for candidates in (Path(out) / TUNE_RECORD).glob("rounds/*/candidates"):
        shutil.rmtree(candidates)
    return tuned


def _record(
    config: TuneConfig,
    parent: System,
    sentences: Sequence[str],
    references: Sequence[Sequence[str]],
    start: Weights,
    seed: int,
) -> dict[str, Any]:
    """What must be the same for a run to go on, wherever its files are now."""
    return {
        "method": config.method,
        "method_settings": dict(config.settings),
        "metric": config.metric,
        "online": config.online,
        "k": config.n_best,
        "distinct": config.only_distinct,
        "max_rounds": config.loop.max_rounds,
        "weight_tolerance": config.loop.weight_tolerance,
        "score_tolerance": config.loop.score_tolerance,
        "keep": config.loop.keep.value,
        "features": list(parent.settings.features),
        "frozen": list(config.frozen),
        "preset": config.preset.value,
        "fold": config.fold,
        "seed": seed,
        "source": _digest(sentences),
        "references": _digest([line for lines in references for line in lines]),
        "system": {name: file.blake2b for name, file in parent.manifest.files.items()},
        "start": dict(start.items()),
    }


def _digest(lines: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode("utf-8"), digest_size=16).hexdigest()
