"""Recipes of kind `lists`: candidate lists of any model, with groups of features and methods that learn weights."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

from dragoman.candidates import (
    ExternalObjective,
    MixedObjective,
    Objective,
    Pool,
    has_scores,
    mixes_metrics,
    summed_names,
)
from dragoman.candidates.features import CANDIDATE_FEATURES
from dragoman.errors import InputError
from dragoman.experiments.corpora import TEST, CorpusFiles, CorpusPlan, PartFiles, PartPlan, read_corpus
from dragoman.experiments.drawing import Drawn
from dragoman.experiments.optimisers import TuningPlan, read_method, read_optimiser
from dragoman.experiments.report_plan import ReportPlan, matches, read_published, read_report
from dragoman.experiments.systems import SystemPlan, read_system
from dragoman.experiments.table import RecipeTable
from dragoman.metric import Smoothing, Tokenizer
from dragoman.optim import LearnsFrom, Optimiser
from dragoman.run import CellKey
from dragoman.settings import Record, listed
from dragoman.tuning import LearnFrom

__all__ = [
    "DEV",
    "Choosing",
    "FeatureGroup",
    "ListCorpus",
    "ListFiles",
    "ListRecipe",
    "ListSelection",
    "ListSystem",
    "MethodPlan",
    "TrainedPlan",
    "dropped",
    "read_list_recipe",
    "trained_names",
]

DEV = "dev"
_TRAINED = re.compile(r"\{([^{}]*)\}")
_TUNED = ".tuned"


class Choosing(StrEnum):
    """How candidates are chosen."""

    LEARN = "learn"
    """By learned weights."""
    FIRST = "first"
    """The first of each list."""
    MBR = "mbr"
    """Minimum Bayes risk, uniform over the list, by the metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """The files of a corpus: text of its held-out parts, lists by name and part, and its training text."""

    parts: Mapping[str, PartFiles]
    lists: Mapping[str, Mapping[str, tuple[Path, ...]]]
    training: CorpusFiles | None
    """None unless a system is trained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCorpus:
    """Text of a corpus, and the names of lists of its development and test sets."""

    text: CorpusPlan
    lists: Mapping[str, Mapping[str, tuple[str, ...]]]
    """File names by name of the list and part."""

    def find(self, *, trains: bool) -> ListFiles:
        """The files; those of the training text if a system is trained. Raises InputError with the key."""
        if trains and self.text.train is None:
            raise InputError(f"'corpora.{self.text.name}.train' is missing: a system is to be trained on it")
        parts = self.text.held_out_files()
        lists = {
            name: {part: self.text.all_files(f"lists.{name}", patterns) for part, patterns in of_part.items()}
            for name, of_part in self.lists.items()
        }
        return ListFiles(parts=parts, lists=lists, training=self.text.find() if trains else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedPlan:
    """A system that is trained on the corpus; tuned, it makes lists of its own."""

    system: SystemPlan
    tuning: TuningPlan | None
    k: int
    """Candidates of a sentence in its lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSystem:
    """Lists that are one pool, and the weights to start from."""

    lists: tuple[str, ...]
    """Names of lists of the corpus, or of trained systems."""
    start: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGroup:
    """Features that candidates get, after those of another group."""

    extends: str | None
    add: tuple[str, ...]
    drop: tuple[str, ...]
    """Patterns of features that are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPlan(Record):
    """How candidates are chosen, and by what objective."""

    choosing: Choosing
    optimiser: Optimiser | None
    metric: str = "bleu"
    tokenizer: Tokenizer = Tokenizer.NONE
    lowercase: bool = False
    external: str | None = None
    lower_is_better: bool = False
    fill_missing: bool = False
    """A candidate without the external score has the mean of its list."""
    folds: int = 0
    """Folds of the development set, each held out once, to tell what is expected of new sentences; 0: none."""

    def objective(self, references: Sequence[Sequence[str]] = ()) -> Objective:
        """By the metric of references; unsmoothed, as in MERT, but for minimum Bayes risk."""
        return Objective(
            self.metric,
            references,
            tokenizer=self.tokenizer,
            lowercase=self.lowercase,
            smoothing=Smoothing.EXP if self.choosing is Choosing.MBR else Smoothing.NONE,
            allow_missing=True,
        )

    def external_objective(self, told: str, pool: Pool, references: Sequence[Sequence[str]]) -> Objective:
        """By scores that the candidates have, and what metrics are added to them."""
        if has_scores(pool, told):
            return ExternalObjective(told, higher_is_better=not self.lower_is_better, fill_missing=self.fill_missing)
        return MixedObjective(
            told,
            references,
            tokenizer=self.tokenizer,
            lowercase=self.lowercase,
            allow_missing=True,
            fill_missing=self.fill_missing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSelection:
    """The cells to run, and the files of their corpora."""

    cells: tuple[CellKey, ...]
    files: Mapping[str, ListFiles]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRecipe:
    """A checked recipe."""

    title: str
    citation: str
    expected: str
    cost: str
    base: Path
    """The folder that files are relative to."""
    corpora: Mapping[str, ListCorpus]
    trained: Mapping[str, TrainedPlan]
    systems: Mapping[str, ListSystem]
    features: Mapping[str, FeatureGroup]
    methods: Mapping[str, MethodPlan]
    cells: tuple[CellKey, ...]
    report: ReportPlan
    published: tuple[Mapping[str, Any], ...]
    content: Mapping[str, Any]
    """The parsed TOML, including changes by `--set`."""

    def select(self, patterns: Sequence[str] = ()) -> ListSelection:
        """The cells whose names match one of the patterns, with the files that they need.

        Raises InputError if nothing matches, and for missing or inconsistent files.
        """
        cells = tuple(cell for cell in self.cells if not patterns or matches(cell, patterns))
        if not cells:
            raise InputError(
                f"no cell matches {' or '.join(patterns)}; cells are named like {self.cells[0].name}, and * stands for "
                "anything"
            )
        trains = {cell.corpus for cell in cells if self.trained_of(cell)}
        names = dict.fromkeys(cell.corpus for cell in cells)
        files = {name: self.corpora[name].find(trains=name in trains) for name in names}
        for cell in cells:
            for name in self.systems[cell.system].lists:
                if name not in self.trained and name not in files[cell.corpus].lists:
                    raise InputError(
                        f"systems.{cell.system}.lists: there is no list '{name}' in [corpora.{cell.corpus}.lists]"
                    )
        return ListSelection(cells=cells, files=files)

    def groups(self, name: str) -> list[str]:
        """A feature group after those that it extends, the first of which extends none."""
        found = [name]
        while (before := self.features[found[0]].extends) is not None:
            found.insert(0, before)
        return found

    def trained_of(self, cell: CellKey) -> set[str]:
        """The trained systems that a cell needs."""
        told = [text for group in self.groups(cell.features) for text in self.features[group].add]
        named = {name for name, _ in trained_names(told)}
        return named | {name for name in self.systems[cell.system].lists if name in self.trained}


def trained_names(told: Sequence[str]) -> list[tuple[str, bool]]:
    """The trained systems that features name as `{NAME}` or `{NAME.tuned}`, and whether they must be tuned."""
    names = [name for text in told for name in _TRAINED.findall(text)]
    return [(name.removesuffix(_TUNED), name.endswith(_TUNED)) for name in dict.fromkeys(names)]


def read_list_recipe(table: RecipeTable, content: Mapping[str, Any], base: Path) -> ListRecipe:
    """Check everything except the files."""
    title, citation, expected, cost = (table.text(key) for key in ("title", "citation", "expected", "cost"))
    if not title:
        raise InputError("'title' is missing; expected text")
    corpora = {name: _read_corpus(name, entry, base) for name, entry in table.entries("corpora").items()}
    trained = {}
    if "trained" in table:
        trained = {name: _read_trained(name, entry) for name, entry in table.entries("trained").items()}
    systems = {name: _read_system(name, entry, trained) for name, entry in table.entries("systems").items()}
    features = {name: _read_group(entry, trained) for name, entry in table.entries("features").items()}
    _check_groups(features)
    methods = {name: _read_method(name, entry) for name, entry in table.entries("optimisers").items()}
    cells: dict[CellKey, None] = {}
    orders: tuple[Collection[str], ...] = (corpora, systems, features, methods)
    for grid in table.tables("grid"):
        keys = ("corpora", "systems", "features", "optimisers")
        names = [grid.names(key, defined) for key, defined in zip(keys, orders, strict=True)]
        seeds = grid.numbers("seeds", 0, int)
        grid.done()
        for corpus, system, feature, method, seed in product(*names, seeds):
            key = CellKey(corpus=corpus, system=system, features=feature, optimiser=method, seed=seed)
            cells[key] = None
    table.need("grid", cells)
    places = [{name: place for place, name in enumerate(names)} for names in orders]
    in_order = sorted(
        cells,
        key=lambda c: (
            places[0][c.corpus],
            places[1][c.system],
            places[2][c.features],
            places[3][c.optimiser],
            c.seed,
        ),
    )
    rows = {f"{key.system}/{key.features}/{key.optimiser}" for key in cells}
    report = read_report(table.table("report"), {*methods, *systems, *features, *rows}, orders, in_order[0])
    published = tuple(read_published(entry) for entry in table.tables("published"))
    table.find("kind", str)
    table.done()
    return ListRecipe(
        title=title,
        citation=citation,
        expected=expected,
        cost=cost,
        base=base,
        corpora=corpora,
        trained=trained,
        systems=systems,
        features=features,
        methods=methods,
        cells=tuple(in_order),
        report=report,
        published=published,
        content={**content, "published": list(published)},
    )


def _read_corpus(name: str, table: RecipeTable, base: Path) -> ListCorpus:
    for key in ("synth", "raw"):
        if key in table:
            raise InputError(f"'{table.named(key)}' does not belong to a recipe of lists")
    told = table.find("lists", dict) or {}
    lists = {list_: RecipeTable(of_part, table.named(f"lists.{list_}")) for list_, of_part in told.items()}
    text = read_corpus(name, table, base, needs_training=False)
    drawn = [part for part in (text.dev, *text.tests.values()) if isinstance(part, Drawn)]
    if drawn:
        raise InputError(f"{table.named(DEV)}: lists belong to lines of files, not to a drawing")
    for files in (text.dev, *text.tests.values()):
        if isinstance(files, PartPlan) and files.skip:
            raise InputError(f"{table.named(DEV)}: 'skip' does not go together with lists, which number all lines")
    found = {}
    for list_, entry in lists.items():
        found[list_] = {DEV: entry.texts(DEV), **{test.part: entry.texts(test.name) for test in text.test_parts()}}
        for part, patterns in found[list_].items():
            if not patterns:
                raise InputError(f"'{entry.named(part.removeprefix(f'{TEST}-'))}' is missing; expected a file of lists")
        entry.done()
    return ListCorpus(text=text, lists=found)


def _read_trained(name: str, table: RecipeTable) -> TrainedPlan:
    k = table.number("k", 2, 50)
    tuning = None
    if "tune" in table:
        tuning = read_optimiser("mira", table.need_table("tune"))
        if tuning.config.learn_from is not LearnFrom.DEVELOPMENT:
            raise InputError(f"{table.named('tune')}: a system that makes lists is tuned on the development set")
    else:
        table.find("tune", dict)
    return TrainedPlan(system=read_system(name, table), tuning=tuning, k=k)


def _read_system(name: str, table: RecipeTable, trained: Mapping[str, TrainedPlan]) -> ListSystem:
    lists = table.texts("lists") or (name,)
    if len(set(lists)) < len(lists):
        raise table.wrong("lists", "a list is named twice")
    for list_ in lists:
        if list_ in trained and trained[list_].tuning is None:
            raise table.wrong("lists", f"'trained.{list_}.tune' is missing: lists are made with tuned weights")
    start = table.find("start", dict) or {}
    for feature, value in start.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise table.wrong("start", f"the weight of '{feature}' must be a number")
    table.done()
    return ListSystem(lists=lists, start={feature: float(value) for feature, value in start.items()})


def _read_group(table: RecipeTable, trained: Mapping[str, TrainedPlan]) -> FeatureGroup:
    add = table.texts("add")
    for text in add:
        kind = text.partition("=")[0]
        if kind not in CANDIDATE_FEATURES:
            raise table.wrong("add", listed(kind, CANDIDATE_FEATURES))
    for name, tuned in trained_names(add):
        if name not in trained:
            raise table.wrong("add", f"there is no {name!r} in [trained]; {listed(name, trained)}")
        if tuned and trained[name].tuning is None:
            raise table.wrong("add", f"'trained.{name}.tune' is missing")
    group = FeatureGroup(extends=table.find("extends", str), add=add, drop=table.texts("drop"))
    table.done()
    return group


def _check_groups(groups: Mapping[str, FeatureGroup]) -> None:
    for name, group in groups.items():
        seen = [name]
        while group.extends is not None:
            if group.extends not in groups:
                raise InputError(f"features.{seen[-1]}.extends: {listed(group.extends, groups)}")
            if group.extends in seen:
                raise InputError(f"features.{name}.extends: {' extends '.join([*seen, group.extends])}")
            seen.append(group.extends)
            group = groups[group.extends]


def _read_method(name: str, table: RecipeTable) -> MethodPlan:
    choosing = table.choice("choose", Choosing, Choosing.LEARN)
    values: dict[str, Any] = {
        "metric": table.text("metric", "bleu"),
        "tokenizer": table.choice("tokenizer", Tokenizer, Tokenizer.NONE),
        "lowercase": table.flag("lowercase"),
    }
    optimiser = None
    if choosing is not Choosing.MBR:
        values["external"] = table.find("external", str)
        values["lower_is_better"] = table.flag("lower_is_better")
        values["fill_missing"] = table.flag("fill_missing")
        for flag in ("lower_is_better", "fill_missing"):
            if values[flag] and values["external"] is None:
                raise table.wrong(flag, "is for an external score; name one with 'external'")
        # One name may be a score of the lists that is called like a metric, such as a post-editor's ter.
        is_sum = len(summed_names(values["external"] or "")) > 2
        if values["lower_is_better"] and is_sum and mixes_metrics(values["external"]):
            raise table.wrong("lower_is_better", "in a sum with a metric a loss has a minus: chrf - 0.1*loss")
    if choosing is Choosing.LEARN:
        values["folds"] = table.number("folds", 0, 0)
        if values["folds"] == 1:
            raise table.wrong("folds", "expected 0 or at least 2")
        optimiser = read_method(name, table)
        if optimiser.learns_from is not LearnsFrom.LISTS:
            raise table.wrong("method", f"{optimiser.name} does not learn from lists")
    table.done()
    plan = MethodPlan(choosing=choosing, optimiser=optimiser, **values)
    with table:
        plan.objective()
    return plan


def dropped(names: Collection[str], patterns: Sequence[str], where: str) -> list[str]:
    """The features that match a pattern. Raises InputError for a pattern that none does."""
    found: dict[str, None] = {}
    for pattern in patterns:
        hits = fnmatch.filter(names, pattern)
        if not hits:
            raise InputError(f"{where}.drop: no feature matches '{pattern}'; there are {', '.join(sorted(names)[:12])}")
        found |= dict.fromkeys(hits)
    return list(found)
