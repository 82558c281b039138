from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web import serve
from goldlabel.web.serving import exposure


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.1.1"])
def test_this_machine_alone_needs_no_warning(host: str) -> None:
    assert exposure(host) is None


def test_an_open_address_is_pointed_out() -> None:
    said = exposure("0.0.0.0")
    assert said is not None
    assert "TLS" in said
    assert "X-Forwarded-Proto" in said
    assert exposure("0.0.0.0", "http://label.example") is not None
    assert exposure("0.0.0.0", "https://label.example") is None


@pytest.mark.parametrize("address", ["label.example", "ftp://label.example", "https://a@b", "https://b/path", ""])
def test_an_address_for_links_is_one(tmp_path: Path, address: str) -> None:
    Store.create(tmp_path).close()
    with pytest.raises(InputError, match="no address where people could reach the server; give https://HOST"):
        serve(tmp_path, port=0, address=address)


def test_sqlite_has_one_server_process(tmp_path: Path) -> None:
    Store.create(tmp_path).close()
    with pytest.raises(InputError, match=r"2 server processes cannot share .*; allowed: 1"):
        serve(tmp_path, workers=2)


def test_there_must_be_a_collection(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no collection"):
        serve(tmp_path / "nothing")


def test_a_busy_port_is_one_clear_line(tmp_path: Path) -> None:
    Store.create(tmp_path).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            InputError, match=rf"127\.0\.0\.1:{port}: cannot be served on \(Address already in use\); .*--port"
        ):
            serve(tmp_path, port=port)
    with pytest.raises(InputError, match=r"nowhere\.invalid:0: cannot be served on"):
        serve(tmp_path, host="nowhere.invalid", port=0)


@pytest.mark.parametrize("address", [None, "http://label.example"])
def test_a_server_answers_warns_and_logs_no_address(tmp_path: Path, address: str | None) -> None:
    Store.create(tmp_path).close()
    program = f"from goldlabel.web import serve; serve({str(tmp_path)!r}, host='0.0.0.0', port=0, address={address!r})"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("FORWARDED_ALLOW_IPS", None)
    with subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stderr is not None
        lines: list[str] = []
        port = None
        while port is None:
            line = server.stderr.readline()
            assert line, lines
            lines.append(line)
            port = re.search(r"running on http://0\.0\.0\.0:(\d+)", line)
        here = f"http://127.0.0.1:{port[1]}"
        assert httpx2.get(f"{here}/healthz").json() == {"status": "ok"}
        assert httpx2.get(f"{here}/login").status_code == 200
        assert httpx2.get(f"{here}/invite/a-secret-token").status_code == 404
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
        answer = httpx2.get(f"{here}/login", headers=forwarded)
        believed = address is not None
        assert ("Secure" in answer.headers["set-cookie"]) is believed
        assert ("strict-transport-security" in answer.headers) is believed
        time.sleep(0.1)
        server.send_signal(signal.SIGINT)
        lines += server.stderr.readlines()
    text = "".join(lines)
    assert "without TLS" in text
    assert "a-secret-token" not in text
