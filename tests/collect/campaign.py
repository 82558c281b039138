"""A small project played through to its end: people write, people verify."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.new_pairs import NewPair, import_pairs
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import accept, invite
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.rounds.rounds import Adversary, open_round
from goldlabel.collect.store import Clock, Store, system_clock
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises as add_to_pool
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.verifying import vote
from goldlabel.collect.work.writing import submit

GENRES = ("news", "letters")
ANIMALS = ("heron", "otter", "badger", "lynx", "newt", "raven", "moth", "trout", "hare", "vole", "swift", "adder")
Judge = Callable[[int, str, str], str]
"""Says what a verifier answers: their number, the premise and the hypothesis."""


def small_protocol(name: str = "multi", language: str = "en", *, share: float = 1.0, verifiers: int = 4) -> Protocol:
    """A protocol without training and questions, in which everything is verified."""
    protocol = make_protocol(name, language)
    return replace(
        protocol,
        verifying=replace(protocol.verifying, share=share, verifiers=verifiers),
        qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
    )


class Projects(ExitStack):
    """Projects that are open until the block ends."""

    def open(
        self, place: str | Path, protocol: Protocol, *, premises: int = 4, clock: Clock = system_clock
    ) -> tuple[Store, int]:
        """Make a store with one project, called meadow, and its premises."""
        store = Store.create(place, clock=clock)
        self.callback(store.close)
        with store.write() as tx:
            made = create_project(tx, "meadow", protocol, seed=7)
            if protocol.kind == "elicitation":
                pool = [
                    Premise(text=f"Yesterday a {animal} crossed the wet road number {n}.", genre=GENRES[n % 2])
                    for n, animal in enumerate(ANIMALS[:premises])
                ]
                add_to_pool(tx, made.id, pool, by=None)
        return store, made.id


def join(
    store: Store, project_id: int, role: str, count: int, *, exclusive: bool = False, condition: str = ""
) -> list[int]:
    """Let people join; return their ids."""
    found = []
    with store.write() as tx:
        for number in range(count):
            person_id = create_account(
                tx, f"{project_id}-{role}-{number}-{exclusive}-{condition}", "not a hash: nobody logs in"
            )
            token = invite(
                tx,
                project_id=project_id,
                role=role,
                condition=condition,
                exclusive=exclusive,
                lifetime=timedelta(days=1),
                by=None,
            )
            accept(tx, token, person_id)
            found.append(person_id)
    return found


def write_all(store: Store, project_id: int, writers: list[int], *, most: int = 1000) -> int:
    """Let writers write in turns until nothing is left; return how many premises were written about."""
    done, waiting = 0, list(writers)
    with store.write() as tx:
        found = project(tx, project_id)
        protocol = found.protocol
        if found.kind.has_rounds:
            open_round(tx, project_id, [Adversary(name="model", reference="tests:none", options={})], by=None)
        while waiting and done < most:
            person_id = waiting.pop(0)
            got = claim(tx, project_id, person_id, "write").tasks
            if not got:
                continue
            number = got[0].assignment_id
            hypotheses = [
                Hypothesis(label=label, level=level, text=f"It is {label} claim {number} {level}")
                for label, level in protocol.slots(got[0].condition)
            ]
            submit(tx, number, person_id, key=f"k{number}", hypotheses=hypotheses, timings={"total": 30.0})
            done += 1
            waiting.append(person_id)
    return done


def meant(_: int, __: str, hypothesis: str) -> str:
    """Answer what the writer meant."""
    return hypothesis.split()[2]


def verify_all(store: Store, project_id: int, verifiers: list[int], judge: Judge = meant, *, most: int = 10_000) -> int:
    """Let verifiers vote in turns until nothing is left; return the number of votes."""
    done, waiting = 0, list(enumerate(verifiers))
    with store.write() as tx:
        while waiting and done < most:
            number, person_id = waiting.pop(0)
            got = claim(tx, project_id, person_id, "verify").tasks
            if not got:
                continue
            label = judge(number, got[0].premise, got[0].hypothesis or "")
            vote(tx, got[0].assignment_id, person_id, key=f"k{got[0].assignment_id}", label=label, seconds=3.0)
            done += 1
            waiting.append((number, person_id))
    return done


def bring_pairs(store: Store, project_id: int, count: int, *, origin: str, labels: tuple[str, ...]) -> None:
    """Import pairs from elsewhere, whose labels go in turns."""
    new = [
        NewPair(
            premise=f"The {animal} of tale {number} sleeps under a bridge.",
            hypothesis=f"It is {labels[number % len(labels)]} saying {number}",
            label=labels[number % len(labels)],
            original_id=f"x{number}",
            meta={"page": number},
        )
        for number, animal in zip(range(count), ANIMALS * 100, strict=False)
    ]
    with store.write() as tx:
        import_pairs(tx, project_id, new, origin=origin, by=None)
