"""Pushing to the hub, against a stand-in for it: a server of the test's own (``tests/pairs/hub.py``)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

import goldlabel as gl
from goldlabel.errors import InputError
from tests.cli.commands import run
from tests.pairs.hub import Hub, stand_in

# How huggingface_hub itself sends a large file.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning")

ROWS = [
    {"id": "a", "premise": "Two herons stand.", "hypothesis": "Birds stand.", "label": "entailment", "split": "train"},
    {"id": "b", "premise": "那只苍鹭睡着了。", "hypothesis": "没有鸟。", "label": "contradiction", "split": "dev"},
    {"id": "c", "premise": "A gate creaks.", "hypothesis": "It rains.", "label": "neutral", "split": "test"},
]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    with stand_in() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
        monkeypatch.setenv("HF_TOKEN", "right")
        yield hub


@pytest.fixture
def pairs() -> gl.Pairs:
    return gl.from_rows(ROWS, card=gl.Card(name="herons", licence="CC BY 4.0"))


def test_a_push_makes_a_private_repository_that_reads_as_the_pairs(hub: Hub, pairs: gl.Pairs, tmp_path: Path) -> None:
    pushed = pairs.push_to_hub("lab/herons")
    assert (pushed.repository, pushed.private) == ("lab/herons", True)
    assert pushed.url == f"{hub.address}/datasets/lab/herons"
    there = hub.repos["lab/herons"]
    assert there.commits == ["herons: 3 pairs"]
    assert gl.read(there.check_out(tmp_path / "out")).collect().equals(pairs.collect())
    assert "license: cc-by-4.0" in there.files["README.md"].decode()


def test_an_existing_repository_gets_one_more_commit_and_keeps_no_split_that_is_gone(hub: Hub, pairs: gl.Pairs) -> None:
    pairs.push_to_hub("lab/herons")
    there = hub.repos["lab/herons"]
    there.files["data/notes.txt"] = b"written by a person"
    pushed = pairs.only(split=["train", "dev"]).push_to_hub("lab/herons", private=False)
    assert there.commits == ["herons: 3 pairs", "herons: 2 pairs"]
    assert sorted(name for name in there.files if name.startswith("data/")) == [
        "data/notes.txt",
        "data/train-00000-of-00001.parquet",
        "data/validation-00000-of-00001.parquet",
    ]
    assert pushed.private, "visibility is the owner's to change"


def test_the_command_pushes_what_it_may_also_keep(hub: Hub, tmp_path: Path) -> None:
    table = tmp_path / "herons.csv"
    table.write_text("premise;hypothesis;label\nTwo herons stand.;Birds stand.;entailment\n")
    folder = tmp_path / "kept"
    kept = run("data", "export", table, "--to", "hf", "--push", "lab/kept", "--public", "-o", folder, "--json")
    document = json.loads(kept.stdout)
    assert (document["repository"], document["private"], document["output"]) == ("lab/kept", False, str(folder))
    assert hub.repos["lab/kept"].files["README.md"] == (folder / "README.md").read_bytes()
    words = ("data", "export", table, "--to", "hf", "--push", "herons", "--licence", "MIT")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert f"url: {hub.address}/datasets/me/herons" in done.stdout
    assert "license: mit" in hub.repos["me/herons"].files["README.md"].decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["herons.csv", "kept"]
    again = run(*words, "--public", cwd=tmp_path)
    assert "me/herons was there already and stays private" in again.stderr


def test_the_token_of_a_login_does(hub: Hub, pairs: gl.Pairs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InputError, match=r"there is no token for http.*; run 'hf auth login', or put .* HF_TOKEN"):
        pairs.push_to_hub("lab/herons")
    (tmp_path / "token").write_text("right\n")
    assert pairs.push_to_hub("lab/herons").commit
    assert list(hub.repos) == ["lab/herons"]


@pytest.mark.parametrize(
    ("repository", "token", "message"),
    [
        ("lab/herons", "wrong", "lab/herons: the hub does not take this token"),
        ("locked/herons", "right", "locked/herons: this token may not write there; it needs the role 'write'"),
        ("a/b/c", "right", "'a/b/c' is no name of a repository .*; give ORG/NAME"),
    ],
)
def test_what_the_hub_refuses_is_one_line(
    hub: Hub, pairs: gl.Pairs, monkeypatch: pytest.MonkeyPatch, repository: str, token: str, message: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(InputError, match=message):
        pairs.push_to_hub(repository)
    assert not hub.repos


def test_a_hub_that_fails_midway_is_one_line(
    hub: Hub, pairs: gl.Pairs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A large file is refused while it is uploaded: the commit does not come, and the repository stays as it was."""
    plain = Hub.answer

    def refuse(self: Hub, method: str, path: str, token: str, body: bytes) -> tuple[int, object]:
        return (403, {"error": "quota"}) if path.startswith("/large/") else plain(self, method, path, token, body)

    monkeypatch.setattr(Hub, "answer", refuse)
    with pytest.raises(InputError, match="lab/herons: this token may not write there"):
        pairs.push_to_hub("lab/herons")
    assert not hub.repos["lab/herons"].commits


def test_no_network_is_one_line(hub: Hub, pairs: gl.Pairs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    pairs.write(tmp_path / "herons")
    done = run("data", "export", tmp_path / "herons", "--to", "hf", "--push", "lab/herons")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"goldlabel: lab/herons: {address} cannot be reached (")


def test_options_that_mean_nothing_together_are_refused(tmp_path: Path) -> None:
    done = run("data", "export", tmp_path, "--to", "csv", "--push", "lab/herons")
    assert "--push is for the hub's own layout, and --to csv is another; pass --to hf" in done.stderr
    assert (
        "--public is about the repository of --push" in run("data", "export", tmp_path, "--to", "hf", "--public").stderr
    )
