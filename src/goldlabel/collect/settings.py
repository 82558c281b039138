"""Settings: keyword-only dataclasses in and out of JSON, with errors that name the setting and what is allowed."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import polars as pl

from goldlabel.errors import InputError
from goldlabel.registry import suggest

T = TypeVar("T")
_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Decimal: "an amount such as 0.30",
}


def require(holds: bool, name: str, value: object, allowed: str) -> None:
    """Refuse a setting whose value is not among those allowed."""
    if not holds:
        raise InputError(f"setting {name!r} is {_shown(value)}; allowed: {allowed}")


def require_share(name: str, value: float) -> None:
    """Refuse what is not a share from 0 to 1."""
    require(0 <= value <= 1, name, value, "from 0 to 1")


def require_pattern(name: str, pattern: str) -> None:
    """Refuse what is not a regular expression of Rust's kind, which Polars uses."""
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        reason = " ".join(str(error).partition("This error occurred")[0].split())
        raise InputError(f"setting {name!r} is {_shown(pattern)}, which is no pattern ({reason})") from error


def dump_settings(settings: Any) -> dict[str, Any]:
    """Return a dataclass of settings as what JSON can hold; decimals become text."""
    return {field.name: _dumped(getattr(settings, field.name)) for field in fields(settings)}


def load_settings(kind: type[T], given: object, where: str) -> T:
    """Build a dataclass of settings from its JSON form; ``where`` names it in errors."""
    if not isinstance(given, Mapping):
        raise InputError(f"{where} is {_shown(given)}, and an object of settings was expected")
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise InputError(f"{where}: there is no setting {name!r}; {suggest(str(name), list(known))}")
    for name, field in known.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where}: setting {name!r} is missing; give it")
    hints = get_type_hints(kind)
    values = {name: _loaded(hints[name], value, f"{where}.{name}") for name, value in given.items()}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


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
            raise InputError(f"{where} is {_shown(value)}, and a list was expected")
        return tuple(_loaded(get_args(hint)[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if get_origin(hint) is Mapping:
        if not isinstance(value, Mapping):
            raise InputError(f"{where} is {_shown(value)}, and an object was expected")
        return {str(name): _scalar(get_args(hint)[1], one, f"{where}.{name}") for name, one in value.items()}
    if is_dataclass(hint):
        return load_settings(hint, value, where)  # type: ignore[arg-type]
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: Any, where: str) -> Any:
    if hint is Decimal and isinstance(value, str | int) and not isinstance(value, bool):
        try:
            return Decimal(value)
        except InvalidOperation:
            pass
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif type(value) is hint:
        return value
    raise InputError(f"{where} is {_shown(value)}, and {_WORDS[hint]} was expected")


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) or "empty" if isinstance(value, list | tuple) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
