"""A stand-in for the Hugging Face hub: the few answers of it that uploads and downloads need, from a test's own server.

It keeps what it was sent and knows one token, ``right``, which may not write to the organisation ``locked``. Parquet
is sent as the hub has it of large files (Git LFS; its newer way, Xet, is switched off), the rest within the commit.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any

NOT_FOUND = {"error": "Repository not found"}


@dataclass
class Repo:
    """What the stand-in has of one repository."""

    private: bool
    files: dict[str, bytes] = field(default_factory=lambda: {".gitattributes": b"*.parquet filter=lfs\n"})
    commits: list[str] = field(default_factory=list)

    def tree(self, folder: str, recursive: bool) -> list[dict[str, Any]]:
        """List what lies in a folder, and with ``recursive`` what lies in the folders there."""
        inside = [name for name in self.files if not folder or name.startswith(f"{folder}/")]
        parents = {parent.as_posix() for name in inside for parent in PurePosixPath(name).parents} - {"."}
        entries = [{"type": "directory", "path": name, "oid": "0"} for name in sorted(parents - {folder})]
        for name in inside:
            oid = hashlib.sha1(self.files[name]).hexdigest()
            entries.append({"type": "file", "path": name, "size": len(self.files[name]), "oid": oid})
        here = PurePosixPath(folder or ".")
        return [entry for entry in entries if recursive or PurePosixPath(entry["path"]).parent == here]

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
        path, _, query = path.partition("?")
        match = re.match(r"/(?:api/)?datasets/([\w-]+/[\w-]+)(?:\.git)?/?([\w./-]*)", path)
        if not match or match[1] not in self.repos:
            return 404, NOT_FOUND
        repo, verb = self.repos[match[1]], match[2].split("/")[0]
        match verb:
            case "":
                return 200, {"id": match[1], "private": repo.private, "tags": [], "siblings": []}
            case "tree":
                return 200, repo.tree("/".join(match[2].split("/")[2:]), "recursive=true" in query.lower())
            case "resolve":
                content = repo.files.get("/".join(match[2].split("/")[2:]))
                return (404, {"error": "Entry not found"}) if content is None else (200, content)
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
            status, document = hub.answer(self.command, self.path, self.headers.get("Authorization", ""), body)
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            if document == NOT_FOUND:
                self.send_header("X-Error-Code", "RepoNotFound")
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
