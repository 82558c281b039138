"""``audit_model`` and ``audit --model``: models whose reading is known, on pairs with a planted word."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from goldlabel.audit import Audit, audit
from goldlabel.errors import InputError
from goldlabel.evaluate.explanation.sensitivity import put_before, take_out
from goldlabel.model_audit import audit_model
from goldlabel.models.function import Function
from goldlabel.pairs import Pairs
from goldlabel.pairs.labels import NLI3
from goldlabel.report.audit_page import audit_page
from goldlabel.report.table import Table
from tests.audit.conftest import make_pairs
from tests.cli.commands import run

LABELS = ("entailment", "neutral", "contradiction")
STRENGTH = {"entailment": 0.15, "neutral": 0.15, "contradiction": 0.7}


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    """600 pairs whose label the number in both texts tells, and "kept", which goes with contradiction."""
    random = np.random.RandomState(3)
    rows = []
    for number in range(600):
        label = LABELS[number % 3]
        word = "kept" if random.rand() < STRENGTH[label] else "lent"
        rows.append(
            {
                "premise": f"Shelf {number // 3} of the old library is full.",
                "hypothesis": f"Somebody {word} book {number} there.",
                "label": label,
                "split": "test",
            }
        )
    return make_pairs(*rows, name="shelves")


@pytest.fixture(scope="module")
def audited(pairs: Pairs) -> Audit:
    return audit(pairs, near=False)


def model_of(label: Callable[[str, str], str]) -> Function:
    def answer(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return [label(*texts) for texts in zip(premises, hypotheses, strict=True)]

    return Function("it", answer, NLI3, None)


def by_word(_: str, hypothesis: str) -> str:
    return "contradiction" if "kept" in hypothesis else "entailment"


def by_both(premise: str, hypothesis: str) -> str:
    """The true label, told only where both sides are there."""
    digits = "".join(sign for sign in hypothesis if sign.isdigit())
    return LABELS[int(digits) % 3] if digits and premise.startswith("Shelf") else "neutral"


def test_a_model_that_follows_the_word_leans_on_it(audited: Audit) -> None:
    result = audit_model(model_of(by_word), audited)
    [kept] = [part for part in result.artifacts if part.cue.feature == "kept"]
    assert (kept.cue.kind, kept.cue.label, kept.leaned_on) == ("word", "contradiction", True)
    assert kept.shift.value.value == pytest.approx(1)
    assert set(kept.by_label) == set(LABELS)
    assert kept.by_label["neutral"].carriers.answers["contradiction"].value == 1
    assert kept.by_label["neutral"].others.answers["contradiction"].value == 0
    assert kept.by_label["contradiction"].accuracy.value.value == pytest.approx(1)
    assert kept.by_label["entailment"].accuracy.value.value == pytest.approx(-1)
    assert kept.taken_out is not None
    assert kept.put_in is not None
    assert (kept.taken_out.value, kept.put_in.value) == (1, 1)
    blind = result.partial["hypothesis_only"]
    assert blind.accuracy == result.accuracy, "the premise was never read"
    assert blind.loss.difference.value == 0
    assert blind.gain.low is not None
    assert blind.gain.low > 0
    assert result.partial["premise_only"].accuracy.value == pytest.approx(1 / 3)
    assert "it labels by the hypothesis" in result.findings[0]
    assert "“kept” for contradiction" in result.findings[1]


def test_a_model_that_reads_both_sides_leans_on_nothing(audited: Audit) -> None:
    result = audit_model(model_of(by_both), audited)
    assert result.accuracy.value == 1
    assert not [part for part in result.artifacts if part.leaned_on]
    assert [part.accuracy.value for part in result.partial.values()] == [pytest.approx(1 / 3)] * 2
    blind = result.partial["hypothesis_only"]
    assert blind.loss.difference.value == pytest.approx(2 / 3)
    assert "not surely more than the most frequent label" in result.findings[0]
    assert result.findings[1].startswith("It leans on 0 of the")


def test_the_page_and_json_tell_it(audited: Audit) -> None:
    result = audit_model(model_of(by_word), audited)
    sections = {section.heading: section for section in audit_page(audited, result).sections}
    assert [bar.name for bar in sections["The model, with half of the input"].bars] == [
        "both sides", "hypothesis only", "premise only", "most frequent label",
    ]  # fmt: skip
    table = sections["The model and the artifacts"].table
    assert isinstance(table, Table)
    assert {row[0].value: row[0].link for row in table.cells}["“kept”"].startswith("#finding-")
    answers = sections["Its answers with and without each artifact"].table
    assert isinstance(answers, Table)
    assert {row[2].value for row in answers.cells} == set(LABELS)
    document = json.loads(json.dumps(result.to_dict()))
    assert document["hypothesis_only"].keys() == {"accuracy", "loss", "gain"}
    assert document["artifacts"][0].keys() >= {"feature", "label", "shift", "accuracy", "by_label", "leaned_on"}


@pytest.mark.parametrize(
    ("word", "text", "left"),
    [
        ("never", "He Never sleeps.", "He sleeps."),
        ("not", "The knot is not tied", "The knot is tied"),
        ("no", "No", None),
        ("no", "None came", None),
        ("没有", "他没有来。", "他来。"),
        ("c++", "Use C++ here", "Use here"),
    ],
)
def test_a_word_is_taken_out_as_a_word(word: str, text: str, left: str | None) -> None:
    assert take_out(word, text) == left


def test_a_word_is_put_before_a_text() -> None:
    assert (put_before("never", "He sleeps."), put_before("没有", "他来。")) == ("never He sleeps.", "没有他来。")


def test_the_command_and_a_file_of_predictions(pairs: Pairs, tmp_path: Path) -> None:
    path = tmp_path / "shelves.jsonl"
    pairs.export(path, "jsonl")
    (tmp_path / "my_reader.py").write_text(
        "def read(premises, hypotheses):\n"
        "    return ['contradiction' if 'kept' in text else 'entailment' for text in hypotheses]\n"
    )
    done = run("audit", path, "--model", "my_reader:read", "--no-near", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model = json.loads(done.stdout)["model"]
    assert model["n"] == 600
    assert "kept" in [part["feature"] for part in model["artifacts"] if part["leaned_on"]]
    assert run("predict", "my_reader:read", path, "-o", tmp_path / "p.csv", cwd=tmp_path).returncode == 0
    printed = run("audit", path, "--model", tmp_path / "p.csv", "--no-near")
    assert printed.returncode == 0, printed.stderr
    assert "cannot be asked about changed pairs" in printed.stderr
    assert "It leans on" in printed.stdout


def test_what_is_no_trained_model_is_refused_at_once() -> None:
    done = run("audit", "nowhere.jsonl", "--model", "cbow")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--hypothesis-only cbow" in done.stderr
    assert run("audit", "nowhere.jsonl", "--model", "runs/none").returncode == 2


def test_a_split_that_is_not_there(audited: Audit) -> None:
    with pytest.raises(InputError, match="has no dev split, only test"):
        audit_model(model_of(by_word), audited, split="dev")
