"""`dragoman train`: a translation system from parallel text."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.align import AlignConfig, AlignMethod, Symmetrization
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, show_settings, table
from dragoman.corpus import MAX_FOLDS
from dragoman.errors import InputError
from dragoman.grammar import PhraseSmoothing
from dragoman.lm import EstimateConfig
from dragoman.settings import describe, from_values, parse_bytes, parse_settings, settable
from dragoman.system import (
    KINDS,
    REORDERING,
    DenseSet,
    ModelSettings,
    System,
    SystemSettings,
    TextSettings,
    TrainConfig,
    import_system,
    kind_named,
)
from dragoman.system import train as train_system

__all__ = ["train"]


def train(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the system; required.")] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", "-s", help="Source side, a sentence a line; repeat for more text.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", "-t", help="Target side, line-aligned; as often as --source.")
    ] = None,
    model: Annotated[str, typer.Option(help=f"Kind of system: {', '.join(KINDS)}.")] = "phrase",
    align: Annotated[str | None, typer.Option(help="Word alignment in Pharaoh format; made unless given.")] = None,
    align_method: Annotated[
        AlignMethod, typer.Option(help="How to align; all but fast need the extra: pip install 'dragoman[align]'.")
    ] = AlignMethod.FAST,
    symmetrize: Annotated[
        Symmetrization, typer.Option(help="How the two directions of the alignment are combined.")
    ] = Symmetrization.GROW_DIAG_FINAL_AND,
    lm: Annotated[str | None, typer.Option(help="Language model, binary or ARPA; made unless given.")] = None,
    lm_text: Annotated[
        list[str] | None,
        typer.Option(
            help="Text for the language model instead of the target side; with --folds, in addition to it; repeat."
        ),
    ] = None,
    lm_order: Annotated[int, typer.Option(min=1, help="Longest n-grams of the language model.")] = 5,
    folds: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_FOLDS, help="Folds that views of the system can leave out; it keeps its training text."
        ),
    ] = 1,
    domains: Annotated[
        str | None, typer.Option(help="With --folds: the domain of each line of the training text, a label a line.")
    ] = None,
    reordering: Annotated[
        str | None, typer.Option(help=f"Lexicalised reordering: {', '.join(REORDERING)}; hrm unless given.")
    ] = None,
    classes: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Learn N classes of the words of each side, for templates; repeat for levels."),
    ] = None,
    features: Annotated[
        list[str] | None, typer.Option(help="Sparse features: a set such as extended, or a template; repeat.")
    ] = None,
    smoothing: Annotated[
        PhraseSmoothing | None, typer.Option(help="Of phrase probabilities; none unless given.")
    ] = None,
    max_phrase_length: Annotated[
        int | None, typer.Option(min=1, max=255, help="Words a side of a phrase pair; 7 unless given.")
    ] = None,
    max_targets: Annotated[int, typer.Option(min=0, help="Best translations of a source phrase; 0: all.")] = 20,
    distortion_limit: Annotated[
        int | None, typer.Option(min=-1, help="Longest jump in words; -1: none; 6 unless given.")
    ] = None,
    dense: Annotated[
        DenseSet | None, typer.Option(help="Dense features of a hierarchical system; full14 unless given.")
    ] = None,
    max_span: Annotated[
        int | None, typer.Option(min=1, help="Most source words that a hierarchical rule covers; 20 unless given.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the model, such as max_symbols=6; repeat. --set help lists them.",
        ),
    ] = None,
    raw: Annotated[
        bool | None,
        typer.Option("--raw/--tokenized", help="Whether the text is raw or tokens; found out unless given."),
    ] = None,
    languages: Annotated[
        str | None, typer.Option(metavar="SRC-TGT", help="Language codes such as de-en, for raw text; else guessed.")
    ] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Raw text is lowercased instead of truecased.")
    ] = False,
    truecase: Annotated[
        bool,
        typer.Option(
            "--truecase/--keep-case", help="Raw text: words that begin a sentence in their usual case, or as they are."
        ),
    ] = True,
    split_unknown: Annotated[
        bool | None,
        typer.Option(
            "--split-unknown/--keep-unknown",
            help="Split unknown source words into known parts, or copy them; split in raw text unless given.",
        ),
    ] = None,
    from_moses: Annotated[
        str | None,
        typer.Option(
            "--import", metavar="DIR", help="A folder of Moses' tables, or of a Hiero grammar, instead of text."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Most memory to allocate, such as 2G: with less than it likes, extraction uses scratch files.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop.")] = False,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a translation system on parallel text, one sentence a line, raw or tokenised.

    A system of raw text remembers how it was tokenised and cased, and takes and gives raw text everywhere.
    Stopped at any moment, it goes on with --resume after its last whole stage.

    Example: dragoman train -s train.de -t train.en -o system

    dragoman train -s train.de -t train.en --model hiero -o hierarchical

    dragoman train -s news.de -t news.en -s talks.de -t talks.en -o system

    dragoman train -s train.txt.de -t train.txt.en --raw --languages de-en -o system

    dragoman train --import model --lm en.arpa.gz -o system

    dragoman train --model hiero --import grammar-folder -o hierarchical
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    stated = {
        "reordering": reordering,
        "smoothing": smoothing,
        "max_phrase_length": max_phrase_length,
        "distortion_limit": distortion_limit,
        "dense": dense,
        "max_span": max_span,
    }
    stated = {name: value for name, value in stated.items() if value is not None}
    if setting == ["help"]:
        show_settings(session, {model: describe(kind_named(model).settings)})
        return
    if out is None:
        raise InputError("name the folder of the system with -o")
    chosen = _chosen(model, parse_settings(setting or []))
    settings = SystemSettings(
        model=_model_settings(model, stated, chosen),
        max_targets=max_targets,
        features=tuple(features or ()),
        n_folds=folds,
        fold_seed=seed,
        text=_text_settings(languages, lowercase, truecase, split_unknown),
        classes=tuple(classes or ()),
    )
    if from_moses is not None:
        if source or target or align or lm_text or folds > 1 or domains or classes:
            raise InputError(
                "with --import there is no text: leave out -s, -t, --align, --lm-text, --folds, --domains and --classes"
            )
        if memory is not None:
            raise InputError("--memory is for training on text; leave it out with --import")
        if "max_phrase_length" in {*stated, *chosen}:
            raise InputError("with --import nothing is extracted: leave out --max-phrase-length")
        if rules := chosen.get("rules"):
            raise InputError(f"with --import nothing is extracted: leave out --set {next(iter(rules))}")
        system = import_system(
            from_moses,
            out,
            lm=lm,
            settings=settings,
            stated={*stated, *chosen},
            raw=raw,
            resume=resume,
            n_threads=session.n_threads,
            monitor=session,
        )
    else:
        if not source or not target:
            raise InputError("name the two sides of the training text with -s and -t")
        config = TrainConfig(
            settings=settings,
            alignment=AlignConfig(method=align_method, symmetrization=symmetrize, seed=seed),
            lm=EstimateConfig(order=lm_order),
            raw=raw,
        )
        system = train_system(
            source,
            target,
            out,
            alignment=align,
            lm=lm,
            lm_text=lm_text or (),
            domains=domains,
            config=config,
            resume=resume,
            memory=None if memory is None else parse_bytes(memory),
            n_threads=session.n_threads,
            monitor=session,
        )
    _report(session, system)


def _model_settings(model: str, stated: dict[str, Any], chosen: dict[str, Any]) -> ModelSettings:
    """Settings of the model from options and from --set; options of another kind of system are refused."""
    cls = kind_named(model).settings
    for name in stated:
        if name in chosen:
            raise InputError(f"{_option(name)} and --set {name} are the same setting; give one")
        if name not in cls.options():
            kinds = [kind for kind, other in KINDS.items() if name in other.settings.options()]
            raise InputError(f"{_option(name)} belongs to systems of model {' or '.join(kinds)}, not of {model}")
    tables = {name: value for name, value in chosen.items() if isinstance(value, dict) or name not in cls.options()}
    settings: ModelSettings = from_values(cls, tables, name=f"a system of model {model}")
    words = {name: cls.option(name, value, name) for name, value in chosen.items() if name not in tables}
    return replace(
        settings, **words, **{name: cls.option(name, value, _option(name)) for name, value in stated.items()}
    )


def _chosen(model: str, values: dict[str, Any]) -> dict[str, Any]:
    """What --set says: settings of records inside, such as `rules`, may stand without the record's name."""
    cls = kind_named(model).settings
    inside = {name: record for name, record in _inside(cls).items() if name in values and name not in cls.options()}
    found = {name: dict(v) if isinstance(v, dict) else v for name, v in values.items() if name not in inside}
    for name in found:
        _check_kind(name, model)
    for name, record in inside.items():
        place = found.setdefault(record, {})
        if not isinstance(place, dict) or name in place:
            raise InputError(f"--set {name} and --set {record}.{name} are the same setting; give one")
        place[name] = values[name]
    return found


def _inside(cls: type[ModelSettings]) -> dict[str, str]:
    """By the names of settings of records inside, the records. Threads are those of the training."""
    return {
        name: record
        for record, hint in cls.options().items()
        if isinstance(hint, type) and is_dataclass(hint)
        for name in settable(hint)
        if name != "n_threads"
    }


def _check_kind(name: str, model: str) -> None:
    """Raise InputError for a setting that only other kinds of systems have."""
    kinds = [kind for kind, other in KINDS.items() if name in {*other.settings.options(), *_inside(other.settings)}]
    if kinds and model not in kinds:
        raise InputError(f"--set {name} belongs to systems of model {' or '.join(kinds)}, not of {model}")


def _option(name: str) -> str:
    return f"--{name}".replace("_", "-")


def _text_settings(languages: str | None, lowercase: bool, truecase: bool, split_unknown: bool | None) -> TextSettings:
    if lowercase and not truecase:
        raise InputError("--lowercase and --keep-case contradict each other; give one")
    return TextSettings(lowercase=lowercase, truecase=truecase, split_unknown=split_unknown).with_languages(languages)


def _report(session: Session, system: System) -> None:
    about = system.manifest.about
    rows = table("stage", "seconds", "CPU seconds", "peak MiB")
    for stage in about["stages"]:
        peak = stage["peak_bytes"] / 2**20
        rows.add_row(stage["name"], f"{stage['wall_s']:.1f}", f"{stage['cpu_s']:.1f}", f"{peak:,.0f}")
    if not session.quiet:
        session.show(rows)
    unit = kind_named(system.settings.kind).unit
    session.show(f"system: {system.folder} ({about['n_pairs']:,} {unit}, language model of order {about['lm_order']})")
    session.emit({"system": str(system.folder), **about})
