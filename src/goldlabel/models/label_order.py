"""Which column of a classifier means which label.

Wrong label orders are the commonest fault with published classifiers, and nobody sees them: accuracy is merely bad. So
the words of the configuration are not taken on trust. The classifier is asked pairs whose answer everybody knows, and
where it answers them surely, what it says must agree with the words; where there are no words, it decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.labels import LABEL_SPACES, NLI3, LabelSpace, score_mapping

Score = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
"""From premises and hypotheses to probabilities, in the classifier's own order."""

SURE = 0.6
"""The least mean probability of the right answers to the known pairs of a label."""
RIGHT = 0.8
"""The least share of right answers to the known pairs of a label."""

_WORDS = {
    "entailment": ("entail", "entails", "entailed", "entailing", "蕴含", "蕴涵", "蘊含", "蘊涵", "包含", "推出"),
    "neutral": ("neutrality", "neutrals", "中立", "中性", "无关", "無關"),
    "contradiction": ("contradict", "contradicts", "contradicted", "contradictory", "contradictions", "矛盾", "冲突"),
    "not_entailment": (
        "not_entail",
        "not_entailed",
        "not_entails",
        "no_entailment",
        "non_entailment",
        "nonentailment",
        "notentailment",
        "不蕴含",
        "非蕴含",
        "不蘊含",
    ),
}
SPELLINGS = {word: label for label, words in _WORDS.items() for word in (label, *words)}
"""What configurations call labels, beside the words of the label spaces."""


@cache
def known_pairs() -> dict[str, list[tuple[str, str, str]]]:
    """Return premises, hypotheses and labels that everybody agrees on, by language."""
    languages = yaml.safe_load(Path(__file__).with_name("known_pairs.yaml").read_text(encoding="utf-8"))
    return {
        language: [(row["premise"], row[label], label) for label in NLI3.labels for row in rows]
        for language, rows in languages.items()
    }


def settle_order(
    name: str, words: Sequence[str], score: Score, *, order: Sequence[str] = ()
) -> tuple[LabelSpace, tuple[str, ...]]:
    """Return the label space of the classifier ``name`` and the label of each of its columns.

    ``words`` are what its configuration calls the columns, ``order`` is what the user calls them: that is believed.
    """
    example = "entailment,not_entailment" if len(words) == 2 else "entailment,neutral,contradiction"
    advice = f"pass them in its own order, such as {name}#{example}"
    if order:
        if len(order) != len(words):
            raise InputError(f"{name}: has {len(words)} labels, and {len(order)} were passed: {', '.join(order)}")
        space_and_order = read_words(order)
        if space_and_order is None:
            raise InputError(f"{name}: the labels {', '.join(order)} are of no label space; {_spaces()}")
        return space_and_order
    named = read_words(words)
    if named is None and any(map(_says_something, words)):
        raise InputError(f"{name}: its labels {', '.join(words)} are of no label space ({_spaces()}); {advice}")
    if named is None and len(words) != len(NLI3):
        raise InputError(f"{name}: its {len(words)} labels have no names, so that they cannot be told; {advice}")
    space = NLI3 if named is None else named[0]
    answered = order_by_answers(score, space)
    if named is None:
        if answered is None:
            raise InputError(
                f"{name}: its labels have no names, and they cannot be told by its answers to pairs that everybody "
                f"agrees on; {advice}"
            )
        return space, answered
    if answered is not None and answered != named[1]:
        raise InputError(
            f"{name}: its configuration calls its labels {', '.join(named[1])}, and it answers pairs that everybody "
            f"agrees on as if they were {', '.join(answered)}; if the answers are right, pass "
            f"{name}#{','.join(answered)}, and if the configuration is, {name}#{','.join(named[1])}"
        )
    return named


def read_words(words: Sequence[str]) -> tuple[LabelSpace, tuple[str, ...]] | None:
    """Return the label space to which all words belong and their labels, or None where there is none."""
    for space in (LABEL_SPACES.get(name) for name in LABEL_SPACES):
        spellings = {_plain(spelling): label for spelling, label in space.spellings().items()}
        spellings |= {_plain(word): label for word, label in SPELLINGS.items() if label in space}
        labels = tuple(spellings.get(_plain(word), "") for word in words)
        if sorted(labels) == list(space.labels):
            return space, labels
    return None


def order_by_answers(score: Score, space: LabelSpace) -> tuple[str, ...] | None:
    """Return the order of the labels that a classifier's answers to the known pairs speak for, or None.

    It is told in the first language in which the answers to the pairs of each label are nearly all right and sure
    under one order of the labels. A classifier that does not understand a language answers there in no such way.
    """
    try:
        mapping = score_mapping(NLI3, space)
    except InputError:
        return None  # nobody agrees on how likely something is
    for pairs in known_pairs().values():
        premises, hypotheses, labels = zip(*pairs, strict=True)
        gold = np.array([mapping.label(label) or "" for label in labels])
        scores = score(premises, hypotheses)
        for order in permutations(space.labels):
            if all(_is_sure(scores[gold == label], order.index(label)) for label in space.labels):
                return order
    return None


def _is_sure(scores: NDArray[np.float64], column: int) -> bool:
    """Whether pairs of one label are answered by this column, nearly all of them, and surely."""
    right = (scores.argmax(axis=1) == column).mean() >= RIGHT
    return bool(right and scores[:, column].mean() >= SURE)


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFKC", word).casefold()).strip("_")


def _says_something(word: str) -> bool:
    """Whether a configuration gave a label a name, and did not only number it."""
    return not re.fullmatch(r"(label|class)?_?\d+", _plain(word))


def _spaces() -> str:
    spaces: Mapping[str, LabelSpace] = {name: LABEL_SPACES.get(name) for name in LABEL_SPACES}
    return "; ".join(f"{name}: {', '.join(space.labels)}" for name, space in spaces.items())
