"""The random forest's features, each against the library that defines it, called on one pair at a time."""

from __future__ import annotations

import sys
import warnings

import nltk
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz, utils
from sacrebleu.metrics import BLEU
from scipy.optimize import linprog
from scipy.spatial import distance

from goldlabel.errors import MissingExtraError
from goldlabel.models import pair_features as module
from goldlabel.models.pair_features import DISTANCES, FEATURES, FUZZY, pair_features
from goldlabel.models.vectors import Vectors
from goldlabel.pairs.tokens import split_texts

PAIRS = [
    ("A brown owl sleeps in the old barn.", "An owl sleeps in the barn."),
    ("A brown owl sleeps in the old barn.", "The owl is awake, and it is not in the barn at all!"),
    ("Two ferries left at noon, one at 7.30.", "two FERRIES left at noon one at 7 30"),
    ("A heron waits.", "A heron waits."),
    ("那只苍鹭在河边睡觉。", "苍鹭在睡觉。"),
    ("3只猫头鹰。", "没有猫头鹰"),
    ("البومة نائمة.", "الطائر نائم."),
    ("🦉🦉 owl", "owl 🦉"),
    ("owl", "A"),
]
EMPTY = [("", ""), ("", "An owl."), ("An owl.", ""), ("...", "An owl."), ("\n", "\t")]
WORDS = sorted({word for pair in PAIRS for text in pair for word in split_texts([text])[0]} - {"brown", "waits", "🦉"})
VECTORS = Vectors(WORDS, np.random.RandomState(0).randn(len(WORDS), 8).astype(np.float32))


def columns(*names: str) -> list[int]:
    return [FEATURES.index(name) for name in names]


def features(premise: str, hypothesis: str, vectors: Vectors | None = VECTORS) -> dict[str, float]:
    return dict(zip(FEATURES, pair_features([premise], [hypothesis], vectors)[0].tolist(), strict=True))


def known_vectors(text: str) -> np.ndarray:
    """Every word's vector, one row per occurrence; the origin where no word is known."""
    rows = [VECTORS.matrix[WORDS.index(word)] for word in split_texts([text])[0] if word in WORDS]
    return np.array(rows or [np.zeros(8)], dtype=np.float64)


def test_there_are_19() -> None:
    assert len(FEATURES) == len(set(FEATURES)) == 19


@pytest.mark.parametrize(("premise", "hypothesis"), PAIRS + EMPTY)
def test_bleu(premise: str, hypothesis: str) -> None:
    found = features(premise, hypothesis)
    given, said = split_texts([premise])[0], split_texts([hypothesis])[0]
    for n in (1, 2, 3, 4):
        metric = BLEU(max_ngram_order=n, smooth_method="none", tokenize="none", force=True)
        score = metric.corpus_score([" ".join(said)], [[" ".join(given)]]).score / 100
        assert found[f"bleu_{n}"] == pytest.approx(score, abs=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about counts of zero
            reference = nltk.translate.bleu_score.sentence_bleu([given], said, weights=(1 / n,) * n)
        assert found[f"bleu_{n}"] == pytest.approx(reference, abs=1e-12)


def test_bleu_by_hand() -> None:
    """Three words of four are right, one word pair of three, no longer run; the penalty is exp(1 - 5/4)."""
    found = features("the owl sleeps at noon", "owl sleeps in noon")
    penalty = np.exp(1 - 5 / 4)
    assert found["bleu_1"] == pytest.approx(penalty * 3 / 4)
    assert found["bleu_2"] == pytest.approx(penalty * np.sqrt(3 / 4 * 1 / 3))
    assert (found["bleu_3"], found["bleu_4"]) == (0, 0)


def test_chinese_characters_are_words() -> None:
    found = features("猫在睡觉", "猫在觉睡")
    assert found["bleu_1"] == pytest.approx(1)
    assert found["bleu_2"] == pytest.approx(np.sqrt(1 / 3))
    assert found["words"] == 0
    assert found["token_sort_ratio"] == found["token_set_ratio"] == 100
    assert found["QRatio"] < 100
    assert features("那只猫在睡", "猫")["words"] == -4 / 5


def test_lengths() -> None:
    found = features("A bird.", "A bird sleeps in here.")
    assert found["words"] == (6 - 3) / 6
    assert found["characters"] == (22 - 7) / 22
    assert features("A bird sleeps in here.", "A bird.")["words"] == -(6 - 3) / 6
    for premise, hypothesis, expected in (("", "", 0), ("", "owl", 1), ("owl", "", -1)):
        found = features(premise, hypothesis)
        assert found["words"] == found["characters"] == expected


@pytest.mark.parametrize(("premise", "hypothesis"), [pair for pair in PAIRS + EMPTY if pair[0].isascii()])
def test_fuzzy_ratios(premise: str, hypothesis: str) -> None:
    found = features(premise, hypothesis)
    for name in FUZZY:
        processor = None if name == "partial_ratio" else utils.default_process
        assert found[name] == getattr(fuzz, name)(premise, hypothesis, processor=processor), name


def test_fuzzy_ratios_of_chinese_take_characters_for_words() -> None:
    texts, apart = ("那只owl在睡觉。", "睡觉的owl"), ("那 只 owl 在 睡 觉", "睡 觉 的 owl")
    found = features(*texts)
    for name in FUZZY:
        if "token" in name:
            assert found[name] == getattr(fuzz, name)(*apart), name
        else:
            processor = None if name == "partial_ratio" else utils.default_process
            assert found[name] == getattr(fuzz, name)(*texts, processor=processor), name


def test_fuzzy_ratios_of_empty_texts() -> None:
    both, one = features("", ""), features("", "owl")
    full = {"token_sort_ratio", "partial_ratio", "partial_token_sort_ratio"}
    assert {name: both[name] for name in FUZZY} == {name: 100 * (name in full) for name in FUZZY}
    assert all(one[name] == 0 for name in FUZZY)


@pytest.mark.parametrize(("premise", "hypothesis"), PAIRS + EMPTY)
def test_word_movers_distance_solves_its_linear_program(premise: str, hypothesis: str) -> None:
    """With every occurrence as a word of its own, so that counts are checked as well."""
    u, v = known_vectors(premise), known_vectors(hypothesis)
    flows = np.eye(len(u) * len(v)).reshape(-1, len(u), len(v))
    constraints = np.vstack([flows.sum(axis=2).T, flows.sum(axis=1).T])
    shares = np.repeat([1 / len(u), 1 / len(v)], [len(u), len(v)])
    solved = linprog(distance.cdist(u, v).ravel(), A_eq=constraints, b_eq=shares)
    assert features(premise, hypothesis)["word_mover"] == pytest.approx(solved.fun, abs=1e-9)


@pytest.mark.parametrize(("premise", "hypothesis"), PAIRS)
def test_distances_between_means_are_scipys(premise: str, hypothesis: str) -> None:
    u, v = known_vectors(premise).mean(axis=0), known_vectors(hypothesis).mean(axis=0)
    found = features(premise, hypothesis)
    for name in DISTANCES:
        if name != "cosine" or (u.any() and v.any()):
            assert found[name] == pytest.approx(getattr(distance, name)(u, v), abs=1e-12), name


def test_distances_from_a_sentence_without_known_words() -> None:
    u = known_vectors("An owl sleeps.")
    mean = u.mean(axis=0)
    for premise, hypothesis in (("brown", "An owl sleeps."), ("An owl sleeps.", "")):
        found = features(premise, hypothesis)
        assert found["word_mover"] == pytest.approx(np.linalg.norm(u, axis=1).mean())
        assert found["cosine"] == found["braycurtis"] == 1
        assert found["canberra"] == 8
        assert found["cityblock"] == pytest.approx(np.abs(mean).sum())
        assert found["euclidean"] == pytest.approx(np.linalg.norm(mean))
    found = features("brown", "")
    assert [found[name] for name in ("word_mover", *DISTANCES)] == [0] * 6


def test_means_that_cancel_out() -> None:
    vectors = Vectors(["up", "down"], np.array([[1, 2], [-1, -2]], dtype=np.float32))
    found = features("up", "down", vectors)
    assert (found["cosine"], found["braycurtis"], found["canberra"]) == (pytest.approx(2), 1, 2)


def test_without_vectors_the_last_six_are_zero() -> None:
    rows = pair_features(*zip(*PAIRS, strict=True))
    assert (rows[:, columns("word_mover", *DISTANCES)] == 0).all()
    with_vectors = pair_features(*zip(*PAIRS, strict=True), VECTORS)
    np.testing.assert_array_equal(rows[:, :13], with_vectors[:, :13])


def test_long_texts() -> None:
    """Unlike texts of this length would keep the partial ratios busy for minutes."""
    random = np.random.RandomState(0)
    chinese = ["".join(map(chr, random.randint(0x4E00, 0x5000, 10_000))) for _ in range(2)]
    english = [" ".join(random.choice([*WORDS, "brown"], 2_500)) for _ in range(2)]
    letters = sorted(set("".join(chinese)))
    vectors = Vectors(letters, random.randn(len(letters), 4).astype(np.float32))
    found = pair_features([chinese[0], english[0], "x" * 10_000], [chinese[1], english[1], "🦉" * 10_000], vectors)
    assert np.isfinite(found).all()
    cut = fuzz.partial_ratio(english[0][:1_000], english[1][:1_000])
    assert found[1, columns("partial_ratio")] == cut
    # One long text alone is not cut.
    needle = english[0][5_000:5_100]
    assert features(english[0], needle)["partial_ratio"] == 100


@given(st.lists(st.tuples(*[st.text("ab .那🦉\n", max_size=30)] * 2), max_size=6), st.booleans())
@settings(max_examples=50, deadline=None)
def test_always_finite_and_the_same_in_any_batch(pairs: list[tuple[str, str]], with_vectors: bool) -> None:
    vectors = Vectors(["a", "那"], np.array([[1, 0], [0, -2]], dtype=np.float32)) if with_vectors else None
    premises, hypotheses = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    whole = pair_features(premises, hypotheses, vectors)
    assert whole.shape == (len(pairs), 19)
    assert np.isfinite(whole).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH", 2)
        np.testing.assert_array_equal(pair_features(premises, hypotheses, vectors), whole)


def test_parallel_is_serial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 5)
    premises, hypotheses = zip(*PAIRS, *EMPTY, strict=True)
    serial = pair_features(premises, hypotheses, VECTORS, jobs=1)
    np.testing.assert_array_equal(pair_features(premises, hypotheses, VECTORS, jobs=2), serial)
    np.testing.assert_array_equal(pair_features([], [], VECTORS, jobs=2), np.empty((0, 19)))


def test_sides_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        pair_features(["a", "b"], ["a"])


@pytest.mark.parametrize("library", ["sacrebleu", "rapidfuzz", "ot"])
def test_the_missing_extra_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingExtraError, match=rf'{library} is not installed; run: pip install "goldlabel\[baselines\]"'
    ):
        features("owl", "bird")
