"""``Figure``: a drawing for the page in the page's colours, and the same drawing as a file.

A drawing is a function of axes and a palette. For a page it is drawn in placeholder colours that become the page's own
(``--ink`` and so on), so that it follows light and dark; its text stays text, set in the page's fonts. For a file it is
drawn in the light colours of ``tokens.css``.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from goldlabel.files import atomic_file
from goldlabel.report.fonts import LATIN, families, missing_glyphs

FONT_SIZE, SMALL = 9.5, 8.5
DARKEST = 0.72
"""The share of blue in the darkest shade: ink is read on it in light and in dark."""
_NAMES = ("ink", "soft", "line", "paper", "bar", "second", "gold", "blue")


@dataclass(frozen=True)
class Palette:
    """The colours of a drawing: grey, ``bar`` (gold) and ``second`` (blue), and these two as text."""

    ink: str
    soft: str
    line: str
    paper: str
    bar: str
    second: str
    gold: str
    blue: str
    shade: Callable[[float], str]
    """The colour of a share between 0 and 1, from paper towards blue."""

    @classmethod
    def of(cls, colour: Callable[[str], str], shade: Callable[[float], str]) -> Palette:
        """Return the palette whose colours ``colour`` knows by name."""
        ink, soft, line, paper, bar, second, gold, blue = map(colour, _NAMES)
        return cls(ink, soft, line, paper, bar, second, gold, blue, shade)


Draw = Callable[[Any, Palette], None]


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG for a page, and what it shows in words."""

    svg: str
    shows: str
    size: tuple[float, float]
    """Width and height in inches."""
    draw: Draw
    wide: bool = False
    """Whether it takes the width of the page, and scrolls where that is too narrow to read it."""

    def write(self, folder: Path, name: str) -> tuple[list[Path], str]:
        """Write it as SVG and PNG; return the files, and the characters for which there is no font to draw a PNG."""
        folder.mkdir(parents=True, exist_ok=True)
        with _style(families()):
            drawing = _drawing(self.draw, self.size, light())
            paths, missing = [folder / f"{name}.svg"], missing_glyphs(_texts(drawing))
            if not missing:
                paths.append(folder / f"{name}.png")
            for path in paths:
                with atomic_file(path) as temporary:
                    drawing.savefig(temporary, format=path.suffix[1:], dpi=200, metadata=_NO_DATE[path.suffix])
        return paths, missing


_NO_DATE: dict[str, dict[str, None]] = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}


def make_figure(draw: Draw, width: float, height: float, *, shows: str, wide: bool = False) -> Figure:
    """Return the figure of a drawing."""
    stream = io.StringIO()
    with _style((LATIN,)):
        drawing = _drawing(draw, (width, height), _PLACEHOLDERS)
        drawing.savefig(stream, format="svg", transparent=True, metadata=_NO_DATE[".svg"])
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r"#0102(\d\d)", lambda match: f"var(--{_NAMES[int(match[1])]})", text)
    text = re.sub(r"#0103([0-9a-f]{2})", lambda match: _mixed(int(match[1], 16)), text)
    return Figure(text, shows, (width, height), draw, wide)


def _mixed(per_cent: int) -> str:
    return f"color-mix(in srgb, var(--second) {per_cent}%, var(--paper))"


_PLACEHOLDERS = Palette.of(
    lambda name: f"#0102{_NAMES.index(name):02d}",
    lambda share: f"#0103{round(100 * DARKEST * min(max(share, 0.0), 1.0)):02x}",
)


@cache
def light() -> Palette:
    """Return the light colours of the tokens."""
    tokens = (resources.files("goldlabel.report") / "static" / "tokens.css").read_text(encoding="utf-8")
    values = dict(re.findall(r"--([\w-]+):\s*(?:light-dark\()?([^,;)]+)", tokens))

    def colour(name: str) -> str:
        value = values[name].strip()
        return colour(value.removeprefix("var(--")) if value.startswith("var(--") else value

    def shade(share: float) -> str:
        from matplotlib.colors import to_hex, to_rgb

        part = DARKEST * min(max(share, 0.0), 1.0)
        paper, blue = to_rgb(colour("paper")), to_rgb(colour("second"))
        red, green, rest = ((1 - part) * low + part * high for low, high in zip(paper, blue, strict=True))
        return str(to_hex((red, green, rest)))

    return Palette.of(colour, shade)


def _drawing(draw: Draw, size: tuple[float, float], palette: Palette) -> Any:
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=size, layout="constrained")
    draw(drawing.subplots(), palette)
    return drawing


def _texts(drawing: Any) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in drawing.findobj(Text)]


@contextmanager
def _style(fonts: tuple[str, ...]) -> Iterator[None]:
    import matplotlib

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "goldlabel",
        "font.size": FONT_SIZE,
        "font.family": list(fonts),
        "text.parse_math": False,
    }
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The page's fonts draw the text; that matplotlib's own lack CJK does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="constrained_layout not applied")  # where names are very long
        log = logging.getLogger("matplotlib.font_manager")
        level = log.level
        log.setLevel(logging.ERROR)  # that the Chinese font has no bold
        yield
        log.setLevel(level)
