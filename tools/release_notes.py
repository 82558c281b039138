"""The notes of a release: its section of CHANGELOG.md, without the heading.

``python tools/release_notes.py 0.1.0`` prints them; ``Unreleased`` is what the next release will have.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def release_notes(version: str, text: str) -> str:
    """Return the section of a version, or end with what there is."""
    parts = re.split(r"^## \[([^\]]+)\].*\n", text, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if not sections.get(version, "").strip():
        raise SystemExit(f"CHANGELOG.md has no notes of {version}; it has those of {', '.join(sections)}")
    return sections[version].strip() + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tools/release_notes.py VERSION")
    sys.stdout.write(release_notes(sys.argv[1].removeprefix("v"), CHANGELOG.read_text(encoding="utf-8")))
