from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from tests.recast.samples import puns


def premises(folder: Path, style: str) -> dict[str, str]:
    names = folder / "yob.txt"
    folder.mkdir(exist_ok=True)
    names.write_text("Ada,F,1\n")
    run = run_recast("puns", puns(folder), Options(style=style, names=names))  # type: ignore[arg-type]
    return dict(run.pairs.collect().select("id", "premise").iter_rows())


def test_the_released_form(tmp_path: Path) -> None:
    found = premises(tmp_path, "dnc")
    assert found["puns-hom_1-1"] == "Ada heard that the candle was wicked"
    assert found["puns-hom_3-1"] == 'Ada heard that " i \' m board , " the plank said'
    assert found["puns-own.csv 2-1"] == 'Ada heard that bakers knead "dough", he said\nand they can not stop'


def test_the_plain_form(tmp_path: Path) -> None:
    found = premises(tmp_path, "plain")
    assert found["puns-hom_1-1"] == 'Ada heard someone say, "The candle was wicked."'
    assert found["puns-hom_3-1"] == 'Ada heard someone say, ""I\'m board," the plank said."'
    assert found["puns-hom_6-1"].endswith('"You & I < three eels"')
    assert "he said\nand they cannot stop" in found["puns-own.csv 2-1"]


def test_labels_and_repeated_texts(tmp_path: Path) -> None:
    run = run_recast("puns", puns(tmp_path), Options(style="dnc"))
    frame = run.pairs.collect()
    labels = dict(frame.select("id", "label").iter_rows())
    assert (labels["puns-hom_1-1"], labels["puns-hom_1-2"]) == ("entailment", "not_entailment")
    assert (labels["puns-hom_2-1"], labels["puns-hom_2-2"]) == ("not_entailment", "entailment")
    assert run.skipped == {"the same text again": 2}
    assert run.events == 7


def test_an_entity_bomb_is_refused(tmp_path: Path) -> None:
    entities = '<!DOCTYPE corpus [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    bomb = f'{entities}\n<corpus><text id="t"><word>&b;</word></text></corpus>'
    (tmp_path / "subtask1-x.xml").write_text(bomb)
    (tmp_path / "subtask1-x.gold").write_text("t\t1\n")
    with pytest.raises(InputError, match=r"subtask1-x\.xml line 1: declares an entity"):
        run_recast("puns", [tmp_path])


def test_the_other_subtasks_are_left_aside(tmp_path: Path) -> None:
    puns(tmp_path)
    (tmp_path / "subtask2-homographic-test.xml").write_text("not even XML")
    assert run_recast("puns", [tmp_path]).events == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<corpus></corpus>", "line 1: holds no element text"),
        ('<corpus>\n<text id="t"></text></corpus>', "line 2: a text has no words"),
        ("<corpus>\n<text><word>a</word></text></corpus>", "line 2: a text has no id"),
    ],
)
def test_faults_of_the_xml_are_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text)
    (tmp_path / "a.gold").write_text("t\t1\n")
    with pytest.raises(InputError, match=message):
        run_recast("puns", [tmp_path])


@pytest.mark.parametrize("header", ["label, text", "label,text", ' label ,"text "'])
def test_yang_s_own_header_has_a_space(header: str, tmp_path: Path) -> None:
    (tmp_path / "puns_pos_neg_data.csv").write_text(f"{header}\n1,the candle was wicked\n-1,the candle was lit\n")
    frame = run_recast("puns", [tmp_path], Options(style="dnc")).pairs.collect()
    entailed = frame.filter(frame["label"] == "entailment")["hypothesis"].to_list()
    assert [text.split(" ", 1)[1] for text in entailed] == ["heard a pun", "did not hear a pun"]
    assert frame["premise"].str.ends_with("heard that the candle was lit").sum() == 2


def test_each_folder_s_xml_has_its_own_gold(tmp_path: Path) -> None:
    for folder, label in (("a", 1), ("b", 0)):
        (tmp_path / folder).mkdir()
        text = f'<corpus><text id="t{folder}"><word>Wick</word><word>{folder}</word></text></corpus>'
        (tmp_path / folder / "subtask1-x.xml").write_text(text)
        (tmp_path / folder / "subtask1-x.gold").write_text(f"t{folder}\t{label}\n")
    frame = run_recast("puns", [tmp_path], Options(style="dnc")).pairs.collect()
    assert frame["label"].to_list() == ["entailment", "not_entailment", "not_entailment", "entailment"]


def test_a_table_needs_labels_and_texts(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    for rows, message in (("Hm.,maybe", "line 2: label 'maybe'"), (",1", "line 2: has no text")):
        table.write_text(f"text,label\n{rows}\n")
        with pytest.raises(InputError, match=message):
            run_recast("puns", [table])
