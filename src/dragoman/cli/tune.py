"""`dragoman tune`: weights that maximise a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.lists import External, Format, LowerIsBetter, MetricName, Nbest, References
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.cli.tuning.options import TuneOptions, parse_weight_format
from dragoman.cli.tuning.report import show_settings
from dragoman.cli.tuning.system import holds_system, report_finished
from dragoman.cli.tuning.work import ALL, tune_as_told
from dragoman.features import WeightFormat
from dragoman.optim import OPTIMISERS
from dragoman.tune import Keep

__all__ = ["tune"]

_LOOP = "With a decoder"
_SYSTEM = "With a system"
_RUN = "Record"


def tune(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the tuned weights go; with --system, a folder.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"One of: {', '.join(OPTIMISERS)}; forest-mert with --system; {ALL}: compare by cross-validation."
        ),
    ] = "mert",
    nbest: Nbest = None,
    stats: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="FEATURES SCORES", help="Moses statistics files, text or binary, instead of lists."),
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Decode round after round with this command: {weights} to read, {nbest} to write, "
            "and as it likes {source} {k} {round} {seed}. No shell is involved.",
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Decode round after round with this system of ours.")
    ] = None,
    reference: References = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Start: our TSV, moses.ini, run.dense, cdec or Joshua weights; init.opt with --stats."),
    ] = None,
    metric: MetricName = "bleu",
    external: External = None,
    lower_is_better: LowerIsBetter = False,
    format_: Format = None,
    dense: Annotated[
        list[str] | None, typer.Option(help="Dense feature of the lists; repeat. Found out unless given.")
    ] = None,
    freeze: Annotated[list[str] | None, typer.Option(help="Keep the weight of this feature; repeat.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=f"A setting of the method, with --method {ALL} METHOD.NAME=VALUE; --set help lists them.",
        ),
    ] = None,
    weights_format: Annotated[
        WeightFormat,
        typer.Option(
            parser=parse_weight_format,
            metavar="[tsv|moses|moses-dense|cdec]",
            help="Format of the result and of what the decoder reads.",
        ),
    ] = WeightFormat.TSV,
    template: Annotated[Path | None, typer.Option(help="A moses.ini whose other sections the result keeps.")] = None,
    folds: Annotated[
        int | None, typer.Option(help=f"Folds of the cross-validation of --method {ALL}; 5 unless given.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Source sentences to decode, a sentence a line.", rich_help_panel=_LOOP)
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", min=1, help="Candidates a sentence; 100 unless given, 30 with --online.", rich_help_panel=_LOOP
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Rounds of decoding and learning at most; 30 unless given.", rich_help_panel=_LOOP),
    ] = None,
    keep: Annotated[
        Keep | None,
        typer.Option(help="Weights of the round that decoded best (default), or the last.", rich_help_panel=_LOOP),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            help="Sparse features of the system: a set such as extended, or a template; repeat.",
            rich_help_panel=_SYSTEM,
        ),
    ] = None,
    online: Annotated[
        bool,
        typer.Option(
            "--online",
            help="Learn from each sentence as soon as it is decoded (mira, rm); rounds are passes.",
            rich_help_panel=_SYSTEM,
        ),
    ] = False,
    distinct: Annotated[
        bool | None,
        typer.Option(
            "--distinct/--no-distinct",
            help="Candidates with different words only; unless given, with --online.",
            rich_help_panel=_SYSTEM,
        ),
    ] = None,
    without_fold: Annotated[
        int | None,
        typer.Option(min=0, help="As if this fold had not been in the training.", rich_help_panel=_SYSTEM),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Less search.", rich_help_panel=_SYSTEM)] = False,
    accurate: Annotated[bool, typer.Option("--accurate", help="More search.", rich_help_panel=_SYSTEM)] = False,
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds that the command may take in a round; a day unless given.", rich_help_panel=_LOOP),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Folder to record the run in; with --system, OUT/tune by itself.", rich_help_panel=_RUN),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in that folder.", rich_help_panel=_RUN)
    ] = False,
    threads: Threads = 0,
    seed: Seed = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find weights that maximise a metric on candidates of any decoder: lists that exist, or a decoder at work.

    Examples: dragoman tune --system system --source dev.de -r dev.en -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method pro --features extended -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method mira --online -o tuned

    dragoman tune --nbest run1.nbest.gz --nbest run2.nbest.gz -r dev.ref --weights run2.dense -o weights.tsv

    dragoman tune --nbest candidates.jsonl --external comet --method pro -o weights.tsv

    dragoman tune --nbest run1.nbest.gz -r dev.ref --method all

    dragoman tune --stats features.dat scores.dat --weights init.opt -o weights.tsv

    dragoman tune --decoder 'moses -f {weights} -i {source} -n-best-list {nbest} {k} distinct' --weights moses.ini
    --weights-format moses --template moses.ini --source dev.src -r dev.ref --run runs/dev -o tuned.ini
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    if setting == ["help"]:
        show_settings(session, list(OPTIMISERS) if method == ALL else [method], online=online)
        return
    if system is not None and out is not None:
        if holds_system(out):
            report_finished(session, out, resume)
            return
        run = run or out / "tune"
    options = TuneOptions(
        out=out,
        method=method,
        nbest=nbest,
        stats=stats,
        decoder=decoder,
        system=system,
        features=features,
        online=online,
        distinct=distinct,
        without_fold=without_fold,
        fast=fast,
        accurate=accurate,
        source=source,
        reference=reference,
        weights=weights,
        metric=metric,
        external=external,
        lower_is_better=lower_is_better,
        format_=format_,
        dense=dense,
        freeze=freeze,
        setting=setting,
        weights_format=weights_format,
        template=template,
        k=k,
        rounds=rounds,
        keep=keep,
        timeout=timeout,
        folds=folds,
        run=run,
        resume=resume,
    )
    tune_as_told(session, options)
