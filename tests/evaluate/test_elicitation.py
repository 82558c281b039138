"""``elicitation`` finds what was planted in invented conditions, and holds people against one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from goldlabel.errors import InputError
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suites.elicitation import PARTS
from goldlabel.evaluate.suites.human_votes import score_votes
from goldlabel.evaluate.suites.paper_tables import read_figures
from goldlabel.pairs import Pairs
from tests.evaluate.campaigns import base, dataset, rows, run, table, value
from tests.evaluate.samples import make_pairs
from tests.evaluate.test_rounds import Cued

AGREED = ["entailment"] * 5
DIAGNOSTICS = {"diagnostics": "", "sizes": "30,60"}


def elicited(name: str = "birds", *, test: bool = False) -> Pairs:
    """Two conditions; what judges has the cues of R2, and only training pairs with its premises have them too."""
    records = rows("R1", 30, "train", condition="single", votes=AGREED)
    records += rows("R1", 60, "train", condition="multi", level="easy", votes=["neutral"], writer="ann")
    judged = rows("R2", 30, "dev", condition="multi", level="easy", votes=AGREED)
    judged += rows("R1", 12, "dev", condition="multi", level="hard", votes=AGREED, writer="bob")
    shared = [
        {
            **record,
            "id": f"shared-{record['id']}",
            "hypothesis": record["hypothesis"].replace("in it", "beside it"),
            "split": "train",
            "level": "medium",
            "votes": ["neutral"],
        }
        for record in judged[:30]
    ]
    if test:
        judged += [{**record, "id": f"test-{record['id']}", "split": "test"} for record in judged]
    return dataset([*judged, *records, *shared], name, author="first")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("elicitation")
    models = {"linear": "linear", "knows R1": Cued("R1")}
    return run(
        "elicitation", folder, elicited(), models, "dataset", train=base(), options=DIAGNOSTICS, reference=True
    ), folder


def test_conditions_are_judged_by_verified_pairs_and_models_that_learnt_from_none(trained: tuple[Any, Path]) -> None:
    results, folder = trained
    assert results.sets == ("dev", "single", "multi")
    assert {name: len(results.plan.find_set(name).gold) for name in results.sets} == {
        "dev": 42,
        "single": 30,
        "multi": 42,
    }
    assert results.has("linear (base)", "single")
    assert not any(results.has(name, "single") for name in results.systems if "birds" in name)
    lines = {(row["model"], row["level"]): row for row in table(folder, "table-9")}
    assert {level for _, level in lines} == {"all", "easy", "hard"}
    assert value(lines["knows R1", "all"]["single"]) == 100
    assert value(lines["knows R1", "easy"]["multi"]) == pytest.approx(100 / 3, abs=0.1)
    assert value(lines["knows R1", "hard"]["multi"]) == 100
    assert lines["knows R1", "easy"]["single"] == ""


def test_shared_premises_help_beyond_the_number_of_pairs(trained: tuple[Any, Path]) -> None:
    _, folder = trained
    lines = {row["data"]: row for row in table(folder, "table-14") if row["model"] == "linear"}
    whole, apart, few = (lines[data] for data in lines)
    assert list(lines)[1] == "birds without overlap"
    assert int(apart["pairs"]) == int(few["pairs"]) < int(whole["pairs"])
    assert value(whole["dev"]) == 100
    assert value(apart["dev"]) < 70
    assert value(few["dev"]) > value(apart["dev"])
    claims = {row["claim"]: row for row in table(folder, "claims") if "knows" not in row["first"]}
    assert float(claims["shared premises help beyond the number of pairs"]["p"]) < 0.05
    assert float(claims["the dataset teaches more than the other set"]["p"]) < 0.01


def test_tables_have_every_model_and_people_beside_them(trained: tuple[Any, Path]) -> None:
    results, folder = trained
    models = [row["model"] for row in table(folder, "table-5")]
    assert models == ["linear", "knows R1", "human, each vote against the others"]
    assert value(table(folder, "table-5")[-1]["dev"]) == 100
    assert [row["data"] for row in table(folder, "table-6")][:3] == ["birds", "base", "birds+base"]
    hypothesis_only = table(folder, "table-7")
    assert [row["model"] for row in hypothesis_only] == ["linear"]
    assert value(hypothesis_only[0]["dev"]) == 100
    assert value(hypothesis_only[0]["dev hard"]) == value(hypothesis_only[0]["dev multi"]) == 100
    curve = [(row["data"], int(row["pairs"])) for row in table(folder, "figure-1")]
    own = [pairs for data, pairs in curve if data == "birds"]
    assert own[:2] == [30, 60]
    assert own == sorted(own)
    assert len(own) == 3
    assert any("kept back" in note for note in results.plan.notes)


def test_nobody_is_stopped_on_what_judges(trained: tuple[Any, Path], tmp_path: Path) -> None:
    results, _ = trained
    judged = set(results.plan.find_set("dev").gold.frame["id"])
    on = next(system.training.on[0] for system in results.plan.systems if system.name == "linear (birds)")
    assert not judged & set(on.frame.collect()["id"])
    options = {"parts": "table-5", **DIAGNOSTICS}
    both = run("elicitation", tmp_path, elicited("wrens", test=True), ["linear"], "dataset", options=options)
    assert both.plan.counted == ("test",)
    assert both.sets == ("dev", "test")
    stopping = both.plan.systems[0].training.on[0].only(split="dev").frame.collect()
    assert set(stopping["id"]) == judged
    assert "test" not in both.plan.missing


def test_an_independent_set_without_a_train_split_is_taken_whole(tmp_path: Path) -> None:
    other = dataset(rows("base", 60, "test"), "other")
    options = {"parts": "table-9", **DIAGNOSTICS}
    results = run("elicitation", tmp_path, elicited(), ["linear"], "dataset", train=other, options=options)
    assert results.systems == ("linear (other)",)
    assert any("other has no train split" in note for note in results.plan.notes)


def test_a_dataset_without_training_pairs_is_probed_all_the_same(tmp_path: Path) -> None:
    pairs = dataset(rows("R1", 12, "dev", condition="single", votes=AGREED), "bare")
    results = run("elicitation", tmp_path, pairs, ["linear"], "dataset", train=base(), options=DIAGNOSTICS)
    assert "training pairs" in results.plan.missing
    assert not any("bare" in name for name in results.systems)
    with pytest.raises(InputError, match="linear has to be trained first"):
        run("elicitation", tmp_path / "more", pairs, ["linear"], "dataset", options=DIAGNOSTICS)


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        (rows("R1", 6, "dev") + rows("R1", 6, "train"), {}, "no pair has a condition"),
        (rows("R1", 6, "dev", condition="single"), {"sizes": "many"}, "sizes=many: give whole numbers"),
        (rows("R1", 6, "dev", condition="single"), {"parts": "table-8"}, "part 'table-8' is not known"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    tmp_path: Path, records: list[dict[str, Any]], options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run("elicitation", tmp_path, dataset(records, "field"), {"cued": Cued()}, "dataset", options=options)


def test_each_vote_is_held_against_the_majority_of_the_others() -> None:
    e, n, c = "entailment", "neutral", "contradiction"
    votes = [
        [e, e, e, e, n],  # four agree with three others, the fifth is against four
        [e, e, n, n, c],  # nobody's others have a majority but the last one's: two to two is none either
        [n, n, n, e, e],  # the others of an e have three n of four; those of an n are two to two
        [e, e],  # too few
        [],
    ]
    gold = evaluation_set(make_pairs([e, e, n, e, e], votes=votes)).gold
    estimate = score_votes(gold)
    assert estimate is not None
    assert (estimate.value, estimate.n) == (pytest.approx(4 / 7), 7)
    assert score_votes(evaluation_set(make_pairs([e], votes=[[e]])).gold) is None


def test_the_paper_s_figures_are_shares_of_known_tables() -> None:
    figures = read_figures("elicitation")
    assert set(figures["table"]) <= set(PARTS)
    assert figures["value"].is_between(30, 100, closed="none").all()
