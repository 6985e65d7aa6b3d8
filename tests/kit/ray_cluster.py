"""A Ray cluster of three nodes on this machine, whose nodes can be killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

__all__ = ["RayCluster", "ray_cluster"]

_STORE_BYTES = 80_000_000


class RayCluster:
    """A head and two more nodes, each with one core for actors."""

    def __init__(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        # A dead node is noticed in three seconds instead of fifteen.
        quick = {"health_check_period_ms": 500, "health_check_timeout_ms": 500, "health_check_failure_threshold": 6}
        self._cluster = Cluster()
        self._cluster.add_node(
            num_cpus=1, object_store_memory=_STORE_BYTES, include_dashboard=False, _system_config=quick
        )
        self._nodes = [self._new_node() for _ in range(2)]

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def kill_node(self) -> None:
        """SIGKILL for everything that runs on a node; whole again with `mend`."""
        self._cluster.remove_node(self._nodes.pop(), allow_graceful=False)

    def mend(self) -> None:
        """Start nodes in place of those that were killed."""
        while len(self._nodes) < 2:
            self._nodes.append(self._new_node())

    def close(self) -> None:
        self._cluster.shutdown()

    def _new_node(self) -> object:
        return self._cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES)


@contextlib.contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    cluster = RayCluster()
    try:
        yield cluster
    finally:
        cluster.close()
