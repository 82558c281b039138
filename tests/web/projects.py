"""Small projects for a browser, with one person who works in them."""

from __future__ import annotations

from itertools import count

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.work.pool import add_premises
from tests.collect.campaign import small_protocol
from tests.web.site import PREMISES, Site

NUMBERS = count(1)


def writing_project(
    site: Site, name: str, *, condition: str = "multi-constraint", language: str = "en"
) -> tuple[int, int]:
    """A project with four premises, and one writer."""
    with site.store.write() as tx:
        made = create_project(tx, name, small_protocol(condition, language, verifiers=2), seed=3)
        add_premises(tx, made.id, [Premise(text=text, genre="news") for text in PREMISES[language]], by=None)
    return made.id, new_person(site, made.id, "writer", condition=condition)


def judging_project(site: Site, name: str, protocol: Protocol) -> tuple[int, int]:
    """A project with pairs to judge, and one verifier."""
    with site.store.write() as tx:
        made = create_project(tx, name, protocol, seed=3)
        texts = [
            NewPair(premise=f"Mule number {n} sleeps in the barn.", hypothesis=f"Animal number {n} rests.")
            for n in range(5)
        ]
        import_pairs(tx, made.id, texts, origin="imported", by=None)
    return made.id, new_person(site, made.id, "verifier")


def new_person(site: Site, project_id: int, role: str, *, condition: str = "") -> int:
    with site.store.write() as tx:
        person_id = create_account(tx, f"person-{next(NUMBERS)}", "not a hash: nobody logs in")
        add_member(tx, project_id, person_id, role, condition=condition, by=None)
    return person_id
