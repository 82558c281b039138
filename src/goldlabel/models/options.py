"""A model's own options: what each allows is written as its type where it is declared, and checked here."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_type_hints

from goldlabel.errors import InputError
from goldlabel.registry import suggest

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """The numbers that an option may be: from ``least`` on, or only above ``above``, and below ``below``."""

    least: float = -math.inf
    above: float = -math.inf
    below: float = math.inf

    def allow(self, value: Any, kind: type) -> bool:
        """Whether a value is a number of the kind and within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
            return False
        return self.least <= value and self.above < value < self.below

    def describe(self, kind: type) -> str:
        """Return what is allowed, in words."""
        limits = {"from {:g} on": self.least, "above {:g}": self.above, "below {:g}": self.below}
        words = " and ".join(text.format(limit) for text, limit in limits.items() if math.isfinite(limit))
        return f"a {'whole number' if kind is int else 'number'} {words}"


@dataclass(frozen=True)
class OneOf:
    """The words that an option may be."""

    words: tuple[str, ...]

    def allow(self, value: Any, kind: type) -> bool:
        """Whether a value is one of the words."""
        return value in self.words

    def describe(self, kind: type) -> str:
        """Return what is allowed, in words."""
        return f"one of {', '.join(self.words)}"


Count = Annotated[int, Bounds(least=1)]
Share = Annotated[float, Bounds(least=0, below=1)]
Positive = Annotated[float, Bounds(above=0)]


def own_options(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the names and defaults of the keyword-only arguments of a model's ``fit``, or of a network's class."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    }


def check_options(model: str, function: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the function does not have, and values that it does not allow."""
    known = own_options(function)
    declared = vars(function)["__init__"] if isinstance(function, type) else function
    hints = get_type_hints(declared, include_extras=True)
    for name, value in options.items():
        if name not in known:
            raise InputError(f"{model} has no option {name!r}; {suggest(name, list(known))}")
        kind, *limits = get_args(hints[name]) or (hints[name],)
        for limit in limits:
            if isinstance(limit, Bounds | OneOf) and not limit.allow(value, kind):
                raise InputError(f"{model}: {name} {value!r} is not {limit.describe(kind)}")


def parse_options(settings: Mapping[str, Any], known: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Read values of a model's own options as the types of their defaults."""
    for name in settings:
        if name not in known:
            raise InputError(f"{what} has no option {name!r}; {suggest(name, list(known)) if known else 'it has none'}")
    return {name: parse_value(name, value, _kind_of(known[name])) for name, value in settings.items()}


def parse_value(name: str, value: Any, kind: type) -> Any:
    """Turn what a command line or a YAML file gives into a value of one kind."""
    text = str(value)
    if kind is bool:
        if text.lower() not in ("yes", "no", "true", "false"):
            raise InputError(f"{name}={text} is neither yes nor no")
        return text.lower() in ("yes", "true")
    try:
        return kind(text)
    except ValueError as error:
        raise InputError(f"{name}={text} is not {'a whole number' if kind is int else 'a number'}") from error


def _kind_of(default: Any) -> type:
    return type(default) if isinstance(default, bool | int | float | str) else str


def checked(model: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a model's ``fit`` refuse what its options do not allow."""

    def decorate(fit: Callable[P, T]) -> Callable[P, T]:
        @wraps(fit)
        def checked_fit(*arguments: P.args, **options: P.kwargs) -> T:
            own = own_options(fit)
            check_options(model, fit, {name: value for name, value in options.items() if name in own})
            return fit(*arguments, **options)

        return checked_fit

    return decorate
