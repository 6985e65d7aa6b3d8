"""A recorded run for the page: scores of its rounds, and the weights that each decoded with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.errors import InputError, naming
from dragoman.features import Weights, find_weights, read_weights
from dragoman.files.store import read_json, unseal
from dragoman.metric import recorded_metric
from dragoman.run import cell_folder, load_cells, load_test_sets
from dragoman.types import PathLike

if TYPE_CHECKING:
    from dragoman.view.serve.recorded_sets import RecordedSet

__all__ = ["RecordedRound", "RecordedRun", "RecordedTuning", "read_recorded"]

_SHOWN = 20
"""Sparse weights of a round that the page lists."""
_EXAMPLES = 40
"""Sentences of each test set that the page offers."""
_Lines = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Source lines, and the lines of each reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRound:
    """A round of tuning. Scores are in points, of decoding with the weights that the round began with."""

    number: int
    dev: float
    test: float | None
    n_candidates: int
    weights: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTuning:
    """A tuning: a cell of an experiment, or the whole of a run of `tune`."""

    name: str
    metric: str
    best_round: int
    rounds: tuple[RecordedRound, ...]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The tunings of a run folder."""

    name: str
    tunings: tuple[RecordedTuning, ...]
    examples: tuple[tuple[str, str], ...] = ()
    """Sentences of the test sets, evenly spaced, with a reference."""
    sets: tuple[RecordedSet, ...] = ()
    """Of a tuned system: its test and development set before and after."""

    def round(self, tuning: str, number: int) -> RecordedRound:
        """A round by name. Raises InputError if there is none."""
        for found in self.tunings:
            for entry in found.rounds:
                if found.name == tuning and entry.number == number:
                    return entry
        raise InputError(f"the run has no round {number} of '{tuning[:100]}'; /api/run lists tunings and their rounds")

    def weights(self, tuning: str, number: int) -> Weights:
        """The weights of a round."""
        return read_weights(self.round(tuning, number).weights)

    def fitting(self, dense: Collection[str]) -> list[str]:
        """Tunings whose dense features are all among these: weights of others mean nothing to a system."""
        return [tuning.name for tuning in self.tunings if _dense(tuning.rounds[-1]) <= {*dense}]

    def to_json(self) -> dict[str, Any]:
        """Everything the page shows, with the weights of every round by name: dense ones, and the largest others."""
        tunings = []
        for tuning in self.tunings:
            rounds = []
            for entry in tuning.rounds:
                record = asdict(entry)
                record["weights"], record["n_weights"] = _shown(read_weights(entry.weights))
                rounds.append(record)
            tunings.append({**asdict(tuning), "rounds": rounds})
        return {"name": self.name, "tunings": tunings, "sets": [asdict(one) for one in self.sets]}


def read_recorded(folder: PathLike) -> RecordedRun:
    """A run of `dragoman run`, of `dragoman tune --run`, or a tuned system. Raises InputError for anything else."""
    base = Path(folder)
    name = base.resolve().name
    if (base / "tune" / "rounds").is_dir():
        base = base / "tune"
    if (base / "cells").is_dir():
        tunings = _cells(base)
    elif (base / "rounds").is_dir():
        tunings = _rounds(base, name)
    else:
        raise InputError(
            "is no run; expected a folder that `dragoman run`, `dragoman tune --run` or `dragoman tune --system` made",
            path=base,
        )
    if not tunings:
        raise InputError("the run has no finished tuning yet", path=base)
    from dragoman.view.serve.recorded_sets import read_sets  # what it needs is slow to import

    sets = list(read_sets(base))
    tests: list[_Lines] = [(one.source, one.references) for one in load_test_sets(base).values()]
    tests += [(pair.source, pair.references) for one, pair in sets if not one.is_learned_from]
    return RecordedRun(name, tuple(tunings), tuple(_examples(tests)), tuple(one for one, _ in sets))


def _examples(tests: Iterable[_Lines]) -> Iterator[tuple[str, str]]:
    for source, references in tests:
        if references:
            for i in range(0, len(source), max(1, len(source) // _EXAMPLES)):
                yield source[i], references[0][i]


def _cells(base: Path) -> list[RecordedTuning]:
    found = []
    for cell in load_cells(base):
        folder = cell_folder(base, cell.key) / "weights"
        points = recorded_metric(cell.metric).points
        rounds = [
            RecordedRound(
                number=entry.round,
                dev=points(entry.dev),
                test=None if entry.test is None else points(entry.test),
                n_candidates=entry.n_candidates,
                weights=path,
            )
            for entry in cell.rounds
            if (path := find_weights(folder, f"{entry.round:04d}")).exists()
        ]
        if rounds:
            found.append(
                RecordedTuning(name=cell.key.name, metric=cell.metric, best_round=cell.best_round, rounds=tuple(rounds))
            )
    return found


def _rounds(base: Path, name: str) -> list[RecordedTuning]:
    from dragoman.run.tunings import RESULT  # slow to import too
    from dragoman.tuning.rounds import ROUND, recorded_file, recorded_weights

    settings = read_json(base / "run.json", "run").get("settings")
    metric = str(settings.get("metric", "bleu")) if isinstance(settings, dict) else "bleu"
    points = recorded_metric(metric).points
    rounds = []
    for folder in sorted((base / "rounds").glob("[0-9]*")):
        record = read_json(recorded_file(folder, ROUND), "run")
        try:
            rounds.append(
                RecordedRound(
                    number=int(record["round"]),
                    dev=points(float(record["score"])),
                    test=None,
                    n_candidates=int(record["n_candidates"]),
                    weights=recorded_weights(folder),
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"is no record of a round: {error!r}", path=folder / "round.json") from error
    if not rounds:
        return []
    result = base / RESULT
    best = None
    if result.exists():
        with naming(result):
            best = unseal(read_json(result, "run"), "run").get("best_round")
    number = best if isinstance(best, int) else max(rounds, key=lambda entry: entry.dev).number
    return [RecordedTuning(name=name, metric=metric, best_round=number, rounds=tuple(rounds))]


def _dense(entry: RecordedRound) -> set[str]:
    return {name for name, value in read_weights(entry.weights).items() if value and ":" not in name}


def _shown(weights: Weights) -> tuple[dict[str, float], int]:
    items = list(weights.items())
    dense = {name: value for name, value in items if ":" not in name}
    sparse = sorted((item for item in items if ":" in item[0]), key=lambda item: (-abs(item[1]), item[0]))
    return {**dense, **dict(sparse[:_SHOWN])}, len(items)
