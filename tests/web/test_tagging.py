"""The expert's page, by HTTP."""

from __future__ import annotations

import re
from datetime import timedelta

from goldlabel.collect.people import people
from goldlabel.collect.schema import pairs
from goldlabel.collect.work.tagging import TAGS, taggings_of
from tests.web.world import Visitor, World, populate


def pair_on(page: str) -> int:
    found = re.search(r'action="/projects/\d+/tag/(\d+)"', page)
    assert found is not None
    return int(found[1])


def ticked(page: str) -> list[str]:
    return re.findall(r'name="tags" value="(\w+)"[^>]* checked', page)


def test_an_expert_comes_by_link_and_tags_pair_after_pair(empty: World) -> None:
    world = populate(empty, premises=4)
    with world.store.write() as tx:
        token = people.invite(tx, project_id=world.project, role="expert", lifetime=timedelta(days=1), by=None)
    expert, home = world.visitor("nobody"), f"/projects/{world.project}"
    assert "what kinds of inference" in expert.get(f"/invite/{token}").text
    assert expert.post(f"/invite/{token}").headers["location"] == "/"
    assert f'href="{home}/tag"' in expert.get("/").text
    first = expert.get(f"{home}/tag").text
    assert all(f'value="{tag}"' in first for tag in TAGS)
    assert "0 of 18 pairs tagged" in first
    form = {"tags": ["tricky", "lexical"], "quality": "debatable", "comment": "Is <b>it</b>?"}
    answer = expert.post(f"{home}/tag/{pair_on(first)}", form)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{home}/tag")
    second = expert.get(f"{home}/tag").text
    assert "1 of 18 pairs tagged" in second
    assert pair_on(second) != pair_on(first)
    assert pair_on(expert.get(f"{home}/tag?skip={pair_on(second)}").text) not in (pair_on(first), pair_on(second))
    again = expert.get(f"{home}/tag?pair={pair_on(first)}").text
    assert ticked(again) == ["lexical", "tricky"]
    assert "Is &lt;b&gt;it&lt;/b&gt;?</textarea>" in again
    mine = expert.get(f"{home}/mine").text
    assert f'href="{home}/tag?pair={pair_on(first)}"' in mine
    assert "Is &lt;b&gt;it&lt;/b&gt;?" in mine
    shown_to_the_requester(world, pair_on(first))


def shown_to_the_requester(world: World, pair_id: int) -> None:
    boss, home = world.visitor("boss"), f"/projects/{world.project}"
    progress = boss.get(f"{home}/progress").text
    assert "1 of 18 pairs tagged" in progress
    for address, count in ((f"{home}/pairs?tag=tricky", 1), (f"{home}/pairs?quality=debatable", 1)):
        assert f'href="{address}"' in progress
        assert f"<h1>{count} pair</h1>" in boss.get(address).text
    assert "<h1>0 pairs</h1>" in boss.get(f"{home}/pairs?tag=numerical").text
    assert "Is &lt;b&gt;it&lt;/b&gt;?" in boss.get(f"{home}/pairs/{pair_id}").text


def test_an_imported_pair_without_a_label_is_not_said_to_have_one(empty: World) -> None:
    world = populate(empty, premises=4)
    expert, home = world.visitor("expert"), f"/projects/{world.project}"
    pair_id = pair_on(expert.get(f"{home}/tag").text)
    for label, said in (("-", False), ("neutral", True)):
        with world.store.write() as tx:
            tx.change(pairs, pair_id, label=label, verdict=None)
        assert ("If A is true, then B is" in expert.get(f"{home}/tag?pair={pair_id}").text) == said


def test_nothing_is_lost_where_no_kind_was_chosen(world: World) -> None:
    expert, home = world.visitor("expert"), f"/projects/{world.project}"
    pair_id = pair_on(expert.get(f"{home}/tag").text)
    answer = expert.post(f"{home}/tag/{pair_id}", {"quality": "ambiguous", "comment": "Too short"})
    assert answer.status_code == 422
    assert "No kind of inference is chosen; choose one or more of numbers and quantities" in answer.text
    assert "Too short</textarea>" in answer.text
    assert re.search(r'value="ambiguous"[^>]* checked', answer.text)
    assert said_of(world, pair_id) == 0


def test_pairs_of_others_and_odd_values_are_refused(world: World) -> None:
    expert, home = world.visitor("expert"), f"/projects/{world.project}"
    pair_id = pair_on(expert.get(f"{home}/tag").text)
    foreign = pair_on(world.visitor("rival's expert").get(f"/projects/{world.other}/tag").text)
    tries: list[tuple[Visitor, int, dict[str, object]]] = [
        (expert, foreign, {"tags": "lexical"}),
        (expert, pair_id, {"tags": "magic"}),
        (expert, pair_id, {"tags": ["lexical"] * 7}),
        (expert, pair_id, {"tags": "lexical", "comment": "x" * 2001}),
        (world.visitor("verifier"), pair_id, {"tags": "lexical"}),
    ]
    assert [who.post(f"{home}/tag/{pair}", form).status_code for who, pair, form in tries] == [404, 422, 422, 422, 403]
    assert said_of(world, pair_id) == 0


def said_of(world: World, pair_id: int) -> int:
    with world.store.read() as tx:
        return len(taggings_of(tx, world.project, (pair_id, pair_id))[pair_id])
