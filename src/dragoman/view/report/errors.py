"""Errors of translations by kind, from the edits of TER."""

from __future__ import annotations

from statistics import fmean

from dragoman.analysis import ERROR_KINDS, RunComparison, Shown, error_profile, function_words_of
from dragoman.metric import metric_label
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, names_of_row, row_header, words

__all__ = ["error_table"]


def error_table(records: Records, comparison: RunComparison, corpus: str, *, n_threads: int = 1) -> Table:
    """Errors per 100 words of the references on every test set of a corpus, means over runs.

    An automatic version of the analysis in section 6 of Eidelman et al. 2013. Function words are the most frequent
    words of the references of a test set.
    """
    tests = records.outputs.tests(corpus)
    kinds = {**ERROR_KINDS, "ter": metric_label("ter")}
    header = [*(words("test") if len(tests) > 1 else []), *row_header(*kinds.values())]
    rows = []
    for test, test_set in tests.items():
        known = function_words_of(line for lines in test_set.references for line in lines)
        for row in (row for row in comparison.of_corpus(corpus, test) if not row.key.is_start):
            profiles = [
                error_profile(
                    records.outputs.translations(cell.key, test),
                    test_set.references,
                    function_words=known,
                    n_threads=n_threads,
                )
                for cell in records.rows[row.key]
                if cell.key.seed in row.seeds
            ]
            numbers = [f"{fmean(profile[kind] for profile in profiles):.2f}" for kind in kinds]
            rows.append([*(words(test) if len(tests) > 1 else []), *names_of_row(row.key), *map(Shown, numbers)])
    return header, rows
