"""Reading what rooms wrote as JSON, with one line for what is damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a file holds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); make the result anew") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: holds no JSON object; make the result anew")
    return content


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Turn a missing or foreign field into one line: the file is of another version, or was changed by hand."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{path}: is not what this version of Goldlabel writes ({type(error).__name__}: {error}); make it anew"
        ) from error


def flat_estimate(
    fields: Mapping[str, Any], name: str = "accuracy", interval: str = "interval", *, level: float = 0.95
) -> Estimate:
    """Return a figure whose interval stands beside it: ``{"accuracy": 0.5, "interval": [0.4, 0.6], "n": 90}``."""
    low, high = fields.get(interval) or (None, None)
    n = fields.get("n") or 0
    return Estimate(fields[name], low, high, level, n, fields.get("units") or n, "as written")


def machine(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return versions, platform and commit as a manifest has them."""
    versions = ", ".join(f"{name} {number}" for name, number in (fields.get("versions") or {}).items() if number)
    rows = {"versions": versions, "platform": fields.get("platform"), "commit": fields.get("git_commit")}
    return {name: value for name, value in rows.items() if value}
