"""Suggestions: recorded with where they come from, shown only where the project says so, and told with each vote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import configure, create_project
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.importing.batches import add_all_pairs
from goldlabel.collect.data.importing.pairs import NewPairs, read_pairs
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.stats import project_stats
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import assignments, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.verifying import undo, vote
from goldlabel.pairs import read
from tests.collect.campaign import join


def judging(share: float = 0.0) -> Protocol:
    plain = make_protocol("human-baseline", "en")
    return replace(
        plain,
        verifying=replace(plain.verifying, verifiers=2, suggestions=share),
        qualification=replace(plain.qualification, training=0),
    )


def made(store: Store, share: float, count: int = 4) -> int:
    new = [
        NewPair(
            premise=f"Mule {n} sleeps.", hypothesis="It rests.", label="neutral", suggestion="neutral", suggested_by="m"
        )
        for n in range(count)
    ]
    with store.write() as tx:
        found = create_project(tx, "meadow", judging(share), seed=7)
        import_pairs(tx, found.id, new, origin="imported", by=None)
    return found.id


def judge_all(store: Store, project_id: int, person: int, label: str) -> list[str | None]:
    """Judge everything with one label; return the suggestions that were seen."""
    seen = []
    with store.write() as tx:
        while got := claim(tx, project_id, person, "verify").tasks:
            seen.append(got[0].suggestion)
            vote(tx, got[0].assignment_id, person, key="k", label=label)
    return seen


def test_columns_of_a_file(store: Store, tmp_path: Path) -> None:
    rows = [
        {
            "premise": "A.",
            "hypothesis": "B.",
            "label": "neutral",
            "suggestion": "entailment",
            "suggested_by": "model 3",
        },
        {"premise": "A.", "hypothesis": "C.", "label": "neutral"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    with store.write() as tx:
        project_id = create_project(tx, "meadow", judging(), seed=7).id
    new = NewPairs(read_pairs(path, "nli3"), judging(), "imported")
    add_all_pairs(store, project_id, new, origin="imported", by=None)
    with store.read() as tx:
        stored = [tuple(row) for row in tx.all(select(pairs.c.suggestion, pairs.c.suggested_by).order_by(pairs.c.id))]
        assert stored == [("entailment", "model 3"), (None, None)]
    path.write_bytes(orjson.dumps({**rows[0], "hypothesis": "D.", "suggestion": "perhaps"}) + b"\n")
    with pytest.raises(Invalid, match="suggestion 'perhaps' is not one of"):
        add_all_pairs(
            store, project_id, NewPairs(read_pairs(path, "nli3"), judging(), "imported"), origin="imported", by=None
        )


def test_what_was_shown_is_told_whatever_the_setting_becomes(store: Store, tmp_path: Path) -> None:
    project_id = made(store, 0.0)
    ann, bob = join(store, project_id, "verifier", 2)
    assert judge_all(store, project_id, ann, "entailment") == [None] * 4
    with store.write() as tx:
        configure(tx, project_id, judging(1.0), by=None)
        [got] = claim(tx, project_id, bob, "verify").tasks
        configure(tx, project_id, judging(0.0), by=None)
        assert claim(tx, project_id, bob, "verify").tasks[0].suggestion == "neutral"
        vote(tx, got.assignment_id, bob, key="a", label="neutral")
        assert undo(tx, project_id, bob).suggestion == "neutral"
        vote(tx, got.assignment_id, bob, key="b", label="neutral")
    assert judge_all(store, project_id, bob, "neutral") == [None] * 3
    with store.write() as tx:
        assert not check(tx, project_id)
        figures = project_stats(tx, project_id, resamples=10).to_dict()["suggestions"]
        assert (figures["shown"]["share"], figures["shown"]["n"]) == (1.0, 1)
        assert (figures["not_shown"]["share"], figures["not_shown"]["n"]) == (3 / 7, 7)
        tx.change(assignments, got.assignment_id, suggestion=None)
        assert [line for line in check(tx, project_id) if line.startswith("suggestion shown with answer")]
        tx.change(assignments, got.assignment_id, suggestion="neutral")
    export_project(store, project_id, tmp_path / "out")
    metas = [orjson.loads(meta) for meta in read(tmp_path / "out").collect()["meta"]]
    assert {(meta["suggestion"], meta["suggested_by"]) for meta in metas} == {("neutral", "m")}
    assert sorted(meta["suggestion_shown"] for meta in metas) == [[False, False]] * 3 + [[False, True]]


def test_a_share_of_the_tasks(store: Store) -> None:
    project_id = made(store, 0.5, count=40)
    [ann] = join(store, project_id, "verifier", 1)
    seen = judge_all(store, project_id, ann, "neutral")
    assert 8 < seen.count("neutral") < 32
    with store.read() as tx:
        assert project(tx, project_id).protocol.verifying.suggestions == 0.5
