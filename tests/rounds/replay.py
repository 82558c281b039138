"""Published examples with their verifiers' labels, written and verified once more on a live server.

Each example is a job whose first try is its hypothesis; the model that answers says what the model of its round said.
The verifiers say in turn what the published ones said.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.protocols import SplitRules
from goldlabel.collect.rounds.rounds import Adversary, close_round, open_round
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import clean_text
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from tests.collect.campaign import join
from tests.rounds.players import Job, Player, Verifier, Writer, verify_all, write_all

LABELS = {label[0]: label for label in NLI3.labels}
FILLER = "Nobody wrote about text {}, which is here so that the labels come in turn."


@dataclass(frozen=True)
class Example:
    """A published pair, what the model of its round said, and what verifiers said."""

    number: str
    premise: str
    hypothesis: str
    label: str
    said: str
    votes: tuple[str, ...]
    genre: str | None


said: dict[tuple[str, str], str] = {}
"""What the model answers to a pair."""


def published(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Say what the model of the round said; to what was not published, the label it names, so that nobody is fooled."""
    pairs = zip(premises, hypotheses, strict=True)
    answers = [said.get(pair, pair[1].rstrip(".").rpartition(" ")[2]) for pair in pairs]
    return np.array([[0.8 if label == answer else 0.1 for label in NLI3.labels] for answer in answers])


published.label_space = NLI3.labels  # type: ignore[attr-defined]


def examples_of(pairs: Pairs) -> list[Example]:
    """Return the pairs of ANLI that others verified."""
    rows = pairs.frame.filter(pl.col("votes").list.len() > 1).collect().iter_rows(named=True)
    return [
        Example(
            number=row["round"],
            premise=row["premise"],
            hypothesis=clean_text(row["hypothesis"]),
            label=row["label"],
            said=LABELS[json.loads(row["meta"])["model_label"]],
            votes=tuple(row["votes"]),
            genre=row["genre"],
        )
        for row in rows
    ]


class Copyist(Writer):
    """Writes what was published for a text and a label, and otherwise what fools nobody."""

    examples: dict[tuple[str, str], list[Example]]

    def think(self, job: Job) -> str:
        """Return the published hypothesis."""
        waiting = self.examples[job.context, job.target]
        return waiting.pop().hypothesis if waiting else f"Nothing is said of {job.target}."


class Echo(Verifier):
    """Says what the next of the published verifiers said."""

    votes: dict[tuple[str, str], list[str]]

    def judge(self, task: dict[str, Any]) -> str:
        """Return the next published label; of a text that is there for the order of labels, any will do."""
        waiting = self.votes.get((task["premise"], task["hypothesis"]))
        return waiting.pop(0) if waiting else "neutral"


def replay(store: Store, address: str, examples: Sequence[Example]) -> int:
    """Play the rounds of some examples in a new project; return its id."""
    protocol = KINDS.get("adversarial").make([], "en")
    protocol = replace(
        protocol,
        writing=replace(protocol.writing, writers_per_premise=1, longest=1000, cap=None),
        qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
        splits=SplitRules(dev=1000, test=1000),
    )
    said.update({(one.premise, one.hypothesis): one.said for one in examples})
    with store.write() as tx:
        project_id = create_project(tx, "replay", protocol, seed=1).id
    writers, verifiers = (join(store, project_id, role, 3) for role in ("writer", "verifier"))
    number = count(1)
    for name in sorted({one.number for one in examples}):
        own = [one for one in examples if one.number == name]
        with store.write() as tx:
            add_premises(tx, project_id, in_turn(own, protocol.ordered_labels, number), by=None)
            model = Adversary(name=name, reference="tests.rounds.replay:published", options={})
            open_round(tx, project_id, [model], number_of_tries=1, by=None)
        waiting: dict[tuple[str, str], list[Example]] = defaultdict(list)
        for one in own:
            waiting[one.premise, one.label].append(one)
        votes = {(one.premise, one.hypothesis): [*one.votes] for one in own}
        players: list[Player] = []
        for person in writers:
            players.append(writer := Copyist(store, address, project_id, person))
            writer.examples = waiting
        for person in verifiers:
            players.append(verifier := Echo(store, address, project_id, person))
            verifier.votes = votes
        write_all([player for player in players if isinstance(player, Copyist)])
        verify_all([player for player in players if isinstance(player, Echo)])
        for player in players:
            player.client.close()
        with store.write() as tx:
            close_round(tx, project_id, by=None)
    return project_id


def in_turn(examples: Iterable[Example], labels: Sequence[str], number: Iterable[int]) -> list[Premise]:
    """Order contexts so that each is given the label of its example: writers have the labels in turn."""
    by_label: dict[str, list[Example]] = defaultdict(list)
    for one in examples:
        by_label[one.label].append(one)
    contexts = []
    for place in number:
        own = by_label[labels[place % len(labels)]]
        example = own.pop() if own else None
        text = FILLER.format(place) if example is None else example.premise
        contexts.append(Premise(text=text, genre=example.genre if example else None))
        if not any(by_label.values()):
            break
    return contexts


def verified_of(pairs: Pairs) -> set[tuple[str, str, str, str, tuple[str, ...]]]:
    """Return the pairs that others confirmed, with the verifiers' votes after the writer's."""
    frame = pairs.frame.filter(pl.col("votes").list.len() > 1).collect()
    rows = frame.select("round", "premise", "hypothesis", "label", "votes").iter_rows()
    return {(number, premise, text, label, tuple(votes[1:])) for number, premise, text, label, votes in rows}
