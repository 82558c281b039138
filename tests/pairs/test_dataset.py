from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import datasets
import mlcroissant
import polars as pl
import pytest
import yaml

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs.arrow import SCHEMA
from goldlabel.pairs.card import CARD, Card
from goldlabel.pairs.record import DTYPES
from goldlabel.pairs.writing import DatasetWriter
from tests.conftest import pair
from tests.pairs.test_reading import NASTY

Write = Callable[..., Path]


@pytest.fixture
def pairs(jsonl: Write) -> gl.Pairs:
    rows = [row | {"split": split} for row, split in zip(NASTY, ("train", "dev", "test", "train") * 2, strict=False)]
    return gl.read(jsonl(*rows, pair(pairID="m", tags=["negation"], extra={"a": 1}, genre="news", split="train")))


def by_id(pairs: gl.Pairs) -> pl.DataFrame:
    return pairs.collect().sort("id")


def test_dataset_folder_round_trip(pairs: gl.Pairs, tmp_path: Path) -> None:
    written = pairs.write(tmp_path / "out")
    assert by_id(written).equals(by_id(pairs))
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "README.md",
        "card.json",
        "croissant.json",
        "dev.parquet",
        "test.parquet",
        "train.parquet",
    ]
    assert written.card.files[0].pairs == written.to_dict()["splits"]["train"]
    assert pl.read_parquet_schema(tmp_path / "out" / "dev.parquet").names() == SCHEMA.names


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet"])
def test_export_and_read_back(pairs: gl.Pairs, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert pairs.export(path, name.split(".")[1]) == len(pairs)
    assert by_id(gl.read(path)).equals(by_id(pairs))


def test_exported_jsonl_is_snlis(pairs: gl.Pairs, tmp_path: Path) -> None:
    pairs.export(tmp_path / "a.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"gold_label", "sentence1", "sentence2", "annotator_labels", "pairID"} <= rows[0].keys()
    assert rows[-1]["meta"] == {"extra": {"a": 1}}


def test_hugging_face_folder_both_ways(pairs: gl.Pairs, tmp_path: Path) -> None:
    pairs.write(tmp_path / "hf", hf=True)
    loaded = datasets.load_dataset(str(tmp_path / "hf"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(split) for name, split in loaded.items()} == {"train": 4, "validation": 2, "test": 2}
    assert loaded["train"]["label"][0] == "entailment"
    loaded.save_to_disk(str(tmp_path / "saved"))
    assert by_id(gl.read(tmp_path / "saved")).drop("dataset").equals(by_id(pairs).drop("dataset"))


def test_hugging_face_class_labels_become_words(tmp_path: Path) -> None:
    features = datasets.Features(
        {
            "premise": datasets.Value("string"),
            "hypothesis": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["entailment", "neutral", "contradiction"]),
            "idx": datasets.Value("int32"),
        }
    )
    rows = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": [2, -1], "idx": [7, 8]}
    dataset = datasets.Dataset.from_dict(rows, features=features)
    dataset.save_to_disk(str(tmp_path / "one"))
    (tmp_path / "hub").mkdir()
    dataset.to_parquet(str(tmp_path / "hub" / "validation-00000-of-00001.parquet"))
    for folder, split in (("one", "none"), ("hub", "dev")):
        frame = gl.read(tmp_path / folder).collect()
        assert frame["label"].to_list() == ["contradiction", "-"]
        assert frame["split"].to_list() == [split] * 2
        assert json.loads(frame["meta"][0]) == {"idx": 7}


def test_half_a_hugging_face_folder_is_refused(pairs: gl.Pairs, tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"premise": ["a"]}).save_to_disk(str(tmp_path / "one"))
    (tmp_path / "one" / "dataset_info.json").unlink()
    with pytest.raises(InputError, match="not a complete Hugging Face dataset folder"):
        gl.read(tmp_path / "one")


@pytest.mark.filterwarnings("ignore")  # mlcroissant warns about rdflib and pandas under it
def test_card_in_three_forms(pairs: gl.Pairs, tmp_path: Path) -> None:
    card = Card(
        name="herons", licence="CC BY-SA 4.0", paper="Heron (2020)", source="https://example.org", description="Birds."
    )
    folder = tmp_path / "out"
    written = gl.Pairs(pairs.frame, card).write(folder)
    assert Card.from_dict(json.loads((folder / CARD).read_text())) == written.card
    front = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert front["license"] == "cc-by-sa-4.0"
    assert front["task_ids"] == ["natural-language-inference"]
    assert front["configs"][0]["data_files"][1] == {"split": "validation", "path": "dev.parquet"}
    croissant = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not croissant.metadata.ctx.issues.errors
    records = list(croissant.records("dev"))
    assert {record["dev/id"].decode() for record in records} == set(pairs.only(split="dev").collect()["id"])


def test_where_the_authors_label_is_stays_on_the_card(pairs: gl.Pairs, tmp_path: Path) -> None:
    card = Card(name="herons", author="first")
    written = gl.Pairs(pairs.frame, card).split("50:25:25").pairs.map_labels("nli2").write(tmp_path / "out")
    assert (written.card.author, written.to_dict()["author"]) == ("first", "first")
    assert "- The author's own label: the first vote" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_a_card_that_says_nothing_of_the_author_is_read_and_one_that_says_nonsense_is_not(
    pairs: gl.Pairs, tmp_path: Path
) -> None:
    pairs.write(tmp_path / "out")
    path = tmp_path / "out" / CARD
    fields = json.loads(path.read_text())
    del fields["author"]
    path.write_text(json.dumps(fields))
    assert gl.read(tmp_path / "out").card.author == "none"
    path.write_text(json.dumps(fields | {"author": "writer"}))
    with pytest.raises(InputError, match=r"card\.json: is not a dataset card \(author 'writer' is not understood"):
        gl.read(tmp_path / "out")


def test_counts_and_their_keys(pairs: gl.Pairs) -> None:
    shown = pairs.to_dict()
    assert shown["labels"] == {"entailment": 7, "-": 1}
    assert shown["splits"] == {"train": 4, "dev": 2, "test": 2}
    assert (shown["with_votes"], shown["genres"], shown["label_space"]) == (1, {"news": 1}, "nli3")
    assert "8 pairs" in pairs._repr_html_()


def test_only_and_limit(pairs: gl.Pairs) -> None:
    assert set(pairs.only(split="dev").collect()["split"]) == {"dev"}
    assert len(pairs.only(label=["-"])) == 1
    assert len(pairs.limit(3)) == 3
    with pytest.raises(InputError, match="'colour' is not a column"):
        pairs.only(colour="red")


def test_map_labels_maps_votes_too(jsonl: Write) -> None:
    rows = [
        pair(pairID="a", gold_label="neutral", annotator_labels=["contradiction", "unrelated"]),
        pair(pairID="b", gold_label="-"),
    ]
    mapped = gl.read(jsonl(*rows)).map_labels("nli2")
    frame = mapped.collect()
    assert frame["label"].to_list() == ["not_entailment", "-"]
    assert frame["votes"].to_list()[0] == ["not_entailment", "unrelated"]
    assert mapped.card.label_space.name == "nli2"
    with pytest.raises(InputError, match="1 pair has labels or votes of nli3 without a counterpart in scitail"):
        gl.read(jsonl(pair(gold_label="contradiction"))).map_labels("scitail")


def test_votes_without_a_counterpart_are_not_mapped(jsonl: Write) -> None:
    path = jsonl(pair(gold_label="neutral", annotator_labels=["neutral", "contradiction"]))
    with pytest.raises(InputError, match="1 pair has labels or votes"):
        gl.read(path).map_labels("scitail")


def test_a_result_shows_itself(pairs: gl.Pairs) -> None:
    assert repr(pairs).startswith("pairs: 8 pairs, nli3\n")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("a.xml", "xml", "'xml' is no file format"),
        ("a.csv.bz2", "csv", r"csv is not written as \.bz2"),
        ("a.jsonl.zip", "jsonl", r"jsonl is not written as \.zip"),
        ("a.parquet.gz", "parquet", r"parquet is not written as \.gz"),
    ],
)
def test_only_what_can_be_read_back_is_written(
    pairs: gl.Pairs, tmp_path: Path, name: str, kind: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pairs.export(tmp_path / name, kind)
    assert not (tmp_path / name).exists()


def test_arguments_from_python_are_checked(pairs: gl.Pairs, jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(pair(), name="one.jsonl")
    with pytest.raises(InputError, match="split 'foo' is not one of"):
        gl.read(path, split="foo")
    with pytest.raises(InputError, match="the first -1 pairs"):
        pairs.limit(-1)
    with pytest.raises(InputError, match=r"is a file; a dataset needs a folder"):
        pairs.write(path)
    (tmp_path / "a.parquet.gz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"a\.parquet\.gz: is damaged or cut short"):
        gl.read(tmp_path / "a.parquet.gz")
    assert len(gl.read(path, limit=1)) == 1


def test_convert_streams_what_read_reads(jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(*NASTY)
    assert by_id(gl.convert(path, tmp_path / "out")).equals(by_id(gl.read(path)))


def test_a_failed_write_leaves_the_old_dataset(pairs: gl.Pairs, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    pairs.write(folder)
    before = (folder / CARD).read_bytes()

    def write_and_stop() -> None:
        with DatasetWriter(folder, pairs.card) as writer:
            writer.write(pairs.collect())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_stop()
    assert (folder / CARD).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["out"]


def test_output_never_replaces_a_folder_that_is_no_dataset(pairs: gl.Pairs, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="is not empty and no dataset"):
        pairs.write(tmp_path / "precious")
    assert (tmp_path / "precious" / "thesis.tex").exists()


def test_broken_cards_and_half_written_parts_are_named(pairs: gl.Pairs, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    pairs.write(folder)
    part = folder / "dev.parquet"
    data = part.read_bytes()
    part.write_bytes(data[:50])
    with pytest.raises(InputError, match=r"dev\.parquet: is not a complete Parquet file"):
        gl.read(folder)
    part.unlink()
    with pytest.raises(InputError, match=r"dev\.parquet: there is no such file"):
        gl.read(folder)
    (folder / CARD).write_text("{")
    with pytest.raises(InputError, match="is not a dataset card"):
        gl.read(folder)


def test_a_frame_of_three_columns_is_enough() -> None:
    frame = pl.DataFrame(
        {"premise": ["Cafe\u0301 a", "b"], "hypothesis": ["c", "d"], "label": ["E", "-"], "genre": None}
    )
    made = gl.Pairs.from_frame(frame, Card(name="made")).collect()
    assert dict(made.schema) == DTYPES
    assert made.select("id", "premise", "label", "split", "dataset").rows() == [
        ("made-1", "Café a", "entailment", "none", "made"),
        ("made-2", "b", "-", "none", "made"),
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": ["banana", "-"]}, "made row 1: label 'banana' is not one of contradiction, entailment, neutral"),
        ({"hypothesis": ["c", " "]}, "made row 2: hypothesis is empty"),
        ({"premise": ["a", None]}, "made row 2: premise is missing"),
        ({"id": ["x", "x"]}, "made: id 'x' is given to more than one pair"),
        ({"split": ["train", "holdout"]}, "made row 2: split 'holdout' is not one of"),
        ({"votes": [["neutral"], ["maybe"]]}, "made row 2: vote 'maybe' is not one of"),
        ({"meta": ["{}", "{"]}, "made row 2: meta is not valid JSON"),
        ({"meta": ["{}", "[1]"]}, "made row 2: meta is not a JSON object"),
        ({"label": [0, 1]}, "made: column 'label' holds Int64, and String was expected"),
        ({"lable": ["neutral", "-"]}, "made: 'lable' is not a column of the record; did you mean 'label'?"),
    ],
)
def test_a_frame_passes_the_gate_of_files(changes: dict[str, list[object]], message: str) -> None:
    columns = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": ["neutral", "-"]} | changes
    with pytest.raises(InputError) as error:
        gl.Pairs.from_frame(pl.DataFrame(columns), Card(name="made"))
    assert message in str(error.value)


def test_a_frame_needs_premise_hypothesis_and_label() -> None:
    with pytest.raises(InputError, match="made row 1: field 'label' is missing"):
        gl.Pairs.from_frame(pl.DataFrame({"premise": ["a"], "hypothesis": ["b"]}), Card(name="made"))
