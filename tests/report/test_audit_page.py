from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from goldlabel.audit import Audit, audit
from goldlabel.metrics import Estimate
from goldlabel.pairs import Pairs
from goldlabel.report.audit.terms import TERMS, is_command, with_terms
from goldlabel.report.audit_page import audit_page, write_audit
from goldlabel.report.page import Item, Link, Page, Section
from goldlabel.report.plots import draw_bars, draw_curve, draw_histogram
from goldlabel.report.table import Table
from goldlabel.sources.fragments.making import fragment_pairs
from tests.audit.conftest import make_pairs
from tests.cli.commands import run
from tests.report.test_page import ARTIFACTS, FLAGS
from tests.verify.ballots import ballots

LABELS = ("entailment", "neutral", "contradiction")


COLLIDING = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  // A tenth at each end is left out, as fonts differ.
  const ends = ({left, right, width}) => [left + width / 10, right - width / 10];
  return boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
    ends(a)[0] < ends(b)[1] && ends(b)[0] < ends(a)[1] && a.top + 3 < b.bottom && b.top + 3 < a.bottom
  ).map(([other]) => `${one} / ${other}`));
})"""
DANGLING = """() => [...document.querySelectorAll("a[href^='#']")].map((link) => link.getAttribute("href"))
  .filter((address) => !document.getElementById(decodeURIComponent(address.slice(1))))"""
UNLINKED = """() => {
  const shown = "article .k-about small:first-of-type, [data-table=label-errors] tbody th";
  const ids = [...document.querySelectorAll(shown)];
  const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const commands = [];
  for (let word; (word = words.nextNode()); )
    if (/goldlabel [a-z]/.test(word.data)) commands.push(word.parentElement);
  const isPair = (id) => document.querySelector(id.querySelector("a")?.getAttribute("href") ?? "nothing")
    ?.closest("article, tr").textContent.includes(id.textContent.trim());
  return [...ids.filter((id) => !isPair(id)), ...commands.filter((own) => !own.closest("a, [data-table=terms]"))]
    .map((own) => own.textContent);
}"""
SCROLLING = "() => [...document.querySelectorAll('.k-scroll')].some((own) => own.scrollWidth > own.clientWidth + 1)"


def make_audit(folder: Path) -> Audit:
    """An audit of pairs in two languages with votes, a leak and a plant, and of a model's run over three epochs."""
    parts = [fragment_pairs(language, 450, artifact="negation:contradiction:0.8") for language in ("en", "zh")]
    frame = pl.concat([part.collect() for part in parts])
    votes = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.concat_list(["label"] * 5)).otherwise(pl.col("votes"))
    split = Pairs.from_frame(frame.with_columns(votes.alias("votes")), parts[0].card).split("80:10:10").pairs.collect()
    leak = split.filter(pl.col("split") == "train").head(3)
    leak = leak.with_columns(pl.lit("test").alias("split"), pl.format("leak-{}", "id").alias("id"))
    pairs = Pairs.from_frame(pl.concat([split, leak]), replace(parts[0].card, source="https://example.org/pairs"))
    names = pairs.card.label_space.labels
    rows = []
    for number, (key, label) in enumerate(pairs.collect().select("id", "label").iter_rows()):
        for epoch in range(3):
            sure = 0.05 if number % 40 == 7 else 0.5 + 0.15 * epoch
            first, second = (name for name in names if name != label)
            rows.append({"id": key, "epoch": epoch, label: sure, first: 0.9 * (1 - sure), second: 0.1 * (1 - sure)})
    pl.DataFrame(rows).write_parquet(folder / "run.parquet")
    probabilities = str(folder / "run.parquet")
    return audit(pairs, by="language", curve=True, agreement=True, probabilities=probabilities, near=False)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of such an audit."""
    folder = tmp_path_factory.mktemp("audited")
    return write_audit(make_audit(folder), folder / "audit")


def test_the_audit_page_in_a_browser(report: Path, chromium: str) -> None:
    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, width, scheme in (("wide", 1280, "light"), ("phone", 390, "light"), ("dark", 1280, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            complaints: list[str] = []
            page.on("console", lambda message, seen=complaints: seen.append(message.text))
            page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))
            page.goto(report.resolve().as_uri())
            findings = page.locator("section").first
            assert findings.locator("h3").all_inner_texts()[:2] == ["Leaks", "Words that tell the label"]
            assert findings.locator("li").first.inner_text().startswith("3 pairs stand in more than one split.")
            assert findings.locator("details").count() == findings.locator("li").count() > 2
            page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            negated = findings.locator("li", has_text="a word of negation")
            assert negated.locator("article").count() == 3
            assert negated.locator("mark.k-word").first.is_visible()
            assert page.locator("nav a").count() == page.locator("section").count()
            assert page.locator(".drawings svg").count() == 1 + 3 + 3 + 3 + 1
            assert page.evaluate(DANGLING) == []
            assert page.evaluate(UNLINKED) == []
            assert page.locator("article.k-pair").count() > page.locator("article.k-pair[id]").count() > 9
            for link in page.locator("footer a:not([href^='#'])").all():
                address = link.get_attribute("href") or ""
                assert address == "https://example.org/pairs" or (report.parent / address).exists(), address
            errors = page.locator("[data-table=label-errors] tbody tr").first
            assert "entailment" in errors.inner_text()
            assert (errors.evaluate("row => getComputedStyle(row).display") == "block") == (name == "phone")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            assert page.evaluate(SCROLLING) == (name == "phone")
            assert page.evaluate(COLLIDING) == [], name
            if name != "wide":
                assert Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"] == [], name
            page.screenshot(path=ARTIFACTS / f"audit-{name}.png", full_page=True)
            assert complaints == []
            page.close()
        browser.close()


def test_a_link_opens_the_fold_that_it_leads_into(report: Path, chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.goto(f"{report.resolve().as_uri()}#pair-2")
        assert page.locator("#pair-2").is_visible()
        assert page.locator("details[open]").count() == 1
        browser.close()


def test_terms_mean_what_the_commands_say() -> None:
    for term in TERMS:
        if is_command(term.name):
            text = run(*term.name.split()[1:], "--help").stdout
            assert " ".join(term.meaning.split()) in " ".join(text.split()), term.name


def test_words_of_the_data_are_no_terms() -> None:
    finding = Item("73.0 % of hypotheses with “gain” are neutral. Drop them with goldlabel data duplicates --drop.")
    section = Section(heading="Findings", text="The gain, by PMI.", items=[finding])
    page = with_terms(Page(title="", lead="", sections=[section], footer="Made by goldlabel audit."))
    links = [piece.text for piece in page.sections[0].items[0].text if isinstance(piece, Link)]
    assert links == ["goldlabel data duplicates"]
    assert [piece.text for piece in page.sections[0].text if isinstance(piece, Link)] == ["gain", "PMI"]
    table = page.sections[-1].table
    assert isinstance(table, Table)
    assert [row[0].value for row in table.cells] == [
        "gain", "pointwise mutual information", "goldlabel audit", "goldlabel data duplicates",
    ]  # fmt: skip


def test_groups_have_intervals_and_an_empty_table_is_told() -> None:
    pairs = make_pairs(
        *(
            {
                "premise": f"Owl {n}.",
                "hypothesis": f"Bird {n}." + " Yes." * (n % 5),
                "label": LABELS[n % 3],
                "genre": "ab"[n % 2],
            }
            for n in range(60)
        )
    )
    sections = {section.heading: section for section in audit_page(audit(pairs, by="genre", near=False)).sections}
    table = sections["By genre"].table
    assert isinstance(table, Table)
    names = [column.name for column in table.heads]
    for column in ("hypothesis only", "gain, points", "overlap", "length"):
        figures = [row[names.index(column)].value for row in table.cells]
        assert all(isinstance(figure, Estimate) and figure.interval for figure in figures), column
    assert sections["Competency statistics"].table is None
    assert "None does" in sections["Competency statistics"].text[-1]


def test_words_are_never_taken_for_markup() -> None:
    drawn = draw_bars("</svg><script>", [("<b>", 0.5, "1/2"), ("猫", -0.1, "")], top=1.0, shows="x").svg
    assert "<script>" not in drawn
    assert "&lt;b&gt;" in drawn
    assert "猫" in drawn


def test_drawings_take_the_colours_of_the_page() -> None:
    drawings = [
        draw_bars("t", [("a", 0.5, "1/2")], top=1.0, shows="x"),
        draw_histogram("t", [0.2, 0.8], [0.5, 0.5], ticks=("0", "1"), x_name="x", top=1, note="n", shows="x"),
        draw_curve("t", [(10, 0.4, 0.3, 0.5), (1000, 0.6, 0.5, 0.7)], floor=0.3, floor_name="floor", shows="x"),
    ]
    for drawing in drawings:
        assert drawing.svg.startswith("<svg")
        assert "var(--bar)" in drawing.svg
        assert "#0102" not in drawing.svg
    assert draw_bars("t", [], top=1.0, shows="x").svg.startswith("<svg")


def test_a_small_audit_without_drawable_figures_is_still_a_page(tmp_path: Path) -> None:
    rows = [(f"premise {n}", "?!", ("neutral", "entailment")[n % 2]) for n in range(12)]
    found = audit(make_pairs(*rows), near=False)
    assert found.findings == []
    assert found.whole.overlap.mean.value is None
    text = write_audit(found, tmp_path / "audit").read_text(encoding="utf-8")
    assert "Nothing stands out." in text
    assert "nan" not in text.lower().replace("nanum", "")


def test_an_audit_over_an_audit_leaves_nothing_of_it(tmp_path: Path) -> None:
    rows = [(f"premise {n}", f"text {n % 4}", ("neutral", "entailment")[n % 2]) for n in range(24)]
    pairs, folder = make_pairs(*rows), tmp_path / "audit"
    first = audit(pairs, label_errors="majority", near=False)
    write_audit(first, folder, filtered=first.hard_subset())
    (folder / "notes.txt").write_text("mine")
    assert {"label_errors.csv", "aflite"} <= {path.name for path in folder.iterdir()}
    write_audit(audit(pairs, near=False), folder)
    assert {path.name for path in folder.iterdir()} == {
        "index.html", "audit.json", "groups.csv", "findings.csv", "pmi.csv", "competency.csv", "hard", "notes.txt",
    }  # fmt: skip


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    rows = [
        {
            "premise": f"Satz {n}",
            "hypothesis": f"Wort {n % 4}",
            "label": ("neutral", "entailment")[n % 2],
            "language": "de",
        }
        for n in range(24)
    ]
    found = audit(make_pairs(*rows), near=False, label_errors="majority")
    text = write_audit(found, tmp_path / "audit").read_text(encoding="utf-8")
    assert found.whole.tags is None
    assert "tags are undefined" in text
    nameless = audit(make_pairs(*({**row, "language": None} for row in rows)), near=False)
    assert (nameless.without_language, nameless.whole.negators, nameless.whole.foreign_text) == (24, None, None)
    assert "language of 24 pairs is not known" in write_audit(nameless, tmp_path / "other").read_text(encoding="utf-8")
    assert "too weak to accuse anybody" in text


@pytest.mark.parametrize(("author", "times"), [("first", 1), ("none", 0)])
def test_no_author_is_invented(author: str, times: int, tmp_path: Path) -> None:
    cast = ("eee", "nnn", "ccc", "een", "nnc") * 12
    pairs = ballots(*cast, labels="".join(votes[0] for votes in cast), author=author)
    page = write_audit(audit(pairs, agreement=True, near=False), tmp_path / "audit").read_text(encoding="utf-8")
    assert "a vote is the gold label" in page
    assert page.count("the gold label is the author") == times
