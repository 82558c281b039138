from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import orjson
import polars as pl
import pyarrow as pa
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.pairs import jsonl as jsonl_module
from goldlabel.pairs.delimited import encode_csv
from goldlabel.pairs.jsonl import read_jsonl
from goldlabel.pairs.record import COLUMNS, DTYPES
from goldlabel.pairs.rows import KNOWN_NAMES, by_name
from goldlabel.pairs.tables import split_lists
from tests.conftest import pair

Write = Callable[..., Path]

NASTY = [
    pair(pairID="cjk", sentence1="那只苍鹭站在芦苇里。", sentence2="有一只鸟。"),
    pair(pairID="emoji", sentence1="🦉🏽 sits.", sentence2="👩‍👩‍👧 look."),
    pair(pairID="rtl", sentence1="البومة نائمة.", sentence2="الطائر نائم."),
    pair(pairID="long", sentence1="x" * 10_000, sentence2="y " * 5_000),
    pair(pairID="quotes", sentence1='He said "no, {never}"\\', sentence2="line\nbreak\ttab, comma"),
    pair(pairID="nfd", sentence1=unicodedata.normalize("NFD", "Café à Zürich"), sentence2="한국어"),
    pair(pairID="votes", annotator_labels=["entailment", "neutral", "unrelated"], gold_label="-"),
]


def test_snli_names_and_ours_give_the_same_record(jsonl: Write) -> None:
    snli = jsonl(pair(pairID="a", captionID="c", annotator_labels=["neutral"], genre="news"), name="x.jsonl")
    frame = gl.read(snli).collect()
    ours = jsonl(
        {
            "id": "a",
            "premise": frame["premise"][0],
            "hypothesis": frame["hypothesis"][0],
            "label": "entailment",
            "votes": ["neutral"],
            "group": "c",
            "genre": "news",
        },
        name="y.jsonl",
    )
    assert frame.drop("dataset").equals(gl.read(ours).collect().drop("dataset"))
    assert frame.columns == list(COLUMNS)
    assert dict(frame.schema) == DTYPES


def test_nasty_text_survives_and_is_nfc(jsonl: Write) -> None:
    frame = gl.read(jsonl(*NASTY)).collect()
    for row, text in zip(NASTY, frame.iter_rows(named=True), strict=True):
        assert text["premise"] == unicodedata.normalize("NFC", row["sentence1"])
        assert text["hypothesis"] == unicodedata.normalize("NFC", row["sentence2"])


def test_unknown_fields_go_to_meta(jsonl: Write) -> None:
    extra = {"sentence1_parse": "(S x)", "n": 3, "deep": {"a": [1, None, "é"]}}
    frame = gl.read(jsonl(pair(pairID="a", **extra), pair(pairID="b"), pair(pairID="c", meta={"k": 1}))).collect()
    assert json.loads(frame["meta"][0]) == extra
    assert frame["meta"][1] is None
    assert json.loads(frame["meta"][2]) == {"k": 1}


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst", ".zip"])
def test_compressed_files_read_directly(jsonl: Write, tmp_path: Path, suffix: str) -> None:
    plain = jsonl(*NASTY)
    packed = tmp_path / f"pairs.jsonl{suffix}"
    data = plain.read_bytes()
    if suffix == ".zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("inner/pairs.jsonl", data)
    else:
        pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda d: pa.compress(d, "zstd", asbytes=True)}
        packed.write_bytes(pack[suffix](data))
    assert gl.read(packed).collect().equals(gl.read(plain).collect())


values = st.one_of(st.none(), st.integers(-5, 5), st.booleans(), st.text(max_size=5), st.lists(st.text(max_size=3)))
rows = st.fixed_dictionaries(
    {
        "premise": st.text(min_size=1, max_size=12),
        "sentence2": st.text(min_size=1, max_size=12),
        "gold_label": st.sampled_from(["entailment", "neutral", "-"]),
    },
    optional={
        "genre": st.text(max_size=4),
        "votes": st.lists(st.sampled_from(["neutral", "e"]), max_size=3),
        "pairID": st.text("abc", min_size=1, max_size=3),
        "extra": values,
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(rows, min_size=1, max_size=6))
def test_the_fast_and_the_exact_parser_agree(rows: list[dict[str, object]]) -> None:
    block = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    fast = jsonl_module._parse_fast(block, 1, KNOWN_NAMES)
    exact = jsonl_module._parse_lines(block, 1, "x", by_name(KNOWN_NAMES))
    if any("extra" in row for row in rows):
        assert fast is None
    else:
        assert fast is not None
        shared = [name for name in exact.frame.columns if name in fast.frame.columns]
        assert fast.frame.select(shared).equals(exact.frame.select(shared))
        for name in set(exact.frame.columns) ^ set(fast.frame.columns):
            frame = exact.frame if name in exact.frame.columns else fast.frame
            assert frame[name].null_count() == len(frame)


def test_blocks_join_up_whatever_their_size(jsonl: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(*(pair(pairID=f"{n}", sentence1=f"Heron {n}. " + "x" * (n % 40)) for n in range(300)))
    whole = gl.read(path).collect()
    monkeypatch.setattr(jsonl_module, "BLOCK", 97)
    assert gl.read(path).collect().equals(whole)


def test_ids_are_made_from_name_and_line_where_none_are_given(jsonl: Write) -> None:
    assert gl.read(jsonl(pair(), pair())).collect()["id"].to_list() == ["pairs-1", "pairs-2"]


def test_blank_lines_bom_and_a_json_array(tmp_path: Path) -> None:
    row = orjson.dumps(pair(pairID="a"))
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + row + b"\n\n" + orjson.dumps(pair(pairID="b")))
    assert gl.read(path).collect()["id"].to_list() == ["a", "b"]
    array = tmp_path / "a.json"
    array.write_bytes(b" [\n" + row + b"\n]")
    assert gl.read(array).collect()["id"].to_list() == ["a"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            orjson.dumps(pair(gold_label="entail")),
            "line 3: label 'entail' is not one of contradiction, entailment, neutral; "
            "pass label_map={'entail': 'entailment'}",
        ),
        (orjson.dumps(pair(gold_label=0)), "line 3: label '0' is not one of"),
        (orjson.dumps(pair(gold_label=None)), "line 3: label is missing"),
        (orjson.dumps(pair(sentence2=None)), "line 3: hypothesis is missing"),
        (orjson.dumps(pair(sentence1="  \u3000\t")), "line 3: premise is empty"),
        (orjson.dumps(pair(sentence1=["a"])), "line 3: premise is not text but ['a']"),
        (orjson.dumps(pair(sentence1=5)), "line 3: premise is not text but 5"),
        (orjson.dumps(pair(annotator_labels=["neutral", "maybe"])), "line 3: vote 'maybe' is not one of"),
        (orjson.dumps(pair(annotator_labels="neutral")), "line 3: votes is not a list but 'neutral'"),
        (orjson.dumps(pair(split="holdout")), "line 3: split 'holdout' is not one of train, dev, test, none"),
        (orjson.dumps(pair(meta="{")), "line 3: meta is not valid JSON"),
        (b'{"sentence1": "a", ', "line 3: is not valid JSON"),
        (b"[1, 2]", "line 3: is not a JSON object but list"),
        (orjson.dumps(pair()).replace(b"heron", b"h\xe9ron"), "line 3: is not UTF-8 (byte 0xe9 at"),
    ],
)
def test_bad_rows_are_named_by_file_and_line(jsonl: Write, bad: bytes, message: str) -> None:
    path = jsonl(pair(), pair())
    path.write_bytes(path.read_bytes() + bad + b"\n" + orjson.dumps(pair()) + b"\n")
    with pytest.raises(InputError) as error:
        gl.read(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_numbers_are_labels_only_by_an_explicit_map(jsonl: Write) -> None:
    path = jsonl(pair(gold_label=0), pair(gold_label=2))
    frame = gl.read(path, label_map={"0": "entailment", "1": "neutral", "2": "contradiction"}).collect()
    assert frame["label"].to_list() == ["entailment", "contradiction"]


def test_a_label_space_that_does_not_fit(jsonl: Write) -> None:
    path = jsonl(pair(gold_label="not_entailment"))
    with pytest.raises(InputError, match="'not_entailment' is not one of contradiction"):
        gl.read(path)
    assert gl.read(path, labels="nli2").card.label_space.name == "nli2"


def test_ids_must_be_unique(jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(*(pair(pairID=name) for name in "abcab"))
    with pytest.raises(InputError, match="id 'a' is given to"):
        gl.read(path)
    with pytest.raises(InputError, match=r"id 'a' is given to 2 pairs \(and 1 more ids are\)"):
        gl.convert(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jsonl_module, "BLOCK", 10)
    monkeypatch.setattr(jsonl_module, "LONGEST_LINE", 100)
    path = tmp_path / "zeros.jsonl"
    path.write_bytes(b"\0" * 1000)
    with path.open("rb") as stream, pytest.raises(InputError, match="line 1: is longer than"):
        list(read_jsonl(stream, "zeros.jsonl"))


def test_csv_with_a_column_map(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text_a,text_b,y,votes,note\n"A, b\nc",d,E,neutral|e,"hm"\n', encoding="utf-8")
    columns = {"premise": "text_a", "hypothesis": "text_b", "label": "y"}
    row = gl.read(path, columns=columns).collect().row(0, named=True)
    assert (row["premise"], row["label"], row["votes"]) == ("A, b\nc", "entailment", ["neutral", "entailment"])
    assert json.loads(row["meta"]) == {"note": "hm"}
    with pytest.raises(
        InputError, match=r"line 1: no column for 'premise' among text_a, text_b.*columns=.'premise': 'NAME'."
    ):
        gl.read(path)
    with pytest.raises(InputError, match="'premis' is not a column of the record"):
        gl.read(path, columns={"premis": "text_a"})


def test_tsv_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('premise\thypothesis\tlabel\n"Hm, he said.\tHe "spoke\tn\n', encoding="utf-8")
    row = gl.read(path).collect().row(0, named=True)
    assert (row["premise"], row["hypothesis"], row["label"]) == ('"Hm, he said.', 'He "spoke', "neutral")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"a,b\n", "line 3: has 2 columns where the header has 3"),
        (b"a,,e\n", "line 3: hypothesis is missing"),
        (b"a,b,\n", "line 3: label is missing"),
        ("a\u00e9\u00e9".encode() + b"\xe9,b,e\n", "line 3: column 'premise' is not UTF-8"),
    ],
)
def test_bad_csv_rows_are_named_by_line(tmp_path: Path, body: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"premise,hypothesis,label\nx,y,e\n" + body)
    with pytest.raises(InputError) as error:
        gl.read(path)
    assert f"{path} {message}" in str(error.value)


@given(st.lists(st.text(), max_size=3), st.lists(st.sampled_from(["neutral", "unrelated"]), max_size=2))
@example(["bell\a", 'quote"', "back\\slash", "line\nend\r", "a|b", "[", "\0", "\x7f\x85\u2028"], [])
def test_lists_survive_csv(tags: list[str], votes: list[str]) -> None:
    frame = pl.DataFrame({"tags": [tags], "votes": [votes]}, schema={name: DTYPES[name] for name in ("tags", "votes")})
    others = {name: pl.lit(f"{name}\r\n", pl.String) for name in COLUMNS if name not in frame.columns}
    row = frame.with_columns(**others).pipe(encode_csv).write_csv()
    header, cells = csv.reader(io.StringIO(row, newline=""))
    read = split_lists({name: cell or None for name, cell in zip(header, cells, strict=True)})
    assert (read["tags"] or [], read["votes"] or []) == (tags, votes)


@pytest.mark.parametrize(
    ("declared", "splits"),
    [
        ("data/*.csv", {"train": 2}),
        (["data/a.csv"], {"train": 1}),
        (["data/a.csv", "data/b.csv"], {"train": 2}),
        ({"train": "data/a.csv", "validation": ["data/b.csv"]}, {"train": 1, "dev": 1}),
        ({"validation_matched": "data/*.csv"}, {"dev": 2}),
        ([{"split": "test", "path": ["data/a.csv", "data/b.csv"]}], {"test": 2}),
        ([{"split": "unsplit", "path": "data/a.csv"}], {"none": 1}),
    ],
)
def test_every_form_of_declared_files(tmp_path: Path, declared: object, splits: dict[str, int]) -> None:
    hub(tmp_path, {"configs": [{"config_name": "default", "data_files": declared}]})
    assert gl.read(tmp_path).to_dict()["splits"] == splits


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ({"configs": [{"data_files": "data/c.csv"}]}, "declares 'data/c.csv', and no such file is there"),
        ({"configs": [{"data_files": "/etc/*.csv"}]}, "declares '/etc/*.csv', which leads out of its folder"),
        ({"configs": [{"data_files": "../*.csv"}]}, "which leads out of its folder"),
        ({"configs": [{"data_files": "hf://datasets/owls/*.csv"}]}, "which leads out of its folder"),
        ({"configs": [{"data_files": [{"split": "train"}]}]}, "data_files is not understood"),
        ({"configs": [{"data_files": 3}]}, "data_files is not understood"),
        ({"configs": "default"}, "configs is not a list of configurations"),
        ("- a", "is not a mapping"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_a_readme_that_declares_nonsense_is_one_line(tmp_path: Path, front: object, message: str) -> None:
    hub(tmp_path, front)
    with pytest.raises(InputError) as error:
        gl.read(tmp_path)
    assert str(error.value).startswith(str(tmp_path / "README.md"))
    assert message in str(error.value)


def hub(folder: Path, front: object) -> None:
    (folder / "data").mkdir()
    for name in "ab":
        (folder / "data" / f"{name}.csv").write_text(f"id,premise,hypothesis,label\n{name},x,y,neutral\n")
    text = front if isinstance(front, str) else yaml.safe_dump(front)
    (folder / "README.md").write_text(f"---\n{text}\n---\n# Owls\n")


def test_half_written_parquet_is_one_clear_error(jsonl: Write, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    gl.read(jsonl(*NASTY)).export(path, "parquet")
    assert len(gl.read(path)) == len(NASTY)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"a\.parquet: is not a complete Parquet file"):
        gl.read(path)


def test_parquet_rows_are_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"premise": ["a", "b"], "hypothesis": ["c", ""], "label": ["neutral"] * 2}).write_parquet(path)
    with pytest.raises(InputError, match=r"a\.parquet row 2: hypothesis is empty"):
        gl.read(path)


def test_unknown_endings_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(InputError, match=r"'\.docx' tells no format; allowed: \.jsonl"):
        gl.read(tmp_path / "a.docx")
    with pytest.raises(InputError, match="there is no such file or folder"):
        gl.read(tmp_path / "b.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no pairs"):
        gl.read(tmp_path / "empty")


def test_an_empty_file_gives_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    pairs = gl.read(tmp_path / "a.jsonl")
    assert len(pairs) == 0
    assert pairs.table.is_empty()
