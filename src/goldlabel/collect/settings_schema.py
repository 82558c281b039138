"""The settings of a project as JSON Schema, from the dataclasses that hold and bound them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from typing import Any, Union, get_args, get_origin, get_type_hints

from goldlabel.collect.money.amounts import PLACES
from goldlabel.collect.settings import bounds_of

LONGEST_TEXT = 200_000
MOST_ITEMS = 10_000
_AMOUNT = rf"^[0-9]{{1,10}}(\.[0-9]{{1,{PLACES}}})?$"


def schema_of(kind: type) -> dict[str, Any]:
    """Return the schema of a dataclass of settings."""
    hints = get_type_hints(kind)
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]
    described: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: _schema(hints[one.name], kind, one.name) for one in fields(kind)},
        "additionalProperties": False,
    }
    return described | ({"required": needed} if needed else {})


def changes_of(kind: type, prefix: str = "") -> dict[str, Any]:
    """Return the schema of each setting by its path, such as ``pay.pair``, for those who change some of them."""
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for one in fields(kind):
        if is_dataclass(hints[one.name]):
            found |= changes_of(hints[one.name], f"{prefix}{one.name}.")
        else:
            found[f"{prefix}{one.name}"] = _schema(hints[one.name], kind, one.name)
    return found


def _schema(hint: Any, owner: type, name: str) -> dict[str, Any]:
    if get_origin(hint) in (Union, types.UnionType):
        inner = next(one for one in get_args(hint) if one is not type(None))
        return {"anyOf": [_schema(inner, owner, name), {"type": "null"}]}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0], owner, name), "maxItems": MOST_ITEMS}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _schema(get_args(hint)[1], owner, name)}
    if is_dataclass(hint):
        return schema_of(hint)  # type: ignore[arg-type]
    if hint is str:
        return {"type": "string", "maxLength": LONGEST_TEXT}
    if hint is bool:
        return {"type": "boolean"}
    low, high = bounds_of(owner, name)
    if hint is Decimal:
        return {"type": "string", "pattern": _AMOUNT, "description": f"{low} to {high}"}
    return {"type": "integer" if hint is int else "number", "minimum": low, "maximum": high}
