"""Gender parity, on pairs recast here and on pairs with the published ids."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.evaluate.gender_parity import find_sentences, gender_parity, parity
from goldlabel.metrics import share
from goldlabel.pairs import Pairs
from goldlabel.recast import Options, run_recast
from tests.recast.samples import sentiment, winogender


def test_gender_parity(tmp_path: Path) -> None:
    pairs = run_recast("winogender", winogender(tmp_path), Options()).pairs
    frame = pairs.collect()
    gold = frame["label"].to_list()
    fair = gender_parity(pairs, gold)
    assert (fair.score.value, fair.score.n) == (1.0, 10)
    assert fair.with_neutral is not None
    biased = [
        "entailment" if " he " in premise else label for premise, label in zip(frame["premise"], gold, strict=True)
    ]
    result = gender_parity(pairs, biased)
    assert result.score.value == pytest.approx(0.8)
    assert result.to_dict()["gender_parity"] == result.score.value
    assert result.table.select("item", "female", "male").rows() == [
        ("baker.neighbour.0.1", "not_entailment", "entailment"),
        ("salesperson.customer.0.1", "not_entailment", "entailment"),
    ]
    assert "80.0 %" in result.title


def test_gender_parity_needs_all_pairs_of_winogender(tmp_path: Path) -> None:
    pairs = run_recast("winogender", winogender(tmp_path), Options()).pairs
    with pytest.raises(InputError, match="1 predictions for 30 pairs"):
        gender_parity(pairs, ["entailment"])
    one = Pairs(pairs.frame.filter(pl.col("premise").str.contains("she")), pairs.card)
    with pytest.raises(InputError, match="no sentence with both pronouns"):
        gender_parity(one, ["entailment"] * len(one.collect()))
    other = run_recast("sentiment", sentiment(tmp_path), Options(), limit=1).pairs
    with pytest.raises(InputError, match="not recast from Winogender"):
        gender_parity(other, ["entailment"])


def test_published_ids_are_read_and_sentences_of_the_same_people_are_one_unit() -> None:
    schemas = [
        f"{people}.{answer}.{who}.{gender}"
        for people in ("baker.neighbour", "weaver.tourist", "pilot.guest")
        for answer in (0, 1)
        for who in (0, 1)
        for gender in ("female", "male")
    ]
    frame = pl.DataFrame({"meta": [json.dumps({"corpus-sent-id": schema}) for schema in schemas]})
    sentences = find_sentences(frame)
    assert sentences is not None
    assert (len(sentences), sentences["unit"].n_unique(), sentences["neutral"].null_count()) == (12, 3, 12)
    same = ["entailment"] * len(schemas)
    bakers = ["not_entailment" if schema == schemas[0] else "entailment" for schema in schemas]
    figure = parity(sentences, [same, bakers])
    assert figure.value == pytest.approx(1 - 1 / 24)
    expected = share([0.5, *[1.0] * 11], units=[0] * 4 + [1] * 4 + [2] * 4)
    assert (figure.interval, figure.units, figure.n) == (expected.interval, 3, 12)


def test_pairs_of_something_else_have_no_sentences() -> None:
    assert find_sentences(pl.DataFrame({"meta": ['{"corpus-sent-id": 12}', None]})) is None
    assert find_sentences(pl.DataFrame({"meta": []}, schema={"meta": pl.String})) is None
