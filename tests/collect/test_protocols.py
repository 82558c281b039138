from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from goldlabel.collect.kinds import KINDS
from goldlabel.collect.protocols import (
    CONDITIONS,
    LANGUAGES,
    ORDER,
    Cleaning,
    Condition,
    Pay,
    Protocol,
    TrainingExample,
    make_protocol,
    protocol_names,
)
from goldlabel.errors import InputError
from goldlabel.pairs.labels import LABEL_SPACES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", protocol_names())
def test_every_protocol_survives_json(name: str, language: str) -> None:
    protocol = make_protocol(name, language)
    assert protocol.kind in KINDS
    assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol


def test_what_a_project_changes_survives_json() -> None:
    protocol = make_protocol("multi", "en")
    changed = replace(
        protocol,
        pay=Pay(currency="EUR", pair=Decimal("0.3333")),
        premises=replace(protocol.premises, cleaning=(Cleaning(pattern=r"\[[^\]]*\]"),)),
        instructions={"multi": "# 写\nWrite."},
        examples=(TrainingExample(premise="A", hypothesis="B", label="neutral", explanation="why"),),
        writing=replace(protocol.writing, cap=None),
    )
    assert Protocol.from_dict(json.loads(json.dumps(changed.to_dict()))) == changed
    assert changed.to_dict()["pay"]["pair"] == "0.3333"


def test_the_numbers_of_the_paper_are_the_defaults() -> None:
    multi = make_protocol("multi", "zh")
    assert (multi.premises.shortest, multi.premises.longest) == (8, 50)
    assert (multi.writing.overlap, multi.writing.batch) == (0.7, 50)
    assert (multi.verifying.share, multi.verifying.verifiers) == (0.15, 4)
    assert (multi.pay.pair, multi.pay.label, multi.pay.currency) == (Decimal("0.30"), Decimal("0.20"), "CNY")
    baseline = make_protocol("human-baseline", "zh")
    assert (baseline.verifying.verifiers, baseline.verifying.sample, baseline.qualification.training) == (5, 300, 20)
    assert make_protocol("vetting", "en").labels == "ordinal5"


def test_conditions_ask_for_their_slots() -> None:
    both = make_protocol("single,multi-constraint", "zh")
    assert both.slots("single") == [(label, "only") for label in ("entailment", "neutral", "contradiction")]
    assert len(both.slots("multi-constraint")) == 9
    assert both.slots("multi-constraint")[:4] == [
        ("entailment", "easy"), ("entailment", "medium"), ("entailment", "hard"), ("neutral", "easy"),
    ]  # fmt: skip
    assert both.condition("multi-constraint").negated_contradictions == 1
    assert [CONDITIONS.get(name).bonus for name in ("multi", "multi-encourage")] == [False, True]
    with pytest.raises(InputError, match="no condition 'multi' in this project; allowed: multi-constraint, single"):
        both.condition("multi")


def test_answers_come_in_the_order_shown() -> None:
    assert make_protocol("multi", "en").answers == (
        "entailment", "neutral", "contradiction", "unrelated", "incomprehensible",
    )  # fmt: skip
    assert make_protocol("vetting", "en").answers[0] == "very_likely"
    assert {name: sorted(labels) for name, labels in ORDER.items()} == {
        name: list(LABEL_SPACES.get(name).labels) for name in LABEL_SPACES
    }


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("mutli", "zh", "no protocol 'mutli'; did you mean 'multi'"),
        ("multi,vetting", "zh", "no protocol 'vetting'; allowed: multi, "),
        ("multi,", "zh", "no protocol ''"),
        ("multi,multi", "zh", "conditions' is multi, multi; allowed: different names"),
        ("multi", "de", "language 'de'; allowed: en, zh"),
    ],
)
def test_what_cannot_be_made_is_refused(name: str, language: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_protocol(name, language)


def change(path: str, value: Any) -> Any:
    fields = make_protocol("multi", "zh").to_dict()
    *parents, last = path.split(".")
    inner: Any = fields
    for one in parents:
        inner = inner[int(one)] if one.isdigit() else inner[one]
    inner[last] = value
    return fields


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("writing.overlpa", 1, r"no setting 'overlpa' in protocol\.writing; did you mean 'overlap'\?"),
        ("verfying", {}, "no setting 'verfying' in protocol; did you mean 'verifying'"),
        ("writing.overlap", 70, "setting 'protocol.writing.overlap' is 70.0; allowed: 0 to 1"),
        ("writing.overlap", "0.7", "setting 'protocol.writing.overlap' is '0.7'; allowed: a number"),
        ("writing.batch", True, "setting 'protocol.writing.batch' is True; allowed: a whole number"),
        ("writing.cap", 0, "writing.cap' is 0; allowed: 1 to 10000000, or null for no limit"),
        ("verifying.verifiers", 0, "verifying.verifiers' is 0; allowed: 1 to 100"),
        ("verifying.verifiers", 10**9, "verifying.verifiers' is 1000000000; allowed: 1 to 100"),
        ("verifying.lease_seconds", 10**18, "verifying.lease_seconds' is 1000000000000000000; allowed: 1 to 2592000"),
        ("writing.lease_seconds", 2592001, "writing.lease_seconds' is 2592001; allowed: 1 to 2592000"),
        ("verifying.share", float("nan"), "verifying.share' is nan; allowed: 0 to 1"),
        ("verifying.abstentions", ["boring"], "abstentions' is boring; allowed: some of incomprehensible"),
        ("premises.shortest", 51, "shortest' is 51; allowed: 1 to 50"),
        (
            "premises.cleaning",
            [{"pattern": "(a"}],
            r"protocol.premises.cleaning\[0\].pattern' is .*no pattern .*unclosed group",
        ),
        ("pay.pair", 0.3, "'protocol.pay.pair' is 0.3; allowed: an amount such as 0.30"),
        *(
            ("pay.pair", text, "'protocol.pay.pair' is .*; allowed: an amount such as 0.30, up to 1000000000")
            for text in (
                "NaN",
                "sNaN",
                "9E999999",
                "1_000",
                "1e5",
                "-1",
                "+1",
                "٣",
                "",
                ".5",
                "5.",
                "0.00001",
                "1" * 19,
            )
        ),
        ("pay.currency", "yuan", "currency' is 'yuan'; allowed: a code such as CNY"),
        ("kind", "elicit", "kind' is 'elicit'; allowed: .*; did you mean 'elicitation'"),
        ("language", None, "'protocol.language' is None; allowed: text"),
        ("conditions", [], "conditions' is empty; allowed: one or more for elicitation"),
        ("conditions.0.optional", ["hardest"], "optional' is hardest; allowed: some, not all, of easy, medium, hard"),
        ("conditions", "multi", "'protocol.conditions' is 'multi'; allowed: a list"),
        ("conditions.0.negated_contradictions", -1, "allowed: 0 to 100, or null for no limit"),
        ("negators.words", [""], "words that are not empty"),
        ("instructions", ["x"], "'protocol.instructions' is x; allowed: an object"),
        ("instructions", {"multi": 3}, "'protocol.instructions.multi' is 3; allowed: text"),
        ("examples", [{"premise": "A"}], r"setting 'protocol.examples\[0\].hypothesis' is missing"),
        ("splits", [], "'protocol.splits' is empty; allowed: an object of settings"),
    ],
)
def test_settings_that_cannot_be_are_named(path: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Protocol.from_dict(change(path, value))
    assert "\n" not in str(caught.value)


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(InputError, match=r"setting 'protocol\.kind' is missing"):
        Protocol.from_dict({})


def test_examples_have_labels_of_the_project() -> None:
    example = TrainingExample(premise="A", hypothesis="B", label="likely", explanation="why")
    with pytest.raises(InputError, match="'examples' is likely; allowed: contradiction, entailment, neutral"):
        replace(make_protocol("multi", "zh"), examples=(example,))


def test_a_condition_of_ones_own() -> None:
    pairs = Condition(name="pairs", levels=("first", "second"), optional=("second",), negated_contradictions=0)
    protocol = replace(make_protocol("multi", "en"), conditions=(pairs,))
    assert Protocol.from_dict(protocol.to_dict()).slots("pairs")[-1] == ("contradiction", "second")
