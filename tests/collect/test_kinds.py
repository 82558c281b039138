"""Every kind of collection keeps the same contract, and nothing else asks for a kind by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import goldlabel.collect
from goldlabel.collect.data.new_pairs import IMPORTS
from goldlabel.collect.kinds import KINDS, offered_kinds
from goldlabel.collect.kinds.kind import WORKS
from goldlabel.collect.people.people import ROLES
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.texts import instructions
from goldlabel.errors import InputError
from goldlabel.web.requester.settings import SETTINGS

PACKAGE = Path(goldlabel.collect.__file__).parent.parent
ROOMS = (PACKAGE / "collect", PACKAGE / "web", PACKAGE / "cli" / "collect.py")


def named_in(path: Path) -> Iterator[str]:
    """Yield the names of kinds that a file knows: whole strings in code, quoted words and choices elsewhere."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and node.value in KINDS:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
    for name in KINDS if path.suffix != ".py" else ():
        for match in re.finditer(rf"""["'\[=.-]{re.escape(name)}["'\]]""", source):
            yield f"{path.relative_to(PACKAGE)}: {match.group()}"


def test_nothing_else_asks_for_a_kind_by_name() -> None:
    files = [
        path
        for room in ROOMS
        for path in ([room] if room.is_file() else room.rglob("*"))
        if path.suffix in (".py", ".html", ".js", ".css") and PACKAGE / "collect" / "kinds" not in path.parents
    ]
    assert len(files) > 80
    assert [found for path in files for found in named_in(path)] == []


def test_the_search_for_names_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.collect.test_kinds.PACKAGE", tmp_path)
    for name, text in {
        "a.py": 'if project.kind == "elicitation": ...',
        "a.html": "{% if project.kind == 'vetting' %}",
        "a.css": "form:has([value=elicitation]:checked) {}",
        "a.js": 'if (kind === "human-baseline") {}',
    }.items():
        path = tmp_path / name
        path.write_text(text)
        assert len(list(named_in(path))) == 1, name


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_keeps_the_contract(name: str) -> None:
    kind = KINDS.get(name)
    assert kind.name == name
    assert {*kind.roles} <= {*ROLES}
    assert {*kind.imports} <= {*IMPORTS}
    assert kind.own in (("written",) if kind.writes else kind.imports)
    assert {*kind.settings} <= {setting.key for setting in SETTINGS}
    assert [work.name for work in kind.works] == [name for name in WORKS if WORKS[name] in kind.works]
    assert kind.before(kind.works[0].name) == []
    for ready_made in kind.protocols:
        protocol = kind.make([ready_made], "en")
        assert protocol.kind == kind.name
        assert bool(protocol.conditions) == kind.has_conditions
        assert kind.text_for("verifier", "") in kind.texts(protocol)
        assert all(instructions(text, protocol) for text in kind.texts(protocol))
        assert {*kind.words} <= {*protocol.label_space.labels, *kind.settings}
        assert kind.policy(protocol).first == protocol.verifying.verifiers


def test_what_can_be_made_and_what_can_be_joined() -> None:
    assert [kind.name for kind in offered_kinds()] == ["elicitation", "adversarial", "human-baseline", "vetting"]
    names = {name for kind in offered_kinds() for name in kind.protocols}
    assert all(make_protocol(name, "en").kind in KINDS for name in names)
    with pytest.raises(InputError, match=r"there is no protocol 'elicitation'; allowed: adversarial, assisted, human-"):
        make_protocol("elicitation", "en")
    for other in ("vetting", "adversarial"):
        with pytest.raises(InputError, match=f"there is no protocol '{other}'; allowed: multi, "):
            make_protocol(f"multi,{other}", "en")
