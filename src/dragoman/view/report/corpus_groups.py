"""Corpora of a recipe that differ in their development set alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from dragoman.view.report.records import Records

__all__ = ["plain_key", "same_but_dev", "shared_name"]

_OWN = ("dev", "drawing")


def same_but_dev(records: Records) -> list[dict[str, Mapping[str, Any]]]:
    """Groups of corpora that agree in everything else: by name, the table of each development set."""
    tables: dict[str, Mapping[str, Any]] = {}
    for run in records.runs:
        tables |= {name: table for name, table in run.table("corpora").items() if isinstance(table, dict)}
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name in records.corpora:
        table = tables.get(name, {})
        if isinstance(dev := table.get("dev"), dict):
            rest = plain_key({key: value for key, value in table.items() if key not in _OWN})
            found.setdefault(rest, {})[name] = dev
    return [*found.values()]


def plain_key(table: Mapping[str, Any]) -> str:
    """The same text for equal tables."""
    return json.dumps(table, sort_keys=True, default=str)


def shared_name(names: Sequence[str]) -> str:
    """The beginning that names have in common, without digits and punctuation at its end."""
    letters = takewhile(lambda column: len({*column}) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in letters).rstrip("0123456789-_.+") or names[0]
