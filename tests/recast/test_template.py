from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from goldlabel.recast.template import filled
from tests.recast.samples import NASTY, PLAN, template


def recast(folder: Path, plan: str = PLAN) -> dict[str, tuple[str, str, str]]:
    frame = run_recast("template", template(folder, plan=plan), Options()).pairs.collect()
    return {row["id"]: (row["premise"], row["hypothesis"], row["label"]) for row in frame.iter_rows(named=True)}


def with_rule(rule: str) -> str:
    return f"premise: '{{entry}}'\nid: number\nhypotheses:\n  - text: 'The {{ship}} is out.'\n    label: {rule}\n"


def test_values_fill_their_places_and_nothing_else(tmp_path: Path) -> None:
    found = recast(tmp_path)
    premise, hypothesis, label = found["template-1-1"]
    assert premise.endswith(f" wrote: {NASTY}")
    assert (hypothesis, label) == ("The Heron {sailed}.", "entailment")
    premise, hypothesis, label = found["template-2-1"]
    assert premise.endswith("Two lines:\nfog, and {entry}.")
    assert (hypothesis, label) == ('The {ship} "two" {sailed}.', "not_entailment")


def test_rules(tmp_path: Path) -> None:
    def labels(rule: str) -> list[str]:
        return [label for _, _, label in recast(tmp_path, with_rule(rule)).values()][:3]

    assert labels("entailment") == ["entailment"] * 3
    assert labels("{column: state, equals: out}") == ["entailment", "not_entailment", "entailment"]
    assert labels("{column: ship, equals: [Gull, Auk], then: not_entailment, else: entailment}") == [
        "entailment", "entailment", "not_entailment",
    ]  # fmt: skip
    assert labels("{column: age, at_most: 12}") == ["not_entailment", "entailment", "not_entailment"]
    assert labels("{column: state, map: {out: entailment}, else: not_entailment}")[1] == "not_entailment"


def test_skip_leaves_pairs_out_and_counts_them(tmp_path: Path) -> None:
    run = run_recast("template", template(tmp_path), Options())
    assert run.to_dict()["skipped"] == [{"reason": "left out by the rule of hypothesis 2", "n": 21}]
    assert run.to_dict()["pairs"] == 25


def test_columns_give_split_group_and_label_space(tmp_path: Path) -> None:
    columns = "labels: nli3\nid: number\nsplit: state\ngroup: ship\n"
    plan = f"{columns}premise: '{{entry}}'\nhypotheses: [{{text: A, label: neutral}}]"
    table = tmp_path / "log.csv"
    table.write_text("number,ship,entry,state\n1,Auk,Mist.,dev\n2,Tern,Fog.,test\n")
    (tmp_path / "plan.yaml").write_text(plan)
    run = run_recast("template", [tmp_path], Options())
    frame = run.pairs.collect()
    assert frame.select("split", "group", "label").rows() == [("dev", "Auk", "neutral"), ("test", "Tern", "neutral")]
    assert run.pairs.card.label_space.name == "nli3"


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("premise: '{entry}'\n", "needs premise .* and hypotheses"),
        (PLAN + "colour: red\n", "'colour' is not known"),
        (with_rule("perhaps"), "hypothesis 1: label 'perhaps' is not one of"),
        (with_rule("{column: state}"), "hypothesis 1: .*one of map, equals, at_least, at_most"),
        (with_rule("{column: state, equals: a, at_least: 1}"), "one of map"),
        (with_rule("{column: state, like: a}"), "'like' is not known"),
        (with_rule("{column: age, at_least: many}"), "at_least is not a number"),
        (with_rule("{column: state, equals: yes}"), "truth value in YAML; put it in quotes"),
        (with_rule("{column: states, equals: out}"), r"log\.csv line 1: plan\.yaml asks for .*'states'; did"),
        (PLAN.replace("{entry}", "{entries}"), "column 'entries'"),
        (PLAN.replace("{entry}", "{entry.__class__}"), r"column 'entry\.__class__'"),
        (PLAN.replace("{entry}", "{entry"), "single {; write {{"),
        ("!!python/object/apply:os.getcwd []\n", r"plan\.yaml line 1: is not YAML"),
        ("premise: a\nhypotheses: []\n", "no hypotheses"),
        ("premise: a\nhypotheses: [b]\n", "hypothesis 1 needs exactly text and label"),
    ],
)  # fmt: skip
def test_a_wrong_plan_is_refused_in_one_line(plan: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        recast(tmp_path, plan)


def test_a_table_and_a_plan_are_needed(tmp_path: Path) -> None:
    table, plan = template(tmp_path)
    with pytest.raises(InputError, match=r"template takes one YAML file .*; given: log\.csv"):
        run_recast("template", [table])
    with pytest.raises(InputError, match="takes one table"):
        run_recast("template", [plan])


@given(st.text(), st.text())
def test_no_value_is_read_as_a_template(one: str, two: str) -> None:
    assert filled("{{{a}}} and {b}", {"a": one, "b": two}) == f"{{{one}}} and {two}"


@pytest.mark.parametrize(
    ("plan", "entry", "language"),
    [
        ("", "The ship is out.", "en"),
        ("", "船在海上。", "zh"),
        ("language: de\n", "Das Schiff ist auf See.", "de"),
        ("language: zh-Hant\n", "Out.", "zh-Hant"),
    ],
)
def test_the_language_of_the_table_goes_through(tmp_path: Path, plan: str, entry: str, language: str) -> None:
    (tmp_path / "log.csv").write_text(f"entry\n{entry}\n", encoding="utf-8")
    templates = "premise: '{entry}'\nhypotheses: [{text: '{entry}', label: entailment}]\n"
    (tmp_path / "plan.yaml").write_text(plan + templates, encoding="utf-8")
    pairs = run_recast("template", [tmp_path], Options()).pairs
    assert pairs.collect()["language"].to_list() == [language]
    assert pairs.card.languages == (language,)


def test_what_is_no_language_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("entry\nOut.\n")
    (tmp_path / "plan.yaml").write_text(
        "language: [en]\npremise: '{entry}'\nhypotheses: [{text: A, label: entailment}]\n"
    )
    with pytest.raises(InputError, match=r"language \['en'\] is no code of a language; give one such as en, zh or de"):
        run_recast("template", [tmp_path], Options())
