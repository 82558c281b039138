from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project, set_state
from goldlabel.collect.data.export import export_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.events import history
from goldlabel.collect.people.people import add_member, set_member
from goldlabel.collect.projects import project as load
from goldlabel.collect.refusals import Conflict, Forbidden, Invalid, Missing
from goldlabel.collect.schema import pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.tagging import (
    LONGEST_COMMENT,
    TAGS,
    last_tagged,
    next_to_tag,
    pair_to_tag,
    tag_figures,
    tag_pair,
    tag_progress,
)
from tests.collect.campaign import ANIMALS, join, small_protocol, verify_all, write_all

Meadow = tuple[Store, int, dict[str, int]]


@pytest.fixture
def meadow(store: Store) -> Meadow:
    """A project of twelve written pairs, half of them judged, with two experts."""
    with store.write() as tx:
        project_id = create_project(tx, "meadow", small_protocol("single", verifiers=1), seed=7).id
        pool = [Premise(text=f"Yesterday a {animal} crossed the wet road.") for animal in ANIMALS[:4]]
        add_premises(tx, project_id, pool, by=None)
    writer = join(store, project_id, "writer", 1)[0]
    write_all(store, project_id, [writer])
    verifier = join(store, project_id, "verifier", 1)[0]
    verify_all(store, project_id, [verifier], most=6)
    ann, bea = join(store, project_id, "expert", 2)
    return store, project_id, {"writer": writer, "verifier": verifier, "ann": ann, "bea": bea}


def decided(store: Store, project_id: int, person_id: int) -> int:
    with store.read() as tx:
        task = next_to_tag(tx, project_id, person_id)
    assert task is not None
    return task.pair_id


def test_experts_tag_everything_once_decided_pairs_first(meadow: Meadow) -> None:
    store, project_id, people = meadow
    seen: list[int] = []
    for turn in range(12):
        with store.write() as tx:
            who = people["ann" if turn % 2 else "bea"]
            task = next_to_tag(tx, project_id, who)
            assert task is not None
            tag_pair(tx, project_id, who, task.pair_id, tags=["lexical"])
            seen.append(task.pair_id)
    assert len({*seen}) == 12
    with store.read() as tx:
        assert next_to_tag(tx, project_id, people["ann"]) is None
        assert (tag_progress(tx, project_id, people["ann"]).done, tag_figures(tx, load(tx, project_id)).total) == (
            12,
            12,
        )
        judged = {row.id for row in tx.all(select(pairs.c.id).where(pairs.c.verdict.is_not(None)))}
        assert {*seen[:6]} == judged
        assert last_tagged(tx, project_id, people["ann"]) == seen[-1]


def test_what_was_said_can_be_changed_and_the_change_is_an_event(meadow: Meadow) -> None:
    store, project_id, people = meadow
    pair_id = decided(store, project_id, people["ann"])
    with store.write() as tx:
        tag_pair(
            tx, project_id, people["ann"], pair_id, tags=["tricky", "numerical"], quality="debatable", comment=" a "
        )
        tag_pair(tx, project_id, people["ann"], pair_id, tags=["reasoning", "numerical"], comment="b")
        told = pair_to_tag(tx, project_id, people["ann"], pair_id).tagging
        assert told is not None
        assert (told.tags, told.quality, told.comment) == (("numerical", "reasoning"), "sound", "b")
        assert pair_to_tag(tx, project_id, people["bea"], pair_id).tagging is None
        events = [row.data for row in history(tx, project_id, limit=1000) if row.kind == "pair.tagged"]
        assert [one["tags"] for one in events] == [["numerical", "tricky"], ["numerical", "reasoning"]]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tags": []}, "choose one or more of numerical"),
        ({"tags": ["lexical", "magic"]}, "there is no tag 'magic'"),
        ({"quality": "bad"}, "cannot be 'bad'; allowed: sound"),
        ({"comment": "x" * (LONGEST_COMMENT + 1)}, "up to 2000"),
    ],
)
def test_what_cannot_be_said(meadow: Meadow, change: dict[str, object], says: str) -> None:
    store, project_id, people = meadow
    pair_id = decided(store, project_id, people["ann"])
    with store.write() as tx, pytest.raises(Invalid, match=says):
        tag_pair(tx, project_id, people["ann"], pair_id, **{"tags": ["lexical"], **change})  # type: ignore[arg-type]


def test_nobody_tags_what_they_wrote_or_may_still_judge(meadow: Meadow) -> None:
    store, project_id, people = meadow
    with store.write() as tx:
        for name in ("writer", "verifier"):
            add_member(tx, project_id, people[name], "expert", by=None)
        assert next_to_tag(tx, project_id, people["writer"]) is None
        assert tag_progress(tx, project_id, people["verifier"]).total == 6
        assert tag_progress(tx, project_id, people["ann"]).total == 12
    pair_id = decided(store, project_id, people["ann"])
    with store.write() as tx, pytest.raises(Missing):
        tag_pair(tx, project_id, people["writer"], pair_id, tags=["lexical"])


def test_only_experts_who_may_work_tag(meadow: Meadow) -> None:
    store, project_id, people = meadow
    pair_id = decided(store, project_id, people["ann"])
    with store.write() as tx, pytest.raises(Forbidden):
        tag_pair(tx, project_id, people["verifier"], pair_id, tags=["lexical"])
    with store.write() as tx:
        set_member(tx, project_id, people["bea"], "expert", state="paused", by=None)
        with pytest.raises(Conflict):
            tag_pair(tx, project_id, people["bea"], pair_id, tags=["lexical"])
        set_state(tx, project_id, "paused", by=None)
        with pytest.raises(Conflict):
            tag_pair(tx, project_id, people["ann"], pair_id, tags=["lexical"])


def test_figures_and_export_tell_the_tags(meadow: Meadow, tmp_path: Path) -> None:
    store, project_id, people = meadow
    with store.write() as tx:
        for number in range(4):
            task = next_to_tag(tx, project_id, people["ann"])
            assert task is not None
            tags, quality = [TAGS[0], *([TAGS[3]] if number else [])], "ambiguous" if number == 2 else "sound"
            tag_pair(tx, project_id, people["ann"], task.pair_id, tags=tags, quality=quality, comment="这里" * number)
        tag_pair(tx, project_id, people["bea"], task.pair_id, tags=["tricky"], quality="debatable")
        figures = tag_figures(tx, load(tx, project_id))
    assert (figures.tagged, figures.total, figures.doubts) == (4, 12, {"ambiguous": 1, "debatable": 1})
    shares = {line.tag: (line.share.value, line.share.n) for line in figures.lines}
    assert shares == {
        "numerical": (1.0, 4),
        "reference": (0.0, 4),
        "standard": (0.0, 4),
        "lexical": (0.75, 4),
        "tricky": (0.25, 4),
        "reasoning": (0.0, 4),
    }
    agreements = {line.tag: line.agreement.value for line in figures.lines if line.agreement}
    assert agreements == {"numerical": 1.0, "lexical": 1.0, "tricky": 1.0}
    exported = export_project(store, project_id, tmp_path / "out").pairs.frame.select("id", "tags", "meta").collect()
    rows = {row["id"]: row for row in exported.filter(pl.col("tags").list.len() > 0).to_dicts()}
    assert len(rows) == 4
    last = rows[str(task.pair_id)]
    assert last["tags"] == ["numerical", "lexical", "tricky"]
    told = json.loads(last["meta"])["expert_tags"]
    assert [one["tags"] for one in told] == [["numerical", "lexical"], ["tricky"]]
    assert [one["quality"] for one in told] == ["sound", "debatable"]
