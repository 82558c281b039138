"""Files that belong together: joined where they come together, named where one is needed and absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldlabel.errors import InputError
from goldlabel.sources import add
from tests.sources.samples import EN, ZH, jsonl, rows


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def anli() -> str:
    return jsonl(
        *(
            {"uid": f"u{n}", "context": p, "hypothesis": h, "label": label[0], "reason": "So.", "tag": "r2_dev"}
            for n, (p, h, label) in enumerate(EN)
        )
    )


def test_verifiers_and_experts_are_joined_by_uid(tmp_path: Path, home: Path) -> None:
    given = write(
        tmp_path / "given",
        val_anli__jsonl=anli(),
        verifier_labels_R1__jsonl=jsonl(
            {"uid": "u2", "verifier labels": ["c", "n"]}, {"uid": "elsewhere", "verifier labels": ["e"]}
        ),
        ANLI_analysis_r2_dev__csv="uid,context,A1Code,A1Notes\nu2,A table.,"
        '"Numerical-Cardinal-Dates, Numerical-Ordinal",two lines\n',
    )
    added = add("anli", [given])
    frame = added.pairs.collect()
    joined = frame.row(2, named=True)
    assert joined["votes"] == ["contradiction", "neutral"]
    assert joined["tags"] == ["Numerical", "Numerical-Cardinal", "Numerical-Cardinal-Dates", "Numerical-Ordinal"]
    assert json.loads(joined["meta"])["analysis"] == {
        "A1Code": "Numerical-Cardinal-Dates, Numerical-Ordinal",
        "A1Notes": "two lines",
    }
    assert frame["votes"].list.len().to_list() == [0, 0, 2, 0]
    assert set(frame["round"]) == {"R2"}
    assert added.ignored == ()


def test_a_broken_companion_is_named(tmp_path: Path, home: Path) -> None:
    given = write(tmp_path / "given", val_anli__jsonl=anli(), verifier_labels__jsonl=jsonl({"id": "u2"}))
    with pytest.raises(InputError, match=r"verifier_labels\.jsonl row 1: field 'uid' is missing"):
        add("anli", [given])
    write(given, verifier_labels__jsonl="{not json")
    with pytest.raises(InputError, match=r"verifier_labels\.jsonl: cannot be read"):
        add("anli", [given])


def dnc(split: str, first: int) -> str:
    items = [
        {
            "pair-id": first + n,
            "context": p,
            "hypothesis": h,
            "label": 5 if n == 0 else 3,
            "binary-label": n == 0,
            "split": split,
            "type-of-inference": "KG",
        }
        for n, (p, h, _) in enumerate(EN)
    ]
    return json.dumps(items, indent=4)


def test_metadata_comes_from_the_same_folder(tmp_path: Path, home: Path) -> None:
    for split, first in (("train", 1), ("dev", 11)):
        metadata = [{"pair-id": first, "corpus": split, "corpus-sent-id": 7, "misc": None}]
        write(
            tmp_path / split,
            recast_kg_relations_data__json=dnc(split, first),
            recast_kg_relations_metadata__json=json.dumps(metadata),
        )
    added = add("dnc", [tmp_path / "train", tmp_path / "dev"])
    frame = added.pairs.collect()
    assert dict(zip(frame["id"], frame["group"], strict=True))["1"] == "train:7"
    assert dict(zip(frame["id"], frame["group"], strict=True))["11"] == "dev:7"
    assert frame["group"].null_count() == 6
    assert frame["label"].to_list().count("entailment") == 2
    assert {json.loads(meta)["label"] for meta in frame["meta"]} == {3, 5}
    assert added.ignored == ()


def test_winogender_sentences_about_the_same_people_are_one_group(tmp_path: Path, home: Path) -> None:
    ids = ("baker.neighbour.0.0.male", "baker.neighbour.1.0.female", "weaver.tourist.0.0.male")
    metadata = [{"pair-id": number, "corpus": "schemas", "corpus-sent-id": name} for number, name in enumerate(ids, 1)]
    write(
        tmp_path / "test",
        recast_winogender_data__json=dnc("test", 1),
        recast_winogender_metadata__json=json.dumps(metadata),
    )
    groups = add("dnc", [tmp_path / "test"]).pairs.collect()["group"].to_list()
    assert groups[:3] == ["schemas:baker.neighbour", "schemas:baker.neighbour", "schemas:weaver.tourist"]


def ocnli(number: int, premise: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "sentence1": premise, "sentence2": "水边有一只鸟。", "label": "neutral", **more}


def test_conditions_of_dev_and_test_follow_from_train(tmp_path: Path, home: Path) -> None:
    train = jsonl(
        ocnli(0, "甲。", prem_id="a"),
        ocnli(24_275, "乙。", prem_id="b"),
        ocnli(37_859, "丙。", prem_id="c"),
        ocnli(37_860, "丁。", prem_id="d"),
        ocnli(24_276, "丁。", prem_id="d"),
        ocnli(37_861, "戊。", prem_id="e"),
    )
    dev = jsonl(*(ocnli(n, "甲。", prem_id=name) for n, name in enumerate("abcd")))
    test = jsonl({"id": 0, "sentence1": "戊。", "sentence2": "有鸟。"})
    given = write(tmp_path / "given", **{"train.50k__json": train, "dev__json": dev, "test__json": test})
    frame = add("ocnli", [given]).pairs.collect()
    conditions = dict(zip(frame["id"], frame["condition"], strict=True))
    assert conditions["train-0"] == "single"
    assert [conditions[f"dev-{n}"] for n in range(4)] == [None, "multi-encourage", "multi-constraint", None]
    assert conditions["test-0"] == "multi-constraint"
    alone = add("ocnli", [given / "dev.json"]).pairs.collect()
    assert alone["condition"].null_count() == 4


def test_tautologies_are_joined_to_distractions(tmp_path: Path, home: Path) -> None:
    pairs = rows(ZH, "sentence1", "sentence2", "label", corpus="ocnli", category="distraction_hypo", condition="cond3")
    given = write(
        tmp_path / "given",
        distraction_hypo_final__json=jsonl(*pairs),
        distraction_tautology_condition__csv="condition,tautology\n3,水是湿的。\n",
    )
    frame = add("nli-stress-zh", [given]).pairs.collect()
    assert json.loads(frame["meta"][0])["tautology"] == {"condition": "3", "tautology": "水是湿的。"}
    assert set(frame["genre"]) == {"ocnli"}


def test_a_missing_sibling_is_named(tmp_path: Path, home: Path) -> None:
    given = write(tmp_path / "given", s1__dev="A kite flies .\n", s2__dev="It flies .\n")
    with pytest.raises(InputError, match=r"s1\.dev: its companion, a file named like labels\.dev, was not given"):
        add("esnli", [given])


def test_lines_that_do_not_belong_together(tmp_path: Path, home: Path) -> None:
    given = write(tmp_path / "given", s1__dev="A .\nB .\n", s2__dev="It flies .\n", labels__dev="neutral\nneutral\n")
    with pytest.raises(InputError, match=r"s2\.dev: has 1 lines where s1\.dev has 2; they do not belong together"):
        add("esnli", [given])


def test_marked_rows_stand_once(tmp_path: Path, home: Path) -> None:
    collected = jsonl(
        *({"premise": p, "hypothesis": h, "label": "neutral"} for p, h, _ in EN),
        {"premise": "A kite flies.", "hypothesis": "It flies.", "label": "entails", "in_official": "val"},
    )
    given = write(tmp_path / "given", scitail__jsonl=collected, dev__txt="A kite flies.\tIt flies.\t0\n")
    added = add("scitail", [given])
    assert [problem.message for problem in added.problems] == ["stands in the official dev file too, which was given"]
    assert added.pairs.to_dict()["splits"] == {"train": 4, "dev": 1}
