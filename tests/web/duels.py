"""Campaigns for the tests of the page on which people write against a model, and the models."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goldlabel.collect import projects
from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people import accounts, people
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.rounds.proposals import add_proposals, empty_places
from goldlabel.collect.rounds.rounds import Adversary, open_round
from goldlabel.collect.store import Store
from goldlabel.collect.work.pool import add_premises

LABELS = ("contradiction", "entailment", "neutral")
CONTEXTS = {
    "en": "The ferry to Lund Island leaves at eight, at noon and at six. On {} the noon ferry did not run, because a "
    "heron had nested on the bridge of the ship, and the captain, who has sailed for thirty years, would not disturb "
    "it. Four passengers waited on the pier until six. Two of them played cards; the others slept in the sun.",
    "zh": "开往芦岛的渡船每天八点、十二点和六点各有一班。{}中午的那一班没有开，因为一只苍鹭在驾驶台上做了窝，"
    "船长开船已经三十年，不愿意惊动它。四位乘客在码头上一直等到六点，其中两位打牌，另外两位在太阳底下睡觉。",
}
DAYS = {"en": ("Monday", "Tuesday", "Friday", "Sunday"), "zh": ("星期一", "星期二", "星期五", "星期天")}
released = threading.Event()
"""Until then the model that is slow says nothing."""


def obedient(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Say the label that stands in the sentence; the first one where none does."""
    said = [next((n for n, label in enumerate(LABELS) if label in text), 0) for text in hypotheses]
    return np.where(np.arange(3) == np.array(said)[:, None], 0.64, 0.18)


def slow(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Say the same, but not before it is let."""
    released.wait()
    return obedient(premises, hypotheses)


def dead(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Say nothing until it is let."""
    if not released.is_set():
        raise ConnectionError("the endpoint is gone")
    return obedient(premises, hypotheses)


mood = {"is": "obedient"}
"""How the moody model is just now: ``obedient``, ``slow`` or ``dead``."""


def moody(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Be as the mood is."""
    return {"obedient": obedient, "slow": slow, "dead": dead}[mood["is"]](premises, hypotheses)


for _model in (obedient, slow, dead, moody):
    _model.label_space = LABELS  # type: ignore[attr-defined]


def start_duel(
    store: Store, name: str, *, model: str | None = "obedient", language: str = "en", arm: str = "adversarial"
) -> tuple[int, int]:
    """Make a campaign against a model, with a round open where there is one; return it and its writer."""
    released.clear()
    protocol = make_protocol(arm, language)
    protocol = replace(
        protocol,
        premises=replace(protocol.premises, shortest=20),
        qualification=replace(protocol.qualification, training=0),
    )
    contexts = [Premise(text=CONTEXTS[language].format(day), genre="harbour") for day in DAYS[language]]
    with store.write() as tx:
        made = create_project(tx, name, protocol, seed=3).id
        add_premises(tx, made, contexts, by=None)
        places = empty_places(tx, projects.project(tx, made))
        add_proposals(tx, made, places, [f"Perhaps {one.label}." for one in places], "mine", by=None)
        if model is not None:
            open_round(tx, made, [Adversary(name=model, reference=f"tests.web.duels:{model}", options={})], by=None)
        writer = accounts.create_account(tx, f"{name}@duel.example", "none")
        people.add_member(tx, made, writer, "writer", by=None)
    return made, writer
