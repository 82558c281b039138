"""Splits of a requester's own in the settings."""

from __future__ import annotations

from goldlabel.collect.projects import project
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
