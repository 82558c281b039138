"""Play: write against a model at once, on texts made on the spot; the model, too, if none is given.

Texts and what a model learns from come from the embedded generator (``sources/fragments``): sentences about different
people and times are put together until they are as long as a context of Nie et al. (2020), and each of their hypotheses
is one for the whole text. The model is linear and sees little but shared words: it is there to be fooled.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.importing.batches import add_all_premises
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.accounts import create_account
from goldlabel.collect.people.people import add_member
from goldlabel.collect.protocols import Protocol, make_protocol
from goldlabel.collect.rounds.adversaries import named_adversaries
from goldlabel.collect.rounds.rounds import open_round
from goldlabel.collect.store import Store
from goldlabel.collect.texts import instructions
from goldlabel.models import MODELS
from goldlabel.pairs.labels import NLI3
from goldlabel.sources.fragments import fragment_pairs

STEPS = 3
PAIRS = 2400
TEXTS = 60
PROTOCOL = "adversarial"
PHENOMENA = (
    "numbers",
    "conjunction",
    "coreference",
    "temporal",
    "factivity",
    "voice",
    "hypernyms",
    "adjectives",
    "comparatives",
)
"""Of these, sentences beside each other read like news from a village."""


@dataclass(frozen=True)
class Game:
    """A collection in a folder, with a round open and one writer."""

    folder: Path
    project_id: int
    person_id: int


@dataclass(frozen=True)
class Text:
    """A context, and hypotheses with their labels."""

    context: str
    pairs: tuple[tuple[str, str], ...]


def make_game(
    folder: Path, language: str, adversary: str | None, advance: Callable[[int], object], *, pairs: int = PAIRS
) -> Game:
    """Make texts, a model where none is named, and a collection in which one writer may begin at once."""
    protocol = _protocol(language)
    named_adversaries([adversary] if adversary else [])
    made = (
        fragment_pairs(language, pairs, phenomena=PHENOMENA)
        .collect()
        .sample(fraction=1, shuffle=True, seed=0)
        .to_dicts()
    )
    texts = list(_texts(made, protocol))
    advance(1)
    shown, learnt = texts[:TEXTS], texts[TEXTS:] or texts
    model = adversary or str(_train(learnt, folder / "model"))
    advance(1)
    store = Store.create(folder / "collection")
    try:
        with store.write() as tx:
            project_id = create_project(tx, "play", protocol).id
            person_id = create_account(tx, "player", secrets.token_hex())
            add_member(tx, project_id, person_id, "writer", by=None)
        add_all_premises(store, project_id, [Premise(text=one.context) for one in shown], by=None)
        with store.write() as tx:
            open_round(tx, project_id, named_adversaries([model]), by=None)
    finally:
        store.close()
    advance(1)
    return Game(folder / "collection", project_id, person_id)


def _protocol(language: str) -> Protocol:
    """Return the protocol without training and without pay; its instructions say nothing of pay, which stands last."""
    protocol = make_protocol(PROTOCOL, language)
    told = instructions(PROTOCOL, protocol).rstrip().rpartition("\n\n")[0]
    return replace(
        protocol,
        writing=replace(protocol.writing, writers_per_premise=1),
        qualification=replace(protocol.qualification, training=0),
        pay=replace(protocol.pay, pair=Decimal(0), bonus=Decimal(0)),
        instructions={PROTOCOL: told},
    )


def _texts(made: Sequence[Mapping[str, Any]], protocol: Protocol) -> Iterator[Text]:
    """Put premises together until they are long enough."""
    gap = "" if protocol.language == "zh" else " "
    held: list[Mapping[str, Any]] = []
    for row in made:
        held.append(row)
        context = gap.join(dict.fromkeys(one["premise"] for one in held))
        if len(context) >= protocol.premises.shortest:
            if len(context) <= protocol.premises.longest:
                yield Text(context, tuple((one["hypothesis"], one["label"]) for one in held))
            held = []


def _train(texts: Sequence[Text], folder: Path) -> Path:
    rows = [(one.context, hypothesis, label) for one in texts for hypothesis, label in one.pairs]
    premises, hypotheses, labels = zip(*rows, strict=True)
    MODELS.get("linear").fit(premises, hypotheses, labels, NLI3).save(folder)
    return folder
