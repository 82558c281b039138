"""Server processes of a collection, and a private PostgreSQL: started, killed and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import psutil


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A server process of ours, with what it starts."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers."""
        command = "import sys; from goldlabel.web import serve; serve('.', database=sys.argv[1], port=int(sys.argv[2]))"
        self.process = subprocess.Popen(
            [sys.executable, "-c", command, self.place, str(self.port)],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while True:
            try:
                httpx.get(f"{self.address}/login", timeout=5)
                return
            except httpx.TransportError:
                if self.process.poll() is not None:
                    raise SystemExit("the server did not start") from None
                time.sleep(0.05)

    def kill(self) -> None:
        """End all its processes at once, as a power cut would, if there are any."""
        if self.process is None or self.process.returncode is not None:
            return
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def spent(self) -> tuple[float, float]:
        """Return the memory (MB) and the processor time (seconds) of all its processes."""
        assert self.process is not None
        whole = psutil.Process(self.process.pid)
        every = (whole, *whole.children(recursive=True))
        return (
            sum(one.memory_info().rss for one in every) / 1e6,
            sum(one.cpu_times().user + one.cpu_times().system for one in every),
        )


@contextmanager
def serving(place: str, processes: int) -> Iterator[list[Server]]:
    """Servers that are gone when the block ends, however it ends."""
    servers = [Server(place) for _ in range(processes)]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.kill()


def spent(servers: list[Server]) -> tuple[float, float]:
    """Return the memory (MB) and the processor time (seconds) of all servers."""
    memory, processor = zip(*(server.spent() for server in servers), strict=True)
    return sum(memory), sum(processor)


@contextmanager
def postgres() -> Iterator[tuple[str | None, Callable[[], None] | None]]:
    """A private PostgreSQL that writes to disk as by default, and what crashes and restarts it; if there is any."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        yield None, None
        return
    user = "postgres" if os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="goldlabel-pg-"))
    if user:
        os.chown(home, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)

    def run(tool: str, *arguments: str) -> None:
        command = [str(found[-1].parent / tool), *arguments]
        # In a session of its own: Ctrl-C is for us, and we stop the database when nobody uses it any more.
        subprocess.run(command, user=user, cwd=home, check=True, stdout=subprocess.DEVNULL, start_new_session=True)

    try:
        run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "-D", str(home / "data"))
        listen = f"-k {home} -c listen_addresses='' -c max_connections=200"
        begin = ("--wait", "-D", str(home / "data"), "-l", str(home / "log"), "-o", listen)
        run("pg_ctl", "start", *begin)
        restart = partial(run, "pg_ctl", "restart", "--mode=immediate", *begin)
        yield f"postgresql://postgres@/postgres?host={home}", restart
    finally:
        if (home / "data" / "postmaster.pid").exists():
            run("pg_ctl", "stop", "--mode=immediate", "-D", str(home / "data"))
        shutil.rmtree(home, ignore_errors=True)
