"""Pairs as tokens: equal to what the tokenizers themselves make of them, however they are batched, cut or padded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from goldlabel.errors import InputError
from goldlabel.models.pair_tokenizer import Inputs, PairTokenizer, Sentences, TokenRows, longest_first, token_ids
from tests.models.checkpoints import KINDS, make_tokenizer

CPU = torch.device("cpu")
PREMISES = ["The owl sleeps in the old barn.", "owl", "那只苍鹭在睡觉。" * 6, "البومة نائمة.", "Two ferries left " * 9]
HYPOTHESES = ["A bird is outside. Nobody swims.", "没有鸟", "A bird", "🦉", "Three ferries left at noon " * 9]


def whole_batch(rows: TokenRows) -> tuple[Inputs, ...]:
    sizes = tuple(int(lengths.max()) for lengths in rows.lengths)
    return rows.tensors(CPU).batch(torch.arange(len(rows)), sizes).inputs()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [64, 30, 17])
def test_pairs_equal_the_tokenizers_own(kind: str, length: int) -> None:
    tokenizer = make_tokenizer(kind)
    (inputs,) = whole_batch(PairTokenizer(tokenizer, length=length).encode(PREMISES, HYPOTHESES))
    expected = tokenizer(
        PREMISES, HYPOTHESES, padding=True, truncation="longest_first", max_length=length, return_tensors="pt"
    )
    torch.testing.assert_close(inputs.ids, expected["input_ids"], rtol=0, atol=0)
    torch.testing.assert_close(inputs.mask, expected["attention_mask"], rtol=0, atol=0)
    assert (inputs.types is None) == ("token_type_ids" not in expected)
    if inputs.types is not None:
        torch.testing.assert_close(inputs.types, expected["token_type_ids"], rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlnet"])
def test_sides_alone_equal_the_tokenizers_own(kind: str) -> None:
    tokenizer = make_tokenizer(kind)
    rows = PairTokenizer(tokenizer, length=64).encode(PREMISES[:4], HYPOTHESES[:4])
    sides = rows.tensors(CPU).batch(torch.arange(4), (int(rows.lengths[0].max()),)).alone()
    apart = whole_batch(PairTokenizer(tokenizer, length=64, joined=False).encode(PREMISES[:4], HYPOTHESES[:4]))
    for texts, padded, alone in zip((PREMISES[:4], HYPOTHESES[:4]), sides, apart, strict=True):
        expected = tokenizer(texts, padding=True, return_tensors="pt")
        torch.testing.assert_close(alone.ids, expected["input_ids"], rtol=0, atol=0)
        assert padded.ids[padded.mask.bool()].tolist() == alone.ids[alone.mask.bool()].tolist()


def test_longest_first_cuts_as_the_library_does() -> None:
    tokenizer = make_tokenizer()
    for first in range(1, 9):
        for second in range(1, 9):
            for room in range(2, 12):
                pair = tokenizer("a " * first, "b " * second, truncation="longest_first", max_length=room + 3)
                kept = [pair["input_ids"].count(tokenizer.vocab[letter]) for letter in "ab"]
                assert [int(count[0]) for count in longest_first(np.array([first]), np.array([second]), room)] == kept


@pytest.mark.parametrize("joined", [True, False])
def test_rows_are_written_and_mapped(joined: bool, tmp_path: Path) -> None:
    rows = PairTokenizer(make_tokenizer("xlnet"), length=20, joined=joined).encode(PREMISES, HYPOTHESES)
    rows.write(tmp_path / "rows.arrow")
    again = TokenRows.read(tmp_path / "rows.arrow")
    assert again.layout == rows.layout
    for lengths, expected in zip(again.lengths, rows.lengths, strict=True):
        np.testing.assert_array_equal(lengths, expected)
        assert lengths.max() <= 20
    for one, other in zip(whole_batch(again), whole_batch(rows), strict=True):
        tensors = zip(one[:3], other[:3], strict=True)
        assert all(torch.equal(a, b) for a, b in tensors if a is not None and b is not None)


def test_a_side_that_is_not_read_is_one_fixed_token() -> None:
    tokenizer = make_tokenizer()
    rows = PairTokenizer(tokenizer, length=64, reads="hypothesis").encode(PREMISES, HYPOTHESES)
    assert set(rows.premise.tokens.tolist()) == {tokenizer.mask_token_id}
    assert set(rows.premise.lengths.tolist()) == {1}
    both = PairTokenizer(tokenizer, length=64).encode(PREMISES[:4], HYPOTHESES[:4])
    np.testing.assert_array_equal(rows.hypothesis.lengths[:4], both.hypothesis.lengths)


def test_empty_texts_and_no_texts_are_encoded() -> None:
    tokenizer = PairTokenizer(make_tokenizer(), length=64)
    (inputs,) = whole_batch(tokenizer.encode(["", ""], ["", ""]))
    assert inputs.ids.tolist() == [[2, 3, 3]] * 2
    assert len(tokenizer.encode([], [])) == 0


def test_a_sentence_is_tokenised_once_however_often_its_pairs_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = PairTokenizer(make_tokenizer(), length=30)
    premises, hypotheses = PREMISES * 3, [text for text in HYPOTHESES for _ in range(3)]
    whole, texts = tokenizer.encode(premises, hypotheses), []
    tokenize = tokenizer.tokenize

    def noted(sentences: list[str], side: str) -> Sentences:
        texts.extend(sentences)
        return tokenize(sentences, side)

    monkeypatch.setattr(tokenizer, "tokenize", noted)
    monkeypatch.setattr("goldlabel.models.pair_tokenizer.AT_ONCE", 2)
    pairs = tokenizer.reader(premises, hypotheses)
    for rows in (np.array([14, 2, 2]), np.array([], np.int64), np.array([3, 2, 11, 0]), np.arange(15)):
        part = pairs.encode(rows)
        for sentences, expected in ((part.premise, whole.premise), (part.hypothesis, whole.hypothesis)):
            np.testing.assert_array_equal(sentences.offsets, expected.take(rows).offsets)
            np.testing.assert_array_equal(sentences.tokens, expected.take(rows).tokens)
    assert sorted(texts) == sorted(PREMISES + HYPOTHESES)
    assert len(pairs) == 15
    np.testing.assert_array_equal(pairs.characters, [len(a + b) for a, b in zip(premises, hypotheses, strict=True)])


@pytest.mark.parametrize("kind", ["words", "bytes", "pieces"])
@pytest.mark.parametrize("marked", [False, True])
def test_many_texts_at_once_become_what_each_becomes_alone(
    kind: str, marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever spaces mean to a tokenizer, and where a text has the mark in it that is put between texts."""
    tokenizer, corpus = make_tokenizer("roberta"), [*PREMISES, *HYPOTHESES]
    if kind != "words":
        backend = Tokenizer(models.BPE() if kind == "bytes" else models.Unigram())
        trainer: Any
        if kind == "bytes":
            backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>"], show_progress=False)
        else:
            backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
            trainer = trainers.UnigramTrainer(
                vocab_size=90, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
            )
        backend.train_from_iterator(corpus, trainer)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, sep_token="</s>", unk_token=None)
    texts = [*corpus, "", " owl ", "two  owls", "\tOwl", *(["an</s>owl", "</s>"] if marked else [])]
    monkeypatch.setattr("goldlabel.models.pair_tokenizer.TOGETHER", 4)
    sentences = token_ids(tokenizer, texts)
    alone = [tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    assert [part.tolist() for part in np.split(sentences.tokens, sentences.offsets[1:-1])] == alone
    assert len({tuple(ids) for ids in alone}) > 10


def test_what_a_tokenizer_was_saved_with_does_not_cut_pairs() -> None:
    tokenizer = make_tokenizer()
    tokenizer.backend_tokenizer.enable_truncation(8)
    tokenizer.backend_tokenizer.enable_padding(length=8)
    rows = PairTokenizer(tokenizer, length=64).encode(PREMISES[:1], HYPOTHESES[:1])
    assert rows.lengths[0][0] > 12


def test_a_length_without_room_is_refused() -> None:
    with pytest.raises(InputError, match="length 4 leaves no room for the sentences; pass 5 or more"):
        PairTokenizer(make_tokenizer(), length=4)
