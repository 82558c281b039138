"""Settings: keyword-only dataclasses in and out of JSON, with errors that name the setting and what is allowed."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import polars as pl

from goldlabel.collect.messages import hint, message
from goldlabel.collect.money.amounts import LARGEST_AMOUNT, parse_amount
from goldlabel.collect.refusals import Invalid
from goldlabel.messages import Message, Word

T = TypeVar("T")
Bounds = tuple[int, int]
_BOUNDS = "bounds"


def bounds(low: int, high: int) -> dict[str, Bounds]:
    """Return the metadata of a field whose number is from ``low`` to ``high``, or none where its type allows that."""
    return {_BOUNDS: (low, high)}


def bounds_of(kind: type, path: str) -> Bounds:
    """Return the bounds of a setting, by its path from a dataclass, such as ``writing.cap``."""
    name, _, rest = path.partition(".")
    if rest:
        return bounds_of(get_type_hints(kind)[name], rest)
    found: Bounds = next(field.metadata[_BOUNDS] for field in fields(kind) if field.name == name)
    return found


def require(holds: bool, name: str, value: object, allowed: Message) -> None:
    """Refuse a setting whose value is not among those allowed."""
    if not holds:
        raise _refused(name, value, allowed)


def require_bounds(settings: Any) -> None:
    """Refuse numbers of a dataclass of settings that are out of their bounds."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        if _BOUNDS in one.metadata and value is not None:
            low, high = one.metadata[_BOUNDS]
            finite = not isinstance(value, Decimal) or value.is_finite()
            name = "from_to_or_none" if "None" in str(one.type) else "from_to"
            require(finite and low <= value <= high, one.name, value, message(name, low=low, high=high))


def require_pattern(name: str, pattern: str) -> None:
    """Refuse what is not a regular expression of Rust's kind, which Polars uses."""
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        reason = " ".join(str(error).partition("This error occurred")[0].split())
        raise Invalid("setting_pattern", setting=Word(name), value=_shown(pattern), reason=reason) from error


def dump_settings(settings: Any) -> dict[str, Any]:
    """Return a dataclass of settings as what JSON can hold; decimals become text."""
    return {field.name: _dumped(getattr(settings, field.name)) for field in fields(settings)}


def load_settings(kind: type[T], given: object, where: str) -> T:
    """Build a dataclass of settings from its JSON form; ``where`` names it in errors."""
    if not isinstance(given, Mapping):
        raise _refused(where, given, message("settings"))
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise Invalid("setting_unknown", where=where, name=name, hint=hint(str(name), known))
    for name, one in known.items():
        if name not in given and one.default is MISSING and one.default_factory is MISSING:
            raise Invalid("setting_missing", setting=Word(f"{where}.{name}"))
    hints = get_type_hints(kind)
    values = {name: _loaded(hints[name], value, f"{where}.{name}") for name, value in given.items()}
    try:
        return kind(**values)
    except Invalid as error:
        name, parameters = error.message.name, error.message.parameters
        raise Invalid(name, **{**parameters, "setting": Word(f"{where}.{parameters['setting']}")}) from None


def _dumped(value: Any) -> Any:
    if is_dataclass(value):
        return dump_settings(value)
    if isinstance(value, tuple):
        return [_dumped(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return str(value) if isinstance(value, Decimal) else value


def _loaded(hint: Any, value: Any, where: str) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        inner = next(one for one in get_args(hint) if one is not type(None))
        return None if value is None else _loaded(inner, value, where)
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise _refused(where, value, message("list"))
        return tuple(_loaded(get_args(hint)[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if get_origin(hint) is Mapping:
        if not isinstance(value, Mapping):
            raise _refused(where, value, message("object"))
        return {str(name): _scalar(get_args(hint)[1], one, f"{where}.{name}") for name, one in value.items()}
    if is_dataclass(hint):
        return load_settings(hint, value, where)  # type: ignore[arg-type]
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if hint is Decimal and isinstance(value, str | int) and not isinstance(value, bool):
        amount = parse_amount(str(value))
        if amount is not None:
            return amount
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif type(value) is hint:
        return value
    raise _refused(where, value, _KINDS[hint])


def _refused(where: str, value: object, allowed: Message) -> Invalid:
    return Invalid("setting", setting=Word(where), value=_shown(value), allowed=allowed)


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) or "empty" if isinstance(value, list | tuple) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_KINDS = {
    str: message("text"),
    int: message("whole_number"),
    float: message("number"),
    bool: message("true_or_false"),
    Decimal: message("amount", most=LARGEST_AMOUNT),
}
