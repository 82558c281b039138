from __future__ import annotations

import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.audit import tokens
from goldlabel.audit.bags import BagsBuilder, Vocabulary
from goldlabel.audit.tokens import TOKENIZERS, language_of, tokenize_units, tokenizer_of
from goldlabel.errors import MissingExtraError, UnknownNameError


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


def test_a_language_that_is_not_given_is_told_by_the_script() -> None:
    frame = pl.DataFrame(
        {
            "premise": ["A fox.", "狐狸", "Ein Fuchs.", "x"],
            "hypothesis": ["A fox.", "狐狸", "Ein Fuchs.", "猫"],
            "language": [None, None, "de-AT", None],
        }
    )
    assert language_of(frame).to_list() == ["en", "zh", "de", "zh"]
    assert tokenize_units(frame, "hypothesis").to_list() == [["a", "fox"], ["狐", "狸"], ["ein", "fuchs"], ["猫"]]


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=8))
def test_codes_give_the_tokens_back(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    builder = BagsBuilder(vocabulary)
    half = len(texts) // 2
    for part in (texts[:half], texts[half:]):
        builder.add(vocabulary.encode(pl.Series(part, dtype=pl.List(pl.String))))
    bags = builder.finish()
    assert [
        [bags.vocabulary[code] for code in bags.codes[start:end]]
        for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ] == texts
    assert int(bags.first.sum()) == sum(len(set(text)) for text in texts)
    for code, word in enumerate(bags.vocabulary):
        assert bags.holding(code).tolist() == [word in text for text in texts]
