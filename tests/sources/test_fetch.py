"""Fetching from a real HTTP server on loopback that drops connections."""

from __future__ import annotations

import hashlib
import http.server
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.sources import SOURCES, Source
from goldlabel.sources import fetch as fetch_module
from goldlabel.sources.fetch import Progress, download, fetch
from tests.conftest import pair


def corpus() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for split in ("train", "dev"):
            rows = (pair(pairID=f"{split}{n}", sentence1=f"Owl {n}.") for n in range(400))
            archive.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", b"".join(orjson.dumps(row) + b"\n" for row in rows))
        archive.writestr("snli_1.0/README.txt", "hello")
    return packed.getvalue()


class Server(http.server.ThreadingHTTPServer):
    """Serves one file; drops each connection after ``drop_after`` bytes, ``drops`` times."""

    def __init__(self, data: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = data
        self.drops = 0
        self.drop_after = 0
        self.ranges = True
        self.content_type = "application/zip"
        self.requested: list[str | None] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requested.append(wanted)
        if self.path != "/snli_1.0.zip":
            self.send_error(404)
            return
        start = 0
        if wanted and self.server.ranges:
            start = int(re.findall(r"\d+", wanted)[0])
            if start >= len(self.server.data):
                self.send_error(416)
                return
        body = self.server.data[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.drops > 0:
            self.server.drops -= 1
            body = body[: self.server.drop_after]
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(corpus())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def source(server: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    address = f"http://127.0.0.1:{server.server_address[1]}/snli_1.0.zip"
    checksum = f"sha256:{hashlib.sha256(server.data).hexdigest()}"
    source = replace(SOURCES.get("snli"), address=address, checksum=checksum)
    monkeypatch.setitem(SOURCES._own, "snli", source)
    monkeypatch.setattr(fetch_module.time, "sleep", lambda seconds: None)
    return source


def test_a_dropped_connection_is_taken_up_where_it_broke(server: Server, source: Source) -> None:
    server.drops, server.drop_after = 3, len(server.data) // 5
    seen: list[int] = []
    totals: list[int | None] = []
    added = fetch("snli", Progress(total=totals.append, advance=seen.append))
    assert added.pairs.to_dict()["splits"] == {"train": 400, "dev": 400}
    assert sum(seen) == len(server.data)
    assert set(totals) == {len(server.data)}
    part = server.drop_after
    assert server.requested == [None, f"bytes={part}-", f"bytes={2 * part}-", f"bytes={3 * part}-"]


def test_a_later_run_goes_on_from_what_is_there(server: Server, source: Source, home: Path) -> None:
    part = home / "downloads" / "snli" / "snli_1.0.zip.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(server.data[:1000])
    assert download(source).read_bytes() == server.data
    assert server.requested == ["bytes=1000-"]
    assert not part.exists()
    download(source)
    assert len(server.requested) == 1


def test_a_server_without_ranges_starts_over(server: Server, source: Source) -> None:
    server.ranges = False
    server.drops, server.drop_after = 1, 700
    assert download(source).read_bytes() == server.data


def test_complete_part_needs_no_more(server: Server, source: Source, home: Path) -> None:
    part = home / "downloads" / "snli" / "snli_1.0.zip.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(server.data)
    assert download(source).read_bytes() == server.data


def test_a_server_that_always_drops_is_given_up(server: Server, source: Source, home: Path) -> None:
    server.drops, server.drop_after = 1000, 0
    with pytest.raises(GoldlabelError, match=r"cannot be reached .*a new try goes on from there"):
        fetch("snli")
    assert not (home / "data").exists()


def test_a_changed_file_is_refused_and_not_kept(server: Server, source: Source, home: Path) -> None:
    server.data = server.data[:-30] + b"x" * 30
    with pytest.raises(InputError, match=r"its sha256 is .* where its card has"):
        fetch("snli")
    assert list((home / "downloads" / "snli").iterdir()) == []
    assert not (home / "data").exists()


def test_what_the_server_refuses_is_told(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES._own, "snli", replace(source, address=source.address + ".gone"))
    with pytest.raises(GoldlabelError, match="the server answered 404"):
        fetch("snli")


def test_a_web_page_is_not_taken_for_the_corpus(server: Server, source: Source, home: Path) -> None:
    server.content_type = "text/html; charset=utf-8"
    with pytest.raises(GoldlabelError, match="is a web page, not a file"):
        fetch("snli")
    assert list((home / "downloads" / "snli").iterdir()) == []


def test_hugging_face_needs_its_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES._own, "snli", replace(SOURCES.get("snli"), address="hf:org/name"))
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(GoldlabelError, match=r'pip install "goldlabel\[hf\]"'):
        fetch("snli")


def test_hugging_face_snapshot_is_added(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub cannot be reached from a test: its client is stood in for, the folder it gives is real."""
    zipfile.ZipFile(io.BytesIO(corpus())).extractall(tmp_path / "snapshot")
    monkeypatch.setitem(SOURCES._own, "snli", replace(SOURCES.get("snli"), address="hf:org/name"))

    class Hub:
        @staticmethod
        def snapshot_download(name: str, repo_type: str) -> str:
            assert (name, repo_type) == ("org/name", "dataset")
            return str(tmp_path / "snapshot")

    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", Hub)
    assert fetch("snli").pairs.to_dict()["splits"] == {"train": 400, "dev": 400}
