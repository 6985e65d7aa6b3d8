"""`dragoman train`: a translation system from parallel text."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dragoman.align import AlignConfig, AlignMethod, Symmetrization
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.cli.tuning.options import parse_pairs
from dragoman.errors import InputError
from dragoman.grammar import PhraseSmoothing, RuleExtraction
from dragoman.lm import EstimateConfig
from dragoman.system import (
    DEFAULT_REORDERING,
    REORDERING,
    DenseSet,
    ModelKind,
    System,
    SystemSettings,
    TextSettings,
    TrainConfig,
    import_hiero,
    import_moses,
    reordering_by_name,
)
from dragoman.system import train as train_system
from dragoman.tune import build_record

__all__ = ["train"]


def train(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the system.")],
    source: Annotated[str | None, typer.Option("--source", "-s", help="Source side, a sentence a line.")] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="Target side, line-aligned.")] = None,
    model: Annotated[ModelKind, typer.Option(help="Kind of system.")] = ModelKind.PHRASE,
    align: Annotated[str | None, typer.Option(help="Word alignment in Pharaoh format; made unless given.")] = None,
    align_method: Annotated[
        AlignMethod, typer.Option(help="How to align; all but fast need the extra: pip install 'dragoman[align]'.")
    ] = AlignMethod.FAST,
    symmetrize: Annotated[
        Symmetrization, typer.Option(help="How the two directions of the alignment are combined.")
    ] = Symmetrization.GROW_DIAG_FINAL_AND,
    lm: Annotated[str | None, typer.Option(help="Language model, binary or ARPA; made unless given.")] = None,
    lm_text: Annotated[
        list[str] | None, typer.Option(help="Text for the language model instead of the target side; repeat.")
    ] = None,
    lm_order: Annotated[int, typer.Option(min=1, help="Longest n-grams of the language model.")] = 5,
    folds: Annotated[int, typer.Option(min=1, max=255, help="Folds that views of the system can leave out.")] = 1,
    reordering: Annotated[
        str | None, typer.Option(help=f"Lexicalised reordering: {', '.join(REORDERING)}; hrm unless given.")
    ] = None,
    features: Annotated[
        list[str] | None, typer.Option(help="Sparse features: a set such as extended, or a template; repeat.")
    ] = None,
    smoothing: Annotated[PhraseSmoothing, typer.Option(help="Of phrase probabilities.")] = PhraseSmoothing.NONE,
    max_phrase_length: Annotated[int, typer.Option(min=1, max=255, help="Words a side.")] = 7,
    max_targets: Annotated[int, typer.Option(min=0, help="Best translations of a source phrase; 0: all.")] = 20,
    distortion_limit: Annotated[int, typer.Option(min=-1, help="Longest jump in words; -1: none.")] = 6,
    dense: Annotated[DenseSet, typer.Option(help="Dense features of a hierarchical system.")] = DenseSet.FULL14,
    max_span: Annotated[int, typer.Option(min=1, help="Most source words that a hierarchical rule covers.")] = 20,
    rule_setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A limit of rule extraction, such as max_symbols=6; repeat."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The text is raw: tokenise it (needs --languages).")] = False,
    languages: Annotated[
        str | None, typer.Option(metavar="SRC-TGT", help="Language codes such as de-en, for raw text.")
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="With --languages: raw text is lowercased.")] = False,
    from_moses: Annotated[
        str | None,
        typer.Option(
            "--import", metavar="DIR", help="A folder of Moses' tables, or of a Hiero grammar, instead of text."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop.")] = False,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a translation system on parallel text, one sentence a line, tokens with spaces between.

    Stopped at any moment, it goes on with --resume after its last whole stage.

    Example: dragoman train -s train.de -t train.en -o system

    dragoman train -s train.de -t train.en --model hiero -o hierarchical

    dragoman train -s raw.de -t raw.en --raw --languages de-en --lowercase -o system

    dragoman train --import model --lm en.arpa.gz -o system

    dragoman train --model hiero --import grammar-folder -o hierarchical
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    if model is ModelKind.HIERO and reordering is not None:
        raise InputError("a hierarchical system has no reordering models")
    if model is ModelKind.PHRASE and rule_setting:
        raise InputError("--set belongs to rule extraction; say --model hiero")
    settings = SystemSettings(
        model=model,
        reordering=reordering_by_name(reordering or DEFAULT_REORDERING),
        smoothing=smoothing,
        max_targets=max_targets,
        distortion_limit=None if distortion_limit < 0 else distortion_limit,
        dense=dense,
        max_span=max_span,
        features=tuple(features or ()),
        n_folds=folds,
        fold_seed=seed,
        text=_text_settings(languages, lowercase),
    )
    if from_moses is not None:
        if source or target or align or lm_text or raw or folds > 1:
            raise InputError("with --import there is no text: leave out -s, -t, --align, --lm-text, --raw and --folds")
        if reordering is not None and len(settings.reordering) != 1:
            raise InputError("Moses' tables hold one reordering model; say --reordering msd, phrase-msd or hrm")
        if model is ModelKind.HIERO:
            importer = import_hiero
        else:
            kind = None if reordering is None else settings.reordering[0].kind
            importer = partial(import_moses, reordering_kind=kind)
        system = importer(
            from_moses,
            out,
            lm=lm,
            settings=settings,
            resume=resume,
            n_threads=session.n_threads,
            monitor=session,
        )
    else:
        if source is None or target is None:
            raise InputError("name the two sides of the training text with -s and -t")
        config = TrainConfig(
            settings=settings,
            alignment=AlignConfig(method=align_method, symmetrization=symmetrize, seed=seed),
            lm=EstimateConfig(order=lm_order),
            max_phrase_length=max_phrase_length,
            rules=build_record(RuleExtraction, "rule extraction", parse_pairs(rule_setting or [])),
            raw=raw,
        )
        system = train_system(
            source,
            target,
            out,
            alignment=align,
            lm=lm,
            lm_text=lm_text or (),
            config=config,
            resume=resume,
            n_threads=session.n_threads,
            monitor=session,
        )
    _report(session, system)


def _text_settings(languages: str | None, lowercase: bool) -> TextSettings:
    if languages is None:
        if lowercase:
            raise InputError("--lowercase belongs to raw text, whose --languages must be known")
        return TextSettings()
    source, dash, target = languages.partition("-")
    if not (source and dash and target):
        raise InputError(f"--languages {languages}: two codes such as de-en were expected")
    return TextSettings(source_language=source, target_language=target, lowercase=lowercase)


def _report(session: Session, system: System) -> None:
    about = system.manifest.about
    rows = table("stage", "seconds", "CPU seconds", "peak MiB")
    for stage in about["stages"]:
        peak = stage["peak_bytes"] / 2**20
        rows.add_row(stage["name"], f"{stage['wall_s']:.1f}", f"{stage['cpu_s']:.1f}", f"{peak:,.0f}")
    session.show(rows)
    unit = "rules" if system.settings.model is ModelKind.HIERO else "pairs"
    session.show(f"system: {system.folder} ({about['n_pairs']:,} {unit}, language model of order {about['lm_order']})")
    session.emit({"system": str(system.folder), **about})
