from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from goldlabel.errors import InputError
from goldlabel.evaluate.suites import SUITES
from goldlabel.leaderboard.board import open_board
from goldlabel.leaderboard.references import references_of
from goldlabel.web.leaderboard.app import create_board_app
from goldlabel.worker.scoring import score_once
from goldlabel.worker.work import keep_on
from tests.cli.commands import run
from tests.conftest import pair
from tests.web.site import listening

LABELS = ("entailment", "neutral", "contradiction")
MODEL = """
LABELS = ("entailment", "neutral", "contradiction")

def answer(premises, hypotheses):
    "Half of the time it knows the answer only if it sees the premise."
    rows = []
    for premise, hypothesis in zip(premises, hypotheses):
        number = int(hypothesis.split()[1].rstrip("."))
        known = number % 2 == 0 or premise.startswith("Heron")
        said = LABELS[number % 3] if known else "neutral"
        rows.append({label: 0.8 if label == said else 0.1 for label in LABELS})
    return rows
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        pair(pairID=f"{number}{label[0]}", sentence1=f"Heron {number} sleeps.", sentence2=f"Bird {number}.")
        | {"gold_label": label}
        for number in range(60)
        for label in [LABELS[number % 3]]
    ]
    path = tmp_path / "lake.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


@contextmanager
def served(folder: Path) -> Iterator[str]:
    board, store = open_board(folder)
    ended = threading.Event()
    worker = threading.Thread(target=keep_on, args=(lambda: score_once(board, store, "wren"), ended), daemon=True)
    with listening(create_board_app(board, store)) as address:
        worker.start()
        yield address
        ended.set()
        worker.join(timeout=60)
    store.close()


def test_from_init_to_the_site(tmp_path: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "board"
    made = run("leaderboard", "init", folder, pairs, "--title", "Lakes", "--json")
    assert json.loads(made.stdout)["suites"] == {"board": {"lake": {"pairs": 60, "labels": sorted(LABELS)}}}
    assert "Next: goldlabel" in run("leaderboard", "init", tmp_path / "other", pairs).stdout
    token = run("leaderboard", "token", folder, "Reed Lab").stdout.strip()
    (tmp_path / "knowing.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with served(folder) as address:
        send = ("leaderboard", "submit", "--to", address, "--token", token)
        done = run(*send, "knowing:answer", "--name", "Knowing", "--training", "nothing")
        assert (done.returncode, "100.0" in done.stdout, "rank 1" in done.stdout) == (0, True, True), done
        assert "mean without the premise" in done.stdout
        wrong = tmp_path / "wrong.csv"
        wrong.write_text("id,label\n0e,neutral\n", encoding="utf-8")
        refused = run(*send, wrong)
        assert (refused.returncode, "59 of 60 pairs of lake are not predicted" in refused.stdout) == (1, True), refused
        with (tmp_path / "large.csv").open("wb") as large:
            large.truncate(2 << 30)
        refused = run(*send, tmp_path / "large.csv")
        assert (refused.returncode, "2,048 MB; the leaderboard takes up to 64 MB" in refused.stderr) == (2, True)
        again = run(*send, "knowing:answer", "--name", "Knowing", "--training", "nothing")
        assert again.stdout == done.stdout, "it is the same submission"
        nobody = run("leaderboard", "submit", wrong, "--to", address, "--token", "guess")
        assert (nobody.returncode, "needs a token" in nobody.stderr) == (2, True)
        assert run("leaderboard", "withdraw", address, 2, "--token", token).returncode == 2
        done = run("leaderboard", "build", folder, "-o", tmp_path / "site", "--json")
        assert json.loads(done.stdout)["entries"] == 1
        assert "withdrawn" in run("leaderboard", "withdraw", address, 1, "--token", token).stdout
    gone = run("leaderboard", "submit", wrong, "--to", address, "--token", token)
    assert (gone.returncode, "cannot be reached" in gone.stderr) == (2, True)
    kinds = [step["kind"] for step in json.loads(run("leaderboard", "trail", folder, "--json").stdout)]
    assert kinds[0] == "board.made"
    assert kinds[-1] == "submission.withdrawn"
    assert "submission.refused" in kinds
    assert "1 tokens of Reed Lab withdrawn" in run("leaderboard", "token", folder, "Reed Lab", "--withdraw").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either --suite SUITE, once or more, or one or more PATHs"),
        (("lake.jsonl", "--suite", "cross"), "either --suite SUITE, once or more, or one or more PATHs"),
        (("lake.jsonl", "--references", "papers"), "--references is for a suite"),
        (("lake.jsonl", "lake.jsonl"), "two datasets are called 'lake'"),
        (("lake.jsonl", "--per-day", "9"), "cannot be"),
        (("lake.jsonl", "--split", "dev"), "has no dev split"),
        (("--suite", "recast", "--references", "magazines"), "'magazines' is not known"),
        (("--suite", "recast"), "there is no set to score by"),
        (("--suite", "recast", "--suite", "stress", "--suite-set", "language=zh"), "an option of one suite"),
    ],
)
def test_what_is_no_leaderboard(tmp_path: Path, pairs: Path, home: Path, words: Sequence[str], said: str) -> None:
    done = run("leaderboard", "init", tmp_path / "board", *words, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "board").exists()


def test_papers_rows_of_a_suite() -> None:
    rows = {row.name: row for row in references_of(SUITES.get("cross"), "papers", ["sick", "snli", "lake"])}
    assert rows["ESIM"].accuracies == {"sick": 0.57, "snli": 0.875}
    assert rows["BERT"].paper == "Zhang et al. 2020"
    recast = {row.name: row.accuracies for row in references_of(SUITES.get("recast"), "papers", ["puns", "winogender"])}
    assert recast["InferSent, fine-tuned"]["puns"] == pytest.approx(0.9008)
    with pytest.raises(InputError, match="knows no figures of papers"):
        references_of(SUITES.get("mine"), "papers", ["lake"])
