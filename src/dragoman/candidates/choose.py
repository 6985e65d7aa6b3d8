"""Selection of one candidate per sentence: by weights (reranking), or by the metric (oracle)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dragoman._core import best_candidates, model_scores, oracle_candidates
from dragoman.candidates.pool import Pool, metric_of
from dragoman.features import Weights, fitted_values
from dragoman.text import open_output
from dragoman.types import Float64Array, Int64Array, PathLike, offsets_of

__all__ = [
    "Choice",
    "best_by",
    "model_totals",
    "oracle",
    "ranked",
    "rerank",
    "rerank_each",
    "score_deviation",
    "weights_for",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """For each shard, the chosen candidate of each sentence; -1 if a sentence has none."""

    pool: Pool
    candidates: tuple[Int64Array, ...]

    def __len__(self) -> int:
        return len(self.pool)

    def __repr__(self) -> str:
        n_chosen = sum(int(np.count_nonzero(chosen >= 0)) for chosen in self.candidates)
        return f"Choice({n_chosen} of {len(self)} sentences)"

    def total(self, sentence_ids: Int64Array | None = None) -> Float64Array:
        """Summed statistics of the chosen candidates, [n_stats]; of some sentences alone, if given."""
        metric_of(self.pool)
        sums = []
        for shard, chosen in zip(self.pool.light_shards(), self.candidates, strict=True):
            if sentence_ids is not None:
                chosen = chosen[np.isin(shard.sentence_ids, sentence_ids)]
            sums.append(shard.stats[chosen[chosen >= 0]].sum(axis=0))
        total: Float64Array = np.sum(sums, axis=0)
        return total

    def score(self) -> float:
        """The corpus score in the metric's own direction (TER: lower is better)."""
        return float(metric_of(self.pool).score_of(self.total()))

    def gain(self) -> float:
        """The corpus gain: higher is better."""
        return float(metric_of(self.pool).gain(self.total()))

    def mean_of(self, values: Sequence[Float64Array]) -> float:
        """The mean of a value per candidate, one array per shard, over the sentences that have candidates."""
        found = [each[chosen[chosen >= 0]] for each, chosen in zip(values, self.candidates, strict=True)]
        together = np.concatenate(found) if found else np.zeros(0)
        return float(together.mean()) if len(together) else 0.0

    def texts(self) -> Iterator[tuple[int, str]]:
        """Sentence id and chosen text, in order; sentences without candidates are empty."""
        for shard, chosen in zip(self.pool.shards, self.candidates, strict=True):
            for id_, candidate in zip(shard.sentence_ids.tolist(), chosen.tolist(), strict=True):
                yield id_, self.pool.text(shard, candidate) if candidate >= 0 else ""

    def write(self, path: PathLike) -> int:
        """Write a line for each sentence id from 0, empty without a candidate; return the number of missing ids."""
        line = n_missing = 0
        with open_output(path) as writer:
            for id_, text in self.texts():
                while line < id_:
                    writer.write("")
                    line += 1
                    n_missing += 1
                writer.write(text)
                line += 1
        return n_missing


def weights_for(pool: Pool, weights: Weights) -> Float64Array:
    """The weight of each of the pool's features. Raises InputError if no weight belongs to any of them."""
    return fitted_values(weights, pool.index)


def rerank(pool: Pool, weights: Weights, *, n_threads: int = 1) -> Choice:
    """The candidate with the highest w·f of each sentence, the first on ties. Shards are streamed."""
    return rerank_each(pool, [weights], n_threads=n_threads)[0]


def rerank_each(pool: Pool, several: Sequence[Weights], *, n_threads: int = 1) -> list[Choice]:
    """The choices of several weights, in one go through the shards."""
    each = [weights_for(pool, weights) for weights in several]
    chosen: list[list[Int64Array]] = [[] for _ in each]
    for shard in pool.shards:
        for values, found in zip(each, chosen, strict=True):
            found.append(best_candidates(*shard.candidates, values, n_threads))
    return [Choice(pool=pool, candidates=tuple(found)) for found in chosen]


def model_totals(pool: Pool, weights: Weights) -> list[Float64Array]:
    """w·f of each candidate, one array per shard."""
    values = weights_for(pool, weights)
    return [model_scores(*shard.candidates, values) for shard in pool.shards]


def score_deviation(pool: Pool, weights: Weights) -> float:
    """The standard deviation of w·f within lists: the root of its mean variance over lists of several candidates."""
    total, n_lists = 0.0, 0
    for shard, scores in zip(pool.shards, model_totals(pool, weights), strict=True):
        counts = np.diff(shard.sentences)
        counts, begins = counts[counts > 0], shard.sentences[:-1][counts > 0]
        if len(begins) == 0:
            continue
        distances = scores - np.repeat(np.add.reduceat(scores, begins) / counts, counts)
        total += float((np.add.reduceat(distances * distances, begins) / counts).sum())
        n_lists += int((counts > 1).sum())
    return math.sqrt(total / n_lists) if n_lists else 0.0


def best_by(pool: Pool, values: Sequence[Float64Array]) -> Choice:
    """The candidate with the highest value of each sentence, the first on ties; one array of values per shard."""
    chosen = []
    for shard, each in zip(pool.shards, values, strict=True):
        bounds = pairwise(shard.sentences.tolist())
        best = [begin + int(each[begin:end].argmax()) if begin < end else -1 for begin, end in bounds]
        chosen.append(np.array(best, dtype=np.int64))
    return Choice(pool=pool, candidates=tuple(chosen))


def ranked(pool: Pool, values: Sequence[Float64Array], *, top: int | None = None) -> Pool:
    """The pool with each sentence's candidates by falling value, which becomes their total; at most `top` of them."""
    shards = []
    for shard, each in zip(pool.shards, values, strict=True):
        of_each = shard.sentence_of_each()
        order = np.lexsort((-each, of_each))
        place = np.arange(len(order)) - shard.sentences[of_each]
        if top is not None:
            order = order[place < top]
        counts = np.bincount(of_each[order], minlength=shard.n_sentences)
        shards.append(replace(shard, totals=each.astype(np.float64)).reordered(order, offsets_of(counts)))
    return replace(pool, shards=tuple(shards))


def oracle(pool: Pool) -> Choice:
    """A choice with approximately the best reachable corpus score.

    Exact for metrics that are means over sentences. For others, such as BLEU, by hill climbing: from the sentence-level
    best candidates, one replacement at a time, until none helps. This is a lower bound of the true oracle.
    """
    metric = metric_of(pool)
    shards = [(shard.sentences, shard.stats, metric.segment_gains(shard.stats)) for shard in pool.light_shards()]
    return Choice(pool=pool, candidates=tuple(oracle_candidates(shards, metric.scorer())))
