"""What the cells of an experiment left in its run, in a form that comparing and reporting read.

A test set is kept in `corpora/NAME/` as `source.txt` and `reference.0.txt`, `reference.1.txt`, …; a cell in
`cells/CORPUS/SYSTEM/FEATURES/OPTIMISER/SEED/`:

- `test.txt`: translations of the test set;
- `weights/0001.tsv`: the weights that round 1 decoded with, and so on;
- `derivations.jsonl`: `{"sentence": i, "explanation": {…}}` for a few test sentences;
- `plan.json`: what the figures depend on, written first;
- `cell.json`: the record, written last, so that its presence says that the cell is complete.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.text import read_lines, replace_bytes
from dragoman.types import PathLike

__all__ = [
    "CellKey",
    "CellResult",
    "CellRound",
    "StageCost",
    "TestSet",
    "cell_folder",
    "load_cells",
    "load_plans",
    "load_test_sets",
    "plan_changes",
    "save_plan",
]

CELL_RECORD, PLAN = "cell.json", "plan.json"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CellKey:
    """One point of the grid. Parts are letters, digits and `._+-`, so that they can name folders."""

    corpus: str
    system: str
    features: str
    optimiser: str
    seed: int

    @property
    def name(self) -> str:
        """For people and folders."""
        return "/".join((self.corpus, self.system, self.features, self.optimiser, str(self.seed)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """What a stage took, when it was made; `cached` says that this run found it ready."""

    name: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRound:
    """A round of tuning. Scores in [0, 1] are those of decoding with the weights that the round began with."""

    round: int
    dev: float
    test: float | None
    n_candidates: int
    n_features: int
    """Seen in the pool so far."""
    n_active: int
    """Weights that are not zero."""
    decode_wall_s: float
    decode_cpu_s: float
    learn_wall_s: float
    learn_cpu_s: float
    statistics_cpu_s: float = 0.0
    """Of the metric, and merging candidates; neither decoding nor learning has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """A finished cell, or one that failed: then `error` says why, and there is nothing else."""

    key: CellKey
    method: str = ""
    metric: str = "bleu"
    rounds: tuple[CellRound, ...] = ()
    best_round: int = 0
    stopped: str = ""
    stages: tuple[StageCost, ...] = ()
    scores: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Of the test set: bleu, chrf, ter in [0, 1] and length_ratio."""
    notes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """What worked on it, one after the other: version and digest."""
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data that from_json reads."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> CellResult:
        """Rebuild what to_json gave. Raises InputError when it is something else."""
        try:
            fields = dict(data)
            fields["key"] = CellKey(**fields["key"])
            fields["rounds"] = tuple(CellRound(**entry) for entry in fields["rounds"])
            fields["stages"] = tuple(StageCost(**entry) for entry in fields["stages"])
            fields["notes"] = tuple(fields["notes"])
            fields["programs"] = tuple(fields.get("programs", ()))
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"is not the record of a cell: {error}") from error

    def save(self, run: PathLike) -> None:
        """Write the record into its folder of the run."""
        folder = cell_folder(run, self.key)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        replace_bytes(folder / CELL_RECORD, text.encode("utf-8") + b"\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSet:
    """Source lines, and the lines of each reference."""

    __test__ = False  # not for pytest

    name: str
    source: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]


def cell_folder(run: PathLike, key: CellKey) -> Path:
    """Where a cell of a run keeps its files."""
    return Path(run) / "cells" / key.name


def load_cells(run: PathLike) -> list[CellResult]:
    """Records of all complete cells of a run, failed ones included, in the order of their keys."""
    cells = []
    for path in sorted((Path(run) / "cells").glob(f"*/*/*/*/*/{CELL_RECORD}")):
        try:
            cells.append(CellResult.from_json(json.loads(path.read_bytes())))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}; the run is damaged", path=path) from error
        except ValueError as error:
            raise InputError(f"is not JSON ({error}); the run is damaged", path=path) from error
        except InputError as error:
            raise error.at(path) from error
    return sorted(cells, key=lambda cell: cell.key)


def save_plan(run: PathLike, key: CellKey, plan: Mapping[str, Any]) -> None:
    """Write what a cell's figures will depend on into its folder."""
    folder = cell_folder(run, key)
    folder.mkdir(parents=True, exist_ok=True)
    replace_bytes(folder / PLAN, json.dumps(plan, indent=1).encode("utf-8") + b"\n")


def load_plans(run: PathLike) -> dict[CellKey, dict[str, Any]]:
    """The plans of all cells of a run that were begun."""
    found = {}
    for path in sorted((Path(run) / "cells").glob(f"*/*/*/*/*/{PLAN}")):
        corpus, system, features, optimiser, seed = path.parent.relative_to(Path(run) / "cells").parts
        try:
            key = CellKey(corpus=corpus, system=system, features=features, optimiser=optimiser, seed=int(seed))
            found[key] = dict(json.loads(path.read_bytes()))
        except (TypeError, ValueError) as error:
            raise InputError(f"is not the plan of a cell ({error}); the run is damaged", path=path) from error
    return found


def plan_changes(before: object, now: object, name: str = "") -> list[str]:
    """Names of the settings in which two plans differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            found
            for key in sorted({*before, *now})
            for found in plan_changes(before.get(key), now.get(key), f"{name}.{key}" if name else str(key))
        ]
    return [] if before == now else [name]


def load_test_sets(run: PathLike) -> dict[str, TestSet]:
    """The test sets that a run kept, by the name of the corpus."""
    found = {}
    for folder in sorted((Path(run) / "corpora").glob("*")):
        if not (folder / "source.txt").exists():
            continue
        references: list[tuple[str, ...]] = []
        while (path := folder / f"reference.{len(references)}.txt").exists():
            references.append(tuple(read_lines(path)))
        found[folder.name] = TestSet(
            name=folder.name, source=tuple(read_lines(folder / "source.txt")), references=tuple(references)
        )
    return found
