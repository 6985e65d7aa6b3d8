"""Lists of training lines that keep derivations instead of features: their stored form, and pools computed from it."""

from dragoman.sources.lists.features import StoredLists
from dragoman.sources.lists.folder import ListsFolder
from dragoman.sources.lists.info import FoldScores, TemplateCount, count_features, list_scores
from dragoman.sources.lists.join import join_lists
from dragoman.sources.lists.make import make_lists
from dragoman.sources.lists.settings import ListsSettings
from dragoman.sources.lists.shard import ALL_DATA, ListShard
from dragoman.sources.lists.storage import map_shard, write_shard

__all__ = [
    "ALL_DATA",
    "FoldScores",
    "ListShard",
    "ListsFolder",
    "ListsSettings",
    "StoredLists",
    "TemplateCount",
    "count_features",
    "join_lists",
    "list_scores",
    "make_lists",
    "map_shard",
    "write_shard",
]
