"""What the requester's pages show and where, as far as HTML can tell."""

from __future__ import annotations

import re
from html import unescape

import pytest
from sqlalchemy import select

from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people.pseudonyms import known_as
from goldlabel.collect.schema import pseudonyms
from goldlabel.collect.work.pool import add_premises
from goldlabel.web.requester.setting_help import HELP
from goldlabel.web.requester.settings import SETTINGS
from tests.web.world import World, populate


def names_in(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/projects/\d+/people/\w+">(\w+)</a>', page)


@pytest.mark.parametrize(
    "column", ["name", "pairs", "writing", "votes", "voting", "agreement", "trust", "owed", "seen"]
)
def test_people_are_sorted_as_the_address_says(world: World, column: str) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/people"
    rises, falls = (names_in(boss.get(f"{address}?sort={sign}{column}").text) for sign in ("", "-"))
    assert len(rises) == len(falls) == 7
    assert {*rises} == {*falls}
    if column == "name":
        assert rises == sorted(rises) == falls[::-1]
    page = boss.get(f"{address}?sort=-{column}&other=1").text
    assert page.count('aria-sort="descending"') == 1
    assert f'href="?other=1&amp;sort={column}"' in page


def test_who_has_no_figure_comes_last_whichever_way(world: World) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/people"
    for sign in ("", "-"):
        page = boss.get(f"{address}?sort={sign}voting").text
        cells = [row.split("<td")[5] for row in page.split("<tr>")[2:]]
        assert ["–" in cell for cell in cells] == sorted("–" in cell for cell in cells)


def test_an_order_that_there_is_not_is_the_usual_one(world: World) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/people"
    assert names_in(boss.get(f"{address}?sort=password").text) == names_in(boss.get(address).text)


def test_pairs_of_a_premise_stand_together_with_their_labels_marked(world: World) -> None:
    page = world.visitor("boss").get(f"/projects/{world.project}/pairs").text
    cards = re.findall(r'<article class="premise-card">(.*?)</article>', page, re.DOTALL)
    premises = [re.findall(r"<h2[^>]*>(.*?)</h2>", card) for card in cards]
    assert all(len(heading) == 1 for heading in premises)
    assert len({heading[0] for heading in premises}) == len(premises)
    assert sum(card.count("<li>") for card in cards) == page.count('class="mark"') == 50
    assert '<span class="mark" data-label="contradiction">cannot be true</span>' in page


def test_every_setting_has_help_and_a_default_and_marks_what_was_changed(world: World) -> None:
    page = world.visitor("boss").get(f"/projects/{world.project}/settings").text
    assert {setting.key for setting in SETTINGS} == {*HELP}
    assert page.count("Default:") == page.count('class="hint" id="')
    changed = re.findall(r'<div class="field is-own">\s*<label for="([^"]+)"', page)
    assert "verifying.verifiers" in changed
    assert "writing.overlap" not in changed


@pytest.mark.parametrize(
    ("field", "text", "says"),
    [
        (
            "writing.overlap",
            "170",
            "Overlap with the given sentence, at most: '170' cannot be used; give per cent from 0 to 100.",
        ),
        ("pay.pair", "sNaN", "Per written pair: 'sNaN' cannot be used; give an amount"),
        ("premises.shortest", "5000", "Shortest, in characters"),
    ],
)
def test_a_refused_setting_is_named_beside_its_field(world: World, field: str, text: str, says: str) -> None:
    answer = world.visitor("boss").post(f"/projects/{world.project}/settings", {field: text})
    assert answer.status_code == 422
    place = re.search(rf'<div class="field[^"]*">\s*<label for="{field}">.*?</div>', answer.text, re.DOTALL)
    assert place is not None
    assert 'aria-invalid="true"' in place[0]
    assert says in unescape(re.sub(r"<p class=\"hint.*", "", place[0], flags=re.DOTALL))
    assert answer.text.count('aria-invalid="true"') == 1


def test_payouts_are_sorted_as_the_address_says(world: World) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/payouts"
    rises, falls = (names_in(boss.get(f"{address}?sort={sign}name").text) for sign in ("", "-"))
    assert rises == sorted(rises) == falls[::-1]
    first = names_in(boss.get(f"{address}?sort=-owed").text)[0]
    assert world.one(select(pseudonyms.c.pseudonym).where(known_as(world.project, world.people["writer"]))) == first


def test_given_sentences_from_the_first_or_from_the_newest(empty: World) -> None:
    world = populate(empty)
    with world.store.write() as tx:
        more = [Premise(text=f"A hare ran over field number {n}.") for n in range(60)]
        add_premises(tx, world.project, more, by=None)
    boss, home = world.visitor("boss"), f"/projects/{world.project}/premises"
    for sort, wanted in (
        ("number", list(range(1, 73))),
        ("-number", list(range(72, 0, -1))),
        ("", list(range(72, 0, -1))),
    ):
        address: str | None = f"{home}?sort={sort}"
        numbers: list[int] = []
        while address:
            page = boss.get(address).text
            numbers += map(int, re.findall(r'<tr><td class="number">(?:<a [^>]*>)?(\d+)<', page))
            following = re.search(r'class="button" href="(\?before=[^"]*)"', page)
            address = f"{home}{unescape(following[1])}" if following else None
        assert numbers == wanted, sort
