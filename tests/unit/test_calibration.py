"""How often the paired tests find a difference between systems of equal quality."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.analysis import LEVEL, Measured
from dragoman.metric import Ter

N_SENTENCES, N_DRAWS, N_TESTS = 300, 199, 1200


def equal_systems(rng, n_runs, correlation):
    """Edits and reference words of two systems, [run, sentence, 2] each, whose runs' differences are correlated."""
    shared = rng.normal(size=(2, 1, N_SENTENCES)) * np.sqrt(correlation)
    own = rng.normal(size=(2, n_runs, N_SENTENCES)) * np.sqrt(1 - correlation)
    lengths = rng.integers(5, 30, size=N_SENTENCES).astype(np.float64)
    edits = lengths * (0.5 + 0.1 * (shared + own))
    return [np.stack([one, np.broadcast_to(lengths, one.shape)], axis=-1) for one in edits]


@pytest.mark.parametrize(
    ("n_runs", "correlation"), [(1, 0.0), (3, 0.0), (3, 0.7), (3, 1.0), (5, 0.0), (5, 0.7), (5, 1.0)]
)
def test_equal_systems_differ_significantly_in_a_twentieth_of_all_cases(n_runs, correlation):
    rng = np.random.default_rng([n_runs, int(10 * correlation)])
    n_found = np.zeros(2)
    for seed in range(N_TESTS):
        measured = Measured(metric=Ter(), statistics=tuple(equal_systems(rng, n_runs, correlation)), n_refs=1)
        n_found += (
            measured.p_randomisation(0, N_DRAWS, seed)[1] < LEVEL,
            measured.p_bootstrap(0, measured.resampled(N_DRAWS, seed))[1] < LEVEL,
        )
    shares = dict(zip(("randomisation", "bootstrap"), n_found / N_TESTS, strict=True))
    assert all(0.03 < share < 0.07 for share in shares.values()), shares
