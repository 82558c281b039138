"""Letters: what a requester writes to one person or to all in a project, who read it, and what people write back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select

from goldlabel.collect.events import record
from goldlabel.collect.people.people import roles
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.refusals import Invalid, Missing
from goldlabel.collect.schema import letter_reads, letters, members, pseudonyms
from goldlabel.collect.store import Transaction

LONGEST_LETTER = 5000
MOST_SHOWN = 100


def write_letter(tx: Transaction, project_id: int, text: str, *, to: int | None, by: int) -> int:
    """Send a letter to one person, or to everybody who is in the project now; return its id."""
    if to is not None and not roles(tx, project_id, to):
        raise Missing("no_person")
    return _send(tx, project_id, text, by=by, to=to, answers=None)


def reply(tx: Transaction, project_id: int, letter_id: int, person_id: int, text: str) -> int:
    """Send a reply to the requesters of a project; the letter counts as read."""
    mark_read(tx, project_id, letter_id, person_id)
    return _send(tx, project_id, text, by=person_id, to=None, answers=letter_id)


def write_to_requesters(tx: Transaction, project_id: int, person_id: int, text: str) -> int:
    """Send a letter of one's own accord to the requesters of a project: it answers itself."""
    letter_id = _send(tx, project_id, text, by=person_id, to=None, answers=None, to_requesters=True)
    tx.change(letters, letter_id, answers=letter_id)
    return letter_id


def mark_read(tx: Transaction, project_id: int, letter_id: int, person_id: int) -> None:
    """Write down that a person has read a letter to them."""
    if tx.one(select(letters.c.id).where(letters.c.id == letter_id, *_to(project_id, person_id))) is None:
        raise Missing("no_letter")
    tx.insert_new(letter_reads, letter_id=letter_id, person_id=person_id, read_at=tx.now)


def inbox(tx: Transaction, project_id: int, person_id: int, *, unread: bool = False) -> Sequence[Row[Any]]:
    """Return the letters to a person, the newest first, with when they read each; or those not read yet."""
    own_read = and_(letter_reads.c.letter_id == letters.c.id, letter_reads.c.person_id == person_id)
    query = select(letters, letter_reads.c.read_at).outerjoin(letter_reads, own_read)
    query = query.where(*_to(project_id, person_id))
    if unread:
        query = query.where(letter_reads.c.read_at.is_(None))
    return tx.all(query.order_by(letters.c.id.desc()).limit(MOST_SHOWN))


def own_replies(tx: Transaction, project_id: int, person_id: int) -> Sequence[Row[Any]]:
    """Return what a person wrote to the requesters, the oldest first."""
    own = (letters.c.project_id == project_id, letters.c.sender_id == person_id, letters.c.answers.is_not(None))
    begun = (letters.c.answers == letters.c.id).label("begun")
    return tx.all(select(letters, begun).where(*own).order_by(letters.c.id.desc()).limit(MOST_SHOWN))[::-1]


def letters_of(tx: Transaction, project_id: int) -> Sequence[Row[Any]]:
    """Return the letters of a project, the newest first, with to whom and by how many each was read."""
    recipients, senders = pseudonyms.alias("recipients"), pseudonyms.alias("senders")
    read = select(func.count()).where(letter_reads.c.letter_id == letters.c.id).scalar_subquery()
    return tx.all(
        select(
            letters,
            recipients.c.pseudonym.label("recipient"),
            senders.c.pseudonym.label("sender"),
            read.label("readers"),
        )
        .outerjoin(recipients, known_as(letters.c.project_id, letters.c.recipient_id, recipients))
        .join(senders, known_as(letters.c.project_id, letters.c.sender_id, senders))
        .where(letters.c.project_id == project_id)
        .order_by(letters.c.id.desc())
        .limit(MOST_SHOWN)
    )


def _to(project_id: int, person_id: int) -> tuple[ColumnElement[bool], ...]:
    """Letters to a person: by name, or to all while they were in the project; never their own."""
    joined = select(func.min(members.c.joined_at)).where(
        members.c.project_id == project_id, members.c.person_id == person_id
    )
    to_all = and_(letters.c.recipient_id.is_(None), letters.c.sent_at >= joined.scalar_subquery())
    return (
        letters.c.project_id == project_id,
        letters.c.answers.is_(None),
        letters.c.sender_id != person_id,
        or_(letters.c.recipient_id == person_id, to_all),
    )


def _send(
    tx: Transaction,
    project_id: int,
    text: str,
    *,
    by: int,
    to: int | None,
    answers: int | None,
    to_requesters: bool = False,
) -> int:
    text = text.replace("\r\n", "\n").replace("\0", "").strip()
    if not 1 <= len(text) <= LONGEST_LETTER:
        raise Invalid("letter_length", n=len(text), longest=LONGEST_LETTER)
    letter_id = tx.insert(
        letters,
        project_id=project_id,
        sender_id=by,
        recipient_id=to,
        answers=answers,
        text=text,
        sent_at=tx.now,
    )
    kind = "letter.sent" if answers is None else "letter.answered"
    subject = "requesters" if to_requesters else "everybody" if to is None else f"person {to}"
    record(tx, kind, project_id=project_id, person_id=by, subject=subject, data={"letter": letter_id, "text": text})
    return letter_id
