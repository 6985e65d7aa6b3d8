"""The records of an experiment's cells, for comparison and reporting.

The main test set is kept in `corpora/NAME/` as `source.txt` and `reference.0.txt`, `reference.1.txt`, …, others in
`corpora/NAME/tests/TEST/`; a cell in `cells/CORPUS/SYSTEM/FEATURES/OPTIMISER/SEED/`:

- `test.txt`: translations of the main test set; `tests/TEST.txt` of others;
- `start.txt`: those of the main test set with the initial weights; `starts/TEST.txt` of others;
- `weights/0001.tsv`: the weights that round 1 decoded with, and so on;
- `derivations.jsonl`: `{"sentence": i, "explanation": {…}}` for a few test sentences;
- `plan.json`: what the results depend on, written first;
- `cell.json`: the record, written last, so that its presence marks a complete cell.

`corpora/NAME/sizes.json` has the sizes of the texts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.cost import StageCost
from dragoman.errors import InputError, naming
from dragoman.files.store import from_plain, make_folder, read_json, seal, unseal, write_json
from dragoman.run.held_out_lines import HeldOutLines
from dragoman.run.updates import Update
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = [
    "CellKey",
    "CellResult",
    "CellRound",
    "SetScores",
    "TestSet",
    "TextSize",
    "cell_folder",
    "corpus_folder",
    "load_cell",
    "load_cells",
    "load_plans",
    "load_sizes",
    "load_test_sets",
    "no_gain",
    "plan_changes",
    "save_plan",
    "save_sizes",
    "sizes_file",
    "start_file",
    "translations_file",
]

CELL_RECORD, PLAN = "cell.json", "plan.json"
_SOURCE, _SIZES, _PARTS = "source.txt", "sizes.json", "parts"
_TUNED = 2
"""Rounds at least where something was learned: the start's, and another."""
_N_NAMED = 5
_SCORES = ("bleu", "chrf", "ter", "length_ratio")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CellKey:
    """One point of the grid. Parts consist of letters, digits and `._+-`, because they name folders."""

    corpus: str
    system: str
    features: str
    optimiser: str
    seed: int

    @property
    def name(self) -> str:
        return "/".join((self.corpus, self.system, self.features, self.optimiser, str(self.seed)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRound:
    """A tuning round. Scores in [0, 1] are of decoding with the weights at the beginning of the round."""

    round: int
    dev: float
    test: float | None
    n_candidates: int
    n_features: int
    """Number of features in the pool so far."""
    n_active: int
    """Number of nonzero weights."""
    decode_wall_s: float
    decode_cpu_s: float
    learn_wall_s: float
    learn_cpu_s: float
    statistics_cpu_s: float = 0.0
    """CPU time of metric statistics and merging candidates, not included in decoding or learning."""
    n_possible: int | None = None
    """Number of features that weights could have been learned of: those of the candidates so far, and where sentences
    are decoded while learning those of everything they could be translated with. None in older records."""
    spread: float | None = None
    """Mean difference of the model scores of the hope and the worst candidate, over the lists that the round learned
    from; None of a method without margins, and in the last round, which learns nothing."""
    spread_deviation: float | None = None
    fired: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Share of these lists in which a constraint of each kind moved the weights: `margin`, `upper` and `lower`."""
    train: float | None = None
    """Score of what the round itself translated the training lines to that it learned from, with weights that moved;
    None of a round that did not learn from the training text."""
    n_trained: int = 0
    """Number of these lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScores:
    """What the kept weights score on a set of sentences, decoded with them."""

    scores: Mapping[str, float]
    """By metric, in [0, 1]: at least bleu, chrf, ter."""
    length_ratio: float
    """Words of the translations to those of the closest references."""
    precisions: tuple[float, ...]
    """Of BLEU's n-grams, in [0, 1]."""
    brevity_penalty: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """A finished cell, or a failed one with only `error` set."""

    key: CellKey
    method: str = ""
    metric: str = "bleu"
    rounds: tuple[CellRound, ...] = ()
    best_round: int = 0
    stopped: str = ""
    stages: tuple[StageCost, ...] = ()
    scores: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Scores on the main test set: bleu, chrf, ter in [0, 1] and length_ratio."""
    tests: Mapping[str, SetScores] = dataclasses.field(default_factory=dict)
    """Scores on every test set by name, the main one first (`test` if it has no name); empty in older records."""
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Scores of the initial weights on every test set by name, by the metric tuned for; empty in older records."""
    tune: SetScores | None = None
    """Scores on the development set; None in older records."""
    higher_is_better: bool | None = None
    """Whether a higher score by the metric tuned for is better; None in older records."""
    held_out: float | None = None
    """Score on the development set by the metric tuned for, every sentence by weights learned from the others; of cells
    of lists that ask for it."""
    oracle: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """About the best score that a choice from the lists can have, by the metric tuned for, on every test set by name;
    empty where weights decode instead of choosing."""
    units: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Constants that a method in relative units derived from the lists of the start, by name; empty of others."""
    updates: tuple[Update, ...] = ()
    """Updates of held-out line search; empty of other methods."""
    steps: tuple[StageCost, ...] = ()
    """What a tuning by steps did before its last search, whose rounds are `rounds`; empty of other methods."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Those of the notes that say that something is probably wrong; empty in older records."""
    held_out_lines: HeldOutLines | None = None
    """How lines of the training text judged what was learned from it; None of other tunings and in older records."""
    programs: tuple[str, ...] = ()
    """The program versions that worked on it, in order: version and digest."""
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> CellResult:
        """The inverse of to_json. Raises InputError for invalid data."""
        cell = from_plain(cls, data)
        numbers = [entry.round for entry in cell.rounds]
        if cell.best_round not in (numbers or [0]):
            raise InputError(f"'best_round' is {cell.best_round}; the cell has the rounds {numbers}")
        if numbers and (missing := [name for name in _SCORES if name not in cell.scores]):
            raise InputError(f"'scores' lacks {missing[0]}")
        return cell

    @property
    def best(self) -> CellRound:
        """The round whose weights were kept."""
        for entry in self.rounds:
            if entry.round == self.best_round:
                return entry
        raise InputError(f"the cell {self.key.name} has no rounds")

    @property
    def has_gained(self) -> bool:
        """Whether tuning found weights better than the start: on held-out lines if they judged, else on dev.

        True where nothing was tuned, and of older records.
        """
        if self.held_out_lines is not None:
            return not self.held_out_lines.worse and self.held_out_lines.changed
        if len(self.rounds) < _TUNED or self.higher_is_better is None:
            return True
        gain = self.best.dev - self.rounds[0].dev
        return (gain if self.higher_is_better else -gain) > 0

    @property
    def best_pass(self) -> CellRound | None:
        """The round that learned the kept weights: the one before the best; None if the start was kept."""
        return next((entry for entry in self.rounds if entry.round == self.best_round - 1), None)

    def save(self, run: PathLike) -> None:
        """Write the record into the cell's folder of the run."""
        write_json(make_folder(cell_folder(run, self.key)) / CELL_RECORD, seal(self.to_json()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSet:
    """Source lines, and the lines of each reference. `others` are further test sets of the corpus, by name."""

    __test__ = False  # not for pytest

    name: str
    source: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    others: Mapping[str, TestSet] = dataclasses.field(default_factory=dict)


def no_gain(cells: Collection[CellResult]) -> str | None:
    """Which cells ended at or below their start; None if none did."""
    names = [cell.key.name for cell in cells if cell.error is None and not cell.has_gained]
    if not names:
        return None
    more = f" and {len(names) - _N_NAMED} more" if len(names) > _N_NAMED else ""
    shown = ", ".join(names[:_N_NAMED]) + more
    return f"{len(names)} of {len(cells)} cells ended at or below their start: {shown}"


def cell_folder(run: PathLike, key: CellKey) -> Path:
    """The folder of a cell in a run."""
    return Path(run) / "cells" / key.name


def load_cells(run: PathLike) -> list[CellResult]:
    """Records of all complete cells of a run, including failed ones, sorted by key."""
    paths = sorted((Path(run) / "cells").glob(f"*/*/*/*/*/{CELL_RECORD}"))
    return sorted(map(_load, paths), key=lambda cell: cell.key)


def load_cell(run: PathLike, key: CellKey) -> CellResult | None:
    """The record of one cell; None if it is not complete."""
    path = cell_folder(run, key) / CELL_RECORD
    return _load(path) if path.exists() else None


def _load(path: Path) -> CellResult:
    with naming(path):
        return CellResult.from_json(_unsealed(read_json(path, "run")))


def _unsealed(record: dict[str, Any]) -> dict[str, Any]:
    """Records of runs that were made before there were checksums have none."""
    return unseal(record, "run") if record.keys() & {"checksum", "plan"} else record


def save_plan(run: PathLike, key: CellKey, plan: Mapping[str, Any]) -> None:
    """Write what a cell's results will depend on into its folder."""
    write_json(make_folder(cell_folder(run, key)) / PLAN, seal({"plan": plan}))


def load_plans(run: PathLike) -> dict[CellKey, dict[str, Any]]:
    """The plans of all started cells of a run."""
    found = {}
    for path in sorted((Path(run) / "cells").glob(f"*/*/*/*/*/{PLAN}")):
        corpus, system, features, optimiser, seed = path.parent.relative_to(Path(run) / "cells").parts
        with naming(path):
            if not seed.isdecimal():
                raise InputError(f"is not the plan of a cell: '{seed}' is not a seed")
            key = CellKey(corpus=corpus, system=system, features=features, optimiser=optimiser, seed=int(seed))
            record = _unsealed(read_json(path, "run"))
            found[key] = record.get("plan", record)
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


def corpus_folder(run: PathLike, corpus: str, other: str | None = None) -> Path:
    """The folder of a corpus's main test set, or of another one."""
    folder = Path(run) / "corpora" / corpus
    return folder if other is None else folder / "tests" / other


def translations_file(cell: Path, other: str | None = None) -> Path:
    """The translations of the main test set in a cell's folder, or of another one."""
    return cell / "test.txt" if other is None else cell / "tests" / f"{other}.txt"


def start_file(cell: Path, other: str | None = None) -> Path:
    """As `translations_file`, with the initial weights; older runs lack those of other test sets, or all."""
    return cell / "start.txt" if other is None else cell / "starts" / f"{other}.txt"


def load_test_sets(run: PathLike) -> dict[str, TestSet]:
    """The main test sets of a run, by corpus name."""
    return {
        folder.name: replace(_load_test_set(folder), others=_load_all(folder / "tests"))
        for folder in sorted((Path(run) / "corpora").glob("*"))
        if (folder / _SOURCE).exists()
    }


def _load_all(folder: Path) -> dict[str, TestSet]:
    return {path.parent.name: _load_test_set(path.parent) for path in sorted(folder.glob(f"*/{_SOURCE}"))}


def _load_test_set(folder: Path) -> TestSet:
    references: list[tuple[str, ...]] = []
    while (path := folder / f"reference.{len(references)}.txt").exists():
        references.append(tuple(read_lines(path)))
    return TestSet(name=folder.name, source=tuple(read_lines(folder / _SOURCE)), references=tuple(references))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSize:
    """Lines of a text, and tokens of its source and of its target side, of several references the first."""

    lines: int
    source_tokens: int
    target_tokens: int


def sizes_file(run: PathLike, corpus: str) -> Path:
    """Where a run keeps the sizes of a corpus."""
    return corpus_folder(run, corpus) / _SIZES


def save_sizes(run: PathLike, corpus: str, sizes: Mapping[str, TextSize]) -> None:
    """Write the sizes of a corpus by part: `train`, `dev`, and test sets as `test/NAME`."""
    path = sizes_file(run, corpus)
    make_folder(path.parent)
    write_json(path, seal({_PARTS: {name: dataclasses.asdict(size) for name, size in sizes.items()}}))


def load_sizes(run: PathLike) -> dict[str, dict[str, TextSize]]:
    """The sizes of all corpora that have them, by corpus and part. Raises InputError for a damaged file."""
    found = {}
    for path in sorted((Path(run) / "corpora").glob(f"*/{_SIZES}")):
        with naming(path):
            parts = unseal(read_json(path, "run"), "run")[_PARTS]
            found[path.parent.name] = {name: from_plain(TextSize, size) for name, size in parts.items()}
    return found
