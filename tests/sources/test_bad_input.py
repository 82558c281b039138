"""Files that must not be taken: one clear line, and the library stays as it was."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from goldlabel import files
from goldlabel.errors import InputError, UnknownNameError
from goldlabel.files import input_files
from goldlabel.sources import add, is_added, load
from tests.sources.samples import EN, SAMPLES, SNLI, ZH, Sample, bars, jsonl, table

FOREIGN = ('{"a": {"b": [1]}}\n{"a": 3}\n', "a\tb\n1\t2\n3\t4\n", "[1, 2]", "[[1], {}]", "<a/>", "\x00\x01", "")
SICK = "pair_ID|sentence_A|sentence_B|relatedness_score|entailment_judgment"


def sick(*, header: str = SICK, label: str | None = None, first: int = 1) -> str:
    lines = [f"{first + n}|{p}|{h}|3|{label or gold}" for n, (p, h, gold) in enumerate(EN)]
    return table(header, *lines)


@pytest.fixture
def added(tmp_path: Path, home: Path) -> Path:
    """A library that has SICK already; what it holds must survive."""
    good = tmp_path / "good"
    good.mkdir()
    (good / "SICK_train.txt").write_text(sick())
    add("sick", [good])
    return home


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refuse(name: str, home: Path, *paths: Path) -> str:
    """Add what must be refused; return the one line, after looking that nothing changed."""
    before = snapshot(home)
    with pytest.raises(InputError) as refused:
        add(name, list(paths))
    assert snapshot(home) == before
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_a_file_of_another_corpus(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(table("text_a|text_b|label", *bars(ZH)), encoding="utf-8")
    message = refuse("sick", added, path)
    assert "4 of 4 rows cannot be read as Sentences Involving Compositional Knowledge" in message
    assert "field 'sentence_A' is missing; the row has 'text_a', 'text_b', 'label'" in message
    assert message.endswith("is it a file of another corpus?")
    assert len(load("sick")) == 4


def test_json_lines_of_another_corpus(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "snli_1.0_dev.jsonl"
    path.write_text(jsonl({"premise": "A heron.", "claim": "A bird."}))
    assert "no row has a hypothesis" in refuse("snli", home, path)
    assert not is_added("snli")


def test_names_of_another_corpus(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "snli_1.0_dev.jsonl"
    path.write_text(jsonl(*SNLI))
    message = refuse("sick", added, path)
    assert message.startswith("none of snli_1.0_dev.jsonl is a file of sick; its files are named like SICK_train.txt")


@pytest.mark.parametrize("sample", SAMPLES, ids=[f"{sample.source}:{next(iter(sample.files))}" for sample in SAMPLES])
def test_foreign_rows_never_end_in_a_traceback(sample: Sample, tmp_path: Path, home: Path) -> None:
    """Every file of every source, filled with rows that no corpus has."""
    for foreign in FOREIGN:
        for name in sample.files:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(foreign)
        with pytest.raises(InputError) as refused:
            add(sample.source, [tmp_path / name for name in sample.files])
        assert "\n" not in str(refused.value)
        assert not is_added(sample.source)


def test_a_missing_column(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(sick(header=SICK.replace("entailment_judgment", "verdict")))
    assert "field 'entailment_judgment' is missing; the row has" in refuse("sick", added, path)


def test_labels_outside_the_space(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(sick(label="PERHAPS"))
    message = refuse("sick", added, path)
    assert "label 'PERHAPS' is not one of contradiction, entailment, neutral" in message
    assert "--map" not in message


@pytest.mark.parametrize(("encoding", "said"), [("gb18030", "is not UTF-8"), ("utf-16", "is UTF-16")])
@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("xnli-zh", "dev.tsv", table("text_a|text_b|label", *bars(ZH))),
        ("cnli-ccl2018", "cnli_dev_1.0.txt", table(*bars(ZH, "{n}|{p}|{h}|{label}"))),
    ],
)
def test_wrong_encoding(name: str, file: str, text: str, encoding: str, said: str, tmp_path: Path, home: Path) -> None:
    path = tmp_path / file
    path.write_text(text, encoding=encoding)
    message = refuse(name, home, path)
    assert said in message
    assert "convert" in message


def test_wrong_encoding_of_json_lines(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(jsonl({"sentence1": ZH[0][0], "sentence2": ZH[0][1], "label": "neutral"}), encoding="gb18030")
    assert "is not UTF-8" in refuse("cmnli", home, path)


def test_one_row_of_another_encoding_is_a_problem(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "dev.tsv"
    text = table("text_a|text_b|label", *bars(ZH)).encode()
    path.write_bytes(text + "一只\t鸟\tneutral\n".encode("gb18030"))
    outcome = add("xnli-zh", [path])
    assert [problem.line for problem in outcome.problems] == [6]
    assert "is not UTF-8; convert the file to UTF-8" in outcome.problems[0].message


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "txt.gz"])
def test_a_truncated_archive(kind: str, tmp_path: Path, added: Path) -> None:
    whole = sick(first=50) + "".join(
        f"{n}\tA kite no. {n * n} flies.\tIt flies.\t3\tNEUTRAL\n" for n in range(100, 5000)
    )
    path = tmp_path / f"SICK_train.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("SICK_train.txt", whole)
    elif kind == "tar.gz":
        with tarfile.open(path, "w:gz") as tape:
            info = tarfile.TarInfo("SICK_train.txt")
            info.size = len(whole)
            tape.addfile(info, io.BytesIO(whole.encode()))
    else:
        path.write_bytes(gzip.compress(whole.encode()))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    message = refuse("sick", added, path)
    assert "is damaged or cut short" in message
    assert "copy or fetch it again" in message


def test_a_damaged_member_leaves_nothing_behind(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "SICK.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("SICK_train.txt", sick(first=50))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"heron", b"eagle", 1))
    assert "is damaged or cut short" in refuse("sick", added, path)


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "txt.gz"])
def test_a_bomb(kind: str, tmp_path: Path, added: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BOMB_SIZE", 1 << 20)
    zeros = bytes(4 << 20)
    path = tmp_path / f"SICK_train.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("SICK_train.txt", zeros)
    elif kind == "tar.gz":
        with tarfile.open(path, "w:gz") as tape:
            info = tarfile.TarInfo("SICK_train.txt")
            info.size = len(zeros)
            tape.addfile(info, io.BytesIO(zeros))
    else:
        path.write_bytes(gzip.compress(zeros))
    message = refuse("sick", added, path)
    assert "expands to more than 200 times its packed size" in message
    assert "SICK_train.txt" in message


def test_what_packs_well_but_is_small_is_no_bomb(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "SICK_train.txt.gz"
    lines = "".join(f"{n}\tA kite flies.\tIt flies.\t3\tNEUTRAL\n" for n in range(20_000))
    path.write_bytes(gzip.compress((SICK.replace("|", "\t") + "\n" + lines).encode()))
    assert len(add("sick", [path]).pairs) == 20_000


@pytest.mark.parametrize(
    "member", ["../SICK_train.txt", "/tmp/SICK_train.txt", "a/../../x.txt", r"..\x.txt", r"C:\x.txt"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_path_that_climbs_out(member: str, kind: str, tmp_path: Path, added: Path) -> None:
    path = tmp_path / f"SICK.{kind}"
    text = sick(first=50).encode()
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("SICK_train.txt", text)
            archive.writestr(zipfile.ZipInfo(member), text)
    else:
        with tarfile.open(path, "w") as tape:
            info = tarfile.TarInfo(member)
            info.size = len(text)
            tape.addfile(info, io.BytesIO(text))
    assert "climbs out of the archive" in refuse("sick", added, path)


class Trap:
    """Would leave a trace if it were ever unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("unpickled"),))  # type: ignore[return-value]


@pytest.mark.parametrize("suffix", ["pkl", "pickle", "pt", "bin", "PKL"])
def test_a_pickle_is_never_loaded(suffix: str, tmp_path: Path, added: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"SICK_train.{suffix}"
    path.write_bytes(pickle.dumps(Trap()))
    message = refuse("sick", added, path)
    assert "is a pickle" in message
    assert "never read" in message
    assert not Path("unpickled").exists()


def test_a_pickle_under_a_corpus_name(tmp_path: Path, added: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "SICK_train.txt"
    path.write_bytes(pickle.dumps(Trap()))
    refuse("sick", added, path)
    assert not Path("unpickled").exists()


def test_a_pickle_among_other_files_is_left_alone(tmp_path: Path, home: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "cache.pkl").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "given" / "SICK_train.txt").write_text(sick())
    outcome = add("sick", [tmp_path / "given"])
    assert [Path(name).name for name in outcome.ignored] == ["cache.pkl"]


def test_a_file_given_twice(tmp_path: Path, added: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "SICK_train.txt").write_text(sick())
    assert "are both sick's train file; give one of them" in refuse("sick", added, tmp_path / "one", tmp_path / "two")


def test_ids_given_twice(tmp_path: Path, added: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(sick(first=50) + "50\tA kite flies.\tIt flies.\t3\tNEUTRAL\n")
    assert "id '50' is given to 2 pairs; ids must be unique" in refuse("sick", added, path)


def test_a_failed_second_file_takes_nothing_of_the_first(tmp_path: Path, added: Path) -> None:
    (tmp_path / "SICK_train.txt").write_text(sick(first=50))
    (tmp_path / "SICK_trial.txt").write_text(sick(first=60, label="PERHAPS"))
    assert "rows cannot be read" in refuse("sick", added, tmp_path / "SICK_train.txt", tmp_path / "SICK_trial.txt")


def test_nothing_there(tmp_path: Path, home: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "none of nothing" in refuse("sick", home, tmp_path / "empty")
    assert "there is no such file" in refuse("sick", home, tmp_path / "absent")


def test_an_unknown_source(tmp_path: Path, home: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sick'"):
        add("sic", [tmp_path])


def test_entities_in_xml_are_not_expanded(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "rte1_dev.xml"
    path.write_text('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x><pair id="1"><t>&b;</t></pair></x>')
    assert "line 1: declares an entity" in refuse("rte-challenges", home, path)


def test_archives_in_a_folder_are_looked_into(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.txt", "text")
    assert [file.name for file in input_files(tmp_path)] == ["inside.txt"]
