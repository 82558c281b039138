"""An audit that was interrupted goes on: what the models of its folds have answered is asked of none again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import goldlabel as gl
from goldlabel.executors import OnDone, OnTold, Work
from goldlabel.executors.executor import attempt
from tests.bench.samples import pairs


class Breakable:
    """Does some pieces, and is then interrupted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.done: list[str] = []

    def run(
        self,
        function: Callable[..., Any],
        work: Work,
        on_done: OnDone,
        *,
        on_told: OnTold | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        for name, arguments in work.items():
            if len(self.done) == self.most:
                raise KeyboardInterrupt
            self.done.append(name)
            on_done(name, attempt(function, lambda _: False, arguments))


def test_the_same_audit_takes_up_what_is_done_and_no_other_does(home: Path) -> None:
    data = pairs("train", 60)
    options: dict[str, Any] = {"models": ("linear",), "label_errors": "linear", "resume": True}
    interrupted, other, again = Breakable(7), Breakable(2), Breakable(20)
    with pytest.raises(KeyboardInterrupt):
        gl.audit(data, executor=interrupted, **options)
    with pytest.raises(KeyboardInterrupt):
        gl.audit(data, executor=other, **options, seed=1)
    assert len(list((home / "folds").iterdir())) == 9
    resumed = gl.audit(data, executor=again, **options)
    assert other.done == interrupted.done[:2], "another seed has other folds"
    assert again.done == [f"linear without fold {number}" for number in (3, 4, 5)]
    assert len(list((home / "folds").iterdir())) == 2, "what is done with is gone"
    whole = gl.audit(data, **options | {"resume": False})
    assert resumed.to_dict() == whole.to_dict()
