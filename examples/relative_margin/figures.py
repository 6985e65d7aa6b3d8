"""Draw Figures 1 and 2 of Eidelman et al. 2013 from what the learners make of two lists.

    python figures.py FOLDER

Writes `figure-1.svg` and `figure-2.svg`, which follow the light or dark theme of the reader.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from learn import Candidates, solution, step
from picture import Picture, Plane

from dragoman.types import Float64Array

SEPARABLE = Candidates(
    features=np.array(
        [
            [3.0, 3.0], [1.9, 1.3], [0.8, 1.7], [0.5, 0.6], [-0.6, 1.4], [-1.5, 0.5], [-2.4, 1.5], [-3.1, 0.7],
            [-4.2, 1.25], [-5.2, 0.6], [-5.9, 1.35],
        ]
    ),
    gains=np.array([1.0] + 10 * [0.0]),
)  # fmt: skip
"""The list of Figure 1: one good candidate, and bad ones that lie far along the first feature."""
BOUND = 2.2

GRADED = Candidates(
    features=np.array(
        [
            [2.6, 2.2], [2.9, 1.0], [1.6, 1.9], [1.9, 0.3], [0.4, 1.5], [0.2, 0.1], [-0.9, 1.1], [-1.2, -0.3],
            [-2.6, 0.4], [-2.0, -1.0],
        ]
    ),
    gains=np.array([1.0, 0.35, 0.8, 0.15, 0.6, 0.3, 0.45, 0.1, 0.2, 0.0]),
)  # fmt: skip
"""The list of Figure 2, with gains of all sizes."""
BEFORE = np.array([0.45, 0.02])
STEP_BOUND, STEP_LIMIT = 1.5, 0.3
"""B, and C and D, of the step that Figure 2 shows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Update:
    """Weights before a step of RM, after its step for the margin, which is MIRA's, and after that for the bound."""

    before: Float64Array
    margin: Float64Array
    after: Float64Array


def solutions() -> dict[str, Float64Array]:
    """The weights of Figure 1."""
    return {"MIRA": solution(SEPARABLE, bound=None), "RM": solution(SEPARABLE, bound=BOUND)}


def update() -> Update:
    """The weights of Figure 2."""
    margin = step(GRADED, BEFORE, limit=STEP_LIMIT, bound=None)
    return Update(before=BEFORE, margin=margin, after=step(GRADED, BEFORE, limit=STEP_LIMIT, bound=STEP_BOUND))


def figure_one() -> str:
    """Decision lines and margins in the plane of features, and below them the projections."""
    found = solutions()
    picture = Picture(680, 560, "Solutions of MIRA and RM for one list, and the projections that they give")
    plane = Plane(x=(-6.6, 4.0), y=(-0.4, 3.9), left=20, top=30, width=640)
    picture.text(20, 20, "(a) candidates by their two features", "start")
    picture.frame(plane)
    for name, weights in found.items():
        below = SEPARABLE.below_hope(weights)
        top = float(SEPARABLE.scores(weights).max())
        margin = float(np.sort(below)[1])
        for level, strength in ((top, "light"), (top - margin / 2, "dark"), (top - margin, "light")):
            picture.level(plane, weights, level, f"{name.lower()} {strength}")
    for number, (x, y) in enumerate(SEPARABLE.features):
        picture.candidate(*plane.at(x, y), "hope" if number == 0 else "other")
    picture.note(*plane.at(*SEPARABLE.features[0]), "y⁺", 12, 4)
    picture.note(*plane.at(1.4, 3.55), "MIRA", 0, 0)
    picture.note(*plane.at(-6.4, 3.05), "RM", 0, 0)
    picture.text(20, 342, f"(b) model scores below that of y⁺; B = {BOUND:g}", "start")
    longest = max(SEPARABLE.spread(weights) for weights in found.values())
    axis = Plane(x=(-1.08 * longest, 0.12 * longest), y=(0, 1), left=80, top=360, width=560, height=1)
    for row, (name, weights) in enumerate(found.items()):
        y = 400.0 + 90 * row
        below = SEPARABLE.below_hope(weights)
        picture.text(64, y + 4, name, "end")
        picture.line(axis.at(axis.x[0], 0)[0], y, axis.at(axis.x[1], 0)[0], y, "axis")
        middle = axis.at(-float(np.sort(below)[1]) / 2, 0)[0]
        picture.line(middle, y - 16, middle, y + 16, f"{name.lower()} dark")
        limit = axis.at(-BOUND, 0)[0]
        picture.line(limit, y - 24, limit, y + 24, "bound")
        for number, distance in enumerate(below):
            picture.candidate(axis.at(-distance, 0)[0], y, "hope" if number == 0 else "other")
        left, right = axis.at(-SEPARABLE.spread(weights), 0)[0], axis.at(0, 0)[0]
        picture.span(left, right, y + 34, f"spread {SEPARABLE.spread(weights):.2f}")
    return picture.svg()


def figure_two() -> str:
    """One step: model scores against gains with the constraints that were violated, and the way of the weights."""
    found = update()
    picture = Picture(760, 440, "One passive-aggressive step of RM: a margin and a bound that were violated")
    _draw_scores(picture, found)
    _draw_weights(picture, found)
    return picture.svg()


def _draw_scores(picture: Picture, found: Update) -> None:
    plane = Plane(x=(-2.65, 0.4), y=(-0.1, 1.12), left=44, top=36, width=440, height=340)
    picture.text(20, 22, "(a) candidates, and where the step moves two of them", "start")
    picture.frame(plane)
    low, high = plane.y
    kinds = {GRADED.hope(BEFORE): "hope", GRADED.fear(BEFORE): "fear", GRADED.worst(BEFORE): "worst"}
    top = float(GRADED.gains[GRADED.hope(BEFORE)])
    picture.line(*plane.at(low - top, low), *plane.at(high - top, high), "equilibrium")
    picture.text(plane.at(-0.95, 0)[0], plane.at(0, -0.05)[1], "margin = cost", "start")
    picture.line(*plane.at(-STEP_BOUND, low), *plane.at(-STEP_BOUND, high), "bound")
    picture.text(plane.at(-STEP_BOUND, 0)[0] + 6, plane.top + 18, f"B = {STEP_BOUND:g}", "start")
    before, after = (-GRADED.below_hope(weights) for weights in (found.before, found.after))
    labels = {"hope": ("y⁺", 11, -6), "fear": ("y⁻", 10, -8), "worst": ("yʷ", -8, -14)}
    for number, gain in enumerate(GRADED.gains):
        place, kind = plane.at(before[number], gain), kinds.get(number, "other")
        if kind in ("fear", "worst"):
            picture.arrow(*place, *plane.at(after[number], gain), "moved")
        picture.candidate(*place, kind)
        if kind in labels:
            picture.note(*place, *labels[kind])
    picture.text(plane.left + plane.width / 2, plane.top + plane.tall + 24, "model score less that of y⁺", "middle")
    picture.side(plane.left - 16, plane.top + plane.tall / 2, "gain")


def _draw_weights(picture: Picture, found: Update) -> None:
    plane = Plane(x=(0.05, 0.55), y=(-0.08, 0.5), left=530, top=36, width=210)
    picture.text(530, 22, "(b) weights", "start")
    picture.frame(plane)
    way = [plane.at(*weights) for weights in (found.before, found.margin, found.after)]
    picture.arrow(*way[0], *way[1], "moved")
    picture.arrow(*way[1], *way[2], "moved")
    for place, shown, dx, dy in zip(way, ("wₜ", "margin", "wₜ₊₁"), (8, -6, -30), (14, -12, 16), strict=True):
        picture.note(*place, shown, dx, dy)
    lines = [f"wₜ = {_pair(found.before)}", f"margin step: {_pair(found.margin)}", f"wₜ₊₁ = {_pair(found.after)}"]
    lines += [f"spread {GRADED.spread(found.before):.2f} → {GRADED.spread(found.after):.2f}"]
    for number, line in enumerate(lines):
        picture.text(530, plane.top + plane.tall + 28 + 22 * number, line, "start")


def _pair(weights: Float64Array) -> str:
    return f"({weights[0]:.2f}, {weights[1]:.2f})"


def main() -> None:
    """Write both figures into the folder that the command names."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python figures.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("figure-1", figure_one), ("figure-2", figure_two)):
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
