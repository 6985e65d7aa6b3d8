"""The options of `dragoman tune`: declared here once, for the command line and for the code behind it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.engine_options import Address, EngineOption, Workers
from dragoman.cli.list_options import FeatureOptions, added_files
from dragoman.cli.session import Json, Quiet, Seed, Threads
from dragoman.errors import InputError
from dragoman.features import WeightFormat
from dragoman.optim import LIST_METHODS, OPTIMISERS, LearnsFrom, Optimiser, list_methods, method_named
from dragoman.settings import listed
from dragoman.tuning import Keep, LastSearch, LearnFrom, LoopSettings, PhiBlocks, PhiSettings, Theta, read_moses_run
from dragoman.work.engine import EngineName

__all__ = ["ALL", "TuneOptions", "flag"]

ALL = "all"
_PATIENCE = 10
_FLAGS = {"reference": "-r", "format_": "--format", "setting": "--set", "out": "-o"}
_candidates, _method, _loop, _system, _training, _result = (
    partial(typer.Option, rich_help_panel=panel)
    for panel in ("Candidates", "Method", "Loop", "System", "Learned sparse weights (--train, --phi)", "Result")
)
_METHOD_HELP = (
    f"mert unless given. For lists: {', '.join(LIST_METHODS)}; with --system also "
    f"{', '.join(name for name in OPTIMISERS.imported() if name not in LIST_METHODS)}; {ALL} compares the methods for "
    "lists by cross-validation; repeated, those that are named. PACKAGE.MODULE:CLASS is a method of your own."
)


def parse_weight_format(text: str | WeightFormat) -> WeightFormat:
    """A format by its name, or by the first name of ours."""
    try:
        return WeightFormat(text)
    except ValueError:
        raise typer.BadParameter(f"expected one of {', '.join(format_.value for format_ in WeightFormat)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions(FeatureOptions):
    """What the user said; None (or the default) where nothing was said."""

    stats: Annotated[
        tuple[str, str] | None,
        _candidates(
            metavar="FEATURES SCORES",
            help="Moses statistics files, text or binary, instead of lists; several separated by commas, as for mert.",
        ),
    ] = None
    decoder: Annotated[
        str | None,
        _candidates(
            metavar="COMMAND",
            help="Decode round after round with this command: {weights} to read, {nbest} to write, "
            "optionally {source} {k} {round} {seed}. No shell is involved.",
        ),
    ] = None
    moses_run: Annotated[
        str | None,
        _candidates(
            metavar="FOLDER",
            help="The working folder of mert-moses.pl: lists of all rounds, weights of the last, references.",
        ),
    ] = None
    forest: Annotated[
        list[str] | None,
        _candidates(
            metavar="PATH",
            help="Stored search spaces of any decoder (Moses, cdec, Travatar, ours): a folder, or a file; repeat. "
            "Searched round after round.",
        ),
    ] = None
    lists: Annotated[
        str | None,
        _candidates(metavar="FOLDER", help="Stored lists of the training text (dragoman lists), streamed."),
    ] = None
    system: Annotated[
        str | None,
        _candidates(
            metavar="FOLDER",
            help="Decode round after round with this system of ours; with --lists, where their system is now.",
        ),
    ] = None
    source: Annotated[
        str | None,
        _candidates(
            "--source",
            "-s",
            metavar="FILE",
            help="Source sentences, one per line, for --decoder, --system and --add; with --forest for their lengths.",
        ),
    ] = None
    dense: Annotated[
        list[str] | None,
        _candidates(metavar="NAME", help="Dense feature of the lists; repeat. Detected unless given."),
    ] = None
    method: Annotated[list[str] | None, _method(metavar="NAME", help=_METHOD_HELP)] = None
    setting: Annotated[
        list[str] | None,
        _method(
            "--set",
            metavar="NAME=VALUE",
            help=f"A setting of the method, as TOML or a bare word; repeat. With --method {ALL}: METHOD.NAME=VALUE. "
            "--set help lists them.",
        ),
    ] = None
    weights: Annotated[
        list[str] | None,
        _method(
            metavar="FILE",
            help="Start: our TSV, moses.ini, run.dense, cdec or Joshua weights; init.opt with --stats. Repeat for "
            "files that complement each other.",
        ),
    ] = None
    freeze: Annotated[
        list[str] | None,
        _method(
            metavar="NAME",
            help="Keep the weight of this feature, or of a group: TranslationModel0 is TranslationModel0_1 and so on; "
            "repeat.",
        ),
    ] = None
    folds: Annotated[
        int | None,
        _method(
            metavar="N",
            help=f"Folds of cross-validation: of --method {ALL}, 5 unless given; of one method, to see whether its "
            "gain holds on sentences that it did not learn from.",
        ),
    ] = None
    bootstrap: Annotated[
        int | None,
        _method(min=2, metavar="N", help="Train on N resamples of the sentences, for intervals of weights and scores."),
    ] = None
    k: Annotated[
        int | None,
        _loop("--k", min=1, metavar="N", help="Candidates per sentence and round; 100 unless given, 30 with --online."),
    ] = None
    rounds: Annotated[
        int | None, _loop(min=1, metavar="N", help="Rounds of decoding and learning at most; 30 unless given.")
    ] = None
    patience: Annotated[
        int | None,
        _loop(min=0, metavar="N", help="Stop after N rounds without a better score; 10 unless given, 0: never."),
    ] = None
    keep: Annotated[Keep | None, _loop(help="Weights of the round that decoded best (default), or the last.")] = None
    timeout: Annotated[
        float | None,
        _loop(metavar="SECONDS", help="Time limit of the --decoder command in a round; a day unless given."),
    ] = None
    features: Annotated[
        list[str] | None,
        _system(
            metavar="NAME",
            help="Sparse features of the system, or of --lists: a set such as extended, or a template; repeat.",
        ),
    ] = None
    online: Annotated[
        bool,
        _system(
            "--online",
            help="Learn from each sentence as soon as it is decoded (mira, rm, svm, softramp); rounds are passes of 15 "
            "learners side by side (--set learners=N).",
        ),
    ] = False
    learn_from: Annotated[
        LearnFrom | None,
        _system(
            help="With --online: training learns from the training text of a system with folds (train --folds), each "
            "line decoded by the tables without its fold; the development set then only measures the rounds. lists is "
            "--train.",
        ),
    ] = None
    train: Annotated[
        bool,
        _system(
            "--train",
            help="Learn from lists of the training text, made once: theta (the system's weights, or mert on the "
            "development set), lists by folds, --method on them, and what --last says, all by --seed. The same as "
            "--learn-from lists.",
        ),
    ] = False
    theta: Annotated[
        Theta | None,
        _training(
            help="Baseline weights: auto (default) takes the system's if it is tuned and else searches; system; search "
            "by mert on the development set.",
        ),
    ] = None
    where: Annotated[
        str | None,
        _training(metavar="DOMAIN", help="Lines of this domain only (train --domains); of all others with a ! before."),
    ] = None
    all_data: Annotated[
        bool,
        _training("--all-data", help="Decode lists by tables that have seen the lines: an ablation."),
    ] = False
    text_source: Annotated[
        str | None,
        _training(
            metavar="FILE",
            help="fastforest: learn from these pairs instead of the training text; source sentences, as tokens.",
        ),
    ] = None
    text_target: Annotated[str | None, _training(metavar="FILE", help="fastforest: their translations, as tokens.")] = (
        None
    )
    text_align: Annotated[
        str | None, _training(metavar="FILE", help="fastforest: word links of each pair, as 0-0 1-2 (dragoman align).")
    ] = None
    phi: Annotated[
        str | None,
        _training(
            metavar="FILE",
            help="Sparse weights that were learned before: they stay but for a weight of each of their --blocks, which "
            "is tuned by --method as --last says.",
        ),
    ] = None
    blocks: Annotated[
        PhiBlocks | None,
        _training(
            help="Blocks of learned weights in the last search: one (default), one for each template or orientation, "
            "or none: they stay as they are.",
        ),
    ] = None
    last: Annotated[
        LastSearch | None,
        _training(
            help="What is tuned in the end: none (default of --train); dev: dense weights and blocks on the "
            "development set (default of --phi); blocks: these alone; held-out, held-out-blocks (default of "
            "fastforest): on lines of the last fold, which --train then does not learn from.",
        ),
    ] = None
    judge_lines: Annotated[
        int | None,
        _training(
            min=50,
            metavar="N",
            help="Lines of the last fold, at most a quarter of it, that judge what --train or hols learned: where "
            "they are decoded worse, the start is kept unless --keep last; 1,000 unless given.",
        ),
    ] = None
    limit: Annotated[
        int | None,
        _system(metavar="N", help="Lines of the training text to learn from, evenly over folds; all unless given."),
    ] = None
    distinct: Annotated[
        bool | None,
        _system(
            "--distinct/--no-distinct",
            help="Candidates with different words only; unless given, with mira and rm --online.",
        ),
    ] = None
    raw: Annotated[
        bool | None,
        _system(
            "--raw/--tokenized",
            help="Whether source and references are raw or tokens; what the system was trained on unless given.",
        ),
    ] = None
    languages: Annotated[
        str | None,
        _system(metavar="SRC-TGT", help="With --raw: codes such as de-en that training lacked; the result keeps them."),
    ] = None
    without_fold: Annotated[
        int | None, _system(min=0, metavar="N", help="Leave this fold out of the training data.")
    ] = None
    fast: Annotated[bool, _system("--fast", help="Less search.")] = False
    accurate: Annotated[bool, _system("--accurate", help="More search.")] = False
    out: Annotated[
        Path | None,
        _result(
            "--out",
            "-o",
            metavar="FILE",
            help="Where the tuned weights go; with --system, the folder of the tuned system.",
        ),
    ] = None
    weights_format: Annotated[
        WeightFormat,
        _result(
            parser=parse_weight_format,
            metavar="[tsv|moses|moses-dense|cdec|binary]",
            help="Format of the result and of what the decoder reads; -o FILE.bin is binary anyway.",
        ),
    ] = WeightFormat.TSV
    template: Annotated[
        Path | None, _result(metavar="FILE", help="A moses.ini whose other sections the result keeps.")
    ] = None
    system_out: Annotated[
        Path | None, _result(metavar="FOLDER", help="With --lists: also a tuned system with the weights found.")
    ] = None
    run: Annotated[
        Path | None, _result(metavar="FOLDER", help="Record the run here; with --system it is always OUT/tune.")
    ] = None
    resume: Annotated[
        bool, _result("--resume", help="Continue the run in that folder; --rounds and --patience may be others.")
    ] = False
    test: Annotated[
        str | None,
        _result(metavar="FILE", help="With --system: a test set, scored before and after with significance."),
    ] = None
    test_reference: Annotated[list[str] | None, _result(metavar="FILE", help="References of --test; repeat.")] = None
    engine: EngineOption = EngineName.LOCAL
    workers: Workers = None
    address: Address = None
    threads: Threads = 0
    seed: Seed = 1
    json: Json = False
    quiet: Quiet = False

    def resolved(self) -> TuneOptions:
        """With the files of --moses-run as lists, start and references; what was given counts more.

        Raises InputError for other candidates beside it, and where its references are not known.
        """
        if self.moses_run is None:
            return self
        for name in ("nbest", "stats", "forest", "lists", "decoder", "system"):
            if getattr(self, name) is not None:
                raise InputError(f"--moses-run and {flag(name)} exclude each other; give one of them")
        found = read_moses_run(self.moses_run)
        references = self.reference or [str(path) for path in found.references]
        measurable = self.reference or (found.references and all(path.exists() for path in found.references))
        if found.statistics and not (found.lists and measurable):
            features, scores = (",".join(map(str, each)) for each in zip(*found.statistics, strict=True))
            weights = self.weights or [str(path) for path in found.weights]
            return dataclasses.replace(self, stats=(features, scores), weights=weights, moses_run=None)
        if not references:
            raise InputError("does not say what its references are; give them with -r", path=self.moses_run)
        template = self.template
        if template is None and self.weights_format is WeightFormat.MOSES_INI:
            template = found.config
        return dataclasses.replace(
            self,
            nbest=[str(path) for path in found.lists],
            weights=self.weights or [str(path) for path in found.weights],
            reference=references,
            template=template,
            moses_run=None,
        )

    def statistics_files(self) -> list[str]:
        """Those of --stats: of features, then of scores."""
        return [name for names in self.stats or () for name in ([names] if Path(names).exists() else names.split(","))]

    def given(self) -> set[str]:
        """Names of the fields that differ from their defaults."""
        return {f.name for f in dataclasses.fields(self) if getattr(self, f.name) not in (f.default, [])}

    @property
    def method_name(self) -> str:
        """The method, or `all` for those that are compared. Raises InputError for `all` with others, or one twice."""
        names = self.method or ["mert"]
        if len(names) > 1 and (ALL in names or len(set(names)) < len(names)):
            raise InputError(f"--method was given {len(names)} times ({', '.join(names)}); give one, or {ALL}")
        return names[0] if len(names) == 1 else ALL

    @property
    def method_type(self) -> type[Optimiser]:
        """The class of the method; of those that are compared, what all methods share."""
        return Optimiser if self.comparing else method_named(self.method_name)

    def compared_methods(self) -> tuple[str, ...]:
        """The methods for lists that were named, or all. Raises InputError for one that does not learn from lists."""
        names = self.method or []
        if len(names) < 2:
            return list_methods()
        for name in names:
            if method_named(name).learns_from is not LearnsFrom.LISTS:
                raise InputError(f"--method {name} cannot be compared on lists; {listed(name, list_methods())}")
        return tuple(names)

    @property
    def comparing(self) -> bool:
        return self.method_name == ALL

    def inputs(self) -> list[str]:
        lists = (
            self.nbest,
            self.statistics_files(),
            self.score_files(),
            self.forest,
            self.reference,
            self.weights,
            self.test_reference,
        )
        files = (self.lists, self.system, self.source, self.template, self.phi, self.test, *self.text_files())
        single = [name for name in files if name is not None]
        return [*map(str, single), *(name for names in lists for name in names or ()), *added_files(self.add)]

    def text_files(self) -> tuple[str | None, str | None, str | None]:
        """Pairs to learn from: source, target, links."""
        return self.text_source, self.text_target, self.text_align

    @property
    def tunes_system(self) -> bool:
        """Whether -o is the folder of a tuned system."""
        return self.system is not None and self.lists is None

    @property
    def learns_from(self) -> LearnFrom:
        return LearnFrom.LISTS if self.train else self.learn_from or self.method_type.default_learn_from

    def phi_settings(self) -> PhiSettings:
        """What was said about learned sparse weights; the seed is that of all steps."""
        names = ("blocks", "last", "theta", "where", "all_data")
        given = self.given()
        return PhiSettings(training_seed=0, **{name: getattr(self, name) for name in names if name in given})

    def target(self) -> Path:
        """Where the result goes. Raises InputError if nothing was said."""
        if self.out is None:
            raise InputError("say where the weights go with -o")
        return self.out

    def loop_settings(self) -> LoopSettings:
        """When the loop stops, and which round it keeps."""
        return LoopSettings(
            max_rounds=LoopSettings().max_rounds if self.rounds is None else self.rounds,
            keep=self.keep or Keep.BEST,
            patience=(_PATIENCE if self.patience is None else self.patience) or None,
        )


def flag(field: str) -> str:
    """The option that sets a field."""
    return _FLAGS.get(field, "--" + field.replace("_", "-"))
