"""A part of the shards, for people whose batch queue runs several processes that know nothing of each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from dragoman.errors import InputError

__all__ = ["Part"]

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """Part `number` (from 1) of `n_parts`: neighbouring shards, so that parts in order are all shards in order."""

    number: int = 1
    n_parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.n_parts <= _MOST:
            raise InputError(f"there is no part {self}; expected 1/N to N/N, N at most {_MOST:,}")

    def __str__(self) -> str:
        return f"{self.number}/{self.n_parts}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `2/4`. Raises InputError for anything else."""
        if not (match := re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip())):
            raise InputError(f"'{text}' is no part of the work; expected I/N, such as 2/4 for the second of four")
        return cls(int(match[1]), int(match[2]))

    def shards(self, n_shards: int) -> range:
        """The shards of this part; none where there are more parts than shards."""
        return range((self.number - 1) * n_shards // self.n_parts, self.number * n_shards // self.n_parts)
