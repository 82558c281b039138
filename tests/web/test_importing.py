"""Uploads in the pages: large ones, packed ones, the same one again."""

from __future__ import annotations

import gzip
from html import unescape

import orjson
import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.importing import tables
from goldlabel.collect.schema import pairs, premises
from tests.collect.campaign import small_protocol
from tests.web.world import Visitor, World


@pytest.fixture
def boss(empty: World) -> Visitor:
    return empty.visitor("boss")


def made(world: World, name: str = "multi") -> int:
    with world.store.write() as tx:
        return create_project(tx, "meadow", small_protocol(name), by=world.people["boss"], seed=7).id


def test_more_than_a_megabyte_can_be_typed(empty: World, boss: Visitor) -> None:
    project_id = made(empty)
    line = "The same boat lies at the same pier, and nobody knows whose it is or why.\n"
    text = line * (1 + (3 << 20) // len(line)) + "A lamp burns in the harbour.\n"
    answer = boss.send(f"/projects/{project_id}/premises", {"text": text}, files={"file": ("", b"")})
    assert "2 of " in answer.text, answer.text[:500]
    assert empty.one(select(func.count()).select_from(premises)) == 2


def test_a_packed_file_of_sentences(empty: World, boss: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"/projects/{made(empty)}/premises"
    packed = gzip.compress(b"premise,genre\nThe old ferry leaves at nine.,news\n")
    answer = boss.send(address, files={"file": ("pool.csv.gz", packed)})
    assert "pool.csv.gz: 1 of 1 sentences were added" in answer.text
    answer = boss.send(address, files={"file": ("pool.csv.gz", packed[:-5])})
    assert "pool.csv.gz: cannot be unpacked" in unescape(answer.text).lower()
    monkeypatch.setattr(tables, "MOST_BYTES", 1 << 20)
    answer = boss.send(address, files={"file": ("pool.txt.gz", gzip.compress(bytes(32 << 20)))})
    assert answer.status_code == 422
    assert "is larger than 1 MB" in answer.text


def test_the_same_file_twice_adds_nothing_and_says_so(empty: World, boss: Visitor) -> None:
    home = f"/projects/{made(empty, 'vetting')}"
    rows = [{"premise": "A heron stands in the reeds.", "hypothesis": f"It waits for {n} fish."} for n in range(5)]
    packed = gzip.compress(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    for added in (5, 0):
        answer = boss.post(f"{home}/pairs", {"origin": "imported"}, files={"file": ("pairs.jsonl.gz", packed)})
        assert answer.status_code == 303
        told = boss.get(answer.headers["location"]).text
        assert f"pairs.jsonl.gz: {added} of 5 pairs were added" in told
        assert ("5: there already" in told) == (added == 0)
    assert empty.one(select(func.count()).select_from(pairs)) == 5
    rows.append({"premise": "x" * 20_001, "hypothesis": "It waits."})
    file = {"file": ("pairs.jsonl", b"".join(orjson.dumps(row) + b"\n" for row in rows))}
    answer = boss.post(f"{home}/pairs", {"origin": "imported"}, files=file)
    assert answer.status_code == 422
    assert "pair 6 (pairs-6): given sentence is longer than 20000 characters" in unescape(answer.text).lower()
    assert empty.one(select(func.count()).select_from(pairs)) == 5


def test_a_report_is_for_its_own_project(empty: World, boss: Visitor) -> None:
    project_id = made(empty)
    answer = boss.post(f"/projects/{project_id}/premises", {"text": "A lamp burns in the harbour."})
    with empty.store.write() as tx:
        other = create_project(tx, "marsh", small_protocol(), by=empty.people["boss"]).id
    query = answer.headers["location"].partition("?")[2]
    assert "1 of 1 sentences" in boss.get(f"/projects/{project_id}/premises?{query}").text
    assert "1 of 1 sentences" not in boss.get(f"/projects/{other}/premises?{query}").text


@pytest.mark.parametrize("name", ["multi", "vetting", "human-baseline"])
def test_import_is_linked_from_every_project(empty: World, boss: Visitor, name: str) -> None:
    project_id = made(empty, name)
    assert f'href="/projects/{project_id}/import"' in boss.get(f"/projects/{project_id}").text


def test_an_export_of_another_tool(empty: World, boss: Visitor) -> None:
    home = f"/projects/{made(empty, 'human-baseline')}"
    items = orjson.dumps({"id": "i1", "premise": "A boat lies here.", "hypothesis": "Something lies here."})
    cast = orjson.dumps({"instance_id": "i1", "user_id": "ann", "labels": {"nli": {"neutral": 1}}})
    files = [("file", ("items.jsonl", items)), ("file", ("annotations.jsonl", cast))]
    answer = boss.send(f"{home}/pairs", {"origin": "imported", "tool": "potato"}, files=files)
    assert "items.jsonl, annotations.jsonl: 1 of 1 pairs were added" in answer.text
    assert empty.one(select(pairs.c.meta))["votes"] == ["neutral"]
    answer = boss.send(f"{home}/pairs", {"origin": "imported", "tool": "argilla"}, files=files[:1])
    assert "as Argilla writes it" in answer.text
    assert "goldlabel-" not in answer.text
    assert boss.send(f"{home}/pairs", {"origin": "imported"}, files=files).status_code == 422
    assert boss.send(f"{home}/pairs", {"origin": "imported", "tool": "x"}, files=files).status_code == 422
