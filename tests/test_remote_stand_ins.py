"""Buckets of Google and datasets of the Hugging Face hub, by their own drivers, against stand-ins on this machine.

Neither of them was asked: ``gs://`` is answered by an emulator of its JSON interface, ``hf://`` by the tests' own hub.
What a bucket without rights says is Google's answer, sent by a server that knows no other.
"""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from tests.cli.commands import run
from tests.pairs.hub import Repo, stand_in
from tests.test_remote import PAIRS

FORBIDDEN = {"error": {"code": 403, "message": "somebody does not have storage.objects.list access to the bucket."}}


@pytest.fixture
def bucket(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("gcsfs", reason='gcsfs is not installed: pip install "goldlabel[gs]"')
    from gcp_storage_emulator.server import create_server

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket="corpora")
    server.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    yield
    server.stop()


def test_a_dataset_goes_to_a_bucket_of_google_and_comes_back(bucket: None, home: Path, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(3):
        PAIRS[2 * number : 2 * number + 2].write_parquet(tmp_path / "many" / f"part-{number}.parquet")
    pairs = gl.read(tmp_path / "many")
    pairs.export("gs://corpora/pairs.csv", "csv")
    split = run("data", "split", "gs://corpora/pairs.csv", "--ratios", "2:1", "-o", "gs://corpora/split", "--json")
    assert json.loads(split.stdout)["output"] == "gs://corpora/split", split.stderr
    converted = run("data", "export", "gs://corpora/split", "--to", "jsonl", "-o", "gs://corpora/pairs.jsonl", "--json")
    assert json.loads(converted.stdout)["output"] == "gs://corpora/pairs.jsonl", converted.stderr
    assert len(gl.read("gs://corpora/pairs.jsonl")) == len(PAIRS)
    shutil.rmtree(home / "remote")
    arrived: list[int] = []
    again = gl.read("gs://corpora/split", on_bytes=arrived.append)
    assert sorted(again.collect()["id"]) == PAIRS["id"].to_list()
    kept = len(arrived)
    gl.read("gs://corpora/split", on_bytes=arrived.append)
    assert len(arrived) == kept > 1, "what has not changed is fetched once"
    again.only(split="train").write("gs://corpora/split")
    assert set(gl.read("gs://corpora/split").collect()["split"]) == {"train"}
    with pytest.raises(InputError, match=r"^gs://corpora/missing.jsonl: there is no such file, folder or bucket$"):
        gl.read("gs://corpora/missing.jsonl")


class Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(FORBIDDEN).encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def test_a_bucket_of_google_without_rights(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gcsfs", reason='gcsfs is not installed: pip install "goldlabel[gs]"')
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{server.server_port}")
        refused = run("data", "show", "gs://corpora/pairs.csv")
        server.shutdown()
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith("goldlabel: gs://corpora/pairs.csv: cannot be read with the rights of these credentials (")
    assert line.endswith("; run 'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS")
    assert "storage.objects.list access" in line


def test_a_dataset_of_the_hub_is_read_by_its_address(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = BytesIO()
    PAIRS.write_parquet(stream)
    with stand_in() as hub:
        template = f"{hub.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.address)
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setenv("HF_TOKEN", "right")
        hub.repos["birds/herons"] = Repo(private=False, files={"data/train.parquet": stream.getvalue()})
        pairs = gl.read("hf://datasets/birds/herons/data")
        assert pairs.collect()["premise"].to_list() == PAIRS["premise"].to_list()
        assert len(gl.read("hf://datasets/birds/herons/data/train.parquet")) == 6
        private = "there is no such file, folder or bucket, or it is private; run 'hf auth login', or set HF_TOKEN$"
        with pytest.raises(InputError, match=rf"^hf://datasets/birds/owls: {private}"):
            gl.read("hf://datasets/birds/owls")
        monkeypatch.setenv("HF_TOKEN", "wrong")
        rights = (
            r"cannot be read with the rights of these credentials \(.*401.*\); run 'hf auth login', or set HF_TOKEN$"
        )
        with pytest.raises(InputError, match=rf"^hf://datasets/birds/herons/data: {rights}"):
            gl.read("hf://datasets/birds/herons/data")
