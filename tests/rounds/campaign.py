"""A campaign played by scripted people on a real server: rounds, verification, closing, training, the next round."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from goldlabel.collect.configuration import create_project
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.protocols import SplitRules
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.pairs import read
from goldlabel.train import train
from tests.cli.commands import run
from tests.collect.campaign import join
from tests.rounds.players import Careless, Job, Slipping, Verifier, Writer, contexts, lessons, verify_all, write_all

BONUS, PAY, TRIES = "0.50", "0.20", 3


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
    exports: list[pl.DataFrame] = field(default_factory=list)
    """The data as they were when each round was closed."""

    @property
    def lessons(self) -> Path:
        """What the first model learnt from."""
        return self.folder.parent / "lessons"

    @property
    def runs(self) -> Path:
        """Where models lie."""
        return self.folder.parent / "runs"

    @property
    def training(self) -> tuple[object, ...]:
        """The words of the command that trains the next models."""
        return ("train", self.folder, "--model", "linear", "--with", self.lessons, "--seeds", 2, "-o", self.runs)

    def play(self, address: str, count: int) -> None:
        """Add contexts, open the next round, let everybody write and verify until nothing is left, and close it."""
        number = len(self.jobs)
        with self.store.write() as tx:
            add_premises(tx, self.project_id, contexts(number * 1000, count), by=None)
        first = () if number else ("--adversary", self.runs / "base")
        command("open", self.folder, *first, "--tries", TRIES, "--pay", PAY, "--bonus", BONUS)
        kinds = {"writer": Writer, "careless": Careless, "exclusive": Writer}
        writers = [
            kinds[role](self.store, address, self.project_id, person) for role in kinds for person in self.people[role]
        ]
        self.jobs.append(write_all(writers))
        judges = [Slipping, Verifier, Verifier]
        verifiers = [
            kind(self.store, address, self.project_id, person)
            for kind, person in zip(judges, self.people["verifier"], strict=True)
        ]
        verify_all(verifiers)
        for player in (*writers, *verifiers):
            player.client.close()
        command("close", self.folder)
        self.exports.append(self.export(f"after-{number + 1}"))

    def copy(self, place: Path) -> Played:
        """Return another campaign that goes on from here; nobody may be at work."""
        shutil.copytree(self.folder.parent, place, dirs_exist_ok=True)
        folder = place / self.folder.name
        return Played(Store.open(folder), folder, self.project_id, self.people, [*self.jobs], exports=[*self.exports])

    def export(self, name: str) -> pl.DataFrame:
        """Return the data as they are now."""
        target = self.folder.parent / name
        assert run("collect", "export", self.folder, "-o", target, "--no-audit").returncode in (0, None)
        return read(target).frame.collect()


def set_up(folder: Path, *, verbs: int = 1) -> Played:
    """Make a collection with people, and a model that knows some verbs of each label."""
    store = Store.create(folder)
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(
        protocol,
        qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
        writing=replace(protocol.writing, writers_per_premise=1),
        splits=SplitRules(dev=12, test=12),
    )
    with store.write() as tx:
        project_id = create_project(tx, "owners", protocol, seed=5).id
    people = {
        "writer": join(store, project_id, "writer", 4),
        "careless": join(store, project_id, "writer", 1, condition=protocol.conditions[0].name),
        "exclusive": join(store, project_id, "writer", 1, exclusive=True),
        "verifier": join(store, project_id, "verifier", 3),
    }
    played = Played(store, folder, project_id, people, [])
    lessons(verbs).write(played.lessons)
    train("linear", lessons(verbs), played.runs / "base")
    return played
