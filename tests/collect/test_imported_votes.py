"""Votes of other tools that count: pseudonymous, unpaid, in events, in verdicts, and equal in the recount."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.importing.batches import add_all_pairs
from goldlabel.collect.data.importing.pairs import NewPairs
from goldlabel.collect.data.importing.tools import uploaded_pairs
from goldlabel.collect.data.importing.votes import COUNT
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.people.rejection import carry_out, decide
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import answers, events, ledger, outsiders, pairs
from goldlabel.collect.store import Store
from goldlabel.pairs import read
from tests.collect.campaign import join, verify_all


def made(store: Store, *, verifiers: int = 2, sample: int | None = None) -> int:
    plain = make_protocol("human-baseline", "en")
    protocol = replace(
        plain,
        verifying=replace(plain.verifying, verifiers=verifiers, sample=sample),
        qualification=replace(plain.qualification, training=0),
    )
    with store.write() as tx:
        return create_project(tx, "meadow", protocol, seed=7).id


def exported(folder: Path, votes: dict[int, list[tuple[str, str]]]) -> Path:
    """An export of doccano, a line each: who said what of pairs with these numbers."""
    rows = [
        {
            "id": 10 * n + place,
            "text": f"Mule {n} sleeps.",
            "hypothesis": f"Animal {n} rests.",
            "label": [label],
            "username": name,
        }
        for n, said in votes.items()
        for place, (name, label) in enumerate(said)
    ]
    path = folder / "all.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def bring(store: Store, project_id: int, rows: list[dict[str, Any]], folder: Path) -> tuple[int, int]:
    path = folder / "pairs.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    with store.read() as tx:
        protocol = project(tx, project_id).protocol
    new = NewPairs(read(path, labels=protocol.labels, unlabelled=True), protocol, "imported", COUNT)
    return add_all_pairs(store, project_id, new, origin="imported", by=None, votes=COUNT)


def pair(n: int, votes: list[str], annotators: list[str] | None) -> dict[str, Any]:
    meta = {"annotators": annotators, "seconds": [2.5] * len(votes)} if annotators else {}
    return {
        "id": str(n),
        "label": "neutral",
        "premise": f"Mule {n} sleeps.",
        "hypothesis": f"Animal {n} rests.",
        "votes": votes,
        "meta": meta,
    }


def test_votes_count_and_the_rest_is_asked(store: Store, tmp_path: Path) -> None:
    project_id = made(store, sample=1)
    rows = [
        pair(0, ["neutral", "neutral"], ["ann", "bob"]),
        pair(1, ["entailment"], ["ann"]),
        pair(2, ["neutral", "entailment", "neutral"], ["ann", "bob", "cleo"]),
        pair(3, [], None),
    ]
    assert bring(store, project_id, rows, tmp_path) == (4, 4)
    assert bring(store, project_id, rows, tmp_path) == (4, 0)
    with store.read() as tx:
        verdicts = [row.verdict for row in tx.all(select(pairs.c.verdict).order_by(pairs.c.id))]
        assert verdicts == ["neutral", None, "neutral", None]
        assert tx.value(select(func.count()).select_from(ledger)) == 0
        assert tx.value(select(func.count()).where(events.c.kind == "answer.imported")) == 6
        assert tx.value(select(func.count()).select_from(outsiders)) == 3
        names = set(pseudonyms_of(tx, project_id).values())
        assert not names & {"ann", "bob", "cleo"}
        assert not check(tx, project_id)
    assert verify_all(store, project_id, join(store, project_id, "verifier", 3), lambda *_: "entailment") == 1
    with store.read() as tx:
        assert not check(tx, project_id)
    export_project(store, project_id, tmp_path / "out")
    frame = read(tmp_path / "out").collect()
    metas = {row["premise"]: orjson.loads(row["meta"]) for row in frame.iter_rows(named=True)}
    assert metas["Mule 1 sleeps."]["imported"] == [True, False]
    assert set(metas["Mule 0 sleeps."]["annotators"]) <= names
    assert "bob" not in str(metas)
    assert metas["Mule 2 sleeps."]["seconds"] == [2.5] * 3


def test_imported_votes_are_set_aside_like_others(store: Store, tmp_path: Path) -> None:
    project_id = made(store)
    bring(store, project_id, [pair(0, ["neutral", "neutral"], ["ann", "bob"])], tmp_path)
    with store.write() as tx:
        person_id = tx.value(select(outsiders.c.person_id).where(outsiders.c.worker == "ann"))
        decision_id = decide(tx, project_id, person_id, "reject", reason="in doubt", by=None)
    carry_out(store, project_id, decision_id, by=None)
    with store.read() as tx:
        assert tx.value(select(pairs.c.verdict)) is None
        assert not check(tx, project_id)


@pytest.mark.parametrize(
    ("votes", "names", "says"),
    [
        (["unknown", "neutral"], ["ann", "bob"], "label 'unknown' is not one of"),
        (["neutral", "neutral"], ["ann", "ann"], "'ann' voted twice"),
    ],
)
def test_votes_that_cannot_count(store: Store, tmp_path: Path, votes: list[str], names: list[str], says: str) -> None:
    project_id = made(store)
    with pytest.raises(Invalid, match=says):
        bring(store, project_id, [pair(0, ["neutral"], ["ann"]), pair(1, votes, names)], tmp_path)
    with store.read() as tx:
        assert tx.value(select(func.count()).select_from(pairs)) == 0
        assert tx.value(select(func.count()).select_from(answers)) == 0


def test_an_export_of_a_tool_and_votes_without_names(store: Store, tmp_path: Path) -> None:
    project_id = made(store)
    file = exported(tmp_path, {0: [("ann", "neutral")], 1: [("ann", "entailment")]})
    with store.read() as tx:
        protocol = project(tx, project_id).protocol
    new = NewPairs(uploaded_pairs([file], "doccano", "nli3", ""), protocol, "imported", COUNT)
    assert add_all_pairs(store, project_id, new, origin="imported", by=None, votes=COUNT) == (2, 2)
    bring(store, project_id, [pair(7, ["neutral", "entailment"], None)], tmp_path)
    with store.read() as tx:
        assert tx.value(select(func.count()).where(answers.c.state == "counted")) == 4
        assert not check(tx, project_id)
