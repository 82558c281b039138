"""The hypothesis-only fastText classifier."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError, MissingExtraError
from goldlabel.models import load_model, predict_labels
from goldlabel.models.hom import HOM
from goldlabel.pairs.labels import NLI3, LabelSpace
from goldlabel.pairs.tokens import split_texts

HYPOTHESES = ["A bird sleeps.", "没有鸟在睡觉。", "Nobody sails.", "A tall man waits for a bus."]
PREMISES = ["The owl sleeps.", "那只苍鹭在睡觉。", "Two ferries left.", "A man waits."]
LABELS = ["entailment", "contradiction", "contradiction", "neutral"]
TINY: dict[str, Any] = {"epochs": 50, "learning_rate": 0.5}


def fit(space: LabelSpace = NLI3, labels: list[str] = LABELS, **options: Any) -> HOM:
    return HOM.fit(PREMISES * 5, HYPOTHESES * 5, labels * 5, space, **TINY, **options)


@pytest.fixture(scope="module")
def model() -> HOM:
    return fit()


def test_learns_what_hypotheses_give_away(model: HOM) -> None:
    assert predict_labels(model, PREMISES, HYPOTHESES) == LABELS


def test_scores_are_those_of_fasttext_on_one_line_at_a_time(model: HOM) -> None:
    for premise, hypothesis in zip(PREMISES, HYPOTHESES, strict=True):
        names, shares = model.classifier.predict(" ".join(split_texts([hypothesis])[0]), k=3)
        expected = {int(name[2:]): share / shares.sum() for name, share in zip(names, shares, strict=True)}
        np.testing.assert_allclose(
            model.predict([premise], [hypothesis])[0], [expected[column] for column in range(3)], atol=1e-12
        )


def test_reads_one_sentence_only(model: HOM) -> None:
    others = ["Quite another text."] * len(PREMISES)
    np.testing.assert_array_equal(model.predict(PREMISES, HYPOTHESES), model.predict(others, HYPOTHESES))
    mirrored = fit(premise_only=True)
    assert predict_labels(mirrored, PREMISES, others) == LABELS
    np.testing.assert_array_equal(mirrored.predict(PREMISES, HYPOTHESES), mirrored.predict(PREMISES, others))


def test_runs_of_one_label_do_no_harm() -> None:
    """Taken in this order, gradient descent ends at the last label: it gets 34% right."""
    random = np.random.RandomState(0)
    words, tells = [f"word{number}" for number in range(20)], ["outside", "nobody", "tall"]
    gold = np.repeat([0, 1, 2], 300)

    def hypotheses() -> list[str]:
        told = np.where(random.rand(900) < 0.8, gold, random.randint(0, 3, 900))
        return [f"{' '.join(random.choice(words, 5))} {tells[one]}" for one in told]

    train, test, labels = hypotheses(), hypotheses(), [NLI3.labels[label] for label in gold]
    model = HOM.fit(train, train, labels, NLI3, epochs=1, learning_rate=0.5)
    assert np.mean(model.predict(test, test).argmax(axis=1) == gold) > 0.8


def test_the_seed_decides() -> None:
    same, again, other = fit(seed=3), fit(seed=3), fit(seed=4)
    np.testing.assert_array_equal(same.predict(PREMISES, HYPOTHESES), again.predict(PREMISES, HYPOTHESES))
    assert not np.array_equal(same.predict(PREMISES, HYPOTHESES), other.predict(PREMISES, HYPOTHESES))


def test_any_label_survives(tmp_path: Path) -> None:
    labels = ["is it so?", "__label__0 ==1", "no\tway\n", "矛盾"]
    model = fit(LabelSpace("odd", (*labels, "never seen")), labels)
    model.save(tmp_path / "run")
    loaded = load_model(tmp_path / "run")
    assert predict_labels(loaded, PREMISES, HYPOTHESES) == labels
    scores = loaded.predict(PREMISES, HYPOTHESES)
    np.testing.assert_array_equal(scores, model.predict(PREMISES, HYPOTHESES))
    assert (scores[:, model.label_space.index("never seen")] == 0).all()


def test_a_text_that_looks_like_a_label_is_a_text() -> None:
    texts = ["__label__2 ==2 == 2 </s>", "__label__0 ==0", "==1", "==="]
    model = HOM.fit(texts * 5, texts * 5, LABELS * 5, NLI3, **TINY)
    assert predict_labels(model, texts, texts) == LABELS


def test_one_label_is_certain() -> None:
    model = HOM.fit(["", "a"], ["", ""], ["neutral", "neutral"], NLI3)
    np.testing.assert_array_equal(model.predict(["x"], ["y"]), [[0, 0, 1]])


def test_run_folder(model: HOM, tmp_path: Path) -> None:
    model.save(tmp_path / "run")
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["config.json", "model.safetensors"]
    np.testing.assert_array_equal(
        load_model(tmp_path / "run").predict(PREMISES, HYPOTHESES), model.predict(PREMISES, HYPOTHESES)
    )


def test_a_damaged_model_is_named(model: HOM, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    model.save(tmp_path / "run")
    save_file({"fasttext": np.zeros(100, dtype=np.uint8)}, tmp_path / "run" / "model.safetensors")
    with pytest.raises(InputError, match=r"model\.safetensors: holds no fastText model; train again"):
        load_model(tmp_path / "run")


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = fit()
    model.save(tmp_path / "run")
    load_model(tmp_path / "run").predict(PREMISES, HYPOTHESES)
    assert capfd.readouterr() == ("", "")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
@settings(max_examples=50, deadline=None)
def test_any_text_gives_a_row_of_its_own(model: HOM, texts: list[str]) -> None:
    scores = model.predict(texts, texts)
    assert scores.dtype == np.float64
    assert (scores >= 0).all()
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-12)
    for row, text in zip(scores, texts, strict=True):
        np.testing.assert_array_equal(row, model.predict([text], [text])[0])


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="hom: epochs 0 is not a whole number from 1 on"):
        HOM.fit(PREMISES, HYPOTHESES, LABELS, NLI3, epochs=0)
    with pytest.raises(InputError, match=r"hom: training diverged; choose a learning_rate below 1000000000"):
        HOM.fit(PREMISES, HYPOTHESES, LABELS, NLI3, learning_rate=1e9)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(MissingExtraError, match=r'pip install "goldlabel\[baselines\]"'):
        fit()
