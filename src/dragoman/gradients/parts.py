"""Parts of a pass that separate processes made become one gradient, with the bits of a single run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.errors import InputError, naming
from dragoman.files.store import read_json
from dragoman.gradients.checkpoint import load_sums
from dragoman.gradients.gradient import Gradient
from dragoman.run import plan_changes
from dragoman.types import Paths, one_or_many
from dragoman.work.engine import Node, Part, TreeSum

__all__ = ["sum_parts"]

_RUN = "run.json"


def sum_parts(folders: Paths) -> Gradient:
    """The gradient of all parts together.

    Raises InputError for parts of different passes, naming what differs; for one that is not finished, or damaged; for
    parts that overlap, and for shards that are in none.
    """
    folders = one_or_many(folders)
    if not folders:
        raise InputError("no parts; name the folders that `gradient --shard I/N` wrote")
    settings, _ = _read(Path(folders[0]))
    n_shards = -(-settings["n_lines"] // settings["lines_per_shard"])
    nodes: list[Node[Gradient]] = []
    owners: dict[int, Path] = {}
    for folder in map(Path, folders):
        others, part = _read(folder)
        if changed := plan_changes(settings, others):
            raise InputError(f"is not of the same pass as {folders[0]}: other {', '.join(changed)}", path=folder)
        shards = part.shards(n_shards)
        if twice := [owners[shard] for shard in shards if shard in owners]:
            raise InputError(f"part {part} has lines that are also in {twice[0]}; name each part once", path=folder)
        sums = load_sums(folder, shards)
        if sum(node.end - node.first for node in sums) != len(shards):
            raise InputError(f"part {part} is not finished; go on with `resume=True`", path=folder)
        owners |= dict.fromkeys(shards, folder)
        nodes += sums
    tree = TreeSum(Gradient.add, nodes)
    if missing := tree.missing(n_shards):
        n_missing = sum(end - begin for begin, end in missing)
        raise InputError(f"{n_missing} of {n_shards} shards are in none of the parts; name all parts of the pass")
    total = tree.total()
    return Gradient(table=total.table, sums=total.sums, settings=settings)


def _read(folder: Path) -> tuple[dict[str, Any], Part]:
    """The settings of the pass, and the part of it."""
    if not (folder / _RUN).exists():
        raise InputError(f"is not a part of a gradient pass: there is no {_RUN} in it", path=folder)
    with naming(folder / _RUN):
        settings = read_json(folder / _RUN, "gradient pass").get("settings")
        if not isinstance(settings, dict) or settings.pop("command", None) != "gradient":
            raise InputError("is not the record of a gradient pass")
        if any(type(n := settings.get(name)) is not int or n < 1 for name in ("n_lines", "lines_per_shard")):
            raise InputError("does not say how many lines there are; the record of the gradient pass is damaged")
        return settings, Part.parse(str(settings.pop("part", "")))
