"""Writers of n-best lists; reading them gives the same pool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman._core import NbestStyle, format_nbest, model_scores
from dragoman.candidates.pool import Pool
from dragoman.candidates.readers import NbestFormat
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.settings import takes_text
from dragoman.text import open_output
from dragoman.types import PathLike

__all__ = ["nbest_blocks", "write_nbest"]

_STYLES = {
    NbestFormat.MOSES: NbestStyle.MOSES,
    NbestFormat.CDEC: NbestStyle.ASSIGNMENTS,
    NbestFormat.JOSHUA: NbestStyle.ASSIGNMENTS,
    NbestFormat.TRAVATAR: NbestStyle.TRAVATAR,
    NbestFormat.JSONL: NbestStyle.JSON,
}
_SENTENCES_PER_BLOCK = 64


@takes_text
def write_nbest(pool: Pool, path: PathLike, *, format_: NbestFormat, weights: Weights | None = None) -> None:
    """Write all candidates; the total is w·f with `weights`, else the decoder's.

    Dense features are on every line. Only JSON Lines support named scores and words with `|||`. Raises InputError for a
    pool without text (statistics files).
    """
    if pool.n_candidates and not any(len(shard.tokens) for shard in pool.shards):
        raise InputError("the pool has no texts; it was read from statistics files")
    if pool.score_names and format_ is not NbestFormat.JSONL:
        raise InputError(
            f"{format_} lists have no named scores; write jsonl, or leave them out (`pool convert --no-scores`)"
        )
    with open_output(path) as output:
        for block in nbest_blocks(pool, format_=format_, weights=weights):
            output.write_block(block)


@takes_text
def nbest_blocks(pool: Pool, *, format_: NbestFormat, weights: Weights | None = None) -> Iterator[bytes]:
    """The lines of a list in blocks, for writing several pools."""
    if format_ is NbestFormat.FAIRSEQ:
        raise InputError("fairseq's output is read, not written; write jsonl")
    dense = _dense_names(pool, grouped=format_ is NbestFormat.MOSES)
    for shard in pool.shards:
        for begin in range(0, shard.n_sentences, _SENTENCES_PER_BLOCK):
            part = shard.part(begin, min(begin + _SENTENCES_PER_BLOCK, shard.n_sentences))
            totals = part.totals if weights is None else model_scores(*part.candidates, weights.values)
            yield format_nbest(
                *part.candidates,
                part.token_rows,
                part.tokens,
                part.sentence_ids,
                totals,
                part.scores,
                list(pool.score_names),
                dense,
                pool.index,
                pool.words,
                _STYLES[format_],
            )


def _dense_names(pool: Pool, *, grouped: bool) -> list[tuple[str, list[int]]]:
    """Dense features as written in lists: in Moses' format `Name_1`, `Name_2`, … are the values of `Name`."""
    names = pool.dense_names()
    ids = [pool.index.find(name) for name in names]
    if not grouped:
        return [(name, [id_]) for name, id_ in zip(names, ids, strict=True)]
    stems: dict[str, dict[int, int]] = {}
    for name, id_ in zip(names, ids, strict=True):
        if match := re.fullmatch(r"(.+)_([1-9]\d*)", name):
            stems.setdefault(match[1], {})[int(match[2])] = id_
    groups = {stem: values for stem, values in stems.items() if set(values) == set(range(1, len(values) + 1))}
    result: dict[str, list[int]] = {}
    for name, id_ in zip(names, ids, strict=True):
        stem = name.rpartition("_")[0]
        if stem in groups and len(groups[stem]) > 1 and id_ in groups[stem].values():
            result[stem] = [groups[stem][place] for place in sorted(groups[stem])]
        else:
            result[name] = [id_]
    return list(result.items())
