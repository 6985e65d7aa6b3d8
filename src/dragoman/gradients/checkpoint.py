"""Sums in the making on disk: a pass that can be resumed, or a part of one.

    FOLDER/run.json              settings, as in every run
    FOLDER/sums.json             the nodes of the tree of sums that are there
    FOLDER/sums/LEVEL-PLACE      the sum of a node

The sum of a node never changes, so its file is written once. `sums.json` is replaced when the files that it names are
on disk, and only then are others removed: whenever the process dies, what `sums.json` names is there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import InputError, naming
from dragoman.files.store import make_folder, read_json, seal, unseal, write_json
from dragoman.gradients.gradient import Gradient
from dragoman.work.engine import Node

__all__ = ["Checkpoint", "load_sums"]

_SUMS, _NODES, _WHAT = "sums.json", "sums", "gradient pass"
_SHARE = 0.02
"""Of the time, at most, that goes into writing."""


class Checkpoint:
    """Keeps the nodes of a sum in a folder: every `interval_s` seconds, less often where writing takes long."""

    def __init__(self, folder: Path, interval_s: float) -> None:
        self._folder = folder
        self._interval_s = interval_s
        self._due = time.monotonic() + interval_s
        self._there: set[str] = set()

    def load(self, shards: range) -> list[Node[Gradient]]:
        """What an earlier process left of these shards. Raises InputError for a damaged file."""
        try:
            nodes = load_sums(self._folder, shards) if (self._folder / _SUMS).exists() else []
        except InputError as error:
            raise InputError(f"{error.message}; remove {self._folder} and start anew", path=error.path) from None
        self._there = {_name(node) for node in nodes}
        return nodes

    def save_if_due(self, nodes: Sequence[Node[Gradient]]) -> None:
        if time.monotonic() >= self._due:
            self.save(nodes)

    def save(self, nodes: Sequence[Node[Gradient]]) -> None:
        """Make the nodes durable. Raises FailedError; what was durable before still is."""
        began = time.monotonic()
        files = make_folder(self._folder / _NODES)
        names = [_name(node) for node in nodes]
        for name, node in zip(names, nodes, strict=True):
            if name not in self._there:
                node.value.save(files / name)
        write_json(self._folder / _SUMS, seal({"sums": names}))
        for path in files.iterdir():
            if path.name not in names:
                path.unlink()
        self._there = set(names)
        now = time.monotonic()
        self._due = now + max(self._interval_s, (now - began) / _SHARE)


def load_sums(folder: Path, shards: range) -> list[Node[Gradient]]:
    """The nodes in a folder, of the first of these shards. Raises InputError where there are none, or for damage."""
    if not (folder / _SUMS).exists():
        raise InputError(f"holds no sums of a gradient pass: there is no {_SUMS} in it", path=folder)
    with naming(folder / _SUMS):
        names = unseal(read_json(folder / _SUMS, _WHAT), _WHAT).get("sums")
        if not isinstance(names, list) or not all(re.fullmatch(r"\d{2}-\d{6,12}", str(name)) for name in names):
            raise InputError(f"does not list its sums; the {_WHAT} is damaged")
        places = [tuple(map(int, name.split("-"))) for name in names]
        end = shards.start
        for level, place in places:
            if place << level != end:
                raise InputError(f"has sums of other shards; the {_WHAT} is damaged")
            end = (place + 1) << level
        if end > shards.stop:
            raise InputError(f"has sums of other shards; the {_WHAT} is damaged")
    return [
        Node(level, place, Gradient.load(folder / _NODES / name))
        for name, (level, place) in zip(names, places, strict=True)
    ]


def _name(node: Node[Gradient]) -> str:
    return f"{node.level:02}-{node.place:06}"
