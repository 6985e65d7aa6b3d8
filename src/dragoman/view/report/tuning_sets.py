"""Tuning sets against test sets, of corpora that differ in their development set alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from dragoman.analysis import Shown, SystemOutput, holm, measure
from dragoman.metric import by_name, metric_label
from dragoman.run import CellResult
from dragoman.view.report.corpus_groups import plain_key, same_but_dev, shared_name
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, deviating, signed, words

__all__ = ["Pair", "TuningSets", "tuning_sets"]

_SEED = 12345


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two tuning sets on a test set that does not depend on them. `difference` is the first less the second.

    `p_value` has Holm's correction for the number of pairs.
    """

    first: str
    second: str
    test: str
    difference: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSets:
    """One method tuned on each of several sets. Corpora are named after their tuning sets."""

    title: str
    metric: str
    rows: Mapping[str, Sequence[CellResult]]
    """The runs on each corpus; a run may have drawn a tuning set of its own."""
    compared: Sequence[Pair]

    def scores(self) -> Table:
        """A row for each tuning set, a column for each test set: mean ± standard deviation over runs.

        As Table 1 of Flanigan et al. 2013. The first score is that on the tuning set itself.
        """
        tests = list(dict.fromkeys(name for cells in self.rows.values() for cell in cells for name in cell.tests))
        header = [*words("tuning set"), *map(Shown, ["runs", f"tune {metric_label(self.metric)}", *tests])]
        body = []
        for corpus, cells in self.rows.items():
            tuned = [cell.tune.scores[self.metric] for cell in cells if cell.tune is not None]
            tested = [[cell.tests[test].scores[self.metric] for cell in cells if test in cell.tests] for test in tests]
            numbers = [f"{len(cells)}", *map(deviating, [tuned, *tested])]
            body.append([*words(corpus), *map(Shown, numbers)])
        return header, body

    def pairs(self) -> Table:
        """The difference between any two tuning sets, and its p-value over sentences."""
        header = [*words("tuning set", "against", "test"), *map(Shown, [f"Δ {metric_label(self.metric)}", "p"])]
        rows = [
            [*words(pair.first, pair.second, pair.test), Shown(signed(pair.difference)), Shown(f"{pair.p_value:.4f}")]
            for pair in self.compared
        ]
        return header, rows


def tuning_sets(records: Records, metric: str, *, n_trials: int, n_threads: int = 1) -> Iterator[TuningSets]:
    """A group for each system, feature set and optimiser that was tuned on several sets, not only on more lines."""
    for group in same_but_dev(records):
        if len({plain_key({**dev, "limit": None}) for dev in group.values()}) <= 1:
            continue
        found: dict[tuple[str, str, str], dict[str, list[CellResult]]] = {}
        for key, cells in records.rows.items():
            scored = [cell for cell in cells if all(metric in one.scores for one in cell.tests.values()) and cell.tests]
            if key.corpus in group and scored:
                found.setdefault((key.system, key.features, key.optimiser), {})[key.corpus] = scored
        for names, rows in found.items():
            if len(rows) > 1:
                yield TuningSets(
                    title=f"{shared_name([*rows])}: {', '.join(names)}",
                    metric=metric,
                    rows=rows,
                    compared=[*_pairs(records, rows, metric, n_trials, n_threads)],
                )


def _pairs(
    records: Records,
    rows: Mapping[str, Sequence[CellResult]],
    metric: str,
    n_trials: int,
    n_threads: int,
) -> Iterator[Pair]:
    """On every test set that is the same for all corpora: approximate randomisation of any two."""
    outputs = records.outputs
    by_corpus = [outputs.tests(corpus) for corpus in rows]
    for test, test_set in by_corpus[0].items():
        same = [(tests[test].source, tests[test].references) for tests in by_corpus if test in tests]
        if len(same) < len(by_corpus) or any(one != same[0] for one in same):
            continue
        systems = [
            SystemOutput(name=corpus, runs=[outputs.translations(cell.key, test) for cell in cells])
            for corpus, cells in rows.items()
        ]
        (measured,), _ = measure(systems, test_set.references, [by_name(metric)], n_threads=n_threads)
        means = [100 * float(scores.mean()) for scores in measured.run_scores()]
        corpora = list(rows)
        found = {
            (i, j): p_value
            for i, j in combinations(range(len(corpora)), 2)
            if (p_value := measured.p_randomisation(i, n_trials, _SEED)[j]) is not None
        }
        for (i, j), p_value in holm(found).items():
            yield Pair(first=corpora[i], second=corpora[j], test=test, difference=means[i] - means[j], p_value=p_value)
