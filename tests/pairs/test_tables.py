"""Tables of people's own: what is told from them, what is said of them, and what comes in on a pipe."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError

ROW = "A heron stands.,A bird is there.,entailment\n"


def refusal(tmp_path: Path, content: str | bytes, name: str = "a.csv", **options: object) -> str:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as error:
        gl.read(path, **options)  # type: ignore[arg-type]
    assert str(error.value).startswith(str(path)) or "\n" not in str(error.value)
    return str(error.value).replace(str(path), name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;b;c\n1;2;3\n", "line 1: no column for 'premise' among a, b, c (separator is ';')"),
        ("premise,hypothesis,label,Premise \nx,y,e,z\n", "line 1: column 'Premise' is there twice"),
        ("premise;hypothesis;label\nx;y\n", "line 2: has 2 columns where the header has 3 (separator is ';')"),
        (
            'premise,hypothesis,label\n"x,y,entailment\nx,z,neutral\n',
            "line 2: has 1 column where the header has 3 (separator is ','); a quotation mark opens a cell of 2 lines: "
            "is its end missing?",
        ),
        ("premise\thypothesis\tlabel\nx\ty\tz\te\n", "line 2: has 4 columns where the header has 3 (separator is tab)"),
        ("premise,hypothesis,label\nx,y,maybe\n", "line 2: label 'maybe' is not one of"),
        ("premise,hypothesis\nx,y\n", "line 1: no column for 'label' among premise, hypothesis"),
        (
            "premise,hypothesis,r1,r2\nx,y,e,n\n",
            "pass columns={'label': 'NAME'}, or votes_from=['A', 'B'] if each rater",
        ),
        ("", "line 1: nothing stands there; a table begins with the names of its columns"),
        ("premise,hypothesis,label\nx,y,\n", "line 2: label is missing"),
        ("premise,hypothesis,label\nx,y,NA\n", "line 2: label is missing"),
        ("sep=;\npremise;hypothesis;label\nx;y;e\nx;;e\n", "line 4: hypothesis is missing"),
        ("premise,hypothesis,votes\nx,y,\n", "line 2: label is missing"),
        ("premise,hypothesis,votes\nx,y,\"['neutral', 'maybe']\"\n", "line 2: vote 'maybe' is not one of"),
        ("premise,hypothesis,votes\nx,y,\"[__import__('os')]\"\n", "line 2: votes is not a JSON list"),
        ("привет,мир\n".encode("koi8-r"), "is not UTF-8, and its encoding cannot be told; pass encoding='gb18030'"),
    ],
)
def test_a_problem_is_named_in_the_files_own_terms(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert message in refusal(tmp_path, content)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"genre": "domain"}}, "line 1: there is no column 'domain' among premise, hypothesis, label"),
        ({"votes_from": ["rater1"]}, "line 1: there is no column 'rater1' among"),
        ({"delimiter": ";;"}, "delimiter ';;' is not one character"),
        ({"encoding": "utf-9"}, "encoding 'utf-9' is not known"),
        ({"encoding": "ascii"}, "line 2: is not ascii (byte 0xc3)"),
        ({"format": "docx"}, "format 'docx' is not known; allowed: arrow, csv"),
        ({"format": "xlsx"}, "is not a complete spreadsheet"),
    ],
)
def test_what_somebody_insists_on_is_checked(tmp_path: Path, options: dict[str, object], message: str) -> None:
    assert message in refusal(tmp_path, f"premise,hypothesis,label\n{ROW.replace('heron', 'héron')}", **options)


def test_a_spreadsheets_row_is_named_by_its_number(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["premise", "hypothesis", "label"], ["x", "y", "e"], [], ["x", None, "e"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match=r"a\.xlsx row 4: hypothesis is missing"):
        gl.read(tmp_path / "a.xlsx")


def test_what_was_assumed_is_told_and_stays_on_the_card(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"premise,hypothesis,label\n{ROW}Ein Gruß.,Ein Wort.,neutral\n".encode("latin-1"))
    notes: list[str] = []
    pairs = gl.read(path, on_note=notes.append)
    assert pairs[1]["premise"] == "Ein Gruß."
    assert notes == [
        "a.csv: is not UTF-8, and was taken for Windows-1252 (latin-1); pass encoding=… if letters look wrong"
    ]
    assert pairs.card.history == ("read from a.csv", *notes)
    assert gl.read(path, encoding="latin-1").card.history == ("read from a.csv",)


def test_a_note_names_the_sheet_that_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["premise", "hypothesis", "label"])
    book.active.append(["x", "y", "e"])
    book.create_sheet("Notes").append(["by Kim"])
    book.save(tmp_path / "a.xlsx")
    assert "sheet 'Sheet' is read; 'Notes' is not" in gl.read(tmp_path / "a.xlsx").card.history[1]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "csv.gz", "xlsx"])
def test_standard_input_tells_its_format(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"premise": ["A heron."], "hypothesis": ["A bird."], "label": ["entailment"]})
    path = tmp_path / f"a.{form}"
    if form == "arrow":
        frame.write_ipc(path)
    elif form == "xlsx":
        frame.to_pandas().to_excel(path, index=False)
    else:
        gl.from_polars(frame).save(path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    pairs = gl.read("-")
    assert (pairs[0]["premise"], pairs.card.history[0]) == ("A heron.", "read from standard input")


def test_a_fault_of_standard_input_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"premise;hypothesis;label\nx;y;maybe\n")))
    with pytest.raises(InputError, match=r"^standard input line 2: label 'maybe'"):
        gl.read("-")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_note_about_standard_input_calls_it_so(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pack("premise;hypothesis;label\nUn café.;Ein Fluß.;neutral\n".encode("latin-1"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table)))
    notes: list[str] = []
    pairs = gl.read("-", on_note=notes.append)
    assert notes == [note for note in pairs.card.history if "UTF-8" in note]
    assert notes[0].startswith("standard input: is not UTF-8")


def test_quotes_of_an_nli_corpus_stay_and_those_of_a_spreadsheet_go(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text('premise\thypothesis\tlabel\n"Stop\tHe "spoke".\te\nHe left"\t"All of it"\tn\n')
    assert [pair["premise"] for pair in gl.read(corpus)] == ['"Stop', 'He left"']
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text('premise\thypothesis\tlabel\n"He said ""stop""\nand left."\t"a\tb"\te\n')
    assert [(pair["premise"], pair["hypothesis"]) for pair in gl.read(sheet)] == [('He said "stop"\nand left.', "a\tb")]


def test_raters_and_their_votes_stay_together(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis,ann,bo,cy,votes\nx,y,E, ,neutral ,3\nx,z,,unrelated,n,2\n")
    pairs = list(gl.read(path, votes_from=["cy", "ann", "bo"]))
    assert [(pair["votes"], pair["meta"]) for pair in pairs] == [
        (["neutral", "entailment"], {"annotators": ["cy", "ann"], "votes": "3"}),
        (["neutral", "unrelated"], {"annotators": ["cy", "bo"], "votes": "2"}),
    ]


def test_votes_of_one_pair_on_different_texts_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, "task,worker,premise,hypothesis,label\n1,a,x,y,e\n1,b,x,z,e\n")
    assert "the votes on pair '1' are on different texts" in message


def test_a_row_for_each_vote_keeps_what_else_was_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "task,worker,premise,hypothesis,label,note,batch,seconds\n1,a,x,y,e,sure,7,3\n2,a,x,w,n,,7,4\n1,b,x,y,unrelated,,7,5\n"
    )
    first, second = gl.read(path)
    assert (first["votes"], first["label"]) == (["entailment", "unrelated"], "-")
    assert first["meta"] == {"annotators": ["a", "b"], "batch": "7", "note": ["sure", None], "seconds": [3.0, 5.0]}
    assert (second["votes"], second["label"]) == (["neutral"], "neutral")


def test_numbers_that_are_no_shares_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis,label,entailment,neutral,contradiction\nx,y,e,-1.5,0.2,3.1\n")
    pair = gl.read(path)[0]
    assert (pair["votes"], pair["meta"]) == ([], {"entailment": "-1.5", "neutral": "0.2", "contradiction": "3.1"})


def test_a_json_row_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"premise": "x", "hypothesis": "y", "label": "e", "data": [{"a": 1}]}))
    assert gl.read(path)[0]["meta"] == {"data": [{"a": 1}]}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("那只苍鹭站在芦苇里。", "zh"),
        ("サギが葦の中に立っている。", "ja"),
        ("왜가리가 서 있다.", "ko"),
        ("Ένας ερωδιός στέκεται.", "el"),
        ("A heron stands.", None),
        ("Цапля стоит.", None),
        ("12:30", None),
    ],
)
def test_a_language_is_detected_where_the_script_allows_it(text: str, language: str | None) -> None:
    card = gl.from_rows([(text, text, "neutral")]).card
    assert card.languages == ((language,) if language else ())
    assert (f"language {language} detected by its script" in card.history) == (language is not None)
    given = gl.from_rows([(text, text, "neutral")], card=gl.Card(name="a", languages=("yue",))).card
    assert given.languages == ("yue",)


def test_a_column_that_nobody_looks_for_may_stand_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("index\tnull\tnull\tpremise\thypothesis\tlabel\n1\tx\ty\tA heron.\tA bird.\te\n")
    assert gl.read(path)[0]["meta"] == {"index": "1", "null": "x", "null (2)": "y"}


def test_a_title_above_a_sheets_header_is_left_out_and_said_to_be(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Survey of the rooms", None, None])
    book.active.merge_cells("A1:C1")
    book.active.append(["Texts", None, "Judgement"])
    book.active.append(["Premise", "Hypothesis", "Label"])
    book.active.append(["A lamp is lit.", "It is dark.", "contradiction"])
    book.save(tmp_path / "rooms.xlsx")
    notes: list[str] = []
    pairs = gl.read(tmp_path / "rooms.xlsx", on_note=notes.append)
    assert [pair["hypothesis"] for pair in pairs] == ["It is dark."]
    assert len(notes) == 1
    assert "row 3 of sheet 'Sheet' has the names of columns; what stands above is left out" in notes[0]


def test_a_row_for_a_vote_that_was_never_cast_is_no_vote(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(
        "task,worker,premise,hypothesis,label,seconds\n"
        "1,a,x,y,,\n1,b,x,y,e,3\n1,c,x,y,n,\n2,a,x,w,,\n2,b,x,w,,2\n3,a,x,v,c,5\n"
    )
    pairs = gl.read(path).collect()
    assert pairs["id"].to_list() == ["1", "2", "3"]
    assert pairs["votes"].to_list() == [["entailment", "neutral"], [], ["contradiction"]]
    assert pairs["label"].to_list() == ["-", "-", "contradiction"]
    meta = [json.loads(text) for text in pairs["meta"]]
    assert [row["annotators"] for row in meta] == [["b", "c"], [], ["a"]]
    assert meta[0]["seconds"] == [3, None]
    assert gl.verify(gl.read(path)).whole.n == 3
