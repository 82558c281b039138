"""The verbs over encoders and endpoints, given by their names."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.models.endpoint import calls
from tests.cli.commands import run
from tests.evaluate.samples import make_pairs
from tests.models.endpoint_server import LABELS, serve

GOLD = [LABELS[number % 3] for number in range(30)]
PRICES = ("--set", "price_in=2", "--set", "price_out=10", "--set", "answers=free")


def test_an_encoder_is_predicted_scored_and_compared(tmp_path: Path) -> None:
    checkpoints = pytest.importorskip("tests.models.checkpoints")
    folder = checkpoints.make_classifier(tmp_path / "classifier", labels=("neutral", "entailment", "contradiction"))
    pairs, name = make_pairs(GOLD), f"hf:{folder}"
    done = gl.predict(name, pairs, tmp_path / "answers.csv", device="cpu")
    assert (done.pairs, done.unanswered, done.usage) == (30, 0, None)
    by_name = gl.score(name, pairs, device="cpu").to_dict()["scores"]
    assert gl.score(tmp_path / "answers.csv", pairs).to_dict()["scores"] == by_name
    same = gl.compare(name, tmp_path / "answers.csv", pairs, device="cpu")
    assert (same.whole.difference.value, same.p_value) == (0, 1)
    refused = run("score", name, tmp_path / "answers.csv", "--set", "colour=red")
    assert refused.returncode == 2


def test_an_endpoint_tells_what_it_cost_and_stops_at_its_budget(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.01)
    monkeypatch.delenv(calls.KEY, raising=False)
    make_pairs(GOLD).write(tmp_path / "birds")
    with serve() as server:
        predict = ("predict", server.reference, tmp_path / "birds", "-o", tmp_path / "answers.parquet", "--json")
        poor = run(*predict, *PRICES, "--budget", "0.01")
        assert poor.returncode == 0, poor.stderr
        first = json.loads(poor.stdout)
        assert 0 < first["unanswered"] < 30
        assert 0 < first["usage"]["cost"] <= 0.01
        assert f"{first['unanswered']} pairs have no answer: the budget was used up\n" in poor.stderr
        assert f"{first['unanswered']} of 30 pairs have no answer; their label is '-'" in poor.stderr
        rich = run(*predict, *PRICES)
        second = json.loads(rich.stdout)
        assert second["unanswered"] == 0
        assert second["usage"]["cached"] == 30 - first["unanswered"]
        assert second["usage"]["calls"] == first["unanswered"]
        cost = f"cost {second['usage']['cost']:,.4f}"
        assert f"30 of 30 pairs answered; {second['usage']['tokens_in']:,} tokens sent" in rich.stderr
        assert f"received, {cost}" in rich.stderr
        assert pl.read_parquet(tmp_path / "answers.parquet")["label"].to_list() == GOLD
        scored = json.loads(run("score", server.reference, tmp_path / "birds", *PRICES, "--json").stdout)
    assert scored["scores"]["birds"]["accuracy"] == 1
    assert scored["usage"]["cost"] == 0
    assert run("score", tmp_path / "answers.parquet", tmp_path / "birds", "--budget", "1").returncode == 2


def test_an_endpoint_that_answers_no_pair_is_told_why(home: Path) -> None:
    pairs = make_pairs(GOLD[:6])
    with (
        serve(answer=lambda body: "It depends.") as server,
        pytest.raises(
            InputError, match=r"answered none of these 6 pairs: 6: the reply is no label word \(It depends.\)"
        ),
    ):
        gl.score(server.reference, pairs, answers="free")
    with serve(answer=lambda body: "") as server, pytest.raises(InputError, match=r"6: the reply is empty$"):
        gl.compare(server.reference, server.reference, pairs)


def test_an_endpoint_answers_in_the_labels_of_the_data(home: Path) -> None:
    gold = ["entailment", "not_entailment"] * 3
    pairs = make_pairs(gold, space=gl.label_space("nli2"))
    with serve(answer=lambda body: "not entailment") as server:
        scores = gl.score(server.reference, pairs, answers="free").scores["birds"]
    assert scores.convention == "the same labels"
    assert scores.whole.confusion["entailment"] == {"entailment": 0, "not_entailment": 3}
