"""Batches of options and rules, for tests that look inside or compare."""

from __future__ import annotations

import numpy as np


def views_of(batch):
    """All that a batch of options or rules shows, by name."""
    names = [name for name in dir(type(batch)) if not name.startswith("_") and name not in ("from_arrays", "interned")]
    return {name: getattr(batch, name) for name in names}


def same(a, b):
    """Whether two batches hold the same."""
    return all(np.array_equal(x, y) for x, y in zip(views_of(a).values(), views_of(b).values(), strict=True))
