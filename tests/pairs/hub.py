"""A stand-in for the Hugging Face hub: the few answers of it that an upload needs, from a server of the test's own.

It keeps what it was sent and knows one token, ``right``, which may not write to the organisation ``locked``. Parquet
is sent as the hub has it of large files (Git LFS; its newer way, Xet, is switched off), the rest within the commit.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Repo:
    """What the stand-in has of one repository."""

    private: bool
    files: dict[str, bytes] = field(default_factory=lambda: {".gitattributes": b"*.parquet filter=lfs\n"})
    commits: list[str] = field(default_factory=list)

    def check_out(self, folder: Path) -> Path:
        """Write the files as somebody who downloads them has them."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder


@dataclass
class Hub:
    """The stand-in's state."""

    address: str
    repos: dict[str, Repo] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple[int, Any]:
        """Return the status and the document of one answer."""
        if path.startswith("/large/"):
            self.large[path.removeprefix("/large/")] = body
            return 200, {}
        if token != "Bearer right":
            return 401, {"error": "Invalid username or password."}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        match = re.match(r"/(?:api/)?datasets/([\w-]+/[\w-]+)(?:\.git)?/?([\w/]*)", path)
        if not match or match[1] not in self.repos:
            return 404, {"error": "Repository not found"}
        repo, verb = self.repos[match[1]], match[2].split("/")[0]
        match verb:
            case "":
                return 200, {"id": match[1], "private": repo.private, "tags": [], "siblings": []}
            case "tree":
                entries = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in repo.files]
                return 200, entries
            case "preupload":
                files = [{"path": file["path"], "shouldIgnore": False} for file in json.loads(body)["files"]]
                return 200, {
                    "files": [
                        file | {"uploadMode": "lfs" if file["path"].endswith(".parquet") else "regular"}
                        for file in files
                    ]
                }
            case "info":
                objects = [
                    entry | {"actions": {"upload": {"href": f"{self.address}/large/{entry['oid']}"}}}
                    for entry in json.loads(body)["objects"]
                ]
                return 200, {"transfer": "basic", "objects": objects}
            case "commit":
                return self._commit(match[1], repo, [json.loads(line) for line in body.splitlines()])
        return 404, {"error": f"{method} {path}"}

    def _create(self, wanted: dict[str, Any]) -> tuple[int, Any]:
        name = f"{wanted['organization'] or 'me'}/{wanted['name']}"
        url = {"url": f"{self.address}/datasets/{name}"}
        if wanted["organization"] == "locked":
            return 403, {"error": "You don't have the rights to create a dataset under this namespace"}
        if name in self.repos:
            return 409, url | {"error": "You already created this dataset repo"}
        self.repos[name] = Repo(private=wanted.get("visibility") == "private" or wanted.get("private", False))
        return 200, url

    def _commit(self, name: str, repo: Repo, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        for line in lines:
            match line:
                case {"key": "header", "value": value}:
                    repo.commits.append(value["summary"])
                case {"key": "file", "value": value}:
                    repo.files[value["path"]] = base64.b64decode(value["content"])
                case {"key": "lfsFile", "value": value}:
                    repo.files[value["path"]] = self.large[value["oid"]]
                case {"key": "deletedFile", "value": value}:
                    del repo.files[value["path"]]
        oid = f"{len(repo.commits):040d}"
        return 200, {"commitUrl": f"{self.address}/datasets/{name}/commit/{oid}", "commitOid": oid}


@contextmanager
def stand_in() -> Iterator[Hub]:
    """Serve a hub that is empty at first, and yield what it has."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, token = self.path.partition("?")[0], self.headers.get("Authorization", "")
            status, document = hub.answer(self.command, path, token, body)
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = _serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub = Hub(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield hub
        server.shutdown()
        thread.join()
