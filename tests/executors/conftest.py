"""A small cluster of Ray nodes on this machine, for the tests that need one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    """A head that takes no work and one node that does; its ``add_node`` gives more."""
    pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="gl-", dir="/tmp")  # the path of a socket must be short
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        head = {"num_cpus": 0, "object_store_memory": 80 << 20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(**NODE)
        yield cluster
        import ray

        ray.shutdown()
        cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
    assert "RAY_ADDRESS" not in os.environ
