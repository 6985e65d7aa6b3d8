"""Hierarchical systems from and to the text files of others: Hiero, Thrax, cdec and Moses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.errors import InputError
from dragoman.features import WeightFormat, read_weights, write_weights
from dragoman.grammar import Grammar, RuleExtraction
from dragoman.grammar.rule_tables import RuleStyle, read_hiero, read_moses_glue, read_moses_rules, write_hiero
from dragoman.system.foreign import MOSES_SCORES, MOSES_UNKNOWN, ForeignTables, find_one, weight_of
from dragoman.system.hiero import chart_features, start_weights
from dragoman.system.settings import HieroSettings
from dragoman.system.stages import Monitor
from dragoman.types import PathLike, Progress

if TYPE_CHECKING:
    from dragoman.system.system import System

__all__ = ["export", "find_tables"]


def find_tables(folder: Path, settings: HieroSettings, stated: frozenset[str]) -> ForeignTables:
    """Look for rule-table* with glue-grammar* (Moses) or grammar*, for *.arpa* (or lm*), and for weights.

    Features that the weights do not name weigh 0, unless there are no weights at all: then tuning starts from ours.
    """
    moses = find_one(folder, "rule-table*")
    rules = moses or find_one(folder, "grammar*", "*.hiero*", "*.scfg*")
    if rules is None:
        raise InputError("there is no rule-table* (Moses) and no grammar* (Hiero, Thrax, cdec) here", path=folder)
    glue = find_one(folder, "glue-grammar*") if moses else None
    weights = find_one(folder, "moses.ini", "*.ini") if moses else find_one(folder, "weights*")

    def read(goal: PathLike, n_threads: int, progress: Progress) -> Grammar:
        reader = read_moses_rules if moses else read_hiero
        return reader(rules, goal, config=RuleExtraction(n_threads=n_threads), progress=progress)

    def settle(grammar: Grammar) -> tuple[HieroSettings, dict[str, float]]:
        names = chart_features(settings.dense, grammar.rule_view().score_names).names()
        if weights is None:
            ours = start_weights(settings)
            return settings, {name: ours.get(name, 0.0) for name in names}
        if moses:
            return settings, _moses_weights(weights, glue, names)
        return settings, dict.fromkeys(names, 0.0) | dict(read_weights(weights).items())

    return ForeignTables(
        grammar=rules,
        lm=find_one(folder, "*.arpa*", "lm*"),
        others={"glue": glue, "weights": weights},
        read=read,
        settle=settle,
    )


def _moses_weights(path: Path, glue: Path | None, names: Sequence[str]) -> dict[str, float]:
    """Moses counts glue and words passed through as rules too; a glue rule has a score of its own."""
    theirs = dict(read_weights(path, format_=WeightFormat.MOSES_INI).items())
    rule = theirs.get("PhrasePenalty0", 0.0)
    score = read_moses_glue(glue).score if glue is not None else 1.0
    ours = {
        "lm": weight_of(theirs, "LM0", path),
        "words": -weight_of(theirs, "WordPenalty0", path),
        "rules": rule,
        "arity_0": rule,
        "arity_1": rule,
        "arity_2": rule,
        "glue": rule + score * theirs.get("TranslationModel1", 0.0),
        "unknown": rule + MOSES_UNKNOWN * theirs.get("UnknownWordPenalty0", 1.0),
    }
    for place, name in enumerate(MOSES_SCORES, start=1):
        ours[name] = weight_of(theirs, f"TranslationModel0_{place}", path)
    return {name: ours.get(name, 0.0) for name in names}


def export(system: System, base: Path, fold: int | None, monitor: Monitor) -> dict[str, Path]:
    """Write grammar (as cdec reads it), ARPA model and weights into a folder.

    Weights have our names for features; the grammar names its scores the same way.
    """
    settings = system.settings
    view = system.grammar.rule_view(settings.of(HieroSettings).view_config(settings.max_targets, fold))
    with monitor.progress("writing rules", view.tables.n_sources()) as progress:
        write_hiero(view, base / "grammar.gz", style=RuleStyle.CDEC, progress=progress)
    monitor.say("writing the language model")
    system.lm(fold).export_arpa(base / "lm.arpa.gz")
    write_weights(system.weights, base / "weights", format_=WeightFormat.CDEC)
    return {"grammar": base / "grammar.gz"}
