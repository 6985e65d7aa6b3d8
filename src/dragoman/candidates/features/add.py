"""Adding features to lists: to a pool in memory, or from file to file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman.candidates import NbestFormat, Pool, Shard, has_missing, nbest_blocks, read_lists_in_order
from dragoman.candidates.features.base import CandidateBlock, CandidateFeature, SparseCandidateFeature
from dragoman.candidates.features.registry import make_candidate_features
from dragoman.candidates.features.score_table import ScoreTable
from dragoman.candidates.features.sparse_rows import SparseRows
from dragoman.errors import InputError, MismatchError
from dragoman.settings import takes_text
from dragoman.text import open_output
from dragoman.types import Float64Array, PathLike, Paths, one_or_many

__all__ = ["AddedFeatures", "add_candidate_features", "describe_candidates", "with_score_table"]

_BLOCK = 4096
"""Candidates at a time, but for longer lists."""

Named = Sequence[tuple[CandidateFeature, tuple[str, ...]]]


def add_candidate_features(
    pool: Pool, told: Sequence[str | CandidateFeature], sources: Sequence[str], *, n_threads: int = 1
) -> Pool:
    """The pool with features such as `length`, `lm=FILE`, `system=FOLDER` and `agreement`, or objects of your own.

    `sources` are the source sentences by sentence id. Raises InputError for an unknown feature or one that the
    candidates have already.
    """
    return _with_features(pool, make_candidate_features(told), sources, n_threads)


def _with_features(pool: Pool, features: Named, sources: Sequence[str], n_threads: int) -> Pool:
    columns: dict[str, list[Float64Array]] = {}
    sparse: list[SparseRows] = []
    for shard in pool.shards:
        _check_ids(shard, len(sources))
        rows = SparseRows(pool.index)
        sparse.append(rows)
        for feature, names in features:
            parts = []
            begin = 0
            for part in _parts(shard):
                block = CandidateBlock(pool=pool, shard=part, sources=_own(part, sources))
                parts.append(feature.values(block, n_threads))
                if isinstance(feature, SparseCandidateFeature):
                    for place, named in enumerate(feature.sparse_values(block, n_threads), start=begin):
                        rows.add(place, named)
                begin += part.n_candidates
            values = np.concatenate(parts) if parts else np.zeros((0, len(names)))
            for column, name in enumerate(names):
                columns.setdefault(name, []).append(np.ascontiguousarray(values[:, column]))
    if any(sparse):
        pool = replace(
            pool, shards=tuple(rows.added_to(shard) for rows, shard in zip(sparse, pool.shards, strict=True))
        )
    return pool.add_features(columns) if columns else pool


def with_score_table(pool: Pool, path: PathLike, *, named: Collection[str] = ()) -> Pool:
    """The pool with the columns of a table of numbers, a line for each candidate in the pool's order.

    Columns of these names become named scores, all others features.
    """
    table = ScoreTable(path)
    parts = [table.next_columns(shard.n_candidates) for shard in pool.shards]
    table.expect_end(pool.n_candidates)
    return _with_columns(pool, {name: [part[name][0] for part in parts] for name in table.names}, named)


def _with_columns(pool: Pool, columns: Mapping[str, list[Float64Array]], named: Collection[str]) -> Pool:
    features = {name: arrays for name, arrays in columns.items() if name not in named}
    scores = {name: arrays for name, arrays in columns.items() if name in named}
    if features:
        pool = pool.add_features(features)
    return pool.add_scores(scores) if scores else pool


def _own(shard: Shard, sources: Sequence[str]) -> list[str]:
    return [sources[id_] for id_ in shard.sentence_ids.tolist()]


def _check_ids(shard: Shard, n_sources: int) -> None:
    if len(shard.sentence_ids) and int(shard.sentence_ids[-1]) >= n_sources:
        raise MismatchError(
            f"the lists have sentence {shard.sentence_ids[-1]} (counted from 0) but the source has only {n_sources} "
            "lines; do they belong together?"
        )


def _parts(shard: Shard) -> Iterator[Shard]:
    begin = 0
    while begin < shard.n_sentences:
        limit = int(shard.sentences[begin]) + _BLOCK
        end = max(begin + 1, int(np.searchsorted(shard.sentences, limit, side="right")) - 1)
        yield shard.part(begin, end)
        begin = end


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedFeatures:
    """What was written."""

    n_sentences: int
    n_candidates: int
    names: tuple[str, ...]
    score_names: tuple[str, ...] = ()


@takes_text
def describe_candidates(
    path: PathLike,
    out: PathLike,
    told: Sequence[str | CandidateFeature],
    sources: Sequence[str] | None,
    *,
    scores: Paths = (),
    named: Collection[str] = (),
    format_: NbestFormat | None = None,
    out_format: NbestFormat | None = None,
    fields: Sequence[str] | None = None,
    allow_missing: bool = False,
    n_threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> AddedFeatures:
    """Copy a list with more features, some thousand candidates at a time; a sentence's candidates must be together.

    `sources` may be None where nothing but `scores` is added: tables with a header of names and a line of numbers for
    each candidate, in the order of the list. Their columns become features, those that are `named` scores. Raises
    InputError for a name that no table has.
    """
    scores = one_or_many(scores)
    features = make_candidate_features(told)
    if features and sources is None:
        raise InputError("features need the source sentences; only `scores` does without")
    tables = [ScoreTable(table) for table in scores]
    names = tuple(name for _, columns in features for name in columns) + tuple(
        name for table in tables for name in table.names if name not in named
    )
    if unknown := sorted(set(named) - {name for table in tables for name in table.names}):
        raise InputError(f"no table has a column '{unknown[0]}'; they have: {_columns_of(tables)}")
    names += tuple(f"{each.stem}…" for each, _ in features if isinstance(each, SparseCandidateFeature))
    if not names and not named:
        raise InputError("no feature to add; name one with `told` or `scores`")
    n_sentences = n_candidates = 0
    pools = read_lists_in_order(path, format_=format_, fields=fields, allow_missing=allow_missing)
    with open_output(out) as output:
        for pool, found in pools:
            if sources is not None:
                pool = _with_features(pool, features, sources, n_threads)
            for table in tables:
                pool = _with_columns(pool, table.next_columns(pool.n_candidates), named)
            written = out_format or (NbestFormat.JSONL if pool.score_names or found is NbestFormat.FAIRSEQ else found)
            if pool.score_names and written is not NbestFormat.JSONL:
                raise InputError(f"{written} lists have no named scores; write jsonl")
            if written is not NbestFormat.JSONL and has_missing(pool):
                raise InputError(f"{written} lists cannot say that a feature is null; write jsonl")
            for block in nbest_blocks(pool, format_=written):
                output.write_block(block)
            n_sentences += pool.n_sentences
            n_candidates += pool.n_candidates
            if progress is not None:
                progress(n_candidates)
        for table in tables:
            table.expect_end(n_candidates)
    return AddedFeatures(
        n_sentences=n_sentences, n_candidates=n_candidates, names=names, score_names=tuple(dict.fromkeys(named))
    )


def _columns_of(tables: Sequence[ScoreTable]) -> str:
    return ", ".join(name for table in tables for name in table.names) or "none"
