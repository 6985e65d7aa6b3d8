"""The primary comparison of a recipe: named before it runs, so the only one that needs no correction."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.metric import by_name

__all__ = ["Primary", "PrimaryResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Primary:
    """Which rows a recipe compares with which, by which metric and on which test sets."""

    rows: tuple[str, ...]
    """Optimisers, or patterns of SYSTEM/FEATURES/OPTIMISER."""
    baseline: str
    """As `--baseline` of `compare`: each row is compared with the one that differs in this alone."""
    metric: str
    tests: tuple[str, ...] = ()
    """Patterns of CORPUS or CORPUS/TEST; empty: all."""

    @classmethod
    def of_report(cls, report: Mapping[str, Any]) -> Primary | None:
        """What the table `[report]` of a recipe says, checked when the recipe was read; None if it names none."""
        primary = report.get("primary")
        if not isinstance(primary, dict):
            return None
        metrics = _texts(report.get("metrics")) or ("bleu",)
        return cls(
            rows=_texts(primary.get("rows") or report.get("focus")),
            baseline=str(primary.get("baseline")),
            metric=by_name(str(primary.get("metric", metrics[0]))).name,
            tests=_texts(primary.get("tests")),
        )

    def has_row(self, name: str) -> bool:
        """Whether SYSTEM/FEATURES/OPTIMISER is one of its rows."""
        return any(
            fnmatch.fnmatchcase(part, pattern) for pattern in self.rows for part in (name, name.rpartition("/")[2])
        )

    def has_test(self, corpus: str, test: str) -> bool:
        """Whether a test set is one of its test sets."""
        names = (corpus, f"{corpus}/{test}")
        return not self.tests or any(fnmatch.fnmatchcase(name, pattern) for pattern in self.tests for name in names)


def _texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryResult:
    """A primary comparison, with scores in [0, 1], means over the corpora."""

    primary: Primary
    score: float
    baseline_score: float
    p_value: float | None
    """Not corrected: there is one primary comparison. None without draws."""
    gain: float
    """The difference; positive is better."""
    rows: tuple[str, ...]
    """Rows compared, as SYSTEM/FEATURES/OPTIMISER."""
    tests: tuple[str, ...]
    """Test sets, as CORPUS/TEST."""
