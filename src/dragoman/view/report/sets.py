"""Tables of all test sets of a corpus beside the tuning set, each decoded with the kept weights; sizes of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from dragoman.analysis import Mark, RowKey, RunComparison, Shown, mark_of
from dragoman.metric import TER_BLEU
from dragoman.run import CellResult, SetScores
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, mean_points, mean_text, names_of_row, row_header, signed, words

__all__ = ["breakdown_table", "set_table", "text_table"]

_ALL = "AllTest BLEU"
_TEXTS = {"train": "training", "dev": "development", "test/test": "test"}


def text_table(records: Records) -> Table:
    """Lines and tokens of training text, development set and test sets, as Table 2 of Flanigan et al. 2013."""
    header = [*words("corpus", "text"), *map(Shown, ["lines", "source tokens", "target tokens"])]
    rows = []
    for corpus in records.corpora:
        for part, size in records.sizes.get(corpus, {}).items():
            name = _TEXTS.get(part, part.replace("/", ": "))
            numbers = (size.lines, size.source_tokens, size.target_tokens)
            rows.append([*words(corpus, name), *(Shown(f"{number:,}") for number in numbers)])
    return header, rows


def set_table(records: Records, comparison: RunComparison, corpus: str) -> Table | None:
    """BLEU on the tuning set, and on every test set BLEU, TER, (TER-BLEU)/2 and the gap of tuning and test.

    As Tables 3 and 4 of Eidelman et al. 2013, except that the tuning set, too, is decoded with the kept weights. Scores
    that were compared have the marks of the comparison. Where there are several test sets, `AllTest` is the mean BLEU
    over them, weighted by their sentences, as in Auli et al. 2014. None if the cells did not record them.
    """
    rows = records.of_corpus(corpus)
    tests = _tests(rows.values())
    if not tests:
        return None
    sizes = _sizes(records, corpus, tests)
    header = row_header("tune BLEU", *([_ALL] if sizes else []))
    for name in tests:
        header += map(Shown, [f"{name} BLEU", "gap", "TER↓", "(TER-BLEU)/2↓"])
    body = []
    for key, cells in rows.items():
        numbers = [Shown(mean_points(cell.tune.scores["bleu"] for cell in cells if cell.tune is not None))]
        if sizes:
            numbers.append(
                Shown(mean_points(_weighted(cell, sizes) for cell in cells if cell.tests.keys() >= sizes.keys()))
            )
        for name in tests:
            here = [cell for cell in cells if name in cell.tests]
            scores = [cell.tests[name].scores for cell in here]
            gaps = [c.tune.scores["bleu"] - c.tests[name].scores["bleu"] for c in here if c.tune is not None]
            bleu, ter, both = (_mark(comparison, key, name, metric) for metric in ("bleu", "ter", TER_BLEU))
            numbers += [
                Shown(mean_points(score["bleu"] for score in scores), mark=bleu),
                Shown(_signed(gaps)),
                Shown(mean_points(score["ter"] for score in scores), mark=ter),
                Shown(mean_points((score["ter"] - score["bleu"]) / 2 for score in scores), mark=both),
            ]
        body.append([*names_of_row(key), *numbers])
    return header, body


def breakdown_table(records: Records, corpus: str) -> Table | None:
    """BLEU's precisions, brevity penalty and length ratio on the tuning set and every test set; None without them."""
    rows = records.of_corpus(corpus)
    tests = _tests(rows.values())
    if not tests:
        return None
    sets: dict[str, Callable[[CellResult], SetScores | None]] = {"tune": lambda cell: cell.tune}
    sets |= {name: _on(name) for name in tests}
    header = row_header()
    for name in sets:
        header += map(Shown, [f"{name} precisions", "BP", "length"])
    body = []
    for key, cells in rows.items():
        numbers = []
        for scores_of in sets.values():
            found = [scores for cell in cells if (scores := scores_of(cell)) is not None]
            orders = zip(*(scores.precisions for scores in found), strict=False)
            numbers += [
                "/".join(f"{100 * fmean(order):.1f}" for order in orders),
                mean_text([scores.brevity_penalty for scores in found], 3),
                mean_text([scores.length_ratio for scores in found], 3),
            ]
        body.append([*names_of_row(key), *map(Shown, numbers)])
    return header, body


def _tests(rows: Iterable[Sequence[CellResult]]) -> list[str]:
    """The test sets of a corpus, in order."""
    return list(dict.fromkeys(name for cells in rows for cell in cells for name in cell.tests))


def _sizes(records: Records, corpus: str, tests: Sequence[str]) -> dict[str, int]:
    """Sentences of the test sets, where there are several that all cells share."""
    found = records.outputs.tests(corpus)
    if len(tests) < 2 or not found.keys() >= set(tests):
        return {}
    return {name: len(found[name].source) for name in tests}


def _weighted(cell: CellResult, sizes: Mapping[str, int]) -> float:
    """Mean BLEU over test sets, weighted by their sentences."""
    return sum(n * cell.tests[name].scores["bleu"] for name, n in sizes.items()) / sum(sizes.values())


def _mark(comparison: RunComparison, key: RowKey, test: str, metric: str) -> Mark | None:
    for row in comparison.of_corpus(key.corpus, test):
        if row.key == key and metric in row.scores:
            return mark_of(row.scores[metric])
    return None


def _on(name: str) -> Callable[[CellResult], SetScores | None]:
    return lambda cell: cell.tests.get(name)


def _signed(gaps: Sequence[float]) -> str:
    return signed(100 * fmean(gaps)) if gaps else ""
