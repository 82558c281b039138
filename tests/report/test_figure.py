from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from goldlabel.metrics import wilson
from goldlabel.report import figure, fonts
from goldlabel.report.pair_card import PairCard
from goldlabel.report.plots import draw_dots, draw_heat_map, draw_lines, draw_scatter
from goldlabel.report.rendering import render_part

CHINESE = draw_heat_map(["线性模型"], ["snli", "$ocnli$"], {("线性模型", "snli"): 0.4}, shows="x")


def test_a_picture_is_drawn_with_chinese_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure, "families", lambda: (fonts.LATIN,))
    monkeypatch.setattr(fonts, "families", lambda: (fonts.LATIN,))
    paths, missing = CHINESE.write(tmp_path, "map")
    assert [path.suffix for path in paths] == [".svg"]
    assert missing == "线性模型"
    assert "线性模型" in paths[0].read_text(encoding="utf-8")


@pytest.mark.skipif(find_spec("zhplot") is None, reason="the extra zh with its font is not installed")
def test_the_extra_brings_the_font_for_chinese(tmp_path: Path) -> None:
    assert fonts.missing_glyphs(["猫在屋里，龘", "a – Δ †"]) == ""
    assert fonts.families()[1] == "Noto Sans SC"
    paths, missing = CHINESE.write(tmp_path, "map")
    assert [path.suffix for path in paths] == [".svg", ".png"]
    assert missing == ""
    assert "var(" not in paths[0].read_text(encoding="utf-8")


def test_every_drawing_follows_the_page() -> None:
    share = wilson(30, 100)
    drawings = [
        CHINESE,
        draw_scatter([("a", 0.8, 0.5), ("b", 0.8, 0.5)], x_name="x", y_name="y", shows="s", diagonal="same"),
        draw_dots([("negation", [("a", share), ("b", share)])], shows="s", zero=0.0, signed=True),
        draw_lines([("a", [(1, 0.2), (2, 0.4)]), ("b", [(1, 0.3)])], x_name="x", y_name="y", shows="s"),
    ]
    for drawing in drawings:
        assert "var(--ink)" in drawing.svg or "var(--soft)" in drawing.svg
        assert "#0102" not in drawing.svg
        assert "#0103" not in drawing.svg
    assert "color-mix(in srgb, var(--second)" in CHINESE.svg
    assert "$ocnli$" in CHINESE.svg


def test_a_pair_marks_what_both_texts_share() -> None:
    card = PairCard(
        premise="An Owl sat <there>.", hypothesis="The owl did not sit there.", label="neutral", words={"not"}, id="p"
    )
    assert list(card.marked("hypothesis")) == [
        ("The ", ""),
        ("owl", "shared"),
        (" did ", ""),
        ("not", "word"),
        (" sit ", ""),
        ("there", "shared"),
        (".", ""),
    ]
    assert "".join(text for text, _ in card.marked("premise")) == card.premise
    html = render_part("pair", card)
    assert "&lt;<mark" in html
    assert "◆" in html


def test_a_pair_marks_what_it_is_told_to() -> None:
    card = PairCard(
        premise="鸟在。", hypothesis="<b>鸟不在</b>", label="neutral", language="zh", shared=False,
        stretches={"hypothesis": [(4, 6)]},
    )  # fmt: skip
    assert list(card.marked("hypothesis")) == [("<b>鸟", ""), ("不在", "word"), ("</b>", "")]
    assert list(card.marked("premise")) == [("鸟在。", "")]
    assert '<mark class="k-word">不在</mark>&lt;' in render_part("pair", card)
