"""`dragoman mert-moses`: what mert-moses.pl does, with its command line."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.declared import takes
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.cli.tuning.options import TuneOptions
from dragoman.cli.tuning.work import tune_as_told
from dragoman.errors import InputError
from dragoman.features import WeightFormat
from dragoman.tune import Keep, moses_references

__all__ = ["mert_moses"]

RUN = "dragoman"
"""The folder of the run inside the working folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MosesOptions:
    """Options of `mert-moses`, with the names that mert-moses.pl has."""

    source: Annotated[str, typer.Argument(metavar="INPUT", help="Source sentences of the development set.")]
    references: Annotated[
        str, typer.Argument(metavar="REFERENCES", help="References: a file, or NAME for NAME0, NAME1 and so on.")
    ]
    decoder: Annotated[str, typer.Argument(metavar="DECODER", help="The decoder's executable.")]
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="Its moses.ini, with weights to start from.")]
    working_dir: Annotated[
        Path, typer.Option("--working-dir", help="Where all files go; the result is moses.ini there.")
    ] = Path("mert-work")
    nbest: Annotated[int, typer.Option(min=1, help="Candidates per sentence and round.")] = 100
    decoder_flags: Annotated[str, typer.Option("--decoder-flags", help="More options for the decoder.")] = ""
    batch_mira: Annotated[bool, typer.Option("--batch-mira", help="Learn by MIRA instead of MERT.")] = False
    pairwise_ranked: Annotated[bool, typer.Option("--pairwise-ranked", help="Learn by PRO instead of MERT.")] = False
    maximum_iterations: Annotated[int, typer.Option("--maximum-iterations", min=1, help="Rounds at most.")] = 25
    return_best_dev: Annotated[
        bool, typer.Option("--return-best-dev", help="Keep the round that decoded best, not the last one.")
    ] = False
    activate_features: Annotated[
        str | None,
        typer.Option("--activate-features", metavar="NAMES", help="Features to tune, separated by commas or spaces."),
    ] = None
    continue_: Annotated[bool, typer.Option("--continue", help="Go on after the last whole round.")] = False
    nocase: Annotated[bool, typer.Option("--nocase", help="Ignore case.")] = False
    closest: Annotated[bool, typer.Option("--closest", help="Closest reference length, as always here.")] = False
    mertdir: Annotated[str | None, typer.Option(help="Ignored: nothing of Moses' mert folder is needed.")] = None
    rootdir: Annotated[str | None, typer.Option(help="Ignored, likewise.")] = None
    no_filter_phrase_table: Annotated[
        bool, typer.Option("--no-filter-phrase-table", help="Ignored: tables are never filtered here.")
    ] = False
    predictable_seeds: Annotated[
        bool, typer.Option("--predictable-seeds", help="Ignored: a run is always repeatable; see --seed.")
    ] = False
    threads: Threads = 0
    seed: Seed = 1
    json: Json = False
    quiet: Quiet = False


@takes(MosesOptions)
def mert_moses(options: MosesOptions) -> None:
    """Tune Moses as mert-moses.pl does, with the same options: decode, learn, decode again.

    INPUT, REFERENCES, DECODER and CONFIG come in the order of mert-moses.pl. The decoder is called with -config,
    -input-file and -n-best-list. The result is WORKING_DIR/moses.ini.

    Example: dragoman mert-moses dev.de dev.en bin/moses model/moses.ini --decoder-flags="-threads 8" --batch-mira
    """
    session = Session(quiet=options.quiet)
    if options.batch_mira and options.pairwise_ranked:
        raise InputError("--batch-mira and --pairwise-ranked are two methods; give one of them")
    program = shutil.which(options.decoder)
    if program is None:
        raise InputError("is no program that can be run", path=options.decoder)
    for name in ("mertdir", "rootdir", "no_filter_phrase_table", "predictable_seeds"):
        if getattr(options, name):
            session.say(f"note: --{name.replace('_', '-')} is not needed here and is ignored")
    method = "mira" if options.batch_mira else "pro" if options.pairwise_ranked else "mert"
    references = moses_references(options.references)
    frozen = _frozen(options)
    options.working_dir.mkdir(parents=True, exist_ok=True)
    tune_as_told(
        TuneOptions(
            decoder=_command(program, options.decoder_flags),
            source=options.source,
            reference=references,
            weights=[options.config],
            weights_format=WeightFormat.MOSES_INI,
            template=Path(options.config),
            method=[method],
            k=options.nbest,
            rounds=options.maximum_iterations,
            keep=Keep.BEST if options.return_best_dev else Keep.LAST,
            freeze=frozen,
            lowercase=options.nocase,
            run=options.working_dir / RUN,
            resume=options.continue_,
            out=options.working_dir / "moses.ini",
            threads=options.threads,
            seed=options.seed,
            json=options.json,
            quiet=options.quiet,
        )
    )


def _command(program: str, flags: str) -> str:
    """The decoder's command, as a template; flags are split as a shell would, and none is run."""
    try:
        words = [program, *shlex.split(flags)]
    except ValueError as error:
        raise InputError(f"--decoder-flags: {error}") from None
    if any("{" in word or "}" in word for word in words):
        raise InputError("the decoder and its flags must not have curly brackets")
    return f"{shlex.join(words)} -config {{weights}} -input-file {{source}} -n-best-list {{nbest}} {{k}} distinct"


def _frozen(options: MosesOptions) -> list[str] | None:
    """All features of the moses.ini but those to be tuned; a name stands for all of its values, too."""
    if options.activate_features is None:
        return None
    import numpy as np

    from dragoman.features import read_weights

    index = read_weights(options.config).index
    names = index.names(np.arange(len(index), dtype=np.int32))
    wanted = options.activate_features.replace(",", " ").split()
    active = {name for name in names for stem in wanted if name == stem or name.startswith(f"{stem}_")}
    for stem in wanted:
        if not any(name == stem or name.startswith(f"{stem}_") for name in names):
            raise InputError(f"no weight of this name: '{stem}'; there are: {', '.join(names)}", path=options.config)
    return sorted(set(names) - active)
