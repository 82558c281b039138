"""Any function as a model: the forms of its answers, and what it may not say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldlabel.errors import InputError
from goldlabel.models import Model, load_model
from goldlabel.models.function import Function
from goldlabel.pairs.labels import NLI2, NLI3

ORDER = ("entailment", "neutral", "contradiction")
PAIRS = (["An owl.", "A cat."], ["A bird.", "A dog."])


def returning(answers: Any, columns: tuple[str, ...] | None = None) -> Function:
    return Function("mine:f", lambda premises, hypotheses: answers, NLI3, columns)


@pytest.mark.parametrize(
    "answers",
    [
        ["entailment", None],
        ["entailment", "-"],
        np.array(["entailment", "-"]),
        ({"entailment": 1.0}, None),
        [{"entailment": 1, "neutral": 0.0}, {"neutral": float("nan"), "entailment": np.nan, "contradiction": np.nan}],
    ],
    ids=repr,
)
def test_labels_and_dictionaries_name_what_they_mean(answers: Any) -> None:
    np.testing.assert_array_equal(returning(answers).predict(*PAIRS), [[0, 1, 0], [np.nan] * 3])


def test_columns_come_in_the_order_that_was_told() -> None:
    rows = [[0.7, 0.2, 0.1], [np.nan] * 3]
    for answers in (rows, np.array(rows), tuple(map(tuple, rows))):
        answered = returning(answers, ORDER).predict(*PAIRS)
        np.testing.assert_array_equal(answered, [[0.1, 0.7, 0.2], [np.nan] * 3])
    rounded = returning([[0.33, 0.33, 0.33], [0.51, 0.25, 0.25]], ORDER).predict(*PAIRS)
    np.testing.assert_allclose(rounded, [[1 / 3] * 3, [0.25 / 1.01, 0.51 / 1.01, 0.25 / 1.01]], rtol=1e-12)
    with pytest.raises(InputError, match="columns without names, and their order is not told"):
        returning(rows).predict(*PAIRS)


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        (["entailment"], "returned 1 answers for 2 pairs"),
        (None, "returned None, and an answer for each pair was expected"),
        (["entailment", "maybe"], "row 2: 'maybe' is not one of contradiction, entailment, neutral"),
        ([{"entailment": 1}, {"yes": 1}], "row 2: 'yes' is not one of"),
        ([{"entailment": "high"}, {}], "row 1: 'high' is no probability"),
        ([{"entailment": 1}, {"entailment": 0.4}], "row 2: 0, 0.4, 0 are no probabilities"),
        ([[0.5, 0.3, 0.2], [1.2, -0.2, 0]], r"row 2: 1.2, -0.2, 0 are no probabilities"),
        ([[0.5, 0.3, 0.2], [0.5, 0.3, 0.18]], r"row 2: 0.5, 0.3, 0.18 are no probabilities.*\(here 0.98\)"),
        ([[0.5, 0.3, 0.2], [np.inf, 0, 0]], "row 2: inf, 0, 0 are no probabilities"),
        ([[0.5, 0.5], [0.5, 0.5]], r"a matrix of 2 × 2 for 2 pairs and 3 labels"),
        ([[0.5, 0.3, 0.2], "entailment"], "neither a label, nor a dictionary, nor a row of numbers"),
    ],
)
def test_what_a_function_may_not_return_is_one_line(answers: Any, line: str) -> None:
    with pytest.raises(InputError, match=line) as refused:
        returning(answers, ORDER).predict(*PAIRS)
    assert str(refused.value).startswith("mine:f")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write a module into the current folder, under a name that is imported once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    return lambda text: (tmp_path / "my_model.py").write_text(text) and None


def test_a_function_beside_the_data_is_found_and_tells_its_labels(module: Callable[[str], None]) -> None:
    module(
        "def plain(p, h): return ['entailment'] * len(p)\n"
        "def ordered(p, h): return [[0.7, 0.2, 0.1]] * len(p)\n"
        "ordered.label_space = ['entailment', 'neutral', 'contradiction']\n"
        "def wrong(p, h): raise ZeroDivisionError('of its own')\n"
        "wrong.label_space = 'nli3'\n"
        "value = 3\n"
    )
    ordered = load_model("my_model:ordered")
    assert isinstance(ordered, Model)
    assert ordered.label_space == NLI3
    np.testing.assert_array_equal(ordered.predict(["An owl."], ["A bird."]), [[0.1, 0.7, 0.2]])
    assert load_model("my_model:plain", default_space=NLI2).label_space == NLI2
    told = load_model("my_model:ordered", label_space="contradiction,neutral,entailment")
    np.testing.assert_array_equal(told.predict(["An owl."], ["A bird."]), [[0.7, 0.1, 0.2]])
    with pytest.raises(InputError, match="order is not told"):  # a name tells which labels, not in which order
        load_model("my_model:ordered", label_space="nli3").predict(["An owl."], ["A bird."])
    assert load_model("my_model:plain", label_space="nli2").label_space == NLI2
    with pytest.raises(InputError, match="its labels are not told"):
        load_model("my_model:plain")
    with pytest.raises(InputError, match="has no function 'plan'; did you mean 'plain'"):
        load_model("my_model:plan")
    with pytest.raises(InputError, match="has no function 'value'"):
        load_model("my_model:value")
    with pytest.raises(InputError, match="has no option 'colour'; allowed: label_space"):
        load_model("my_model:plain", colour="red")
    with pytest.raises(ZeroDivisionError, match="of its own"):
        load_model("my_model:wrong").predict(["An owl."], ["A bird."])


def test_a_module_that_is_missing_is_told_from_one_that_misses_something(module: Callable[[str], None]) -> None:
    module("import a_package_that_nobody_has\n")
    with pytest.raises(InputError, match="there is no module 'no_such_module'"):
        load_model("no_such_module:f")
    with pytest.raises(InputError, match="there is no module 'my_models'"):
        load_model("my_models.inner:f")
    with pytest.raises(ModuleNotFoundError, match="a_package_that_nobody_has"):
        load_model("my_model:f")
