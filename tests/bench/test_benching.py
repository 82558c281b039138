"""Whatever does the work and however often it is begun, a bench gives the same figures and asks nobody twice."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import goldlabel as gl
from goldlabel.bench import BenchProgress
from goldlabel.bench.model_options import choose_models
from goldlabel.errors import GoldlabelError, InputError
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.sets import evaluation_set
from goldlabel.evaluate.suite import Request, SuitePlan, System
from goldlabel.metrics import share
from goldlabel.pairs.labels import NLI2
from goldlabel.train.task import gather_task
from tests.bench.samples import Birds, Counting, pairs
from tests.evaluate.samples import Told

ENTAILED, MISSING = "tests.bench.samples:entailed", "tests.bench.samples:missing"
TRAIN = pairs("train", 60, split="train", bird="Crane")


def bench(folder: Path, models: Any = (ENTAILED, "linear", "linear@hypothesis"), **more: Any) -> BenchResults:
    return gl.bench(Birds(), models, folder, train=TRAIN, **more)


def test_figures_of_each_set_and_their_mean(tmp_path: Path) -> None:
    results = bench(tmp_path / "bench", {"always": ENTAILED})
    figures = results.to_dict()["models"]["always"]
    herons, gulls = figures["herons"]["accuracy"], figures["gulls"]["accuracy"]
    assert (herons, gulls) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert figures["mean"] == pytest.approx((herons + gulls) / 2)
    assert figures["over"] == ["herons", "gulls"]
    assert figures["snli"] == figures["in_domain"]["accuracy"] == pytest.approx(1 / 3)
    assert figures["in_domain"]["set"] == "home"
    assert figures["delta"] == pytest.approx(figures["mean"] - figures["snli"])
    gold = results.plan.find_set("gulls").gold
    expected = share(gold.frame["label"].to_numpy() == "entailment", units=gold.units)
    assert figures["gulls"]["interval"] == expected.interval
    assert (figures["gulls"]["n"], figures["gulls"]["units"]) == (60, 30)
    assert results.to_dict()["missing"] == ["terns"]


def test_the_folder_holds_figures_tables_ids_runs_and_answers(tmp_path: Path) -> None:
    results = bench(tmp_path / "bench", ["linear"], seeds=2)
    written = json.loads((tmp_path / "bench/bench.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(results.to_dict()))
    assert pl.read_csv(tmp_path / "bench/tables/table-1.csv")["model"].to_list() == ["linear"]
    settings = json.loads((tmp_path / "bench/settings.json").read_text(encoding="utf-8"))
    assert settings["models"]["linear"]["on"] == ["train"]
    assert settings["sets"]["gulls"] == {"pairs": 60, "sha256": results.plan.find_set("gulls").gold.digest}
    assert pl.read_csv(tmp_path / "bench/ids/gulls.csv")["id"].len() == 60
    assert {path.name for path in (tmp_path / "bench/runs/linear").iterdir()} == {"seed-0", "seed-1"}
    assert len(list((tmp_path / "bench/answers").glob("*.parquet"))) >= 3
    page = (tmp_path / "bench/index.html").read_text(encoding="utf-8")
    assert "terns is missing" in page
    assert page.count("<svg") == 1
    row = pl.read_csv(tmp_path / "bench/tables/accuracies.csv").row(by_predicate=pl.col("set") == "gulls", named=True)
    figures = written["models"]["linear"]["gulls"]
    assert (row["pairs"], row["units"]) == (figures["n"], figures["units"])
    told = (row["accuracy"], row["accuracy_low"], row["accuracy_high"], row["sd"])
    assert told == pytest.approx([100 * value for value in (figures["accuracy"], *figures["interval"], figures["sd"])])
    assert f"\n{row['accuracy_low']:.1f}–{row['accuracy_high']:.1f}<" in page, "no accuracy stands without its interval"
    assert "The mean is over herons, gulls, on which all models were judged." in page


def test_models_are_compared_and_their_word_is_weighed(tmp_path: Path) -> None:
    right = ["entailment", "neutral", "contradiction"] * 20
    told = {"always right": Told(right), "always neutral": Told(["neutral"] * 60)}
    document = gl.bench(Birds(), told, tmp_path / "bench", options={"shift": 0}).to_dict()
    (on_mean,) = [row for row in document["ranking"]["standings"] if row["dataset"] is None]
    assert on_mean["first"] == "always right"
    assert on_mean["difference"]["value"] == pytest.approx(2 / 3)
    assert on_mean["adjusted"] < 0.001
    page = (tmp_path / "bench/index.html").read_text(encoding="utf-8")
    assert ">&lt; 0.001<" in page
    assert ">0.000<" not in page
    calibration = document["models"]["always right"]["gulls"]["calibration"]
    assert calibration["confidence"]["value"] == pytest.approx(0.9)
    assert calibration["equal_width"]["error"]["value"] == pytest.approx(0.1)
    assert document["models"]["always right"]["gulls"]["soft_labels"] is None


def test_the_page_prints_figures_with_one_place_and_p_values_with_three(tmp_path: Path) -> None:
    class Claiming(Birds):
        def tables(self, results: BenchResults, *, reference: bool) -> dict[str, pl.DataFrame]:
            p_values = {"p": [0.0004], "p (Holm)": [0.0123]}
            return {"claims": pl.DataFrame({"points": [5.04], **p_values})}

    gl.bench(Claiming(), {"always": ENTAILED}, tmp_path / "bench")
    page = (tmp_path / "bench/index.html").read_text(encoding="utf-8")
    for printed in ("5.0", "&lt; 0.001", "0.012"):
        assert f">{printed}<" in page


def test_a_second_time_nobody_is_asked(tmp_path: Path) -> None:
    first = bench(tmp_path / "bench")
    asked = Counting.asked
    second = bench(tmp_path / "bench")
    assert Counting.asked == asked > 0
    assert second.to_dict() == first.to_dict()


def test_it_is_told_what_is_done_and_how_much_of_it(tmp_path: Path) -> None:
    phases: list[tuple[str, int | None]] = []
    answered: list[int] = []
    told = BenchProgress(on_pairs=answered.append, on_phase=lambda phase, total: phases.append((phase, total)))
    bench(tmp_path / "bench", {"name": ENTAILED, "given": Told(["neutral"] * 60)}, progress=told)
    assert phases == [("training", None), ("judging", 2 * 102), ("computing figures", None)]
    assert sum(answered) == 2 * 102
    phases.clear()
    bench(tmp_path / "bench", {"name": ENTAILED}, progress=told)
    assert ("judging", 0) in phases, "what was answered is not asked again"


def test_another_model_is_asked_alone(tmp_path: Path) -> None:
    bench(tmp_path / "bench", [ENTAILED])
    asked = Counting.asked
    bench(tmp_path / "bench", [ENTAILED, "majority"])
    assert Counting.asked == asked


def test_processes_give_the_figures_of_one_process(tmp_path: Path) -> None:
    models = [ENTAILED, "linear", "linear@hypothesis"]
    here = bench(tmp_path / "here", models, seeds=2)
    aside = bench(tmp_path / "aside", models, seeds=2, executor="processes", jobs=2)
    assert aside.to_dict() == here.to_dict()


def test_data_are_gathered_once_for_all_systems_and_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered: list[str] = []

    def counting(model: str, *arguments: Any, **options: Any) -> Any:
        gathered.append(model)
        return gather_task(model, *arguments, **options)

    monkeypatch.setattr(import_module("goldlabel.bench.training"), "gather_task", counting)
    bench(tmp_path / "whole", ["linear", "linear@hypothesis"], seeds=2)
    assert gathered == ["linear"]
    bench(tmp_path / "drawn", ["linear", "linear@hypothesis"], seeds=2, sizes=[40])
    assert gathered == ["linear"] * 3

    def trained_on(run: str) -> Any:
        config = json.loads((tmp_path / run / "config.json").read_text(encoding="utf-8"))
        return config["training"]["on"], config["training"]["options"]["reads"], config["training"]["options"]["seed"]

    (first, *_), (second, *_) = (trained_on(f"drawn/runs/linear/seed-{seed}") for seed in (0, 1))
    assert first != second
    assert trained_on("drawn/runs/linear@hypothesis/seed-1") == (second, "hypothesis", 1)


def test_seeds_are_averaged_pair_by_pair(tmp_path: Path) -> None:
    right = ["entailment", "neutral", "contradiction"] * 20
    told = {"told": Told(right), "wrong": Told(["neutral"] * 60)}
    results = gl.bench(Birds(), told, tmp_path / "bench", options={"shift": 0})
    assert results.accuracy("told", "gulls").value == 1.0
    both = BenchResults(
        suite="birds",
        plan=results.plan,
        seeds=(0, 1),
        answers={("both", "gulls"): (*results.answers["told", "gulls"], *results.answers["wrong", "gulls"])},
    )
    np.testing.assert_allclose(both.hits("both", "gulls")[:3], [0.5, 1.0, 0.5])
    assert both.accuracy("both", "gulls").value == pytest.approx(2 / 3)
    assert both.deviation("both", "gulls") == pytest.approx(np.std([1.0, 1 / 3], ddof=1))


def test_settings_go_to_those_that_know_them(tmp_path: Path) -> None:
    models = {"a": "random-forest", "b": "random-forest", "c": "majority"}
    bench(tmp_path / "bench", models, settings={"trees": "5", "b.trees": "7"})
    trained = {name: json.loads((tmp_path / f"bench/runs/{name}/seed-0/config.json").read_text()) for name in "abc"}
    options = {name: config["training"]["options"]["options"] for name, config in trained.items()}
    assert options == {"a": {"trees": 5}, "b": {"trees": 7}, "c": {}}


@pytest.mark.parametrize(
    ("models", "more", "message"),
    [
        ([], {}, "there is no model to judge"),
        ([ENTAILED, ENTAILED], {}, "two models are called"),
        (["lineer"], {}, "'lineer' is no model"),
        (["linear"], {"settings": {"wings": "2"}}, "--set wings: none of the models"),
        (["linear"], {"options": {"wings": "2"}}, "has no option 'wings'"),
        (["linear"], {"seeds": 0}, "0 seeds cannot be"),
        (["linear"], {"executor": "cloud"}, "there is no executor 'cloud'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    tmp_path: Path, models: list[str], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(GoldlabelError, match=message) as refused:
        bench(tmp_path / "bench", models, **more)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "bench").exists()


def test_a_model_that_is_trained_needs_pairs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="linear has to be trained first; say on what with --train PATH"):
        gl.bench(Birds(), ["linear"], tmp_path / "bench")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/poem.txt").write_text("a heron stands", encoding="utf-8")
    with pytest.raises(InputError, match="holds something else than a bench"):
        bench(tmp_path / "bench")
    bench(tmp_path / "other", [ENTAILED], limit=10)
    with pytest.raises(InputError, match="holds a bench with another limit \\(10\\)"):
        bench(tmp_path / "other", [ENTAILED])


def test_a_model_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    results = bench(tmp_path / "bench", [ENTAILED, "broken=tests.bench.samples:missing"])
    assert results.systems == (ENTAILED,)
    assert "has no function 'missing'" in results.failed["broken"]


def test_a_model_whose_labels_cannot_be_those_of_a_set_takes_no_other_with_it(tmp_path: Path) -> None:
    """Also where the model itself is given, and where its answers were kept."""
    ways = {"kept": ENTAILED, "given": Told(["entailment"] * 60, NLI2)}
    settings = {"kept.label_space": "nli2"}
    results = gl.bench(Birds(), {**ways, "right": ENTAILED}, tmp_path / "bench", settings=settings)
    assert results.systems == ("right",)
    for name in ways:
        assert results.failed[name].startswith("herons: scores over "), results.failed[name]


class Apart(Birds):
    """A model for each set, which are one row of the tables."""

    def plan(self, request: Request) -> SuitePlan:
        plan = super().plan(request)
        always = Told(["entailment"] * 60)
        systems = [
            System(name=f"own: {name}", reference=always, sets=(name,), part_of="own") for name in ("herons", "gulls")
        ]
        return replace(plan, systems=(*systems, System(name="all", reference=always)))


def test_models_of_different_sets_share_a_row(tmp_path: Path) -> None:
    results = gl.bench(Apart(), (), tmp_path / "bench")
    assert results.systems == ("own", "all")
    assert results.has("own", "gulls")
    assert not results.has("own", "home")
    assert results.mean("own") == results.mean("all")
    assert results.table["model"].to_list() == ["own", "all"]
    assert list(results.to_dict()["models"]) == ["own", "all"]


def test_two_models_of_a_row_are_not_judged_on_the_same_set() -> None:
    always = Told(["entailment"] * 60)
    systems = [System(name=name, reference=always, sets=("herons",), part_of="own") for name in ("a", "b")]
    plan = replace(Birds().plan(Request(options={"shift": 1})), systems=tuple(systems))
    with pytest.raises(InputError, match="two models of the row 'own' are judged on 'herons'"):
        plan.check()


def test_vectors_are_not_for_encoders() -> None:
    choices = choose_models(["train:hf:somewhere", "cbow"], {"vectors": "words.npz", "epochs": "2"}, {"device": "cpu"})
    assert [dict(choice.options) for choice in choices] == [
        {"device": "cpu", "epochs": 2},
        {"device": "cpu", "vectors": "words.npz", "epochs": 2},
    ]


@pytest.mark.parametrize(
    ("name", "in_domain", "allowed"),
    [("snli", "snli", True), ("snli", None, True), ("snli", "home", False), ("mean", None, False)],
)
def test_no_set_is_called_like_a_figure(name: str, in_domain: str | None, allowed: bool) -> None:
    sets = (evaluation_set(pairs(name, 6)), evaluation_set(pairs("home", 6)))
    plan = SuitePlan(sets=sets, systems=(System(name="told", reference=Told([])),), in_domain=in_domain)
    with nullcontext() if allowed else pytest.raises(InputError, match=f"no set can be called '{name}'"):
        plan.check()


def test_the_point_of_a_grid_that_is_best_on_dev_is_judged(tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text("lr: [0.02, 0.000000001]\n", encoding="utf-8")
    taught = pairs("train", 60, split="train", bird="Crane")
    train = gl.Pairs(pl.concat([taught.frame, pairs("dev", 30, split="dev", bird="Stork").frame]), taught.card)
    results = gl.bench(
        Birds(),
        {"tuned": "cbow", "slow": "cbow", "quick": "cbow"},
        tmp_path / "bench",
        train=train,
        settings={"epochs": "4", "hidden": "8", "slow.lr": "0.000000001", "quick.lr": "0.02"},
        grids={"tuned": str(tmp_path / "grid.yaml")},
    )
    assert results.accuracy("tuned", "gulls") == results.accuracy("quick", "gulls")
    assert results.accuracy("tuned", "gulls") != results.accuracy("slow", "gulls")
    tried = {path.parent.parent.name for path in (tmp_path / "bench/runs/tuned/seed-0").rglob("result.json")}
    assert len(tried) == 2
    with pytest.raises(InputError, match="--grid tunned: no model that is trained is called so; did you mean 'tuned'"):
        gl.bench(Birds(), {"tuned": "cbow"}, tmp_path / "other", train=train, grids={"tunned": "adv"})


def test_a_model_that_names_itself_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^no model could be judged; {MISSING}: tests.bench.samples has no function"):
        bench(tmp_path / "bench", [MISSING])
