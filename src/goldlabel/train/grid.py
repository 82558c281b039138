"""Grids: values to try for options, from a small YAML file.

``lr: [0.001, 0.0004]`` names a field of ``TrainOptions``, ``options.hidden: [200, 300]`` or ``hidden: [200, 300]`` an
option of the model, ``debias.alpha: [0.5, 1]`` one of the debiasing method. Every combination is a point of the grid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.models.options import parse_options
from goldlabel.registry import suggest
from goldlabel.train.options import METHOD, OPTION_NAMES, OWN, method_options, model_options, parse_field

GRIDS = Path(__file__).parent / "grids"
_ELSEWHERE = {"seed": "--seeds", "size": "--sizes", "fixed": "--fixed", "device": "--device", "start": "--from"}
_OWN = {"options": f"{OWN}NAME", "debias_options": f"{METHOD}NAME"}

Grid = Mapping[str, list[Any]]
"""The values of each option, under its name in the grid."""


def shipped_grids() -> list[str]:
    """Return the names of the grids that come with Goldlabel."""
    return sorted(path.stem for path in GRIDS.glob("*.yaml"))


def read_grid(name: str | Path, model: str, debias: str | None = None) -> Grid:
    """Read a YAML file, or a shipped grid by its name, as values for ``model`` and the method it is debiased by."""
    import yaml

    path = Path(name)
    if not path.exists():
        if str(name) not in shipped_grids():
            raise InputError(f"there is no file and no grid {str(name)!r}; {suggest(str(name), shipped_grids())}")
        path = GRIDS / f"{name}.yaml"
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, IsADirectoryError) as error:
        raise InputError(f"grid {path}: is not YAML ({error})") from error
    return parse_grid(values, model, debias, where=f"grid {path.name}")


def parse_grid(options: Any, model: str, debias: str | None = None, *, where: str = "grid") -> Grid:
    """Check names and kinds of values; a single value stands for a list of one."""
    if not isinstance(options, Mapping) or not options:
        raise InputError(f"{where}: is not a mapping of options to lists of values, such as lr: [0.001, 0.0004]")
    own = model_options(model)
    grid = {}
    for name, values in options.items():
        listed = values if isinstance(values, list) else [values]
        if not listed or any(value is None or isinstance(value, list | dict) for value in listed):
            raise InputError(f"{where}: the values of {name} are not a list of numbers or words")
        grid[str(name)] = [_parsed(str(name), value, model, own, debias, where) for value in listed]
        if len({repr(value) for value in grid[str(name)]}) < len(listed):
            raise InputError(f"{where}: a value of {name} is given twice")
    return grid


def points(grid: Grid | None) -> list[dict[str, Any]]:
    """Return every combination of the values; without a grid, the one that changes nothing."""
    grid = grid or {}
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def point_name(point: Mapping[str, Any]) -> str:
    """Return a point as a folder is called: ``lr-0.001_hidden-200``."""
    parts = [f"{name.removeprefix(OWN)}-{_short(value)}" for name, value in point.items()]
    return re.sub(r"[^\w.+-]", "-", "_".join(parts))


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else Path(str(value)).name


def _parsed(name: str, value: Any, model: str, own: Mapping[str, Any], debias: str | None, where: str) -> Any:
    if instead := (_ELSEWHERE | _OWN).get(name):
        raise InputError(f"{where}: {name} is not for grids; use {instead}")
    if name.startswith(METHOD):
        if debias is None:
            raise InputError(f"{where}: {name} is an option of a debiasing method; pass --debias METHOD")
        bare = name.removeprefix(METHOD)
        return parse_options({bare: value}, method_options(debias), f"{where}: {debias}")[bare]
    if name in OPTION_NAMES:
        return parse_field(name, value)
    bare = name.removeprefix(OWN)
    if bare not in own:
        allowed = [*(field for field in OPTION_NAMES if field not in _ELSEWHERE and field not in _OWN), *own]
        raise InputError(f"{where}: training {model} has no option {name!r}; {suggest(bare, allowed)}")
    return parse_options({bare: value}, own, model)[bare]
