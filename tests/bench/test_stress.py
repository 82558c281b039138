"""The suite ``stress``: which sets it judges by, what its tables say, and that what is tuned on is not judged on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate.model_choice import parse_choice
from goldlabel.evaluate.suite import Request, SuitePlan
from goldlabel.evaluate.suites.stress import Stress
from goldlabel.evaluate.suites.stress_tables import NIE_2020
from goldlabel.pairs.units import units_of

WARY = "tests.bench.test_stress:wary"
PEOPLE = ("baker", "sailor", "gardener", "painter", "farmer", "teacher", "pilot", "singer", "dancer", "tailor")
SIGHTS = ("ships", "roses", "hens", "songs")


def wary(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Say that whatever has a negator is a contradiction, and that all else is entailed."""
    return ["contradiction" if "not" in text.split() else "entailment" for text in hypotheses]


wary.label_space = ("entailment", "neutral", "contradiction")  # type: ignore[attr-defined]


def write(folder: Path, name: str, rows: dict[str, Any], space: str = "nli3") -> str:
    path = folder / name
    gl.Pairs.from_frame(pl.DataFrame(rows), gl.Card(name=name, label_space=gl.label_space(space))).write(path)
    return str(path)


@pytest.fixture
def data(tmp_path: Path, home: Path) -> dict[str, str]:
    """A base of 40 premises with three hypotheses each, and a HANS of two heuristics; no library."""
    premises = [f"Three young {who}s saw {sight}." for who in PEOPLE for sight in SIGHTS]
    rows = [
        (f"p{number}-{label}", premise, hypothesis, label)
        for number, premise in enumerate(premises)
        for label, hypothesis in (
            ("entailment", "People saw something."),
            ("neutral", f"Number {number} was seen near home."),
            ("contradiction", f"They did not see number {number}." if number else "All looked away."),
        )
    ]
    base = dict(zip(("id", "premise", "hypothesis", "label"), zip(*rows, strict=True), strict=True))
    base = {column: list(values) for column, values in base.items()}
    heuristics = ["subsequence"] * 12 + ["constituent"] * 12
    hans = {
        "premise": [f"The {PEOPLE[n % 10]} near ship {n} sang." for n in range(24)],
        "hypothesis": [f"Ship {n} sang." if n % 2 else f"The {PEOPLE[n % 10]} sang." for n in range(24)],
        "label": ["not_entailment" if n % 2 else "entailment" for n in range(24)],
        "tags": [[heuristic, f"{heuristic}-case"] for heuristic in heuristics],
        "split": ["test"] * 24,
    }
    return {
        "own": write(tmp_path, "own", {**base, "split": ["dev"] * len(rows), "language": ["en"] * len(rows)}),
        "hans": write(tmp_path, "hans", hans, "nli2"),
    }


def plan(data: dict[str, str], *models: str, limit: int | None = None, **options: Any) -> SuitePlan:
    choices = tuple(parse_choice(model) for model in models or (WARY,))
    chosen = {**Stress.options, "base": "own", **options}
    train = gl.read(data["own"])
    return Stress().plan(Request(models=choices, train=(train,), data=data, limit=limit, options=chosen))


def rows_of(table: pl.DataFrame, **where: Any) -> list[dict[str, Any]]:
    return table.filter(*(pl.col(name) == value for name, value in where.items())).to_dicts()


def test_sets_are_the_languages_and_those_made_of_the_base(data: dict[str, str]) -> None:
    made = plan(data)
    tests = ("antonym", "numerical_reasoning", "length_mismatch", "negation", "word_overlap", "spelling_error")
    assert [part.name for part in made.sets] == ["hans", "own", *(f"own+{test}" for test in tests)]
    assert list(made.missing) == ["snli-hard", "breaking-nli", "nli-stress"]
    assert not made.find_set("own").counts
    assert made.counted == ("hans", *(f"own+{test}" for test in tests))
    assert "own: negation: 120 pairs made of 120 of 120" in made.notes
    assert len(made.find_set("own+numerical_reasoning").gold) == 120


def test_tables_tell_what_a_change_costs(data: dict[str, str], tmp_path: Path) -> None:
    options = {"base": "own"}
    results = gl.bench("stress", {"wary": WARY}, tmp_path / "bench", data=data, options=options, reference=True)
    tables = {path.stem: pl.read_csv(path) for path in (tmp_path / "bench/tables").iterdir()}
    [negation] = rows_of(tables["stress"], test="negation")
    # Before, it is right on what is entailed and on 39 contradictions; with a negator everywhere, on all 40 alone.
    assert (negation["accuracy"], negation["undisturbed"], negation["drop"]) == (33.33, 65.83, 32.5)
    assert 30 < negation["drop_low"] < 32.5 < negation["drop_high"] < 35
    [overlap] = rows_of(tables["stress"], test="word_overlap")
    assert (overlap["accuracy"], overlap["drop"], overlap["pairs"]) == (65.83, 0.0, 120)
    [ours, *papers] = rows_of(tables["table-4"])
    assert (ours["model"], ours["tests"], ours["negation"], ours["snli-hard"]) == ("wary", "own", 33.3, None)
    assert ours["numerical_reasoning"] == 33.3
    assert [row["model"] for row in papers] == list(NIE_2020)
    assert papers[-1]["negation"] == 62.2
    assert results.to_dict()["missing"] == ["snli-hard", "breaking-nli", "nli-stress"]


def test_hans_is_told_by_heuristic_and_answer(data: dict[str, str], tmp_path: Path) -> None:
    gl.bench("stress", {"wary": WARY}, tmp_path / "bench", data=data, options={"base": "own"})
    hans = pl.read_csv(tmp_path / "bench/tables/hans.csv")
    assert hans.select("heuristic", "gold", "pairs", "accuracy").rows() == [
        ("constituent", "entailment", 6, 100.0),
        ("constituent", "not_entailment", 6, 0.0),
        ("subsequence", "entailment", 6, 100.0),
        ("subsequence", "not_entailment", 6, 0.0),
    ]
    categories = pl.read_csv(tmp_path / "bench/tables/categories.csv")
    assert [row["accuracy"] for row in rows_of(categories, set="hans", category="subsequence-case")] == [50.0]
    kinds = {row["category"] for row in rows_of(categories, set="own+spelling_error")}
    assert kinds == {"swap", "keyboard"}


def test_a_limit_takes_categories_in_turn_and_compares_what_was_judged(data: dict[str, str], tmp_path: Path) -> None:
    limited = plan(data, limit=4)
    tags = limited.find_set("hans").gold.frame["tags"].list.first()
    assert sorted(tags) == ["constituent", "constituent", "subsequence", "subsequence"]
    assert {len(part.gold) for part in limited.sets} == {4}
    gl.bench("stress", {"wary": WARY}, tmp_path / "bench", data=data, limit=4, options={"base": "own"})
    drops = pl.read_csv(tmp_path / "bench/tables/stress.csv")
    assert drops["drop_low"].drop_nulls().is_between(-100, 100).all()
    assert drops["drop_high"].drop_nulls().is_between(-100, 100).all()
    assert drops.select("test", "pairs", "compared").rows() == [
        ("antonym", 4, 2),  # of the first two premises
        ("numerical_reasoning", 4, 4),
        ("length_mismatch", 4, 4),
        ("negation", 4, 4),
        ("word_overlap", 4, 4),
        ("spelling_error", 4, 4),
    ]


def test_nothing_that_is_tuned_on_is_judged_on(data: dict[str, str]) -> None:
    made = plan(data, "cbow", "linear", WARY, tune=True)
    tuned = [system for system in made.systems if "tuned on" in system.name]
    tests = [part.name for part in made.sets if part.dev is not None]
    assert [(system.name, system.sets) for system in tuned] == [(f"cbow, tuned on {name}", (name,)) for name in tests]
    assert [system.training.start for system in tuned if system.training] == ["cbow"] * 6
    assert len(tests) == 6
    assert "linear is not tuned: it is no network whose training goes on" in made.notes
    # No pair of one half, changed in whatever way, has its unit in the other.
    judged = pl.concat([part.gold.frame.select("premise", "group") for part in made.sets if part.name != "hans"])
    learnt = pl.concat([part.dev.frame.select("premise", "group").collect() for part in made.sets if part.dev])
    units = units_of(pl.concat([judged, learnt]))
    assert set(units[: len(judged)]).isdisjoint(units[len(judged) :])
    assert len(learnt)


def test_run_folders_and_checkpoints_are_tuned_too(data: dict[str, str], tmp_path: Path) -> None:
    own = gl.read(data["own"])
    run = gl.train("cbow", own, tmp_path / "run", split="dev", hidden=4, epochs=1, device="cpu").run
    made = plan(data, f"mine={run}", "theirs=hf:org/name", tune=True)
    further = {system.name: system.training for system in made.systems if system.training is not None}
    mine, theirs = further["mine, tuned on own+negation"], further["theirs, tuned on own+negation"]
    assert (mine.model, mine.start, mine.options) == ("cbow", None, {"start": str(run), "epochs": 3})
    assert (theirs.model, theirs.start, theirs.options) == ("hf:org/name", None, {"epochs": 3})
    assert len(further) == 12


def test_a_network_is_tuned_and_judged_on_the_other_half(data: dict[str, str], tmp_path: Path) -> None:
    train = gl.read(data["own"])
    other = pl.format("{} again", pl.col("premise")).alias("premise")
    train = gl.Pairs(train.frame.with_columns(other, pl.lit("train").alias("split")), train.card)
    settings = {"epochs": 1, "hidden": 4}
    options = {"base": "own", "tune": "yes", "tune_epochs": 1}
    gl.bench("stress", ["cbow"], tmp_path / "bench", data=data, train=train, settings=settings, options=options)
    summary = pl.read_csv(tmp_path / "bench/tables/table-4.csv")
    assert summary["tuned"].to_list() == [False, True]
    assert summary["model"].to_list() == ["cbow", "cbow"]
    assert summary.row(1, named=True)["antonym"] is not None
    assert rows_of(pl.read_csv(tmp_path / "bench/tables/stress.csv"), tuned=True, test="antonym")[0]["pairs"] > 0


def test_published_tests_are_sets_of_their_own(data: dict[str, str], tmp_path: Path) -> None:
    rows = {
        "premise": [f"Ship {n // 2} sank." for n in range(8)],
        "hypothesis": [f"Ship {n} floats." for n in range(8)],
        "label": ["contradiction"] * 8,
        "tags": [["antonym", "antonym", "matched"], ["negation", "negation", "matched"]] * 4,
        "split": ["test"] * 8,
    }
    data |= {"nli-stress": write(tmp_path, "nli-stress", rows)}
    whole = plan(data)
    assert len(whole.find_set("nli-stress+antonym").gold) == len(whole.find_set("nli-stress+negation").gold) == 4
    halves = plan(data, tune=True).find_set("nli-stress+negation")
    assert (len(halves.gold), halves.dev and len(halves.dev)) == (2, 2)


def test_chinese_sets_and_tests(tmp_path: Path, home: Path) -> None:
    rows = {
        "premise": [f"院子里有{n}只安静的鸡。" for n in range(3, 9)],
        "hypothesis": ["院子里有动物。"] * 6,
        "label": ["entailment"] * 6,
    }
    data = {"own": write(tmp_path, "own", rows)}
    made = plan(data, language="zh")
    assert list(made.missing) == ["hans-zh", "clue-diagnostics", "semantic-fragments-zh", "nli-stress-zh"]
    hypotheses = made.find_set("own+negation").gold.frame["hypothesis"]
    assert set(hypotheses) == {"院子里有动物，而且假的不是真的。"}
    assert len(made.find_set("own+antonym").gold) == 6
    assert len(made.find_set("own+numerical_reasoning").gold) == 18


def test_bad_options_are_refused(data: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="language 'fr' is not known"):
        plan(data, language="fr")
    with pytest.raises(InputError, match="cannot be read"):
        plan(data, antonyms=str(tmp_path / "none.tsv"))
    assert "no stress test is made of it" in plan(data, base="nowhere").missing["nowhere"]
    bare = {"premise": ["Ships sank."], "hypothesis": ["They sank."], "label": ["neutral"], "split": ["train"]}
    with pytest.raises(InputError, match="has no test or dev pair with a gold label"):
        plan(data | {"bare": write(tmp_path, "bare", bare)}, base="bare")
