"""How well the two sides of each pair explain each other: IBM Model 1 in both directions.

The word translation probabilities are those of the native aligner. A word that occurs once in the corpus could only be
explained by its own pair, so it is neither counted nor allowed to explain another.
"""

from __future__ import annotations

import numpy as np

from dragoman.align.config import Direction, FastConfig
from dragoman.align.fast import train_fast
from dragoman.corpus import Side
from dragoman.types import Float64Array, Int64Array, Progress

__all__ = ["score_pairs"]

_FLOOR = 1e-7
_BLOCK_CELLS = 1 << 22


def score_pairs(
    source: Side, target: Side, *, max_length: int = 200, n_threads: int = 1, progress: Progress | None = None
) -> Float64Array:
    """For each pair the mean log probability of a word given the other side, averaged over both directions.

    NaN where no word of a side occurs twice in the corpus, or where a side is longer than `max_length`.
    """
    scores = []
    for n, (direction, given, made) in enumerate(
        ((Direction.FORWARD, source, target), (Direction.REVERSE, target, source))
    ):
        _, _, model = train_fast(
            source, target, direction, FastConfig(), max_length=max_length, n_threads=n_threads, keep_model=True
        )
        if model is None:
            raise AssertionError("the model was asked for")
        offsets, targets, probs = model.core.row_offsets(), model.core.targets(), model.core.probs()
        rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
        keys = rows * len(made.vocab) + targets
        order = np.argsort(keys, kind="stable")
        table = keys[order], probs[order].astype(np.float64)
        scores.append(_score_direction(given, made, table, model.core.null_probs().astype(np.float64), max_length))
        if progress:
            progress(n + 1)
    return np.asarray((scores[0] + scores[1]) / 2)


def _score_direction(
    given: Side, made: Side, table: tuple[Int64Array, Float64Array], null: Float64Array, max_length: int
) -> Float64Array:
    result = np.full(len(given), np.nan)
    n_given, n_made = given.lengths(), made.lengths()
    usable = np.flatnonzero((n_given > 0) & (n_made > 0) & (n_given <= max_length) & (n_made <= max_length))
    cells = np.cumsum(n_given[usable] * n_made[usable])
    counts_given = np.bincount(given.ids, minlength=len(given.vocab))
    counts_made = np.bincount(made.ids, minlength=len(made.vocab))
    begin = 0
    while begin < len(usable):
        before = cells[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(cells, before + _BLOCK_CELLS)))
        pairs = usable[begin:end]
        result[pairs] = _score_block(given.take(pairs), made.take(pairs), table, null, counts_given, counts_made)
        begin = end
    return result


def _score_block(
    given: Side,
    made: Side,
    table: tuple[Int64Array, Float64Array],
    null: Float64Array,
    counts_given: Int64Array,
    counts_made: Int64Array,
) -> Float64Array:
    keys, probs = table
    n_given = given.lengths()
    pair_of_word = np.repeat(np.arange(len(made)), made.lengths())
    width = n_given[pair_of_word]  # each made word meets every given word of its pair
    ends = np.cumsum(width)
    word = np.repeat(np.arange(len(made.ids)), width)
    at = np.arange(ends[-1]) - np.repeat(ends - width, width) + given.offsets[pair_of_word[word]]
    f = given.ids[at].astype(np.int64)
    wanted = f * len(made.vocab) + made.ids[word]
    place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    found = np.where(keys[place] == wanted, probs[place], 0.0) if len(keys) else np.zeros(len(wanted))
    found[counts_given[f] < 2] = 0.0
    total = np.bincount(word, weights=found, minlength=len(made.ids)) + null[made.ids]
    logs = np.log(np.maximum(total / (n_given[pair_of_word] + 1), _FLOOR))
    evidence = counts_made[made.ids] >= 2
    n_words = np.bincount(pair_of_word[evidence], minlength=len(made))
    sums = np.bincount(pair_of_word[evidence], weights=logs[evidence], minlength=len(made))
    return np.where(n_words > 0, sums / np.maximum(n_words, 1), np.nan)
