from __future__ import annotations

import io
import logging
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import StatementError

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.premises import Premise
from goldlabel.collect.people import accounts, people
from goldlabel.collect.people.pseudonyms import pseudonyms_of
from goldlabel.collect.schema import assignments, events, metadata, sessions
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.rules import Hypothesis
from goldlabel.collect.work.writing import submit
from goldlabel.web.security import API, BODY, HEADERS, SESSION, SMALL_BODY, local_path
from tests.collect.campaign import small_protocol
from tests.collect.conftest import MovableClock
from tests.collect.postgres import Cluster
from tests.web.world import PASSWORD, Visitor, World, login_of, objects, opened, populate

EVERYBODY = {"/login", "/invite/{token}", "/invite/{token}/account", "/language/{language}", "/theme/{theme}"}
EVERYBODY |= {"/api/session", "/enter/{token}", "/healthz", "/readyz"}
WHO_IS_LOGGED_IN = {"/", "/account", "/account/password", "/account/delete", "/logout"}
EVERYBODY |= {"/login/code", "/password/{token}"}
WHO_IS_LOGGED_IN |= {"/account/contact", "/account/second-factor", "/account/second-factor/off"}
WHO_IS_LOGGED_IN |= {"/account/second-factor/confirm"}
WHO_IS_LOGGED_IN |= {"/account/tokens", "/account/tokens/{token_id}/withdraw"}
WHO_RUNS_PROJECTS = {"/projects", "/projects/new"}
WHO_HAS_A_ROLE = {
    f"/projects/{{project_id}}/{path}": ("requester", "writer", "verifier", "expert")
    for path in (
        "my-pay",
        "leave",
        "mine",
        "my-letters",
        "my-letters/{letter_id}/read",
        "my-letters/{letter_id}/reply",
        "agree",
        "mine/remarks",
        "mine/{answer_id}/vote",
        "mine/{answer_id}/text",
        "mine/{answer_id}/responses",
        "mine/{answer_id}/withdraw",
    )
}
WHO_CAME_FROM_A_MARKETPLACE = "/projects/{project_id}/completion"
WHO_WORKS = {
    "/projects/{project_id}/write": ("writer",),
    "/projects/{project_id}/verify": ("verifier",),
    "/projects/{project_id}/write/resume": ("writer",),
    "/projects/{project_id}/verify/undo": ("verifier",),
    "/projects/{project_id}/tag": ("expert",),
    "/projects/{project_id}/tag/{pair_id}": ("expert",),
    "/projects/{project_id}/instructions/{role}": ("writer",),
    "/projects/{project_id}/training/{role}": ("writer",),
    "/api/projects/{project_id}/claim": ("writer",),
}
BODIES: dict[str, dict[str, Any]] = {
    "claim": {"kind": "write"},
    "draft": {"revision": 1, "content": {}},
    "check": {"hypotheses": []},
    "submit": {"key": "k", "hypotheses": []},
    "unusable": {"key": "k", "note": "cut off"},
    "vote": {"key": "k", "label": "neutral"},
    "undo": {"key": "k"},
    "tries": {"key": "k", "text": "It rained."},
    "finish": {"key": "k"},
}
"""Valid bodies of JSON routes, by the last part of their address."""
FORMS: dict[str, dict[str, Any]] = {
    "training/writer": {"example": 0, "label": "neutral"},
    "write/resume": {"assignment": 1},
    "verify/undo": {"assignment": 1, "key": "k"},
}


def routes(world: World) -> list[tuple[str, str]]:
    """Every method and path of the application, but for those of programs, which have their own walk."""
    paths = world.app.openapi()["paths"]
    return [
        (method.upper(), path)
        for path, operations in paths.items()
        for method in operations
        if not path.startswith(API)
    ]


def allowed_roles(path: str) -> tuple[str, ...]:
    """Who may use a path of a project; what is not named is for its requester."""
    return (WHO_HAS_A_ROLE | WHO_WORKS).get(path, ("requester",))


def call(visitor: Visitor, method: str, path: str, **options: Any) -> Any:
    headers = {"x-csrf-token": visitor.token()}
    body = BODIES.get(path.rsplit("/", 1)[-1]) if path.startswith("/api/") else None
    form = FORMS.get("/".join(path.rsplit("/", 2)[-2:])) if method == "POST" else None
    return visitor.client.request(method, path, headers=headers, json=body, data=form, **options)


def filled(path: str, values: dict[str, Any]) -> str:
    return path.format(
        **{"role": "writer", "token": "x", "language": "zh", "theme": "dark", "token_id": 1, "webhook_id": 1, **values}
    )


def test_every_route_refuses_who_has_no_business_there(world: World) -> None:
    mine = objects(world, world.project)
    names = {"requester": "boss", "writer": "writer", "verifier": "verifier", "expert": "expert"}
    visitors = {role: world.visitor(name) for role, name in names.items()}
    strangers = {"no project": world.visitor("nobody"), "another project": world.visitor("rival")}
    strangers |= {"another project's writer": world.visitor("rival's writer")}
    tried = 0
    for method, path in routes(world):
        if "{project_id}" not in path:
            continue
        address = filled(path, mine)
        for role, visitor in visitors.items():
            if role not in allowed_roles(path):
                answer = call(visitor, method, address)
                assert answer.status_code in (403, 404), (method, path, role, answer.status_code)
                tried += 1
        for who, visitor in strangers.items():
            answer = call(visitor, method, address)
            assert answer.status_code == 404, (method, path, who, answer.status_code)
            tried += 1
        answer = call(world.visitor(), method, address)
        assert answer.status_code in (303, 401), (method, path, answer.status_code)
        if answer.status_code == 303:
            assert answer.headers["location"].startswith("/login?next=%2F")
    assert tried > 150


def test_every_route_answers_who_may(world: World) -> None:
    """The walk above would pass with wrong addresses, too: here they lead somewhere."""
    mine = objects(world, world.project)
    visitors = {"requester": world.visitor("boss"), "writer": world.visitor("writer1")}
    visitors |= {"verifier": world.visitor("verifier"), "expert": world.visitor("expert")}
    for method, path in routes(world):
        if "{project_id}" in path and method == "GET" and path != WHO_CAME_FROM_A_MARKETPLACE:
            for role in allowed_roles(path):
                answer = call(visitors[role], method, filled(path, mine))
                assert answer.status_code in (200, 303), (method, path, role, answer.status_code)


def test_routes_outside_projects(world: World) -> None:
    known = EVERYBODY | WHO_IS_LOGGED_IN | WHO_RUNS_PROJECTS
    outside = {path for _, path in routes(world) if "{project_id}" not in path}
    assert {path for path in outside if not path.startswith("/api/assignments/")} == known
    stranger, writer = world.visitor(), world.visitor("writer")
    for method, path in routes(world):
        if path in WHO_IS_LOGGED_IN | WHO_RUNS_PROJECTS:
            assert call(stranger, method, path).status_code in (303, 401), path
        if path in WHO_RUNS_PROJECTS:
            assert call(writer, method, path).status_code == 403, path


def test_a_task_is_for_who_holds_it(world: World) -> None:
    with world.store.read() as tx:
        held = tx.all(select(assignments).where(assignments.c.project_id == world.project))
    theirs = {row.kind: row for row in held}
    for kind, row in theirs.items():
        for name in ("boss", "rival", "nobody", "writer1", "verifier1", "expert", "rival's writer"):
            if world.people[name] == row.person_id:
                continue
            for method, path in routes(world):
                if path.startswith("/api/assignments/"):
                    answer = call(world.visitor(name), method, path.format(assignment_id=row.id))
                    assert answer.status_code == 404, (kind, name, method, path, answer.text)
                    assert answer.json()["error"] == "missing"


def test_things_of_another_project_do_not_exist(world: World) -> None:
    mine, theirs = objects(world, world.project), objects(world, world.other)
    boss = world.visitor("boss")
    visitors = {"requester": boss, "expert": world.visitor("expert")}
    forms = {
        "{pair_id}": {"tags": "lexical", "hypothesis": "It rains.", "label": "neutral"},
        "visibility": {"state": "hidden"},
        "adjudication": {"label": "neutral"},
        "reverse": {"reason": "no"},
        "decide": {"decision": "reject", "reason": "no"},
        "vote": {"label": "neutral"},
        "reply": {"text": "thank you"},
        "text": {"pair": 1, "text": "It rains."},
        "ledger": {"to": theirs["pseudonym"], "kind": "bonus", "amount": "1", "reason": "x", "key": "x"},
    }
    tried = 0
    for method, path in routes(world):
        for name in (
            "pair_id",
            "pseudonym",
            "invite_id",
            "line_id",
            "check_id",
            "decision_id",
            "remark_id",
            "answer_id",
        ):
            if f"{{{name}}}" in path:
                address = filled(path, {**mine, name: theirs[name]})
                who = visitors[allowed_roles(path)[0]]
                data = {"csrf": who.token(), **forms.get(path.rsplit("/", 1)[-1], {})}
                answer = who.client.request(method, address, **({"data": data} if method == "POST" else {}))
                assert answer.status_code == 404, (method, path, answer.status_code)
                tried += 1
    assert tried >= 7
    answer = boss.post(f"/projects/{world.project}/ledger", forms["ledger"])
    assert answer.status_code == 404


def test_unsafe_requests_need_the_token(world: World) -> None:
    mine, boss = objects(world, world.project), world.visitor("boss")
    other = world.visitor("boss")
    before = _rows(world)
    unsafe = [(method, path) for method, path in routes(world) if method not in ("GET", "HEAD")]
    for method, path in unsafe:
        address = filled(path.replace("{assignment_id}", "1"), mine)
        for options in ({}, {"data": {"csrf": "guess"}}, {"headers": {"x-csrf-token": other.csrf}}):
            answer = boss.client.request(method, address, **options)
            assert answer.status_code == 403, (method, path, options, answer.status_code)
    cross = {"x-csrf-token": boss.csrf, "sec-fetch-site": "cross-site"}
    assert boss.client.post(f"/projects/{world.project}/state", headers=cross).status_code == 403
    assert _rows(world) == before
    assert len(unsafe) >= 25


def test_strangers_have_a_token_of_their_own(world: World) -> None:
    one, other = world.visitor(), world.visitor()
    form = {"login": login_of("nobody"), "password": PASSWORD}
    assert one.client.post("/login", data=form).status_code == 403
    assert one.client.post("/login", data={**form, "csrf": other.token()}).status_code == 403
    assert one.post("/login", form).status_code == 303


@pytest.mark.parametrize(
    "path", ["/login", "/nothing", "/static/site.css", "/static/nothing", "/api/session", "/", "/x/"]
)
def test_every_answer_has_its_headers(world: World, path: str) -> None:
    answer = world.visitor().get(path)
    for name, value in HEADERS.items():
        if name != "cache-control":
            assert answer.headers[name] == value
    assert "server" not in answer.headers
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_pages_are_not_kept_and_static_files_are(world: World) -> None:
    visitor = world.visitor()
    text = visitor.get("/login").text
    assert visitor.get("/login").headers["cache-control"] == "no-store"
    address = re.search(r'href="(/static/site\.css\?[^"]+)"', text)
    assert address is not None
    answer = visitor.get(address[1])
    assert "immutable" in answer.headers["cache-control"]
    assert "set-cookie" not in answer.headers


def test_no_page_holds_what_the_policy_forbids(world: World) -> None:
    for page in _crawl(world.visitor("boss")).values():
        found = _Elements(page)
        assert not found.inline, found.inline
        assert all(urlsplit(address).netloc == "" for address in found.addresses), found.addresses


@pytest.mark.parametrize(("base", "secure"), [("http://localhost", False), ("https://label.example", True)])
def test_the_session_cookie(world: World, base: str, secure: bool) -> None:
    visitor = world.visitor(base=base)
    answer = visitor.post("/login", {"login": login_of("nobody"), "password": PASSWORD})
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(f"{SESSION}="))
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert ("Secure" in cookie) == secure


def test_wrong_passwords_are_counted(empty: World, clock: MovableClock) -> None:
    visitor = empty.visitor()
    for _ in range(10):
        assert visitor.post("/login", {"login": login_of("boss"), "password": "wrong one"}).status_code == 403
    answer = visitor.post("/login", {"login": login_of("BOSS"), "password": PASSWORD})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 900
    assert visitor.post("/login", {"login": "somebody", "password": "wrong one"}).status_code == 403
    clock.move(minutes=16)
    assert visitor.post("/login", {"login": login_of("boss"), "password": PASSWORD}).status_code == 303


def test_a_good_login_forgets_wrong_ones(empty: World) -> None:
    visitor = empty.visitor()
    for password in (*["wrong one"] * 9, PASSWORD, *["wrong one"] * 9):
        answer = visitor.post("/login", {"login": login_of("boss"), "password": password})
        visitor.client.cookies.delete(SESSION)
    assert answer.status_code == 403


def test_invitations_cannot_be_guessed_forever(empty: World) -> None:
    visitor = empty.visitor()
    codes = {
        visitor.post(f"/invite/guess{n}/account", {"login": "x", "password": PASSWORD}).status_code for n in range(61)
    }
    assert codes == {404, 429}


def test_sessions_end(empty: World, clock: MovableClock) -> None:
    boss, elsewhere = empty.visitor("boss"), empty.visitor("boss")
    assert boss.get("/").status_code == 200
    answer = boss.post("/account/password", {"old": PASSWORD, "new": "quite another one"})
    assert answer.status_code == 303
    assert elsewhere.get("/").headers["location"].startswith("/login")
    assert elsewhere.get("/api/session").json()["signed_in"] is False
    boss.csrf = boss.get("/api/session").json()["csrf"]
    assert boss.get("/").status_code == 200
    again = empty.visitor("boss")
    assert again.post("/logout").status_code == 303
    assert again.get("/").status_code == 303
    assert boss.get("/").status_code == 200
    clock.move(days=15)
    assert boss.get("/").status_code == 303
    answer = boss.post("/projects", {"name": "late"}, headers={"accept": "application/json"})
    assert answer.status_code == 403
    boss.csrf = ""
    answer = boss.post("/projects", {"name": "late"}, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (401, "signed_out")
    assert empty.one(select(func.count()).select_from(sessions)) > 0


def test_bodies_are_bounded(world: World) -> None:
    stranger, boss = world.visitor(), world.visitor("boss")
    token = {"x-csrf-token": stranger.token(), "content-type": "application/x-www-form-urlencoded"}
    assert stranger.client.post("/login", content=b"x" * (SMALL_BODY + 1), headers=token).status_code == 413
    chunks = (b"x" * 1000 for _ in range(SMALL_BODY // 1000 + 2))
    assert stranger.client.post("/login", content=chunks, headers=token).status_code == 413
    token["x-csrf-token"] = boss.token()
    answer = boss.client.post("/projects", content=b"x" * (BODY + 1), headers=token)
    assert answer.status_code == 413
    assert "Nothing was changed" in answer.text
    file = {"file": ("many.txt", b"A sentence that is long enough.\n" * (BODY // 20), "text/plain")}
    answer = boss.client.post(
        f"/projects/{world.project}/premises", files=file, data={"csrf": boss.token()}, headers={"accept": "text/html"}
    )
    assert answer.status_code == 303


EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&"


def test_what_people_write_is_never_markup(empty: World) -> None:
    world = empty
    boss = world.people["boss"]
    chosen = small_protocol("multi-constraint", verifiers=1)
    chosen = replace(
        chosen,
        conditions=tuple(replace(one, checked_share=1.0) for one in chosen.conditions),
        writing=replace(chosen.writing, overlap=1.0),
        instructions={"multi-constraint": f"# {EVIL}\n\n[link](javascript:alert(3)) ![x](http://evil.example/x.png)"},
    )
    with world.store.write() as tx:
        made = create_project(tx, f"Project {EVIL}", chosen, by=boss)
        text = f"A premise {EVIL} that somebody brought along"
        premise = Premise(text=text, genre=f"g{EVIL}", source=f"s{EVIL}", original_id=EVIL, meta={EVIL: EVIL})
        add_premises(tx, made.id, [premise] * 2, by=boss)
        for role in ("writer", "verifier"):
            world.people[role] = accounts.create_account(tx, f"{role}<b>x</b>", "no hash")
            people.add_member(tx, made.id, world.people[role], role, by=boss)
        task = claim(tx, made.id, world.people["writer"], "write").tasks[0]
        hypotheses = [
            Hypothesis(label=label, level=level, text=f"{label} {level} {EVIL} xyz")
            for label, level in chosen.slots("multi-constraint")
        ]
        submit(tx, task.assignment_id, world.people["writer"], key="k", hypotheses=hypotheses, timings=None)
    visitor = world.visitor("boss")
    base = f"/projects/{made.id}"
    given = {"to": world.called("writer", made.id), "kind": "bonus", "amount": "1", "reason": EVIL, "key": "k"}
    assert visitor.post(f"{base}/ledger", given).status_code == 303
    pages = _crawl(visitor) | _crawl(world.visitor("writer")) | _crawl(world.visitor("verifier"))
    pages["refused"] = visitor.post("/projects", {"name": f"Project {EVIL}", "conditions": "single"}).text
    pages["typed"] = visitor.send(f"{base}/premises", {"text": EVIL, "genre": EVIL}).text
    pages["preview"] = visitor.post(
        f"{base}/texts", {"name": "multi-constraint", "action": "preview", "text": f"<b>bold</b>{EVIL}"}
    ).text
    shown = 0
    for address, page in pages.items():
        found = _Elements(page)
        assert "alert(" not in "".join(found.scripts), address
        assert not found.inline, (address, found.inline)
        assert not {"img", "b"} & set(found.names), address
        assert not [one for one in found.addresses if one.lower().startswith("javascript:")], address
        shown += "onerror" in page
    assert shown > 10


def test_no_secrets_in_logs_or_exports(empty: World, caplog: pytest.LogCaptureFixture) -> None:
    world = populate(empty, premises=6)
    with caplog.at_level(logging.DEBUG):
        visitor = world.visitor()
        visitor.post("/login", {"login": login_of("boss"), "password": "a wrong password"})
        visitor.post("/login", {"login": login_of("boss"), "password": PASSWORD})
        visitor.csrf = visitor.get("/api/session").json()["csrf"]
        token = visitor.client.cookies[SESSION]
        made = visitor.send(f"/projects/{world.project}/invitations", {"role": "writer"})
        link = re.search(r"/invite/([\w-]{20,})", made.text)
        assert link is not None
        visitor.get(f"/invite/{link[1]}")
        packed = world.export(visitor, world.project, audit="true")
    assert packed.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(packed.content))
    with world.store.read() as tx:
        hashes = [row[0] for row in tx.all(select(metadata.tables["accounts"].c.password_hash))]
        logins = [row[0] for row in tx.all(select(metadata.tables["accounts"].c.login))]
        told = "".join(str(row.data) for row in tx.all(select(events)))
    logged = "".join(str(one.getMessage()) for one in caplog.records if not one.name.startswith(("httpx", "asyncio")))
    secrets = [PASSWORD, "a wrong password", token, visitor.csrf, link[1], *hashes]
    exported = b"".join(archive.read(name) for name in archive.namelist()).decode("utf-8", "replace")
    for secret in secrets:
        assert secret not in logged
        assert secret not in exported
        assert secret not in told
    for login in logins:
        assert login not in exported


def test_a_fault_is_answered_in_words_and_logged_without_what_was_sent(
    empty: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {"password_hash": "the secret"}

    def fail(*_: object, **__: object) -> None:
        raise StatementError("broken", "INSERT", sent, ValueError("inner"))

    monkeypatch.setattr("goldlabel.web.requester.projects.create_project", fail)
    boss = empty.visitor("boss")
    answer = boss.post("/projects", {"name": "meadow", "conditions": "single"})
    assert answer.status_code == 500
    assert "Nothing was half-stored" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "broken" in caplog.text
    assert "the secret" not in caplog.text
    json = boss.post("/projects", {"name": "meadow", "conditions": "single"}, headers={"accept": "application/json"})
    assert json.json()["error"] == "failed"


def test_a_lost_database_is_told(empty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    boss = empty.visitor("boss")
    monkeypatch.setattr(type(empty.store), "read", _lost)
    answer = boss.get("/")
    assert answer.status_code == 503
    assert "content-security-policy" in answer.headers


def test_the_same_pages_on_postgresql(cluster: Cluster) -> None:
    with opened(cluster.new_database()) as world:
        populate(world, premises=6)
        boss = world.visitor("boss")
        assert len(_crawl(boss, most=60)) == 60
        home = f"/projects/{world.project}"
        for address in ("/pairs?writer=%00", "/pairs?genre=%00&word=%00", "/queue?genre=%00", "/texts?name=%00"):
            assert boss.get(home + address).status_code in (200, 404, 422), address
        assert boss.get("/invite/%00").status_code == 404
        answer = boss.send(
            f"{home}/premises", {"text": "A \0 lamp burns in the harbour.", "genre": "\0", "source": "\0"}
        )
        assert "1 of 1 sentences were added" in answer.text
        assert boss.post("/login", {"login": "\0", "password": "\0" * 8}).status_code == 403
        assert boss.post(f"{home}/export").status_code == 303


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("/projects/1?x=1", "/projects/1?x=1"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nset-cookie: x", "/"),
        ("", "/"),
        (None, "/"),
    ],
)
def test_nobody_is_sent_elsewhere(address: str | None, kept: str) -> None:
    assert local_path(address) == kept


def test_login_goes_back_only_to_this_server(world: World) -> None:
    visitor = world.visitor()
    form = {"login": login_of("nobody"), "password": PASSWORD, "next": "//evil.example/"}
    assert visitor.post("/login", form).headers["location"] == "/"
    assert visitor.get("/language/zh?next=//evil.example").headers["location"] == "/"


def _lost(*_: object) -> Any:
    from goldlabel.errors import StorageError

    raise StorageError("the disk is gone")


def _rows(world: World) -> dict[str, int]:
    """How many rows every table has, sessions and counters of tries aside."""
    with world.store.read() as tx:
        return {
            name: tx.value(select(func.count()).select_from(table))
            for name, table in metadata.tables.items()
            if name not in ("sessions", "rate_buckets", "events")
        }


class _Elements(HTMLParser):
    """The elements of a page that could do harm."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.inline: list[str] = []
        self.addresses: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self._script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.append(tag)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        self.inline += [tag] if tag in ("style", "base", "iframe", "object", "embed") else []
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "formaction")]
        self.links += [given.get("href") or ""] if tag == "a" else []
        if tag == "script":
            data = given.get("type") == "application/json"
            self._script = not data
            self.inline += [] if data or given.get("src") else [tag]

    def handle_endtag(self, tag: str) -> None:
        self._script = self._script and tag != "script"

    def handle_data(self, data: str) -> None:
        self.scripts += [data] if self._script else []


def _crawl(visitor: Visitor, most: int = 120) -> dict[str, str]:
    """Look at the pages that a person can get to by links; of pages that are alike, a few."""
    seen: dict[str, str] = {}
    alike: dict[str, int] = {}
    waiting = ["/"]
    while waiting and len(seen) < most:
        address = waiting.pop(0)
        shape = re.sub(r"\d+", "N", re.sub(r"/people/\w+|person=\w+|to=\w+", "person", address))
        if address in seen or alike.get(shape, 0) >= 2:
            continue
        answer = visitor.get(address)
        if answer.status_code == 303:
            waiting.append(answer.headers["location"])
            continue
        assert answer.status_code == 200, (address, answer.status_code, answer.text[-2000:])
        seen[address], alike[shape] = answer.text, alike.get(shape, 0) + 1
        for link in _Elements(answer.text).links:
            full = address.split("?")[0] + link if link.startswith("?") else link
            if full.startswith("/") and not full.startswith(("/static/", "/language/", "/theme/", "/logout")):
                waiting.append(full.split("#")[0])
    assert len(seen) > 1
    return seen


def test_addresses_and_forms_name_people_by_what_they_are_called_in_the_project(world: World) -> None:
    """An id is the same in every project: it would tell who is who."""
    with world.store.read() as tx:
        names = set(pseudonyms_of(tx, world.project).values())
    pages = "".join(_crawl(world.visitor("boss")).values())
    for place in (r"/people/(\w+)", r"[?&](?:amp;)?person=(\w+)", r'name="to" value="(\w+)"'):
        seen = set(re.findall(place, pages))
        assert seen, place
        assert seen <= names, (place, seen - names)
    assert "person_id" not in pages
    assert "person_id" not in world.visitor().get("/api/v1/openapi.json").text


def test_the_crawl_sees_every_page_of_a_requester(world: World) -> None:
    seen = _crawl(world.visitor("boss"))
    templates = {
        re.sub(r"/\d+", "/{}", re.sub(r"/people/\w+", "/people/{}", address.split("?")[0])) for address in seen
    }
    pages = {
        re.sub(r"\{\w+\}", "{}", path)
        for method, path in routes(world)
        if method == "GET" and allowed_roles(path) == ("requester",) and "{project_id}" in path
    }
    hidden = {"/projects/{}/progress", "/projects/{}/figures", "/projects/{}/export/last", "/projects/{}/completion"}
    hidden |= {"/projects/{}/people/{}/password"}
    linked = pages - hidden - {"/projects/{}/import"}
    assert linked <= templates, linked - templates
