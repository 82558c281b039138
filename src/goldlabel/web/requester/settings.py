"""Settings of a project: the numbers of its protocol, in groups, checked by the protocol itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from goldlabel.collect.configuration import configure
from goldlabel.collect.data.fixed_splits import read_rules
from goldlabel.collect.kinds import KINDS
from goldlabel.collect.messages import hint
from goldlabel.collect.money.amounts import PLACES, parse_decimal
from goldlabel.collect.projects import Project
from goldlabel.collect.protocols import CONDITIONS, Condition, Protocol
from goldlabel.collect.refusals import Invalid, Refusal
from goldlabel.collect.settings import bounds_of, dump_settings
from goldlabel.collect.store import Store
from goldlabel.errors import InputError
from goldlabel.messages import Word
from goldlabel.web.failures import describe
from goldlabel.web.pages import page
from goldlabel.web.requester.setting_help import HELP
from goldlabel.web.security import Managed, Person, Stored
from goldlabel.web.words import N_

router = APIRouter(tags=["settings"])

WHOLE, SHARE, MONEY, TEXT, YES, LINES = "whole", "share", "money", "text", "yes", "lines"


@dataclass(frozen=True)
class Setting:
    """One number of a protocol as a field of the form."""

    key: str
    """The name of the form's field: the section and the name in the protocol."""
    kind: str
    optional: bool = False

    @property
    def section(self) -> str:
        """The part of the protocol."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """The name within the section."""
        return self.key.partition(".")[2]

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that a number may be, in the form's units."""
        low, high = bounds_of(Protocol, self.key)
        return (100 * low, 100 * high) if self.kind == SHARE else (low, high)


SECTIONS = {
    "premises": N_("Given sentences"),
    "writing": N_("Writing"),
    "verifying": N_("Judging"),
    "qualification": N_("Training and trust"),
    "pay": N_("Pay"),
    "splits": N_("Splits of the export"),
}
SETTINGS = (
    Setting("premises.shortest", WHOLE),
    Setting("premises.longest", WHOLE),
    Setting("writing.overlap", SHARE),
    Setting("writing.longest", WHOLE),
    Setting("writing.writers_per_premise", WHOLE),
    Setting("writing.batch", WHOLE),
    Setting("writing.cap", WHOLE, optional=True),
    Setting("writing.lease_seconds", WHOLE),
    Setting("writing.meter", YES),
    Setting("verifying.share", SHARE),
    Setting("verifying.verifiers", WHOLE),
    Setting("verifying.foreign", WHOLE),
    Setting("verifying.sample", WHOLE, optional=True),
    Setting("verifying.lease_seconds", WHOLE),
    Setting("verifying.suggestions", SHARE),
    Setting("verifying.models", YES),
    Setting("qualification.training", WHOLE),
    Setting("qualification.threshold", SHARE),
    Setting("qualification.gold_rate", SHARE),
    Setting("qualification.trust", SHARE),
    Setting("qualification.pause", YES),
    Setting("qualification.feedback", YES),
    Setting("qualification.second_factor", YES),
    Setting("pay.currency", TEXT),
    Setting("pay.pair", MONEY),
    Setting("pay.label", MONEY),
    Setting("pay.bonus", MONEY),
    Setting("pay.penalty", MONEY),
    Setting("pay.rejected", YES),
    Setting("pay.floor", MONEY),
    Setting("pay.budget", MONEY),
    Setting("splits.dev", WHOLE),
    Setting("splits.test", WHOLE),
    Setting("splits.dev_share", SHARE, optional=True),
    Setting("splits.test_share", SHARE, optional=True),
    Setting("splits.genres", LINES, optional=True),
)
LONGEST_VALUE, LONGEST_LINES = 40, 4000
SHARE_PLACES = 8
_PLACES = {WHOLE: 0, SHARE: SHARE_PLACES, MONEY: PLACES}
_REFUSALS = {WHOLE: "field_whole", SHARE: "field_share", MONEY: "field_amount"}


@router.get("/projects/{project_id}/settings")
def settings_page(request: Request, project: Managed, saved: bool = False) -> Response:
    """The numbers of the protocol."""
    return _settings_page(request, project, shown(project.protocol), saved=saved)


_TEXT = {"type": "string", "maxLength": LONGEST_VALUE}
_LINES = {"type": "string", "maxLength": LONGEST_LINES}
_FIELDS: dict[str, Any] = {setting.key: _LINES if setting.kind == LINES else _TEXT for setting in SETTINGS}
_CONDITIONS = {"type": "array", "items": _TEXT, "maxItems": len(CONDITIONS)}
_FORM = {"type": "object", "properties": _FIELDS | {"conditions": _CONDITIONS}}


@router.post(
    "/projects/{project_id}/settings",
    openapi_extra={"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": _FORM}}}},
)
async def change_settings(request: Request, project: Managed, person: Person, store: Stored) -> Response:
    """Check and keep changed settings; they hold from now on."""
    form = await request.form()
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    conditions = [name for name in form.getlist("conditions") if isinstance(name, str)]
    return await run_in_threadpool(_change, request, project, person.person_id, store, given, conditions)


def _change(
    request: Request, project: Project, by: int, store: Store, given: Mapping[str, str], conditions: list[str]
) -> Response:
    try:
        protocol = changed(project.protocol, given, conditions)
        with store.write() as tx:
            configure(tx, project.id, protocol, by=by)
    except InputError as error:
        _, status, message, _ = describe(request, error)
        values = {setting.key: given.get(setting.key, "") for setting in SETTINGS}
        return _settings_page(request, project, values, status=status, problem=message, wrong=_field_of(error))
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
        if name not in held and kind.joins_conditions:
            fields["conditions"].append(_condition(name, kind.conditions))
    return Protocol.from_dict(fields)


def _condition(name: str, allowed: Mapping[str, Condition]) -> dict[str, Any]:
    if name not in allowed:
        raise Invalid("no_such_condition", name=name, hint=hint(name, allowed))
    return dump_settings(allowed[name])


def _text(setting: Setting, value: Any) -> str:
    if value is None:
        return ""
    if setting.kind == LINES:
        return "\n".join(f"{name} = {one}" for name, one in value.items())
    if setting.kind == SHARE:
        return f"{100 * value:.{SHARE_PLACES}f}".rstrip("0").rstrip(".")
    return "yes" if value is True else "" if value is False else str(value)


def _value(setting: Setting, text: str) -> Any:
    """Return what a field says, in the protocol's units; refuse it in the form's words if it is out of bounds."""
    if setting.kind == YES:
        return text == "yes"
    if setting.kind == TEXT:
        return text
    if setting.kind == LINES:
        if len(text) > LONGEST_LINES:
            raise Invalid("text_length", n=len(text), shortest=0, longest=LONGEST_LINES)
        return read_rules(text)
    if not text and setting.optional:
        return None
    low, high = setting.bounds
    number = parse_decimal(text, places=_PLACES[setting.kind])
    if number is None or not low <= number <= high:
        raise Invalid(_REFUSALS[setting.kind], field=Word(setting.key), text=text, low=low, high=high)
    if setting.kind == MONEY:
        return str(number)
    return float(number / 100) if setting.kind == SHARE else int(number)


def _field_of(error: InputError) -> str:
    """Return the form's name of the setting that a refusal is about, if it is about one."""
    parameters = error.message.parameters if isinstance(error, Refusal) else {}
    return str(parameters.get("field") or parameters.get("setting") or "").removeprefix("protocol.")


def _settings_page(
    request: Request,
    project: Project,
    values: Mapping[str, str],
    *,
    status: int = 200,
    problem: str = "",
    wrong: str = "",
    saved: bool = False,
) -> Response:
    kind, protocol = project.kind, project.protocol
    names = [condition.name for condition in protocol.conditions] if kind.has_conditions else [kind.name]
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
        defaults=shown(kind.make(names, protocol.language)),
        help=HELP,
        held=[condition.name for condition in project.protocol.conditions],
        about=kind.about,
        problem=problem,
        wrong=wrong,
        saved=saved,
    )
