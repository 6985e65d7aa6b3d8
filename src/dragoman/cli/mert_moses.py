"""`dragoman mert-moses`: what mert-moses.pl does, with its command line."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.declared import takes
from dragoman.cli.groups import OneDashCommand
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.cli.tuning.options import TuneOptions
from dragoman.cli.tuning.work import tune_as_told
from dragoman.errors import InputError
from dragoman.features import WeightFormat
from dragoman.metric import ReferenceLength
from dragoman.settings import Record
from dragoman.tuning import Keep, moses_references

__all__ = ["COMMAND", "frozen_features", "mert_moses"]

COMMAND = OneDashCommand

RUN = "dragoman"
"""The folder of the run inside the working folder."""


_given = partial(typer.Option, rich_help_panel="Instead of the four arguments")
_method = partial(typer.Option, rich_help_panel="Method")
_ignored = partial(typer.Option, rich_help_panel="Taken and ignored, with a note")


@dataclass(frozen=True, slots=True, kw_only=True)
class MosesOptions(Record):
    """Options of `mert-moses`, with the names that mert-moses.pl has."""

    source: Annotated[
        str | None, typer.Argument(metavar="INPUT", help="Source sentences of the development set.", show_default=False)
    ] = None
    references: Annotated[
        str | None, typer.Argument(metavar="REFERENCES", help="References: a file, or NAME for NAME0, NAME1 and so on.")
    ] = None
    decoder: Annotated[str | None, typer.Argument(metavar="DECODER", help="The decoder's executable.")] = None
    config: Annotated[
        str | None, typer.Argument(metavar="CONFIG", help="Its moses.ini, with weights to start from.")
    ] = None
    input: Annotated[str | None, _given(metavar="FILE", help="INPUT.")] = None
    refs: Annotated[str | None, _given(metavar="NAME", help="REFERENCES.")] = None
    decoder_option: Annotated[str | None, _given("--decoder", metavar="PROGRAM", help="DECODER.")] = None
    config_option: Annotated[str | None, _given("--config", metavar="FILE", help="CONFIG.")] = None
    working_dir: Annotated[
        Path, typer.Option("--working-dir", help="Where all files go; the result is moses.ini there.")
    ] = Path("mert-work")
    nbest: Annotated[int, typer.Option(min=1, help="Candidates per sentence and round.")] = 100
    decoder_flags: Annotated[str, typer.Option("--decoder-flags", help="More options for the decoder.")] = ""
    inputtype: Annotated[int, typer.Option(help="0: text, which is all that is read here.")] = 0
    batch_mira: Annotated[bool, _method("--batch-mira", help="Learn by MIRA instead of MERT.")] = False
    batch_mira_args: Annotated[
        str, _method("--batch-mira-args", help="Of kbmira: -J EPOCHS, -C AGGRESSIVENESS, --decay NUMBER.")
    ] = ""
    pairwise_ranked: Annotated[bool, _method("--pairwise-ranked", help="Learn by PRO instead of MERT.")] = False
    historic_interpolation: Annotated[
        float | None, _method("--historic-interpolation", min=0, max=1, help="Of PRO: the share of a round's weights.")
    ] = None
    random_restarts: Annotated[int | None, _method("--random-restarts", min=0, help="Of MERT; 20.")] = None
    number_of_random_directions: Annotated[
        int | None, _method("--number-of-random-directions", min=0, help="Of MERT, after the coordinates; 20.")
    ] = None
    setting: Annotated[
        list[str] | None, _method("--set", metavar="NAME=VALUE", help="A setting of the method, as in `tune`; repeat.")
    ] = None
    mertargs: Annotated[
        str,
        _method("--mertargs", help="Of these only --sctype BLEU, TER, WER or CHRF is taken; use --set for the rest."),
    ] = ""
    maximum_iterations: Annotated[int, typer.Option("--maximum-iterations", min=1, help="Rounds at most.")] = 25
    return_best_dev: Annotated[
        bool, typer.Option("--return-best-dev", help="Keep the round that decoded best, not the last one.")
    ] = False
    activate_features: Annotated[
        str | None,
        typer.Option(
            "--activate-features",
            metavar="NAMES",
            help="Features to tune, separated by commas or spaces: TM0_0 is the first value of TM0, TM0 all of them.",
        ),
    ] = None
    continue_: Annotated[bool, typer.Option("--continue", help="Go on after the last whole round.")] = False
    nocase: Annotated[bool, typer.Option("--nocase", help="Ignore case.")] = False
    closest: Annotated[bool, typer.Option("--closest", help="BLEU by the closest reference length, the default.")] = (
        False
    )
    shortest: Annotated[bool, typer.Option("--shortest", help="BLEU by the shortest reference length.")] = False
    average: Annotated[bool, typer.Option("--average", help="BLEU by the average reference length.")] = False
    mertdir: Annotated[str | None, _ignored(help="Nothing of Moses' mert folder is needed.")] = None
    rootdir: Annotated[str | None, _ignored(help="Nor of its scripts.")] = None
    no_filter_phrase_table: Annotated[
        bool, _ignored("--no-filter-phrase-table", help="Tables are never filtered here.")
    ] = False
    filter_phrase_table: Annotated[bool, _ignored("--filter-phrase-table", help="Likewise.")] = False
    filtercmd: Annotated[str | None, _ignored(help="Likewise.")] = None
    filterfile: Annotated[str | None, _ignored(help="Likewise.")] = None
    predictable_seeds: Annotated[
        bool, _ignored("--predictable-seeds", help="A run is always repeatable; see --seed.")
    ] = False
    jobs: Annotated[int | None, _ignored(help="There is one decoder process; give it threads in --decoder-flags.")] = (
        None
    )
    mosesparallelcmd: Annotated[str | None, _ignored(help="Likewise.")] = None
    queue_flags: Annotated[str | None, _ignored("--queue-flags", help="Likewise.")] = None
    qsubwrapper: Annotated[str | None, _ignored(help="Likewise.")] = None
    old_sge: Annotated[bool, _ignored("--old-sge", help="Likewise.")] = False
    range_: Annotated[
        list[str] | None, _ignored("--range", help="Random starts are near the given weights; limits are --set bounds.")
    ] = None
    skip_decoder: Annotated[bool, _ignored("--skip-decoder", help="--continue decodes nothing twice.")] = False
    nonorm: Annotated[bool, _ignored("--nonorm", help="Text is taken as it is.")] = False
    verbose: Annotated[bool, _ignored("--verbose", help="See --quiet.")] = False
    threads: Threads = 0
    seed: Seed = 1
    json: Json = False
    quiet: Quiet = False


_IGNORED = (
    "mertdir",
    "rootdir",
    "no_filter_phrase_table",
    "filter_phrase_table",
    "filtercmd",
    "filterfile",
    "predictable_seeds",
    "jobs",
    "mosesparallelcmd",
    "queue_flags",
    "qsubwrapper",
    "old_sge",
    "range_",
    "skip_decoder",
    "nonorm",
    "verbose",
)
_OWN_FILES = {"-config", "-f", "-ttable-file", "-t", "-distortion-file", "-generation-file", "-lmodel-file"}
_KBMIRA = {"-J": "n_epochs", "--iters": "n_epochs", "-C": "aggressiveness", "--C": "aggressiveness", "--decay": "decay"}
_METRICS = {"BLEU": "bleu", "TER": "ter", "WER": "wer", "CHRF": "chrf"}


@takes(MosesOptions)
def mert_moses(options: MosesOptions) -> None:
    """Tune Moses as mert-moses.pl does, with the same options: decode, learn, decode again.

    INPUT, REFERENCES, DECODER and CONFIG come in the order of mert-moses.pl, and options may have one dash as there.
    The decoder is called with -config, -input-file and -n-best-list. The result is WORKING_DIR/moses.ini.

    Example: dragoman mert-moses dev.de dev.en bin/moses model/moses.ini --decoder-flags="-threads 8" --batch-mira
    """
    session = Session(quiet=options.quiet)
    source, references, decoder, config = _four(options)
    method = _method_of(options)
    if options.inputtype != 0:
        raise InputError("--inputtype: only text (0) is read; confusion networks and lattices are not")
    if options.closest + options.shortest + options.average > 1:
        raise InputError("--closest, --shortest and --average exclude each other; give one of them")
    program = shutil.which(decoder)
    if program is None:
        raise InputError("is no program that can be run", path=decoder)
    metric = _metric_of(options.mertargs)
    for name in _IGNORED:
        if getattr(options, name):
            session.say(f"note: --{name.rstrip('_').replace('_', '-')} is not needed here and is ignored")
    wanted = options.activate_features
    frozen = None if wanted is None else frozen_features(wanted, config)
    length = ReferenceLength.SHORTEST if options.shortest else ReferenceLength.AVERAGE
    command = _command(program, options.decoder_flags)
    files = moses_references(references)
    options.working_dir.mkdir(parents=True, exist_ok=True)
    tune_as_told(
        TuneOptions(
            decoder=command,
            source=source,
            reference=files,
            metric=metric,
            reference_length=length if options.shortest or options.average else ReferenceLength.CLOSEST,
            weights=[config],
            weights_format=WeightFormat.MOSES_INI,
            template=Path(config),
            method=[method],
            setting=[*_settings_of(options, method), *(options.setting or ())] or None,
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


def _four(options: MosesOptions) -> tuple[str, str, str, str]:
    """What must be said, as arguments or as options."""
    given = {
        "INPUT (--input)": (options.source, options.input),
        "REFERENCES (--refs)": (options.references, options.refs),
        "DECODER (--decoder)": (options.decoder, options.decoder_option),
        "CONFIG (--config)": (options.config, options.config_option),
    }
    for name, (argument, option) in given.items():
        if argument is None and option is None:
            raise InputError(f"{name} is missing; expected INPUT REFERENCES DECODER CONFIG")
        if argument is not None and option is not None:
            raise InputError(f"{name} is given twice; leave out the argument or the option")
    source, references, decoder, config = (argument or option or "" for argument, option in given.values())
    return source, references, decoder, config


def _method_of(options: MosesOptions) -> str:
    """The method. Raises InputError for options of another one."""
    if options.batch_mira and options.pairwise_ranked:
        raise InputError("--batch-mira and --pairwise-ranked are two methods; give one of them")
    method = "mira" if options.batch_mira else "pro" if options.pairwise_ranked else "mert"
    for name, its_method in (
        ("batch_mira_args", "mira"),
        ("historic_interpolation", "pro"),
        ("random_restarts", "mert"),
        ("number_of_random_directions", "mert"),
    ):
        if getattr(options, name) not in (None, "") and method != its_method:
            raise InputError(
                f"--{name.replace('_', '-')} is for {its_method}, but the method is {method}; leave it out"
            )
    return method


def _settings_of(options: MosesOptions, method: str) -> list[str]:
    """The method's settings that Moses' options stand for."""
    if method == "mira":
        return _of_kbmira(options.batch_mira_args)
    if method == "pro":
        share = options.historic_interpolation
        return [] if share is None else [f"interpolation={share!r}"]
    restarts, directions = options.random_restarts, options.number_of_random_directions
    named = {"n_starts": None if restarts is None else restarts + 1, "n_directions": directions}
    return [f"{name}={value}" for name, value in named.items() if value is not None]


def _of_kbmira(text: str) -> list[str]:
    words = _split(text, "--batch-mira-args")
    found = []
    for name, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if name not in _KBMIRA:
            raise InputError(f"--batch-mira-args: '{name}' is not known here; --set takes the settings of mira")
        found.append(f"{_KBMIRA[name]}={value}")
    return found


def _metric_of(text: str) -> str:
    """The metric that --mertargs names."""
    words = _split(text, "--mertargs")
    if not words:
        return "bleu"
    if len(words) != 2 or words[0] != "--sctype" or words[1].upper() not in _METRICS:
        raise InputError(
            f"--mertargs: only --sctype with {', '.join(_METRICS)} is taken, not '{text}'; "
            "--set takes the settings of mert"
        )
    return _METRICS[words[1].upper()]


def _split(text: str, option: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


def _command(program: str, flags: str) -> str:
    """The decoder's command, as a template; flags are split as a shell would, and none is run."""
    words = [program, *_split(flags, "--decoder-flags")]
    if any("{" in word or "}" in word for word in words):
        raise InputError("the decoder and its flags must not have curly brackets")
    if own := [word for word in words if word in _OWN_FILES]:
        raise InputError(f"--decoder-flags must not have {own[0]}; CONFIG names all files of the model")
    return f"{shlex.join(words)} -config {{weights}} -input-file {{source}} -n-best-list {{nbest}} {{k}} distinct"


def frozen_features(wanted: str, config: str) -> list[str]:
    """All features of the moses.ini but those to be tuned.

    As in mert-moses.pl, `TM0_0` is the first value of TM0, which we call TM0_1, or TM0 if it is the only one.
    """
    import numpy as np

    from dragoman.features import read_weights

    index = read_weights(config).index
    names = index.names(np.arange(len(index), dtype=np.int32))
    groups: dict[str, list[str]] = {}
    for name in names:
        stem, _, place = name.rpartition("_")
        several = bool(stem) and place.isdecimal() and (f"{stem}_1" in names) and (f"{stem}_2" in names)
        groups.setdefault(stem if several else name, []).append(name)
    active: set[str] = set()
    for asked in wanted.replace(",", " ").split():
        stem, _, place = asked.rpartition("_")
        values = groups.get(stem, [])
        if asked in groups:
            active.update(groups[asked])
        elif place.isdecimal() and int(place) < len(values):
            active.add(values[int(place)])
        else:
            known = ", ".join(
                stem if len(values) == 1 else f"{stem}_0 … {stem}_{len(values) - 1}" for stem, values in groups.items()
            )
            raise InputError(f"no weight of this name: '{asked}'; there are: {known}", path=config)
    return sorted(set(names) - active)
