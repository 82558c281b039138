"""Consent: the text that people agree to before they work, in versions, and who agreed to which when.

Whoever has not agreed to the newest version is asked again before the next task; an empty text asks nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from goldlabel.collect.events import record
from goldlabel.collect.refusals import Conflict, Invalid
from goldlabel.collect.schema import consent_texts, consents, projects
from goldlabel.collect.store import Transaction

LONGEST_CONSENT = 50_000


@dataclass(frozen=True)
class ConsentText:
    """A version of what people agree to."""

    version: int
    text: str
    created_at: datetime


def publish_consent(tx: Transaction, project_id: int, text: str, *, by: int | None) -> int:
    """Make a text the one that people agree to from now on and return its version; the same text is no new version."""
    text = text.replace("\r\n", "\n").replace("\0", "").strip()
    if len(text) > LONGEST_CONSENT:
        raise Invalid("consent_length", n=len(text), longest=LONGEST_CONSENT)
    tx.lock(projects, project_id)
    newest = newest_consent(tx, project_id)
    if (newest.text if newest else "") == text:
        return newest.version if newest else 0
    version = newest.version + 1 if newest else 1
    tx.insert(consent_texts, project_id=project_id, version=version, text=text, created_by=by, created_at=tx.now)
    data = {"version": version, "text": text}
    record(tx, "consent.published", project_id=project_id, person_id=by, subject=f"project {project_id}", data=data)
    return version


def newest_consent(tx: Transaction, project_id: int) -> ConsentText | None:
    """Return the newest version of the text, also an empty one; none where there never was any."""
    query = select(consent_texts).where(consent_texts.c.project_id == project_id)
    row = tx.one(query.order_by(consent_texts.c.version.desc()).limit(1))
    return None if row is None else ConsentText(row.version, row.text, row.created_at)


def missing_consent(tx: Transaction, project_id: int, person_id: int) -> ConsentText | None:
    """Return the text that a person has still to agree to, if any."""
    newest = newest_consent(tx, project_id)
    if newest is None or not newest.text:
        return None
    given = tx.row(consents, project_id=project_id, person_id=person_id, version=newest.version)
    return newest if given is None else None


def agree(tx: Transaction, project_id: int, person_id: int, version: int) -> None:
    """Write down that a person agrees to the newest version; one that is newest no more is refused."""
    newest = newest_consent(tx, project_id)
    if newest is None or newest.version != version:
        raise Conflict("consent_changed")
    if tx.insert_new(consents, project_id=project_id, person_id=person_id, version=version, agreed_at=tx.now):
        record(
            tx,
            "consent.given",
            project_id=project_id,
            person_id=person_id,
            subject=f"person {person_id}",
            data={"version": version},
        )


def count_consents(tx: Transaction, project_id: int, version: int) -> int:
    """Return how many people agreed to a version."""
    own = (consents.c.project_id == project_id, consents.c.version == version)
    return int(tx.value(select(func.count()).select_from(consents).where(*own)))
