"""Settings of a project: the numbers of its protocol, in groups, checked by the protocol itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from goldlabel.collect import projects
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import CONDITIONS, Protocol
from goldlabel.collect.settings import dump_settings
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.requester.projects import ABOUT
from goldlabel.web.security import Managed, Person, Stored
from goldlabel.web.words import N_

router = APIRouter(tags=["settings"])

WHOLE, SHARE, MONEY, TEXT, YES = "whole", "share", "money", "text", "yes"


@dataclass(frozen=True)
class Setting:
    """One number of a protocol as a field of the form."""

    section: str
    name: str
    kind: str
    says: str
    optional: bool = False

    @property
    def key(self) -> str:
        """The name of the form's field."""
        return f"{self.section}.{self.name}"


SECTIONS = {
    "premises": N_("Given sentences"),
    "writing": N_("Writing"),
    "verifying": N_("Judging"),
    "qualification": N_("Training and trust"),
    "pay": N_("Pay"),
    "splits": N_("Splits of the export"),
}
SETTINGS = (
    Setting("premises", "shortest", WHOLE, N_("Shortest, in characters")),
    Setting("premises", "longest", WHOLE, N_("Longest, in characters")),
    Setting("writing", "overlap", SHARE, N_("Overlap with the given sentence, at most")),
    Setting("writing", "longest", WHOLE, N_("Longest sentence, in characters")),
    Setting("writing", "writers_per_premise", WHOLE, N_("Writers per given sentence and condition")),
    Setting("writing", "batch", WHOLE, N_("Given sentences in a batch")),
    Setting("writing", "cap", WHOLE, N_("Most given sentences for one writer"), optional=True),
    Setting("writing", "lease_seconds", WHOLE, N_("Seconds until an abandoned task goes to someone else")),
    Setting("verifying", "share", SHARE, N_("Share of the pairs that is judged")),
    Setting("verifying", "verifiers", WHOLE, N_("Judgements per pair, besides the author's label")),
    Setting("verifying", "foreign", WHOLE, N_("Foreign pairs to mix in")),
    Setting("verifying", "sample", WHOLE, N_("Pairs to draw from those imported"), optional=True),
    Setting("verifying", "lease_seconds", WHOLE, N_("Seconds until an abandoned task goes to someone else")),
    Setting("qualification", "training", WHOLE, N_("Training examples")),
    Setting("qualification", "threshold", SHARE, N_("Share of them to get right")),
    Setting("qualification", "gold_rate", SHARE, N_("Share of tasks that are questions with a known answer")),
    Setting("qualification", "trust", SHARE, N_("Flag who gets fewer of these right")),
    Setting("qualification", "pause", YES, N_("Pause who is flagged")),
    Setting("pay", "currency", TEXT, N_("Currency")),
    Setting("pay", "pair", MONEY, N_("Per written pair")),
    Setting("pay", "label", MONEY, N_("Per judgement")),
    Setting("pay", "bonus", MONEY, N_("Bonus per pair (multi-encourage)")),
    Setting("pay", "penalty", MONEY, N_("Penalty per pair (multi-constraint)")),
    Setting("splits", "dev", WHOLE, N_("Pairs in dev, at most")),
    Setting("splits", "test", WHOLE, N_("Pairs in test, at most")),
)
LONGEST_VALUE = 40


@router.get("/projects/{project_id}/settings")
def settings_page(request: Request, project: Managed, saved: bool = False) -> Response:
    """The numbers of the protocol."""
    return _settings_page(request, project, shown(project.protocol), saved=saved)


_FIELDS: dict[str, Any] = {setting.key: {"type": "string"} for setting in SETTINGS}
_FORM = {"type": "object", "properties": _FIELDS | {"conditions": {"type": "array", "items": {"type": "string"}}}}


@router.post(
    "/projects/{project_id}/settings",
    openapi_extra={"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": _FORM}}}},
)
async def change_settings(request: Request, project: Managed, person: Person, store: Stored) -> Response:
    """Check and keep changed settings; they hold from now on."""
    form = await request.form()
    given = {name: value[:LONGEST_VALUE] for name, value in form.items() if isinstance(value, str)}
    conditions = [name for name in form.getlist("conditions") if isinstance(name, str)]
    return await run_in_threadpool(_change, request, project, person.person_id, store, given, conditions)


def _change(
    request: Request, project: Project, by: int, store: Store, given: Mapping[str, str], conditions: list[str]
) -> Response:
    try:
        protocol = changed(project.protocol, given, conditions)
        with store.write() as tx:
            projects.configure(tx, project.id, protocol, by=by)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        values = {setting.key: given.get(setting.key, "") for setting in SETTINGS}
        return _settings_page(request, project, values, status=status, problem=message)
    return RedirectResponse(f"/projects/{project.id}/settings?saved=true", 303)


def shown(protocol: Protocol) -> dict[str, str]:
    """Return the settings as the form shows them: shares in per cent, nothing for no limit."""
    fields = protocol.to_dict()
    return {one.key: _text(one, fields[one.section][one.name]) for one in SETTINGS}


def changed(protocol: Protocol, given: Mapping[str, str], conditions: list[str]) -> Protocol:
    """Return a protocol with what a form says; its own checks name what cannot be."""
    fields, kind = protocol.to_dict(), KINDS.get(protocol.kind)
    for one in SETTINGS:
        if one.key in kind.settings and (one.key in given or one.kind == YES):
            fields[one.section][one.name] = _value(one, given.get(one.key, "").strip())
    held = {condition.name for condition in protocol.conditions}
    for name in conditions:
        if name not in held and kind.has_conditions:
            fields["conditions"].append(_condition(name))
    return Protocol.from_dict(fields)


def _condition(name: str) -> dict[str, Any]:
    return dump_settings(CONDITIONS.get(name))


def _text(setting: Setting, value: Any) -> str:
    if value is None:
        return ""
    return (
        f"{100 * value:g}"
        if setting.kind == SHARE
        else ("yes" if value is True else "" if value is False else str(value))
    )


def _value(setting: Setting, text: str) -> Any:
    if setting.kind == YES:
        return text == "yes"
    if setting.kind in (TEXT, MONEY):
        return text
    if not text and setting.optional:
        return None
    try:
        return float(text) / 100 if setting.kind == SHARE else int(text)
    except ValueError:
        wanted = "a number from 0 to 100" if setting.kind == SHARE else "a whole number"
        raise InputError(f"setting {setting.key!r} is {text!r}; allowed: {wanted}") from None


def _settings_page(
    request: Request,
    project: Project,
    values: Mapping[str, str],
    *,
    status: int = 200,
    problem: str = "",
    saved: bool = False,
) -> Response:
    sections = []
    for name, heading in SECTIONS.items():
        fields = [one for one in SETTINGS if one.section == name and one.key in project.kind.settings]
        if fields:
            sections.append({"name": name, "heading": heading, "settings": fields})
    return page(
        request,
        "requester/settings.html",
        status=status,
        project=project,
        sections=sections,
        values=values,
        held=[condition.name for condition in project.protocol.conditions],
        about=ABOUT if project.kind.has_conditions else {},
        problem=problem,
        saved=saved,
    )
