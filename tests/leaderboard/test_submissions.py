from __future__ import annotations

import io
import json
import struct

import polars as pl
import pytest
from sqlalchemy import func, select

from goldlabel.collect.refusals import Conflict, Missing, TooMany
from goldlabel.leaderboard import contents
from goldlabel.leaderboard.board import QUESTION, Limits, Reference
from goldlabel.leaderboard.schema import scores, uploads
from goldlabel.leaderboard.submissions import all_own, left_of, own, withdraw
from goldlabel.leaderboard.submitters import Submitter
from goldlabel.leaderboard.trail import steps
from goldlabel.pairs.labels import NLI3
from tests.collect.conftest import MovableClock
from tests.leaderboard.boards import GOLD, SIZES, Leaderboard, Make, answers, csv, one_csv, packed

MANY = Limits(per_day=50, per_week=100)


@pytest.fixture
def submitter(board: Leaderboard) -> Submitter:
    return board.join("Reed Lab")


def outcome(
    board: Leaderboard, submitter: Submitter, data: bytes, file: str = "predictions.csv"
) -> tuple[str, str | None]:
    sent, _ = board.send(submitter, data, file=file, limits=MANY)
    board.work()
    with board.store.read() as tx:
        told = own(tx, submitter, sent.id)
    return told.state, told.problem


def test_every_form_of_the_same_predictions_scores_the_same(board: Leaderboard, submitter: Submitter) -> None:
    labels = answers(6)
    by_set = {name: one_csv(name, own) for name, own in labels.items()}
    frame = pl.read_csv(csv(labels))
    stream = io.BytesIO()
    frame.write_parquet(stream)
    probabilities = frame.filter(pl.col("dataset") == "meadow").with_columns(
        (0.2 + 0.4 * (pl.col("label") == label)).alias(label) for label in NLI3.labels
    )
    questions = {name: board.board.suites[0].find(name).gold.frame[QUESTION].to_list() for name in SIZES}
    forms = {
        "one.csv": csv(labels),
        "one.tsv": csv(labels, comma="\t"),
        "one.jsonl": frame.write_ndjson().encode(),
        "one.parquet": stream.getvalue(),
        "several.zip": packed({f"deep/er/{name}.csv": data for name, data in by_set.items()}),
        "probable.zip": packed(
            {"meadow.jsonl": probabilities.drop("dataset").write_ndjson().encode(), "pond.csv": by_set["pond"]}
        ),
        "asked.csv": frame.with_columns(pl.Series("id", [question for name in labels for question in questions[name]]))
        .sample(fraction=1, shuffle=True, seed=3)
        .write_csv()
        .encode(),
    }
    for file, data in forms.items():
        assert outcome(board, submitter, data, file) == ("scored", None), file
    listed = board.entries()
    assert len(listed) == len(forms)
    assert {entry.sets["meadow"].value for entry in listed} == {0.9}
    assert {entry.sets["pond"].value for entry in listed} == {0.85}
    assert {entry.mean.value for entry in listed if entry.mean} == {0.875}
    assert {entry.rank for entry in listed} == {1}
    with board.store.read() as tx:
        assert tx.value(select(func.count()).select_from(uploads)) == 0, "what is scored is not kept"


def changed(**changes: list[str]) -> bytes:
    rows = csv(answers()).decode().splitlines()
    rows = [row for row in rows if row not in changes.get("without", [])] + changes.get("also", [])
    return "\n".join(rows).encode()


BAD = {
    "missing": (changed(without=["pond,pond-7,not_entailment", "pond,pond-7,entailment"]), "1 of 40 pairs of pond are"),
    "doubled": (changed(also=["pond,pond-7,entailment"]), "id 'pond-7' stands in row 8 too"),
    "unknown": (changed(also=["pond,pond-77,entailment"]), "'pond-77' is no id of pond"),
    "no set": (changed(also=["lake,lake-1,entailment"]), "dataset 'lake' is no set here"),
    "no label": (changed(without=[f"pond,pond-7,{GOLD['pond'][7]}"], also=["pond,pond-7,-"]), "have no label"),
    "a foreign label": (csv({**answers(), "pond": ["maybe"] * 40}), "label 'maybe' is not one of"),
    "one set alone": (csv({"pond": GOLD["pond"]}), "no predictions for meadow"),
    "no id": (b"label\nneutral\n", "which set is it about"),
    "nothing": (b"", "cannot be read"),
    "no text": (bytes(range(256)) * 9, ""),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_predictions_are_refused_with_a_reason(board: Leaderboard, submitter: Submitter, what: str) -> None:
    data, said = BAD[what]
    state, problem = outcome(board, submitter, data)
    assert state == "refused"
    assert problem is not None
    assert said in problem
    assert "/tmp" not in problem
    assert board.entries() == []
    sent, is_new = board.send(submitter, data, limits=MANY)
    assert (sent.id, sent.state, is_new) == (1, "waiting", True), "sent again, it is checked again"


def test_a_refusal_is_the_same_whatever_the_labels(board: Leaderboard, submitter: Submitter) -> None:
    told = {outcome(board, submitter, csv(answers(wrong)).rpartition(b"\npond")[0])[1] for wrong in (0, 1, 20, 40)}
    assert len(told) == 1


def test_zips_that_do_harm_are_refused(
    board: Leaderboard, submitter: Submitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {f"{name}.csv": one_csv(name, own) for name, own in answers().items()}
    bomb = packed({**good, "README.md": b"0" * (200 << 20)})
    assert len(bomb) < 1 << 20
    locked = bytearray(packed(good))
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", locked, locked.index(signature) + place, 1)
    parquet = io.BytesIO()
    pl.DataFrame({"id": ["a"], "label": ["neutral"]}).select(pl.all().repeat_by(1_000_000).explode()).write_parquet(
        parquet
    )
    bad = {
        "expands to 200 MB": bomb,
        "climbs out": packed({**good, "../../etc/cron.d/x.csv": b"id,label\n"}),
        "holds 501 files": packed({f"{number}.csv": b"" for number in range(501)}),
        "is encrypted": bytes(locked),
        "is no zip": b"PK\x03\x04 and nothing more",
        "holds two files": packed({**good, "more/pond.csv": good["pond.csv"]}),
        "neither predictions": packed({**good, "model.pkl": b"x"}),
        "no JSON object": packed({**good, "card.json": b"[1]"}),
        "more than 65,536 bytes": packed({**good, "README.md": b"".join(b"%d " % number for number in range(20_000))}),
        "1,000,000 rows": packed({"meadow.csv": good["meadow.csv"], "pond.parquet": parquet.getvalue()}),
    }
    for said, data in bad.items():
        with monkeypatch.context() as patch:
            if said in ("expands to 200 MB", "holds 501 files", "is encrypted"):
                patch.delattr(contents, "input_files")  # nothing is unpacked
            state, problem = outcome(board, submitter, data, "all.zip")
        assert (state, said in (problem or "")) == ("refused", True), (said, problem)


def test_a_card_and_the_figure_without_the_premise(board: Leaderboard, submitter: Submitter) -> None:
    members = {f"{name}.csv": one_csv(name, own) for name, own in answers(3).items()}
    members |= {f"hypothesis-only/{name}.csv": one_csv(name, own) for name, own in answers(20).items()}
    card = {"model": "bilstm", "training": ["fragments", "<b>"], "parameters": 1200, "more": {"x": 1}}
    members |= {"card.json": json.dumps(card).encode(), "README.md": "# Vögel\n".encode()}
    assert outcome(board, submitter, packed(members), "all.zip") == ("scored", None)
    [entry] = board.entries()
    assert entry.hypothesis_only is not None
    assert entry.hypothesis_only.value == round((40 / 60 + 20 / 40) / 2, 3)
    assert entry.hypothesis_only.interval is not None
    assert (entry.model, entry.training, entry.parameters) == ("bilstm", ("fragments", "<b>"), 1200)
    assert entry.readme == "# Vögel\n"


def test_ranks_and_ties(board: Leaderboard, submitter: Submitter) -> None:
    for name, wrong in {"first": 1, "second": 2, "worst": 33}.items():
        board.send(submitter, csv(answers(wrong)), name=name, limits=MANY)
    board.work()
    listed = {entry.name: entry for entry in board.entries()}
    assert [*listed] == ["first", "second", "worst"]
    assert [entry.rank for entry in listed.values()] == [1, 1, 3]
    assert [entry.shared for entry in listed.values()] == [True, True, False]
    assert [entry.tied for entry in listed.values()] == [("second",), ("first",), ()]
    with board.store.write() as tx:
        withdraw(tx, listed["first"].id or 0, submitter=submitter)
    assert [entry.name for entry in board.entries()] == ["second", "worst"], "it is gone at once"
    board.work()
    assert [(entry.rank, entry.shared) for entry in board.entries()] == [(1, False), (2, False)]


def test_papers_rows_stand_among_the_entries_without_interval_and_rank(make: Make) -> None:
    references = [
        Reference(name="Old", paper="Someone 2019", accuracies={"meadow": 0.8, "pond": 0.6}),
        Reference(name="Half", paper="Someone 2019", accuracies={"pond": 0.99}),
    ]
    board = make(references=references)
    submitter = board.join("Reed Lab")
    board.send(submitter, csv(answers(20)))
    board.work()
    first, second, last = board.entries()
    assert (first.name, first.is_reference, first.rank, second.rank) == ("Old", True, None, 1)
    assert first.mean is not None
    assert (first.mean.value, first.mean.interval) == (pytest.approx(0.7), None)
    assert (last.name, last.mean, last.sets["pond"].value) == ("Half", None, 0.99)


def test_the_same_bytes_are_one_submission(board: Leaderboard, submitter: Submitter) -> None:
    first, new = board.send(submitter, csv(answers()))
    again, once_more = board.send(submitter, csv(answers()))
    assert (new, once_more, first.id) == (True, False, again.id)
    board.work()
    assert board.send(submitter, csv(answers()))[0].state == "scored"
    other = board.join("Moss Lab")
    assert board.send(other, csv(answers()))[1], "another's is another's"
    with board.store.read() as tx:
        assert left_of(tx, submitter, board.board.limits) == {"day": 1, "week": 5}


def test_labels_cannot_be_dug_out(make: Make, clock: MovableClock) -> None:
    board = make(limits=Limits(per_day=2, per_week=3))
    submitter = board.join("Reed Lab")
    for wrong in (1, 2):
        board.send(submitter, csv(answers(wrong)), name=f"model {wrong}")
    clock.move(hours=1)
    board.work()
    with pytest.raises(TooMany) as refused:
        board.send(submitter, csv(answers(3)))
    assert refused.value.retry_after == 23 * 3600
    with board.store.write() as tx:
        withdraw(tx, 1, submitter=submitter)
    with pytest.raises(TooMany):
        board.send(submitter, csv(answers(3)))
    clock.move(hours=23)
    bad, _ = board.send(submitter, b"nonsense")
    board.work()
    assert board.send(submitter, csv(answers(3)))[1], "what is refused tells nothing and counts for nothing"
    clock.move(days=2)
    with pytest.raises(TooMany) as refused:
        board.send(submitter, csv(answers(4)))
    assert refused.value.retry_after == 4 * 86400
    board.send(board.join("Moss Lab"), csv(answers(4)))
    with board.store.read() as tx:
        kinds = [(step.kind, step.subject) for step in steps(tx, submitter_id=submitter.id)]
    assert ("submission.refused", f"submission {bad.id}") in kinds
    assert ("submission.withdrawn", "submission 1") in kinds


def test_figures_are_published_to_a_tenth_of_a_per_cent(board: Leaderboard, submitter: Submitter) -> None:
    board.send(submitter, csv(answers(7)))
    board.work()
    with board.store.read() as tx:
        figures = tx.value(select(scores.c.figures))
    numbers = [figures["mean"], *figures["sets"].values()]
    shown = [number for figure in numbers for number in (figure["value"], *figure["interval"])]
    assert shown == [round(number, 3) for number in shown]
    assert 53 / 60 not in shown


def test_nobody_touches_anothers_submission(board: Leaderboard, submitter: Submitter) -> None:
    sent, _ = board.send(submitter, csv(answers()))
    stranger = board.join("Moss Lab")
    with board.store.write() as tx:
        for act in (own, lambda tx, who, number: withdraw(tx, number, submitter=who)):
            with pytest.raises(Missing):
                act(tx, stranger, sent.id)
        assert all_own(tx, stranger) == []
        assert not [step for step in steps(tx, submitter_id=stranger.id) if "submission" in step.kind]
        withdraw(tx, sent.id, submitter=None)
        with pytest.raises(Conflict):
            withdraw(tx, sent.id, submitter=submitter)
    board.work()
    assert board.entries() == []


def test_names_are_kept_as_they_are(board: Leaderboard, submitter: Submitter) -> None:
    names = [
        "<script>alert(1)</script>",
        "\\input{/etc/passwd}",
        "../../etc/passwd",
        "=1+1",
        "苍鹭 🐦",
        "a\u202eb\x00c",
    ]
    for name in names:
        board.send(submitter, csv(answers()), name=name, file="../..\\x/<b>.csv", limits=MANY)
    board.work()
    with board.store.read() as tx:
        told = all_own(tx, submitter)
    assert [one.name for one in told][::-1] == [*names[:-1], "abc"]
    assert {one.file for one in told} == {"<b>.csv"}
    assert {one.state for one in told} == {"scored"}
    assert contents.suffix_of("x/../a.CSV") == ".csv"
