"""Lists of training lines that keep derivations instead of features: their stored form, and pools computed from it."""

from dragoman.lists.shard import ALL_DATA, ListShard
from dragoman.lists.storage import map_shard, write_shard

__all__ = ["ALL_DATA", "ListShard", "map_shard", "write_shard"]
