"""What a node of a cluster has: sent there as it stands, and run before anything else of Goldlabel is.

So nothing but the standard library is imported here: a node that lacks Goldlabel shall be able to say so.
"""

from __future__ import annotations

import hashlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "polars", "scikit-learn", "torch", "transformers")
"""What figures come from: of another version, they may be others."""


def describe_node(files: dict[str, int], modules: list[str]) -> dict[str, Any]:
    """Return the versions that a node has, which files of these sizes it does not see, and which modules it lacks."""
    return {
        "goldlabel": _digest_sources("goldlabel"),
        "versions": {name: found for name in ("goldlabel", *PACKAGES) if (found := _version(name))},
        "unseen": [path for path, size in files.items() if not _is_there(path, size)],
        "lacking": [module for module in modules if importlib.util.find_spec(module) is None],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _digest_sources(package: str) -> str | None:
    """Return a digest of a package's code: a working copy may differ from another of the same version."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _is_there(path: str, size: int) -> bool:
    try:
        return Path(path).stat().st_size == size
    except OSError:
        return False
