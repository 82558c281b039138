"""Fonts for pictures: a PNG must have its glyphs drawn, where a page and an SVG use the reader's own fonts.

matplotlib brings DejaVu Sans, which has no Chinese. The extra ``zh`` brings Noto Sans SC (in the package ``zhplot``,
of which the file is taken and nothing is imported), else a Chinese font of the system is used. Where neither is there
a picture with Chinese in it is not drawn, as boxes would take the place of its words, and the reader is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

LATIN = "DejaVu Sans"
CHINESE = (
    "Noto Sans SC",
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
)
_PACKAGE, _FILE = "zhplot", Path("fonts") / "NotoSansSC-Regular.ttf"


@cache
def families() -> tuple[str, ...]:
    """Return the fonts that pictures are drawn with, in the order in which a glyph is looked for."""
    from matplotlib import font_manager

    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (file := Path(folder) / _FILE).exists():
            font_manager.fontManager.addfont(file)
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return (LATIN, *[name for name in CHINESE if name in installed][:1])


def missing_glyphs(texts: Iterable[str]) -> str:
    """Return the characters of texts that none of the fonts has, each once."""
    from matplotlib import font_manager

    fonts = [font_manager.get_font(font_manager.findfont(name)) for name in families()]
    signs = dict.fromkeys(sign for text in texts for sign in text if sign.isprintable() and not sign.isspace())
    return "".join(sign for sign in signs if not any(font.get_char_index(ord(sign)) for font in fonts))
