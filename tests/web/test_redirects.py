"""POST, then redirect: what was sent is never sent again by loading a page again, and secrets are shown once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from goldlabel.collect import projects
from goldlabel.collect.configuration import create_project
from goldlabel.collect.people import people
from goldlabel.collect.people.second_factor import factor_of
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.schema import answers, assignments, decisions, invites, pairs, premises, tokens, webhooks
from goldlabel.collect.texts import training_examples
from goldlabel.collect.work.assignment import claim, skip
from goldlabel.collect.work.drafts import save_draft
from goldlabel.collect.work.verifying import vote
from goldlabel.web.shown_once import COOKIE
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.test_second_factor import code_at
from tests.web.test_refusals import refused
from tests.web.test_security import routes
from tests.web.world import PASSWORD, Visitor, World, login_of, objects, populate

DOWNLOADS = {"/projects/{project_id}/payouts/contacts.csv"}
"""A table that is an event to ask for: the answer is a file, and the browser stays where it was."""
DAY = "2030-01-31"


@dataclass
class Walk:
    """Sends forms that succeed, and notes where."""

    world: World
    sent: set[str] = field(default_factory=set)

    def __call__(self, visitor: Visitor, path: str, form: dict[str, Any] | None = None, **named: Any) -> Any:
        """Send a form to a path of the project, or one that begins at the root, and go where the answer leads."""
        files = named.pop("files", None)
        route = path if path.startswith("/") else f"/projects/{{project_id}}/{path}"
        address = route.format(**{**objects(self.world, self.world.project), **named})
        answer = visitor.post(address, form, files=files)
        assert answer.status_code == 303, (route, refused(answer) if answer.status_code >= 400 else answer.text)
        self.sent.add(route)
        page = visitor.get(answer.headers["location"])
        assert page.status_code in (200, 303), (route, answer.headers["location"], page.status_code)
        return page


def test_every_form_is_answered_by_a_redirect(empty: World, clock: MovableClock) -> None:
    world = populate(empty, replace(small_protocol("multi", verifiers=2)))
    walk = Walk(world)
    _accounts(walk, clock)
    _annotators(walk)
    _requesters(walk)
    _managing(walk)
    posts = {path for method, path in routes(world) if method == "POST" and not path.startswith("/api/")}
    assert walk.sent == posts - DOWNLOADS
    assert posts >= DOWNLOADS


def _accounts(walk: Walk, clock: MovableClock) -> None:
    world, boss, writer = walk.world, walk.world.visitor("boss"), walk.world.visitor("writer1")
    walk(world.visitor(), "/login", {"login": login_of("boss"), "password": PASSWORD})
    walk(boss, "/account/contact", {"contact": "boss@example.org"})
    walk(boss, "/account/tokens", {"name": "nightly", "scopes": ["requester"]})
    walk(boss, "/account/tokens/{token_id}/withdraw", token_id=world.one(select(func.max(tokens.c.id))))
    walk(writer, "/account/second-factor", {"password": PASSWORD})
    with world.store.read() as tx:
        factor = factor_of(tx, world.people["writer1"])
    assert factor is not None
    walk(writer, "/account/second-factor/confirm", {"code": code_at(factor.secret, clock.now)})
    stranger = world.visitor()
    walk(stranger, "/login", {"login": login_of("writer1"), "password": PASSWORD})
    walk(stranger, "/login/code", {"code": factor.recovery_codes[0]})
    walk(writer, "/account/second-factor/off", {"password": PASSWORD})
    page = walk(boss, "people/{pseudonym}/password", pseudonym=world.called("writer1"))
    link = re.search(r"/password/([\w-]+)", page.text)
    assert link is not None
    walk(world.visitor(), "/password/{token}", {"password": PASSWORD}, token=link[1])
    walk(world.visitor("writer1"), "/account/password", {"old": PASSWORD, "new": "twelve grey herons"})
    for path, visitor, form in (
        ("/invite/{token}", world.visitor("nobody"), {}),
        ("/invite/{token}/account", world.visitor(), {"login": "newt", "password": PASSWORD}),
    ):
        with world.store.write() as tx:
            token = people.invite(tx, project_id=world.project, role="verifier", lifetime=timedelta(days=1), by=None)
        walk(visitor, path, form, token=token)
    form = {"provider": "prolific", "role": "verifier", "quota": 2, "code": "C0DE"}
    link = re.search(r"/enter/([\w-]+)", walk(boss, "marketplace", form).text)
    assert link is not None
    who = {"PROLIFIC_PID": "a1", "STUDY_ID": "s1", "SESSION_ID": "v1"}
    walk(world.visitor(), "/enter/{token}", who, token=link[1])
    walk(world.visitor("verifier1"), "/logout")
    walk(world.visitor("nobody"), "leave")
    walk(world.visitor("nobody"), "/account/delete", {"password": PASSWORD})


def _annotators(walk: Walk) -> None:
    world, boss = walk.world, walk.world.visitor("boss")
    writer, verifier = world.visitor("writer"), world.visitor("verifier")
    walk(writer, "my-letters/{letter_id}/read")
    walk(writer, "my-letters/{letter_id}/reply", {"text": "Gladly."})
    walk(writer, "my-letters", {"text": "May I ask something?"})
    held = world.one(select(assignments.c.id).where(assignments.c.kind == "write", assignments.c.state == "leased"))
    walk(writer, "mine/remarks", {"assignment": held, "text": "A word is missing."})
    with world.store.write() as tx:
        save_draft(tx, held, world.people["writer"], revision=1, content={})
        skip(tx, held, world.people["writer"])
    walk(writer, "write/resume", {"assignment": held})
    with world.store.write() as tx:
        task = claim(tx, world.project, world.people["verifier"], "verify").tasks[0].assignment_id
        vote(tx, task, world.people["verifier"], key="k", label="neutral", seconds=3)
    walk(verifier, "verify/undo", {"assignment": task, "key": "k"})
    with world.store.write() as tx:
        vote(tx, task, world.people["verifier"], key="k2", label="neutral", seconds=3)
    judged = world.one(select(func.max(answers.c.id)).where(answers.c.person_id == world.people["verifier"]))
    walk(verifier, "mine/{answer_id}/vote", {"label": "contradiction"}, answer_id=judged)
    question = {"name": "sure", "text": "Why?", "kind": "text", "asked": "verify", "required": "", "options": ""}
    walk(boss, "questions", {name: [value] for name, value in question.items()})
    walk(verifier, "mine/{answer_id}/responses", {"name": ["sure"], "response": ["It is so."]}, answer_id=judged)
    walk(verifier, "mine/{answer_id}/withdraw", answer_id=judged)
    with world.store.read() as tx:
        judged_pairs = select(answers.c.pair_id).where(answers.c.pair_id.is_not(None))
        taken = select(assignments.c.pair_id).where(assignments.c.pair_id.is_not(None))
        free = tx.one(
            select(pairs.c.id, pairs.c.answer_id).where(
                pairs.c.project_id == world.project,
                pairs.c.writer_id == world.people["writer"],
                pairs.c.id.not_in(judged_pairs),
                pairs.c.id.not_in(taken),
            )
        )
    assert free is not None
    text = {"pair": free.id, "text": "Somebody saw an animal on a road."}
    walk(writer, "mine/{answer_id}/text", text, answer_id=free.answer_id)
    walk(world.visitor("expert"), "tag/{pair_id}", {"tags": ["lexical"]})
    walk(boss, "consent", {"text": "Answers are published."})
    walk(writer, "agree", {"version": 1})
    with world.store.write() as tx:
        schooled = create_project(tx, "school", make_protocol("single", "en"), by=world.people["boss"]).id
        people.add_member(tx, schooled, world.people["verifier"], "verifier", by=None)
        protocol = projects.project(tx, schooled).protocol
    for number, example in training_examples(protocol, "verifier").items():
        wrong = next(label for label in protocol.answers if label != example.label)
        form = {"example": number, "label": wrong}
        walk(verifier, "training/{role}", form, project_id=schooled, role="verifier")
    again = {"project_id": schooled, "pseudonym": world.called("verifier", schooled)}
    walk(boss, "people/{pseudonym}/training/again", **again)


def _requesters(walk: Walk) -> None:
    world, boss = walk.world, walk.world.visitor("boss")
    walk(boss, "/projects", {"name": "heath", "conditions": "single"})
    walk(boss, "settings", {"pay.floor": "1.00"})
    walk(boss, "premises", {"text": "A heron stood in the cold rain all day.", "genre": "news"})
    row = b'{"premise": "It rained in the hills.", "hypothesis": "It was wet.", "label": "entailment"}\n'
    walk(boss, "pairs", {"origin": "gold"}, files={"file": ("a.jsonl", row, "text/plain")})
    pooled = (premises.c.project_id == world.project, premises.c.number.is_not(None))
    newest = {
        "pair_id": world.one(select(func.max(pairs.c.id)).where(pairs.c.project_id == world.project)),
        "premise_id": world.one(select(func.max(premises.c.id)).where(*pooled)),
    }
    walk(boss, "pairs/{pair_id}", {"hypothesis": "An animal was there.", "label": "neutral"}, **newest)
    walk(boss, "premises/{premise_id}", {"text": "Yesterday it rained in all the hills."}, **newest)
    walk(boss, "premises/{premise_id}/visibility", {"state": "hidden"})
    walk(boss, "pairs/{pair_id}/visibility", {"state": "hidden"})
    with world.store.write() as tx:
        decided = (pairs.c.project_id == world.project, pairs.c.verdict.is_not(None))
        tie = tx.value(select(func.max(pairs.c.id)).where(*decided))
        tx.change(pairs, tie, verdict="-")
    walk(boss, "pairs/{pair_id}/adjudication", {"label": "neutral"}, pair_id=tie)
    example = {"premise": "It rained.", "hypothesis": "It was wet.", "label": "entailment", "explanation": "So it is."}
    walk(boss, "examples", {name: [value] for name, value in example.items()})
    walk(boss, "texts", {"name": "verifying", "action": "save", "text": "Judge."})
    walk(boss, "people/{pseudonym}/{role}", {"state": "paused"}, role="writer")
    walk(
        boss,
        "people/{pseudonym}/work/decide",
        {"decision": "requeue", "reason": "hasty", "work": "verify"},
        pseudonym=world.called("verifier1"),
    )
    newest = world.one(select(func.max(decisions.c.id)))
    walk(boss, "decisions/{decision_id}/continue", decision_id=newest)
    walk(boss, "decisions/{decision_id}/back", decision_id=newest)
    walk(boss, "remarks/{remark_id}/resolve", {"answer": "Mended."})
    walk(boss, "letters", {"text": "Thank you."})
    walk(boss, "invitations", {"role": "writer"})
    walk(boss, "invitations/{invite_id}/revoke", invite_id=world.one(select(func.max(invites.c.id))))
    pay = {"to": world.called("writer"), "amount": "0.10"}
    walk(boss, "ledger", {**pay, "kind": "bonus", "reason": "kind", "key": "a"})
    walk(boss, "ledger/{line_id}/reverse", {"reason": "by mistake"})
    walk(boss, "checks/{check_id}", {})
    walk(boss, "payouts", {**pay, "on": DAY, "key": "b"})
    walk(boss, "payouts/everybody", {"on": DAY, "key": "c"})
    walk(boss, "payouts/top-up")
    walk(boss, "export")
    walk(boss, "webhooks", {"url": "https://hooks.example/x", "events": ["pair.verified"]})
    walk(boss, "webhooks/{webhook_id}/remove", webhook_id=world.one(select(func.max(webhooks.c.id))))


def _managing(walk: Walk) -> None:
    boss = walk.world.visitor("boss")
    answer = boss.post(f"/projects/{walk.world.project}/tryout", {"role": "verifier"})
    number = answer.headers["location"].split("/")[2]
    walk.sent.add("/projects/{project_id}/tryout")
    walk(boss, "tryout/end", project_id=number)
    walk(boss, "rename", {"name": "glade"})
    walk(boss, "clone", {"name": "copy"})
    walk(boss, "state", {"state": "paused"})
    walk(boss, "archive")
    walk(boss, "restore")
    walk(boss, "delete", {"name": "glade"})


SHOWN = re.compile(r'(?:<input value="|<p><code>)([^"<]{20,})(?:" readonly|</code>)')
SECRETS = [
    ("/account/tokens", {"name": "nightly", "scopes": ["requester"]}, tokens),
    ("/projects/{project_id}/invitations", {"role": "writer"}, invites),
    ("/projects/{project_id}/marketplace", {"provider": "prolific", "role": "verifier", "code": "C0DE"}, invites),
    ("/projects/{project_id}/webhooks", {"url": "https://hooks.example/x", "events": ["pair.verified"]}, webhooks),
    ("/projects/{project_id}/people/{pseudonym}/password", {}, None),
]


@pytest.mark.parametrize(("path", "form", "table"), SECRETS, ids=[path for path, *_ in SECRETS])
def test_a_secret_is_shown_once_and_made_once(world: World, path: str, form: dict[str, Any], table: Any) -> None:
    boss, other = world.visitor("boss"), world.visitor("boss")
    address = path.format(**objects(world, world.project))
    rows = select(func.count()).select_from(table) if table is not None else select(0)
    before = world.one(rows)
    answer = boss.post(address, form)
    assert (answer.status_code, answer.headers["location"]) == (303, address)
    kept = answer.headers["set-cookie"]
    assert all(part in kept for part in (COOKIE, "HttpOnly", f"Path={address}", "SameSite=strict", "Max-Age=60"))
    assert not SHOWN.search(other.get(address).text), "another browser"
    shown = SHOWN.search(boss.get(address).text)
    assert shown is not None
    for again in (boss.get(address), boss.get(address)):
        assert shown[1] not in again.text
    assert world.one(rows) == before + (table is not None)


def test_nobody_puts_a_link_of_theirs_on_a_page(world: World) -> None:
    boss, rival = world.visitor("boss"), world.visitor("rival")
    for number, visitor in ((world.project, boss), (world.other, rival)):
        answer = visitor.post(f"/projects/{number}/invitations", {"role": "writer"})
        sealed = answer.headers["set-cookie"].split(";")[0].partition("=")[2]
        shown = {"cookie": f"goldlabel_session={boss.client.cookies['goldlabel_session']}; {COOKIE}={sealed}"}
        page = Visitor(world.app).get(f"/projects/{world.project}/invitations", headers=shown)
        assert page.status_code == 200
        assert ("/invite/" in page.text) == (visitor is boss)
