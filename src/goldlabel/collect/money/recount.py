"""Recounting: pairs, votes, leases and pay worked out from the events alone, and held against the tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select

from goldlabel.collect.data.hiding import SHOWN, STATES
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.projects import Project, project
from goldlabel.collect.schema import (
    adjudications,
    answers,
    assignments,
    events,
    ledger,
    members,
    model_votes,
    pairs,
    premises,
    pseudonyms,
    rounds,
    subsets,
    tasks,
)
from goldlabel.collect.store import Transaction
from goldlabel.collect.work.verdicts import verdict_of
from goldlabel.pairs.labels import NO_GOLD

HIDINGS = tuple(f"{what}.{state}" for what in ("pair", "premise") for state in STATES)
WRITTEN = ("written", "tried")
"""Where pairs come from that people of the project wrote."""
BONUSES = {"pay.bonus": 1, "pay.reversal": -1}
"""What a verdict pays for a pair, and takes back."""
RETRACTIONS = ("answer.set_aside", "answer.withdrawn")
RESTORATIONS = ("answer.restored",)


def check(tx: Transaction, project_id: int) -> list[str]:
    """List every difference between what a project's events tell and what its tables hold; none is well."""
    told, judged = _Told(), project(tx, project_id)
    query = select(events).where(events.c.project_id == project_id).order_by(events.c.id)
    for event in tx.connection.execute(query, execution_options={"yield_per": 5000}):
        told.add(event.id, event.kind, event.data)
    sums = func.sum(ledger.c.amount)
    own = ledger.c.project_id == project_id
    found: dict[str, Mapping[Any, Any]] = {
        "premises": _table(tx, premises.c.project_id, func.count(), _in_pool(project_id)),
        "imported pairs": _imported(tx, project_id),
        "pair": _pairs(tx, project_id),
        "votes wanted on pair": _table(tx, tasks.c.pair_id, func.count(), _verifying(project_id)),
        "counted votes on pair": _table(tx, answers.c.pair_id, func.count(), _counted(project_id)),
        "verdict on pair": _verdicts(tx, project_id),
        "visibility of pair": _hidden(tx, project_id),
        "adjudication of pair": _adjudications(tx, project_id),
        "suggestion shown with answer": _suggested(tx, project_id),
        "responses of answer": _responses(tx, project_id),
        "task": _tasks(tx, project_id),
        "holder of task": _holders(tx, project_id),
        "pay of event": _table(tx, ledger.c.event_id, sums, own),
        "pay of person": _table(tx, ledger.c.person_id, sums, own),
        "pairs held out of round": _held_out(tx, project_id),
        "bonus for pair": told.bonuses,
        "pseudonyms of person": _named(tx, project_id),
        "votes of models on pair": _model_votes(tx, project_id),
    }
    expected: dict[str, Mapping[Any, Any]] = {
        "premises": {project_id: told.premises},
        "imported pairs": told.imported,
        "pair": told.pairs,
        "votes wanted on pair": told.wanted,
        "counted votes on pair": {pair_id: len(votes) for pair_id, votes in told.votes.items()},
        "verdict on pair": told.verdicts(judged),
        "visibility of pair": told.hidden,
        "adjudication of pair": told.decided,
        "suggestion shown with answer": told.suggested,
        "responses of answer": {answer_id: said for answer_id, said in told.responses.items() if said},
        "task": told.tasks,
        "holder of task": told.holders,
        "pay of event": told.paid,
        "pay of person": told.owed,
        "pairs held out of round": told.held_out,
        "bonus for pair": _earning(tx, judged, told),
        "pseudonyms of person": _table(
            tx, members.c.person_id, func.count(members.c.person_id.distinct()), _in(project_id)
        ),
        "votes of models on pair": told.models,
    }
    return [
        f"{what} {key}: the events say {expected[what].get(key, 0)}, the tables {found[what].get(key, 0)}"
        for what in found
        for key in sorted({*found[what], *expected[what]}, key=str)
        if found[what].get(key, 0) != expected[what].get(key, 0)
    ]


class _Told:
    """What the events say; a task that is not named waits, and nought is the same as nothing."""

    def __init__(self) -> None:
        self.premises = 0
        self.imported: Counter[str] = Counter()
        self.pairs: dict[int, tuple[str, str]] = {}
        self.wanted: dict[int, int] = {}
        self.votes: dict[int, dict[int, str]] = defaultdict(dict)
        self.hidden: dict[int, str] = {}
        self.decided: dict[int, str] = {}
        self.suggested: dict[int, str] = {}
        self.responses: dict[int, dict[str, str]] = {}
        self.tasks: dict[int, str] = {}
        self.holders: dict[int, tuple[int, str]] = {}
        self.paid: dict[int, int] = {}
        self.owed: Counter[int] = Counter()
        self.held_out: dict[int, Mapping[str, Any] | None] = {}
        self.bonuses: Counter[int] = Counter()
        self.models: dict[int, dict[str, str]] = defaultdict(dict)

    def add(self, event_id: int, kind: str, data: Mapping[str, Any]) -> None:
        if "pay" in data:
            self.paid[event_id] = data["pay"]["units"]
            self.owed[data["pay"]["person"]] += data["pay"]["units"]
        if kind in BONUSES and "pair" in data and data["pay"]["units"]:
            self.bonuses[data["pair"]] += BONUSES[kind]
        if kind in ("lease.granted", "lease.prolonged"):
            self.holders[data["task"]] = data["assignment"], data["until"]
            self.tasks[data["task"]] = "leased"
        elif "becomes" in data:
            self.holders.pop(data["task"])
            self.tasks[data["task"]] = data["becomes"]
        elif kind in RETRACTIONS:
            self._retract(data)
        elif kind in RESTORATIONS:
            self._restore(data)
        if self.tasks.get(data.get("task", 0)) == "open":
            del self.tasks[data["task"]]
        if "suggestion" in data:
            self.suggested[data["answer"]] = data["suggestion"]
        if "responses" in data:
            self.responses[data["answer"]] = data["responses"]
        if kind == "answer.written":
            self.pairs |= {pair_id: (label, data["state"]) for pair_id, label in data["pairs"]}
        elif kind == "answer.imported":
            self.tasks[data["task"]] = "answered"
            self.votes[data["pair"]][data["answer"]] = data["label"]
        elif kind == "answer.verify":
            if data["state"] == "counted":
                self.votes[data["pair"]][data["answer"]] = data["label"]
        elif kind == "answer.changed" and data["kind"] == "verify" and "label" in data:
            self.votes[data["pair"]][data["answer"]] = data["label"]
        elif kind == "answer.undone" and data["kind"] == "verify":
            del self.votes[data["pair"]][data["answer"]]
        elif kind == "model.voted":
            for pair_id, label in data["votes"]:
                self.models[pair_id][data["model"]] = label
        elif kind in ("verification.drawn", "verification.widened"):
            self.wanted |= dict.fromkeys(data["pairs"], data["wanted"])
        elif kind == "pairs.imported":
            self.imported.update({f"{data['origin']} {genre}": n for genre, n in data["genres"].items()})
        elif kind in HIDINGS:
            self._hide(data)
        elif kind == "pair.adjudicated":
            self.decided.pop(data["pair"], None)
            self.decided |= {} if data["label"] == NO_GOLD else {data["pair"]: data["label"]}
        elif kind == "round.closed":
            self.tasks |= dict.fromkeys(data["withdraws"], "withdrawn")
            self.pairs |= {pair_id: (label, "counted") for pair_id, label in data.get("pairs", ())}
            self.held_out[len(self.held_out) + 1] = data.get("held_out")
        elif kind == "premises.added":
            self.premises += data["last"] - data["first"] + 1

    def _hide(self, data: Mapping[str, Any]) -> None:
        for pair_id in data["pairs"]:
            if data["state"] == SHOWN:
                self.hidden.pop(pair_id, None)
            else:
                self.hidden[pair_id] = data["state"]
        self.tasks |= dict.fromkeys(data.get("withdrawn", ()), "withdrawn")
        for task_id in data.get("reopened", ()):
            del self.tasks[task_id]

    def _retract(self, data: Mapping[str, Any]) -> None:
        self.tasks[data["task"]] = data["retracts"]
        self.tasks |= dict.fromkeys(data["withdrawn"], "withdrawn")
        self.pairs |= {pair_id: (self.pairs[pair_id][0], data["state"]) for pair_id in data["pairs"]}
        if data["kind"] == "verify":
            del self.votes[data["pair"]][data["answer"]]

    def _restore(self, data: Mapping[str, Any]) -> None:
        self.pairs |= {pair_id: (self.pairs[pair_id][0], data["state"]) for pair_id in data["pairs"]}
        if data["restores"] is not None:
            self.tasks[data["task"]] = data["restores"]
            for task_id in data["reopened"]:
                del self.tasks[task_id]
            if data["kind"] == "verify":
                self.votes[data["pair"]][data["answer"]] = data["label"]

    def verdicts(self, judged: Project) -> dict[int, str]:
        """Return what the votes decided."""
        found = {}
        for pair_id, votes in self.votes.items():
            author, state = self.pairs.get(pair_id, (None, "counted"))
            if state != "counted":
                continue
            cast = [votes[answer_id] for answer_id in sorted(votes)]
            models = list(self.models.get(pair_id, {}).values())
            verdict = verdict_of(judged, author, cast, self.wanted[pair_id], models)
            if verdict is not None:
                found[pair_id] = verdict
        return found


def _model_votes(tx: Transaction, project_id: int) -> dict[int, dict[str, str]]:
    votes: dict[int, dict[str, str]] = defaultdict(dict)
    for row in tx.all(select(model_votes).where(model_votes.c.project_id == project_id)):
        votes[row.pair_id][row.model] = row.label
    return votes


def _earning(tx: Transaction, judged: Project, told: _Told) -> dict[int, int]:
    """Return the pairs whose writers are to have a bonus: one, where the verdict is the writer's label.

    Of a pair that is not counted any more the bonus goes or stays with the rest of its pay; it is taken as it is.
    """
    if judged.kind.decided is None:
        return {}
    verdicts = told.verdicts(judged)
    paying = {row.id for row in tx.all(select(rounds).where(rounds.c.project_id == judged.id)) if _bonus(judged, row)}
    expected = {}
    for row in tx.all(select(pairs.c.id, pairs.c.round_id).where(pairs.c.project_id == judged.id)):
        label, state = told.pairs.get(row.id, (None, ""))
        as_it_is = state != "counted" or row.round_id not in paying
        expected[row.id] = told.bonuses[row.id] if as_it_is else int(verdicts.get(row.id) == label)
    return expected


def _bonus(judged: Project, row: Row[Any]) -> Decimal:
    return judged.protocol.pay.bonus if row.pay is None else Decimal(row.pay["bonus"])


def _in(project_id: int) -> ColumnElement[bool]:
    return members.c.project_id == project_id


def _named(tx: Transaction, project_id: int) -> dict[int, int]:
    """Return who of those that have a role has a name in the project, as everybody must."""
    query = (
        select(members.c.person_id)
        .join(pseudonyms, known_as(members.c.project_id, members.c.person_id))
        .where(_in(project_id))
        .distinct()
    )
    return {row.person_id: 1 for row in tx.all(query)}


def _in_pool(project_id: int) -> ColumnElement[bool]:
    return (premises.c.project_id == project_id) & premises.c.number.is_not(None)


def _verifying(project_id: int) -> ColumnElement[bool]:
    return (tasks.c.project_id == project_id) & (tasks.c.kind == "verify")


def _counted(project_id: int) -> ColumnElement[bool]:
    return (answers.c.project_id == project_id) & (answers.c.kind == "verify") & (answers.c.state == "counted")


def _table(
    tx: Transaction, key: ColumnElement[Any], value: ColumnElement[Any], chosen: ColumnElement[bool]
) -> dict[int, int]:
    query = select(key.label("key"), value.label("value")).where(chosen).group_by(key)
    return {row.key: int(row.value) for row in tx.all(query)}


def _imported(tx: Transaction, project_id: int) -> dict[str, int]:
    query = (
        select(subsets.c.origin, subsets.c.genre, func.count().label("n"))
        .join(pairs, pairs.c.subset_id == subsets.c.id)
        .where(subsets.c.project_id == project_id, subsets.c.origin.not_in(WRITTEN))
        .group_by(subsets.c.origin, subsets.c.genre)
    )
    return {f"{row.origin} {row.genre}": row.n for row in tx.all(query)}


def _pairs(tx: Transaction, project_id: int) -> dict[int, tuple[str, str]]:
    query = select(pairs.c.id, pairs.c.label, pairs.c.state).where(
        pairs.c.project_id == project_id, pairs.c.writer_id.is_not(None)
    )
    return {row.id: (row.label, row.state) for row in tx.all(query)}


def _verdicts(tx: Transaction, project_id: int) -> dict[int, str]:
    query = select(pairs.c.id, pairs.c.verdict).where(pairs.c.project_id == project_id, pairs.c.verdict.is_not(None))
    return {row.id: row.verdict for row in tx.all(query)}


def _hidden(tx: Transaction, project_id: int) -> dict[int, str]:
    query = select(pairs.c.id, pairs.c.hidden).where(pairs.c.project_id == project_id, pairs.c.hidden.is_not(None))
    return {row.id: row.hidden for row in tx.all(query)}


def _held_out(tx: Transaction, project_id: int) -> dict[int, Any]:
    closed = (rounds.c.project_id == project_id, rounds.c.state == "closed")
    return {row.number: row.held_out for row in tx.all(select(rounds).where(*closed))}


def _adjudications(tx: Transaction, project_id: int) -> dict[int, str]:
    return {
        row.pair_id: row.label for row in tx.all(select(adjudications).where(adjudications.c.project_id == project_id))
    }


def _suggested(tx: Transaction, project_id: int) -> dict[int, str]:
    query = (
        select(answers.c.id, assignments.c.suggestion)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .where(answers.c.project_id == project_id, assignments.c.suggestion.is_not(None))
    )
    return {row.id: row.suggestion for row in tx.all(query)}


def _responses(tx: Transaction, project_id: int) -> dict[int, dict[str, str]]:
    query = select(answers.c.id, answers.c.responses).where(
        answers.c.project_id == project_id, answers.c.responses.is_not(None)
    )
    return {row.id: row.responses for row in tx.all(query)}


def _tasks(tx: Transaction, project_id: int) -> dict[int, str]:
    query = select(tasks.c.id, tasks.c.state).where(tasks.c.project_id == project_id, tasks.c.state != "open")
    return {row.id: row.state for row in tx.all(query)}


def _holders(tx: Transaction, project_id: int) -> dict[int, tuple[int, str]]:
    query = (
        select(tasks.c.id, tasks.c.lease_until, assignments.c.id.label("assignment"))
        .join(assignments, assignments.c.task_id == tasks.c.id)
        .where(tasks.c.project_id == project_id, assignments.c.state == "leased")
    )
    return {row.id: (row.assignment, str(row.lease_until and row.lease_until.isoformat())) for row in tx.all(query)}
