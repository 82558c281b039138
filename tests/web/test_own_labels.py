"""Labels and training examples of a requester's own."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from sqlalchemy import select

from goldlabel.collect.data.export import export_project
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.schema import projects as project_rows
from goldlabel.collect.texts import training_examples
from goldlabel.pairs import read
from tests.collect.campaign import join, verify_all
from tests.web.world import Visitor, World

FORM = {"name": "meadow", "kind": "human-baseline", "language": "en", "labels": "yes, perhaps , no"}
EXAMPLES = {
    "premise": ["A boat lies here.", "A lamp burns.", ""],
    "hypothesis": ["Something lies here.", "It is dark everywhere.", ""],
    "label": ["yes", "no", "yes"],
    "explanation": ["A boat is something.", "A lamp gives light.", ""],
}


@pytest.fixture
def boss(empty: World) -> Visitor:
    return empty.visitor("boss")


def test_a_project_with_labels_of_its_own(empty: World, boss: Visitor, tmp_path: Path) -> None:
    home = boss.post("/projects", FORM).headers["location"]
    project_id = empty.one(select(project_rows.c.id))
    rows = [{"premise": "A boat lies here.", "hypothesis": f"Number {n}.", "label": "no"} for n in range(3)]
    file = {"file": ("pairs.jsonl", b"".join(orjson.dumps(row) + b"\n" for row in rows))}
    assert "3 of 3 pairs were added" in boss.send(f"{home}/pairs", {"origin": "imported"}, files=file).text
    people = join(empty.store, project_id, "verifier", 5)
    assert verify_all(empty.store, project_id, people, lambda n, *_: ("yes", "no")[n % 2]) == 15
    for part in ("", "/pairs", "/settings", "/import", "/texts", "/examples", "/ties"):
        assert boss.get(home + part).status_code == 200, part
    export_project(empty.store, project_id, tmp_path / "out")
    data = read(tmp_path / "out")
    assert data.card.label_space.labels == ("no", "perhaps", "yes")
    assert {len(votes) for votes in data.collect()["votes"]} == {5}
    with empty.store.read() as tx:
        assert project(tx, project_id).protocol.answers == ("yes", "perhaps", "no")
        assert not check(tx, project_id)


@pytest.mark.parametrize(
    "labels", ["yes", "yes,yes", "yes,", "a,b,c,d,e,f,g,h,i,j", "yes,-", "yes,unrelated", f"a,{'b' * 41}"]
)
def test_labels_that_cannot_be(empty: World, boss: Visitor, labels: str) -> None:
    answer = boss.post("/projects", {**FORM, "labels": labels})
    assert answer.status_code == 422
    assert "two to 9 different words" in answer.text
    assert empty.one(select(project_rows.c.id)) is None


def test_training_examples_are_edited(empty: World, boss: Visitor) -> None:
    home = boss.post("/projects", FORM).headers["location"]
    project_id = empty.one(select(project_rows.c.id))
    assert boss.send(f"{home}/examples", EXAMPLES).status_code == 200
    with empty.store.read() as tx:
        protocol = project(tx, project_id).protocol
    assert [(one.premise, one.label) for one in training_examples(protocol, "verifier").values()] == [
        ("A boat lies here.", "yes"),
        ("A lamp burns.", "no"),
    ]
    assert "A lamp gives light." in boss.get(f"{home}/examples").text
    broken = {**EXAMPLES, "explanation": ["", "A lamp gives light.", ""]}
    answer = boss.post(f"{home}/examples", broken)
    assert (answer.status_code, "Example 1: explanation is missing" in answer.text) == (422, True)
    assert boss.post(f"{home}/examples", {**EXAMPLES, "label": ["maybe", "no", "no"]}).status_code == 422
    assert (
        boss.post(f"{home}/examples", {"premise": "", "hypothesis": "", "label": "", "explanation": ""}).status_code
        == 303
    )
    with empty.store.read() as tx:
        assert project(tx, project_id).protocol.qualification.training == 0


def test_examples_of_goldlabel_stand_in_again(empty: World, boss: Visitor) -> None:
    home = boss.post("/projects", {**FORM, "labels": ""}).headers["location"]
    project_id = empty.one(select(project_rows.c.id))
    own = {**EXAMPLES, "label": ["entailment", "contradiction", "neutral"]}
    assert boss.post(f"{home}/examples", own).status_code == 303
    with empty.store.read() as tx:
        assert len(training_examples(project(tx, project_id).protocol, "verifier")) == 2
    assert boss.post(f"{home}/examples", {}).status_code == 303
    with empty.store.read() as tx:
        assert len(training_examples(project(tx, project_id).protocol, "verifier")) == 2
        assert not project(tx, project_id).protocol.examples
