from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from goldlabel.collect.kinds import offered_kinds
from goldlabel.collect.people.training import own_examples
from goldlabel.collect.protocols import (
    CONDITIONS,
    LANGUAGES,
    LEVELS,
    ORDER,
    Protocol,
    TrainingExample,
    make_protocol,
)
from goldlabel.collect.texts import TRAINED, instruction_names, instructions, training_examples
from goldlabel.collect.work.rules import Hypothesis, check_hypotheses, measure_hypotheses
from goldlabel.errors import InputError


def project(name: str, language: str) -> Protocol:
    judging = {kind.judging_text: kind.protocols[0] for kind in offered_kinds()}
    return make_protocol(judging.get(name, name), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", instruction_names())
def test_instructions_are_whole(name: str, language: str) -> None:
    text = instructions(name, project(name, language))
    assert text.startswith("# ")
    assert "{" not in text
    assert "None" not in text
    assert bool(re.search("[一-鿿]", text)) == (language == "zh")
    writes = name in [condition.name for condition in project(name, language).conditions]
    assert ("0.30" if writes else "0.20") in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_condition_has_its_own_text_with_the_projects_numbers(language: str) -> None:
    found = {name: instructions(name, make_protocol(name, language)) for name in CONDITIONS}
    assert len(set(found.values())) == len(found)
    protocol = make_protocol("multi-constraint", language)
    changed = replace(
        protocol,
        writing=replace(protocol.writing, overlap=0.55, batch=17),
        pay=replace(protocol.pay, penalty=Decimal("1.25"), currency="XTS"),
        conditions=(replace(protocol.conditions[0], negated_contradictions=2),),
    )
    text = instructions("multi-constraint", changed)
    assert all(number in text for number in ("55", "17", "1.25 XTS", "**2**"))


def test_a_project_may_have_texts_of_its_own() -> None:
    protocol = replace(make_protocol("multi", "en"), instructions={"multi": "# Ours", "verifying": "# Theirs {x}"})
    assert (instructions("multi", protocol), instructions("verifying", protocol)) == ("# Ours", "# Theirs {x}")
    with pytest.raises(InputError, match="no instructions 'verify'; did you mean 'verifying'"):
        instructions("verify", protocol)


def bullets(text: str, heading: str) -> list[str]:
    block = text.partition(f"**{heading}")[2].partition("**")[2].partition("**")[0]
    return re.findall(r"^- (.+)$", block, flags=re.M)


@pytest.mark.parametrize(
    ("language", "headings"),
    [("en", ("Definitely true", "Might be true", "Cannot be true")), ("zh", ("一定为真", "可能为真", "一定为假"))],
)
def test_the_examples_keep_the_rules_they_explain(language: str, headings: tuple[str, ...]) -> None:
    protocol = make_protocol("multi-constraint", language)
    text = instructions("multi-constraint", protocol)
    premise, *more = re.findall(r"^> (.+)$", text, flags=re.M)
    listed = [bullets(text, heading) for heading in headings[:2]]
    listed.append(re.findall(r"^- (.+)$", text.partition(f"**{headings[2]}")[2].partition("\n## ")[0], flags=re.M))
    hypotheses = [
        Hypothesis(label=label, level=level, text=one)
        for label, texts in zip(ORDER["nli3"], listed, strict=True)
        for level, one in zip(LEVELS, texts, strict=True)
    ]
    assert check_hypotheses(premise, hypotheses, protocol, "multi-constraint") == []
    told = re.findall(r"^- (?:with a negator|without|用否定词|不用否定词)(?:: |：)(.+)$", text, flags=re.M)
    assert (len(more), len(told)) == (3, 6)
    negated = [
        bool(measure_hypotheses("", [Hypothesis(label="", level="", text=one)], protocol)[0].negators) for one in told
    ]
    assert negated == [True, False] * 3


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "size"), [("multi", 20), ("human-baseline", 20), ("vetting", 10)])
def test_training_examples_are_balanced_and_explained(name: str, size: int, language: str) -> None:
    protocol = make_protocol(name, language)
    examples = [*training_examples(protocol, "verifier").values()]
    assert len(examples) == len({one.premise for one in examples}) == size
    counts = Counter(one.label for one in examples)
    assert {*counts} == {*protocol.label_space.labels}
    assert max(counts.values()) - min(counts.values()) <= 1
    assert all(one.explanation and one.hypothesis != one.premise for one in examples)
    pairs = [(one.premise, Hypothesis(label=one.label, level="easy", text=one.hypothesis)) for one in examples]
    assert max(measure_hypotheses(premise, [one], protocol)[0].overlap for premise, one in pairs) <= 0.7


def test_the_trained_label_spaces_are_those_of_the_protocols() -> None:
    assert {make_protocol(name, "en").labels for name in ("multi", "human-baseline", "vetting")} == {*TRAINED}


def test_training_examples_of_ones_own() -> None:
    own = TrainingExample(premise="A", hypothesis="B", label="neutral", explanation="Nothing is said.")
    protocol = replace(make_protocol("multi", "en"), examples=(own,))
    with pytest.raises(InputError, match="20 training examples are asked for, and there are 1 in en for nli3; lower"):
        training_examples(protocol, "writer")
    short = replace(protocol, qualification=replace(protocol.qualification, training=1))
    assert training_examples(short, "writer") == training_examples(short, "verifier") == {0: own}
    assert training_examples(replace(short, examples=()), "writer")[0].premise != "A"
    judging = replace(own, premise="C", role="verifier")
    shared = replace(short, examples=(own, judging), qualification=replace(short.qualification, training=2))
    assert training_examples(shared, "writer") == {0: own}
    assert [*training_examples(shared, "verifier").items()] == [(1, judging), (0, own)], "first what is for them alone"


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ("**definitely correct**", "**neither**", "**definitely incorrect**")),
        ("zh", ("**一定正确**", "**一定错误**")),
    ],
)
def test_who_writes_against_a_model_and_who_judges_it_read_the_same_words(language: str, told: tuple[str, ...]) -> None:
    protocol = make_protocol("adversarial", language)
    changed = replace(protocol, writing=replace(protocol.writing, tries=7))
    writing, judging = (instructions(name, changed) for name in ("adversarial", "confirming"))
    assert all(words in text for words in told for text in (writing, judging))
    assert "**7" in writing


def test_examples_of_ones_own_may_be_for_one_role() -> None:
    rows = [("A", "B", "neutral", "So it is.", ""), ("C", "D", "entailment", "So it is.", "verifier"), ("",) * 5]
    protocol = own_examples(make_protocol("adversarial", "en"), rows)
    assert {role: [*training_examples(protocol, role)] for role in ("writer", "verifier")} == {
        "writer": [0],
        "verifier": [1, 0],
    }
    with pytest.raises(InputError, match="example 1: 'expert' does no work here; allowed: writer, verifier"):
        own_examples(protocol, [("A", "B", "neutral", "So it is.", "expert")])
    assert own_examples(protocol, []).examples == ()


@pytest.mark.parametrize(("language", "model"), [("en", "model"), ("zh", "模型")])
def test_each_role_is_trained_for_rounds_by_examples_of_its_own(language: str, model: str) -> None:
    protocol, plain = (make_protocol(name, language) for name in ("adversarial", "multi"))
    usual = [one.premise for one in training_examples(plain, "writer").values()]
    of_role = {role: [*training_examples(protocol, role).values()] for role in ("writer", "verifier")}
    own = {role: [one for one in shown if one.premise not in usual] for role, shown in of_role.items()}
    assert not {one.premise for one in own["writer"]} & {one.premise for one in own["verifier"]}
    assert sum(model in one.explanation for one in own["writer"]) > len(own["writer"]) / 2
    for role, shown in of_role.items():
        assert own[role] == shown[:12], "what is for the role alone comes first"
        assert Counter(one.label for one in own[role]) == dict.fromkeys(ORDER["nli3"], 4)
        assert len({one.premise for one in shown}) == len(shown) == 20
        counts = Counter(one.label for one in shown).values()
        assert max(counts) - min(counts) <= 1
