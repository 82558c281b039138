"""Groups of commands that are imported when they are asked for, so that one command does not wait for all others."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperGroup


class Commands(Mapping[str, Any]):
    """Commands by name, each given as ``module:attribute``: a function, or an application with commands of its own."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            module, _, attribute = self._places[name].partition(":")
            self._built[name] = _build(name, getattr(importlib.import_module(module), attribute))
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def group_of(places: Mapping[str, str]) -> type[TyperGroup]:
    """Return the class of a group that has these commands."""

    class Group(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = Commands(places)  # type: ignore[assignment]  # nothing is added to it

    return Group


def _build(name: str, target: Any) -> Any:
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(target)
    return typer.main.get_command(alone)
