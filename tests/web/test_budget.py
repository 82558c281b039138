"""The budget on the pages: annotators are told calmly, the requester how to go on."""

from __future__ import annotations

from goldlabel.collect import projects
from goldlabel.collect.configuration import configure
from goldlabel.collect.protocols import with_settings
from tests.web.world import World, populate


def test_a_used_up_budget_is_told_and_can_be_raised(empty: World) -> None:
    world = populate(empty, premises=4)
    home = f"/projects/{world.project}"
    boss, writer = world.visitor("boss"), world.visitor("writer1")
    with world.store.write() as tx:
        changed = with_settings(projects.project(tx, world.project).protocol, {"pay.budget": "17"})
        configure(tx, world.project, changed, by=None)
    assert "budget" not in boss.get(home).text
    page = writer.get(f"{home}/write").text
    assert "budget is used up for now. What you did is saved and paid" in page
    page = boss.get(home).text
    assert "The budget of" in page
    assert "USD" in page
    assert f'href="{home}/settings#pay.budget"' in page
    assert boss.post(f"{home}/settings", {"pay.budget": "1000"}).status_code == 303
    assert boss.post(f"{home}/state", {"state": "running"}).status_code == 303
    assert "The budget of" not in boss.get(home).text
    assert "budget is used up" not in writer.get(f"{home}/write").text


def test_the_forecast_stands_on_the_overview(empty: World) -> None:
    world = populate(empty, premises=4)
    home = f"/projects/{world.project}"
    world.measured()
    boss = world.visitor("boss")
    page = boss.get(home).text
    assert 'id="forecast"' in page
    assert "Cost in all" in page
    assert "By what people did so far" in page
    assert "Assumed" not in page
    boss.get("/language/zh?next=/")
    assert "按目前进度所需天数" in boss.get(home).text
