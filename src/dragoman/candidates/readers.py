"""n-best lists of Moses, Phrasal, cdec, Joshua and Travatar, and JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import chain

import numpy as np

from dragoman._core import NbestReader, WordTable, escape_word
from dragoman.candidates.fairseq import FairseqLines, is_fairseq
from dragoman.candidates.merge import merge_pools
from dragoman.candidates.missing import fill_missing
from dragoman.candidates.pool import Pool, new_words
from dragoman.candidates.shard import UNKNOWN_LENGTH, Shard, concatenate
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex
from dragoman.settings import takes_text
from dragoman.text import LineBlock, read_blocks
from dragoman.types import PathLike, Paths, one_or_many

__all__ = [
    "FIELDS",
    "NbestFormat",
    "format_of_list",
    "has_segmentation",
    "read_in_parts",
    "read_lists_in_order",
    "read_nbest",
    "read_pool",
    "recognise",
    "subword_mark",
]


class NbestFormat(StrEnum):
    """How a candidate list is written."""

    MOSES = "moses"  # id ||| text ||| Name= a b name= c ||| total; Phrasal's `name: value` too
    CDEC = "cdec"  # id ||| text ||| name=value ||| total
    JOSHUA = "joshua"  # as cdec unless `fields` says otherwise
    TRAVATAR = "travatar"  # id ||| text ||| total ||| name=value
    FAIRSEQ = "fairseq"  # fairseq-generate's output, D-0<TAB>score<TAB>text; read, not written
    JSONL = "jsonl"  # {"id": 0, "text": "...", "features": {...}, "scores": {...}}


FIELDS = ("id", "text", "features", "total")
"""The fields of a line, in the order of most formats."""

_ZEROS_WRITTEN = frozenset({NbestFormat.MOSES, NbestFormat.JSONL})
_TRAVATAR = ("id", "text", "total", "features")
_FEW_MARKED = 0.01
"""A smaller share of words that look like subwords are words that happen to."""
_SMALL_SET = 100
"""A list that omits zeros and has at most this number of features has only dense features."""
_NUMBER = re.compile(rb"[-+]?[\d.]+([eE][-+]?\d+)?\Z")


def recognise(block: LineBlock) -> NbestFormat:
    """Detect the format of a list by its first line, fairseq's by any. Raises InputError for an unknown format."""
    line = next((text for text in block.data.split(b"\n") if text.strip()), b"")
    if line.lstrip().startswith(b"{"):
        return NbestFormat.JSONL
    parts = [part.strip() for part in line.split(b"|||")]
    if is_fairseq(line) or (len(parts) < 3 and is_fairseq(block.data)):
        return NbestFormat.FAIRSEQ
    if len(parts) < 3:
        raise InputError(
            "not a candidate list; expected 'id ||| text ||| features ||| score' or JSON Lines", line=block.first_line
        )
    if len(parts) == 4 and _NUMBER.match(parts[2]) and b"=" in parts[3]:
        return NbestFormat.TRAVATAR
    if any(token.endswith((b"=", b":")) for token in parts[2].split()):
        return NbestFormat.MOSES
    return NbestFormat.CDEC


def format_of_list(path: PathLike) -> NbestFormat | None:
    """The format of a list in a file, by its first line; None where it is no list."""
    try:
        with naming(path):
            block = next(read_blocks(path), None)
            return None if block is None else recognise(block)
    except InputError:
        return None


def has_segmentation(words: WordTable) -> bool:
    """Whether the words of lists hold marks such as |0-1|, which decoders write to show their segmentation."""
    return any(words.find(escape_word(f"|0-{end}|".encode())) >= 0 for end in range(3))


def subword_mark(words: WordTable, references: Collection[str]) -> str | None:
    """The mark of subwords, `@@` or `▁`, that words of candidates have and references do not; None if there is none."""
    data, offsets = np.frombuffer(words.blob(), np.uint8), words.offsets()
    for mark, at_end in (("@@", True), ("\u2581", False)):
        raw = np.frombuffer(mark.encode(), np.uint8)
        long = np.diff(offsets) > len(raw)
        places = (offsets[1:] - len(raw) if at_end else offsets[:-1])[long]
        marked = (data[places[:, None] + np.arange(len(raw))] == raw).all(axis=1)
        if marked.sum() > _FEW_MARKED * len(words) and not any(mark in line for line in references):
            return mark
    return None


@takes_text
def read_nbest(
    path: PathLike,
    *,
    format_: NbestFormat | None = None,
    fields: Sequence[str] | None = None,
    dense: Collection[str] | None = None,
    allow_missing: bool = False,
    round_number: int = 0,
    index: FeatureIndex | None = None,
    words: WordTable | None = None,
) -> Pool:
    """Read one list as an in-memory pool, including duplicate candidates.

    Lines may be in any order. A feature missing from a line is 0. In JSON Lines and Moses' lists, which write zeros,
    this is an error if at least half of the candidates have the feature and it is not a count (counts may be sparse),
    unless `allow_missing`: 0 would be the best log probability. Unless given by `dense`, features are dense if they
    have several values (`Name= a b`: `Name_1`, `Name_2`) or are on every line; in lists other than Moses' with at most
    100 features all are dense, because cdec and Travatar omit zeros. `fields` is the order of the fields of a line, for
    Joshua's templates; "" is a field to skip. A feature that is null in JSON Lines is missing on purpose: it gets the
    mean of the list's others, and `NAME:missing` is 1.
    """
    reading = _Reading(
        path,
        format_=format_,
        fields=fields,
        allow_missing=allow_missing,
        index=FeatureIndex() if index is None else index,
        words=new_words() if words is None else words,
    )
    shards = list(reading.shards(round_number, None))
    pool = reading.pool(concatenate(shards), dense)
    return fill_missing(pool) if reading.format is NbestFormat.JSONL else pool


@takes_text
def read_in_parts(
    path: PathLike,
    *,
    n_candidates: int,
    index: FeatureIndex,
    words: WordTable,
    format_: NbestFormat | None = None,
    fields: Sequence[str] | None = None,
    dense: Collection[str] | None = None,
    allow_missing: bool = False,
    round_number: int = 0,
) -> Iterator[Pool]:
    """Read one list as a sequence of pools of about `n_candidates` each, for lists larger than memory.

    A sentence may be in several of them; merging combines them.
    """
    reading = _Reading(path, format_=format_, fields=fields, allow_missing=allow_missing, index=index, words=words)
    for shard in reading.shards(round_number, n_candidates):
        yield reading.pool(concatenate([shard]), dense)


@takes_text
def read_lists_in_order(
    path: PathLike,
    *,
    n_candidates: int = 20_000,
    format_: NbestFormat | None = None,
    fields: Sequence[str] | None = None,
    allow_missing: bool = False,
) -> Iterator[tuple[Pool, NbestFormat]]:
    """Read one list as a sequence of pools of whole sentences, about `n_candidates` each, and its format.

    Candidates stay in the order of the file, duplicates included. Raises InputError unless sentence numbers ascend.
    """
    reading = _Reading(
        path,
        format_=format_,
        fields=fields,
        allow_missing=allow_missing,
        index=FeatureIndex(),
        words=new_words(),
    )
    held: list[Shard] = []  # of a sentence that may go on
    last = -1
    for shard in reading.shards(0, n_candidates):
        held = [_with_scores(earlier, shard.scores.shape[1]) for earlier in held]
        ids = shard.sentence_ids
        if (np.diff(ids) <= 0).any() or ids[0] < last:
            raise InputError(
                "sentence numbers must ascend, with the candidates of a sentence together; "
                "`dragoman pool convert` sorts a list",
                path=path,
            )
        last = int(ids[-1])
        if shard.n_sentences > 1:
            yield reading.pool(concatenate([*held, shard.part(0, shard.n_sentences - 1)]), None), reading.format
            held = []
        held.append(shard.part(shard.n_sentences - 1, shard.n_sentences))
    yield reading.pool(concatenate(held), None), reading.format


def _with_scores(shard: Shard, n_scores: int) -> Shard:
    """The shard with as many scores as lines after it have; its own candidates lack them."""
    n_new = n_scores - shard.scores.shape[1]
    if n_new <= 0:
        return shard
    return replace(shard, scores=np.hstack([shard.scores, np.full((len(shard.scores), n_new), np.nan)]))


@takes_text
def read_pool(
    paths: Paths,
    *,
    format_: NbestFormat | None = None,
    fields: Sequence[str] | None = None,
    dense: Collection[str] | None = None,
    allow_missing: bool = False,
    distinct: bool = True,
    n_threads: int = 1,
) -> Pool:
    """Read several lists (tuning rounds, several systems) as one in-memory pool.

    Duplicate candidates (the same words and features) are left out unless not `distinct`.
    """
    paths = one_or_many(paths)
    if not paths:
        raise InputError("no candidate lists given")
    index, words = FeatureIndex(), new_words()
    pools = [
        read_nbest(
            path,
            format_=format_,
            fields=fields,
            dense=dense,
            allow_missing=allow_missing,
            round_number=number,
            index=index,
            words=words,
        )
        for number, path in enumerate(paths)
    ]
    return merge_pools(pools, distinct=distinct, n_threads=n_threads)


class _Reading:
    def __init__(
        self,
        path: PathLike,
        *,
        format_: NbestFormat | None,
        fields: Sequence[str] | None,
        allow_missing: bool,
        index: FeatureIndex,
        words: WordTable,
    ) -> None:
        self._path = path
        self._format = format_
        self._fields = fields
        self._allow_missing = allow_missing
        self._index = index
        self._words = words
        self._reader = NbestReader(index, words)

    @property
    def format(self) -> NbestFormat:
        """The format, given or recognised; ask after the first shard."""
        assert self._format is not None
        return self._format

    def shards(self, round_number: int, n_candidates: int | None) -> Iterator[Shard]:
        """Shards in file order; a shard's sentence ids may repeat and need not ascend."""
        n_taken = 0
        with naming(self._path):
            blocks = read_blocks(self._path)
            first = next(blocks, None)
            if first is None:
                raise InputError("the file is empty; expected a candidate list")
            self._format = self._format or recognise(first)
            read = self._block_reader(self._format)
            for block in chain([first], blocks):
                read(block)
                if n_candidates is not None and self._reader.n_lines() - n_taken >= n_candidates:
                    n_taken = self._reader.n_lines()
                    yield self._take(round_number)
            if not self._allow_missing and self._format in _ZEROS_WRITTEN:
                self._check_gaps()
        if self._reader.n_lines() == 0:
            raise InputError("the file has no candidates", path=self._path)
        if self._reader.n_lines() > n_taken:
            yield self._take(round_number)

    def _check_gaps(self) -> None:
        if gap := self._reader.first_gap():
            name, n_lines, line, sentence = gap
            raise InputError(
                f"a candidate of sentence {sentence} has no '{name}', which {n_lines:,} of {self._reader.n_lines():,} "
                "candidates have; it would count as 0. Say `allow_missing=True` if that is meant",
                line=line,
            )

    def pool(self, shard: Shard, dense: Collection[str] | None) -> Pool:
        return Pool(
            index=self._index,
            words=self._words,
            shards=(shard,),
            dense=self._dense(dense),
            score_names=tuple(self._reader.score_names()),
        )

    def _dense(self, given: Collection[str] | None) -> frozenset[int]:
        if given is not None:
            ids = {name: self._index.find(name) for name in given}
            if absent := [name for name, id_ in ids.items() if id_ < 0]:
                raise InputError(f"no candidate has the dense feature '{absent[0]}'", path=self._path)
            return frozenset(ids.values())
        n_lines = self._reader.n_lines()
        names = self._reader.names()
        if self._format is not NbestFormat.MOSES and sum(len(ids) for ids, _ in names) <= _SMALL_SET:
            return frozenset(id_ for ids, _ in names for id_ in ids)
        return frozenset(id_ for ids, n in names if len(ids) > 1 or n == n_lines for id_ in ids)

    def _block_reader(self, format_: NbestFormat) -> Callable[[LineBlock], None]:
        if format_ is NbestFormat.JSONL:
            return lambda block: self._reader.read_json(block.data, block.first_line)
        if format_ is NbestFormat.FAIRSEQ:
            lines = FairseqLines()
            return lambda block: self._reader.read_json(lines.as_json(block.data, block.first_line), block.first_line)
        fields = self._fields or (_TRAVATAR if format_ is NbestFormat.TRAVATAR else FIELDS)
        if unknown := [field for field in fields if field and field not in FIELDS]:
            raise InputError(
                f"'{unknown[0]}' is not a field; expected some of {', '.join(FIELDS)}; an empty name skips a part"
            )
        places = {field: place for place, field in enumerate(fields) if field}
        if missing := [field for field in FIELDS[:3] if field not in places]:
            raise InputError(f"the fields must include '{missing[0]}'")
        at = (places["id"], places["text"], places["features"], places.get("total", -1))
        return lambda block: self._reader.read_fields(block.data, block.first_line, *at)

    def _take(self, round_number: int) -> Shard:
        ids, feature_rows, feature_ids, feature_values, token_rows, tokens, totals, scores = self._reader.take()
        # Consecutive lines of one sentence; concatenate combines those of the same sentence.
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        return Shard(
            sentence_ids=ids[starts].astype(np.int32),
            sentences=np.append(starts, len(ids)).astype(np.int64),
            feature_rows=feature_rows,
            feature_ids=feature_ids,
            feature_values=feature_values,
            token_rows=token_rows,
            tokens=tokens,
            rounds=np.full(len(ids), round_number, dtype=np.int32),
            source_lengths=np.full(len(starts), UNKNOWN_LENGTH, dtype=np.int32),
            totals=totals,
            scores=np.stack(scores, axis=1) if scores else np.zeros((len(ids), 0)),
            stats=np.zeros((len(ids), 0)),
        )
