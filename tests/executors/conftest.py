"""A small cluster of Ray nodes on this machine, for the tests that need one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A head that takes no work and one node that does; its ``add_node`` gives more.

    Each file of tests has its own: what another left behind on a node would take the room that pieces wait for.
    """
    pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="gl-", dir="/tmp")  # the path of a socket must be short
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
        head = {**NODE, "num_cpus": 0, "include_dashboard": False, "_system_config": soon}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(**NODE)
        yield cluster
        import ray

        ray.shutdown()
        cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(nodes: Any) -> Iterator[str]:
    """The address of the nodes, to which a file of tests stays connected: its workers are started once."""
    from goldlabel.executors.cluster import connect

    with connect(nodes.address):
        yield nodes.address


def kill_node(node: Any) -> None:
    """Kill a node as a machine dies: all its processes at once."""
    for process in node.all_processes["raylet"]:
        raylet = psutil.Process(process.process.pid)
        for doomed in [raylet, *raylet.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                doomed.kill()
