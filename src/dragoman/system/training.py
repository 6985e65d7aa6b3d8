"""The training text that a system keeps in `training/`.

It is the folder of a bitext (its folds too, where the system has some), and beside its files

    links.zst      word alignment, in Pharaoh form
    domains        uint16: the domain of each line, if there are any
    domains.txt    the names of the domains, one a line

Line numbers count from 0 in the order of the training files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.align import Alignment, read_pharaoh
from dragoman.corpus import Bitext, Side, Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.files.store import map_array
from dragoman.search import EncodedSentences
from dragoman.text import read_lines, replace_bytes
from dragoman.types import Int64Array, PathLike, offsets_of

__all__ = [
    "DOMAINS",
    "LINKS",
    "SHARD_LINES",
    "TRAINING",
    "Domains",
    "TrainingLines",
    "digest_lines",
    "draw_fold",
    "sample_lines",
    "shards",
    "store_domains",
]

TRAINING = "training"
"""The folder in a system's own."""
LINKS, DOMAINS, _DOMAIN_NAMES = "links.zst", "domains", "domains.txt"
SHARD_LINES = 1024
"""Lines of one shard: the unit of work, of sums and of what is done again after a stop."""
NO_FOLD = 255
_BLOCK_LINES = 1 << 16
_MAX_DOMAINS = 1 << 16


def shards(lines: Int64Array, n_lines: int = SHARD_LINES) -> list[Int64Array]:
    """The lines in blocks of `n_lines`, the last one shorter."""
    return [lines[begin : begin + n_lines] for begin in range(0, len(lines), n_lines)]


@dataclass(frozen=True, slots=True)
class Domains:
    """Line i is of the domain `names[ids[i]]`."""

    names: tuple[str, ...]
    ids: NDArray[np.uint16]

    def counts(self) -> dict[str, int]:
        """Lines of each domain."""
        return dict(zip(self.names, np.bincount(self.ids, minlength=len(self.names)).tolist(), strict=True))


class TrainingLines:
    """The sentence pairs that a system was trained on, each with its fold. Memory-mapped.

    `vocabs` are the system's own, source and target: word ids are those of its grammar and of candidates.
    """

    def __init__(self, folder: Path, vocabs: tuple[Vocab, Vocab]) -> None:
        self.folder = folder
        self._bitext = Bitext.load(folder, vocabs=vocabs)

    def __len__(self) -> int:
        return len(self._bitext)

    @property
    def n_folds(self) -> int:
        return self._bitext.n_folds

    @property
    def folds(self) -> NDArray[np.uint8]:
        """The fold of each line."""
        return self._bitext.folds

    @property
    def source_ids(self) -> Side:
        return self._bitext.source

    @property
    def target_ids(self) -> Side:
        return self._bitext.target

    def source(self, line: int) -> str:
        return self._bitext.source.text(line)

    def target(self, line: int) -> str:
        return self._bitext.target.text(line)

    @cached_property
    def links(self) -> Alignment:
        """The word alignment, read when it is first asked for."""
        lengths = self.source_ids.lengths(), self.target_ids.lengths()
        return read_pharaoh(self.folder / LINKS, lengths=lengths)

    @cached_property
    def only_fold(self) -> NDArray[np.uint8]:
        """For each source word, by id, the fold that alone has it; NO_FOLD if there are several, or none."""
        side = self.source_ids
        first = np.full(len(side.vocab), NO_FOLD, np.uint8)
        several = np.zeros(len(side.vocab), bool)
        for begin in range(0, len(side), _BLOCK_LINES):
            lines = slice(begin, min(begin + _BLOCK_LINES, len(side)))
            folds = np.repeat(self.folds[lines], np.diff(side.offsets[lines.start : lines.stop + 1]))
            ids = side.ids[side.offsets[lines.start] : side.offsets[lines.stop]]
            new = first[ids] == NO_FOLD
            first[ids[new]] = folds[new]
            several[ids[first[ids] != folds]] = True
        first[several] = NO_FOLD
        return first

    @cached_property
    def domains(self) -> Domains | None:
        """The domain of each line (`train --domains`)."""
        path = self.folder / DOMAINS
        if not path.exists():
            return None
        ids = map_array(path, np.uint16, 2 * len(self), "system")
        names = tuple(read_lines(self.folder / _DOMAIN_NAMES))
        if ids.max(initial=0) >= max(1, len(names)):
            raise InputError("has a domain without a name; the system is damaged", path=path)
        return Domains(names, ids)

    def select(self, *, where: str | None = None, limit: int | None = None) -> Int64Array:
        """Line numbers, ascending: all, or those of the domain `where` (of all others: `!DOMAIN`).

        With `limit`, the first N of them.
        """
        if limit is not None and limit < 1:
            raise InputError(f"the number of lines must be at least 1, not {limit}")
        lines = np.arange(len(self)) if where is None else np.flatnonzero(self._is_of(where))
        return lines.astype(np.int64)[:limit]

    def evenly(self, limit: int | None = None, lines: Int64Array | None = None) -> Int64Array:
        """Line numbers, ascending: all (or all of `lines`), or `limit` of them, as many of each fold as of any other
        and evenly spaced.

        A fold that has fewer gives what it has, and the others more.
        """
        if limit is not None and limit < 1:
            raise InputError(f"the number of lines must be at least 1, not {limit}")
        lines = np.arange(len(self)) if lines is None else lines
        if limit is None or limit >= len(lines):
            return lines
        folds = self.folds[lines]
        of_fold = [lines[folds == fold] for fold in np.unique(folds)]
        chosen = []
        for done, own in enumerate(sorted(of_fold, key=len)):
            n = min(len(own), limit // (len(of_fold) - done))
            chosen.append(own[np.arange(n) * len(own) // max(1, n)])
            limit -= n
        return np.sort(np.concatenate(chosen))

    def of_fold(self, fold: int, n_lines: int | None = None, *, seed: int = 1) -> Int64Array:
        """Line numbers of a fold, ascending: all, or `n_lines` of them drawn at random.

        Raises InputError if it has fewer.
        """
        return draw_fold(self.folds, fold, n_lines, seed=seed)

    def encoded(self, lines: Int64Array, fold: int | None, max_words: int | None = None) -> EncodedSentences:
        """The source side of lines, as a view without the fold knows it: words that only the fold has are unknown.

        Lines of more than `max_words` words are empty, for decoders that would refuse them.
        """
        side = self.source_ids.take(lines)
        if max_words is not None and (is_long := side.lengths() > max_words).any():
            kept = np.where(is_long, 0, side.lengths())
            side = Side(side.vocab, offsets_of(kept), side.ids[np.repeat(~is_long, side.lengths())])
        is_known = np.ones(len(side.vocab), bool) if fold is None else self.only_fold != fold
        return EncodedSentences.of_side(side, is_known)

    def about(self) -> Mapping[str, Any]:
        """Information for the manifest: lines, lines of each fold and of each domain."""
        domains = {} if self.domains is None else {"domains": self.domains.counts()}
        if self.n_folds == 1:
            return {"n_lines": len(self), **domains}
        of_fold = np.bincount(self.folds, minlength=self.n_folds).tolist()
        return {"n_lines": len(self), "fold_lines": of_fold, **domains}

    def _is_of(self, where: str) -> NDArray[np.bool_]:
        if self.domains is None:
            raise InputError(
                f"the training text has no domains, so '{where}' selects nothing; train the system with `domains`",
                path=self.folder,
            )
        name = where.removeprefix("!")
        if name not in self.domains.names:
            known = ", ".join(self.domains.names[:20])
            raise InputError(f"the training text has no domain '{name}'; it has: {known}", path=self.folder)
        chosen: NDArray[np.bool_] = self.domains.ids == self.domains.names.index(name)
        return ~chosen if where.startswith("!") else chosen


def draw_fold(folds: NDArray[np.uint8], fold: int, n_lines: int | None = None, *, seed: int = 1) -> Int64Array:
    """Places of a fold in the column of all lines' folds, ascending: all, or `n_lines` of them drawn at random.

    Raises InputError if it has fewer.
    """
    lines = np.flatnonzero(folds == fold)
    if n_lines is None:
        return lines
    if not 1 <= n_lines <= len(lines):
        raise InputError(f"fold {fold} of the training text has {len(lines)} lines; {n_lines} cannot be drawn from it")
    return sample_lines(lines, n_lines, fold=fold, seed=seed)


def sample_lines(lines: Int64Array, n_lines: int, *, fold: int, seed: int) -> Int64Array:
    """So many of the lines, ascending, drawn by the stream of the seed and a fold; there must be as many."""
    return np.sort(np.random.default_rng((seed, fold)).choice(lines, n_lines, replace=False)).astype(np.int64)


def digest_lines(lines: Int64Array) -> str:
    """Names line numbers and their order."""
    return hashlib.blake2b(lines.astype("<i8").tobytes(), digest_size=16).hexdigest()


def store_domains(domains: PathLike, folder: Path, n_lines: int, source: PathLike) -> None:
    """Store a file with the label of each line next to the bitext; `source` is the file of the training lines."""
    ids: dict[str, int] = {}
    column = []
    for number, line in enumerate(read_lines(domains), start=1):
        label = line.strip()
        if not label or label.startswith("!"):
            found = f"'{label}' begins with an exclamation mark, which means 'not'" if label else "the line is empty"
            raise InputError(f"expected the label of a domain, but {found}", path=domains, line=number)
        column.append(ids.setdefault(label, len(ids)))
    if len(column) != n_lines:
        raise MismatchError(
            f"line-aligned files must have equally many lines, but {domains} has {len(column)}, {source} has {n_lines}"
        )
    if len(ids) > _MAX_DOMAINS:
        raise InputError(f"has {len(ids):,} different labels; the maximum is {_MAX_DOMAINS:,}", path=domains)
    replace_bytes(folder / _DOMAIN_NAMES, "".join(f"{label}\n" for label in ids).encode())
    replace_bytes(folder / DOMAINS, np.array(column, "<u2").tobytes())
