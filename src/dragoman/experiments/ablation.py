"""Lists of a development and of a test set: groups of features added one after another, and the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from dragoman.errors import FailedError, InputError
from dragoman.experiments.list_form import ListRecipe, read_list_recipe
from dragoman.experiments.table import RecipeTable
from dragoman.metric import METRICS, Tokenizer, by_name
from dragoman.run import CellResult
from dragoman.settings import Record

__all__ = [
    "CORPUS",
    "FIRST",
    "METHODS",
    "OWN",
    "SYSTEM",
    "TRAINED",
    "Ablation",
    "AblationRow",
    "ablation_recipe",
    "ablation_rows",
    "best_row",
    "without_failed",
]

CORPUS = SYSTEM = "lists"
OWN, FIRST = "own", "first"
TRAINED = "trained"
METHODS = ("mira", "pro", "cll")
"""Methods of different kinds that take a moment each: held-out sentences say which suits the lists."""
_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation(Record):
    """Files and settings. `training` are both sides of text for a language model and word translations."""

    dev: tuple[str, ...]
    dev_source: str
    dev_references: tuple[str, ...]
    test: tuple[str, ...]
    test_source: str
    test_references: tuple[str, ...]
    training: tuple[str, str] | None = None
    start: Mapping[str, float]
    methods: tuple[str, ...] = METHODS
    metric: str = "bleu"
    tokenizer: Tokenizer = Tokenizer.NONE
    """Of BLEU."""
    lowercase: bool = False
    external: str | None = None
    lower_is_better: bool = False
    """Whether the external score is a loss."""
    fill_missing: bool = False
    """A candidate without the external score has the mean of its list."""
    n_seeds: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRow:
    """A group of features with a method, over seeds: scores by the metric that was maximised, and what was added."""

    features: str
    method: str
    n_features: int
    dev: float
    held_out: float | None
    cells: tuple[CellResult, ...]


def ablation_recipe(wanted: Ablation) -> ListRecipe:
    """The experiment as a recipe of lists, checked; its files are relative to the current folder."""
    own = {"add": ["agreement"]}, {"add": ["length", "copies", "punctuation", "repeats"]}
    groups: dict[str, dict[str, Any]] = {OWN: {}}
    if wanted.training is not None:
        groups["language-model"] = {"add": [f"lm={{{TRAINED}}}"]}
        groups["word-translations"] = {"add": [f"system={{{TRAINED}}}"]}
    groups |= dict(zip(("agreement", "surface"), own, strict=True))
    names = list(groups)
    for before, name in pairwise(names):
        groups[name]["extends"] = before
    corpus: dict[str, Any] = {
        "dev": {"source": wanted.dev_source, "references": list(wanted.dev_references)},
        "test": {"source": wanted.test_source, "references": list(wanted.test_references)},
        "lists": {SYSTEM: {"dev": list(wanted.dev), "test": list(wanted.test)}},
    }
    content: dict[str, Any] = {
        "kind": "lists",
        "title": "Which features help to choose from these lists",
        "citation": f"{', '.join(wanted.test)}, with weights learned on {', '.join(wanted.dev)}",
        "corpora": {CORPUS: corpus},
        "systems": {SYSTEM: {"start": dict(wanted.start)}},
        "features": groups,
        "optimisers": {
            FIRST: {"choose": "first", **_objective(wanted)},
            **{name: _method(wanted) for name in wanted.methods},
        },
        "grid": [
            {"features": [OWN], "optimisers": [FIRST], "seeds": [1]},
            {"optimisers": list(wanted.methods), "seeds": list(range(1, wanted.n_seeds + 1))},
        ],
        "report": {"metrics": _metrics(wanted.metric), "baseline": FIRST},
    }
    if wanted.training is not None:
        corpus["train"] = dict(zip(("source", "target"), wanted.training, strict=True))
        content["trained"] = {TRAINED: {}}
    return read_list_recipe(RecipeTable(content), content, Path())


def _metrics(metric: str) -> list[str]:
    """Those of every report, the one that is maximised first."""
    name = by_name(metric).name
    return list(dict.fromkeys([*([name] if name in METRICS else []), "bleu", "chrf", "ter"]))


def _method(wanted: Ablation) -> dict[str, Any]:
    return {"folds": _FOLDS, **_objective(wanted)}


def _objective(wanted: Ablation) -> dict[str, Any]:
    """What is maximised, and what every row is measured by."""
    metric = {"metric": wanted.metric, "tokenizer": wanted.tokenizer.value, "lowercase": wanted.lowercase}
    if wanted.external is None:
        return metric
    flags = {"lower_is_better": wanted.lower_is_better, "fill_missing": wanted.fill_missing}
    return {**metric, "external": wanted.external, **flags}


def without_failed(results: Sequence[CellResult]) -> tuple[list[CellResult], dict[str, str]]:
    """The results of the methods that learned from these lists, and why the others did not; all where none did."""
    failed = {result.key.optimiser: str(result.error) for result in results if result.error is not None}
    if {result.key.optimiser for result in results} - {FIRST} <= failed.keys() or FIRST in failed:
        return list(results), {}
    return [result for result in results if result.key.optimiser not in failed], failed


def ablation_rows(results: Sequence[CellResult]) -> list[AblationRow]:
    """The rows in the order of the recipe. Raises FailedError where a cell failed, InputError where all did alike."""
    if failed := [result for result in results if result.error is not None]:
        places: dict[str, list[str]] = {}
        for result in failed:
            name = f"{result.key.features} by {result.key.optimiser}, seed {result.key.seed}"
            places.setdefault(str(result.error), []).append(name)
        if len(places) == 1 and len(failed) == len(results):
            raise InputError(next(iter(places)))
        raise FailedError("\n".join(f"{'; '.join(names)}: {error}" for error, names in places.items()))
    rows: dict[tuple[str, str], list[CellResult]] = {}
    for result in results:
        rows.setdefault((result.key.features, result.key.optimiser), []).append(result)
    return [
        AblationRow(
            features=features,
            method=method,
            n_features=max(cell.best.n_active for cell in cells),
            dev=fmean(cell.best.dev for cell in cells),
            held_out=_mean([cell.held_out for cell in cells]),
            cells=tuple(cells),
        )
        for (features, method), cells in rows.items()
    ]


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return fmean(known) if known else None


def best_row(rows: Sequence[AblationRow], *, higher_is_better: bool = True) -> AblationRow:
    """The row with the best held-out score on the development set, the one with fewer groups if equal."""
    sign = 1.0 if higher_is_better else -1.0
    return max((row for row in rows if row.held_out is not None), key=lambda row: sign * (row.held_out or 0.0))
