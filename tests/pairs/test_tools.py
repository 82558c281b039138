"""Exports of other annotation tools, in the shapes that these write; all sentences are invented."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import GoldlabelError, InputError
from goldlabel.pairs.tools.reading import read_tool
from goldlabel.verify import verify

TEXTS = {"premise": "Ein Boot liegt am Steg.", "hypothesis": "Am Steg liegt etwas."}


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    lines = "".join(json.dumps(row) + "\n" for row in content) if name.endswith(".jsonl") else json.dumps(content)
    path.write_text(content if isinstance(content, str) else lines, encoding="utf-8")
    return path


def choice(label: str, name: str = "nli") -> dict[str, Any]:
    return {"id": "r1", "from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [label]}}


def task(**changes: Any) -> dict[str, Any]:
    annotations = [
        {"id": 1, "completed_by": 7, "lead_time": 4.5, "was_cancelled": False, "result": [choice("entailment")]},
        {"id": 2, "completed_by": {"id": 8, "email": "a@b.example"}, "result": [choice("Entailment")]},
        {"id": 3, "completed_by": 9, "result": [choice("neutral")]},
        {"id": 4, "completed_by": 10, "was_cancelled": True, "result": [choice("neutral")]},
        {"id": 5, "completed_by": 11, "result": []},
    ]
    predictions = [{"model_version": "esim", "score": 0.9, "result": [choice("neutral")]}]
    data = {**TEXTS, "genre": "letters", "page": 3}
    return {"id": 12, "data": data, "annotations": annotations, "predictions": predictions, "project": 1, **changes}


def test_label_studio(tmp_path: Path) -> None:
    pairs = read_tool([written(tmp_path, "export.json", [task()])], "label-studio")
    (row,) = pairs.collect().iter_rows(named=True)
    assert (row["id"], row["genre"], row["label"]) == ("12", "letters", "-")
    assert row["votes"] == ["entailment", "entailment", "neutral"]
    meta = json.loads(row["meta"])
    assert meta["annotators"] == ["7", "8", "9"]
    assert meta["seconds"] == [4.5, None, None]
    assert meta["suggestions"] == [{"source": "esim", "label": "neutral", "score": 0.9}]
    assert meta["page"] == 3
    result = verify(pairs, resamples=0)
    assert result.pairs.collect()["label"].to_list() == ["entailment"]


def test_label_studio_in_rows(tmp_path: Path) -> None:
    head = "id,premise,hypothesis,nli,annotator,annotation_id,created_at,updated_at,lead_time\n"
    rows = [f"5,A boat.,Something.,{label},{person},{person},x,y,2.5\n" for person, label in ((1, "neutral"), (2, "e"))]
    path = written(tmp_path, "export.csv", head + "".join(rows))
    (row,) = read_tool([path], "label-studio", question="nli").collect().iter_rows(named=True)
    assert (row["premise"], row["hypothesis"], row["votes"]) == ("A boat.", "Something.", ["neutral", "entailment"])
    assert json.loads(row["meta"])["seconds"] == [2.5, 2.5]


def test_a_question_is_named_where_there_are_several(tmp_path: Path) -> None:
    annotation = {"id": 1, "completed_by": 7, "result": [choice("neutral"), choice("good", "quality")]}
    path = written(tmp_path, "export.json", [task(annotations=[annotation], predictions=[])])
    with pytest.raises(InputError, match=r"item 1: holds answers to nli, quality; name the one meant with --question"):
        read_tool([path], "label-studio")
    assert read_tool([path], "label-studio", question="nli").collect()["votes"].to_list() == [["neutral"]]


RECORD = {
    "id": "r-1",
    "fields": {"text_a": "A boat.", "text_b": "Something."},
    "metadata": {"page": 3},
    "suggestions": {"label": {"value": "contradiction", "score": None, "agent": "esim"}},
    "responses": {"label": [{"value": "neutral", "user_id": "u1"}, {"value": "neutral", "user_id": "u2"}]},
    "vectors": {},
    "_server_id": "s",
}


def test_argilla(tmp_path: Path) -> None:
    (row,) = read_tool([written(tmp_path, "records.json", [RECORD])], "argilla").collect().iter_rows(named=True)
    assert (row["id"], row["premise"], row["votes"]) == ("r-1", "A boat.", ["neutral", "neutral"])
    meta = json.loads(row["meta"])
    assert (meta["annotators"], meta["page"]) == (["u1", "u2"], 3)
    assert meta["suggestions"][0] == {"source": "esim", "label": "contradiction", "score": None}


def test_potato_with_its_items(tmp_path: Path) -> None:
    items = written(tmp_path, "items.jsonl", [{"id": "i1", **TEXTS}, {"id": "i2", **TEXTS}])
    new = [
        {"instance_id": "i1", "user_id": "ann", "labels": {"nli": {"entailment": "1"}}, "spans": {}},
        {"instance_id": "i1", "user_id": "bob", "labels": {"nli": {"neutral": True}}},
    ]
    old = [{"user_id": "cat", "instance_id": "i2", "displayed_text": "…", "label_annotations": {"nli": {"neutral": 1}}}]
    files = [written(tmp_path, "annotations.jsonl", new), written(tmp_path, "annotated_instances.jsonl", old), items]
    rows = {row["id"]: row for row in read_tool(files, "potato").collect().iter_rows(named=True)}
    assert rows["i1"]["votes"] == ["entailment", "neutral"]
    assert json.loads(rows["i2"]["meta"])["annotators"] == ["cat"]
    assert read_tool([tmp_path], "potato").collect()["votes"].list.len().sum() == 3
    table = written(tmp_path, "a.csv", "instance_id,user_id,nli.entailment,nli.neutral\ni1,dan,,neutral\n")
    assert read_tool([table, items], "potato").collect()["votes"].to_list() == [["neutral"], []]
    with pytest.raises(InputError, match=r"annotations.jsonl line 1: no file given holds the item 'i1'; bring"):
        read_tool(files[:1], "potato")


def test_doccano_with_a_file_for_each_annotator(tmp_path: Path) -> None:
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name, labels in (("ann", ["neutral"]), ("bob", ["entailment"]), ("unknown", [])):
            row = {
                "id": 3,
                "text": TEXTS["premise"],
                "hypothesis": TEXTS["hypothesis"],
                "label": labels,
                "Comments": [],
            }
            archive.writestr(f"{name}.jsonl", json.dumps(row) + "\n")
    (row,) = read_tool([packed], "doccano").collect().iter_rows(named=True)
    assert (row["premise"], row["votes"]) == (TEXTS["premise"], ["neutral", "entailment"])
    assert json.loads(row["meta"])["annotators"] == ["ann", "bob"]
    table = written(tmp_path, "all.csv", "id,text,hypothesis,label\n1,A boat.,Something.,neutral\n")
    assert read_tool([table], "doccano").collect()["votes"].to_list() == [["neutral"]]


@pytest.mark.parametrize(
    ("tool", "name", "content", "told"),
    [
        (
            "label-studio",
            "a.json",
            [{"fields": {}}],
            r"item 1: has no field 'data' as Label Studio writes",
        ),
        ("argilla", "a.json", [task()], r"item 1: has no field 'fields' as Argilla writes it, but id, data"),
        ("doccano", "a.jsonl", [{"id": 1, "data": "x"}], r"line 1: has no field 'text' as doccano writes it"),
        ("potato", "a.jsonl", [{"text": "x"}], r"line 1: has no field 'id' as Potato writes it"),
        ("doccano", "a.jsonl", [{"id": 1, "text": "x", "label": ["a", "b"]}], r"line 1: 2 labels were chosen at once"),
        ("doccano", "a.jsonl", [{"id": 1, "text": "x", "label": ["neutral"]}], r"line 1: no text is the hypothesis"),
        ("doccano", "a.jsonl", [{"id": 1, **TEXTS, "text": "x", "label": ["ja"]}], r"label 'ja' is not one of"),
        ("doccano", "a.jsonl", '{"id": 1\n', r"a.jsonl line 1: is not valid JSON"),
        ("doccano", "a.xlsx", "x", r"a.xlsx: exports of annotation tools end in .json, .jsonl, .csv"),
        ("doccano", "a.json", [], r"a.json: holds no items of doccano"),
        ("prodigy", "a.json", [], r"there is no annotation tool 'prodigy'; "),
    ],
)
def test_what_is_not_such_an_export(tmp_path: Path, tool: str, name: str, content: Any, told: str) -> None:
    with pytest.raises(GoldlabelError, match=told):
        read_tool([written(tmp_path, name, content)], tool)


WHOLE: dict[str, list[Any]] = {
    "label-studio": [
        task(),
        {"annotation_id": 3, **TEXTS, "id": 4, "label": "neutral", "annotator": 1, "lead_time": 2},
    ],
    "argilla": [RECORD],
    "doccano": [{"id": 3, "text": TEXTS["premise"], "hypothesis": TEXTS["hypothesis"], "label": ["neutral"]}],
    "potato": [{"id": "i1", **TEXTS}, {"instance_id": "i1", "user_id": "ann", "labels": {"nli": {"neutral": "1"}}}],
}
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), SCALARS, max_size=2)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything in a value, itself first."""
    yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*way, key))


def replaced(value: Any, way: tuple[Any, ...], by: Any) -> Any:
    """Return a copy of a value in which another stands at the end of a way."""
    if not way:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(copy[way[0]], way[1:], by)
    return copy


@pytest.mark.parametrize("tool", WHOLE)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_whatever_stands_anywhere_in_an_export_is_read_or_refused(
    tool: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    way = data.draw(st.sampled_from(list(places(WHOLE[tool]))[1:]))
    changed = replaced(WHOLE[tool], way, data.draw(VALUES))
    path = written(tmp_path_factory.getbasetemp(), f"{tool}-changed.json", changed)
    with suppress(GoldlabelError):
        assert len(read_tool([path], tool)) <= 2


def test_labels_and_texts_under_other_names(tmp_path: Path) -> None:
    row = {"id": 1, "text": "A boat.", "claim": "Something.", "label": ["ja"]}
    pairs = read_tool(
        [written(tmp_path, "a.jsonl", [row])],
        "doccano",
        label_map={"ja": "entailment"},
        columns={"hypothesis": "claim"},
    )
    assert pairs.collect().select("hypothesis", "votes").rows() == [("Something.", ["entailment"])]
