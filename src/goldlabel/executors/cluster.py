"""Connecting to a Ray cluster, or starting a local one, and refusing nodes that would not give the same figures.

``connect`` is the one way in: for the executor, and for whatever else is done by Ray. Work may land on any node, so
every node must have this Goldlabel, the same versions of what figures come from, and the same files.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.executors import probe
from goldlabel.registry import EXTRAS_IN_USE, import_extra

CLUSTER = "GOLDLABEL_CLUSTER"
"""Where the address of the cluster is looked for if it is not given."""
ANSWER = 60.0
"""Seconds within which a node must tell what it has; it may have to start Python first."""
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How gRPC, by which Ray is spoken to, begins: HTTP/2's preface and empty settings, answered by settings."""
_SETTINGS = 4
MODELS_NEED = ("torch", "transformers", "peft", "fasttext", "sacrebleu", "rapidfuzz", "ot", "jieba", "textblob")
"""What models are made of; other extras read and write, which workers do not."""
_TRACE = ".seen."
"""How a file begins that lies in a folder only while nodes are asked whether they see it."""


@dataclass(frozen=True)
class Node:
    """A node that takes work."""

    id: str
    name: str
    cpus: float
    gpus: float


@contextmanager
def connect(
    address: str | None = None, *, cpus: int | None = None, paths: Iterable[Path] = ()
) -> Iterator[tuple[Node, ...]]:
    """Connect to the cluster at an address, or start a local one, and give its nodes; all is ended with the block.

    The address is that of ``ray start``, HOST:PORT, or ``auto`` for one that this machine is part of; without it
    ``GOLDLABEL_CLUSTER`` is used, and without that a local Ray is started, with ``cpus`` or as many as there are. What
    the script has connected to itself is used and left as it is. ``paths`` are files and folders that every node must
    see.
    """
    ray = import_extra("ray", "ray")
    with ExitStack() as stack:
        if not ray.is_initialized():
            address = address or os.environ.get(CLUSTER)
            if address:
                _reach(ray, address)
            else:
                _start(ray, stack, cpus)
            stack.callback(ray.shutdown)
        nodes = live_nodes()
        check_nodes(nodes, paths)
        yield nodes


def live_nodes() -> tuple[Node, ...]:
    """Return the nodes that take work now."""
    import ray

    nodes = [
        Node(node["NodeID"], _name(node), node["Resources"].get("CPU", 0), node["Resources"].get("GPU", 0))
        for node in ray.nodes()
        if node["Alive"]
    ]
    return tuple(node for node in nodes if node.cpus)


def check_nodes(nodes: Iterable[Node], paths: Iterable[Path] = ()) -> None:
    """Refuse a node that would not do as this one does.

    It has another Goldlabel or none, other libraries, lacks an extra that is in use here, or does not see a path.
    """
    with _traces(paths) as files:
        ours = probe.describe_node({}, [])
        for node, theirs in _ask(nodes, files, modules_in_use()):
            if reason := _fault(ours, theirs):
                raise InputError(f"node {node.name}: {reason}")


def modules_in_use() -> list[str]:
    """Return what models here are made of beside the core, as far as it is imported: workers will need it too."""
    return [module for module in MODELS_NEED if module in EXTRAS_IN_USE]


def _fault(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a node, and what to do."""
    version = ours["versions"]["goldlabel"]
    if theirs["goldlabel"] is None:
        return f'Goldlabel is not installed there; run on it: pip install "goldlabel[ray]=={version}"'
    if theirs["goldlabel"] != ours["goldlabel"]:
        other = theirs["versions"].get("goldlabel")
        what = f"Goldlabel {other}" if other != version else f"another working copy of Goldlabel {version}"
        return f"has {what}, and here is {version}; install the same on all nodes"
    for package, there in theirs["versions"].items():
        here = ours["versions"].get(package, there)
        if here != there:
            return f"has {package} {there}, and here is {here}; figures may differ: install the same on all nodes"
    if theirs["lacking"]:
        extra = EXTRAS_IN_USE.get(module := theirs["lacking"][0], module)
        return f'lacks {module}, which is in use here; run on it: pip install "goldlabel[ray,{extra}]=={version}"'
    if theirs["unseen"]:
        path = Path(theirs["unseen"][0])
        shown = path.parent if path.name.startswith(_TRACE) else path
        return f"does not see {shown} as it is here; put it where all nodes see the same files, such as a network disk"
    return None


def _ask(nodes: Iterable[Node], files: dict[str, int], modules: list[str]) -> Iterator[tuple[Node, dict[str, Any]]]:
    """Yield what each node has."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.cloudpickle.register_pickle_by_value(probe)
    try:
        describe = ray.remote(num_cpus=0, max_retries=0)(probe.describe_node)
        there = {node: NodeAffinitySchedulingStrategy(node.id, soft=False) for node in nodes}
        answers = {
            node: describe.options(scheduling_strategy=place).remote(files, modules) for node, place in there.items()
        }
    finally:
        ray.cloudpickle.unregister_pickle_by_value(probe)
    for node, answer in answers.items():
        try:
            yield node, ray.get(answer, timeout=ANSWER)
        except ray.exceptions.RayError as error:
            first = str(error).strip().partition("\n")[0]
            raise InputError(
                f"node {node.name}: gives no answer ({first or type(error).__name__}); mend it or take it out of the "
                "cluster"
            ) from error


@contextmanager
def _traces(paths: Iterable[Path]) -> Iterator[dict[str, int]]:
    """Give files by which nodes tell that they see a path: itself, or one that lies in the folder for so long.

    Where nothing can be put into a folder, those that lie there tell.
    """
    with ExitStack() as stack:
        files: dict[str, int] = {}
        for place in paths:
            seen = [place.absolute()]
            if place.is_dir() and os.access(place, os.W_OK):
                handle, name = tempfile.mkstemp(prefix=_TRACE, dir=seen[0])
                os.close(handle)
                seen = [Path(name)]
                stack.callback(seen[0].unlink, missing_ok=True)
            elif place.is_dir():
                seen = [path for path in seen[0].iterdir() if path.is_file()]
            files.update({str(path): path.stat().st_size for path in seen})
        yield files


def _reach(ray: Any, address: str) -> None:
    """Connect to the cluster at an address, or say why that cannot be."""
    if address.startswith("ray://"):
        raise InputError(
            f"--cluster {address}: is the address of a Ray client; run the command on a node of the cluster, as 'ray "
            "job submit' does, and give HOST:PORT or auto"
        )
    if address != "auto":
        _call(address)
    try:
        _init(ray, address=address)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error.__cause__ or error).split())
        if "Version mismatch" in reason:
            wanted = reason.partition("The cluster was started with: ")[2].partition(" This process")[0]
            raise InputError(
                f"--cluster {address}: its nodes run {wanted}, and here is Ray {ray.__version__}, Python "
                f"{'.'.join(map(str, sys.version_info[:3]))}; install the same on both"
            ) from error
        if "AuthToken" in reason:
            raise InputError(
                f"--cluster {address}: wants Ray's token; set RAY_AUTH_MODE=token, with the token in ~/.ray/auth_token "
                "or RAY_AUTH_TOKEN, here and on every node"
            ) from error
        raise InputError(f"--cluster {address}: no cluster can be had there ({reason})") from error


def _call(address: str) -> None:
    """Refuse an address where nothing like Ray answers; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--cluster {address}: is no address; give HOST:PORT, as 'ray start' prints it, or auto")
    try:
        with socket.create_connection((host, int(port)), timeout=5) as stream:
            stream.sendall(_HELLO)
            reply = stream.recv(9)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"--cluster {address}: no Ray cluster answers there ({error}); start one with 'ray start --head'"
        ) from error
    if len(reply) < 4 or reply[3] != _SETTINGS:
        raise InputError(
            f"--cluster {address}: what answers there is no Ray of version 2; give the address that 'ray start' prints"
        )


def _start(ray: Any, stack: ExitStack, cpus: int | None) -> None:
    """Start a local Ray, whose logs and sockets go with it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers of its use
    # The path of a socket has at most 107 characters, of which Ray takes some 60.
    root = tempfile.gettempdir() if len(tempfile.gettempdir()) < 24 else "/tmp"
    folder = tempfile.mkdtemp(prefix="goldlabel-ray-", dir=root)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    _init(ray, address="local", num_cpus=cpus, include_dashboard=False, _temp_dir=folder)


def _init(ray: Any, **options: Any) -> None:
    # Ray prints the death of a node on stdout, where results belong, and has no other switch for it.
    ray._private.worker._worker_logs_enabled = False
    before = signal.getsignal(signal.SIGTERM)
    ray.init(logging_level="ERROR", log_to_driver=False, **options)
    # Ray ends at once, and leaves its folder; who has said how to end is heard, so that the block is left in order.
    if callable(before) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _name(node: Mapping[str, Any]) -> str:
    host, address = node["NodeManagerHostname"], node["NodeManagerAddress"]
    return f"{host} ({address})" if host else str(address)
