"""Contacts: how somebody can be reached and paid, in a table of its own, which no export of the data reads."""

from __future__ import annotations

from sqlalchemy import select

from goldlabel.collect.events import record
from goldlabel.collect.money.payouts import balances, csv_text
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Invalid
from goldlabel.collect.schema import contacts
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.rules import clean_text

LONGEST_CONTACT = 300


def contact_of(tx: Transaction, person_id: int) -> str:
    """Return what a person wants to be reached by; nothing if they did not say."""
    return str(tx.value(select(contacts.c.contact).where(contacts.c.person_id == person_id)) or "")


def set_contact(tx: Transaction, person_id: int, contact: str) -> None:
    """Keep how a person can be reached, or forget it."""
    contact = clean_text(contact)
    if len(contact) > LONGEST_CONTACT:
        raise Invalid("contact_length", n=len(contact), longest=LONGEST_CONTACT)
    tx.run(contacts.delete().where(contacts.c.person_id == person_id))
    if contact:
        tx.insert(contacts, person_id=person_id, contact=contact, changed_at=tx.now)
    record(tx, "contact.changed", project_id=None, person_id=person_id, subject=f"person {person_id}")


def contacts_table(tx: Transaction, project_id: int, *, by: int) -> str:
    """Return as CSV how the people of a project can be reached and what they are owed; asking for it is an event."""
    record(tx, "contacts.exported", project_id=project_id, person_id=by, subject=f"project {project_id}")
    reached = {row.person_id: row.contact for row in tx.all(select(contacts.c.person_id, contacts.c.contact))}
    currency = project(tx, project_id).protocol.pay.currency
    rows = [
        [one.pseudonym, reached.get(one.person_id, ""), one.owed, currency]
        for one in balances(tx, project_id)
        if one.owed > 0 or one.person_id in reached
    ]
    return csv_text([["person", "contact", "owed", "currency"], *rows])
