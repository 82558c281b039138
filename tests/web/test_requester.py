from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select

from goldlabel.audit.figures import count_of
from goldlabel.collect import projects
from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.money.ledger import totals
from goldlabel.collect.money.recount import check
from goldlabel.collect.people import qualification
from goldlabel.collect.people.people import roles
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import checks, invites, ledger, pairs, premises
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.queues import QueueLine, queue_progress
from goldlabel.pairs import read
from goldlabel.web.downloads import attachment, file_name
from tests.collect.campaign import bring_pairs, join, small_protocol, verify_all, write_all
from tests.web.world import Visitor, World, objects, populate

FORM = {"name": "meadow", "kind": "elicitation", "language": "en"}


@pytest.fixture
def boss(empty: World) -> Visitor:
    return empty.visitor("boss")


def made(world: World, name: str = "multi", **changes: Any) -> int:
    """Make a project of the boss; return its id."""
    protocol = replace(small_protocol(name, verifiers=2), **changes)
    with world.store.write() as tx:
        return create_project(tx, "meadow", protocol, by=world.people["boss"], seed=7).id


def heading(page: str) -> str:
    """The words of the first heading."""
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    assert found is not None
    return unescape(re.sub(r"<[^>]+>", "", found[1])).strip()


def shown(visitor: Visitor, address: str) -> int:
    """How many pairs a list of pairs says that it shows."""
    answer = visitor.get(address)
    assert answer.status_code == 200, address
    return int(heading(answer.text).split()[0].replace(",", ""))


def test_a_project_is_made(empty: World, boss: Visitor) -> None:
    answer = boss.post("/projects", {**FORM, "conditions": ["single", "multi-constraint"]})
    assert answer.status_code == 303
    with empty.store.read() as tx:
        found = projects.project_named(tx, "meadow")
        assert set(roles(tx, found.id, empty.people["boss"])) == {"requester"}
    assert [one.name for one in found.protocol.conditions] == ["single", "multi-constraint"]
    assert answer.headers["location"] == f"/projects/{found.id}"
    page = boss.get(answer.headers["location"]).text
    assert "nothing to write about yet" in page


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "No condition is chosen"),
        ({"conditions": "mutli"}, "did you mean &#39;multi&#39;?"),
        ({"conditions": "single", "name": " "}, "name has 0 characters"),
        ({"conditions": "single", "language": "fr"}, "no protocol for language &#39;fr&#39;"),
        ({"kind": "guessing"}, "no protocol &#39;guessing&#39;"),
        ({"kind": "human-baseline", "name": "x" * 101}, "name has 101 characters"),
    ],
)
def test_a_project_that_cannot_be(empty: World, boss: Visitor, change: dict[str, Any], told: str) -> None:
    answer = boss.post("/projects", {**FORM, **change})
    assert answer.status_code == 422
    assert told in answer.text
    assert unescape(str({**FORM, **change}["name"])) in unescape(answer.text)
    assert empty.one(select(func.count()).select_from(projects.projects)) == 0


def test_two_projects_of_one_name(boss: Visitor) -> None:
    form = {**FORM, "conditions": "single"}
    assert boss.post("/projects", form).status_code == 303
    answer = boss.post("/projects", form)
    assert answer.status_code == 409
    assert "already; choose another name" in answer.text


@pytest.mark.parametrize("kind", ["single", "human-baseline", "vetting"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_of_a_new_project(empty: World, boss: Visitor, kind: str, language: str) -> None:
    with empty.store.write() as tx:
        found = create_project(tx, "meadow", make_protocol(kind, language), by=empty.people["boss"])
    parts = ("", "/progress", "/figures", "/pairs", "/people", "/invitations", "/texts", "/ledger", "/checks")
    for part in (*parts, "/settings", "/export", "/queue", "/premises", "/import"):
        assert boss.get(f"/projects/{found.id}{part}").status_code == 200, part
    assert empty.export(boss, found.id, audit="true").headers["content-type"] == "application/zip"


def test_premises_are_uploaded_with_a_report(empty: World, boss: Visitor) -> None:
    project_id = made(empty)
    rows = (
        "premise,genre,mood\nThe old ferry leaves at nine.,news,calm\nShort.,news,\nThe old ferry leaves at nine.,,\n"
    )
    file = {"file": ("pool.csv", rows.encode(), "text/csv")}
    answer = boss.send(f"/projects/{project_id}/premises", {"genre": "letters", "source": "invented"}, files=file)
    assert answer.status_code == 200
    text = unescape(answer.text)
    assert "1 of 3 sentences were added" in text
    assert "1: shorter than 20 characters" in text
    assert 'line 3: <span lang="en">Short.</span>' in text
    assert "1: a duplicate" in text
    with empty.store.read() as tx:
        row = tx.one(select(premises))
        assert row is not None
        assert (row.genre, row.source, row.meta) == ("news", "invented", {"mood": "calm"})
    typed = boss.send(
        f"/projects/{project_id}/premises", {"text": "A lamp burns in the harbour.\n\nThe old ferry leaves at nine."}
    )
    assert "1 of 2 sentences were added" in typed.text
    assert heading(typed.text) == "Given sentences"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("pool.csv", b"premise\n\xff\n", "pool.csv line 2: is not UTF-8"),
        ("pool.pdf", b"%PDF", "format of premises is not known"),
        ("pool.jsonl", b'{"premise": "x"', "pool.jsonl line 1: is not valid JSON"),
        ("pool.csv", b"a,b\n1,2\n", "no column holds the premise among a, b"),
        ("../../etc/passwd.txt", b"", "0 of 0"),
    ],
)
def test_uploads_that_cannot_be_read(empty: World, boss: Visitor, name: str, data: bytes, told: str) -> None:
    project_id = made(empty)
    answer = boss.send(f"/projects/{project_id}/premises", files={"file": (name, data, "text/plain")})
    assert told in unescape(answer.text)
    assert empty.one(select(func.count()).select_from(premises)) == 0


def test_an_upload_of_nothing(empty: World, boss: Visitor) -> None:
    answer = boss.post(f"/projects/{made(empty)}/premises", {"text": " \n"})
    assert answer.status_code == 422
    assert "There is neither a file nor text" in answer.text


def test_pairs_are_imported_all_or_none(empty: World, boss: Visitor) -> None:
    project_id = made(empty)
    rows = [
        {"sentence1": "A heron stands in the reeds.", "sentence2": "A bird waits.", "gold_label": "entailment"},
        {"sentence1": "A heron stands in the reeds.", "sentence2": "A fish flies.", "gold_label": "contradiction"},
    ]
    good = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    bad = good + orjson.dumps({**rows[0], "gold_label": "perhaps"}) + b"\n"
    address = f"/projects/{project_id}/pairs"
    answer = boss.post(address, {"origin": "gold"}, files={"file": ("gold.jsonl", bad)})
    assert answer.status_code == 422
    assert "gold.jsonl line 3" in unescape(answer.text)
    assert "goldlabel-" not in answer.text
    assert empty.one(select(func.count()).select_from(pairs)) == 0
    answer = boss.send(address, {"origin": "gold"}, files={"file": ("gold.jsonl", good)})
    assert "gold.jsonl: 2 of 2 pairs were added" in answer.text
    assert shown(boss, f"{address}?origin=gold") == 2
    assert shown(boss, address) == 0
    answer = boss.post(address, {"origin": "imported"}, files={"file": ("gold.jsonl", good)})
    assert "import pairs as foreign or gold" in answer.text
    answer = boss.post(address, {"origin": "gold"}, files={"file": ("gold.parquet", good)})
    assert "format of pairs is not known" in answer.text


def test_texts_are_previewed_saved_and_restored(empty: World, boss: Visitor) -> None:
    address = f"/projects/{made(empty)}/texts"
    assert "<h1>Writing sentences</h1>" in boss.get(address).text
    form = {"name": "multi", "text": "# Mine\r\n\r\nBe **kind**."}
    preview = boss.post(address, {**form, "action": "preview"}).text
    assert "<strong>kind</strong>" in preview
    assert "nothing is saved yet" in preview
    assert "<h1>Mine</h1>" not in boss.get(address).text
    assert boss.post(address, {**form, "action": "save"}).status_code == 303
    assert "<h1>Mine</h1>" in boss.get(f"{address}?name=multi").text
    assert "<h1>Mine</h1>" not in boss.get(f"{address}?name=verifying").text
    assert boss.post(address, {**form, "action": "save", "text": " "}).status_code == 422
    assert boss.post(address, {**form, "action": "restore"}).status_code == 303
    assert "<h1>Writing sentences</h1>" in boss.get(address).text
    assert boss.get(f"{address}?name=single").status_code == 404
    assert boss.post(address, {**form, "name": "single", "action": "save"}).status_code == 404


def test_links_are_made_and_taken_back(empty: World, boss: Visitor) -> None:
    address = f"/projects/{made(empty, 'single,multi')}/invitations"
    form = {"role": "writer", "condition": "multi", "exclusive": "true", "uses": "3", "days": "2"}
    page = boss.send(address, form).text
    link = re.search(r'value="http://localhost(/invite/[\w-]+)"', page)
    assert link is not None
    assert link[1] not in boss.get(address).text
    assert empty.visitor().get(link[1]).status_code == 200
    row = empty.one(select(invites.c.id))
    assert boss.post(f"{address}/{row}/revoke").status_code == 303
    assert "taken back" in boss.get(address).text
    assert empty.visitor().get(link[1]).status_code == 410
    bad = boss.post(address, {**form, "condition": "single-ish"})
    assert (bad.status_code, "no condition" in bad.text) == (422, True)
    assert boss.post(address, {**form, "uses": "0"}).status_code == 422
    assert boss.post(address, {"role": "verifier", "condition": "multi"}).status_code == 303


def test_settings_are_changed(empty: World, boss: Visitor) -> None:
    project_id = made(empty)
    address = f"/projects/{project_id}/settings"
    page = boss.get(address).text
    form = dict(re.findall(r'name="([a-z]+\.[a-z_]+)" value="([^"]*)"', page))
    del form["qualification.second_factor"]  # a box that is not ticked; only who has a second factor may ask for it
    assert form["verifying.share"] == "100"
    assert form["writing.cap"] == "500"
    form |= {"verifying.share": "12.5", "writing.cap": "", "pay.pair": "0.45", "qualification.pause": "yes"}
    assert boss.post(address, {**form, "conditions": ["multi", "single"]}).status_code == 303
    with empty.store.read() as tx:
        protocol = projects.project(tx, project_id).protocol
    assert protocol.verifying.share == 0.125
    assert protocol.writing.cap is None
    assert str(protocol.pay.pair) == "0.45"
    assert protocol.qualification.pause
    assert [one.name for one in protocol.conditions] == ["multi", "single"]
    for wrong, told in (
        (
            {"verifying.share": "150"},
            "Share of the pairs that is judged: '150' cannot be used; give per cent from 0 to 100",
        ),
        ({"verifying.share": "many"}, "Share of the pairs that is judged: 'many' cannot be used"),
        ({"writing.batch": "2.5"}, "Given sentences in a batch: '2.5' cannot be used; give a whole number from 1 to"),
        ({"pay.pair": "cheap"}, "Per written pair: 'cheap' cannot be used; give an amount from 0 to"),
        ({"pay.currency": "eur"}, "Setting 'Currency' is 'eur'; allowed: a code such as CNY"),
    ):
        answer = boss.post(address, {**form, **wrong})
        assert answer.status_code == 422
        assert told in unescape(answer.text)
        assert next(iter(wrong.values())) in answer.text
    with empty.store.read() as tx:
        assert projects.project(tx, project_id).protocol == protocol


def test_pausing_stops_tasks(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=4)
    address = f"/projects/{world.project}"
    assert boss.post(f"{address}/state", {"state": "paused"}).headers["location"] == address
    assert "nobody gets new tasks" in boss.get(address).text
    assert "paused this project" in world.visitor("writer1").get(f"{address}/write").text
    assert boss.post(f"{address}/state", {"state": "running"}).status_code == 303
    assert "nobody gets new tasks" not in boss.get(address).text
    assert boss.post(f"{address}/state", {"state": "gone"}).status_code == 422


def test_people_are_shown_and_changed(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=6)
    address = f"/projects/{world.project}/people"
    page = boss.get(address).text
    with world.store.read() as tx:
        everybody = qualification.people_overview(tx, world.project)
    assert all(one.pseudonym in page for one in everybody)
    assert "@label.example" not in page
    writer, name = world.people["writer"], world.called("writer")
    one = boss.get(f"{address}/{name}")
    assert "bonus: kind" in one.text
    change = {"state": "paused", "condition": "multi-constraint", "exclusive": "true"}
    assert boss.post(f"{address}/{name}/writer", change).status_code == 303
    with world.store.read() as tx:
        member = roles(tx, world.project, writer)["writer"]
    assert (member.state, member.exclusive) == ("paused", True)
    assert boss.post(f"{address}/{name}/verifier", {"state": "paused"}).status_code == 404
    assert boss.post(f"{address}/{name}/owner", {"state": "paused"}).status_code == 422
    assert boss.get(f"{address}/{writer}").status_code == 404
    assert boss.post(f"{address}/{name}/training/again").status_code == 409


def test_a_line_is_given_once_and_taken_back_once(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=4)
    address = f"/projects/{world.project}/ledger"
    page = boss.get(address).text
    key = re.search(r'name="key" value="(\w+)"', page)
    assert key is not None
    writer, name = world.people["writer"], world.called("writer")
    before = _total(world, writer)
    form = {"to": name, "kind": "penalty", "amount": "0.25", "reason": "copied", "key": key[1]}
    assert [boss.post(address, form).status_code for _ in range(2)] == [303, 303]
    assert _total(world, writer) == before - 0.25
    line = world.one(select(ledger.c.id).order_by(ledger.c.id.desc()))
    assert boss.post(f"{address}/{line}/reverse", {"reason": " "}).status_code == 422
    answer = boss.post(f"{address}/{line}/reverse", {"reason": "was not", "next": f"{address}?person={name}"})
    assert answer.headers["location"] == f"{address}?person={name}"
    assert boss.post(f"{address}/{line}/reverse", {"reason": "was not"}).status_code == 303
    assert _total(world, writer) == before
    assert "taken back" in boss.get(address).text
    for wrong in ({"amount": "much"}, {"amount": "-1"}, {"amount": "0.00001"}, {"reason": ""}, {"kind": "base"}):
        assert boss.post(address, {**form, "key": "other", **wrong}).status_code == 422
    assert boss.post(address, {**form, "amount": "9"}).status_code == 409
    with world.store.read() as tx:
        assert check(tx, world.project) == []


def test_checks_cost_what_the_protocol_says(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=4)
    address = f"/projects/{world.project}/checks"
    assert "answers wait for a look" in boss.get(address).text
    assert "to check" in boss.get(f"/projects/{world.project}").text
    one, other = world.store, objects(world, world.project)["check_id"]
    with one.read() as tx:
        row = tx.one(select(checks).where(checks.c.id == other))
        assert row is not None
        own = [pair.id for pair in tx.all(select(pairs.c.id).where(pairs.c.answer_id == row.answer_id))]
    before = _total(world, world.people["writer"])
    assert boss.post(f"{address}/{other}", {"broken": own[:2]}).status_code == 422
    assert boss.post(f"{address}/{other}", {"broken": own[:2], "note": "two negators"}).status_code == 303
    assert _total(world, world.people["writer"]) == pytest.approx(before - 0.2)
    assert boss.post(f"{address}/{other}", {}).status_code == 409
    assert "two negators" in boss.get(address).text


def _total(world: World, person_id: int) -> float:
    with world.store.read() as tx:
        return float(totals(tx, world.project)[person_id])


def test_numbers_lead_to_their_pairs(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=12)
    home = f"/projects/{world.project}"
    measured = world.measured()
    figures = boss.get(f"{home}/figures").text
    assert measured.meter is not None
    assert measured.figures.verification is not None
    agreement = measured.figures.verification.whole
    assert shown(boss, f"{home}/pairs?verified=yes") == agreement.relabelled
    outcomes = {name: shown(boss, f"{home}/pairs?outcome={name}") for name in ("author", "other", "none")}
    assert sum(outcomes.values()) == agreement.relabelled
    assert outcomes["author"] / agreement.relabelled == pytest.approx(
        (agreement.figures["gold_author"].value or 0) / 100
    )
    for group in measured.meter.writers:
        assert shown(boss, f"{home}/pairs?writer={group.name}") == group.pairs
        assert group.blind is not None
        right = shown(boss, f"{home}/pairs?writer={group.name}&right=yes")
        assert right == count_of(group.blind.accuracy)
    for word in measured.meter.words:
        assert shown(boss, f"{home}/pairs?word={word.word}") == word.total
        assert shown(boss, f"{home}/pairs?word={word.word}&label={word.label}") == word.count
    for group in measured.meter.conditions:
        for label, share in group.negated.items():
            address = f"{home}/pairs?condition={group.name}&negated=yes&label={label}"
            assert shown(boss, address) == count_of(share)
        counts = [shown(boss, f"{home}/pairs?condition={group.name}&overlap={10 * place}") for place in range(10)]
        assert counts == list(group.overlaps)
        for stretch in measured.meter.over_time[group.name]:
            address = f"{home}/pairs?condition={group.name}&right=yes&first={stretch.first}&last={stretch.last}"
            assert shown(boss, address) == count_of(stretch.right)
    links = {unescape(link) for link in re.findall(r'href="(/projects/\d+/pairs\?[^"]+)"', figures)}
    assert len(links) > 20
    for link in links:
        assert shown(boss, link) >= 0
    votes = world.people["verifier"]
    with world.store.read() as tx:
        one = next(one for one in qualification.people_overview(tx, world.project) if one.person_id == votes)
    assert shown(boss, f"{home}/pairs?voter={one.pseudonym}") == one.votes


def test_pairs_page_by_page(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=12)
    home = f"/projects/{world.project}"
    for filters in ("", "?label=neutral", "?negated=no"):
        seen: list[int] = []
        address = f"{home}/pairs{filters}"
        total = shown(boss, address)
        while address:
            page = boss.get(address).text
            seen += sorted(map(int, re.findall(rf'href="{home}/pairs/(\d+)"', page)), reverse=True)
            older = re.search(r'href="(\?[^"]*before=\d+[^"]*)"', page)
            address = f"{home}/pairs{unescape(older[1])}" if older else ""
        assert len(seen) == len(set(seen)) == total
        assert seen == sorted(seen, reverse=True)
    assert shown(boss, f"{home}/pairs?word=nothing-like-that") == 0
    assert boss.get(f"{home}/pairs?overlap=101").status_code == 422


def test_one_pair(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=4)
    home = f"/projects/{world.project}"
    text = boss.get(f"{home}/pairs/{objects(world, world.project)['pair_id']}").text
    assert "Written together with" in text
    assert "Yesterday a" in text
    assert boss.get(f"{home}/pairs/999999").status_code == 404


def test_the_queue_tells_who_holds_what(empty: World, boss: Visitor) -> None:
    world = populate(empty, premises=6)
    home = f"/projects/{world.project}"
    lines = {line.kind: line for line in _queue(world)}
    for kind in ("write", "verify"):
        for state in ("waiting", "leased", "lapsed"):
            page = boss.get(f"{home}/queue?kind={kind}&state={state}").text
            rows = len(re.findall(r"<tr><td class=\"sentence\"", page))
            expected = sum(getattr(line, state) for line in _queue(world) if line.kind == kind)
            assert rows == min(expected, 50), (kind, state)
    assert lines["write"]
    assert boss.get(f"{home}/queue?state=lost").status_code == 422


def _queue(world: World) -> list[QueueLine]:
    with world.store.read() as tx:
        return queue_progress(tx, world.project)


def test_the_export_is_a_dataset(empty: World, boss: Visitor, tmp_path: Path) -> None:
    project_id = made(empty)
    with empty.store.write() as tx:
        pool = [Premise(text=f"Yesterday a heron crossed the wet road number {n}.", genre="news") for n in range(6)]
        add_premises(tx, project_id, pool, by=None)
    write_all(empty.store, project_id, join(empty.store, project_id, "writer", 2))
    verify_all(empty.store, project_id, join(empty.store, project_id, "verifier", 2))
    bring_pairs(empty.store, project_id, 4, origin="foreign", labels=("neutral", "entailment"))
    answer = empty.export(boss, project_id, audit="true")
    assert answer.headers["content-type"] == "application/zip"
    assert 'filename="meadow.zip"' in answer.headers["content-disposition"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path / "out")
    dataset = read(tmp_path / "out")
    assert len(dataset) == 6 * 9
    assert {"ledger.csv", "protocol.json", "audit.json"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert "## Artifacts" in dataset.card.description
    plain = empty.export(boss, project_id)
    with zipfile.ZipFile(io.BytesIO(plain.content)) as archive:
        assert "audit.json" not in archive.namelist()


def test_an_export_with_a_chinese_name(empty: World, boss: Visitor) -> None:
    with empty.store.write() as tx:
        found = create_project(tx, '港口 "1"\r\n', make_protocol("single", "zh"), by=empty.people["boss"])
    told = empty.export(boss, found.id).headers["content-disposition"]
    assert told == "attachment; filename=\"1.zip\"; filename*=UTF-8''%E6%B8%AF%E5%8F%A3-1.zip"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("meadow", "meadow.zip"),
        ("../../etc/passwd", "etc-passwd.zip"),
        ('a "quoted"; name', "a-quoted-;-name.zip"),
        ("港口\r\nset-cookie: x=1", "港口-set-cookie-x=1.zip"),
        ("\u202egpj.exe", "gpj.exe.zip"),
        ("...", "project.zip"),
        ("a" * 500, "a" * 80 + ".zip"),
    ],
)
def test_names_of_files_are_safe(title: str, name: str) -> None:
    assert file_name(title, ".zip") == name
    header = attachment(title, ".zip")["content-disposition"]
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


def test_a_human_baseline_shows_its_score(empty: World, boss: Visitor) -> None:
    protocol = make_protocol("human-baseline", "en")
    protocol = replace(protocol, qualification=replace(protocol.qualification, training=0))
    with empty.store.write() as tx:
        found = create_project(tx, "ceiling", protocol, by=empty.people["boss"])
    bring_pairs(empty.store, found.id, 6, origin="imported", labels=("neutral", "entailment"))
    verify_all(empty.store, found.id, join(empty.store, found.id, "verifier", 5))
    boss.get(f"/projects/{found.id}")
    empty.work_off()
    page = boss.get(f"/projects/{found.id}/figures").text
    assert "majority gives the label" in page
    assert "100.0" in page
    assert shown(boss, f"/projects/{found.id}/pairs?verified=yes") == 6
