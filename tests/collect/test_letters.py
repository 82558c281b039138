"""Letters reach whom they are for, feedback tells sums alone, and consent is asked for again when its text changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.people.consent import agree, count_consents, missing_consent, publish_consent
from goldlabel.collect.people.feedback import FEWEST, feedback
from goldlabel.collect.people.letters import inbox, letters_of, mark_read, own_replies, reply, write_letter
from goldlabel.collect.people.people import add_member
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict, Invalid, Missing
from goldlabel.collect.schema import consents, events
from goldlabel.collect.store import Store
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.collect.conftest import MovableClock
from tests.collect.test_assignment import get, meadow


def test_letters_reach_whom_they_are_for(store: Store, clock: MovableClock) -> None:
    project_id = meadow(store)
    boss, first, second, late = join(store, project_id, "verifier", 4)
    with store.write() as tx:
        to_all = write_letter(tx, project_id, " Dear all\r\n thank you ", to=None, by=boss)
        to_one = write_letter(tx, project_id, "dear first", to=first, by=boss)
        for text in ("  ", "x" * 6000):
            with pytest.raises(Invalid, match="the message has"):
                write_letter(tx, project_id, text, to=None, by=boss)
        with pytest.raises(Missing, match="no such person"):
            write_letter(tx, project_id, "dear nobody", to=999, by=boss)
        assert [row.id for row in inbox(tx, project_id, first)] == [to_one, to_all]
        assert [row.id for row in inbox(tx, project_id, second)] == [to_all]
        assert inbox(tx, project_id, second)[0].text == "Dear all\n thank you"
        assert inbox(tx, project_id, boss) == []
        mark_read(tx, project_id, to_all, first)
        mark_read(tx, project_id, to_all, first)
        assert [row.id for row in inbox(tx, project_id, first, unread=True)] == [to_one]
        with pytest.raises(Missing, match="no such message to you"):
            mark_read(tx, project_id, to_one, second)
        reply(tx, project_id, to_one, first, "you are welcome")
        assert inbox(tx, project_id, first, unread=True) == []
        assert len(inbox(tx, project_id, second)) == 1
        assert [row.text for row in own_replies(tx, project_id, first)] == ["you are welcome"]
        sent = letters_of(tx, project_id)
        assert [(row.answers, row.readers) for row in sent] == [(to_one, 0), (None, 1), (None, 1)]
    clock.move(days=1)
    with store.write() as tx:
        other = create_project(tx, "marsh", small_protocol("single"), seed=1).id
        write_letter(tx, other, "old news", to=None, by=boss)
    clock.move(days=1)
    with store.write() as tx:
        add_member(tx, other, late, "verifier", by=None)
        assert inbox(tx, other, late) == []


def test_feedback_tells_sums_and_no_known_answers(store: Store) -> None:
    protocol = small_protocol("single", verifiers=2)
    rules = replace(protocol.qualification, gold_rate=0.2, feedback=True)
    project_id = meadow(store, replace(protocol, qualification=rules), news=9)
    [writer] = join(store, project_id, "writer", 1)
    write_all(store, project_id, [writer])
    bring_pairs(store, project_id, 5, origin="gold", labels=("neutral",))
    odd, even, _ = join(store, project_id, "verifier", 3)
    verify_all(store, project_id, [odd, even], most=2 * (FEWEST - 2))
    with store.read() as tx:
        before = feedback(tx, project(tx, project_id), odd)
    assert before is not None
    assert before.judged_agree is None
    verify_all(store, project_id, [odd, even])
    with store.read() as tx:
        found = project(tx, project_id)
        told, of_writer = feedback(tx, found, odd), feedback(tx, found, writer)
        silent = replace(found, protocol=replace(protocol, qualification=replace(rules, feedback=False)))
        assert feedback(tx, silent, odd) is None
    assert told is not None
    assert of_writer is not None
    assert (told.judged, told.judged_agree, told.seconds, told.usual) == (20, 1.0, 3.0, 3.0)
    assert (of_writer.written, of_writer.written_agree, of_writer.judged_agree) == (20, 1.0, None)


def test_consent_is_asked_for_again_when_its_text_changes(store: Store) -> None:
    project_id = meadow(store)
    [writer] = join(store, project_id, "writer", 1)
    assert get(store, project_id, writer, "write").status == "ok"
    with store.write() as tx:
        assert publish_consent(tx, project_id, "", by=None) == 0
        assert publish_consent(tx, project_id, "You may stop at any time.", by=None) == 1
        assert publish_consent(tx, project_id, " You may stop at any time.\r\n", by=None) == 1
    assert len(get(store, project_id, writer, "write").tasks) == 1, "what is in hand may be finished"
    write_all(store, project_id, [writer], most=1)
    assert get(store, project_id, writer, "write").status == "unconsented"
    with store.write() as tx:
        missing = missing_consent(tx, project_id, writer)
        assert missing is not None
        agree(tx, project_id, writer, missing.version)
        agree(tx, project_id, writer, missing.version)
    assert get(store, project_id, writer, "write").status == "ok"
    with store.write() as tx:
        assert publish_consent(tx, project_id, "Data are published.", by=None) == 2
        with pytest.raises(Conflict, match="changed meanwhile"):
            agree(tx, project_id, writer, 1)
        assert missing_consent(tx, project_id, writer) is not None
        agree(tx, project_id, writer, 2)
        given = tx.all(select(consents).order_by(consents.c.version))
        assert [(row.version, row.agreed_at) for row in given] == [(1, tx.now), (2, tx.now)]
        assert count_consents(tx, project_id, 2) == 1
        kinds = [row.kind for row in tx.all(select(events).where(events.c.kind.like("consent.%")))]
        assert kinds == ["consent.published", "consent.given", "consent.published", "consent.given"]
        assert publish_consent(tx, project_id, "", by=None) == 3
        assert missing_consent(tx, project_id, writer) is None
