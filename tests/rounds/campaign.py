"""A campaign played by scripted people on a real server: rounds, verification, closing, training, the next round."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.collect.kinds import KINDS
from goldlabel.collect.projects import add_premises, create_project
from goldlabel.collect.protocols import SplitRules
from goldlabel.collect.store import Store
from goldlabel.train import train
from tests.cli.commands import run
from tests.collect.campaign import join
from tests.rounds.players import Careless, Job, Slipping, Verifier, Writer, contexts, lessons, together

BONUS, PAY = "0.50", "0.20"


def command(*words: object) -> dict[str, Any]:
    """Run ``goldlabel collect round …`` and return the document it prints."""
    done = run("collect", "round", *words, "--json")
    assert done.returncode in (0, None), done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@dataclass
class Played:
    """A campaign under way, and what its people did in each round."""

    store: Store
    folder: Path
    project_id: int
    people: dict[str, list[int]]
    jobs: list[list[Job]]
    report: dict[str, Any] = field(default_factory=dict)
    first_export: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def lessons(self) -> Path:
        """What the first model learnt from."""
        return self.folder.parent / "lessons"

    @property
    def runs(self) -> Path:
        """Where models lie."""
        return self.folder.parent / "runs"

    def play(self, address: str, count: int) -> None:
        """Add contexts, open the next round, and let everybody write and verify until nothing is left."""
        number = len(self.jobs)
        with self.store.write() as tx:
            add_premises(tx, self.project_id, contexts(number * 1000, count), by=None)
        first = () if number else ("--adversary", self.runs / "base")
        command("open", self.folder, *first, "--tries", 5, "--pay", PAY, "--bonus", BONUS)
        kinds = {"writer": Writer, "careless": Careless, "exclusive": Writer}
        writers = [
            kinds[role](self.store, address, self.project_id, one) for role in kinds for one in self.people[role]
        ]
        self.jobs.append([job for jobs in together(writers) for job in jobs])
        judges = [Slipping, Verifier, Verifier]
        verifiers = [
            kind(self.store, address, self.project_id, one)
            for kind, one in zip(judges, self.people["verifier"], strict=True)
        ]
        together(verifiers)
        # Who slipped may have left a third vote to somebody who was done by then.
        together(verifiers)
        for player in (*writers, *verifiers):
            player.client.close()


def set_up(folder: Path, *, verbs: int = 1) -> Played:
    """Make a collection with people, and a model that knows some verbs of each label."""
    store = Store.create(folder)
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(
        protocol,
        qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
        splits=SplitRules(dev=12, test=12),
    )
    with store.write() as tx:
        project_id = create_project(tx, "owners", protocol, seed=5).id
    people = {
        "writer": join(store, project_id, "writer", 3),
        "careless": join(store, project_id, "writer", 1, condition=protocol.conditions[0].name),
        "exclusive": join(store, project_id, "writer", 2, exclusive=True),
        "verifier": join(store, project_id, "verifier", 3),
    }
    played = Played(store, folder, project_id, people, [])
    lessons(verbs).write(played.lessons)
    train("linear", lessons(verbs), played.runs / "base")
    return played
