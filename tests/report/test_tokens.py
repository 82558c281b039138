"""One design: colours and sizes of type are written once, in ``tokens.css``, for all pages and the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import goldlabel

ROOT = Path(goldlabel.__file__).parent
TOKENS = ROOT / "report/static/tokens.css"
SHEETS = [
    *sorted(path for path in ROOT.rglob("*") if path.suffix in (".css", ".html") and path != TOKENS),
    Path(__file__).parents[2] / "docs/_static/theme.css",
]
COLOUR = re.compile(
    r"(?<!&)#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?![^<>{}]*\")"
    r"|\b(?:rgba?|hsla?|oklch)\("
    r"|:\s*(?:white|black|red|green|gr[ae]y|blue|gold|orange|yellow)\b",
    re.IGNORECASE,
)
SIZE = re.compile(r"font(?:-size)?:\s*(?:\d00 )?[\d.]+(?:px|rem)")

SPACING = re.compile(r"(?<![\w-])(?:margin|padding|gap)(?:-[a-z-]+)?:\s*([^;}]+)")


@pytest.mark.parametrize("name", ["page.css", "kit.css"])
def test_spaces_that_have_a_token_are_written_by_it(name: str) -> None:
    tokens = set(re.findall(r"--space-\d: ([\d.]+rem);", TOKENS.read_text(encoding="utf-8")))
    assert len(tokens) == 6
    text = TOKENS.with_name(name).read_text(encoding="utf-8")
    written = {length for spaces in SPACING.findall(text) for length in re.split(r"[\s,()]+", spaces)}
    assert written & tokens == set()


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_no_page_has_colours_and_sizes_of_its_own(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    assert COLOUR.findall(text) == []
    assert SIZE.findall(text) == []


def test_every_token_that_is_used_is_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (TOKENS, *SHEETS)]
    scripts = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.js")]
    defined = set(re.findall(r"(--[\w-]+)\s*[:\"']", "\n".join([*texts, *scripts])))
    used = {name for text in texts for name, rest in re.findall(r"var\((--[\w-]+)([,)])", text) if rest == ")"}
    assert len(used) > 25
    assert used <= defined
