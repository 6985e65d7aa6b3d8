"""Tuning a system: the outer loop around its decoder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from dragoman.candidates import Objective, Pool
from dragoman.errors import InputError
from dragoman.features import MANY_WEIGHTS, Block, FeatureIndex, FeatureTable, Weights
from dragoman.files.store import digest_json, read_json, unseal
from dragoman.metric import Metric, Smoothing, Tokenizer
from dragoman.optim import FastForest, Hols, LearningContext, LearnsFrom, Online, Optimiser, make_loss, make_optimiser
from dragoman.optim.frozen import frozen_names
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.run.tunings import RESULT, RoundRecord, TuneRecord
from dragoman.settings import Record, plain, takes_text
from dragoman.system import Lines, ListsJob, Preset, System, SystemView, kbest_by_engine, save_tuned
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.manifest import MANIFEST, TUNE_RECORD
from dragoman.text import read_lines
from dragoman.tuning.before_after import DEVELOPMENT, BeforeAfter
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.fold_learners import TrainingContext
from dragoman.tuning.held_out import HeldOutTask, tune_held_out
from dragoman.tuning.judge import FEWEST
from dragoman.tuning.loop import LoopSettings, Phase, tune_decoder
from dragoman.tuning.phi import PhiSettings, read_phi
from dragoman.tuning.phi_tuning import PhiTask, tune_phi
from dragoman.tuning.rounds import OUTPUT, drop_candidates, recorded_file, settings_to_come
from dragoman.tuning.step_log import OnStage
from dragoman.tuning.system_context import LiveMeasuring, SystemContext
from dragoman.tuning.text_set import read_set
from dragoman.types import PathLike, Paths, Progress
from dragoman.work.engine import Engine

__all__ = [
    "TUNE_RECORD",
    "DecoderFactory",
    "EngineDecoder",
    "LearnFrom",
    "SystemDecoder",
    "TuneConfig",
    "tune_system",
]
_ABLE = "online mira, rm, svm, softramp can"


class LearnFrom(StrEnum):
    """The sentences that are learned from."""

    DEVELOPMENT = "development"  # those that measure the rounds too
    TRAINING = "training"  # lines of the training text, each decoded by the view that has not seen its fold
    LISTS = "lists"  # the same lines' lists, made once by the baseline's weights: for methods that learn from lists


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneConfig(Record):
    """What can be chosen about tuning a system, besides the method."""

    metric: Metric | str = "bleu"
    """Its name, or itself with all of its settings."""
    tokenizer: Tokenizer = Tokenizer.NONE
    """Of BLEU, where the system's tokens are not what it should count."""
    lowercase: bool = False
    """Ignore case in BLEU and chrF."""
    k: int | None = None
    """Candidates of a sentence and round; None: as many as the method wants (100; mira and rm online 30)."""
    distinct: bool | None = None
    """Candidates with different words only; None: as the method wants (mira and rm online)."""
    loop: LoopSettings = field(default_factory=LoopSettings)
    features: tuple[str, ...] | None = None
    """Sparse features; None: those that the system was trained with."""
    frozen: tuple[str, ...] = ()
    """Features, or groups of them, whose weights stay as they are."""
    preset: Preset = Preset.DEFAULT
    fold: int | None = None
    """Decode as if this fold had not been in the training."""
    learn_from: LearnFrom = LearnFrom.DEVELOPMENT
    """What is learned from; the development set measures the rounds in any case."""
    limit: int | None = None
    """Lines of the training text to learn from, evenly over folds; None: all."""
    phi: PhiSettings = field(default_factory=PhiSettings)
    """Weights learned from lists of the training text, or given."""
    judge_lines: int = 1000
    """Lines of the training text's last fold at most, and at most a quarter of it, that judge what hols or a method for
    lists learned from the others."""

    def _check(self) -> None:
        if self.learn_from is not LearnFrom.DEVELOPMENT and self.fold is not None:
            raise InputError("every line of the training text is decoded without its own fold; leave out the fold")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"the limit of training lines must be at least 1, not {self.limit}")
        if self.judge_lines < FEWEST:
            raise InputError(f"judge_lines must be at least {FEWEST}, or chance would judge; it is {self.judge_lines}")

    @takes_text
    def objective(
        self, references: Sequence[Sequence[str]] = (), *, smoothing: Smoothing = Smoothing.NONE
    ) -> Objective:
        """What is maximised, once references are known; `smoothing` is of BLEU by name."""
        return Objective(
            self.metric, references, tokenizer=self.tokenizer, lowercase=self.lowercase, smoothing=smoothing
        )

    def named_metric(self) -> str:
        """The name of the metric, which lists on disk keep. Raises InputError for one that is given itself."""
        if isinstance(self.metric, str):
            return self.metric
        raise InputError(
            f"the metric {self.metric.name} is given with its settings, but lists of the training text only keep the "
            "name of theirs; name a metric, such as 'bleu'"
        )

    def check(self, method: Optimiser, *, n_sentences: int | None = None, n_folds: int | None = None) -> None:
        """Raise InputError for a method that cannot learn from what was chosen, as far as that is known.

        The development set has `n_sentences`, the training text `n_folds`.
        """
        if isinstance(method, Hols):
            make_loss(method.loss, Objective(self.named_metric()).metric, method.loss_settings)
        by_itself = method.learns_from is LearnsFrom.TRAINING_TEXT
        reads_training = by_itself or self.learn_from is not LearnFrom.DEVELOPMENT
        if self.limit is not None and not reads_training:
            raise InputError("a limit is for lines of the training text; learn from it, or leave out the limit")
        if self.learn_from is LearnFrom.DEVELOPMENT:
            if isinstance(method, Online):
                method.check_development(n_sentences)
            return
        if self.learn_from is LearnFrom.LISTS:
            if isinstance(method, FastForest):
                return
            if by_itself:
                raise InputError(f"{method.name} reads the training text by itself; it learns from no stored lists")
            self.named_metric()  # raises
            if method.learns_from is not LearnsFrom.LISTS:
                raise InputError(f"{method.name} learns from {method.learns_from}, not from lists of the training text")
            return
        if not isinstance(method, Online):
            raise InputError(f"{method.name} cannot learn from the training text as it decodes; {_ABLE}")
        method.check_folds(None if n_folds is None else min(n_folds, self.limit or n_folds))


class SystemDecoder(Decoder):
    """A system and a development set, as the outer loop wants them."""

    @takes_text
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
            weights=weights.on(self._view.index),
            distinct=self._distinct,
            preset=self._preset,
            n_threads=self._n_threads,
            progress=self._progress,
        )


class EngineDecoder(SystemDecoder):
    """A system's decoder whose sentences are shared out among the workers of an engine."""

    def __init__(self, engine: Engine, view: SystemView, sentences: Sequence[str], **settings: Any) -> None:
        super().__init__(view, sentences, **settings)
        self._engine = engine

    def decode(self, weights: Weights) -> Pool:
        weights.on(self._view.index)  # the order of features is that of decoding here: known weights come first
        job = ListsJob(
            view=self._view,
            weights=weights.on(FeatureIndex()),
            k=self._k,
            distinct=self._distinct,
            preset=self._preset,
        )
        return kbest_by_engine(self._engine, job, self._sentences, progress=self._progress)


DecoderFactory = Callable[..., Decoder]
"""Makes the decoder of a tuning from the arguments of SystemDecoder."""


def tune_system(
    system: System | PathLike,
    source: PathLike,
    references: Paths,
    out: PathLike,
    *,
    optimiser: Optimiser | str = "mert",
    config: TuneConfig | None = None,
    weights: Weights | None = None,
    seed: int = 1,
    resume: bool = False,
    phi: FeatureTable | PathLike | None = None,
    pairs: AlignedPairs | None = None,
    shared: PathLike | None = None,
    raw: bool | None = None,
    n_threads: int = 1,
    engine: Engine | None = None,
    decoder_factory: DecoderFactory | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
    on_stage: OnStage | None = None,
    on_step: Callable[[int, Phase], None] | None = None,
    on_round: Callable[[RoundRecord], None] | None = None,
) -> System:
    """Tune a system's weights on a development set; the folder `out` becomes the tuned system.

    `optimiser` is a method or its name. `out/tune` records every round, so that a stopped tuning goes on with `resume`
    to the same result; its candidates are dropped at the end. What tuning did is the result's
    `record`. `weights` is where to start, by default the system's own. The workers of `engine`
    decode; methods that decode while they learn also learn there. The result does not depend on it. `phi` are sparse
    weights (or their file) whose blocks are tuned beside the dense weights, as `config.phi` says. `pairs` are what
    fastforest learns from instead of the system's training text. `shared` is a folder
    for steps of `hols` and of learning from lists that other tunings find again there, by default the run's own;
    `say` is told where one of them is damaged or another process is making it, `on_stage` is called when a step begins
    and ends. The files are raw text if the system was trained on such;
    `raw` says otherwise.
    """
    config = config or TuneConfig()
    method = make_optimiser(optimiser) if isinstance(optimiser, str) else optimiser
    if isinstance(method, FastForest) and config.learn_from is LearnFrom.DEVELOPMENT:
        config = replace(config, learn_from=LearnFrom.LISTS)
    config.objective()  # raises
    base = Path(out)
    finished = (base / MANIFEST).exists()
    if finished and not resume:
        raise InputError("holds a system already; remove it or choose another folder", path=base)
    parent = system if isinstance(system, System) else System.load(system)
    if config.features is not None:
        parent = parent.with_templates(config.features)
    sentences, texts = read_set(source, references, parent, raw=raw)
    objective = config.objective(texts)
    start = parent.weights if weights is None else weights
    k = method.k if config.k is None else config.k
    by_lists = config.learn_from is LearnFrom.LISTS
    distinct = (method.distinct or by_lists) if config.distinct is None else config.distinct
    if phi is not None:
        phi = phi if isinstance(phi, FeatureTable) else read_phi(phi)
        _check_phi(method, config)
    if pairs is not None:
        _check_pairs(method, config, pairs)
    if k < 2:
        raise InputError(f"tuning needs at least two candidates of a sentence, not {k}")
    if phi is None and not by_lists:
        _check_frozen(parent, start, config.frozen)
    lines = _training_lines(parent, method, config, n_sentences=len(sentences))
    settings = _record(method, config, objective.metric, k, distinct, parent, sentences, texts, start, seed)
    if phi is not None or by_lists:
        settings["phi"] = plain(config.phi) | ({} if phi is None else {"given": _digest_of(phi)})
    if pairs is not None:
        settings["pairs"] = pairs.digest()
    if isinstance(method, Hols) or by_lists:
        settings["judge_lines"] = config.judge_lines
    folder = base / TUNE_RECORD
    may_change = settings_to_come(folder)
    if finished:
        found = _finished(base, settings, may_change)
        if found is not None:
            return found
    view = parent.view(config.fold)
    make = decoder_factory or (SystemDecoder if engine is None else partial(EngineDecoder, engine))

    def decoder_of(view: SystemView, k: int) -> Decoder:
        return make(
            view, sentences, k=k, distinct=distinct, preset=config.preset, n_threads=n_threads, progress=progress
        )

    if isinstance(method, Hols) or by_lists or phi is not None:
        task: dict[str, Any] = {
            "parent": parent,
            "config": config,
            "start": start,
            "objective": objective,
            "development": digest_json([settings["source"], settings["references"]]),
            "decoder": decoder_of,
            "k": k,
            "distinct": distinct,
            "seed": seed,
            "shared": None if shared is None else Path(shared),
            "say": say,
            "n_threads": n_threads,
            "engine": engine,
            "progress": progress,
            "on_stage": on_stage,
            "on_step": on_step,
            "on_round": on_round,
        }
        with RunFolder.open(folder, settings, resume=resume) as run:
            if isinstance(method, Hols):
                record = tune_held_out(HeldOutTask(method=method, **task), run)
            else:
                record = tune_phi(PhiTask(method=method, phi=phi, pairs=pairs, **task), run)
            return _keep(parent, base, record, (sentences, texts), config, about={"method": method.name, "seed": seed})
    decodes = method.learns_from is LearnsFrom.DECODING  # then the loop decodes only to measure
    learning = engine if decodes and method.uses_engine else None
    development = SystemContext(view, sentences, texts, k=k, distinct=distinct, preset=config.preset, engine=learning)
    context: LearningContext = (
        development if lines is None else TrainingContext(lines, k=k, distinct=distinct, engine=engine)
    )
    if decodes and lines is None and decoder_factory is None and engine is learning:
        decoder: Decoder = LiveMeasuring(development, n_threads=n_threads)
    else:
        decoder = decoder_of(view, 1 if decodes else k)
    with RunFolder.open(folder, settings, resume=resume, may_change=may_change) as run:
        record = tune_decoder(
            decoder,
            method,
            start,
            seed=seed,
            objective=objective,
            settings=config.loop,
            frozen=config.frozen,
            n_threads=n_threads,
            context=context,
            run=run,
            on_step=on_step,
            on_round=on_round,
        )
        return _keep(parent, base, record, (sentences, texts), config, about={"method": method.name, "seed": seed})


def _training_lines(parent: System, method: Optimiser, config: TuneConfig, n_sentences: int) -> Lines | None:
    """What is learned from instead of the development set. Raises InputError where that cannot be."""
    config.check(method, n_sentences=n_sentences)
    if config.learn_from is not LearnFrom.TRAINING:
        return None
    config.check(method, n_folds=parent.training.n_folds)
    all_data = isinstance(method, Online) and method.all_data
    return Lines(parent, parent.training.evenly(config.limit), config.preset, all_data)


def _check_phi(method: Optimiser, config: TuneConfig) -> None:
    """Raise InputError where sparse weights that are given could not be used as they are meant."""
    if config.learn_from is not LearnFrom.DEVELOPMENT:
        raise InputError("phi is given, so there is nothing to learn from the training text; leave out one of them")
    if method.learns_from is not LearnsFrom.LISTS:
        raise InputError(f"{method.name} cannot search for the weights of blocks; a method for lists can, such as mert")
    if config.fold is not None and config.phi.last is not None and config.phi.last.on_lines:
        raise InputError(f"last = {config.phi.last} leaves out the fold of its lines; leave out the fold")


def _check_pairs(method: Optimiser, config: TuneConfig, pairs: AlignedPairs) -> None:
    """Raise InputError where pairs that are given could not be learned from."""
    if not isinstance(method, FastForest):
        raise InputError(f"{method.name} learns from no pairs with word links; fastforest does")
    if config.phi.where is not None or config.phi.all_data:
        raise InputError("domains and all_data are of the training text; leave them out, or the pairs to learn from")
    if not len(pairs):
        raise InputError("there are no pairs to learn from")


def _check_frozen(parent: System, start: Weights, asked: Sequence[str]) -> None:
    """Raise InputError for a misspelt name, as far as names are known before decoding: of sparse features none are."""
    if not parent.settings.features:
        known = [*parent.translator.dense(), *(name for name, _ in start.items())]
        frozen_names(Weights.from_dict(dict.fromkeys(known, 1.0)).index, asked)


def _finished(base: Path, settings: dict[str, Any], may_change: Sequence[str]) -> System | None:
    """The system that a tuning with these settings left behind; None if it is to go on, as it should end elsewhere.

    Only the loop's rounds can go on; tunings by steps record no such settings.
    """
    run = base / TUNE_RECORD
    if not (run / "run.json").exists():
        raise InputError("holds a system that was not made by tuning; choose another folder", path=base)
    if RunFolder.check(run, settings, may_change=may_change):
        system = System.load(base)
        result, about = run / RESULT, system.manifest.about.get("tuning", {})
        told = unseal(read_json(result, "run"), "run") if result.exists() else {}
        if all(told.get(name) == about.get(name) for name in ("stopped", "best_round", "score_after")):
            return system  # else a tuning that went on was stopped before it wrote its system
    return None


def _keep(
    parent: System,
    out: PathLike,
    record: TuneRecord,
    development: tuple[Sequence[str], Sequence[Sequence[str]]],
    config: TuneConfig,
    *,
    about: dict[str, Any],
) -> System:
    """A tuned system in the folder `out`, whose record of the rounds loses the candidates that it no longer needs.

    What the development set was translated to in the first and in the kept round stays beside its references.
    """
    run = Path(out) / TUNE_RECORD
    _save_development(run, record, development, config)
    about = {**about, **record.summary()}
    for entry in about["rounds"]:
        if entry["learned"] is not None:
            del entry["learned"]["trace"]  # long, and in the record of the run
    tuned = save_tuned(parent, out, record.weights, about=about, replace_old=True)
    drop_candidates(run)
    return tuned


def _save_development(
    run: Path, record: TuneRecord, development: tuple[Sequence[str], Sequence[Sequence[str]]], config: TuneConfig
) -> None:
    """The development set for reports, if every sentence has as many references."""
    sentences, texts = development
    if len({len(lines) for lines in texts}) != 1:
        return
    before, after = (
        list(read_lines(recorded_file(run / "rounds" / f"{number:04d}", OUTPUT))) for number in (1, record.best_round)
    )
    BeforeAfter(
        source=sentences,
        references=[*zip(*texts, strict=True)],
        before=before,
        after=after,
        tokenizer=config.tokenizer,
        lowercase=config.lowercase,
    ).save(run / DEVELOPMENT)


def _record(
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


def _digest_of(phi: FeatureTable) -> str:
    return Block("phi", phi, "weight").digest() if len(phi) else ""


def _digest(lines: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode("utf-8"), digest_size=16).hexdigest()
