"""Rows of a comparison: a method on a corpus over its tuning runs, with its score by every metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dragoman.analysis.primary import PrimaryResult
from dragoman.analysis.significance import Interval
from dragoman.run import CellKey
from dragoman.settings import Record, takes_text

__all__ = ["START", "PairedTest", "Row", "RowKey", "RowScore", "RunComparison", "Within"]


START = "start"
"""The row of the weights that methods start from, in the place of a method."""


class PairedTest(StrEnum):
    """The test that decides which rows are not significantly worse than the best."""

    RANDOMISATION = "randomisation"
    """Approximate randomisation over sentences (Riezler and Maxwell 2005), swapping all runs of a sentence together."""
    BOOTSTRAP = "bootstrap"
    """Paired bootstrap over sentences (Koehn 2004), drawing all runs of a sentence together."""


class Within(StrEnum):
    """The group of rows within which the best is determined: those with the same names from corpus to this level."""

    CORPUS = "corpus"
    SYSTEM = "system"
    FEATURES = "features"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RowKey:
    """The key of a row: what cells that differ only in the seed have in common."""

    corpus: str
    system: str
    features: str
    optimiser: str

    @classmethod
    def of(cls, key: CellKey) -> RowKey:
        return cls(corpus=key.corpus, system=key.system, features=key.features, optimiser=key.optimiser)

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.system, self.features, self.optimiser)))

    @property
    def is_start(self) -> bool:
        """Whether it is the row of the initial weights, which all feature sets of a system share."""
        return not self.features

    @takes_text
    def group(self, within: Within) -> tuple[str, ...]:
        """The names shared by the rows it is compared with."""
        names = (self.corpus, self.system, self.features)
        return names[: list(Within).index(within) + 1]

    @takes_text
    def competes(self, other: RowKey, within: Within) -> bool:
        """Whether the best of this row's group may be `other`; the start is in all groups of its system."""
        is_shared = within is Within.FEATURES and (self.is_start or other.is_start)
        level = Within.SYSTEM if is_shared else within
        return self.group(level) == other.group(level)

    @classmethod
    def of_start(cls, corpus: str, system: str) -> RowKey:
        """The row of the initial weights of a system."""
        return cls(corpus=corpus, system=system, features="", optimiser=START)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScore:
    """The score of one row by one metric, in [0, 1]."""

    mean: float
    std: float | None
    """Sample standard deviation over runs (ddof=1); None for one run."""
    run_scores: tuple[float, ...]
    interval: Interval | None
    p_best: Mapping[PairedTest, float]
    """p-values against the best row of its group (by default the corpus); empty for the best."""
    p_baseline: Mapping[PairedTest, float]
    """p-values against the baseline; empty without one."""
    holm_best: Mapping[PairedTest, float]
    """`p_best`, corrected for the rows of the table that are tested against the same best row."""
    holm_baseline: Mapping[PairedTest, float]
    """`p_baseline`, corrected for the rows of the table that are tested against the same baseline."""
    best: bool
    not_worse: bool
    """Whether it is not significantly worse than the best: it is the best, or the corrected p is at least 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A method on a test set of a corpus, over its seeds; or on all test sets together."""

    key: RowKey
    test: str
    """The name of the test set."""
    seeds: tuple[int, ...]
    n_distinct: int
    """Number of different outputs among its runs."""
    scores: Mapping[str, RowScore]
    """Scores by metric name."""
    length_ratio: float
    length_ratios: tuple[float, ...]
    baseline: RowKey | None
    """The row that p_baseline compares with; None without one, and for the baseline itself."""
    programs: tuple[str, ...] = ()
    """The versions of the program that finished its runs, as recorded; older records have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison(Record):
    """All rows, by corpus and test set, the main one first, with notes and signatures."""

    rows: tuple[Row, ...]
    metrics: tuple[str, ...]
    baseline: str | None
    """The name that was given, or several joined by "or"."""
    test: PairedTest
    within: Within
    lower_is_better: frozenset[str]
    signatures: Mapping[str, Mapping[str, str]]
    """Signatures by corpus, of several test sets by corpus/test, and metric."""
    notes: tuple[str, ...]
    pooled: tuple[Row, ...] = ()
    """Rows that every test set has, by their means over corpora, tested over the sentences of all; without a corpus."""
    pooled_over: tuple[str, ...] = ()
    """The test sets of `pooled`, as corpus/test."""
    primary: tuple[PrimaryResult, ...] = ()
    """The comparisons that the recipes named as primary."""

    def p_value(self, score: RowScore) -> float | None:
        """The p-value of the chosen test, against the baseline if there is one, else against the best."""
        return (score.p_best if self.baseline is None else score.p_baseline).get(self.test)

    def p_holm(self, score: RowScore) -> float | None:
        """The same p-value, corrected for the rows of its table that are tested against the same row."""
        return (score.holm_best if self.baseline is None else score.holm_baseline).get(self.test)

    def corpora(self) -> list[str]:
        return list(dict.fromkeys(row.key.corpus for row in self.rows))

    def tests(self, corpus: str) -> list[str]:
        """The test sets of a corpus, the main one first."""
        return list(dict.fromkeys(row.test for row in self.rows if row.key.corpus == corpus))

    @property
    def several_tests(self) -> bool:
        """Whether a corpus has more than one test set."""
        return any(len(self.tests(corpus)) > 1 for corpus in self.corpora())

    def of_corpus(self, corpus: str, test: str | None = None) -> list[Row]:
        """The rows of one test set of a corpus, by default the main one."""
        name = next(iter(self.tests(corpus)), None) if test is None else test
        return [row for row in self.rows if (row.key.corpus, row.test) == (corpus, name)]

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from dragoman.analysis.shown import comparison_html
        from dragoman.view.drawing import fragment  # only notebooks need these

        return fragment(comparison_html(self))

    def main(self) -> list[Row]:
        """The rows of the main test set of every corpus."""
        return [row for corpus in self.corpora() for row in self.of_corpus(corpus)]
