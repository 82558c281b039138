from __future__ import annotations

import sys

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import MissingExtraError, UnknownNameError
from goldlabel.pairs import tokens
from goldlabel.pairs.tokens import (
    TOKENIZERS,
    language_of,
    locate_tokens,
    space_characters,
    split_texts,
    tokenize_units,
    tokenizer_of,
)


def cut(name: str, text: str) -> list[str]:
    return TOKENIZERS.get(name)(pl.Series([text])).to_list()[0]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("words", "Don’t pay 1,000.50 — it's ÜBER!", ["don't", "pay", "1,000.50", "it's", "über"]),
        ("words", "…", []),
        ("characters", "我没有iPhone 12。", ["我", "没", "有", "iphone", "12"]),
        ("characters", "plain words", ["plain", "words"]),
        ("jieba", "他没有任何理由。", ["他", "没有", "任何理由"]),
        ("jieba-search", "中国科学院", ["中国", "科学", "学院", "科学院", "中国科学院"]),
        ("jieba", "，。", []),
    ],
)
def test_tokens(name: str, text: str, expected: list[str]) -> None:
    assert cut(name, text) == expected


def test_many_chinese_texts_are_segmented_alike_in_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pl.Series([f"第{number}号列车从来没有晚点。\n真的" for number in range(40)] * 2)
    alone = TOKENIZERS.get("jieba-search")(texts).to_list()
    monkeypatch.setattr(tokens, "_SEVERAL_PROCESSES", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert TOKENIZERS.get("jieba-search")(texts).to_list() == alone


def test_missing_jieba_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(MissingExtraError, match=r"goldlabel\[zh\]"):
        cut("jieba", "他")


def test_the_tokenizer_follows_the_language() -> None:
    assert [tokenizer_of(language) for language in ("en", "zh", "ja", "de")] == [
        "words", "jieba-search", "characters", "words",
    ]  # fmt: skip
    assert tokenizer_of("zh", "jieba") == "jieba"
    assert tokenizer_of("en", "jieba") == "words"
    with pytest.raises(UnknownNameError, match="did you mean 'words'"):
        tokenizer_of("en", "word")
    assert tokenizer_of("") == "characters"
    assert [tokenizer_of(language, "jieba") for language in ("zh", "", "en")] == ["jieba", "jieba", "words"]


def test_a_language_that_is_not_given_is_not_guessed() -> None:
    frame = pl.DataFrame(
        {
            "premise": ["A fox.", "狐狸", "Ein Fuchs.", "x"],
            "hypothesis": ["A fox.", "狐狸", "Ein Fuchs.", "猫"],
            "language": [None, None, "de-AT", None],
        }
    )
    assert language_of(frame).to_list() == [None, None, "de", None]
    assert tokenize_units(frame, "hypothesis").to_list() == [["a", "fox"], ["狐", "狸"], ["ein", "fuchs"], ["猫"]]


@pytest.mark.parametrize(
    ("unit", "text", "expected"),
    [
        ("words", "İx Don’t, 1,000!", [("i̇x", 0, 2), ("don't", 3, 8), ("1,000", 10, 15)]),
        ("characters", "我没iPhone", [("我", 0, 1), ("没", 1, 2), ("iphone", 2, 8)]),
        ("words", "'a' a'a", [("a", 1, 2), ("a'a", 4, 7)]),
        ("words", "", []),
    ],
)
def test_tokens_are_located(unit: str, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert locate_tokens(pl.Series([text], dtype=pl.String), unit) == [expected]


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=4), st.sampled_from(["words", "characters"]))
def test_places_hold_the_tokens(texts: list[str], unit: str) -> None:
    column = pl.Series(texts, dtype=pl.String)
    located = locate_tokens(column, unit)
    assert [[token for token, _, _ in one] for one in located] == TOKENIZERS.get(unit)(column).to_list()
    for text, one in zip(texts, located, strict=True):
        held = pl.Series([text[start:end] for _, start, end in one], dtype=pl.String)
        assert TOKENIZERS.get(unit)(held).list.join("").to_list() == [token for token, _, _ in one]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The owl, at 7.", ["the", "owl", ",", "at", "7", "."]),
        ("It didn’t cost 1,000 well-known €", ["it", "did", "n't", "cost", "1,000", "well-known", "€"]),
        ("那只owl在睡。", ["那", "只", "owl", "在", "睡", "。"]),
        ("3只鸟", ["3", "只", "鸟"]),
        ("フクロウ", ["フ", "ク", "ロ", "ウ"]),
        ("🦉🦉", ["🦉", "🦉"]),
        ("البومة نائمة.", ["البومة", "نائمة", "."]),
        ("", []),
        (" \n\t\u3000", []),
    ],
)
def test_what_models_read(text: str, expected: list[str]) -> None:
    assert split_texts([text]) == [expected]
    assert "".join(TOKENIZERS.get("letters")(pl.Series([text]), signs=True)[0]) == "".join(expected)


@given(st.text())
def test_models_lose_no_token_and_read_none_with_a_space(text: str) -> None:
    (tokens,) = split_texts([text])
    plain = pl.Series([text]).str.to_lowercase().str.replace_all("’", "'", literal=True)
    assert "".join(tokens) == plain.str.replace_all(r"\s", "")[0]
    assert all(tokens)
    assert split_texts(space_characters([text])) == [tokens]


@pytest.mark.parametrize("rule", ["words", "characters", "letters"])
def test_signs_and_case_are_kept_for_who_asks(rule: str) -> None:
    tokenize, text = TOKENIZERS.get(rule), pl.Series(["Owls, owls!"])
    assert "".join(tokenize(text)[0]) == "owlsowls"
    assert "".join(tokenize(text, signs=True, lowercase=False)[0]) == "Owls,owls!"


def test_jieba_keeps_signs_and_case_for_who_asks() -> None:
    pytest.importorskip("jieba")
    tokenize, text = TOKENIZERS.get("jieba"), pl.Series(["那只Owl在睡觉。 好"])
    assert tokenize(text).to_list() == [["那", "只", "owl", "在", "睡觉", "好"]]
    assert tokenize(text, signs=True, lowercase=False).to_list() == [["那", "只", "Owl", "在", "睡觉", "。", "好"]]
