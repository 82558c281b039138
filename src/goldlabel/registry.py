"""One small registry with "did you mean", and the loading of optional dependencies."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from goldlabel.errors import InputError, MissingExtraError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind.

    A value may be given as ``"package.module:attribute"``; it is imported when first asked for, so that
    listing names costs nothing. Other packages may add theirs as ``entry_points`` of a group.
    """

    def __init__(self, kind: str, *, entry_points: str | None = None) -> None:
        self.kind = kind
        self._own: dict[str, T | str] = {}
        self._group = entry_points

    def add(self, name: str, value: T | str) -> None:
        """Register ``value`` under ``name``; a name is given once."""
        if name in self._own:
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._own[name] = value

    @property
    def _entries(self) -> dict[str, T | str]:
        """All entries; the environment is looked through when the first of them is asked for."""
        group, self._group = self._group, None
        for entry in importlib.metadata.entry_points(group=group) if group else ():
            self.add(entry.name, entry.value)
        return self._own

    def get(self, name: str) -> T:
        """Return the entry called ``name``, or say which names come close."""
        if name not in self._entries:
            raise UnknownNameError(f"there is no {self.kind} {name!r}; {suggest(name, list(self._entries))}")
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            resolved: T = getattr(importlib.import_module(module), attribute)
            self._own[name] = resolved
            return resolved
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


def closest(name: str, allowed: Sequence[str]) -> str | None:
    """Return which of the names allowed is most like another, if any is."""
    return next(iter(difflib.get_close_matches(name, allowed, n=1)), None)


def suggest(name: str, allowed: list[str]) -> str:
    """End an error message: the closest of ``allowed``, then all of them."""
    close = closest(name, allowed)
    hint = f"did you mean {close!r}? " if close else ""
    return f"{hint}allowed: {', '.join(sorted(allowed))}"


def one_of(option: str, value: str, allowed: Sequence[str]) -> str:
    """Return the value if it is allowed, or say what is."""
    if value not in allowed:
        raise InputError(f"{option} {value!r} is not known; {suggest(value, list(allowed))}")
    return value


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(f'{module} is not installed; run: pip install "goldlabel[{extra}]"') from error
