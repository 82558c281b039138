from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs
from goldlabel.recast import Options, check_recast, run_recast
from goldlabel.recast.dnc import encode_release, write_release
from tests.recast.samples import puns, sentiment


@pytest.fixture
def ours(tmp_path: Path) -> Pairs:
    return run_recast("sentiment", sentiment(tmp_path / "given"), Options(style="dnc")).pairs


def test_a_recast_is_faithful_to_itself(ours: Pairs, tmp_path: Path) -> None:
    write_release(ours, tmp_path / "release", "sentiment")
    result = check_recast("sentiment", ours, [tmp_path / "release"])
    assert result.published == result.ours == result.matched == len(ours)
    assert result.contexts_identical == result.hypotheses_identical == result.labels_identical == result.matched
    assert (result.items_identical, result.names_put_in, result.differences) == (result.items, 0, [])


def test_published_names_are_put_in_the_place_of_ours(ours: Pairs, tmp_path: Path) -> None:
    other = run_recast("sentiment", sentiment(tmp_path / "given"), Options(style="dnc", seed=9)).pairs
    write_release(other, tmp_path / "release", "sentiment")
    result = check_recast("sentiment", ours, [tmp_path / "release"])
    assert result.contexts_identical == result.hypotheses_identical == result.matched
    assert result.names_put_in > 40
    strict = check_recast("sentiment", ours, [tmp_path / "release"], published_names=False)
    assert strict.contexts_identical < 20
    assert strict.matched == result.matched


def test_names_in_puns(tmp_path: Path) -> None:
    runs = [run_recast("puns", puns(tmp_path / "given"), Options(style="dnc", seed=seed)).pairs for seed in (0, 1)]
    write_release(runs[1], tmp_path / "release", "puns")
    result = check_recast("puns", runs[0], [tmp_path / "release"])
    assert result.contexts_identical == result.matched == result.published


def test_differences_are_counted_and_shown(ours: Pairs, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    metadata = []
    frame = ours.collect().head(4)
    for number, (premise, hypothesis, label) in enumerate(frame.select("premise", "hypothesis", "label").iter_rows()):
        rows.append(
            {
                "pair-id": number,
                "context": f"{premise}!" if number == 0 else premise,
                "hypothesis": hypothesis,
                "binary-label": (label == "entailment") != (number == 2),
            }
        )
        metadata.append({"pair-id": number, "corpus-sent-id": f"amazon_cells_labelled.txt {1 + number // 2}"})
    rows.append(rows[0] | {"pair-id": 9})
    metadata.append({"pair-id": 9, "corpus-sent-id": "unknown 1"})
    (tmp_path / "recast_sentiment_data.json").write_bytes(encode_release(rows))
    (tmp_path / "recast_sentiment_metadata.json").write_bytes(encode_release(metadata))
    result = check_recast("sentiment", ours, [tmp_path])
    assert (result.published, result.matched) == (5, 4)
    assert (result.contexts_identical, result.hypotheses_identical, result.labels_identical) == (3, 4, 3)
    assert (result.items, result.items_identical) == (2, 1)
    assert [one["differ"] for one in result.to_dict()["differences"]] == [["contexts"], ["labels"]]
    assert result.to_dict()["differences"][1]["published"]["label"] == "not_entailment"
    assert check_recast("sentiment", ours, [tmp_path], shown=1).differences == result.differences[:1]
    assert result.table["share"].to_list() == ["75.0 %", "100.0 %", "75.0 %", "50.0 %"]
    assert "4 matched" in result.title


def test_what_has_another_id_is_found_by_its_text(ours: Pairs, tmp_path: Path) -> None:
    write_release(ours, tmp_path / "release", "sentiment")
    for path in (tmp_path / "release").rglob("*_metadata.json"):
        rows = json.loads(path.read_bytes())
        path.write_bytes(encode_release([row | {"corpus-sent-id": row["pair-id"]} for row in rows]))
    result = check_recast("sentiment", ours, [tmp_path / "release"])
    assert result.matched == result.matched_by_text == result.labels_identical == len(ours)


def test_numbers_that_begin_anew_in_each_split_do_not_cross(tmp_path: Path) -> None:
    table = "number,part,text\n1,train,A bell rang.\n1,dev,A bell broke!\n"
    (tmp_path / "log.csv").write_text(table)
    plan = "id: part\nsplit: part\npremise: '{text}'\nhypotheses: [{text: 'Bell {part}.', label: entailment}]\n"
    (tmp_path / "plan.yaml").write_text(plan)
    import polars as pl

    pairs = run_recast("template", [tmp_path / "log.csv", tmp_path / "plan.yaml"], Options(style="dnc")).pairs
    numbered = pl.col("meta").str.replace('"source_id":"(train|dev)"', '"source_id":"1"')
    pairs = Pairs(pairs.frame.with_columns(numbered), pairs.card)
    row = {"context": "A bell broke.", "hypothesis": "A bell is broken.", "binary-label": True, "split": "dev"}
    (tmp_path / "recast_template_data.json").write_bytes(encode_release([row | {"pair-id": 1}]))
    (tmp_path / "recast_template_metadata.json").write_bytes(encode_release([{"pair-id": 1, "corpus-sent-id": 1}]))
    result = check_recast("template", pairs, [tmp_path / "recast_template_data.json"])
    assert result.differences[0]["ours"]["context"] == "A bell broke!"


def test_pairs_without_a_source_id_are_refused(ours: Pairs, tmp_path: Path) -> None:
    import polars as pl

    write_release(ours, tmp_path / "release", "sentiment")
    bare = Pairs(ours.frame.with_columns(pl.lit(None, pl.String).alias("meta")), ours.card)
    with pytest.raises(InputError, match="without a source id"):
        check_recast("sentiment", bare, [tmp_path / "release"])
