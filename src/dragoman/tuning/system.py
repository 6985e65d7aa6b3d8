"""Tuning a system: the outer loop around its decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.features import FeatureTable, Weights
from dragoman.files.store import digest_json, read_json, unseal
from dragoman.optim import LearnFrom, LearningContext, LearnsFrom, Material, Optimiser, make_optimiser
from dragoman.optim.frozen import frozen_names
from dragoman.run import RunFolder
from dragoman.run.tunings import RESULT, RoundRecord, TuneRecord
from dragoman.settings import plain
from dragoman.system import Lines, System, SystemView, save_tuned
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.manifest import MANIFEST, TUNE_RECORD
from dragoman.text import read_lines
from dragoman.tuning.before_after import DEVELOPMENT, BeforeAfter
from dragoman.tuning.config import TuneConfig
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.fold_learners import TrainingContext
from dragoman.tuning.held_out import HeldOutTask, tune_held_out
from dragoman.tuning.loop import Phase, tune_decoder
from dragoman.tuning.phi import read_phi
from dragoman.tuning.phi_tuning import PhiTask, tune_phi
from dragoman.tuning.rounds import OUTPUT, drop_candidates, recorded_file, settings_to_come
from dragoman.tuning.settings_record import phi_digest, settings_record
from dragoman.tuning.step_log import OnStage
from dragoman.tuning.system_context import LiveMeasuring, SystemContext
from dragoman.tuning.system_decoder import EngineDecoder, SystemDecoder
from dragoman.tuning.text_set import read_set
from dragoman.types import PathLike, Paths, Progress
from dragoman.work.engine import Engine

__all__ = ["TUNE_RECORD", "DecoderFactory", "tune_system"]


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
    if config.learn_from is LearnFrom.DEVELOPMENT:
        config = replace(config, learn_from=method.default_learn_from)
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
    settings = settings_record(method, config, objective.metric, k, distinct, parent, sentences, texts, start, seed)
    if phi is not None or by_lists:
        settings["phi"] = plain(config.phi) | ({} if phi is None else {"given": phi_digest(phi)})
    if pairs is not None:
        settings["pairs"] = pairs.digest()
    reads_text = method.text_plan() is not None
    if reads_text or by_lists:
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

    if reads_text or by_lists or phi is not None:
        task: dict[str, Any] = {
            "method": method,
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
            if reads_text:
                record = tune_held_out(HeldOutTask(**task), run)
            else:
                record = tune_phi(PhiTask(phi=phi, pairs=pairs, **task), run)
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
    return Lines(parent, parent.training.evenly(config.limit), config.preset, method.decodes_by_all_data())


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
    if method.material is not Material.FORESTS:
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
