"""Comparison of the cells of experiments: mean and standard deviation over tuning runs, and significance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dragoman.errors import InputError
from dragoman.evaluate.column import column_signature, metric_column
from dragoman.evaluate.measure import SystemOutput, measure
from dragoman.evaluate.outputs import Outputs, load_outputs
from dragoman.evaluate.rows import PairedTest, Row, RowKey, RunComparison, Within
from dragoman.metric import Metric, by_name
from dragoman.run import CellKey, CellResult, no_gain
from dragoman.types import PathLike

__all__ = ["compare_runs"]

_PARTS = ("optimiser", "features", "system")
_N_NAMED = 5


def compare_runs(
    runs: Sequence[PathLike] | Outputs,
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    baseline: str | Sequence[str] | None = None,
    test: PairedTest = PairedTest.RANDOMISATION,
    within: Within = Within.CORPUS,
    n_bootstrap: int = 1000,
    n_trials: int = 10_000,
    seed: int = 12345,
    n_threads: int = 1,
) -> RunComparison:
    """Rows of corpus, system, features and optimiser, each over its seeds, tested against the best of the corpus.

    `baseline` is SYSTEM/FEATURES/OPTIMISER, or the name of an optimiser, a feature set or a system: then a row is
    tested against the row that differs only in that or, if there is none, against the only one of that optimiser on
    its system, such as one without sparse features. Of several names each corpus takes the first that it has. `test`
    decides which rows are not significantly worse than the best. `within` determines the best separately for each
    system or feature set.
    """
    outputs = runs if isinstance(runs, Outputs) else load_outputs(runs)
    chosen = [by_name(name) for name in dict.fromkeys(metrics)]
    if not chosen:
        raise InputError("no metric given; give at least one")
    cells = outputs.rows()
    names = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    how = _Comparing(
        metrics=chosen,
        baselines=_baselines(list(cells), names),
        test=test,
        within=within,
        draws={"n_bootstrap": n_bootstrap, "n_trials": n_trials, "seed": seed},
        n_threads=n_threads,
    )
    rows: list[Row] = []
    signatures = {}
    for corpus in dict.fromkeys(key.corpus for key in cells):
        same = {key: row for key, row in cells.items() if key.corpus == corpus}
        tests = outputs.tests(corpus)
        for name, test_set in tests.items():
            tested = same if test_set is outputs.test_sets[corpus] else _tested(same, name)
            label = corpus if len(tests) == 1 else f"{corpus}/{name}"
            found, signatures[label] = how.rows(outputs, name, test_set.references, tested)
            rows += found
    result = RunComparison(
        rows=tuple(rows),
        metrics=tuple(metric.name for metric in chosen),
        baseline=" or ".join(names) or None,
        test=test,
        within=within,
        lower_is_better=frozenset(metric.name for metric in chosen if not metric.higher_is_better),
        signatures=signatures,
        notes=(),
    )
    return replace(result, notes=tuple(_notes(outputs, result.main())))


def _tested(cells: Mapping[RowKey, Sequence[CellResult]], test: str) -> dict[RowKey, list[CellResult]]:
    """The cells that have a result on a test set that is not the main one."""
    found = {key: [cell for cell in row if test in cell.tests] for key, row in cells.items()}
    return {key: row for key, row in found.items() if row}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparing:
    """Settings of the comparison of a corpus's rows."""

    metrics: Sequence[Metric]
    baselines: Mapping[RowKey, RowKey]
    test: PairedTest
    within: Within
    draws: Mapping[str, int]
    n_threads: int

    def rows(
        self,
        outputs: Outputs,
        test: str,
        references: Sequence[Sequence[str]],
        cells: Mapping[RowKey, Sequence[CellResult]],
    ) -> tuple[list[Row], dict[str, str]]:
        """The rows of one test set of a corpus, and the signatures of their scores by metric."""
        keys = list(cells)
        systems = [
            SystemOutput(name=key.name, runs=[outputs.translations(cell.key, test) for cell in row])
            for key, row in cells.items()
        ]
        measured, ratios = measure(systems, references, self.metrics, n_threads=self.n_threads)
        places = [keys.index(base) if (base := self.baselines.get(key)) in keys else None for key in keys]
        groups = [key.group(self.within) for key in keys]
        columns = [metric_column(one, groups, places, self.test, **self.draws) for one in measured]
        rows = [
            Row(
                key=key,
                test=test,
                seeds=tuple(cell.key.seed for cell in cells[key]),
                scores={one.metric.name: score for one, score in zip(measured, scores, strict=True)},
                length_ratio=float(lengths.mean()),
                length_ratios=tuple(map(float, lengths)),
                baseline=self.baselines.get(key),
            )
            for key, lengths, *scores in zip(keys, ratios, *columns, strict=True)
        ]
        return rows, {one.metric.name: column_signature(one, len(keys) > 1, **self.draws) for one in measured}


def _baselines(keys: list[RowKey], names: Sequence[str]) -> dict[RowKey, RowKey]:
    """The baseline row of each row that has one, by the first name that its corpus has."""
    known = _known(keys)
    for name in names:
        if name not in known:
            raise InputError(f"--baseline {name}: no such row; expected one of {', '.join(known)}")
    found: dict[RowKey, RowKey] = {}
    for corpus in dict.fromkeys(key.corpus for key in keys):
        same = [key for key in keys if key.corpus == corpus]
        theirs = _known(same)
        for name in [name for name in names if name in theirs][:1]:
            found |= _baselines_of(same, name)
    return found


def _known(keys: list[RowKey]) -> list[str]:
    """What a baseline may be called."""
    return [*dict.fromkeys(getattr(key, part) for part in _PARTS for key in keys), *sorted({key.name for key in keys})]


def _baselines_of(keys: list[RowKey], name: str) -> dict[RowKey, RowKey]:
    """Of rows of one corpus."""
    named = next((key for key in keys if key.name == name), None)
    found = {}
    for key in keys:
        candidates = [named, *(replace(key, **{part: name}) for part in _PARTS)]
        alone = [k for k in keys if (k.system, k.optimiser) == (key.system, name)]
        candidates += alone if len(alone) == 1 else []
        base = next((base for base in candidates if base in keys), key)
        if base is not None and base != key:
            found[key] = base
    return found


def _notes(outputs: Outputs, rows: Sequence[Row]) -> Iterable[str]:
    for key, cell in outputs.failed().items():
        yield f"{key.name} failed: {cell.error}"
    for name in outputs.unfinished[:_N_NAMED]:
        yield f"{name} is not finished"
    if len(outputs.unfinished) > _N_NAMED:
        yield f"{len(outputs.unfinished) - _N_NAMED} more cells are not finished"
    if text := no_gain(outputs.finished().values()):
        yield text
    yield from _notes_on_programs(outputs.finished())
    for corpus in dict.fromkeys(row.key.corpus for row in rows):
        same = [row for row in rows if row.key.corpus == corpus]
        if len({len(row.seeds) for row in same}) > 1:
            counts = ", ".join(f"{row.key.name} {len(row.seeds)}" for row in same)
            yield f"{corpus}: rows have different numbers of runs ({counts})"


def _notes_on_programs(cells: Mapping[CellKey, CellResult]) -> Iterable[str]:
    programs = Counter(cell.programs[-1] for cell in cells.values() if cell.programs)
    if len(programs) > 1:
        counts = ", ".join(f"{name}: {n} cells" for name, n in programs.items())
        yield f"the cells were made by {len(programs)} versions of the program ({counts})"
    for key, cell in cells.items():
        if len(cell.programs) > 1:
            yield f"{key.name} was begun by one version of the program and finished by another"
