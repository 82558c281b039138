from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.audit import audit, parse_bound
from goldlabel.audit.findings import information
from goldlabel.errors import InputError, UnknownNameError
from goldlabel.pairs import Pairs
from goldlabel.pairs.splits import Ratios
from goldlabel.sources.fragments.making import fragment_pairs
from tests.audit.conftest import make_pairs

KEYS = {
    "pairs", "labels", "pmi", "hypothesis_only", "overlap", "length", "negators", "leakage", "tags", "foreign_text",
}  # fmt: skip


def undefined(value: Any) -> bool:
    """Whether anything in a document is NaN or infinite."""
    if isinstance(value, dict):
        return any(undefined(part) for part in value.values())
    if isinstance(value, list):
        return any(undefined(part) for part in value)
    return isinstance(value, float) and not math.isfinite(value)


def test_the_plant_is_named_first_with_examples(planted: Pairs) -> None:
    found = audit(planted, "genre", curve=True, models=("majority",), agreement=True)
    first = found.findings[0]
    assert (first["kind"], first["evidence"]["label"]) == ("negation", "contradiction")
    assert first["evidence"]["count"] == 95
    rows = planted.only(id=first["evidence"]["examples"]).collect()
    assert rows["hypothesis"].str.contains("never").all()
    assert found.whole["hypothesis_only"]["significant"]
    assert "give away" in found.verdict
    assert set(found.groups) == {"all", "log", "mail"}
    assert all(set(group) >= KEYS for group in found.groups.values())
    document = json.loads(json.dumps(found.to_dict()))
    assert not undefined(document)
    assert document["groups"]["all"]["hypothesis_only"].keys() >= {"accuracy", "interval", "majority", "gain"}
    assert document["groups"]["all"]["pmi"][0].keys() == {"word", "label", "pmi", "count", "total"}
    assert document["groups"]["all"]["agreement"] is None
    assert "hypothesis-only" in found._repr_html_()
    assert found.table["pairs"].to_list() == [300, 150, 150]
    told = found.predictions()
    assert len(told) == 300
    assert len(found.hard_subset()) == (told["label"] != told["predicted"]).sum()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("artifact", "kind"),
    [
        ("negation:contradiction:0.8", "negation"),
        ("number:neutral:0.8", "number"),
        ("length:entailment:0.8", "length"),
        ("overlap:contradiction:0.8", "overlap"),
        ("quantifier:neutral:0.8", "quantifier"),
        ("word=在:neutral:0.8", "word"),
    ],
)
def test_what_the_generator_plants_comes_first(language: str, artifact: str, kind: str) -> None:
    artifact = artifact.replace("在", "昨天" if language == "zh" else "monday")
    found = audit(fragment_pairs(language, 4000, artifact=artifact, seed=5), near=False)
    first = found.findings[0]
    assert (first["kind"], first["evidence"]["label"]) == (kind, artifact.split(":")[1])
    if kind == "word":
        assert first["evidence"]["feature"] in artifact


@pytest.mark.parametrize(("language", "seed"), [("en", 0), ("en", 2), ("zh", 0), ("zh", 2)])
def test_pairs_without_an_artifact_show_no_gain(language: str, seed: int) -> None:
    found = audit(fragment_pairs(language, 3000, seed=seed), near=False)
    assert not found.whole["hypothesis_only"]["significant"]
    assert "no significant gain at the level 0.05" in found.verdict
    assert [one for one in found.findings if not one["kind"].startswith("overlap")] == []


def test_languages_may_be_mixed(planted: Pairs) -> None:
    chinese = fragment_pairs("zh", 90).collect()
    both = Pairs.from_frame(
        pl.concat([planted.collect(), chinese]).sample(fraction=1, shuffle=True, seed=1), planted.card
    )
    found = audit(both)
    assert set(found.whole["negators"]) == {"en", "zh"}
    assert found.whole["tags"]["negation"]["pairs"] == 390
    assert found.whole["foreign_text"]["total"] == 90
    alone = audit(planted, near=False)
    assert found.whole["negators"]["en"] == alone.whole["negators"]["en"]


def test_leaks_and_duplicates_become_findings(planted: Pairs) -> None:
    split = planted.split(Ratios(ratios="60:20:20", by="pair")).pairs
    other = make_pairs(*planted.collect().head(7).select("premise", "hypothesis", "label").iter_rows(), name="older")
    found = audit(split, against=[other], near=False)
    kinds = {one["kind"]: one for one in found.findings}
    assert kinds["leak_against"]["evidence"]["shared_pairs"] == 7
    assert kinds["shared_premises"]["evidence"]["examples"]
    assert found.findings[0]["kind"] == "negation"


def test_label_errors_carry_ids(planted: Pairs) -> None:
    found = audit(planted, label_errors="linear", near=False)
    assert found.label_errors is not None
    assert set(found.label_errors.candidates["id"]) <= set(planted.collect()["id"])
    assert found.to_dict()["label_errors"]["pairs"] == 300


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (make_pairs(), {}, "tiny: there are no pairs to audit"),
        (make_pairs(("p", "h", "-")), {}, "none of the 1 pairs has a gold label"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "-")), {}, "all pairs with a gold label are 'neutral'"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "entailment")), {}, "too few for 5 folds"),
        (make_pairs(("p", "h", "neutral")), {"by": "genere"}, "no column 'genere' to group by; did you mean 'genre'"),
        (make_pairs(("p", "h", "neutral")), {"by": "votes"}, "no column 'votes'"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "entailment")), {"by": "level"}, "'level' is empty"),
        (make_pairs(("p", "h", "neutral")), {"level": 1.5}, "not between 0 and 1"),
        (make_pairs(("p", "h", "neutral")), {"top": 0}, "1 or more"),
    ],
)
def test_bad_input_is_one_clear_line(pairs: Pairs, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(pairs, **options)


def test_too_many_groups_are_refused() -> None:
    rows = (
        {"premise": f"p{n}", "hypothesis": "h", "label": ("neutral", "entailment")[n % 2], "writer": f"w{n}"}
        for n in range(201)
    )
    with pytest.raises(InputError, match="at most 200 groups"):
        audit(make_pairs(*rows), by="writer")


def test_unknown_names_are_refused(planted: Pairs) -> None:
    with pytest.raises(UnknownNameError, match="no tokenizer 'wrods'; did you mean 'words'"):
        audit(planted, tokenizer="wrods")
    with pytest.raises(UnknownNameError, match="no model"):
        audit(planted, models=("lineer",))


def test_bounds(planted: Pairs) -> None:
    found = audit(planted, near=False)
    assert parse_bound("hypothesis_only_gain > 0.15").trips(found)
    assert parse_bound("hypothesis_only_gain>=15%").trips(found)
    assert not parse_bound("duplicates>0").trips(found)
    assert parse_bound("pmi<9").trips(found)
    for text in ("gain", "gain=1", "gain>high", ">3"):
        with pytest.raises(InputError, match="MEASURE>NUMBER"):
            parse_bound(text)
    with pytest.raises(InputError, match="did you mean 'hypothesis_only_gain'"):
        parse_bound("hypothesis_only_gian>0.1").trips(found)
    with pytest.raises(InputError, match="undefined"):
        parse_bound("foreign_text_share>0.1").trips(found)


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=10))
def test_information_is_that_of_scikit_learn(rows: list[tuple[int, int, int]]) -> None:
    from sklearn.metrics import mutual_info_score

    totals = np.array([40, 45, 50])
    for row, bits in zip(rows, information(np.array(rows), totals), strict=True):
        table = np.array([row, totals - np.array(row)])
        assert bits == pytest.approx(mutual_info_score(None, None, contingency=table) / math.log(2), abs=1e-9)


def test_snli_shows_its_known_artifacts(corpora: Path) -> None:
    found = audit(gl.read(corpora / "snli" / "snli_train_part.jsonl.gz"), near=False)
    assert 0.60 < found.whole["hypothesis_only"]["accuracy"] < 0.68
    features = {one["evidence"].get("feature") for one in found.findings}
    assert "sleeping" in {row["word"] for row in found.whole["pmi_by_label"]["contradiction"]} | features
    assert abs(found.whole["premise_only"]["gain"]) < 0.1
