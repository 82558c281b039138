"""A report shows what rooms wrote, says what is missing, and refuses what is none of their results."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright
from typer.testing import CliRunner

import goldlabel as gl
from goldlabel.audit import audit
from goldlabel.cli.app import app
from goldlabel.errors import InputError
from goldlabel.evaluate.changes import compare_answers
from goldlabel.evaluate.results import BenchResults
from goldlabel.evaluate.suites.off_paper import PaperCell, off_paper_table, published_share
from goldlabel.metrics import p_in_words, wilson
from goldlabel.report.audit_page import write_audit
from goldlabel.report.report import report
from goldlabel.sources.fragments.making import fragment_pairs
from goldlabel.verify import verify
from tests.bench.samples import Birds, pairs
from tests.report.test_page import ARTIFACTS, FLAGS
from tests.verify.ballots import ballots

NASTY = "a<b>&_%$\\x/../猫"
TRAIN = pairs("train", 60, split="train", bird="Crane")


class Claiming(Birds):
    """With a table that has a p-value."""

    def tables(self, results: BenchResults, *, reference: bool) -> dict[str, pl.DataFrame]:
        return {"claims": pl.DataFrame({"claim": ["herons are easy"], "points": [5.04], "p": [0.0004]})}


Claiming.__name__ = "Birds"  # a suite that is no name is called by its class


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two benches of one suite, an audit, a verified dataset and two runs."""
    folder = tmp_path_factory.mktemp("results")
    models = {"linear": "linear", "blind": "linear@hypothesis", NASTY: "tests.bench.samples:entailed"}
    gl.bench(Birds(), models, folder / "before", train=TRAIN, sizes=[30])
    gl.bench(Claiming(), models, folder / "after", train=TRAIN, slices=True, seeds=2)
    made = fragment_pairs("zh", 300, artifact="negation:contradiction:0.8").split("80:10:10").pairs
    write_audit(audit(made, near=False, tokenizer="characters"), folder / "audit")
    gl.train("linear", made, folder / "runs" / "linear")
    gl.train("majority", made, folder / "runs" / "floor")
    verify(ballots(*("eee", "nne", "ccn", "een", "nnc") * 8)).write(folder / "verified")
    return folder


def make(output: Path, *folders: Path, **more: Any) -> tuple[str, dict[str, Any]]:
    made = report(folders, output, **more).to_dict()
    return (output / "index.html").read_text(encoding="utf-8"), made


def test_one_page_of_everything(results: Path, tmp_path: Path) -> None:
    given = [results / name for name in ("after", "audit", "verified", "runs")]
    asked = CliRunner().invoke(app, ["report", *map(str, given), "-o", str(tmp_path / "out"), "--json"])
    assert asked.exit_code == 0, asked.output
    told = json.loads(asked.stdout)
    there = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert set(told["files"]) == there
    plots = {Path(name).stem for name in there if name.startswith("plots/")}
    assert {f"plots/{name}.svg" for name in plots} <= there
    tables = {name.rpartition(".")[0] for name in there if name.startswith("tables/")}
    assert all({f"{name}.csv", f"{name}.md", f"{name}.tex"} <= there for name in tables)
    html = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    figures = json.loads((results / "after/bench.json").read_text(encoding="utf-8"))["ranking"]["means"]
    best = max(figures, key=lambda model: figures[model]["value"])
    assert f"{100 * figures[best]['value']:.1f} % ({100 * figures[best]['interval'][0]:.1f} to" in told["headline"]
    for heading in (
        "Models and datasets", "At home and away", "Who is better", "Kinds of pairs",
        "How sure, how right", "Where models disagree", "Training", "What fragments-zh gives away",
        "Agreement on", "What is missing", "Manifest",
    ):  # fmt: skip
        assert f"<h2>{heading}" in html, heading
    assert "extinct" in html
    assert "Beside the paper" not in html, "there is no paper of a suite of one's own"
    assert "<b>&amp;" not in html
    assert "a&lt;b&gt;&amp;_%$" in html
    assert "over seeds</small>" in html
    assert re.search(r"birds-claims.*>herons are easy<.*>5.0<.*>p\xa0&lt;\xa00.001<", html, flags=re.S)
    assert "Crane" not in html, "no text of a pair without the user's own files"
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_texts_come_from_the_users_own_files_alone(results: Path, tmp_path: Path) -> None:
    gulls = pairs("gulls", 60, shift=1).write(tmp_path / "gulls")
    assert len(gulls) == 60
    html, _ = make(tmp_path / "out", results / "after", data={"gulls": str(tmp_path / "gulls")})
    assert "k-hypothesis" in html.rpartition("</style>")[2]
    without, _ = make(tmp_path / "out", results / "after")
    assert "k-hypothesis" not in without.rpartition("</style>")[2]
    assert "their texts are not in your library" in without


def test_two_runs_show_what_changed(results: Path, tmp_path: Path) -> None:
    html, _ = make(tmp_path / "out", results / "before", results / "after")
    assert "What changed in birds" in html
    changes = pl.read_csv(tmp_path / "out/tables/birds-changes.csv")
    before, after = (json.loads((results / name / "bench.json").read_text()) for name in ("before", "after"))
    row = changes.row(by_predicate=(pl.col("model") == "linear") & (pl.col("set") == "gulls"), named=True)
    old, new = (100 * document["models"]["linear"]["gulls"]["accuracy"] for document in (before, after))
    assert (row["before"], row["after"], row["difference"]) == pytest.approx((old, new, new - old))
    answers = [pl.read_parquet(results / name / "labels.parquet") for name in ("before", "after")]
    tests = compare_answers(*answers, ("herons", "gulls"))
    expected = next(own for own in tests if (own.system, own.dataset) == ("linear", "gulls"))
    ends = expected.difference.percent()
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((ends.low, ends.high))
    assert row["test"] == p_in_words(expected.adjusted)
    assert set(changes["changed"]) <= {"better", "worse", "could be chance"}
    assert changes["set"][0].startswith("mean of"), "the means come first"


def test_two_audits_of_a_dataset_show_what_changed(results: Path, tmp_path: Path) -> None:
    old = json.loads((results / "audit/audit.json").read_text())
    new = deepcopy(old)
    measures = new["measures"]
    kept, moved, gone = [name for name, value in measures.items() if value is not None][:3]
    measures[moved] -= 0.125
    measures |= {gone: None, "unheard_of": 0.5}
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit/audit.json").write_text(json.dumps(new))
    html, _ = make(tmp_path / "out", results / "audit", tmp_path / "audit")
    assert f"What changed in {old['name']}" in html
    changes = pl.read_csv(tmp_path / f"out/tables/changes-{old['name']}.csv")
    first, last = str(results / "audit"), str(tmp_path / "audit")
    assert changes.columns == ["measure", first, last, "difference"], "two folders of one name are told apart"
    rows = {row.pop("measure"): row for row in changes.iter_rows(named=True)}
    before = old["measures"]
    assert rows[kept] == {first: before[kept], last: before[kept], "difference": 0.0}
    assert (rows[moved][first], rows[moved][last]) == (before[moved], measures[moved])
    assert rows[moved]["difference"] == pytest.approx(-0.125)
    assert rows[gone] == {first: before[gone], last: None, "difference": None}
    assert rows["unheard_of"] == {first: None, last: 0.5, "difference": None}
    one, _ = make(tmp_path / "one", results / "audit")
    assert "What changed" not in one


def test_a_bench_that_kept_no_units_is_not_tested(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "before", tmp_path / "before")
    labels = tmp_path / "before/labels.parquet"
    pl.read_parquet(labels).drop("unit", "right").write_parquet(labels)
    html, _ = make(tmp_path / "out", tmp_path / "before", results / "after")
    assert "before did not keep its answers with their units, so nothing is tested" in html
    assert "test" not in pl.read_csv(tmp_path / "out/tables/birds-changes.csv").columns


def test_delta_and_differences_to_a_paper_have_intervals(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "after", tmp_path / "after")
    for file in ("settings.json", "bench.json"):
        path = tmp_path / "after" / file
        path.write_text(path.read_text(encoding="utf-8").replace('"suite": "birds"', '"suite": "cross"'))
    html, _ = make(tmp_path / "lacking", tmp_path / "after")
    assert "with --reference" in html
    figures = json.loads((tmp_path / "after/bench.json").read_text(encoding="utf-8"))["models"]["linear"]
    away = pl.read_csv(tmp_path / "lacking/tables/cross-home-and-away.csv")
    row = away.row(by_predicate=pl.col("model") == "linear", named=True)
    assert [row["Δ_low"], row["Δ_high"]] == pytest.approx([100 * end for end in figures["delta_interval"]])
    assert row["Δ_low"] < row["Δ"] < row["Δ_high"]
    ours, paper = wilson(60, 100), published_share(58.0, 400)
    cells = [PaperCell("table-5", "linear", "Gulls", ours, paper)]
    off_paper_table(cells).write_csv(tmp_path / "after/tables/off-paper.csv")
    html, _ = make(tmp_path / "out", tmp_path / "after")
    assert "1 of 1 cells are within two points of the paper&#39;s, and of 1 the interval holds no difference" in html
    shown = pl.read_csv(tmp_path / "out/tables/cross-paper.csv").row(0, named=True)
    ends = cells[0].difference.percent()
    assert (shown["difference"], shown["difference_low"]) == pytest.approx((ends.value, ends.low))


def test_half_of_a_run_is_a_page_that_says_what_is_missing(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "after", tmp_path / "after")
    (tmp_path / "after/bench.json").unlink()
    shutil.copytree(results / "runs/linear", tmp_path / "run")
    (tmp_path / "run/result.json").unlink()
    html, told = make(tmp_path / "out", tmp_path / "after", tmp_path / "run")
    assert "The bench after is not finished: 4 of the 4 runs that were begun are finished" in html
    assert "The run run is not finished" in html
    assert len(told["missing"]) == 2
    assert "no score yet" in (tmp_path / "out/MODEL_CARD-run.md").read_text(encoding="utf-8")


def test_a_sweep_is_read_in_order_and_drawn_as_a_learning_curve(results: Path, tmp_path: Path) -> None:
    for size in (2000, 90):
        folder = tmp_path / f"sweep/size-{size}/seed-0"
        shutil.copytree(results / "runs/linear", folder)
        environment = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        environment["settings"]["options"]["size"] = size
        (folder / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    html, _ = make(tmp_path / "out", tmp_path / "sweep")
    table = pl.read_csv(tmp_path / "out/tables/training.csv")
    assert table.select("run", "pairs").rows() == [("sweep, size 90, seed 0", 90), ("sweep, size 2000, seed 0", 2000)]
    assert "Accuracy on fragments-zh by the number of pairs trained on: linear" in html


def test_models_that_learn_may_have_no_mean(results: Path, tmp_path: Path) -> None:
    """As where each is trained for some sets alone, and only the majority was judged on all of them."""
    shutil.copytree(results / "after", tmp_path / "after")
    settings, figures = (tmp_path / "after" / name for name in ("settings.json", "bench.json"))
    document = json.loads(figures.read_text(encoding="utf-8"))
    means = document["ranking"]["means"]
    document["ranking"] |= {"means": {NASTY: means[NASTY]}, "standings": []}
    figures.write_text(json.dumps(document))
    described = json.loads(settings.read_text(encoding="utf-8"))
    described["models"][NASTY] = {"object": "Majority"}
    described["models"] = {
        f"{name}: gulls" if name == "linear" else name: own for name, own in described["models"].items()
    }
    settings.write_text(json.dumps(described))
    html, told = make(tmp_path / "out", tmp_path / "after")
    assert told["headline"].endswith("as none that learns was judged on all of them, there is no mean to compare.")
    assert "mean of" not in html.partition("<h2>Models and datasets")[2].partition("<h2>")[0]


def break_json(folder: Path) -> None:
    (folder / "audit.json").write_text("{")


def break_fields(folder: Path) -> None:
    (folder / "audit.json").write_text('{"groups": {}}')


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (break_json, "audit.json: cannot be read"),
        (break_fields, "audit.json: is not what this version of Goldlabel writes"),
        (
            lambda folder: None,
            "is no result of bench, audit, verify, train or collect round report; such a folder has settings.json",
        ),
        (lambda folder: folder.rmdir(), "is not there"),
    ],
)
def test_what_is_no_result_is_told_in_a_line(spoil: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    spoil(tmp_path / "given")
    with pytest.raises(InputError, match=message) as told:
        report([tmp_path / "given"], tmp_path / "out")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "out").exists()


def test_nothing_of_somebody_else_is_replaced(results: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than a report"):
        report([results / "audit"], tmp_path)
    with pytest.raises(InputError, match="is a result itself"):
        report([results / "audit"], results / "audit")


def test_cards_have_the_front_matter_of_the_hub(results: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    make(tmp_path / "out", results / "after", results / "audit", results / "verified", results / "runs")
    text = (tmp_path / "out/MODEL_CARD-linear.md").read_text(encoding="utf-8")
    fields = yaml.safe_load(text.split("---")[1])
    assert fields["datasets"] == ["fragments-zh"]
    result = json.loads((results / "runs/linear/result.json").read_text(encoding="utf-8"))
    score = result["dev"]["fragments-zh"]
    card = hub.ModelCard(text).data
    assert card.eval_results[0].metric_value == pytest.approx(score["value"], abs=1e-4)
    assert f"{100 * score['value']:.1f} ({100 * score['interval'][0]:.1f}–{100 * score['interval'][1]:.1f})" in text
    assert "What its training data fragments-zh gives away" in text
    judged = yaml.safe_load((tmp_path / "out/MODEL_CARD-linear-seed-0.md").read_text(encoding="utf-8").split("---")[1])
    assert {own["dataset"]["name"] for own in judged["model-index"][0]["results"]} >= {"herons", "gulls", "home"}
    dataset = (tmp_path / "out/DATASET_CARD.md").read_text(encoding="utf-8")
    assert hub.DatasetCard(dataset).data.task_ids == ["natural-language-inference"]
    assert "## Agreement" in dataset
    assert dataset.startswith((results / "verified/README.md").read_text(encoding="utf-8").rstrip())


def test_the_report_in_a_browser(results: Path, tmp_path: Path, chromium: str) -> None:
    make(tmp_path / "out", results / "before", results / "after", results / "audit", results / "runs")
    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, width, scheme in (("wide", 1280, "light"), ("phone", 390, "light"), ("dark", 1280, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            complaints: list[str] = []
            page.on("console", lambda message, seen=complaints: seen.append(message.text))
            page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))
            page.goto((tmp_path / "out/index.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            found = Axe().run(page).response["violations"]
            assert [own["id"] for own in found if own["impact"] in ("serious", "critical")] == [], name
            if name == "wide":
                _sort_and_filter(page)
            page.screenshot(path=ARTIFACTS / f"report-{name}.png", full_page=True)
            assert complaints == []
            page.close()
        browser.close()


def _sort_and_filter(page: Page) -> None:
    table = page.locator('[data-table="birds-slices"]')
    column = table.get_by_role("columnheader", name="accuracy")
    values = "rows => rows.filter(r => !r.hidden).map(r => Number(r.cells[4].dataset.value))"
    for order in ("descending", "ascending"):
        column.get_by_role("button").click()
        assert column.get_attribute("aria-sort") == order
        shown = table.locator("tbody tr").evaluate_all(values)
        assert shown == sorted(shown, reverse=order == "descending")
    table.get_by_role("searchbox").fill("BLIND gulls")
    rows = table.locator("tbody tr:visible")
    assert rows.count() > 0
    assert all("blind" in text and "gulls" in text for text in rows.all_inner_texts())


def test_models_that_share_no_set_have_no_mean(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "before", tmp_path / "before")
    path = tmp_path / "before/bench.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["models"]["linear"]["gulls"], document["models"]["blind"]["herons"], document["models"][NASTY]["gulls"]
    document["ranking"] |= {"means": {}, "standings": []}
    path.write_text(json.dumps(document), encoding="utf-8")
    _, told = make(tmp_path / "out", tmp_path / "before")
    assert told["headline"].startswith("By the suite birds, 3 models were judged on 3 sets")
    columns = pl.read_csv(tmp_path / "out/tables/birds-accuracies.csv").columns
    assert [name for name in columns if "_" not in name] == ["model", "herons", "home", "gulls"]
