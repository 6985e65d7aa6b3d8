"""One method beside all others: its mean gain over each, and on every test set the test against the best of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean

from dragoman.analysis import Row, RunComparison, Shown, Within, compare_runs, is_significant
from dragoman.metric import metric_label
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, signed, words

__all__ = ["Focus", "Verdict", "focus_of"]

_METRICS = ("bleu", "ter")


class Verdict(StrEnum):
    """Whether the method is significantly better than the best other one."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """The method in the focus, and a comparison with it as baseline, by BLEU and TER."""

    name: str
    others: Sequence[str]
    comparison: RunComparison

    def gains(self) -> Table:
        """Gain over each other method, averaged over all test sets of all corpora: Table 5 of Eidelman et al. 2013.

        The difference of the length ratios stands beside it: shorter translations have less TER.
        """
        metrics = self.comparison.metrics
        header = [*words("features", "over"), Shown("test sets"), *(Shown(metric_label(name)) for name in metrics)]
        header.append(Shown("length"))
        found: dict[str, dict[str, list[list[float]]]] = {}
        for ours, others in self._groups():
            for row in others:
                gain = [self._gain(ours, row, metric) for metric in metrics]
                gain.append(ours.length_ratio - row.length_ratio)
                found.setdefault(ours.key.features, {}).setdefault(row.key.optimiser, []).append(gain)
        rows = []
        for features, by_other in found.items():
            for other in (name for name in self.others if name in by_other):
                *means, length = [fmean(column) for column in zip(*by_other[other], strict=True)]
                numbers = [f"{len(by_other[other])}", *map(signed, means), signed(length, 3)]
                rows.append([*words(features, other), *map(Shown, numbers)])
        return header, rows

    def verdicts(self) -> Table:
        """On every test set, the best other method by each metric, the gain over it and the p-value of that."""
        header = words("corpus", "test", "system", "features")
        for metric in self.comparison.metrics:
            header += [*words("best other"), Shown(f"{metric_label(metric)} gain"), Shown("p"), *words("verdict")]
        rows = []
        for ours, others in self._groups():
            cells = words(ours.key.corpus, ours.test, ours.key.system, ours.key.features)
            for metric in self.comparison.metrics:
                best = self._best(others, metric)
                p_value = self.comparison.p_holm(best.scores[metric])
                cells += [
                    *words(best.key.optimiser),
                    Shown(signed(self._gain(ours, best, metric))),
                    Shown("" if p_value is None else f"{p_value:.4f}"),
                    *words(self._verdict(ours, best, metric) or ""),
                ]
            rows.append(cells)
        return header, rows

    def counts(self) -> Table:
        """How often it is better and worse than the best other method, by feature set and metric."""
        header = [*words("features", "metric"), *map(Shown, Verdict)]
        found: dict[tuple[str, str], Counter[Verdict]] = {}
        for ours, others in self._groups():
            for metric in self.comparison.metrics:
                verdict = self._verdict(ours, self._best(others, metric), metric)
                if verdict is not None:
                    found.setdefault((ours.key.features, metric), Counter())[verdict] += 1
        rows = [
            [*words(features, metric_label(metric)), *(Shown(f"{counted[verdict]}") for verdict in Verdict)]
            for (features, metric), counted in sorted(found.items(), key=lambda item: self._place(item[0][0]))
        ]
        return header, rows

    def _groups(self) -> Iterator[tuple[Row, list[Row]]]:
        """Its row on every test set, system and feature set, and those of the others there."""
        found: dict[tuple[str, ...], list[Row]] = {}
        for row in self.comparison.rows:
            found.setdefault((row.test, *row.key.group(Within.FEATURES)), []).append(row)
        for rows in found.values():
            ours = [row for row in rows if row.key.optimiser == self.name]
            others = [row for row in rows if row.key.optimiser in self.others]
            if ours and others:
                yield ours[0], others

    def _place(self, features: str) -> int:
        return list(dict.fromkeys(row.key.features for row in self.comparison.rows)).index(features)

    def _best(self, rows: Sequence[Row], metric: str) -> Row:
        choose = min if metric in self.comparison.lower_is_better else max
        return choose(rows, key=lambda row: row.scores[metric].mean)

    def _gain(self, ours: Row, other: Row, metric: str) -> float:
        """In points; positive is better."""
        difference = 100 * (ours.scores[metric].mean - other.scores[metric].mean)
        return -difference if metric in self.comparison.lower_is_better else difference

    def _verdict(self, ours: Row, other: Row, metric: str) -> Verdict | None:
        p_value = self.comparison.p_holm(other.scores[metric])
        if p_value is None:
            return None
        if not is_significant(p_value):
            return Verdict.NO_DIFFERENCE
        return Verdict.BETTER if self._gain(ours, other, metric) > 0 else Verdict.WORSE


def focus_of(records: Records, *, n_trials: int, n_threads: int) -> Focus | None:
    """The `focus` of the first recipe that names one, `against` others; None without finished rows of both."""
    for plan in (run.table("report") for run in records.runs):
        name, against = plan.get("focus"), plan.get("against")
        if name in {key.optimiser for key in records.rows}:
            given = [against] if isinstance(against, str) else against or records.optimisers
            others = [other for other in given if other != name]
            cells = {key: cell for key, cell in records.outputs.cells.items() if key.optimiser in (name, *others)}
            comparison = compare_runs(
                replace(records.outputs, cells=cells, primary={}),
                metrics=_METRICS,
                baseline=str(name),
                n_bootstrap=0,
                n_trials=n_trials,
                n_threads=n_threads,
            )
            focus = Focus(name=str(name), others=others, comparison=comparison)
            return focus if focus.gains()[1] else None
    return None
