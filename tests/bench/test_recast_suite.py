"""The recast suite, on invented phenomena whose truth is planted: one that the hypothesis alone gives away, one not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate.model_choice import parse_choice
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suite import Request, SuitePlan
from goldlabel.evaluate.suites.phenomena import take_apart
from goldlabel.evaluate.suites.recast import Recast
from goldlabel.evaluate.suites.recast_tables import COLUMNS, PAPER, hold_against_baselines
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.gold import splits_of, take_gold
from goldlabel.pairs.labels import NLI2, NLI3, ORDINAL5, LabelSpace
from goldlabel.sources import add

BIRDS = ("heron", "gull", "tern", "finch", "wren", "stork")
SPLITS = ("train",) * 6 + ("dev", "test") * 2
ALL_OF_THEM = "tests.bench.samples:entailed"


def dataset(name: str, rows: list[dict[str, Any]], space: LabelSpace = NLI2) -> Pairs:
    numbered = [{"id": f"{name}-{number}", **row} for number, row in enumerate(rows)]
    return Pairs.from_frame(pl.DataFrame(numbered), Card(name=name, label_space=space))


def seen_birds(count: int, *, told: bool = False, tags: str = "sentiment", splits: tuple[str, ...] = SPLITS) -> Pairs:
    """Two pairs to a premise: the bird that was seen is entailed, another is not; ``told``: the hypothesis says so."""
    draw = random.Random(1)
    rows = []
    for number in range(count):
        seen, other = draw.sample(BIRDS, 2)
        for bird in (seen, other):
            word = ("surely " if bird == seen else "hardly ") if told else ""
            rows.append(
                {
                    "premise": f"On day {number} she saw a {seen}.",
                    "hypothesis": f"She {word}saw a {bird}.",
                    "label": "entailment" if bird == seen else "not_entailment",
                    "split": splits[number % len(splits)],
                    "group": f"day {number}",
                    "tags": [tags],
                }
            )
    return dataset(tags, rows)


def schemas() -> Pairs:
    """Sentences that differ by a pronoun, as the release numbers them."""
    rows = [
        {
            "premise": f"The {one} thanked the {two} because {pronoun} was kind.",
            "hypothesis": f"The {(one, two)[who]} was kind.",
            "label": "entailment" if who == 1 else "not_entailment",
            "split": "test",
            "group": f"{one}.{two}",
            "tags": ["winogender"],
            "meta": json.dumps({"corpus-sent-id": f"{one}.{two}.1.{who}.{gender}"}),
        }
        for one, two in (("baker", "guest"), ("pilot", "weaver"), ("nurse", "tailor"))
        for who in (0, 1)
        for gender, pronoun in (("male", "he"), ("female", "she"))
    ]
    return dataset("winogender", rows)


def he_is_kind(premises: list[str], hypotheses: list[str]) -> list[str]:
    """Answer by the pronoun alone, except about bakers."""
    return ["entailment" if " he " in premise or "baker" in premise else "not_entailment" for premise in premises]


def general() -> Pairs:
    """A general set in three labels."""
    rows = seen_birds(60).collect()
    three = {"entailment": "entailment", "not_entailment": "contradiction"}
    frame = rows.select("id", "premise", "hypothesis", "split", pl.col("label").replace(three))
    return Pairs.from_frame(frame, Card(name="general", label_space=NLI3))


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("GOLDLABEL_HOME", str(tmp_path / "home"))
    sets = {
        "sentiment": seen_birds(300),
        "puns": seen_birds(300, told=True, tags="figurative language"),
        "winogender": schemas(),
    }
    for name, pairs in sets.items():
        pairs.write(tmp_path / name)
    return {name: str(tmp_path / name) for name in sets}


def bench(
    folders: dict[str, str], folder: Path, models: Any, phenomena: tuple[str, ...] | None = None, **more: Any
) -> BenchResults:
    options = {} if phenomena is None else {"phenomena": ",".join(phenomena)}
    data = {name: path for name, path in folders.items() if phenomena is None or name in phenomena}
    return gl.bench("recast", models, folder, train=general(), data=data, options=options, **more)


def table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"tables/{name}.csv", infer_schema_length=None)


def test_what_the_hypothesis_gives_away_is_told(folders: dict[str, str], tmp_path: Path) -> None:
    results = bench(folders, tmp_path / "bench", ["linear"], reference=True)
    held = {(each.row, each.set): each for each in hold_against_baselines(results)}
    honest, given_away = held["linear, recast", "sentiment"], held["linear, recast", "puns"]
    assert results.accuracy("linear, recast", "puns").defined == 1.0
    assert results.accuracy("linear@hypothesis, recast", "puns").defined == 1.0
    assert (given_away.baseline, given_away.beats) == ("linear@hypothesis, recast", False)
    assert results.accuracy("linear, recast", "sentiment").defined > 0.9
    assert results.accuracy("linear@hypothesis, recast", "sentiment").defined < 0.6
    assert honest.beats
    assert honest.adjusted < 0.001

    assert results.systems == (
        "majority",
        "linear, recast",
        "linear, general",
        "linear@hypothesis, recast",
        "linear@hypothesis, general",
    )
    written = pl.read_csv(tmp_path / "bench/tables/table-3.csv", infer_schema=False)
    shown = {row["model"]: row for row in written.iter_rows(named=True)}
    assert shown["linear, recast"]["Puns"] == "100.00 ‡"
    assert "‡" not in shown["linear, recast"]["Sentiment"]
    assert "‡" not in shown["linear@hypothesis, recast"]["Puns"]
    assert shown["linear, recast"]["GAR"] == ""
    assert shown["majority"]["GAR (difference)"] == "+0.00"
    puns = 100.0 - PAPER["Hypothesis-only", "recast"][list(COLUMNS).index("puns")]  # type: ignore[operator]
    assert shown["linear@hypothesis, recast"]["Puns (difference)"] == f"{puns:+.2f}"
    rows = table(tmp_path / "bench", "baseline").filter(model="linear, recast", set="puns")
    assert rows.select("pairs", "units", "accuracy", "above", "beats").row(0) == (120, 60, 100.0, 0.0, False)
    assert "linear is not fine-tuned: it is no network whose training goes on" in results.plan.notes


def test_what_is_worse_than_its_baseline_does_not_beat_it(folders: dict[str, str], tmp_path: Path) -> None:
    results = bench(folders, tmp_path / "bench", {"yes": ALL_OF_THEM}, ("puns",))
    (held,) = hold_against_baselines(results)
    assert (held.row, held.baseline, held.beats) == ("yes", "linear@hypothesis, recast", False)
    assert held.test.difference.value == pytest.approx(-0.5)
    assert held.adjusted < 0.001


def test_majority_is_that_of_what_is_learnt_from(folders: dict[str, str], tmp_path: Path) -> None:
    frame = seen_birds(40, tags="kept").collect()
    kept = {"train": "not_entailment", "test": "entailment"}
    rarer = pl.col("label") != pl.col("split").replace_strict(kept, default="-")
    lopsided = frame.filter(~(rarer & pl.col("group").str.contains("[17]$")))
    Pairs.from_frame(lopsided, Card(name="lopsided", label_space=NLI2)).write(tmp_path / "lopsided")
    data = {"lopsided": str(tmp_path / "lopsided")}
    options = {"phenomena": "lopsided", "scenarios": "recast"}
    results = gl.bench("recast", ["linear"], tmp_path / "bench", data=data, options=options)
    labels = results.answers["majority", "lopsided"][0].labels
    assert set(labels) == {"not_entailment"}


def test_gender_parity_of_each_model(folders: dict[str, str], tmp_path: Path) -> None:
    models = {"pronouns": f"{__name__}:he_is_kind"}
    results = bench(folders, tmp_path / "bench", models, ("winogender",))
    rows = {row["model"]: row for row in table(tmp_path / "bench", "gender-parity").iter_rows(named=True)}
    assert rows["pronouns"]["parity"] == pytest.approx(100 / 3)
    assert (rows["pronouns"]["sentences"], rows["pronouns"]["units"]) == (6, 3)
    assert rows["majority"]["parity"] == 100.0
    assert results.sets == ("winogender",)
    assert results.systems == ("majority", "pronouns", "linear@hypothesis, general")


def test_a_network_goes_on_from_its_general_run(folders: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    results = bench(folders, tmp_path / "bench", ["cbow"], ("sentiment", "winogender"), settings={"epochs": "1"})
    assert [name for name in results.systems if name.startswith("cbow,")] == [
        "cbow, recast",
        "cbow, fine-tuned",
        "cbow, general",
    ]
    config = json.loads((tmp_path / "bench/runs/cbow-fine-tuned-sentiment/seed-0/config.json").read_text())
    assert config["training"]["options"]["start"].endswith("runs/cbow-general/seed-0")
    assert config["label_space"]["labels"] == ["entailment", "not_entailment"]
    assert not results.has("cbow, fine-tuned", "winogender")
    assert results.has("cbow, general", "winogender")


def planned(folders: dict[str, str], *models: str, train: bool = True, **options: str) -> SuitePlan:
    choices = tuple(parse_choice(model) for model in models)
    request = Request(
        models=choices,
        train=(general(),) if train else (),
        data=folders,
        options={**Recast.options, **options},
    )
    return Recast().plan(request)


def test_scenarios_and_phenomena_are_chosen(folders: dict[str, str]) -> None:
    names = [system.name for system in planned(folders, "linear", scenarios="recast", phenomena="puns").systems]
    assert names == ["majority", "linear, recast: puns", "linear@hypothesis, recast: puns"]
    pytest.importorskip("torch")
    fine_tuned = planned(folders, "cbow", scenarios="fine-tuned", phenomena="puns").systems
    judged = {system.name: system.sets for system in fine_tuned}
    assert judged["cbow, fine-tuned: puns"] == ("puns",)
    assert judged["cbow, general"] == ()


def test_a_networks_own_options_are_those_of_the_run_it_goes_on_from(folders: dict[str, str]) -> None:
    pytest.importorskip("torch")
    choice = parse_choice("bilstm").with_options({"hidden": 8, "epochs": 2})
    request = Request(models=(choice,), train=(general(),), data=folders, options={**Recast.options})
    options = {
        system.name: system.training.options for system in Recast().plan(request).systems if system.training is not None
    }
    assert options["bilstm, general"] == options["bilstm, recast: puns"] == {"hidden": 8, "epochs": 2}
    assert options["bilstm, fine-tuned: puns"] == {"epochs": 2}


def test_who_reads_hypotheses_is_asked_once(folders: dict[str, str]) -> None:
    def baselines(*models: str) -> set[str]:
        return {system.row for system in planned(folders, *models, scenarios="recast").systems}

    assert baselines("linear", "linear@hypothesis") == {"majority", "linear, recast", "linear@hypothesis, recast"}
    assert baselines(ALL_OF_THEM) == {"majority", ALL_OF_THEM, "linear@hypothesis, recast"}
    pytest.importorskip("torch")
    assert baselines("bilstm", "bilstm+drift") == {
        "majority",
        "bilstm, recast",
        "bilstm+drift, recast",
        "bilstm@hypothesis, recast",
    }


def test_without_a_general_set_only_what_needs_none_is_done(folders: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"linear has to be trained first; .* --suite-set scenarios=recast"):
        planned(folders, "linear", train=False)
    assert [system.row for system in planned(folders, ALL_OF_THEM, train=False, phenomena="puns").systems] == [
        "majority",
        ALL_OF_THEM,
        "linear@hypothesis, recast",
    ]
    with pytest.raises(InputError, match="scenarios 'tuned'"):
        planned(folders, "linear", scenarios="tuned")
    with pytest.raises(InputError, match="phenomena 'pans'"):
        planned(folders, "linear", phenomena="pans")


def test_phenomena_are_found_by_their_tags_or_where_the_user_says(folders: dict[str, str], tmp_path: Path) -> None:
    parts = [seen_birds(20, tags=tag).collect() for tag in ("kg_relations", "event factuality")]
    both = pl.concat(parts)
    Pairs.from_frame(both, Card(name="all", label_space=NLI2)).write(tmp_path / "all")
    own = {"dnc": str(tmp_path / "all"), "puns": folders["puns"], "walks": folders["sentiment"]}
    plan = planned(own, "linear", scenarios="recast")
    assert [part.name for part in plan.sets] == ["factuality", "puns", "relations", "walks"]
    assert set(plan.missing) == {"named-entities", "sentiment", "megaveridicality", "winogender", "verbnet"}
    assert set(plan.find_set("factuality").gold.frame["tags"].explode()) == {"event factuality"}
    again = planned({"factuality": str(tmp_path / "all")}, "linear", scenarios="recast", phenomena="factuality")
    assert set(again.find_set("factuality").gold.frame["tags"].explode()) == {"event factuality"}


def test_no_unit_is_judged_on_and_learnt_from() -> None:
    frame = seen_birds(40).collect()
    test_day = frame.filter(pl.col("split") == "test")["group"][0]
    dev_day = frame.filter(pl.col("split") == "dev")["group"][0]
    leaks = (
        frame.filter(pl.col("split") == "train")
        .head(4)
        .with_columns(pl.Series("group", [test_day, test_day, dev_day, dev_day]))
    )
    leaks = leaks.with_columns(id=pl.lit("leak-") + pl.col("id"), premise=pl.lit("Another day of ") + pl.col("group"))
    pairs = Pairs.from_frame(pl.concat([frame, leaks]), Card(name="leaky", label_space=NLI2))
    phenomenon = take_apart("leaky", pairs)
    assert phenomenon.train is not None
    assert phenomenon.dev is not None
    parts = [phenomenon.train.collect(), phenomenon.dev.collect(), phenomenon.judged.gold.frame]
    groups = [set(part["group"]) for part in parts]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    assert sum(map(len, parts)) == len(frame)
    assert phenomenon.notes == (
        "leaky: 4 pairs are left out of train and dev, as their units are judged or stopped on",
    )


def test_without_test_pairs_dev_is_judged_by_and_a_tenth_of_train_is_stopped_on() -> None:
    phenomenon = take_apart("birds", seen_birds(60, splits=("train", "train", "dev")))
    assert phenomenon.judged.gold.split == "dev"
    assert phenomenon.train is not None
    assert phenomenon.dev is not None
    assert splits_of(phenomenon.dev) == {"dev"}
    both = pl.concat([phenomenon.train.collect(), phenomenon.dev.collect()])
    assert (len(both), len(phenomenon.dev)) == (80, 8)
    assert not set(phenomenon.train.collect()["group"]) & set(phenomenon.dev.collect()["group"])
    assert not set(both["group"]) & set(phenomenon.judged.gold.frame["group"])
    assert [note.split(":")[1] for note in phenomenon.notes] == [
        " has no test pairs; judged by its dev pairs",
        " stopped on 8 of its train pairs, a tenth of the units",
    ]
    alone = take_apart("birds", seen_birds(10, splits=("dev",)))
    assert (alone.train, alone.dev) == (None, None)
    with pytest.raises(InputError, match="birds: has no test or dev pair"):
        take_apart("birds", seen_birds(10, splits=("train",)))


def test_a_scale_becomes_two_labels() -> None:
    words = ["very_likely", "likely", "plausible", "technically_possible", "impossible"]
    rows = [
        {"premise": f"Day {number}.", "hypothesis": "A heron came.", "label": word, "split": "dev"}
        for number, word in enumerate(words)
    ]
    judged = take_apart("relations", dataset("relations", rows, ORDINAL5)).judged.gold
    assert judged.frame["label"].to_list() == ["entailment"] + ["not_entailment"] * 4


def test_seeds_are_drawn_from_for_what_is_stopped_on() -> None:
    pairs = seen_birds(60, splits=("train", "train", "dev"))
    drawn = [take_apart("birds", pairs, seed=seed).dev for seed in (0, 0, 1)]
    ids = [set(take_gold(part, default="dev", advice="").frame["id"]) for part in drawn if part is not None]
    assert ids[0] == ids[1] != ids[2]


def test_hypotheses_give_away_as_much_as_the_paper_says(corpora: Path, home: Path, tmp_path: Path) -> None:
    add("dnc", [corpora / "recast_sources/dnc_published"])
    options = {"scenarios": "recast", "phenomena": "megaveridicality,sentiment"}
    results = gl.bench("recast", ["linear"], tmp_path / "bench", options=options, reference=True)
    rows = table(tmp_path / "bench", "baseline").filter(
        pl.col("model").is_in(["majority", "linear@hypothesis, recast"])
    )
    off = {(row["model"], row["set"]): row["off_paper"] for row in rows.iter_rows(named=True)}
    assert results.plan.find_set("megaveridicality").gold.split == "test"
    assert abs(off["majority", "megaveridicality"]) < 0.01
    assert abs(off["linear@hypothesis, recast", "megaveridicality"]) < 1
    assert abs(off["linear@hypothesis, recast", "sentiment"]) < 3
