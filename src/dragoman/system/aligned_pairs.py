"""Sentence pairs with word links from files, for a system that was not trained on them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from dragoman.align import Alignment, read_pharaoh
from dragoman.corpus import Side
from dragoman.errors import MismatchError
from dragoman.system.system import System
from dragoman.text import read_lines, split_tokens
from dragoman.types import Int64Array, PathLike, offsets_of

__all__ = ["AlignedPairs"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AlignedPairs:
    """Tokens of both sides, and the target side as words of a system."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    target_ids: Side
    links: Alignment

    @classmethod
    def read(cls, system: System, source: PathLike, target: PathLike, align: PathLike) -> AlignedPairs:
        """Line-aligned files of tokens, and their links in Pharaoh form.

        Raises InputError for files of other lengths, and for links outside their sentences.
        """
        tokens = [[split_tokens(line) for line in read_lines(path)] for path in (source, target)]
        if len(tokens[0]) != len(tokens[1]):
            raise MismatchError(
                f"line-aligned files must have equally many lines, but {source} has {len(tokens[0])}, "
                f"{target} has {len(tokens[1])}"
            )
        lengths = [np.array([len(row) for row in side], np.int64) for side in tokens]
        vocab = system.translator.vocab
        ids = np.array([vocab.id(word) for row in tokens[1] for word in row], np.int32)
        return cls(
            sources=tuple(" ".join(row) for row in tokens[0]),
            targets=tuple(" ".join(row) for row in tokens[1]),
            target_ids=Side(vocab, offsets_of(lengths[1]), ids),
            links=read_pharaoh(align, lengths=(lengths[0], lengths[1])),
        )

    def __len__(self) -> int:
        return len(self.sources)

    def lengths(self, pairs: Int64Array) -> Int64Array:
        """Words of the longer side of each of these pairs."""
        source = np.array([len(split_tokens(self.sources[pair])) for pair in pairs.tolist()], np.int64)
        return np.maximum(source, self.target_ids.lengths()[pairs])

    def evenly(self, limit: int | None, pairs: Int64Array | None = None) -> Int64Array:
        """Numbers of all pairs (or of these), ascending, or of `limit` of them, evenly spaced."""
        pairs = np.arange(len(self)) if pairs is None else pairs
        n = len(pairs) if limit is None else min(limit, len(pairs))
        return pairs[np.arange(n) * len(pairs) // max(1, n)]

    def digest(self) -> str:
        """Names the text and its links."""
        found = hashlib.blake2b(digest_size=16)
        for side in (self.sources, self.targets):
            found.update("\n".join(side).encode())
            found.update(b"\0")
        for array in (self.links.offsets, self.links.links):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()
