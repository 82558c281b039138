from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import goldlabel as gl
from goldlabel.cli import main
from tests.conftest import pair

Write = Callable[..., Path]


@dataclass(frozen=True)
class Done:
    """What a command printed and returned."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``goldlabel verify`` with the given arguments."""

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["goldlabel", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def voted(jsonl: Write) -> Path:
    rows = [
        pair(pairID="a", annotator_labels=list("eeeen"), genre="tv", annotators=["v", "w", "x", "y", "z"]),
        pair(pairID="b", annotator_labels=list("ennnn"), genre="news", annotators=["v", "w", "x", "y", "z"]),
        pair(pairID="c", annotator_labels=["e", "n", "c", "unrelated"], genre="news", annotators=["v", "w", "x", "y"]),
        pair(pairID="d", annotator_labels=["e"], genre="news", annotators=["v"]),
    ]
    return jsonl(*rows)


def test_json_has_the_keys_that_other_programs_read(run: Run, voted: Path, tmp_path: Path) -> None:
    done = run(voted, "--by", "genre", "-o", tmp_path / "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    verified = json.loads(done.stdout)
    keys = (
        "n relabelled units agree5 agree4 agree3 individual_gold individual_author gold_author gold_not_author no_gold"
    )
    keys += " unrelated fleiss_kappa krippendorff_alpha cohen_kappa intervals"
    for group in ("all", "news", "tv"):
        assert set(verified["groups"][group]) == set(keys.split())
    assert verified["groups"]["all"]["relabelled"] == 3
    assert (verified["gold_matches_label"], verified["gold_differs"]) == (1, 2)
    assert "NaN" not in done.stdout
    assert gl.read(tmp_path / "out").collect()["label"].to_list() == ["entailment", "neutral", "-", "entailment"]
    assert {"verification.json", "verification.csv"} <= {file.name for file in (tmp_path / "out").iterdir()}


def test_no_author_is_invented_for_a_file_that_names_none(run: Run, voted: Path) -> None:
    nobody, first = run(voted), run(voted, "--author", "first")
    assert "author" not in nobody.stdout
    assert "it is not known where the author's label is" in nobody.stderr
    assert "gold_author" in first.stdout
    assert "author" not in first.stderr


def test_the_table_is_for_people(run: Run, voted: Path) -> None:
    done = run(voted, "--by", "genre")
    assert done.returncode == 0
    assert "3 of 4 pairs relabelled" in done.stdout
    assert "agree5" in done.stdout
    assert "undefined" in done.stdout
    assert "5 annotators" in done.stdout
    assert "nan" not in done.stdout.lower()


@pytest.mark.parametrize("method", ["two-plus-one", "weighted-majority", "dawid-skene", "mace"])
def test_every_method(run: Run, voted: Path, method: str) -> None:
    verified = json.loads(run(voted, "--method", method, "--author", "first", "--json", "--resamples", 10).stdout)
    assert verified["method"] == method
    assert verified["details"]


def test_foreign_pairs_and_a_human_baseline(run: Run, voted: Path, jsonl: Write, tmp_path: Path) -> None:
    foreign = jsonl(pair(pairID="f", annotator_labels=list("nneee")), name="foreign.jsonl")
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("pair,annotator,label\na,p,e\na,q,e\na,r,n\nb,p,n\nb,q,n\n")
    done = run(voted, "--foreign", foreign, "--votes", fresh, "--baseline", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    verified = json.loads(done.stdout)
    assert verified["human_baseline"]["accuracy"]["value"] == 50.0
    assert verified["foreign"]["foreign"]["relabelled"] == 1
    assert verified["groups"]["all"]["relabelled"] == 2
    assert "Human baseline on 2 pairs" in run(voted, "--votes", fresh, "--baseline").stdout


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([pair(), pair(pairID="2")], [], "there are no votes"),
        ([pair(annotator_labels=["e"])], [], "no pair has more than one vote"),
        ([pair(annotator_labels=["e", "entails"])], [], "vote 'entails' is not one of"),
        ([pair(annotator_labels=["e", "n"])], ["--by", "gender"], "there is no column 'gender'"),
        ([pair(annotator_labels=["e", "n"])], ["--method", "mace"], "mace needs to know who cast each vote"),
        ([pair(annotator_labels=["e", "n"])], ["--method", "median"], "there is no way to a gold label 'median'"),
        ([pair(annotator_labels=["e", "n"])], ["--quorum", "0"], "a quorum of 0 votes"),
        ([pair(annotator_labels=["e", "n"])], ["--confidence", "95"], "confidence 95.0 is not between 0 and 1"),
        ([pair(annotator_labels=["e", "n"])], ["--author", "me"], "author 'me' is not understood"),
        ([pair(annotator_labels=["e", "n"])], ["--baseline"], "pass them with --votes"),
        ([pair(annotator_labels=["e", "n"])], ["--votes", "nowhere.csv"], "there is no such file"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    run: Run, jsonl: Write, rows: list[dict[str, object]], options: list[str], message: str
) -> None:
    done = run(jsonl(*rows), *options, "--json")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_one_class_and_one_label_are_undefined_not_errors(run: Run, jsonl: Write) -> None:
    rows = [pair(pairID=str(number), annotator_labels=list("eee")) for number in range(3)]
    done = run(jsonl(*rows), "--json")
    assert done.returncode == 0
    verified = json.loads(done.stdout)["groups"]["all"]
    assert verified["fleiss_kappa"] is None
    assert verified["krippendorff_alpha"] is None
    assert verified["agree3"] == 100.0
    assert verified["agree5"] is None


def test_the_input_is_not_written_over(run: Run, voted: Path) -> None:
    before = voted.read_bytes()
    done = run(voted, "-o", voted)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the input itself; choose another place" in done.stderr
    assert voted.read_bytes() == before


def test_a_vote_mapped_to_no_label_counts_for_nobody(run: Run, jsonl: Write) -> None:
    rows = [
        pair(pairID="a", annotator_labels=list("eee"), annotators=["v", "w", "x"]),
        pair(pairID="b", annotator_labels=["n", "?", "n"], annotators=["v", "w", "x"]),
        pair(pairID="c", annotator_labels=["?", "c", "c"], annotators=["w", "v", "x"]),
    ]
    done = run(jsonl(*rows), "--map", "?=-", "--json")
    verified = json.loads(done.stdout)
    assert verified["groups"]["all"]["unrelated"] == 0.0
    assert verified["groups"]["all"]["individual_gold"] == 100.0
    assert {name: person["votes"] for name, person in verified["annotators"].items()} == {"v": 3, "w": 1, "x": 3}
    assert verified["votes"]["counted"] == 7


def test_who_cast_which_vote_is_kept_where_a_vote_is_empty(run: Run, jsonl: Write) -> None:
    rows = [
        pair(pairID=str(number), annotator_labels=["e", "", "n", "e"], annotators=["v", "w", "x", "y"])
        for number in range(3)
    ]
    people = json.loads(run(jsonl(*rows), "--json").stdout)["annotators"]
    assert {name: person["votes"] for name, person in people.items()} == {"v": 3, "x": 3, "y": 3}
    assert people["x"]["confusion"]["entailment"]["neutral"] == 3


@pytest.fixture
def second_opinion(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    rows = ["a,p,0", "a,q,0", "b,q,1", "a,r,1", "b,p,0", "b,r,1"]
    path.write_text("pair,annotator,label\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "mace"])
def test_what_is_written_is_what_was_used(
    run: Run, voted: Path, second_opinion: Path, tmp_path: Path, method: str
) -> None:
    spelled = ("--map", "0=entailment", "--map", "1=neutral")
    done = run(voted, "--votes", second_opinion, *spelled, "--method", method, "-o", tmp_path / "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    written = {row["id"]: row for row in gl.read(tmp_path / "out").collect().iter_rows(named=True)}
    assert [written[name]["votes"] for name in "abcd"] == [
        ["entailment", "entailment", "neutral"],
        ["neutral", "entailment", "neutral"],
        [],
        [],
    ]
    meta = {name: json.loads(row["meta"] or "{}") for name, row in written.items()}
    assert meta["b"]["annotators"] == ["q", "p", "r"]
    assert "annotators" not in meta["c"]
    if method == "majority":
        assert "posterior" not in meta["a"]
    else:
        assert meta["a"]["posterior"].keys() == {"contradiction", "entailment", "neutral"}
        assert sum(meta["a"]["posterior"].values()) == pytest.approx(1)
        assert meta["b"]["posterior"]["neutral"] > 0.5
        assert "posterior" not in meta["c"]
    again = json.loads(run(tmp_path / "out", "--method", method, "--json").stdout)
    assert again["groups"]["all"]["fleiss_kappa"] == json.loads(done.stdout)["groups"]["all"]["fleiss_kappa"]
    assert again["gold_differs"] == 0


def test_one_annotators_second_vote_is_refused_or_resolved_and_counted(run: Run, voted: Path, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("pair,annotator,label\na,p,e\na,q,n\na,p,n\nb,p,n\nb,q,n\n")
    refused = run(voted, "--votes", path)
    assert refused.returncode == 2
    assert "'p' voted more than once on pair 'a'; pass --repeats last or first" in refused.stderr
    for choice, agreed in (("last", 100.0), ("first", 50.0)):
        verified = json.loads(run(voted, "--votes", path, "--repeats", choice, "--json").stdout)
        assert verified["votes"] == {"counted": 4, "unlabelled": 0, "repeated": 1}
        assert 100 - verified["groups"]["all"]["no_gold"] == agreed
    assert run(voted, "--votes", path, "--repeats", "best").returncode == 2


def test_a_quorum_that_nobody_can_reach_is_said(run: Run, voted: Path) -> None:
    assert "no pair has the 7 votes of the quorum" in run(voted, "--quorum", 7).stderr
    assert "1 of 3 pairs do not have the 5 votes of the quorum" in run(voted, "--quorum", 5).stderr
    assert "quorum" not in run(voted, "--quorum", 4).stderr


def test_pending_pairs_keep_their_label_and_are_counted(run: Run, jsonl: Write, tmp_path: Path) -> None:
    rows = [
        pair(pairID="done", gold_label="e", annotator_labels=list("enn")),
        pair(pairID="open", gold_label="e", annotator_labels=list("enc")),
        pair(pairID="given-up", gold_label="e", annotator_labels=list("encu".replace("u", "e"))),
    ]
    done = run(jsonl(*rows), "--method", "two-plus-one", "--author", "first", "-o", tmp_path / "out", "--json")
    verified = json.loads(done.stdout)
    assert (verified["gold_matches_label"], verified["gold_differs"], verified["pending"]) == (0, 2, 1)
    assert verified["groups"]["all"]["no_gold"] == 50.0
    assert gl.read(tmp_path / "out").collect()["label"].to_list() == ["neutral", "entailment", "-"]
    assert "1 pending" in run(jsonl(*rows), "--method", "two-plus-one", "--author", "first").stdout


def test_the_level_reaches_every_interval(run: Run, jsonl: Write, tmp_path: Path) -> None:
    cast = ("eeeee", "nnnnn", "ccccc", "eeeen", "ennnn", "ecccn", "eennc", "nneeu") * 3
    ours, foreign = (
        jsonl(
            *(
                pair(pairID=str(n), sentence1=f"Heron {n}.", annotator_labels=list(one.replace("u", "")), genre="tv")
                for n, one in enumerate(votes)
            ),
            name=f"{name}.jsonl",
        )
        for name, votes in (("own", cast), ("foreign", (*cast[::-1], "eeenn", "encne")))
    )
    fresh = tmp_path / "fresh.csv"
    rows = [
        f"{n},{who},{vote},2024-05-{n + 1:02}"
        for n, one in enumerate(cast)
        for who, vote in zip("pqrst", one.replace("u", "n"), strict=True)
    ]
    fresh.write_text("pair,annotator,label,time\n" + "\n".join(rows) + "\n")

    def intervals(level: float) -> dict[str, list[float]]:
        options = ("--foreign", foreign, "--votes", fresh, "--author", "label", "--baseline", "--by", "genre")
        return dict(_intervals(json.loads(run(ours, *options, "--level", level, "--json").stdout)))

    narrow, wide = intervals(0.5), intervals(0.99)
    assert narrow.keys() == wide.keys()
    for part in ("groups/all", "groups/tv", "human_baseline/people", "foreign/difference", "annotators/p/drift"):
        assert any(part in name for name in narrow), part
    for name in narrow:
        assert narrow[name][1] - narrow[name][0] < wide[name][1] - wide[name][0], name


def _intervals(document: object, path: str = "") -> Iterator[tuple[str, list[float]]]:
    """Yield every interval of a JSON document that is one, under where it stands."""
    if isinstance(document, dict):
        for name, value in document.items():
            inside = path.endswith("/intervals") or name == "interval"
            if inside and value is not None:
                yield f"{path}/{name}", value
            else:
                yield from _intervals(value, f"{path}/{name}")
    elif isinstance(document, list):
        for place, value in enumerate(document):
            yield from _intervals(value, f"{path}/{place}")


def test_a_csv_of_raters_without_labels_and_a_long_table_beside_pairs(run: Run, tmp_path: Path) -> None:
    rated = tmp_path / "rated.csv"
    rated.write_text("id;premise;hypothesis;r1;r2;r3\na;x;y;E;e;n\nb;x;z;N;;n\n")
    done = run(rated, "--votes-from", "r1,r2,r3", "-o", tmp_path / "gold", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["votes"]["counted"] == 5
    assert [pair["label"] for pair in gl.read(tmp_path / "gold")] == ["entailment", "neutral"]
    bare, crowd = tmp_path / "bare.csv", tmp_path / "crowd.csv"
    bare.write_text("id,premise,hypothesis\na,x,y\n")
    crowd.write_text("hit,who,answer\na,w1,n\na,w2,n\n")
    names = ("--columns", "pair=hit,annotator=who,vote=answer")
    done = run(bare, "--votes", crowd, *names, "-o", tmp_path / "crowd")
    assert done.returncode == 0, done.stderr
    assert gl.read(tmp_path / "crowd")[0]["label"] == "neutral"
    done = run(bare, *names)
    assert (done.returncode, "pass it with --votes" in done.stderr) == (2, True)
