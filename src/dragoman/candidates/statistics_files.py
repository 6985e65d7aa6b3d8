"""Moses' statistics files: features.dat and scores.dat, text or binary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.candidates.pool import Pool, new_words
from dragoman.candidates.shard import UNKNOWN_LENGTH, Shard, concatenate
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex
from dragoman.metric import Bleu, Metric, Smoothing, Ter
from dragoman.text import read_blocks
from dragoman.types import Float64Array, PathLike, offsets_of

__all__ = ["read_statistics"]

_BLEU_ORDER = 4
_LEAST_COUNT = 1e-30
"""Whole numbers that are read as floats are less."""
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")


@dataclass(frozen=True, slots=True)
class _Entry:
    """The hypotheses of one sentence: a row of numbers each, and (name, value) pairs."""

    sentence: int
    header: tuple[str, ...]
    rows: Float64Array
    sparse: list[list[tuple[str, float]]]
    line: int
    binary: bool


def read_statistics(features: PathLike, scores: PathLike, *, n_threads: int = 1) -> Pool:
    """Read a pool without texts, with the statistics of the metric of scores.dat (BLEU or TER).

    Blocks of a sentence are merged; hypotheses with equal features and statistics are deduplicated. Moses' extractor
    counts the values of a feature from 0, `TM0_0`, `TM0_1`, and `LM0_0`; they are called as in its lists and weights,
    `TM0_1`, `TM0_2`, and `LM0`.
    """
    feature_entries = _by_sentence(_read(features, "FEATURES"), features)
    score_entries = _by_sentence(_read(scores, "SCORES"), scores)
    if feature_entries.keys() != score_entries.keys():
        odd = min(feature_entries.keys() ^ score_entries.keys())
        raise MismatchError(f"sentence {odd} is in only one of {features} and {scores}; do they belong together?")
    index = FeatureIndex()
    layout: _Layout | None = None
    shards: list[Shard] = []
    names: tuple[str, ...] | None = None
    for sentence, entries in sorted(feature_entries.items()):
        others = score_entries[sentence]
        if (a := sum(len(e.rows) for e in entries)) != (b := sum(len(e.rows) for e in others)):
            raise MismatchError(f"sentence {sentence} has {a} hypotheses in {features} but {b} in {scores}")
        for entry in entries:
            names = names or entry.header
            if entry.header != names:
                raise InputError("the feature names differ from those above", path=features, line=entry.line)
            ids = np.array([index.intern(name) for name in entry.header], dtype=np.int32)
            if len(set(ids.tolist())) != len(ids):
                raise InputError("duplicate feature name", path=features, line=entry.line)
        for entry in others:
            found = _layout_of(entry, scores)
            if layout is not None and found is not layout:
                raise InputError("the metric differs from that above", path=scores, line=entry.line)
            layout = found
            _check_counts(entry, scores)
        assert layout is not None
        stats = np.concatenate([layout.to_stats(entry.rows) for entry in others])
        shards.append(_shard(sentence, entries, stats, index, features))
    if layout is None:
        raise InputError("the file has no hypotheses", path=features)
    dense = frozenset(index.find(name) for name in names or ())  # ids stay when features are renamed
    index = _named_as_in_lists(index, names or ())
    pool = Pool(index=index, words=new_words(), shards=(concatenate(shards),), dense=dense, metric=layout.metric)
    return pool.distinct(n_threads=n_threads)


def _named_as_in_lists(index: FeatureIndex, header: Sequence[str]) -> FeatureIndex:
    """The same ids with the names that Moses' lists give, if all names of the header are those of its extractor."""
    counts: dict[str, int] = {}
    for name in header:
        stem, bar, place = name.rpartition("_")
        if not bar or place != str(counts.get(stem, 0)):
            return index
        counts[stem] = counts.get(stem, 0) + 1
    ours = {}
    for stem, n_values in counts.items():
        for k in range(n_values):
            ours[f"{stem}_{k}"] = stem if n_values == 1 else f"{stem}_{k + 1}"
    names = [ours.get(name, name) for name in index.names(np.arange(len(index), dtype=np.int32))]
    if len(set(names)) < len(names):  # a sparse feature has the name already
        return index
    renamed = FeatureIndex()
    for name in names:
        renamed.intern(name)
    return renamed


def _read(path: PathLike, what: str) -> Iterator[_Entry]:
    data = b"".join(block.data for block in read_blocks(path))
    if not data.strip():
        raise InputError(f"the file is empty; expected {what}_TXT_BEGIN_0 or {what}_BIN_BEGIN_0", path=path)
    at, line = 0, 1
    while at < len(data):
        text, at = _line(data, at)
        if not text.strip():
            line += 1
            continue
        sentence, count, width, names, binary = _header(text, what, path, line)
        begin = line
        if binary:
            n_bytes = 4 * count * width
            if at + n_bytes > len(data):
                raise InputError(f"{count} x {width} numbers expected, but the file ends before", path=path, line=line)
            rows = np.frombuffer(data, "<f4", count * width, at).reshape(count, width).astype(np.float64)
            if what == "SCORES" and _bad_count(rows, names) is not None:
                # Moses writes floats or int32, and nothing says which.
                whole = np.frombuffer(data, "<i4", count * width, at).reshape(count, width).astype(np.float64)
                rows = whole if _bad_count(whole, names) is None else rows
            line += data.count(b"\n", at, at + n_bytes) + 1
            at += n_bytes
            sparse: list[list[tuple[str, float]]] = [[] for _ in range(count)]
        else:
            lines = []
            for _ in range(count):
                text, at = _line(data, at)
                line += 1
                lines.append(_row(text, width, path, line))
            rows = np.array([dense for dense, _ in lines], dtype=np.float64).reshape(len(lines), width)
            sparse = [extra for _, extra in lines]
            line += 1
        if not np.isfinite(rows).all():
            raise InputError("a number that is not finite", path=path, line=begin)
        footer, at = _line(data, at)
        if not footer.strip():  # binary files may or may not have a line end after the numbers
            footer, at = _line(data, at)
            line += 1
        if footer.split() != [f"{what}_{'BIN' if binary else 'TXT'}_END_0".encode()]:
            raise InputError(f"expected {what}_..._END_0 after {count} hypotheses", path=path, line=line)
        line += 1
        yield _Entry(sentence, names, rows, sparse, begin, binary)


def _bad_count(rows: Float64Array, names: tuple[str, ...]) -> int | None:
    """The first row that cannot be the statistics of a hypothesis.

    Matches and totals of BLEU are whole numbers and no match exceeds its total; reference lengths may be means.
    """
    bad = ~((rows == 0) | ((rows >= _LEAST_COUNT) & np.isfinite(rows))).all(axis=1)
    if names == ("BLEU",) and rows.shape[1] == 2 * _BLEU_ORDER + 1:
        counts = rows[:, : 2 * _BLEU_ORDER]
        bad |= (counts != np.floor(counts)).any(axis=1) | (counts[:, ::2] > counts[:, 1::2]).any(axis=1)
    return int(np.argmax(bad)) if bad.any() else None


def _check_counts(entry: _Entry, path: PathLike) -> None:
    row = _bad_count(entry.rows, entry.header)
    if row is not None:
        shown = " ".join(f"{number:g}" for number in entry.rows[row])
        raise InputError(
            f"{shown} cannot be counts of {' '.join(entry.header)} (hypothesis {row} of sentence {entry.sentence}); "
            "expected whole numbers from 0, no match above its total",
            path=path,
            line=entry.line if entry.binary else entry.line + 1 + row,
        )


def _line(data: bytes, at: int) -> tuple[bytes, int]:
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    return data[at:end], end + 1


def _header(text: bytes, what: str, path: PathLike, line: int) -> tuple[int, int, int, tuple[str, ...], bool]:
    parts = text.split()
    starts = {f"{what}_TXT_BEGIN_0".encode(): False, f"{what}_BIN_BEGIN_0".encode(): True}
    if len(parts) < 4 or parts[0] not in starts or not all(part.isdigit() for part in parts[1:4]):
        raise InputError(f"expected '{what}_TXT_BEGIN_0 sentence count width names'", path=path, line=line)
    sentence, count, width = (int(part) for part in parts[1:4])
    if max(sentence, count, width) >= 1 << 31:
        raise InputError("a number in the header is too large", path=path, line=line)
    try:
        names = tuple(part.decode("utf-8") for part in parts[4:])
    except UnicodeDecodeError:
        raise InputError("a name is not valid UTF-8", path=path, line=line) from None
    if what == "FEATURES" and len(names) != width:
        raise InputError(f"{width} dense features but {len(names)} names", path=path, line=line)
    return sentence, count, width, names, starts[parts[0]]


def _row(text: bytes, width: int, path: PathLike, line: int) -> tuple[list[float], list[tuple[str, float]]]:
    parts = text.split()
    if len(parts) < width:
        raise InputError(f"{len(parts)} numbers, expected {width}", path=path, line=line)
    dense = [_number(part, path, line) for part in parts[:width]]
    sparse = []
    for part in parts[width:]:
        separator = b"=" if b"=" in part else b":"  # which it was until 2013
        name, told, value = part.rpartition(separator)
        name = name.removesuffix(b"=")  # some versions keep that of the list: 'pl_1,1==2'
        if not told or not name:
            raise InputError(f"expected 'name=value', found '{part.decode('utf-8', 'replace')}'", path=path, line=line)
        sparse.append((name.decode("utf-8", "replace"), _number(value, path, line)))
    return dense, sparse


def _number(text: bytes, path: PathLike, line: int) -> float:
    if not _NUMBER.match(text):
        shown = text.decode("utf-8", "replace")
        raise InputError(f"expected a finite number, found '{shown}'", path=path, line=line)
    return float(text)


def _by_sentence(entries: Iterable[_Entry], path: PathLike) -> dict[int, list[_Entry]]:
    found: dict[int, list[_Entry]] = {}
    for entry in entries:
        found.setdefault(entry.sentence, []).append(entry)
    if not found:
        raise InputError("the file has no hypotheses", path=path)
    return found


@dataclass(frozen=True, slots=True)
class _Layout:
    """How Moses writes the statistics of a metric: so many numbers under a label."""

    label: str
    width: int
    metric: Metric
    to_stats: Callable[[Float64Array], Float64Array]


def _bleu_stats(rows: Float64Array) -> Float64Array:
    """From Moses' order (match and total of each order, reference length) to ours."""
    return np.column_stack([rows[:, 1], rows[:, 8], rows[:, 0:8:2], rows[:, 1:8:2]])


_LAYOUTS = (
    _Layout("BLEU", 2 * _BLEU_ORDER + 1, Bleu(smoothing=Smoothing.NONE), _bleu_stats),
    _Layout("TER", 2, Ter(), lambda rows: rows),
)


def _layout_of(entry: _Entry, path: PathLike) -> _Layout:
    width = entry.rows.shape[1]
    for layout in _LAYOUTS:
        if (entry.header, width) == ((layout.label,), layout.width):
            return layout
    expected = " or ".join(f"{layout.label} with {layout.width}" for layout in _LAYOUTS)
    raise InputError(
        f"{' '.join(entry.header) or 'no name'} with {width} numbers; expected {expected}", path=path, line=entry.line
    )


def _shard(sentence: int, entries: Sequence[_Entry], stats: Float64Array, index: FeatureIndex, path: PathLike) -> Shard:
    rows: list[list[tuple[int, float]]] = []
    for entry in entries:
        ids = [index.find(name) for name in entry.header]
        for numbers, sparse in zip(entry.rows.tolist(), entry.sparse, strict=True):
            row = dict(zip(ids, numbers, strict=True))
            for name, value in sparse:
                id_ = index.intern(name)
                if id_ in row:
                    raise InputError(f"duplicate feature '{name}' in a line", path=path, line=entry.line)
                row[id_] = value
            rows.append(sorted((id_, value) for id_, value in row.items() if value != 0))
    n = len(rows)
    values = np.array([value for row in rows for _, value in row], dtype=np.float64)
    if np.abs(values).max(initial=0.0) > np.finfo(np.float32).max:
        raise InputError("a feature value is too large for 32 bits", path=path, line=entries[0].line)
    return Shard(
        sentence_ids=np.array([sentence], dtype=np.int32),
        sentences=np.array([0, n], dtype=np.int64),
        feature_rows=offsets_of(np.array([len(row) for row in rows], dtype=np.int64)),
        feature_ids=np.array([id_ for row in rows for id_, _ in row], dtype=np.int32),
        feature_values=values.astype(np.float32),
        token_rows=np.zeros(n + 1, dtype=np.int64),
        tokens=np.zeros(0, dtype=np.int32),
        rounds=np.zeros(n, dtype=np.int32),
        source_lengths=np.array([UNKNOWN_LENGTH], dtype=np.int32),
        totals=np.full(n, np.nan),
        scores=np.zeros((n, 0)),
        stats=stats,
    )
