"""Recipes of kind `systems`: corpora x systems x features x optimisers x seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.experiments.corpora import CorpusFiles, CorpusPlan, read_corpus
from dragoman.experiments.drawing import FoldPart
from dragoman.experiments.optimisers import TuningPlan, read_optimiser
from dragoman.experiments.report_plan import ReportPlan, matches, read_published, read_report
from dragoman.experiments.start_cells import check_starts, n_before, start_cell, with_starts
from dragoman.experiments.systems import SystemPlan, read_system
from dragoman.experiments.table import RecipeTable
from dragoman.features import parse_templates
from dragoman.optim import TextPlan
from dragoman.run import CellKey
from dragoman.system import KINDS
from dragoman.tuning import LearnFrom

__all__ = ["GridRecipe", "Place", "Selection", "read_grid"]

Place = tuple[str, str, int | None]
"""What shared stages belong to: a corpus, a system, and a drawing from the training text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The cells to run, and the files of their corpora."""

    cells: tuple[CellKey, ...]
    files: Mapping[str, CorpusFiles | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRecipe:
    """A checked recipe."""

    title: str
    citation: str
    expected: str
    cost: str
    corpora: Mapping[str, CorpusPlan]
    systems: Mapping[str, SystemPlan]
    features: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Templates of each set, by the model of the system."""
    optimisers: Mapping[str, TuningPlan]
    cells: tuple[CellKey, ...]
    report: ReportPlan
    published: tuple[Mapping[str, Any], ...]
    content: Mapping[str, Any]
    """The parsed TOML, including changes by `--set`."""

    def templates(self, cell: CellKey) -> tuple[str, ...]:
        """The templates that a cell learns weights of."""
        return self.features[cell.features][self.systems[cell.system].model]

    def place(self, cell: CellKey) -> Place:
        """Which shared stages a cell uses."""
        return cell.corpus, cell.system, self.corpora[cell.corpus].drawing_of(cell.seed)

    def start(self, cell: CellKey) -> CellKey | None:
        """The cell whose weights a cell begins with; None: its weights are the system's, or drawn."""
        return start_cell(cell, self.optimisers)

    def n_before(self, cell: CellKey) -> int:
        """How many cells must be finished one after another before a cell can begin."""
        return n_before(cell, self.optimisers)

    def select(self, patterns: Sequence[str] = ()) -> Selection:
        """The cells whose names match one of the patterns and those they start from, with the files that they need.

        Raises InputError if nothing matches, and for missing or inconsistent files.
        """
        cells = [cell for cell in self.cells if not patterns or matches(cell, patterns)]
        if not cells:
            raise InputError(
                f"no cell matches {' or '.join(patterns)}; cells are named like {self.cells[0].name}, and * stands for "
                "anything"
            )
        wanted = with_starts(cells, self.optimisers)
        cells = [cell for cell in self.cells if cell in wanted]
        files = {name: self.corpora[name].find() for name in dict.fromkeys(cell.corpus for cell in cells)}
        for cell in cells:
            self._check(cell, files[cell.corpus])
        return Selection(cells=tuple(cells), files=files)

    def _check(self, cell: CellKey, files: CorpusFiles | None) -> None:
        system, corpus = self.systems[cell.system], self.corpora[cell.corpus]
        if system.aligned and (files is None or files.align is None):
            raise InputError(f"systems.{cell.system}.align = 'given': 'corpora.{cell.corpus}.align' is missing")
        if system.train.settings.n_folds > 1 and corpus.lm:
            raise InputError(
                f"systems.{cell.system}.folds: a finished language model cannot leave out a fold; give its text as "
                f"'corpora.{cell.corpus}.lm_text' instead of '.lm'"
            )
        templates = self.features[cell.features].get(system.model)
        if templates is None:
            raise InputError(f"features.{cell.features}.templates: systems.{cell.system} needs '{system.model}'")
        try:
            has_classes = bool(system.train.settings.classes)
            parse_templates(templates, has_rules=KINDS[system.model].has_rules, has_classes=has_classes)
        except InputError as error:
            raise InputError(f"features.{cell.features} of {cell.name}: {error}") from None
        self._check_tuning(cell, files)

    def _check_tuning(self, cell: CellKey, files: CorpusFiles | None) -> None:
        tuning, synth = self.optimisers[cell.optimiser], self.corpora[cell.corpus].synth
        config = tuning.config
        settings = self.systems[cell.system].train.settings
        fold, n_folds, fold_seed = config.fold, settings.n_folds, settings.fold_seed
        if config.learn_from is not LearnFrom.DEVELOPMENT and n_folds == 1:
            raise InputError(
                f"optimisers.{cell.optimiser}.learn_from: 'systems.{cell.system}.folds' must be at least 2"
            )
        if config.phi.where is not None and (files is None or files.domains is None):
            raise InputError(
                f"optimisers.{cell.optimiser}.phi.where: 'corpora.{cell.corpus}.domains' is missing, a file with the "
                "label of every training line"
            )
        searches = config.phi.searches_last(tuning.optimiser)
        if config.learn_from is LearnFrom.LISTS and searches and not self.templates(cell):
            raise InputError(
                f"optimisers.{cell.optimiser} of {cell.name}: a last search (phi.last) is for "
                f"weights of sparse features; features.{cell.features} has no templates"
            )
        if (plan := tuning.optimiser.text_plan()) is not None:
            self._check_text_plan(cell, tuning.optimiser.name, plan, n_folds, files)
        dev = None if files is None else files.dev
        if isinstance(dev, FoldPart) and (n_folds, fold_seed, fold) != (dev.n_folds, dev.fold_seed, dev.fold):
            raise InputError(
                f"corpora.{cell.corpus}.dev is fold {dev.fold} of {dev.n_folds}, made with seed {dev.fold_seed}: "
                f"'systems.{cell.system}' must have these 'folds' and 'fold_seed', and 'optimisers.{cell.optimiser}' "
                f"'fold = {dev.fold}'"
            )
        if fold is not None and not 0 <= fold < (n_folds if n_folds > 1 else 0):
            raise InputError(f"optimisers.{cell.optimiser}.fold = {fold}: 'systems.{cell.system}.folds' is {n_folds}")
        n_sentences = files.dev.n_lines if files is not None else synth.n_dev if synth is not None else None
        try:
            config.check(tuning.optimiser, n_sentences=n_sentences, n_folds=n_folds)
        except InputError as error:
            raise InputError(f"optimisers.{cell.optimiser} of {cell.name}: {error}") from None

    def _check_text_plan(
        self, cell: CellKey, method: str, plan: TextPlan, n_folds: int, files: CorpusFiles | None
    ) -> None:
        where, synth = f"optimisers.{cell.optimiser} of {cell.name}", self.corpora[cell.corpus].synth
        if n_folds == 1:
            raise InputError(
                f"{where}: {method} learns from the training text of a system with folds; "
                f"'systems.{cell.system}.folds' must be at least 2"
            )
        if plan.learns_sparse and not self.templates(cell):
            raise InputError(f"{where}: {method} learns sparse features; features.{cell.features} has no templates")
        n_lines = files.train.n_lines if files is not None else synth.n_train if synth is not None else None
        if n_lines is not None and plan.n_lines > n_lines:
            raise InputError(
                f"{where}: the line search asks for {plan.n_lines:,} of {n_lines:,} training lines; set "
                "line_search to fewer"
            )


def read_grid(table: RecipeTable, content: Mapping[str, Any], base: Path) -> GridRecipe:
    """Check everything except the files."""
    title, citation, expected, cost = (table.text(key) for key in ("title", "citation", "expected", "cost"))
    if not title:
        raise InputError("'title' is missing; expected text")
    corpora = {name: read_corpus(name, entry, base) for name, entry in table.entries("corpora").items()}
    systems = {name: read_system(name, entry) for name, entry in table.entries("systems").items()}
    features = {name: _read_features(entry) for name, entry in table.entries("features").items()}
    optimisers = {name: read_optimiser(name, entry) for name, entry in table.entries("optimisers").items()}
    cells: dict[CellKey, None] = {}
    for grid in table.tables("grid"):
        names = (
            grid.names("corpora", corpora),
            grid.names("systems", systems),
            grid.names("features", features),
            grid.names("optimisers", optimisers),
        )
        seeds = grid.numbers("seeds", 0, int)
        grid.done()
        for corpus, system, feature, optimiser, seed in product(*names, seeds):
            key = CellKey(corpus=corpus, system=system, features=feature, optimiser=optimiser, seed=seed)
            cells[key] = None
    table.need("grid", cells)
    check_starts(cells, optimisers, features)
    # Cells that share a system are adjacent, those that others start from first, and so are the seeds of one method.
    orders = [list(names) for names in (corpora, systems, features, optimisers)]
    cells_in_order = sorted(
        cells,
        key=lambda c: (
            *(order.index(name) for order, name in zip(orders[:2], _names(c)[:2], strict=True)),
            n_before(c, optimisers),
            *(order.index(name) for order, name in zip(orders[2:], _names(c)[2:], strict=True)),
            c.seed,
        ),
    )
    rows = {f"{key.system}/{key.features}/{key.optimiser}" for key in cells}
    report = read_report(table.table("report"), {*optimisers, *systems, *features, *rows}, orders, cells_in_order[0])
    published = tuple(read_published(entry) for entry in table.tables("published"))
    table.done()
    return GridRecipe(
        title=title,
        citation=citation,
        expected=expected,
        cost=cost,
        corpora=corpora,
        systems=systems,
        features=features,
        optimisers=optimisers,
        cells=tuple(cells_in_order),
        report=report,
        published=published,
        content={**content, "published": list(published)},
    )


def _names(cell: CellKey) -> tuple[str, str, str, str]:
    return cell.corpus, cell.system, cell.features, cell.optimiser


def _read_features(table: RecipeTable) -> dict[str, tuple[str, ...]]:
    """The templates by model: a list for all of them, or a table with one for each."""
    if isinstance(table.take("templates", list, dict), list):
        found = dict.fromkeys(KINDS, table.texts("templates"))
    else:
        by_model = table.table("templates")
        found = {model: by_model.texts(model) for model in KINDS if by_model.find(model, str, list) is not None}
        by_model.done()
    table.done()
    with table:
        for templates in found.values():
            parse_templates(templates)
    return found
