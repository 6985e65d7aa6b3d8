"""Comparison of the cells of experiments: mean and standard deviation over tuning runs, and significance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dragoman.analysis.baselines import baselines
from dragoman.analysis.column import column_signature, metric_column, rivals
from dragoman.analysis.measure import SystemOutput, measure
from dragoman.analysis.outputs import Outputs, load_outputs
from dragoman.analysis.pooled import Stratum, pooled_rows, primary_result
from dragoman.analysis.primary import Primary
from dragoman.analysis.rows import PairedTest, Row, RowKey, RunComparison, Within
from dragoman.errors import InputError
from dragoman.metric import Metric, by_name
from dragoman.run import CellKey, CellResult, TestSet, no_gain
from dragoman.settings import Record, takes_text
from dragoman.types import Paths

__all__ = ["compare_runs"]

_N_NAMED = 5


@takes_text
def compare_runs(
    runs: Paths | Outputs,
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
    decides which rows are not significantly worse than the best, after Holm's correction for the rows of a table that
    are tested against the same row. `within` determines the best separately for each system or feature set. The initial
    weights of each system have a row too, `start`, where the cells keep what they translated.
    """
    outputs = runs if isinstance(runs, Outputs) else load_outputs(runs)
    chosen = [by_name(name) for name in dict.fromkeys(metrics)]
    if not chosen:
        raise InputError("no metric given; give at least one")
    names = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    corpora = list(dict.fromkeys(key.corpus for key in outputs.rows()))
    starts = [RowKey.of_start(corpus, system) for corpus in corpora for system in outputs.started(corpus)]
    draws = {"n_bootstrap": n_bootstrap, "n_trials": n_trials, "seed": seed}
    how = _Comparing(
        metrics=chosen,
        baselines=baselines([*outputs.rows(), *starts], names),
        test=test,
        within=within,
        draws=draws,
        n_threads=n_threads,
    )
    strata = [
        how.stratum(corpus, name, test_set, _entries(outputs, corpus, name))
        for corpus in corpora
        for name, test_set in outputs.tests(corpus).items()
    ]
    pooled = pooled_rows(strata, chosen, test, within, draws)
    primary = {
        one: primary_result(one, [stratum for stratum in strata if stratum.corpus in named], chosen, test, draws)
        for one, named in outputs.primary.items()
    }
    result = RunComparison(
        rows=tuple(row for stratum in strata for row in stratum.rows),
        metrics=tuple(metric.name for metric in chosen),
        baseline=" or ".join(names) or None,
        test=test,
        within=within,
        lower_is_better=frozenset(metric.name for metric in chosen if not metric.higher_is_better),
        signatures={
            stratum.corpus if len(outputs.tests(stratum.corpus)) == 1 else stratum.name: how.signatures(stratum)
            for stratum in strata
        },
        notes=(),
        pooled=pooled,
        pooled_over=tuple(stratum.name for stratum in strata) if pooled else (),
        primary=tuple(found for found in primary.values() if found is not None),
    )
    missing = [one for one, found in primary.items() if found is None]
    return replace(result, notes=(*_notes(outputs, result.main()), *map(_missing, missing)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """The outputs of a row on one test set."""

    key: RowKey
    seeds: tuple[int, ...]
    output: SystemOutput
    programs: tuple[str, ...] = ()


def _entries(outputs: Outputs, corpus: str, test: str) -> list[_Entry]:
    """The rows of a test set, those of a system after its start."""
    is_main = outputs.tests(corpus)[test] is outputs.test_sets[corpus]
    found: list[_Entry] = []
    for key, row in outputs.rows().items():
        cells = [cell for cell in row if is_main or test in cell.tests]
        if key.corpus != corpus or not cells:
            continue
        if key.system not in {entry.key.system for entry in found} and (
            starts := outputs.starts(corpus, key.system, test)
        ):
            start = RowKey.of_start(corpus, key.system)
            output = SystemOutput(name=start.name, runs=tuple(starts.values()))
            found.append(_Entry(key=start, seeds=tuple(starts), output=output))
        found.append(
            _Entry(
                key=key,
                seeds=tuple(cell.key.seed for cell in cells),
                output=SystemOutput(name=key.name, runs=[outputs.translations(cell.key, test) for cell in cells]),
                programs=tuple(dict.fromkeys(cell.programs[-1] for cell in cells if cell.programs)),
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparing(Record):
    """Settings of the comparison of a test set's rows."""

    metrics: Sequence[Metric]
    baselines: Mapping[RowKey, RowKey]
    test: PairedTest
    within: Within
    draws: Mapping[str, int]
    n_threads: int

    def stratum(self, corpus: str, test: str, test_set: TestSet, entries: Sequence[_Entry]) -> Stratum:
        """The rows of one test set of a corpus, and what was measured of them."""
        keys = [entry.key for entry in entries]
        outputs = [entry.output for entry in entries]
        measured, ratios = measure(outputs, test_set.references, self.metrics, n_threads=self.n_threads)
        places = [keys.index(base) if (base := self.baselines.get(key)) in keys else None for key in keys]
        columns = [
            metric_column(
                one,
                rivals(keys, self.within),
                places,
                self.test,
                higher_is_better=one.metric.higher_is_better,
                **self.draws,
            )
            for one in measured
        ]
        rows = [
            Row(
                key=entry.key,
                test=test,
                seeds=entry.seeds,
                n_distinct=entry.output.n_distinct,
                scores={one.metric.name: score for one, score in zip(measured, scores, strict=True)},
                length_ratio=float(lengths.mean()),
                length_ratios=tuple(map(float, lengths)),
                baseline=self.baselines.get(entry.key),
                programs=entry.programs,
            )
            for entry, lengths, *scores in zip(entries, ratios, *columns, strict=True)
        ]
        return Stratum(corpus=corpus, test_set=test_set, rows=rows, measured=measured)

    def signatures(self, stratum: Stratum) -> dict[str, str]:
        """The signatures of the scores of a test set by metric."""
        several = len(stratum.rows) > 1
        return {one.metric.name: column_signature(one, several, **self.draws) for one in stratum.measured}


def _missing(primary: Primary) -> str:
    return (
        f"the primary comparison of the recipe, {', '.join(primary.rows)} against {primary.baseline} by "
        f"{primary.metric}, has no finished cells here, or its metric is not asked for"
    )


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
        same = [row for row in rows if row.key.corpus == corpus and not row.key.is_start]
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
