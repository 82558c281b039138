"""Tokens, vocabulary and encoded pairs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.models.encoding import (
    EncodedPairs,
    EncodedSentences,
    Encoder,
    EncoderOptions,
    build_encoder,
    cut_by_tokens,
)
from goldlabel.models.vocabulary import (
    END,
    NULL,
    OTHER,
    SPECIALS,
    START,
    Vocabulary,
    build_vocabulary,
    default_tokenizer,
)

FIELDS = ("characters", "match", "tags")


def split(text: str, tokenizer: str = "words", *, lowercase: bool = False) -> list[str]:
    options = EncoderOptions(tokenizer=tokenizer, lowercase=lowercase)
    return options.tokenize(pl.Series([text]))[0].to_list()


def encoder(*texts: str, **options: object) -> Encoder:
    return build_encoder([pl.Series(texts)], EncoderOptions(**options))  # type: ignore[arg-type]


def words_of(made: Encoder, sentences: EncodedSentences, row: int = 0) -> list[str]:
    """Turn numbers back into words; ``?`` is one that the vocabulary lacks."""
    names = [*SPECIALS, *made.vocabulary.words, *("?" * made.vocabulary.buckets)]
    return [names[number] for number in sentences.words[sentences.offsets[row] : sentences.offsets[row + 1]]]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I don't know it's Ann's.", ["I", "do", "n't", "know", "it", "'s", "Ann", "'s", "."]),
        ("We’ll, they'd've, I'm", ["We", "'ll", ",", "they", "'d", "'ve", ",", "I", "'m"]),
        ("CAN'T You're", ["CA", "N'T", "You", "'re"]),
        ("the owls' 'stone' rock'n'roll", ["the", "owls", "'", "'", "stone", "'", "rock", "'", "n", "'", "roll"]),
        ("a well-known e-mail - or --", ["a", "well-known", "e-mail", "-", "or", "-", "-"]),
        ("50% of #3!?", ["50", "%", "of", "#", "3", "!", "?"]),
        ("3.5 of 1,000, or 7.", ["3.5", "of", "1,000", ",", "or", "7", "."]),
        ("naïve cafe\u0301 Straße", ["naïve", "cafe\u0301", "Straße"]),
        ("🦉🦉 x\u00a0y", ["🦉", "🦉", "x", "y"]),
        ("البومة نائمة.", ["البومة", "نائمة", "."]),
        ("<null> <pad>", ["<", "null", ">", "<", "pad", ">"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert split(text) == tokens
    assert split(text, "characters") == tokens
    assert split(text, lowercase=True) == [token.lower() for token in tokens]


def test_chinese_and_japanese_by_character() -> None:
    text = "那只owl-2站在水里。カタカナと3羽"
    assert split(text, "characters") == [*"那只", "owl-2", *"站在水里。カタカナと", "3", "羽"]
    assert split("那只苍鹭 站。") == ["那只苍鹭", "站", "。"]
    assert split("那只苍鹭站在水里。", "jieba") == ["那", "只", "苍鹭", "站", "在", "水里", "。"]


def test_the_tokenizer_follows_the_language() -> None:
    assert default_tokenizer(["en", "de"]) == "words"
    assert default_tokenizer(["en", "zh-Hans"]) == default_tokenizer(["JA"]) == "characters"
    assert default_tokenizer(["zh"], "letters") == "letters"
    assert default_tokenizer(["", "en"], "letters") == "characters"
    with pytest.raises(UnknownNameError, match="no tokenizer 'wrods'; did you mean 'words'"):
        split("x", "wrods")


@given(st.text())
def test_tokens_lose_nothing_but_space(text: str) -> None:
    for tokenizer in ("words", "characters"):
        kept = "".join(split(text, tokenizer))
        plain = pl.Series([text.replace("’", "'")]).str.replace_all(r"\s", "")[0]
        assert kept == plain


def test_words_are_numbered_by_frequency() -> None:
    columns = [pl.Series([["b", "a", "b"], []]), pl.Series([["c", "a", "b"]])]
    vocabulary = build_vocabulary(columns)
    assert vocabulary.words == ("b", "a", "c")
    assert [vocabulary.number(word) for word in "bac"] == [5, 6, 7]
    assert len(vocabulary) == len(SPECIALS) + 3 + 1
    assert vocabulary.number("z") == vocabulary.number("y") == len(vocabulary) - 1
    assert "a" in vocabulary
    assert "z" not in vocabulary
    assert build_vocabulary(columns, at_least=2).words == ("b", "a")


def test_unknown_words_share_buckets() -> None:
    vocabulary = Vocabulary(("owl",), 100)
    numbers = [vocabulary.number(f"word{index}") for index in range(1000)]
    first = len(SPECIALS) + 1
    assert set(numbers) == set(range(first, first + 100))
    # Numbers are a function of the word alone, on every machine.
    assert vocabulary.number("heron") == 10
    assert vocabulary.number("owl") == len(SPECIALS)


def test_case_is_kept_or_not() -> None:
    made = encoder("The owl", "the Owl")
    assert set(made.vocabulary.words) == {"The", "the", "owl", "Owl"}
    low = encoder("The owl", "the Owl", lowercase=True)
    assert set(low.vocabulary.words) == {"the", "owl"}
    encoded = low.encode(["THE OWL"], ["The wren"])
    assert words_of(low, encoded.premise) == ["the", "owl"]
    assert words_of(low, encoded.hypothesis) == ["the", "?"]


def test_lengths_and_empty_sentences() -> None:
    made = encoder("a b c d", length=3)
    encoded = made.encode(["a b c d", "", "b"], ["a b c", "  ", "x y"])
    assert encoded.premise.lengths.tolist() == [3, 1, 1]
    assert words_of(made, encoded.premise, 1) == ["<null>"]
    assert words_of(made, encoded.hypothesis, 2) == ["?", "?"]
    assert len(encoded) == 3


def test_boundaries_come_on_top_of_the_length() -> None:
    made = encoder("a b c d", length=2, boundaries="ends")
    encoded = made.encode(["a b c", ""], ["d", "a"])
    assert encoded.premise.words.tolist()[:1] == [START]
    assert words_of(made, encoded.premise) == ["<start>", "a", "b", "<end>"]
    assert encoded.premise.words.tolist()[4:] == [START, NULL, END]
    made = encoder("a b c d", boundaries="null")
    assert words_of(made, made.encode(["a b"], ["c"]).premise) == ["<null>", "a", "b"]


def test_unknown_words_may_be_left_out() -> None:
    made = encoder("the owl sleeps", drop_unknown=True, boundaries="ends")
    encoded = made.encode(["the grey owl", "wren"], ["owl", "owl"])
    assert words_of(made, encoded.premise, 0) == ["<start>", "the", "owl", "<end>"]
    assert words_of(made, encoded.premise, 1) == ["<start>", "<null>", "<end>"]
    # Length counts what is left.
    short = encoder("the owl sleeps", drop_unknown=True, length=2)
    assert words_of(short, short.encode(["a grey old owl sleeps"], ["owl"]).premise) == ["owl", "sleeps"]


def test_a_side_that_is_not_read_is_one_fixed_token() -> None:
    made = encoder("the owl sleeps", reads="hypothesis", boundaries="ends", fields=FIELDS)
    encoded = made.encode(["the owl", ""], ["owl", "the owl"])
    assert encoded.premise.words.tolist() == [OTHER, OTHER]
    assert words_of(made, encoded.hypothesis, 1) == ["<start>", "the", "owl", "<end>"]
    assert not encoded.hypothesis.fields["match"].any()
    assert made.encode_sentences(["the owl"], "premise").words.tolist() == [OTHER]
    made = encoder("the owl sleeps", reads="premise")
    assert made.encode(["owl"], ["owl"]).hypothesis.words.tolist() == [OTHER]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reads": "hypotheses"}, "a model reads both, hypothesis, premise, not 'hypotheses'"),
        ({"boundaries": "end"}, "the boundaries of a sentence are ends, null or none, not 'end'"),
        ({"length": 0}, "a sentence has at least 1 token, not 0"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EncoderOptions(**options)  # type: ignore[arg-type]


def test_characters_of_each_token() -> None:
    made = encoder("ba aab", fields=("characters",))
    assert made.characters == "ab"
    encoded = made.encode(["ab", "azb " + "b" * 20], ["aab", "b"])
    spelled = encoded.premise.fields["characters"]
    assert spelled.shape == (3, 16)
    assert spelled[0].tolist() == [2, 3] + [0] * 14
    assert spelled[1].tolist() == [2, 1, 3] + [0] * 13
    assert spelled[2].tolist() == [3] * 16
    assert encoder("ba aab").encode(["ab"], ["b"]).premise.fields == {}
    shorter = encoder("ba aab", fields=("characters",), word_length=2).encode(["ab aab"], ["b"])
    assert shorter.premise.fields["characters"].tolist() == [[2, 3], [2, 2]]


def test_matches_are_within_the_pair_and_whatever_the_case() -> None:
    made = encoder("The owl sees an owl", fields=("match",))
    encoded = made.encode(["The owl sees an owl", "a wren"], ["OWL sleeps", "The owl"])
    assert encoded.premise.fields["match"].tolist() == [0, 1, 0, 0, 1, 0, 0]
    assert encoded.hypothesis.fields["match"].tolist() == [1, 0, 0, 0]


def test_tags_are_unknown_without_a_tagger() -> None:
    made = encoder("the owl sleeps", fields=("tags",))
    assert made.encode(["the owl"], ["owl"]).premise.fields["tags"].tolist() == [0, 0]


@pytest.mark.parametrize("fields", [(), FIELDS])
def test_written_and_read_is_the_same(tmp_path: Path, fields: tuple[str, ...]) -> None:
    made = encoder("The owl sees an owl", "那只 苍鹭", fields=fields)
    pairs = made.encode(["The owl", "", "苍鹭 owl"], ["owl sees an owl", "x", "那只"])
    pairs.write(tmp_path / "pairs.arrow")
    read = EncodedPairs.read(tmp_path / "pairs.arrow")
    assert len(read) == 3
    for ours, theirs in ((pairs.premise, read.premise), (pairs.hypothesis, read.hypothesis)):
        np.testing.assert_array_equal(ours.offsets, theirs.offsets)
        np.testing.assert_array_equal(ours.words, theirs.words)
        assert theirs.words.dtype == np.int32
        assert set(theirs.fields) == set(fields)
        for field in fields:
            np.testing.assert_array_equal(ours.fields[field], theirs.fields[field])
            assert ours.fields[field].dtype == theirs.fields[field].dtype
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.arrow"]


def test_read_pairs_stay_on_disk(tmp_path: Path) -> None:
    sentences = EncodedSentences(np.arange(0, 800_001, 8), np.arange(800_000, dtype=np.int32), {})
    EncodedPairs(sentences, sentences).write(tmp_path / "pairs.arrow")
    before = pa.total_allocated_bytes()
    read = EncodedPairs.read(tmp_path / "pairs.arrow")
    assert pa.total_allocated_bytes() - before < 10_000
    assert not read.premise.words.flags.owndata
    assert int(read.premise.words[-1]) == 799_999


def test_no_pairs_at_all(tmp_path: Path) -> None:
    encoded = encoder("the owl", fields=FIELDS).encode([], [])
    assert len(encoded) == 0
    encoded.write(tmp_path / "pairs.arrow")
    read = EncodedPairs.read(tmp_path / "pairs.arrow")
    assert len(read) == 0
    assert len(read.premise.fields["characters"]) == 0


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=8))
def test_a_pair_is_encoded_alike_alone_and_in_company(pairs: list[tuple[str, str]]) -> None:
    made = encoder("the owl's 水", "a b c", tokenizer="characters", length=5, boundaries="ends", fields=FIELDS)
    together = made.encode([premise for premise, _ in pairs], [hypothesis for _, hypothesis in pairs])
    for row, (premise, hypothesis) in enumerate(pairs):
        alone = made.encode([premise], [hypothesis])
        for whole, single in ((together.premise, alone.premise), (together.hypothesis, alone.hypothesis)):
            place = slice(whole.offsets[row], whole.offsets[row + 1])
            assert 3 <= len(single.words) <= 7
            np.testing.assert_array_equal(whole.words[place], single.words)
            for field in FIELDS:
                np.testing.assert_array_equal(whole.fields[field][place], single.fields[field])


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=2), min_size=1, max_size=60), st.integers(1, 40))
def test_batches_are_as_large_as_the_tokens_allow(rows: list[list[int]], tokens: int) -> None:
    sides = np.array(rows, dtype=np.int64).T
    for lengths in (sides, sides[:1]):
        bounds = [0, *cut_by_tokens(list(lengths), tokens), len(rows)]
        for start, end in pairwise(bounds):
            assert end - start == 1 or (end - start) * lengths[:, start:end].max(axis=1).sum() <= tokens
            more = lengths[:, start : end + 1]
            assert end == len(rows) or more.shape[1] * more.max(axis=1).sum() > tokens
