"""What several modules learn once each: small systems, and the explorer of them."""

from __future__ import annotations

import pytest
from tests.kit.asking import asking
from tests.kit.small_systems import make_systems, sentences_of

from dragoman.view.serve import Explorer, Limits


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a small system of each kind, of two folds."""
    return make_systems(tmp_path_factory.mktemp("made"), n_folds=2)


@pytest.fixture(scope="module")
def sentence(made):
    return max(sentences_of(made), key=len)


@pytest.fixture(scope="module")
def explorer(made):
    return Explorer.load([made / kind for kind in ("phrase", "hiero")], limits=Limits(tokens=60, timeout_s=20))


@pytest.fixture(scope="module")
def ask(explorer):
    """A function that sends one request to the explorer and returns the answer."""
    return asking(explorer)
