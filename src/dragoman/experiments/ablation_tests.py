"""What groups of features are worth on the test set, by what is maximised: each against the group before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.analysis import Measured, holm
from dragoman.candidates import metric_of, rerank
from dragoman.experiments.ablation import CORPUS, FIRST, AblationRow
from dragoman.experiments.corpora import TEST
from dragoman.experiments.list_cell import learned_weights
from dragoman.experiments.list_form import ListRecipe
from dragoman.experiments.list_stages import ListStages
from dragoman.features import Weights, read_weights
from dragoman.metric import Metric
from dragoman.run import CellKey
from dragoman.system import Silent
from dragoman.types import Float64Array
from dragoman.work.store import Store

__all__ = ["AblationTests", "RowTest"]

_TRIALS, _SEED = 10_000, 12345


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTest:
    """A row on the test set; p-values by approximate randomisation over sentences.

    `p_first` is of the difference to the first of each list, `holm_first` the same, corrected for the number of rows,
    `p_before` of that to the group before with the same method (for the first group: to the first of each list). None
    where there is nothing before.
    """

    score: float
    p_first: float | None
    holm_first: float | None
    p_before: float | None


class AblationTests:
    """The test set of a finished ablation. Its choices are made again from the weights that were kept."""

    def __init__(self, recipe: ListRecipe, run: Path, cache: Path, *, n_threads: int = 1) -> None:
        self._recipe = recipe
        self._run = run
        files = recipe.select().files[CORPUS]
        self._stages = ListStages(Store(cache), recipe, CORPUS, files, n_threads=n_threads, monitor=Silent())
        self._metric: Metric | None = None

    @property
    def metric(self) -> Metric:
        """What the test set was measured by: what is maximised, or if its lists lack that score the metric."""
        assert self._metric is not None
        return self._metric

    def added(self, row: AblationRow) -> list[str]:
        """The features of a row, as `--add` takes them."""
        return self._stages.added(row.cells[0].key)

    def test(self, rows: Sequence[AblationRow]) -> list[RowTest]:
        """A test for each row; the first row is the first of each list."""
        statistics = [np.stack([self._statistics(cell.key) for cell in row.cells]) for row in rows]
        of_first = {place: self._p_value(statistics[0], statistics[place]) for place in range(1, len(rows))}
        corrected = holm(of_first)
        found = []
        before = {row.method: 0 for row in rows}
        for place, row in enumerate(rows):
            against = before[row.method]
            p_first = of_first.get(place)
            p_before = self._p_value(statistics[against], statistics[place]) if against else p_first
            score = float(np.mean(self.metric.score_of(statistics[place].sum(axis=1))))
            found.append(RowTest(score=score, p_first=p_first, holm_first=corrected.get(place), p_before=p_before))
            before[row.method] = place
        return found

    def _statistics(self, key: CellKey) -> Float64Array:
        """Of what the cell chose for each sentence, [n_sentences, n_stats]."""
        method = self._recipe.methods[key.optimiser]
        pool = self._stages.pools(self._stages.make(key)[-1], method)[TEST]
        self._metric = metric_of(pool)
        weights = Weights.from_dict({}) if key.optimiser == FIRST else read_weights(learned_weights(self._run, key))
        choice = rerank(pool, weights)
        parts = []
        for shard, chosen in zip(pool.shards, choice.candidates, strict=True):
            rows = shard.stats[np.maximum(chosen, 0)]
            parts.append(np.where((chosen >= 0)[:, None], rows, 0.0))
        together: Float64Array = np.concatenate(parts)
        return together

    def _p_value(self, base: Float64Array, other: Float64Array) -> float:
        measured = Measured(metric=self.metric, statistics=(base, other), n_refs=None)
        _, p_value = measured.p_randomisation(0, _TRIALS, _SEED)
        assert p_value is not None
        return p_value
