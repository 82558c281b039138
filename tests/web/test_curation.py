"""What a requester changes in the data, in the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from goldlabel.collect.money.recount import check
from goldlabel.collect.schema import adjudications, assignments, pairs, premises
from tests.collect.campaign import small_protocol
from tests.web.world import Visitor, World, objects, opened, populate


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened(tmp_path / "collection") as made:
        yield populate(made, small_protocol("multi", verifiers=2), premises=6)


@pytest.fixture
def boss(world: World) -> Visitor:
    return world.visitor("boss")


def test_a_pair_is_hidden_shown_and_deleted(world: World, boss: Visitor) -> None:
    home, pair = f"/projects/{world.project}", objects(world, world.project)["pair_id"]
    address = f"{home}/pairs/{pair}"
    assert "Hide" in boss.get(address).text
    for state, listed in (("hidden", True), ("shown", False), ("deleted", False)):
        answer = boss.post(f"{address}/visibility", {"state": state})
        assert (answer.status_code, answer.headers["location"]) == (303, address)
        assert (f'href="{address}"' in boss.get(f"{home}/pairs?state=hidden").text) == listed
        assert boss.get(address).status_code == 200
    assert boss.post(f"{address}/visibility", {"state": "shown"}).status_code == 409
    with world.store.read() as tx:
        assert not check(tx, world.project)


def test_a_given_sentence_is_mended_and_hidden(world: World, boss: Visitor) -> None:
    home = f"/projects/{world.project}"
    own = (premises.c.project_id == world.project, premises.c.number.is_not(None))
    used = select(assignments.c.premise_id).where(assignments.c.premise_id.is_not(None))
    free = world.one(select(premises.c.id).where(*own, premises.c.id.not_in(used)))
    given = world.one(select(premises.c.id).where(*own, premises.c.id.in_(used)))
    address = f"{home}/premises/{free}"
    assert "Tomorrow a heron" in boss.send(address, {"text": "Tomorrow a heron crosses the dry road."}).text
    refused = boss.post(f"{home}/premises/{given}", {"text": "Tomorrow a heron crosses the dry road."})
    assert (refused.status_code, "somebody was given this text" in refused.text.lower()) == (409, True)
    assert boss.send(f"{address}/visibility", {"state": "hidden"}).status_code == 200
    assert f'href="{address}"' not in boss.get(f"{home}/premises").text
    assert f'href="{address}"' in boss.get(f"{home}/premises?state=hidden").text
    assert boss.get(f"/projects/{world.other}/premises/{free}").status_code in (403, 404)


def test_ties_are_decided(world: World, boss: Visitor) -> None:
    home = f"/projects/{world.project}"
    pair = objects(world, world.project)["pair_id"]
    with world.store.write() as tx:
        tx.change(pairs, pair, verdict="-")
    ties = boss.get(f"{home}/ties").text
    assert f'action="{home}/pairs/{pair}/adjudication"' in ties
    assert 'class="mark" data-label=' in ties
    assert 'class="vote' not in ties, "a tick says that a judgement is right"
    answer = boss.post(f"{home}/pairs/{pair}/adjudication", {"label": "neutral", "note": "It rains.", "back": "ties"})
    assert answer.headers["location"] == f"{home}/ties"
    assert f'action="{home}/pairs/{pair}/adjudication"' not in boss.get(f"{home}/ties").text
    told = boss.get(f"{home}/pairs/{pair}").text
    assert "Decided as might be true" in told
    assert "It rains." in told
    boss.post(f"{home}/pairs/{pair}/adjudication", {"label": "-"})
    assert world.one(select(adjudications.c.label)) is None
    assert boss.post(f"{home}/pairs/{pair}/adjudication", {"label": "maybe"}).status_code == 422


def test_only_the_requester_changes_data(world: World) -> None:
    writer = world.visitor("writer")
    home, own = f"/projects/{world.project}", objects(world, world.project)
    for address in (
        f"{home}/pairs/{own['pair_id']}/visibility",
        f"{home}/premises/{own['premise_id']}/visibility",
    ):
        assert writer.post(address, {"state": "deleted"}).status_code == 403
    assert world.one(select(pairs.c.hidden).where(pairs.c.hidden.is_not(None))) is None
