"""Whether references belong to the sentences of a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.candidates.pool import Pool
from dragoman.metric import Chrf
from dragoman.types import Float64Array

__all__ = ["doubt_of_references"]

_MOST, _FEWEST = 400, 20
"""Sentences that are looked at; fewer tell nothing."""
_CLEAR = 3.0
"""Standard errors by which own references must be better than those of other sentences."""


def doubt_of_references(pool: Pool, references: Sequence[Sequence[str]], *, n_threads: int = 1) -> str | None:
    """Why the references seem to be those of other sentences, if they do.

    The first candidates are compared by chrF with their own references, those of both neighbours and those of sentences
    far away: own ones must be clearly better than all of these, on the mean of sentences.
    """
    ids, texts = _first_texts(pool)
    if (n := len(ids)) < _FEWEST:
        return None
    places = np.arange(min(n, _MOST)) * n // min(n, _MOST)
    hyps, lines = [texts[place] for place in places], np.array(ids)[places]
    total = len(references)
    others = {"the next line": 1, "the line before": -1}
    others |= {f"lines {step:,} further on": step for step in (total // 3, total // 2) if 1 < step < total - 1}

    def gains(step: int) -> Float64Array:
        own = [references[line] for line in ((lines + step) % total).tolist()]
        metric = Chrf()
        return metric.segment_gains(metric.text_statistics(hyps, own, n_threads=n_threads))

    own, found = gains(0), {where: gains(step) for where, step in others.items()}
    where, best = max(found.items(), key=lambda item: float(item[1].mean()))
    if all(_is_clear(own - other) for other in found.values()):
        return None
    return (
        f"the references seem to belong to other sentences: the first candidates have a mean chrF of "
        f"{100 * own.mean():.1f} with their own, and {100 * best.mean():.1f} with those of {where}"
    )


def _is_clear(differences: Float64Array) -> bool:
    """Whether their mean is above 0 by enough standard errors."""
    return bool(differences.mean() > _CLEAR * differences.std(ddof=1) / np.sqrt(len(differences)))


def _first_texts(pool: Pool) -> tuple[list[int], list[str]]:
    """Ids of sentences whose first candidate has words, and its text."""
    found = [
        (int(id_), pool.text(shard, int(first)))
        for shard in pool.shards
        for id_, first, end in zip(shard.sentence_ids, shard.sentences[:-1], shard.sentences[1:], strict=True)
        if first < end
    ]
    return [id_ for id_, text in found if text], [text for _, text in found if text]
