"""Hierarchical systems from and to the text files of others: Hiero, Thrax, cdec and Moses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dragoman.errors import InputError
from dragoman.features import WeightFormat, read_weights, write_weights
from dragoman.grammar import Grammar, RuleExtraction
from dragoman.grammar.rule_tables import RuleStyle, read_hiero, read_moses_glue, read_moses_rules, write_hiero
from dragoman.system.folder import GRAMMAR, LM, close_system, find_one, identity, make_folder, making, store_lm
from dragoman.system.hiero import chart_features, hiero_start_weights
from dragoman.system.manifest import MANIFEST
from dragoman.system.moses import MOSES_SCORES, MOSES_UNKNOWN
from dragoman.system.settings import DenseSet, ModelKind, SystemSettings
from dragoman.system.stages import Monitor, Silent
from dragoman.system.system import System
from dragoman.types import PathLike

__all__ = ["HieroFiles", "export_hiero", "import_hiero"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HieroFiles:
    """What a folder holds, by the names that Moses' scripts and `export_hiero` give."""

    rules: Path
    is_moses: bool
    glue: Path | None = None
    lm: Path | None = None
    weights: Path | None = None

    @classmethod
    def find(cls, folder: PathLike) -> HieroFiles:
        """Look for rule-table* with glue-grammar* (Moses) or grammar*, for *.arpa* (or lm*), and for weights."""
        base = Path(folder)
        if not base.is_dir():
            raise InputError("a folder with a grammar was expected", path=base)
        moses = find_one(base, "rule-table*")
        rules = moses or find_one(base, "grammar*", "*.hiero*", "*.scfg*")
        if rules is None:
            raise InputError("there is no rule-table* (Moses) and no grammar* (Hiero, Thrax, cdec) here", path=base)
        return cls(
            rules=rules,
            is_moses=moses is not None,
            glue=find_one(base, "glue-grammar*") if moses else None,
            lm=find_one(base, "*.arpa*", "lm*"),
            weights=find_one(base, "moses.ini", "*.ini") if moses else find_one(base, "weights*"),
        )


def import_hiero(
    folder: PathLike,
    out: PathLike,
    *,
    lm: PathLike | None = None,
    settings: SystemSettings | None = None,
    resume: bool = False,
    n_threads: int = 1,
    monitor: Monitor | None = None,
) -> System:
    """A system with the rules, labels and scores of a grammar in text; its weights are those found beside it.

    Features that the weights do not name weigh 0, unless there are no weights at all: then tuning starts from ours.
    """
    files = HieroFiles.find(folder)
    lm = lm or files.lm
    if lm is None:
        raise InputError("there is no language model (*.arpa*) in this folder; name one with --lm", path=folder)
    given = {"rules": files.rules, "glue": files.glue, "lm": lm, "weights": files.weights}
    settings = replace(settings or SystemSettings(), model=ModelKind.HIERO, n_folds=1)
    record = {name: identity(path) for name, path in given.items() if path is not None}
    monitor = monitor or Silent()
    with making(out, {**record, "dense": settings.dense.value}, monitor, resume=resume) as (base, stages):
        if not (base / MANIFEST).exists():
            stages.do("grammar", partial(_read_rules, base, files, n_threads, monitor), makes=base / GRAMMAR)
            stages.do("language model", partial(store_lm, base, lm, monitor), makes=base / LM)
            close_system(base, settings, stages, _weights(files, Grammar.load(base / GRAMMAR), settings.dense))
    return System.load(base)


def _read_rules(base: Path, files: HieroFiles, n_threads: int, monitor: Monitor) -> None:
    read = read_moses_rules if files.is_moses else read_hiero
    with monitor.progress("reading rules") as progress:
        grammar = read(files.rules, base / GRAMMAR, config=RuleExtraction(n_threads=n_threads), progress=progress)
    if len(grammar) == 0:
        raise InputError("has no rules; is the file whole?", path=files.rules)
    monitor.say(f"{len(grammar):,} rules")


def _weights(files: HieroFiles, grammar: Grammar, dense: DenseSet) -> dict[str, float]:
    names = chart_features(dense, grammar.rule_view().score_names).names()
    if files.weights is None:
        ours = hiero_start_weights(dense)
        return {name: ours.get(name, 0.0) for name in names}
    if files.is_moses:
        return _moses_weights(files.weights, files.glue, names)
    found = dict(read_weights(files.weights).items())
    return dict.fromkeys(names, 0.0) | found


def _moses_weights(path: Path, glue: Path | None, names: Sequence[str]) -> dict[str, float]:
    """Moses counts glue and words passed through as rules too; a glue rule has a score of its own."""
    theirs = dict(read_weights(path, format_=WeightFormat.MOSES_INI).items())

    def value(name: str) -> float:
        if name not in theirs:
            raise InputError(f"the weights lack {name}", path=path)
        return theirs[name]

    rule = theirs.get("PhrasePenalty0", 0.0)
    score = read_moses_glue(glue).score if glue is not None else 1.0
    ours = {
        "lm": value("LM0"),
        "words": -value("WordPenalty0"),
        "rules": rule,
        "arity_0": rule,
        "arity_1": rule,
        "arity_2": rule,
        "glue": rule + score * theirs.get("TranslationModel1", 0.0),
        "unknown": rule + MOSES_UNKNOWN * theirs.get("UnknownWordPenalty0", 1.0),
    }
    for place, name in enumerate(MOSES_SCORES, start=1):
        ours[name] = value(f"TranslationModel0_{place}")
    return {name: ours.get(name, 0.0) for name in names}


def export_hiero(
    system: System,
    out: PathLike,
    *,
    fold: int | None = None,
    style: RuleStyle = RuleStyle.CDEC,
    monitor: Monitor | None = None,
) -> Path:
    """Write grammar, ARPA model and weights into a folder; returns the path of the grammar.

    Weights have our names for features; the grammar names its scores the same way.
    """
    base = Path(out)
    make_folder(base)
    monitor = monitor or Silent()
    view = system.grammar.rule_view(system.settings.rule_view_config(fold))
    with monitor.progress("writing rules", view.tables.n_sources()) as progress:
        write_hiero(view, base / "grammar.gz", style=style, progress=progress)
    monitor.say("writing the language model")
    system.lm(fold).export_arpa(base / "lm.arpa.gz")
    write_weights(system.weights, base / "weights", format_=WeightFormat.CDEC)
    return base / "grammar.gz"
