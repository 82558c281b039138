"""The words that the models without a network see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.models.tokens import OTHER, space_characters, split_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The owl, at 7.", ["the", "owl", ",", "at", "7", "."]),
        ("那只owl在睡。", ["那", "只", "owl", "在", "睡", "。"]),
        ("owl在睡", ["owl", "在", "睡"]),
        ("3只鸟", ["3", "只", "鸟"]),
        ("フクロウ", ["フ", "ク", "ロ", "ウ"]),
        ("🦉🦉", ["🦉", "🦉"]),
        ("البومة نائمة.", ["البومة", "نائمة", "."]),
        ("", []),
        (" \n\t\u3000", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert split_tokens(text) == expected


@given(st.text())
def test_no_token_is_lost_or_holds_a_space(text: str) -> None:
    tokens = split_tokens(text)
    assert all(token.split() == [token] for token in tokens)
    assert "".join(tokens) == "".join(text.lower().split())


@given(st.text())
def test_spacing_changes_no_token(text: str) -> None:
    assert split_tokens(space_characters(text)) == split_tokens(text)


def test_what_stands_for_an_unread_sentence_is_one_token() -> None:
    assert split_tokens(OTHER) == [OTHER]
