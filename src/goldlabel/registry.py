"""One small registry with "did you mean", and the loading of optional dependencies."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from goldlabel.errors import GoldlabelError, InputError, MissingExtraError, PluginError, UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """Something of somebody else's: its name, where it comes from, and what loads it."""

    name: str
    origin: str
    load: Callable[[], Any]


@dataclass(frozen=True)
class Refused:
    """A plug-in that cannot be used, and why."""

    name: str
    origin: str
    problem: str


class Registry(Generic[T]):
    """Named things of one kind.

    A value may be given as ``"package.module:attribute"``; it is imported when first asked for, so that
    listing names costs nothing. The modules of ``package`` register what they hold; they are imported when the first
    entry is asked for. Other packages may add theirs as ``entry_points`` of a group, and ``elsewhere`` gives what comes
    from no package: a plug-in whose name is taken, that cannot be loaded, or for which ``is_one`` does not hold is a
    problem of that plug-in alone.
    """

    def __init__(
        self,
        kind: str,
        *,
        package: str | None = None,
        entry_points: str | None = None,
        is_one: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        self.kind = kind
        self._own: dict[str, T | str] = {}
        self._packaged: list[Plugin] | None = None
        self._package = package
        self._group = entry_points
        self.elsewhere: Callable[[], Iterable[Plugin]] = tuple
        """Gives the plug-ins that come from no package."""
        self._is_one = is_one

    def add(self, name: str, value: T | str) -> None:
        """Register ``value`` under ``name``; a name is given once."""
        if name in self._own:
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._own[name] = value

    def get(self, name: str) -> T:
        """Return the entry called ``name``, or say which names come close."""
        plugins = self._plugins
        if name in plugins:
            return self._load(plugins[name])
        if name not in self._own:
            raise UnknownNameError(f"there is no {self.kind} {name!r}; {suggest(name, list(self))}")
        entry = self._own[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            resolved: T = getattr(importlib.import_module(module), attribute)
            self._own[name] = resolved
            return resolved
        return entry

    def origin(self, name: str) -> str:
        """Return which package or file an entry comes from; empty for those that come with Goldlabel."""
        plugin = self._plugins.get(name)
        return plugin.origin if plugin else ""

    def items(self) -> Iterator[tuple[str, T]]:
        """Yield what can be had, by name."""
        for name in self:
            try:
                value = self.get(name)
            except PluginError:
                continue
            yield name, value

    @property
    def refused(self) -> list[Refused]:
        """The plug-ins that cannot be used, and why; to know, all of them are loaded."""
        offered = self._offered()
        usable = self._usable(offered)
        refused = []
        for plugin in offered:
            try:
                if usable.get(plugin.name) is not plugin:
                    rival = usable[plugin.name].origin if plugin.name in usable else "Goldlabel"
                    raise self._error(plugin, f"{rival} has one of that name")
                self._load(plugin)
            except PluginError as error:
                refused.append(Refused(plugin.name, plugin.origin, str(error)))
        return refused

    def _load(self, plugin: Plugin) -> T:
        try:
            value: T = plugin.load()
        except Exception as error:  # somebody else's code may fail in any way
            reason = str(error) if isinstance(error, GoldlabelError) else f"{type(error).__name__}: {error}"
            raise self._error(plugin, reason) from error
        if not self._is_one(value):
            raise self._error(plugin, f"{value!r} is no {self.kind}")
        if (own_name := getattr(value, "name", plugin.name)) != plugin.name:
            raise self._error(plugin, f"it calls itself {own_name!r}")
        return value

    def _error(self, plugin: Plugin, reason: str) -> PluginError:
        reason = " ".join(reason.split())
        return PluginError(f"{self.kind} {plugin.name!r} of {plugin.origin} cannot be used ({reason})")

    @property
    def _plugins(self) -> dict[str, Plugin]:
        """The plug-ins by name."""
        return self._usable(self._offered())

    def _usable(self, offered: list[Plugin]) -> dict[str, Plugin]:
        """Return plug-ins by name; of two that share one the first counts, and ours before all."""
        usable: dict[str, Plugin] = {}
        for plugin in offered:
            if plugin.name not in self._own:
                usable.setdefault(plugin.name, plugin)
        return usable

    def _offered(self) -> list[Plugin]:
        """Return all plug-ins; installed packages are looked through once, the first time that it matters."""
        if self._packaged is None:
            self._packaged = []
            if self._package:
                _import_modules(self._package)
            if self._group:
                self._packaged = _entry_points(self._group)
        return [*self._packaged, *self.elsewhere()]

    def __contains__(self, name: object) -> bool:
        return name in self._plugins or name in self._own

    def __iter__(self) -> Iterator[str]:
        plugins = self._plugins
        return iter(sorted([*self._own, *plugins]))

    def __len__(self) -> int:
        plugins = self._plugins
        return len(self._own) + len(plugins)


def _import_modules(package: str) -> None:
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if not module.ispkg:
            importlib.import_module(module.name)


def _entry_points(group: str) -> list[Plugin]:
    from importlib.metadata import entry_points

    plugins = [Plugin(entry.name, _distribution(entry), entry.load) for entry in entry_points(group=group)]
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.origin))


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module


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


EXTRAS_IN_USE: dict[str, str] = {}
"""The optional packages that this process has imported, and the extra that brings each."""


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say which extra brings it."""
    try:
        imported = importlib.import_module(module)
        EXTRAS_IN_USE[module.split(".")[0]] = extra
        return imported
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(f'{module} is not installed; run: pip install "goldlabel[{extra}]"') from error
