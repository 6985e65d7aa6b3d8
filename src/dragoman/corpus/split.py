"""Split a corpus into disjoint training, development and test sets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.errors import InputError

__all__ = ["Parts", "split_pairs"]

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The three sets, each in corpus order."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    n_dropped: int
    """Number of pairs left out of train because they share a sentence with dev or test."""


def split_pairs(pairs: Sequence[Pair], *, n_dev: int, n_test: int, seed: int) -> Parts:
    """Sample dev and test at random and use the rest for train; no sentence of either side is in two sets.

    Source sentences are distinct within dev and within test.
    """
    if n_dev < 0 or n_test < 0:
        raise InputError("dev and test sizes must not be negative")
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    held_out: list[list[int]] = [[], []]
    taken: set[tuple[int, str]] = set()  # sentences of dev and test: (side, text)
    wanted = [n_dev, n_test]
    for i in order:
        part = 0 if len(held_out[0]) < wanted[0] else 1
        if len(held_out[part]) == wanted[part]:
            break
        keys = {(0, pairs[i][0]), (1, pairs[i][1])}
        if keys & taken or not pairs[i][0].strip() or not pairs[i][1].strip():
            continue
        taken |= keys
        held_out[part].append(i)
    if [len(part) for part in held_out] != wanted:
        raise InputError(
            f"cannot sample {n_dev} + {n_test} pairs with distinct sentences from {len(pairs)} pairs; use smaller sizes"
        )
    out = set(held_out[0]) | set(held_out[1])
    rest = [i for i in range(len(pairs)) if i not in out]
    train = [pairs[i] for i in rest if (0, pairs[i][0]) not in taken and (1, pairs[i][1]) not in taken]
    return Parts(
        train=train,
        dev=[pairs[i] for i in sorted(held_out[0])],
        test=[pairs[i] for i in sorted(held_out[1])],
        n_dropped=len(rest) - len(train),
    )
