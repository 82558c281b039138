"""The page on which people write against a model, and what it sends and fetches, over HTTP."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from goldlabel.collect.money import recount
from goldlabel.collect.people import accounts, people
from goldlabel.collect.projects import project
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.rounds import close_round
from goldlabel.collect.schema import pairs, projects, tries
from goldlabel.collect.work import history, tryout
from goldlabel.collect.work.assignment import claim
from goldlabel.web import tries_api
from goldlabel.worker.adversaries import Adversaries, Trials
from tests.web.duels import LABELS, released, start_duel
from tests.web.test_statements import counting
from tests.web.world import Visitor, World


class Duel:
    """A writer at a job."""

    def __init__(self, world: World, model: str | None = "obedient", arm: str = "adversarial") -> None:
        self.world = world
        self.project, self.writer = start_duel(world.store, "duel", model=model, arm=arm)
        world.people["duellist"] = self.writer
        self.visitor = world.visitor("duellist")

    def page(self) -> str:
        answer = self.visitor.get(f"/projects/{self.project}/write")
        assert answer.status_code == 200
        return str(answer.text)

    def data(self) -> Any:
        return json.loads(self.page().partition('type="application/json" id="data">')[2].partition("</script>")[0])

    def take(self) -> str:
        """Take the job; return the address of what its page sends."""
        return f"/api/assignments/{self.data()['work']['tasks'][0]['assignment']}"

    def answer(self) -> None:
        """Have the models answer."""
        adversaries = Adversaries(self.world.store, "worker")
        adversaries.answer()
        adversaries.wait()


def post(visitor: Visitor, path: str, body: Any) -> Any:
    return visitor.client.post(path, json=body, headers={"x-csrf-token": visitor.csrf})


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries_api, "PATIENCE", 0.0)


def test_a_job_is_the_same_whenever_it_is_looked_at(empty: World) -> None:
    duel = Duel(empty)
    path, target = duel.take(), duel.data()["job"]["target"]
    words = {
        "entailment": "definitely correct",
        "contradiction": "definitely incorrect",
        "neutral": "neither definitely",
    }
    assert re.search(rf'id="target" data-label="{target}">{words[target]}', duel.page())
    assert duel.data()["job"] == {
        "target": target,
        "shows_model": True,
        "suggestion": None,
        "left": 5,
        "most": 5,
        "tries": [],
    }
    shown = post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {target}"}).json()
    assert [one["state"] for one in shown["tries"]] == ["waiting"]
    assert duel.data()["job"] == shown
    duel.answer()
    shown = duel.visitor.get(f"{path}/tries").json()
    assert [(one["state"], shown["left"]) for one in shown["tries"]] == [("right", 4)]
    assert shown["tries"][0]["scores"][target] == pytest.approx(0.64)
    again = post(duel.visitor, f"{path}/tries", {"key": "a", "text": "something else"}).json()
    assert again == shown == duel.data()["job"], "a try that was sent twice is one try"
    early = post(duel.visitor, f"{path}/finish", {"key": "f"})
    assert early.status_code == 409
    assert "4 tries are left" in early.json()["message"]
    other = next(label for label in LABELS if label != target)
    post(duel.visitor, f"{path}/tries", {"key": "b", "text": f"say {other}"})
    duel.answer()
    assert [one["state"] for one in duel.data()["job"]["tries"]] == ["right", "fooled"]
    reasonless = post(duel.visitor, f"{path}/finish", {"key": "f", "reasons": {"label": "So it is."}})
    assert reasonless.status_code == 422
    reasons = {"label": "So it is.", "model": "It was rash."}
    for repeated in (False, True):
        sent = post(duel.visitor, f"{path}/finish", {"key": "f", "reasons": reasons, "timings": {"total": 3.5}})
        assert (sent.json()["state"], sent.json()["repeated"]) == ("counted", repeated)
    assert duel.take() != path
    with empty.store.read() as tx:
        stored = tx.all(select(pairs).order_by(pairs.c.id))
        assert recount.check(tx, duel.project) == []
    assert [(row.label, row.meta["fooled"]) for row in stored] == [(target, False), (target, True)]


def test_what_a_model_answered_to_is_not_changed_later(empty: World) -> None:
    duel = Duel(empty)
    path, target = duel.take(), duel.data()["job"]["target"]
    other = next(label for label in LABELS if label != target)
    post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {other}"})
    duel.answer()
    post(duel.visitor, f"{path}/finish", {"key": "f", "reasons": {"label": "So it is.", "model": "It was rash."}})
    with empty.store.write() as tx:
        (sent,), _ = history.sent(tx, duel.project, duel.writer)
        assert not sent.pairs[0].open
        with pytest.raises(Conflict, match="others or a model have judged it"):
            history.change_text(tx, duel.project, sent.answer_id, duel.writer, sent.pairs[0].id, "Another sentence.")
    mine = duel.visitor.get(f"/projects/{duel.project}/mine").text
    assert "definitely" in mine or "neither" in mine
    assert "cannot be true" not in mine


def test_a_model_that_is_dead_uses_up_no_try(empty: World) -> None:
    duel = Duel(empty, "dead")
    path, target = duel.take(), duel.data()["job"]["target"]
    for key in "abcdefg":
        post(duel.visitor, f"{path}/tries", {"key": key, "text": "A sentence that is kept."})
        duel.answer()
        shown = duel.visitor.get(f"{path}/tries").json()
        assert (shown["tries"][-1]["state"], shown["tries"][-1]["scores"], shown["left"]) == ("failed", None, 5)
    released.set()
    post(duel.visitor, f"{path}/tries", {"key": "h", "text": f"say {target}"})
    duel.answer()
    assert [one["state"] for one in duel.data()["job"]["tries"]] == ["failed"] * 7 + ["right"]
    assert duel.data()["job"]["left"] == 4


@pytest.mark.parametrize(
    ("way", "body"),
    [
        ("tries", {"key": "", "text": "Something."}),
        ("tries", {"key": "k" * 201, "text": "Something."}),
        ("tries", {"key": "k", "text": ""}),
        ("tries", {"key": "k", "text": "x" * 1001}),
        ("tries", {"key": "k", "text": "x" * 20_001}),
        ("tries", {"text": "Something."}),
        ("finish", {"key": "k", "reasons": {"label": "x" * 20_001}}),
        ("finish", {"key": "k", "reasons": {"x" * 21: "y"}}),
        ("finish", {"key": "k", "reasons": {str(n): "y" for n in range(11)}}),
        ("finish", {"key": "k", "timings": {"total": -1}}),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_is_kept(empty: World, way: str, body: Any) -> None:
    duel = Duel(empty)
    refused = post(duel.visitor, f"{duel.take()}/{way}", body)
    assert refused.status_code == 422
    assert duel.data()["job"]["tries"] == []


def test_a_job_is_its_writers_alone(empty: World) -> None:
    duel = Duel(empty)
    path, boss = duel.take(), empty.visitor("boss")
    assert boss.get(f"{path}/tries").status_code == 404
    assert post(boss, f"{path}/tries", {"key": "k", "text": "Something."}).status_code == 404
    assert post(boss, f"{path}/finish", {"key": "k"}).status_code == 404
    assert empty.visitor().get(f"{path}/tries").status_code == 401
    for number in (0, -1, 2**63, "x"):
        assert duel.visitor.get(f"/api/assignments/{number}/tries").status_code in (404, 422)
    assert empty.one(select(tries.c.id)) is None


@pytest.mark.parametrize("arm", ["plain", "assisted"])
def test_a_writer_who_is_not_to_see_the_model_does_not(empty: World, arm: str) -> None:
    duel = Duel(empty, arm=arm)
    path, job = duel.take(), duel.data()["job"]
    assert (job["shows_model"], job["most"]) == (False, 1)
    assert job["suggestion"] == (f"Perhaps {job['target']}." if arm == "assisted" else None)
    page = duel.page()
    assert ("Perhaps" in page, "model gets wrong" in page) == (arm == "assisted", False)
    other = next(label for label in LABELS if label != job["target"])
    shown = post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {other}"}).json()
    duel.answer()
    told = duel.visitor.get(f"{path}/tries").json()
    assert told == shown
    assert [(one["state"], one["scores"]) for one in told["tries"]] == [("sent", None)]
    assert post(duel.visitor, f"{path}/tries", {"key": "b", "text": "Another."}).status_code == 409
    done = post(duel.visitor, f"{path}/finish", {"key": "f", "timings": {"total": 3.5}}).json()
    assert done["state"] == "counted"
    with empty.store.read() as tx:
        (row,) = tx.all(select(pairs))
        assert recount.check(tx, duel.project) == []
    assert (row.meta["fooled"], row.draw_number) == (True, 1)
    assert row.meta.get("proposal", {}).get("source") == ("mine" if arm == "assisted" else None)


def test_between_two_rounds_the_page_says_so(empty: World) -> None:
    duel = Duel(empty, None)
    assert "Between two rounds" in duel.page()
    assert "两轮之间" in duel.visitor.get(f"/projects/{duel.project}/write", headers={"accept-language": "zh"}).text


def test_a_round_that_is_closed_under_a_writer_loses_nothing(empty: World) -> None:
    duel = Duel(empty)
    path = duel.take()
    post(duel.visitor, f"{path}/tries", {"key": "a", "text": "Kept."})
    with empty.store.write() as tx:
        close_round(tx, duel.project, force=True, by=None)
    late = post(duel.visitor, f"{path}/tries", {"key": "b", "text": "Too late."})
    assert late.status_code == 409
    assert [one["text"] for one in duel.visitor.get(f"{path}/tries").json()["tries"]] == ["Kept."]
    assert "Between two rounds" in duel.page()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_requester_makes_a_campaign_in_the_browser(empty: World, language: str) -> None:
    boss = empty.visitor("boss")
    form = {"name": "campaign", "kind": "adversarial", "language": language}
    assert boss.post("/projects", form).status_code == 303
    with empty.store.read() as tx:
        made = project(tx, tx.value(select(projects.c.id)))
    home = f"/projects/{made.id}"
    for place in (
        "",
        "/settings",
        "/invitations",
        "/people",
        "/import",
        "/manage",
        "/texts",
        "/figures",
        "/checks",
        "/examples",
        "/pairs",
        "/queue",
    ):
        answer = boss.get(f"{home}{place}")
        assert answer.status_code == 200, place
        assert "multi-encourage" not in answer.text, place
    refused = boss.post(f"{home}/settings", {"pay.bonus": "0.75", "conditions": "multi"})
    assert refused.status_code == 422
    kept = boss.send(f"{home}/settings", {"pay.bonus": "0.75", "conditions": "plain"})
    assert "0.75" in kept.text
    with empty.store.read() as tx:
        protocol = project(tx, made.id).protocol
    assert (str(protocol.pay.bonus), [one.name for one in protocol.conditions]) == ("0.75", ["adversarial", "plain"])


def test_writing_against_a_model_is_tried_out_on_a_copy(
    empty: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tryout.tempfile, "gettempdir", lambda: str(tmp_path))
    boss, (campaign, _) = empty.visitor("boss"), start_duel(empty.store, "duel")
    idle, _ = start_duel(empty.store, "idle", model=None)
    with empty.store.write() as tx:
        for made in (campaign, idle):
            people.add_member(tx, made, empty.people["boss"], "requester", by=None)
    refused = boss.post(f"/projects/{idle}/tryout", {"role": "writer"})
    assert refused.status_code == 422
    assert "o round was opened yet" in refused.text
    assert "/tryout" in boss.get(f"/projects/{campaign}/manage").text
    start = boss.post(f"/projects/{campaign}/tryout", {"role": "writer"}).headers["location"]
    trial = start.removesuffix("/instructions/writer")
    page = boss.get(f"{trial}/write").text
    data = json.loads(page.partition('type="application/json" id="data">')[2].partition("</script>")[0])
    path, target = f"/api/assignments/{data['work']['tasks'][0]['assignment']}", data["job"]["target"]
    post(boss, f"{path}/tries", {"key": "a", "text": f"say {target}"})
    trials = Trials("worker")
    assert trials.answer() == 1
    for _, adversaries in trials._opened.values():
        adversaries.wait()
    assert [one["state"] for one in boss.get(f"{path}/tries").json()["tries"]] == ["right"]
    assert empty.one(select(tries.c.id)) is None, "nothing of it is in the project"
    boss.post(f"{trial}/tryout/end", {})
    trials._looked = float("-inf")
    assert trials.answer() == 0


def test_others_judge_in_the_words_of_the_campaign(empty: World) -> None:
    duel = Duel(empty)
    path, target = duel.take(), duel.data()["job"]["target"]
    other = next(label for label in LABELS if label != target)
    post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {other}"})
    duel.answer()
    post(duel.visitor, f"{path}/finish", {"key": "f", "reasons": {"label": "So it is.", "model": "It was rash."}})
    with empty.store.write() as tx:
        empty.people["judge"] = accounts.create_account(tx, "judge@duel.example", "none")
        people.add_member(tx, duel.project, empty.people["judge"], "verifier", by=None)
    judging = empty.visitor("judge").get(f"/projects/{duel.project}/verify").text
    assert all(words in judging for words in ("definitely correct", "neither", "definitely incorrect", f"say {other}"))
    assert "might be true" not in judging
    assert "were written to mislead a model" in judging


def test_a_try_takes_few_statements(empty: World) -> None:
    """What stores a try and shows the job after it, with the begins of its three transactions, on SQLite."""
    duel = Duel(empty)
    path, target = duel.take(), duel.data()["job"]["target"]
    assert post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {target}"}).status_code == 200
    duel.answer()
    with counting(empty.store) as statements:
        shown = post(duel.visitor, f"{path}/tries", {"key": "b", "text": f"say {target} again"})
    assert [one["state"] for one in shown.json()["tries"]] == ["right", "waiting"]
    assert len(statements) <= 16, statements


def test_the_end_of_a_job_takes_as_many_statements_after_many_tries_as_after_two(empty: World) -> None:
    """What stores a job's tries as pairs and gives out the next job, on SQLite."""
    duel = Duel(empty)
    taken = {}
    for rights in (1, 4):
        path, target = duel.take(), duel.data()["job"]["target"]
        other = next(label for label in LABELS if label != target)
        for number in range(rights + 1):
            said = other if number == rights else target
            assert post(duel.visitor, f"{path}/tries", {"key": f"k{number}", "text": f"say {said} {number}"}).is_success
            duel.answer()
        ended = {"key": "end", "reasons": {"label": "So.", "model": "So."}, "timings": {"total": 5.0}}
        with counting(empty.store) as statements:
            assert post(duel.visitor, f"{path}/finish", ended).is_success
        taken[rights] = statements
    assert len(taken[4]) <= len(taken[1]) <= 58, taken


def test_who_judges_has_no_tries(empty: World) -> None:
    duel = Duel(empty)
    path, target = duel.take(), duel.data()["job"]["target"]
    other = next(label for label in LABELS if label != target)
    post(duel.visitor, f"{path}/tries", {"key": "a", "text": f"say {other}"})
    duel.answer()
    ended = {"key": "end", "reasons": {"label": "So.", "model": "So."}, "timings": {"total": 5.0}}
    assert post(duel.visitor, f"{path}/finish", ended).status_code == 200
    with empty.store.write() as tx:
        judge = accounts.create_account(tx, "judge@duel.example", "none")
        people.add_member(tx, duel.project, judge, "verifier", by=None)
        (task,) = claim(tx, duel.project, judge, "verify").tasks
    empty.people["judge"] = judge
    visitor, own = empty.visitor("judge"), f"/api/assignments/{task.assignment_id}/tries"
    assert visitor.get(own).status_code == 404
    assert post(visitor, own, {"key": "a", "text": "say nothing"}).status_code == 404
