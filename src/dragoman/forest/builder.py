"""Search spaces put together edge by edge, in any order of nodes, as the files of other decoders have them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from dragoman._core import Forest as CoreForest
from dragoman._core import escape_word, unescape_word
from dragoman.corpus import VocabBuilder
from dragoman.errors import InputError
from dragoman.features import FeatureIndex
from dragoman.forest.arrays import ForestArrays
from dragoman.types import MAX_INT32, offsets_of

__all__ = ["ForestBuilder", "ForestTables"]

_GREATEST_VALUE = float(np.finfo(np.float32).max)


class ForestTables:
    """Words and features that search spaces share, by name."""

    def __init__(self, index: FeatureIndex) -> None:
        self.index = index
        self.words = VocabBuilder()
        self._ids: dict[str, int] = {}
        self._features: dict[str, int] = {}

    def word(self, text: str) -> int:
        """The id of a word as a decoder prints it; our own escapes, which it may have taken from our tables, stay."""
        id_ = self._ids.get(text)
        if id_ is None:
            raw = text.encode("utf-8", "surrogatepass")
            if not text or any(char in text for char in " \t\n\r"):
                raise InputError(f"{text!r} is not one word")
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                raise InputError(f"the word {text!r} is not valid Unicode") from None
            own = raw.startswith(b"\\") and escape_word(unescape_word(raw)) == raw
            id_ = self._ids[text] = self.words.table.intern(raw if own else escape_word(raw))
        return id_

    def feature(self, name: str) -> int:
        """The id of a feature."""
        id_ = self._features.get(name)
        if id_ is None:
            try:
                name.encode("utf-8")  # the index says of a surrogate only that it is no argument for it
            except UnicodeEncodeError:
                raise InputError(f"the feature name {name!r} is not valid Unicode") from None
            id_ = self._features[name] = self.index.intern(name)
        return id_


class ForestBuilder:
    """The nodes, by numbers from 0, and edges of one search space."""

    def __init__(self, tables: ForestTables) -> None:
        self.tables = tables
        self._edges: dict[int, list[int]] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._symbols: list[Sequence[int]] = []
        self._tails: list[Sequence[int]] = []
        self._features: list[Sequence[tuple[int, float]]] = []
        """Of each edge; values are looked at in `build`."""

    def set_span(self, node: int, begin: int, end: int) -> None:
        """The source words that a node covers, half-open; what cannot be a span is passed over."""
        if 0 <= begin <= end < MAX_INT32:
            self._spans[node] = (begin, end)

    def add_edge(
        self, head: int, symbols: Sequence[int], tails: Sequence[int], features: Sequence[tuple[int, float]]
    ) -> None:
        """Symbols are words, or -1 - i for the i-th tail. Raises InputError unless each tail occurs once."""
        slots = [-symbol for symbol in symbols if symbol < 0]
        if sorted(slots) != list(range(1, len(tails) + 1)):
            raise InputError(f"{len(tails)} tails, but the target side has {sorted(slots)}")
        if len(dict(features)) != len(features):
            raise InputError("a feature occurs twice on an edge")
        self._edges.setdefault(head, []).append(len(self._symbols))
        self._symbols.append(symbols)
        self._tails.append(tails)
        self._features.append(features)

    def build(self, goal: int) -> CoreForest:
        """The nodes below the goal, bottom-up.

        Raises InputError if one of them is below itself, and for values of features that a forest cannot hold.
        """
        order = self._bottom_up(goal)
        place = {node: number for number, node in enumerate(order)}
        edges = [edge for node in order for edge in self._edges.get(node, ())]
        tails = [[place[tail] for tail in self._tails[edge]] for edge in edges]
        features = [self._features[edge] for edge in edges]
        pairs = list(chain.from_iterable(features))
        ids = np.array([id_ for id_, _ in pairs], np.int32)
        values = np.array([value for _, value in pairs], np.float64)
        bad = np.flatnonzero(~(np.abs(values) <= _GREATEST_VALUE))
        if len(bad):
            name = self.tables.index.name(int(ids[bad[0]]))
            raise InputError(f"a value of the feature '{name}' is not a finite 32-bit number: {values[bad[0]]}")
        n = len(edges)
        spans = [self._spans.get(node, (-1, -1)) for node in order]
        nodes = [(-1, begin, end, end - begin if begin >= 0 else -1) for begin, end in spans]
        heads = [number for number, node in enumerate(order) for _ in self._edges.get(node, ())]
        return ForestArrays(
            nodes=np.array(nodes, np.int32).reshape(-1, 4),
            rules=np.full(n, -1, np.int64),
            spans=np.array([spans[head] for head in heads], np.int32).reshape(-1, 2),
            symbol_offsets=offsets_of([len(self._symbols[edge]) for edge in edges]),
            symbols=np.array([symbol for edge in edges for symbol in self._symbols[edge]], np.int32),
            local_offsets=offsets_of([len(row) for row in features]),
            local_ids=ids,
            local_values=values.astype(np.float32),
            node_edges=offsets_of([len(self._edges.get(node, ())) for node in order]),
            instances=np.arange(n, dtype=np.int32),
            tail_offsets=offsets_of([len(row) for row in tails]),
            tails=np.array([tail for row in tails for tail in row], np.int32),
            feature_offsets=np.zeros(n + 1, np.int64),
            feature_ids=np.zeros(0, np.int32),
            feature_values=np.zeros(0, np.float32),
        ).build()

    def _bottom_up(self, goal: int) -> list[int]:
        """The nodes below the goal, each after those that its edges have as tails."""
        order: list[int] = []
        done: dict[int, bool] = {}  # False while the nodes below it are looked at
        stack = [goal]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                if not done[node]:
                    done[node] = True
                    order.append(node)
                continue
            done[node] = False
            for edge in self._edges.get(node, ()):
                for tail in self._tails[edge]:
                    if tail not in done:
                        stack.append(tail)
                    elif not done[tail]:
                        raise InputError(f"node {tail} is below itself; a search space must not have cycles")
        return order
