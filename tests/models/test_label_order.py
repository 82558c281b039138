"""Which column means which label: words, answers to known pairs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.models.label_order import known_pairs, order_by_answers, read_words, settle_order
from goldlabel.pairs.labels import NLI2, NLI3, SCITAIL

Score = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
ANSWERS = {(p, h): (language, label) for language, rows in known_pairs().items() for p, h, label in rows}
NAME = "hf:org/name"


def knows(order: Sequence[str], languages: Sequence[str] = ("en",), *, sure: float = 0.9, wrong: int = 0) -> Score:
    """A classifier with the labels in this order that knows some languages, but for so many pairs of each label."""

    def score(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        scores = np.full((len(premises), len(order)), (1 - sure) / (len(order) - 1))
        mistakes = dict.fromkeys(order, wrong)
        for row, pair in enumerate(zip(premises, hypotheses, strict=True)):
            language, label = ANSWERS[pair]
            label = label if label in order else "not_entailment"
            column = order.index(label) if language in languages and label in order else 0
            if language in languages and mistakes.get(label, 0) > 0:
                mistakes[label] -= 1
                column = (column + 1) % len(order)
            scores[row, column] = sure
        return scores

    return score


def unsure(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    return np.full((len(premises), 3), 1 / 3)


def test_known_pairs_are_whole() -> None:
    languages = known_pairs()
    assert {"en", "zh"} <= set(languages)
    for rows in languages.values():
        assert {label for _, _, label in rows} == set(NLI3.labels)
        assert len({(p, h) for p, h, _ in rows}) == len(rows) == 15


@pytest.mark.parametrize(
    ("words", "space", "labels"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], NLI3, ("contradiction", "neutral", "entailment")),
        (["entailment", "neutral", "contradiction"], NLI3, ("entailment", "neutral", "contradiction")),
        (["Entails", "contradicts", "Neutral "], NLI3, ("entailment", "contradiction", "neutral")),
        (["e", "n", "c"], NLI3, ("entailment", "neutral", "contradiction")),
        (["矛盾", "中立", "蕴含"], NLI3, ("contradiction", "neutral", "entailment")),
        (["entailment", "not_entailment"], NLI2, ("entailment", "not_entailment")),
        (["Not Entailment", "Entailment"], NLI2, ("not_entailment", "entailment")),
        (["不蕴含", "蕴含"], NLI2, ("not_entailment", "entailment")),
        (["neutral", "entails"], SCITAIL, ("neutral", "entailment")),
    ],
)
def test_usual_spellings_are_read(words: list[str], space: object, labels: tuple[str, ...]) -> None:
    assert read_words(words) == (space, labels)


@pytest.mark.parametrize("words", [["yes", "no"], ["entailment", "contradiction"], ["neutral"] * 3, ["LABEL_0"] * 3])
def test_other_words_are_of_no_space(words: list[str]) -> None:
    assert read_words(words) is None


@pytest.mark.parametrize("language", list(known_pairs()))
def test_order_is_told_by_the_answers_in_any_language(language: str) -> None:
    order = ("neutral", "entailment", "contradiction")
    assert order_by_answers(knows(order, [language]), NLI3) == order
    assert order_by_answers(knows(order, [language], wrong=1), NLI3) == order
    assert order_by_answers(knows(order, [language], wrong=2), NLI3) is None
    assert order_by_answers(knows(order, [language], sure=0.5), NLI3) is None


def test_two_labels_are_told_as_well() -> None:
    order = ("not_entailment", "entailment")
    assert order_by_answers(knows(order), NLI2) == order
    assert order_by_answers(knows(("neutral", "entailment")), SCITAIL) == ("neutral", "entailment")


def test_words_are_believed_unless_the_answers_are_sure_of_another_order() -> None:
    words = ("contradiction", "neutral", "entailment")
    assert settle_order(NAME, words, knows(words)) == (NLI3, words)
    assert settle_order(NAME, words, unsure) == (NLI3, words)
    with pytest.raises(InputError, match="as if they were entailment, neutral, contradiction; if the") as refused:
        settle_order(NAME, words, knows(words[::-1]))
    assert f"pass {NAME}#entailment,neutral,contradiction, and" in str(refused.value)
    assert str(refused.value).endswith(f"{NAME}#contradiction,neutral,entailment")
    with pytest.raises(InputError, match="as if they were not_entailment, entailment"):
        settle_order(NAME, ["entailment", "not_entailment"], knows(("not_entailment", "entailment")))


def test_labels_without_names_are_told_by_the_answers_or_refused() -> None:
    order, numbers = ("neutral", "contradiction", "entailment"), ("LABEL_0", "LABEL_1", "LABEL_2")
    assert settle_order(NAME, numbers, knows(order, ["zh"])) == (NLI3, order)
    with pytest.raises(InputError, match=r"cannot be told by its answers .* hf:org/name#entailment,neutral"):
        settle_order(NAME, numbers, unsure)
    with pytest.raises(InputError, match=r"2 labels have no names.* hf:org/name#entailment,not_entailment"):
        settle_order(NAME, numbers[:2], unsure)
    with pytest.raises(InputError, match=r"positive, negative are of no label space"):
        settle_order(NAME, ["positive", "negative"], unsure)


def test_the_users_order_is_believed() -> None:
    numbers = ("LABEL_0", "LABEL_1", "LABEL_2")
    order = ("entailment", "neutral", "contradiction")
    assert settle_order(NAME, numbers, knows(order[::-1]), order=order) == (NLI3, order)
    assert settle_order(NAME, numbers[:2], unsure, order=("not_entailment", "entailment"))[0] == NLI2
    with pytest.raises(InputError, match="has 3 labels, and 2 were passed"):
        settle_order(NAME, numbers, unsure, order=order[:2])
    with pytest.raises(InputError, match="yes, no, maybe are of no label space"):
        settle_order(NAME, numbers, unsure, order=("yes", "no", "maybe"))
