"""The annotators' pages: instructions, training, writing and verifying."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from goldlabel.collect.collection import collection_key
from goldlabel.collect.data.measurements import own_meter
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.people import marketplaces, qualification
from goldlabel.collect.people.letters import inbox
from goldlabel.collect.people.people import Member, require_role
from goldlabel.collect.projects import Project, project
from goldlabel.collect.protocols import Protocol
from goldlabel.collect.rounds.fooling import LONGEST_REASON
from goldlabel.collect.rounds.rounds import protocol_now
from goldlabel.collect.store import LARGEST
from goldlabel.collect.texts import instructions, training_examples
from goldlabel.collect.work import verifying
from goldlabel.collect.work.answering import LONGEST_KEY
from goldlabel.collect.work.assignment import take_up
from goldlabel.collect.work.drafts import last_set_aside
from goldlabel.collect.work.questions import LONGEST_RESPONSE, asked_with
from goldlabel.collect.work.rules import script_parameters
from goldlabel.web import annotator_api, tries_api
from goldlabel.web.language import translator
from goldlabel.web.pages import page
from goldlabel.web.security import Person, ProjectId, Stored
from goldlabel.web.words import word
from goldlabel.web.work import last_vote, progress, take_work

router = APIRouter()
router.include_router(annotator_api.router, prefix="/api")
router.include_router(tries_api.router, prefix="/api")

Role = Literal["writer", "verifier"]
PLACE_OF = {work.role: work.name for work in WORKS.values()}
ABSTENTION_KEYS = {"unrelated": "u", "incomprehensible": "i", "unknown": "k"}
FOR_GOOD = ("finished", "others", "capped")
"""Why there is nothing to do, and will not be: enough for somebody whom a marketplace sent."""
ROOM = 500
"""Characters that a box takes beyond what the rules allow, so that the rule can speak before the box is full."""


@router.get("/projects/{project_id}/instructions/{role}")
def show_instructions(request: Request, project_id: ProjectId, role: Role, person: Person, store: Stored) -> Response:
    """What to do, as the requester put it."""
    with store.read() as tx:
        member = require_role(tx, project_id, person.person_id, role)
        found = project(tx, project_id)
        protocol = protocol_now(tx, found)
        learnt = qualification.is_qualified(tx, found, person.person_id, role)
    return page(
        request,
        "annotator/instructions.html",
        project=found,
        text=_instructions(found, member, protocol),
        role=role,
        place=PLACE_OF[role],
        learnt=learnt,
    )


@router.get("/projects/{project_id}/training/{role}")
def show_training(
    request: Request,
    project_id: ProjectId,
    role: Role,
    person: Person,
    store: Stored,
    seen: Annotated[int | None, Query(ge=0, le=10_000)] = None,
    given: Annotated[str, Query(max_length=50)] = "",
    begin: bool = False,
) -> Response:
    """One step: what there is to know; then each example, and the same with its answer and why; then the result."""
    with store.read() as tx:
        member = require_role(tx, project_id, person.person_id, role)
        found = project(tx, project_id)
        protocol = protocol_now(tx, found)
        stands = qualification.training(tx, project_id, person.person_id, role)
    examples = training_examples(found.protocol, role)
    numbers = [*examples]
    values: dict[str, Any] = {
        "project": found,
        "role": role,
        "place": PLACE_OF[role],
        "stands": stands,
        "needed": _needed(found, stands.total),
        "text": _instructions(found, member, protocol),
    }
    # An example's answer is told to those who have answered it, in this attempt or in one before.
    answered = seen is not None and seen in examples and (seen in stands.given or stands.attempt > 1)
    if answered and seen is not None:
        label = stands.given.get(seen, given)
        values |= {"number": numbers.index(seen) + 1, "example": examples[seen], "given": label}
        return page(request, "annotator/training_answer.html", **values)
    if stands.state != "open":
        return page(request, "annotator/training_result.html", **values)
    if not stands.given and not begin:
        return page(request, "annotator/training_start.html", **values)
    asked = next(number for number in numbers if number not in stands.given)
    values |= {"number": numbers.index(asked) + 1, "asked": asked, "example": examples[asked]}
    values |= {"answers": _answers(found.protocol)}
    return page(request, "annotator/training.html", **values)


@router.post("/projects/{project_id}/training/{role}")
def answer_training(
    project_id: ProjectId,
    role: Role,
    person: Person,
    store: Stored,
    example: Annotated[int, Form(ge=0, le=10_000)],
    label: Annotated[str, Form(max_length=50)],
) -> Response:
    """Store the answer to an example, and go on to why it is right or wrong."""
    with store.write() as tx:
        qualification.answer_training(tx, project_id, person.person_id, role, example, label)
    return RedirectResponse(f"/projects/{project_id}/training/{role}?seen={example}&given={label}", 303)


@router.get("/projects/{project_id}/write")
def write(request: Request, project_id: ProjectId, person: Person, store: Stored) -> Response:
    """Hypotheses for a premise."""
    return _work_page(request, project_id, person, store, "write")


@router.get("/projects/{project_id}/verify")
def verify(request: Request, project_id: ProjectId, person: Person, store: Stored) -> Response:
    """Pairs that others wrote."""
    return _work_page(request, project_id, person, store, "verify")


@router.post("/projects/{project_id}/verify/undo")
def undo(
    project_id: ProjectId,
    person: Person,
    store: Stored,
    assignment: Annotated[int, Form(ge=1, le=LARGEST)],
    key: Annotated[str, Form(max_length=LONGEST_KEY)],
) -> Response:
    """Take back the last answer where there is no pair left to show beside it."""
    with store.write() as tx:
        require_role(tx, project_id, person.person_id, "verifier")
        verifying.take_back(tx, assignment, person.person_id, key)
    return RedirectResponse(f"/projects/{project_id}/verify", 303)


@router.post("/projects/{project_id}/write/resume")
def resume(
    project_id: ProjectId, person: Person, store: Stored, assignment: Annotated[int, Form(ge=1, le=LARGEST)]
) -> Response:
    """Take up what was skipped where there is nothing else to write about."""
    with store.write() as tx:
        require_role(tx, project_id, person.person_id, "writer")
        take_up(tx, assignment, person.person_id)
    return RedirectResponse(f"/projects/{project_id}/write", 303)


def _work_page(request: Request, project_id: int, person: Person, store: Stored, kind: str) -> Response:
    role = WORKS[kind].role
    with store.write() as tx:
        member = require_role(tx, project_id, person.person_id, role)
        found = project(tx, project_id)
        visit = marketplaces.present_visit(tx, project_id, person.person_id)
        if visit is not None and visit.is_over:
            marketplaces.complete(tx, project_id, person.person_id, visit)
            return RedirectResponse(f"/projects/{project_id}/completion", 303)
        work = take_work(tx, project_id, person.person_id, kind)
        if visit is not None and work.status in FOR_GOOD:
            marketplaces.complete(tx, project_id, person.person_id, visit)
            return RedirectResponse(f"/projects/{project_id}/completion", 303)
        done = progress(tx, found, person.person_id, kind)
        last = last_vote(tx, project_id, person.person_id) if kind == "verify" else None
        aside = last_set_aside(tx, project_id, person.person_id) if kind == "write" else None
        collection = collection_key(tx)
        unread = inbox(tx, project_id, person.person_id, unread=True)
        protocol = protocol_now(tx, found)
        against_model = kind == "write" and found.kind.has_rounds and bool(work.tasks)
        job = tries_api.view(tx, work.tasks[0].assignment, person.person_id) if against_model else None
    if work.status == "unconsented":
        return RedirectResponse(f"/projects/{project_id}/agree?next=/projects/{project_id}/{kind}", 303)
    if work.status == "unqualified":
        return RedirectResponse(f"/projects/{project_id}/training/{role}", 303)
    if not work.tasks:
        return page(request, "annotator/nothing.html", project=found, role=role, work=work, last=last, aside=aside)
    data: dict[str, Any] = {
        "project": project_id,
        "person": person.person_id,
        "collection": collection,
        "work": work.model_dump(mode="json"),
        "progress": done.model_dump(),
    }
    # A task is what it was when it was lent, also where its writer has been moved to another condition since.
    chosen = work.tasks[0].condition or member.condition
    values: dict[str, Any] = {
        "project": found,
        "role": role,
        "task": work.tasks[0],
        "progress": done,
        "data": data,
        "unread": unread,
        "text": instructions(found.kind.text_for(role, chosen), protocol),
    }
    shows = kind == "write" and found.protocol.writing.meter
    values["meter"] = own_meter(store, project_id, person.person_id) if shows else None
    asked = asked_with(found.protocol.questions, kind)
    values |= {"questions": asked, "waits": kind == "verify", "longest_response": LONGEST_RESPONSE}
    if kind == "verify":
        data["last"] = last.model_dump(mode="json") if last else None
        return page(request, "annotator/verifying.html", answers=_answers(found.protocol), **values)
    data["aside"] = {"assignment": aside.assignment_id, "premise": aside.premise} if aside else None
    if job is not None:
        data["job"] = job.model_dump(mode="json")
        values |= {"job": job, "labels": found.protocol.ordered_labels, "longest_reason": LONGEST_REASON}
        return page(request, "annotator/duel.html", longest=found.protocol.writing.longest, **values)
    condition = found.protocol.condition(chosen)
    data["condition"] = condition.name
    data["rules"] = script_parameters(found.protocol) | {"negated_contradictions": condition.negated_contradictions}
    data["slots"] = [
        {"label": label, "level": level, "name": _slot_name(request, label, level, len(condition.levels) > 1)}
        for label, level in found.protocol.slots(condition.name)
    ]
    return page(
        request,
        "annotator/writing.html",
        condition=condition,
        labels=found.protocol.ordered_labels,
        longest=found.protocol.writing.longest + ROOM,
        **values,
    )


def _slot_name(request: Request, label: str, level: str, several: bool) -> str:
    messages = translator(request)
    return f"{word(label, messages)} · {word(level, messages)}" if several else word(label, messages)


def _answers(protocol: Protocol) -> list[dict[str, Any]]:
    """Return what a verifier can answer: labels under digits, abstentions under letters."""
    labels = protocol.ordered_labels
    return [{"label": label, "key": str(place), "abstains": False} for place, label in enumerate(labels, 1)] + [
        {"label": label, "key": ABSTENTION_KEYS[label], "abstains": True} for label in protocol.verifying.abstentions
    ]


def _instructions(found: Project, member: Member, protocol: Protocol) -> str:
    return instructions(found.kind.text_for(member.role, member.condition), protocol)


def _needed(found: Project, total: int) -> int:
    """Return how many examples must be right, rounded as the training itself is judged."""
    rules = found.protocol.qualification
    return next(right for right in range(total + 1) if right >= rules.threshold * total - 1e-9)
