"""Figures 1 and 2 of the relative margin show what the learners made, and the committed pictures are these."""

from __future__ import annotations

import importlib
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

ROOT = Path(__file__).parents[2]


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / "relative_margin")
    return importlib.import_module("figures")


def test_the_bound_holds_for_rm_alone(figures):
    """Both keep every margin; the weights are those that a solver of quadratic programs finds."""
    found, data = figures.solutions(), figures.SEPARABLE
    for name, bound in (("MIRA", np.inf), ("RM", figures.BOUND)):
        weights = found[name]
        assert data.hope(weights) == 0
        assert np.delete(data.below_hope(weights), 0).min() == pytest.approx(1, abs=1e-6)
        omega = data.features[0] - data.features[1:]
        limits = [{"type": "ineq", "fun": lambda w, omega=omega: omega @ w - 1}]
        if bound < np.inf:
            limits.append({"type": "ineq", "fun": lambda w, omega=omega: figures.BOUND - omega @ w})
        start = np.array([0.01, 0.01])
        peer = minimize(lambda w, start=start: ((w - start) ** 2).sum() / 2, [0.2, 0.5], constraints=limits, tol=1e-12)
        assert weights == pytest.approx(peer.x, abs=1e-6)
    assert data.spread(found["MIRA"]) > 1.4 * figures.BOUND
    assert data.spread(found["RM"]) == pytest.approx(figures.BOUND, abs=1e-6)


def test_the_step_is_for_the_constraints_that_were_violated(figures):
    found, data, before = figures.update(), figures.GRADED, figures.BEFORE
    hope, fear, worst = data.hope(before), data.fear(before), data.worst(before)
    cost = data.gains[hope] - data.gains[fear]
    assert data.below_hope(before)[fear] < cost
    assert data.spread(before) > figures.STEP_BOUND
    margin, bound = found.margin - found.before, found.after - found.margin
    assert margin == pytest.approx(figures.STEP_LIMIT * (data.features[hope] - data.features[fear]), abs=1e-6)
    omega = data.features[hope] - data.features[worst]
    assert bound == pytest.approx(bound @ omega / (omega @ omega) * omega, abs=1e-6)
    assert 0 < -bound @ omega / (omega @ omega) < figures.STEP_LIMIT
    assert found.after @ omega == pytest.approx(figures.STEP_BOUND, abs=1e-6)
    assert data.below_hope(found.after)[fear] > data.below_hope(before)[fear]


def test_the_committed_pictures_are_these(figures):
    for name, draw in (("figure-1", figures.figure_one), ("figure-2", figures.figure_two)):
        assert (ROOT / "docs" / "experiments" / "rm" / f"{name}.svg").read_text(encoding="utf-8") == draw()
        assert ET.fromstring(draw()).tag.endswith("svg")


def test_the_page_says_the_numbers_of_the_pictures(figures):
    page = (ROOT / "docs" / "experiments" / "rm.md").read_text(encoding="utf-8")
    solutions = figures.solutions()
    assert f"{figures.SEPARABLE.spread(solutions['MIRA']):.2f} from y⁺ to the worst" in page
    assert f"bounded by {figures.BOUND:g}" in page
    assert f"({figures.GRADED.spread(figures.update().after):.2f} below y⁺)" in page
