from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.collect.data import premises
from goldlabel.collect.data.importing import tables
from goldlabel.collect.data.importing.known import known_premises
from goldlabel.collect.data.premises import Premise, clean_premises, read_premises, select_by_questions
from goldlabel.collect.protocols import Cleaning, PremiseRules, make_protocol
from goldlabel.errors import InputError

RULES = PremiseRules(shortest=4, longest=30)


def texts(data: str | bytes, name: str = "pool.txt", rules: PremiseRules = RULES) -> list[str]:
    reading = read_premises(data.encode() if isinstance(data, str) else data, name, rules)
    return [one.text for one in reading.premises]


def test_plain_text_has_one_premise_a_line() -> None:
    data = "\ufeff小船靠岸了。\r\n\r\n  A boat  lands. \rשלום עולם\n👩‍👧 go home\n"
    assert texts(data) == ["小船靠岸了。", "A boat lands.", "שלום עולם", "👩‍👧 go home"]
    assert texts("one line\u2028still the same") == ["one line still the same"]
    assert texts("") == []


def test_csv_keeps_genre_source_id_and_the_rest() -> None:
    data = 'id,premise,genre,page\n7,"He said, ""stop"".",TV,12\n8,"two\nlines of it",,\n'
    reading = read_premises(data.encode("utf-8-sig"), "a.csv", RULES, genre="NEWS", source="archive")
    assert reading.premises == (
        Premise(text='He said, "stop".', genre="TV", source="archive", original_id="7", meta={"page": "12"}),
        Premise(text="two lines of it", genre="NEWS", source="archive", original_id="8"),
    )
    assert texts('text\tx\nHe said "no.\t1\n', "a.tsv") == ['He said "no.']


def test_jsonl_and_json() -> None:
    rows = [{"text": "Die Tür steht offen.", "id": 4, "genre": "LIT", "n": [1]}, {"sentence1": "Third door."}]
    for name, data in {
        "a.jsonl": "\n".join(json.dumps(row) for row in rows) + "\n\n",
        "a.json": json.dumps(rows, indent=1),
    }.items():
        reading = read_premises(data.encode(), name, RULES)
        assert reading.premises == (
            Premise(text="Die Tür steht offen.", genre="LIT", original_id="4", meta={"n": [1]}),
            Premise(text="Third door."),
        )


def test_what_is_left_out_is_counted_by_reason() -> None:
    data = "abc\nlong enough\nlong  enough\n\u200b\n" + "x" * 31 + "\n" + "y" * 10_000 + "\nabd\nknown one\n"
    known = known_premises(1)
    known.add("known one", split=None)
    reading = read_premises(data.encode(), "a.txt", RULES, known=known)
    assert [one.text for one in reading.premises] == ["long enough"]
    told = reading.to_dict()
    assert (told["read"], told["premises"]) == (8, 1)
    assert {one["reason"]: (one["n"], one["examples"][0]) for one in told["left_out"]} == {
        "shorter than 4 characters": (2, "line 1: abc"),
        "a duplicate": (2, "line 3: long enough"),
        "empty after cleaning": (1, "line 4: \u200b"),
        "longer than 30 characters": (2, f"line 5: {'x' * 31}"),
    }
    assert len(told["left_out"][3]["examples"][1]) < 80


def test_only_the_first_examples_are_kept() -> None:
    reading = read_premises(b"abc\n" * 100, "a.txt", RULES)
    assert [(str(one.reason), one.count) for one in reading.left_out] == [("shorter than 4 characters", 100)]
    assert len(reading.left_out[0].examples) == premises.EXAMPLES


def test_transcription_marks_are_cleaned_away() -> None:
    marks = (Cleaning(pattern=r"\{[^}]*\}|&\w*"), Cleaning(pattern=r"(\p{Han}) +(\p{Han})", replacement="$1$2"))
    rules = replace(make_protocol("multi", "zh").premises, cleaning=marks)
    assert texts("嗯 {laugh} 那个 &uh 我们 明天再 去看看他吧", rules=rules) == ["嗯那个我们明天再去看看他吧"]


def test_length_counts_characters_as_stored() -> None:
    rules = PremiseRules(shortest=4, longest=4)
    assert texts("cafe\u0301", rules=rules) == ["café"]
    assert texts("  a  b ", rules=PremiseRules(shortest=3, longest=3)) == ["a b"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", "gut\nk\xe4se\n".encode("latin-1"), r"a.txt line 2: is not UTF-8 \(byte 0xe4\); convert"),
        ("a.csv", b"premise,x\nonly one\n", "a.csv line 2: has 1 columns where the header has 2"),
        ("a.csv", b'premise\n"\n\n\n', r"a.csv line 2: is not valid CSV \(unexpected end of data\)"),
        ("a.csv", b"premise,premise\na,b\n", "a.csv line 1: column 'premise' is there twice"),
        ("a.csv", b"satz\nEin Satz.\n", "a.csv line 2: no column holds the premise among satz; name it one of premise"),
        ("a.jsonl", b'{"premise": "fine"}\n{"premise": \n', r"a.jsonl line 2: is not valid JSON"),
        ("a.jsonl", b'{"premise": 5}\n', "a.jsonl line 1: premise is not text but int"),
        ("a.jsonl", b'"text"\n', "a.jsonl line 1: is not a JSON object but str"),
        ("a.json", b'[{"premise": "fine"}, 3]', "a.json item 2: is not a JSON object but int"),
        ("a.json", b'[\n{"premise": "fine"}, \n', "a.json line 3: is not valid JSON"),
        ("a.docx", b"PK", "a.docx: the format of premises is not known; allowed: .csv"),
    ],
)
def test_bad_uploads_are_named_with_their_line(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_premises(data, name, RULES)


def test_uploads_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "MOST_BYTES", 1 << 20)
    with pytest.raises(InputError, match=r"big.txt: is larger than 1 MB; import it in parts"):
        read_premises(b"x" * ((1 << 20) + 1), "big.txt", RULES)
    packed = tmp_path / "big.txt.gz"
    packed.write_bytes(gzip.compress((b"y" * 1023 + b"\n") * (2 << 10)))
    with pytest.raises(InputError, match=r"larger than 1 MB"):
        read_premises(packed, packed.name, RULES)


def test_files_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv.gz"
    path.write_bytes(gzip.compress("premise,genre\n窗外下着大雨,LIT\n".encode()))
    assert read_premises(path, path.name, RULES).premises == (Premise(text="窗外下着大雨", genre="LIT"),)


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), max_size=8))
def test_no_premise_is_lost_or_kept_twice(lines: list[str]) -> None:
    data = json.dumps([{"text": line} for line in lines if not any("\ud800" <= c <= "\udfff" for c in line)])
    reading = read_premises(data.encode(), "a.json", RULES)
    kept = [one.text for one in reading.premises]
    assert len(set(kept)) == len(kept)
    assert all(4 <= len(text) <= 30 for text in kept)
    assert len(kept) + sum(one.count for one in reading.left_out) == reading.read
    assert clean_premises(kept, ()) == kept


POOL = [
    Premise(text="The old lighthouse was painted red in May."),
    Premise(text="Nobody knows who painted the harbour wall."),
    Premise(text="Rice grows slowly on the hills."),
    Premise(text="北京的冬天常常很冷。"),
    Premise(text="上海的夏天又热又湿。"),
    Premise(text="…"),
]


def test_contexts_are_drawn_by_questions_in_turns() -> None:
    chosen = select_by_questions(POOL, ["Who painted the lighthouse red?", "北京的冬天有多冷？"], 3)
    assert [one.text for one in chosen[:2]] == [POOL[0].text, POOL[3].text]
    assert chosen[2] == POOL[1]
    assert select_by_questions(POOL, ["Who painted the lighthouse red?"], 1) == [POOL[0]]


def test_what_shares_nothing_with_a_question_is_not_drawn() -> None:
    assert select_by_questions(POOL, ["zebra crossing"], 5) == []
    assert select_by_questions([POOL[5]], ["zebra"], 5) == []
    assert len(select_by_questions(POOL, ["rice"], 5)) == 1


@pytest.mark.parametrize(("questions", "wanted"), [([], 3), ([" "], 3), (["rice"], 0)])
def test_drawing_needs_questions(questions: list[str], wanted: int) -> None:
    with pytest.raises(InputError, match="cannot be drawn by"):
        select_by_questions(POOL, questions, wanted)
