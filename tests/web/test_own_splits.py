"""Splits of a requester's own in the settings."""

from __future__ import annotations

from sqlalchemy import select

from goldlabel.collect.projects import project
from goldlabel.collect.schema import premises
from tests.web.world import World


def test_splits_by_genre_and_by_share(world: World) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/settings"
    form = {"splits.genres": "news = test\nletters = train", "splits.dev_share": "12.5", "splits.test_share": ""}
    assert boss.post(address, form).status_code == 303
    with world.store.read() as tx:
        rules = project(tx, world.project).protocol.splits
    assert (rules.genres, rules.dev_share, rules.test_share) == ({"news": "test", "letters": "train"}, 0.125, None)
    assert "news = test\nletters = train</textarea>" in boss.get(address).text
    for wrong in ("news = validation", "news", "news = dev\nnews = test", "x" * 4001):
        answer = boss.post(address, {**form, "splits.genres": wrong})
        assert answer.status_code == 422, wrong


def test_the_split_of_a_sentence_is_shown(world: World) -> None:
    boss, address = world.visitor("boss"), f"/projects/{world.project}/premises"
    file = ("a.csv", b"premise,split\nThe heron crossed the wet road before the rain began again.,dev\n", "text/csv")
    assert boss.post(address, {}, files={"file": file}).status_code == 303
    shown = boss.get(address).text
    assert shown.count('<span class="tag">dev</span>') == 1
    with world.store.read() as tx:
        (premise,) = tx.all(select(premises.c.id).where(premises.c.split == "dev"))
    assert '<span class="tag">dev</span>' in boss.get(f"{address}/{premise.id}").text
