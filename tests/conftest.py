"""Shared fixtures. Real corpora live beside the checkout (or in $DRAGOMAN_DATA) and are never committed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.kit.ray_cluster import RayCluster, ray_cluster

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("default")

ROOT = Path(__file__).parent.parent


def _shared(name: str) -> Path:
    override = os.environ.get("DRAGOMAN_" + name.upper())
    return Path(override) if override else ROOT.parent / "shared" / name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests on real data, and say so, only where there is no real data."""
    if _shared("data").is_dir():
        return
    for item in items:
        if item.get_closest_marker("realdata"):
            item.add_marker(pytest.mark.skip(reason="no real corpora on this machine"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; use together with the `realdata` marker."""
    return _shared("data")


@pytest.fixture(scope="session")
def anchors() -> Path:
    """What the peers achieved on the real corpora; use together with the `realdata` marker."""
    return _shared("anchors")


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    """A Ray cluster of three nodes; a test that kills one mends it."""
    with ray_cluster() as cluster:
        yield cluster
