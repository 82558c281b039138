"""``goldlabel``'s own names: plain functions, whatever was imported before them."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import subprocess
import sys

import pytest

import goldlabel as gl

ROOMS = ("audit", "train", "verify")

ORDERS = """
import importlib, inspect, sys
orders = [
    ["goldlabel"],
    ["goldlabel.{room}"],
    ["goldlabel.{room}.{inner}"],
    ["goldlabel", "goldlabel.{room}.{inner}"],
    ["goldlabel.cli.app"],
]
for room, inner in {rooms}:
    for order in orders:
        for name in [name for name in sys.modules if name.split(".")[0] == "goldlabel"]:
            del sys.modules[name]
        for name in order:
            importlib.import_module(name.format(room=room, inner=inner))
        import goldlabel
        assert inspect.isfunction(getattr(goldlabel, room)), (room, order)
        exec(f"from goldlabel.{{room}} import {{inner}}, {{room}}; assert inspect.ismodule({{inner}})")
        exec(f"import goldlabel.{{room}}.{{inner}}; assert goldlabel.{{room}} is {{room}}")
        exec(f"from goldlabel import {{room}}; assert inspect.isfunction({{room}})")
"""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_called_by_a_plain_function(room: str) -> None:
    function = getattr(gl, room)
    assert inspect.isfunction(function)
    first = next(iter(inspect.signature(function).parameters.values()))
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    assert f"{room}({first.name}" in pydoc.plain(pydoc.render_doc(function))
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_order_of_imports_does_not_matter() -> None:
    rooms = [("audit", "auditing"), ("train", "options"), ("verify", "votes")]
    program = ORDERS.format(rooms=rooms, room="{room}", inner="{inner}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
