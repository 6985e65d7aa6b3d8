"""The data of a report: cells, settings, weights and derivations of runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from dragoman.analysis import Outputs, RowKey, load_outputs, load_settings
from dragoman.errors import InputError
from dragoman.features import find_weights, read_weights
from dragoman.files.store import read_json
from dragoman.run import CellKey, CellResult, CellRound, TextSize, load_sizes
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = ["Records", "RunSettings", "best_rounds", "start_rounds"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The record of one run."""

    folder: str
    dragoman: str
    settings: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A text setting; empty if missing."""
        value = self.settings.get(key)
        return value if isinstance(value, str) else ""

    def entries(self, key: str) -> list[Mapping[str, Any]]:
        value = self.settings.get(key)
        return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []

    def table(self, key: str) -> Mapping[str, Any]:
        value = self.settings.get(key)
        return value if isinstance(value, dict) else {}


class Records:
    """All records of some runs."""

    def __init__(self, runs: Sequence[PathLike]) -> None:
        self.outputs: Outputs = load_outputs(runs)
        self.runs = [_settings(Path(run)) for run in runs]
        self.sizes: dict[str, dict[str, TextSize]] = {}
        """Sizes of texts by corpus and part; runs of older versions have none."""
        for run in runs:
            self.sizes |= load_sizes(run)
        self._classes: dict[CellKey, Counter[str]] = {}

    @cached_property
    def rows(self) -> dict[RowKey, list[CellResult]]:
        return self.outputs.rows()

    @cached_property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(key.corpus for key in self.rows))

    @cached_property
    def optimisers(self) -> list[str]:
        """Optimisers in order, including those of failed cells; the index is the colour."""
        return list(dict.fromkeys(key.optimiser for key in self.outputs.cells))

    def of_corpus(self, corpus: str) -> dict[RowKey, list[CellResult]]:
        return {key: cells for key, cells in self.rows.items() if key.corpus == corpus}

    def weights(self, key: CellKey, number: int) -> dict[str, float]:
        """The weights that a round decoded with; empty if missing."""
        path = find_weights(self.outputs.folders[key] / "weights", f"{number:04d}")
        if not path.exists() or not path.stat().st_size:
            return {}
        return {name: value for name, value in read_weights(path).items() if value}

    def classes(self, cell: CellResult) -> Counter[str]:
        """Active features of the best round by class, the part of the name before the colon; "" without one."""
        if cell.key not in self._classes:
            names = self.weights(cell.key, cell.best_round)
            self._classes[cell.key] = Counter(name.split(":", 1)[0] if ":" in name else "" for name in names)
        return self._classes[cell.key]

    def kept_score(self, cell: CellResult) -> tuple[float, bool]:
        """The score of the kept weights on the development set, and whether it is live: made while they were learned.

        What was measured live is replaced by the score of decoding where that is known by the same metric.
        """
        tuning = self.outputs.tuning.get(RowKey.of(cell.key), {})
        method = tuning.get("optimiser")
        is_live = isinstance(method, dict) and method.get("measure") == "live" and cell.best_pass is not None
        plain = not tuning.get("lowercase") and tuning.get("tokenizer", "none") == "none"
        if is_live and plain and cell.tune is not None and cell.metric in cell.tune.scores:
            return cell.tune.scores[cell.metric], False
        return cell.best.dev, is_live

    @cached_property
    def has_sparse(self) -> bool:
        """Whether any cell learned a feature that has a class."""
        return any(name for cells in self.rows.values() for cell in cells for name in self.classes(cell))

    @cached_property
    def has_sets(self) -> bool:
        """Whether any cell recorded its scores by test set."""
        return any(cell.tests for cells in self.rows.values() for cell in cells)

    def derivations(self, key: CellKey, read: Callable[[Mapping[str, Any]], _T]) -> dict[int, _T]:
        """Explanations of translations by sentence, converted by `read`."""
        path = self.outputs.folders[key] / "derivations.jsonl"
        found: dict[int, _T] = {}
        for number, line in enumerate(read_lines(path) if path.exists() else (), start=1):
            try:
                record = json.loads(line)
                found[int(record["sentence"])] = read(record["explanation"])
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"is not a derivation: {error!r}; the run is damaged", path=path, line=number
                ) from error
        return found

    def setting(self, key: str) -> Iterable[str]:
        """The distinct values of a text setting over all runs."""
        return dict.fromkeys(text for run in self.runs if (text := run.text(key)))


def start_rounds(cells: Sequence[CellResult]) -> list[CellRound]:
    """The first round of every cell, decoded with the initial weights."""
    return [cell.rounds[0] for cell in cells if cell.rounds]


def best_rounds(cells: Sequence[CellResult]) -> list[CellRound]:
    """The round of every cell whose weights were kept."""
    return [entry for cell in cells for entry in cell.rounds if entry.round == cell.best_round]


def _settings(run: Path) -> RunSettings:
    version = read_json(run / "run.json", "run").get("dragoman", "")
    return RunSettings(folder=run.name, dragoman=str(version), settings=load_settings(run))
