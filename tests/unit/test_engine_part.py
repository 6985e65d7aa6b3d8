"""Parts of the shards for a batch queue."""

from __future__ import annotations

import pytest

from dragoman.errors import InputError
from dragoman.work.engine import Part


@pytest.mark.parametrize("n_shards", [0, 1, 5, 12])
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_parts_in_order_are_all_shards_in_order(n_shards, n_parts):
    parts = [Part.parse(f"{i}/{n_parts}").shards(n_shards) for i in range(1, n_parts + 1)]
    assert [shard for part in parts for shard in part] == list(range(n_shards))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/2/3", "1/99999999"])
def test_what_is_no_part(text):
    with pytest.raises(InputError, match=r"no part"):
        Part.parse(text)
