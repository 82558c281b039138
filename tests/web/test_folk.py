"""The pages about people and their work: decisions, payouts, history, remarks, letters, consent."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import pytest
from sqlalchemy import func, select

from goldlabel.collect.ledger import totals
from goldlabel.collect.recount import check
from goldlabel.collect.schema import answers
from tests.web.world import Visitor, World, opened, populate


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(tmp_path_factory.mktemp("folk") / "collection") as world:
        yield populate(world, premises=4)


@pytest.fixture
def boss(site: World) -> Visitor:
    return site.visitor("boss")


def agrees(world: World) -> bool:
    with world.store.read() as tx:
        return check(tx, world.project) == []


def test_work_is_rejected_on_the_persons_page_and_the_decision_taken_back(site: World, boss: Visitor) -> None:
    verifier = site.people["verifier"]
    address = f"/projects/{site.project}/people/{verifier}"
    counted = select(func.count()).where(answers.c.person_id == verifier, answers.c.state == "counted")
    before = site.one(counted)
    form = {"decision": "reject", "work": "verify", "since": "", "reason": "<b>too quick"}
    answer = boss.post(f"{address}/work/decide", form)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address}#work")
    assert site.one(counted) == 0
    page = unescape(boss.get(address).text)
    assert "rejected" in page
    assert "&lt;b&gt;too quick" in boss.get(address).text
    with site.store.read() as tx:
        assert totals(tx, site.project)[verifier] == 0
    decision_id = int(page.split("/decisions/")[1].split("/")[0])
    assert boss.post(f"/projects/{site.project}/decisions/{decision_id}/back").status_code == 303
    assert site.one(counted) == before
    assert boss.post(f"/projects/{site.project}/decisions/{decision_id}/back").status_code == 409
    assert boss.post(f"{address}/work/decide", {**form, "reason": ""}).status_code == 422
    assert boss.post(f"{address}/work/decide", {**form, "since": "2999-01-01"}).status_code == 409
    assert agrees(site)
