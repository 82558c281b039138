"""A cluster is refused, in one line that names the node, where work on it would not give the same figures."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "goldlabel[ray]"')

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.executors import cluster, probe  # noqa: E402
from goldlabel.executors.cluster import check_nodes, connect  # noqa: E402
from tests.executors.conftest import NODE  # noqa: E402


def refuse(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused, connect(address):
        pass
    assert "\n" not in str(refused.value)
    assert not ray.is_initialized()


def test_addresses_without_a_cluster() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        refuse(f"127.0.0.1:{unused.getsockname()[1]}", "no Ray cluster answers there .*ray start --head")
    refuse("ray://head:10001", "the address of a Ray client; run the command on a node")
    refuse("head", "is no address; give HOST:PORT")
    with answering(b"HTTP/1.0 400 Bad Request\r\n\r\n") as address:
        refuse(address, "what answers there is no Ray of version 2")


@contextmanager
def answering(reply: bytes) -> Iterator[str]:
    """Something that listens and is no Ray."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            stream, _ = server.accept()
            with stream:
                stream.recv(100)
                stream.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def test_no_cluster_on_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    # Ray looks through the machine's processes, where another test's cluster may be.
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", cache(set[str]))
    monkeypatch.setenv(cluster.CLUSTER, "auto")
    with pytest.raises(InputError, match="--cluster auto: no cluster can be had there"), connect():
        pass


def test_another_ray_there(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "__version__", "2.9.1")
    refuse(nodes.address, r"its nodes run Ray: 2\.\d+.*and here is Ray 2\.9\.1, Python 3.*install the same on both")


def test_a_cluster_that_wants_a_token(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> None:
        raise RuntimeError("Failed to connect to GCS. Traceback:\n File ...\nRPC error: InvalidAuthToken: is missing")

    monkeypatch.setattr(ray, "init", refused)
    refuse(nodes.address, r"wants Ray's token; set RAY_AUTH_MODE=token, .* here and on every node$")


def test_nodes_that_have_the_same_are_taken(nodes: Any, tmp_path: Path) -> None:
    data = tmp_path / "pairs.jsonl"
    data.write_text("{}\n", encoding="utf-8")
    with connect(nodes.address, paths=[tmp_path, data]) as there:
        assert [(node.cpus, node.gpus) for node in there] == [(1, 0)], "a head without cores takes no work"
        assert list(tmp_path.iterdir()) == [data]
        name = there[0].name
        with (
            data.open("rb") as stream,
            pytest.raises(InputError, match=r"does not see /dev/fd/\d+ as it is here") as no,
        ):
            check_nodes(there, [Path(f"/dev/fd/{stream.fileno()}")])  # a path that this process alone can see
        assert str(no.value).startswith(f"node {name}: ")
    assert not ray.is_initialized()


def test_a_node_without_goldlabel(nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "goldlabel.py").touch()  # hides what is installed, and is no package
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        bare = nodes.add_node(**NODE)
    try:
        refuse(nodes.address, r'^node .+: Goldlabel is not installed there; run on it: pip install "goldlabel\[ray\]==')
    finally:
        nodes.remove_node(bare)


def test_a_node_without_an_extra_that_is_in_use(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MODELS_NEED", ("goldlabel", "installed_nowhere"))
    for module in cluster.MODELS_NEED:
        monkeypatch.setitem(cluster.EXTRAS_IN_USE, module, "tags")
    refuse(nodes.address, r"^node .+: lacks installed_nowhere, which is in use here; .* \"goldlabel\[ray,tags\]==")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"torch": None}, None),  # what is done may not need it
        ({"goldlabel": "9.0"}, "has Goldlabel 9.0, and here is "),
        ({"numpy": "1.0"}, "has numpy 1.0, and here is "),
        ({"sources": "edited"}, "has another working copy of Goldlabel "),
    ],
)
def test_other_versions_give_other_figures(changes: dict[str, str | None], reason: str | None) -> None:
    ours = probe.describe_node({}, [])
    versions = ours["versions"] | changes
    theirs = {
        "goldlabel": ours["goldlabel"] if not {"goldlabel", "sources"} & set(changes) else "another digest",
        "versions": {name: version for name, version in versions.items() if version and name != "sources"},
        "unseen": [],
        "lacking": [],
    }
    fault = cluster._fault(ours, theirs)
    assert fault is None if reason is None else str(fault).startswith(reason)
