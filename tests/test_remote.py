"""Data in buckets and on web servers, against a local S3 (moto) and a local web server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest

import goldlabel as gl
from goldlabel import remote
from goldlabel.errors import InputError, MissingExtraError, StorageError
from tests.cli.commands import run
from tests.conftest import pair

PAIRS = pl.DataFrame(
    {
        "id": [f"p{number}" for number in range(6)],
        "premise": [f"A man rides horse number {number}." for number in range(6)],
        "hypothesis": [f"Somebody rides {'horse' if number % 2 else 'cow'} {number}." for number in range(6)],
        "label": ["entailment", "contradiction", "neutral"] * 2,
    }
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    import boto3

    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.client("s3")
    client.create_bucket(Bucket="corpora")
    yield client
    for item in client.list_objects_v2(Bucket="corpora").get("Contents", []):
        client.delete_object(Bucket="corpora", Key=item["Key"])
    client.close()


def put(s3: Any, key: str, frame: pl.DataFrame) -> None:
    stream = BytesIO()
    (frame.write_ndjson if key.endswith("jsonl") else frame.write_parquet)(stream)
    s3.put_object(Bucket="corpora", Key=key, Body=stream.getvalue())


def test_a_folder_of_parquet_files_is_read_once_and_what_changed_again(s3: Any, tmp_path: Path) -> None:
    for number in range(3):
        put(s3, f"many/part-{number}.parquet", PAIRS[2 * number : 2 * number + 2])
    put(s3, "many-more/part.parquet", PAIRS)
    arrived: list[int] = []
    pairs = gl.read("s3://corpora/many", on_bytes=arrived.append)
    assert pairs.card.name == "many"
    assert pairs.collect()["premise"].to_list() == PAIRS["premise"].to_list()
    assert len(arrived) == 3
    gl.read("s3://corpora/many/", on_bytes=arrived.append)
    assert len(arrived) == 3
    put(s3, "many/part-0.parquet", PAIRS[:1])
    s3.delete_object(Bucket="corpora", Key="many/part-2.parquet")
    assert gl.read("s3://corpora/many", on_bytes=arrived.append).collect()["id"].to_list() == ["p0", "p2", "p3"]
    assert len(arrived) == 4
    assert len(pairs) == 6


def test_a_command_reads_from_a_bucket_and_writes_a_dataset_there(s3: Any) -> None:
    put(s3, "pairs.jsonl", PAIRS)
    document = json.loads(run("data", "show", "s3://corpora/pairs.jsonl", "--json").stdout)
    assert document["pairs"] == 6
    written = run("data", "split", "s3://corpora/pairs.jsonl", "--ratios", "2:1", "-o", "s3://corpora/split", "--json")
    assert json.loads(written.stdout)["output"] == "s3://corpora/split"
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket="corpora", Prefix="split/")["Contents"]]
    assert {"split/card.json", "split/train.parquet", "split/test.parquet"} <= set(keys)
    again = gl.read("s3://corpora/split")
    assert sorted(again.collect()["id"]) == PAIRS["id"].to_list()
    again.only(split="train").write("s3://corpora/split")  # the other split's file goes
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket="corpora", Prefix="split/")["Contents"]]
    assert sorted(keys) == [f"split/{name}" for name in ("README.md", "card.json", "croissant.json", "train.parquet")]
    again.export("s3://corpora/out/pairs.csv", "csv")
    assert len(gl.read("s3://corpora/out/pairs.csv")) == 6
    s3.put_object(Bucket="corpora", Key="snli_1.0_dev.jsonl", Body=json.dumps(pair(pairID="a")))
    assert json.loads(run("data", "add", "snli", "s3://corpora/snli_1.0_dev.jsonl", "--json").stdout)["pairs"] == 1
    assert not Path("s3:").exists()


def test_what_a_bucket_refuses_is_told_in_one_line(s3: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(s3, "bad.jsonl", PAIRS.drop("premise"))
    put(s3, "notes/readme.jsonl", PAIRS)
    with pytest.raises(InputError, match=r"^s3://corpora/missing.jsonl: there is no such file, folder or bucket$"):
        gl.read("s3://corpora/missing.jsonl")
    with pytest.raises(InputError, match=r"^s3://nowhere/x: there is no such file, folder or bucket$"):
        gl.read("s3://nowhere/x")
    with pytest.raises(InputError, match=r"^s3://corpora/bad.jsonl line 1: "):
        gl.read("s3://corpora/bad.jsonl")
    pairs = gl.Pairs.from_frame(PAIRS, gl.read("s3://corpora/notes").card)
    with pytest.raises(InputError, match="is not empty and no dataset"):
        pairs.write("s3://corpora/notes")
    with pytest.raises(StorageError, match=r"https://example.org/x: data is written to s3:// and gs:// only"):
        pairs.write("https://example.org/x")
    for command in (["train", "majority", "--on", "s3://corpora/notes"], ["predict", "majority", "s3://corpora/notes"]):
        refused = run(*command, "-o", "s3://corpora/out.parquet")
        assert refused.returncode == 2
        assert "\ngoldlabel: s3://corpora/out.parquet: this is written to a disk only; " in "\n" + refused.stderr
    policy = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::corpora/notes/*"}
    s3.put_bucket_policy(Bucket="corpora", Policy=json.dumps({"Version": "2012-10-17", "Statement": [policy]}))
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "other"))
    with pytest.raises(InputError, match="s3://corpora/notes: cannot be read with the rights of these credentials"):
        gl.read("s3://corpora/notes")
    s3.delete_bucket_policy(Bucket="corpora")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"s3://corpora/notes: cannot be read, as there are no credentials; set AWS_"):
        gl.read("s3://corpora/notes")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("s3fs", "gcsfs"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r'pip install "goldlabel\[remote\]"'):
        gl.read("s3://corpora/x")
    with pytest.raises(MissingExtraError, match=r'pip install "goldlabel\[gs\]"'):
        gl.read("gs://corpora/x")


def test_a_file_is_read_from_a_web_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))
    PAIRS.write_ndjson(tmp_path / "pairs.jsonl")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as web:
        Thread(target=web.serve_forever, daemon=True).start()
        assert len(gl.read(f"http://127.0.0.1:{web.server_port}/pairs.jsonl")) == 6
        with pytest.raises(InputError, match=r"nothing\.jsonl: there is no such file"):
            gl.read(f"http://127.0.0.1:{web.server_port}/nothing.jsonl")
        web.shutdown()


def test_a_file_that_is_cut_short_on_the_way_is_not_kept(
    s3: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(s3, "pairs.jsonl", PAIRS)
    opened = remote._open

    def cut(url: str, **options: Any) -> Any:
        system, place = opened(url, **options)
        monkeypatch.setattr(system, "get_file", lambda path, target: Path(target).write_bytes(b"{"))
        return system, place

    monkeypatch.setattr(remote, "_open", cut)
    with pytest.raises(InputError, match=r"1 of .* bytes arrived"):
        gl.read("s3://corpora/pairs.jsonl")
    monkeypatch.setattr(remote, "_open", opened)
    assert len(gl.read("s3://corpora/pairs.jsonl")) == 6
