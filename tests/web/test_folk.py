"""The pages about people and their work: decisions, payouts, history, remarks, letters, consent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import func, select

from goldlabel.collect.money.ledger import totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people import people
from goldlabel.collect.schema import answers, assignments, consents, letters, pairs, remarks
from tests.collect.campaign import write_all
from tests.web.world import PASSWORD, Visitor, World, opened, populate


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
    address = f"/projects/{site.project}/people/{site.called('verifier')}"
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


def test_payouts_are_written_down_and_come_as_tables(site: World, boss: Visitor) -> None:
    address, writer = f"/projects/{site.project}/payouts", site.people["writer"]
    with site.store.read() as tx:
        owed = totals(tx, site.project)[writer]
    form = {"to": site.called("writer"), "amount": "1.00", "on": "2030-01-31", "note": "=bank", "key": "k1"}
    for _ in range(2):
        assert boss.post(address, form).status_code == 303
    with site.store.read() as tx:
        assert totals(tx, site.project)[writer] == owed - 1
    assert boss.post(address, {**form, "amount": "99999", "key": "k2"}).status_code == 409
    assert boss.post(address, {**form, "amount": "1e3", "key": "k3"}).status_code == 422
    assert boss.post(f"{address}/top-up").status_code == 422
    table = boss.get(f"{address}/paid.csv").text.splitlines()
    assert table[0] == "date,person,amount,currency,note"
    assert table[1].startswith("2030-01-31,")
    assert table[1].endswith(",1.00,USD,'=bank")
    assert f",{owed - 1},USD," in boss.get(f"{address}/owed.csv").text
    mine = site.visitor("writer")
    assert "Paid out: 1.00 USD" in mine.get(f"/projects/{site.project}/my-pay").text
    assert "Today: " in mine.get("/").text
    assert boss.post(f"{address}/everybody", {"on": "2030-02-01", "key": "k4"}).status_code == 303
    assert len(boss.get(f"{address}/owed.csv").text.splitlines()) == 1
    assert "Everybody was paid" not in boss.get(address).text
    assert agrees(site)


def test_what_was_sent_is_changed_and_withdrawn_on_its_page(site: World) -> None:
    home = f"/projects/{site.project}/mine"
    writer = site.visitor("writer")
    page = unescape(writer.get(home).text)
    assert "In your hands now" in page
    assert "waits for the requester" in page
    answer_id = site.one(
        select(answers.c.id).where(answers.c.person_id == site.people["writer"], answers.c.state == "counted")
    )
    pair_id = site.one(select(pairs.c.id).where(pairs.c.answer_id == answer_id))
    assert writer.post(f"{home}/{answer_id}/text", {"pair": pair_id, "text": "Somebody saw it."}).status_code == 409
    for name in ("verifier", "boss"):
        assert site.visitor(name).post(f"{home}/{answer_id}/withdraw").status_code == 404
    write_all(site.store, site.project, [site.people["writer1"]], most=1)
    other = site.visitor("writer1")
    answer_id = site.one(select(answers.c.id).where(answers.c.person_id == site.people["writer1"]))
    pair_id = site.one(select(pairs.c.id).where(pairs.c.answer_id == answer_id))
    assert other.post(f"{home}/{answer_id}/text", {"pair": pair_id, "text": "Somebody saw it."}).status_code == 303
    assert 'value="Somebody saw it."' in other.get(home).text
    assert other.post(f"{home}/{answer_id}/text", {"pair": pair_id, "text": "no"}).status_code == 422
    assert other.post(f"{home}/{answer_id}/withdraw").status_code == 303
    assert "withdrawn" in other.get(home).text
    assert agrees(site)


def test_remarks_are_read_and_answered(site: World, boss: Visitor) -> None:
    address = f"/projects/{site.project}/remarks"
    held = site.one(select(assignments.c.id).where(assignments.c.person_id == site.people["verifier"]))
    verifier = site.visitor("verifier")
    form = {"assignment": held, "text": "<i>twice the same"}
    assert verifier.post(f"/projects/{site.project}/mine/remarks", form).status_code == 303
    assert "&lt;i&gt;twice the same" in boss.get(address).text
    assert "Remarks (2)" in boss.get(f"/projects/{site.project}/people").text
    remark_id = site.one(select(remarks.c.id).order_by(remarks.c.id.desc()))
    assert boss.post(f"{address}/{remark_id}/resolve", {"answer": "true, thank you"}).status_code == 303
    assert boss.post(f"{address}/{remark_id}/resolve").status_code == 409
    assert "true, thank you" in verifier.get(f"/projects/{site.project}/mine").text


def test_letters_are_shown_read_and_answered(site: World, boss: Visitor) -> None:
    verifier, home = site.visitor("verifier1"), f"/projects/{site.project}"
    form = {"text": "<b>Please\nslow down", "to": site.called("verifier1")}
    assert boss.post(f"{home}/letters", form).status_code == 303
    assert "2 new messages" in verifier.get("/").text
    assert "1 new message" in site.visitor("verifier").get("/").text
    assert "&lt;b&gt;Please" in verifier.get(f"{home}/my-letters").text
    letter_id = site.one(select(letters.c.id).order_by(letters.c.id.desc()))
    assert verifier.post(f"{home}/my-letters/{letter_id}/reply", {"text": "I will"}).status_code == 303
    assert site.visitor("verifier").post(f"{home}/my-letters/{letter_id}/read").status_code == 404
    assert "I will" in boss.get(f"{home}/letters").text
    assert "1 new message" in verifier.get("/").text
    writer = site.visitor("writer")
    assert "Thank you all." in writer.get(f"{home}/write").text
    first = site.one(select(letters.c.id).where(letters.c.project_id == site.project).order_by(letters.c.id))
    back = writer.post(f"{home}/my-letters/{first}/read", {"next": f"{home}/write"})
    assert back.headers["location"] == f"{home}/write"
    assert "Thank you all." not in writer.get(f"{home}/write").text


def test_consent_is_given_on_the_invitation_and_asked_for_again(site: World, boss: Visitor) -> None:
    home = f"/projects/{site.project}"
    assert boss.post(f"{home}/consent", {"text": "You **may** stop at any time."}).status_code == 303
    with site.store.write() as tx:
        token = people.invite(
            tx, project_id=site.project, role="writer", lifetime=timedelta(days=1), by=site.people["boss"]
        )
    guest = site.visitor()
    page = guest.get(f"/invite/{token}").text
    assert "You <strong>may</strong> stop at any time." in page
    assert "A written pair earns 0.30 USD, a judgement 0.20 USD." in page
    form = {"login": "guest@label.example", "password": PASSWORD, "agreed": 1}
    assert guest.post(f"/invite/{token}/account", form | {"agreed": 9}).status_code == 409
    assert guest.post(f"/invite/{token}/account", form).status_code == 303
    assert site.one(select(consents.c.version)) == 1
    assert guest.get(f"{home}/write").status_code == 200
    assert "1 person agreed" in boss.get(f"{home}/consent").text
    other = site.visitor("verifier1")
    asked = other.get(f"{home}/verify")
    assert (asked.status_code, asked.headers["location"]) == (303, f"{home}/agree?next={home}/verify")
    assert "You <strong>may</strong> stop" in other.get(asked.headers["location"]).text
    assert other.post(f"{home}/agree", {"version": 7}).status_code == 409
    agreed = other.post(f"{home}/agree", {"version": 1, "next": f"{home}/verify"})
    assert agreed.headers["location"] == f"{home}/verify"
    assert other.get(f"{home}/verify").status_code == 200
    assert agrees(site)


def test_people_are_told_how_it_goes_where_the_project_wants_it(site: World, boss: Visitor) -> None:
    home = f"/projects/{site.project}"
    verifier = site.visitor("verifier")
    assert "How it goes" not in verifier.get(f"{home}/mine").text
    assert boss.post(f"{home}/settings", {"qualification.feedback": "yes"}).status_code == 303
    assert "How it goes" in verifier.get(f"{home}/mine").text
