"""Blocks in search: dense features in the place of the sparse ones they cover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import Block, FeatureIndex

__all__ = ["SearchBlocks"]


class SearchBlocks:
    """Blocks over an index, to which their names are added. Views of a system share one; immutable.

    Without `rest`, sparse features that no block covers are left out, as if they weighed 0.

    An option's value of a block is a sum in float64, kept in two float32 numbers: a search by weights of blocks orders
    as a search by the weights that they stand for.
    """

    def __init__(self, blocks: Sequence[Block], index: FeatureIndex, *, rest: bool = True) -> None:
        self.names = tuple(block.name for block in blocks)
        if len(set(self.names)) < len(self.names):
            raise InputError(f"duplicate names of blocks in {', '.join(self.names)}")
        self.core = _core.Blocks(
            [
                (index.intern(block.name), block.features, np.ascontiguousarray(block.coefficients, np.float64))
                for block in blocks
            ],
            rest,
        )
        for name in self.names:
            if self.core.covers(name):
                raise InputError(f"a block covers '{name}', which is a block; a block covers features of templates")

    def check(self, dense: Sequence[str]) -> None:
        """Raises InputError where a decoder's dense feature is a block or is covered by one."""
        for name in dense:
            if name in self.names:
                raise InputError(f"the decoder already has a feature '{name}'; give the block another name")
            if self.core.covers(name):
                raise InputError(
                    f"a block covers the dense feature '{name}'; in search it covers features of templates"
                )
