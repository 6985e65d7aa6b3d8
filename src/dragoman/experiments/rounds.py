"""The rounds of a cell's record, from the record of its tuning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from dragoman.cost import StageCost
from dragoman.features import read_weights
from dragoman.run import CellRound

__all__ = ["cell_rounds", "constants", "earlier_steps"]

_NOTHING: dict[str, Any] = {"wall_s": 0.0, "cpu_s": 0.0, "decode_cpu_s": 0.0, "statistics_cpu_s": 0.0, "trace": ()}
_FIRED = ("margin", "upper", "lower")
_LAST = "last"
_CONSTANTS = ("score_factor", "cost_factor", "aggressiveness", "bound", "bound_step")

_Entry = Mapping[str, Any]


def cell_rounds(
    entries: Sequence[_Entry], weights: Callable[[int], Path], tests: Mapping[int, float]
) -> Iterator[CellRound]:
    """Every round, with its score on the main test set if that was decoded with its weights."""
    seen = 0
    n_possible = None
    for entry in entries:
        learned = entry["learned"] or _NOTHING
        # A method that decodes while it learns says from how many; its last round is only measured.
        seen = learned.get("n_candidates") or seen
        found = _round(entry, learned, weights(entry["round"]), tests.get(entry["round"]))
        n_possible = found.n_possible if seen == 0 or found.n_possible is not None else n_possible
        yield replace(found, n_candidates=seen or found.n_candidates, n_possible=n_possible)


def constants(entries: Sequence[_Entry]) -> dict[str, float]:
    """What a method in relative units derived from the lists of the start, as its trace names it."""
    steps = (step for entry in entries for step in (entry["learned"] or _NOTHING)["trace"])
    found: _Entry = next((step for step in steps if _CONSTANTS[0] in step), {})
    return {name: found[name] for name in _CONSTANTS if found.get(name) is not None}


def earlier_steps(steps: Sequence[_Entry]) -> Iterator[StageCost]:
    """Steps before the last search, which are cached where another tuning had made them."""
    for step in steps:
        if step["name"] != _LAST:
            cost = {name: round(step[name], 3) for name in ("wall_s", "cpu_s")}
            yield StageCost(name=step["name"], peak_bytes=0, cached=step["found"], **cost)


def _round(entry: _Entry, learned: _Entry, weights: Path, test: float | None) -> CellRound:
    inside = learned["decode_cpu_s"] + learned["statistics_cpu_s"]  # of a method that decodes while it learns
    passes = [step for step in learned["trace"] if step.get("spread") is not None]
    trained = [step for step in learned["trace"] if step.get("train") is not None]
    online = bool(learned.get("n_candidates"))
    return CellRound(
        round=entry["round"],
        dev=entry["score"],
        test=test,
        n_candidates=entry["n_candidates"],
        n_features=entry["n_features"],
        n_active=len(read_weights(weights).ids()),
        decode_wall_s=entry["wall_s"],
        decode_cpu_s=entry["cpu_s"] - entry["statistics_cpu_s"] + learned["decode_cpu_s"],
        learn_wall_s=learned["wall_s"],
        learn_cpu_s=learned["cpu_s"] - inside,
        statistics_cpu_s=entry["statistics_cpu_s"] + learned["statistics_cpu_s"],
        n_possible=learned["trace"][-1].get("features") if online else entry["n_features"],
        train=trained[-1]["train"] if trained else None,
        n_trained=sum(step["sentences"] for step in trained),
        **_margins(passes),
    )


def _margins(passes: Sequence[_Entry]) -> dict[str, Any]:
    """Means over the passes of a round, which all visit the same lists or sentences."""
    if not passes:
        return {}
    spread = fmean(step["spread"] for step in passes)
    squares = fmean(step["spread_deviation"] ** 2 + step["spread"] ** 2 for step in passes)
    fired = {name: fmean(step[name] for step in passes) for name in _FIRED if all(name in step for step in passes)}
    deviation = math.sqrt(max(0.0, squares - spread * spread))
    return {"spread": spread, "spread_deviation": deviation, "fired": fired}
