"""``goldlabel compare``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.commands import run
from tests.conftest import pair


def test_keys_tables_and_examples(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    pairs = jsonl(*(pair(pairID=f"p{number}", sentence1=f"Heron {number} stands.") for number in range(6)))
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("id,label\n" + "".join(f"p{number},entailment\n" for number in range(5)))
    b.write_text("id,label\n" + "".join(f"p{number},{'neutral' if number else 'entailment'}\n" for number in range(6)))
    done = run("compare", a, b, pairs, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {"a", "b", "difference", "interval", "p_value", "n", "only_a", "only_b"} <= set(document)
    assert (document["only_a"], document["only_b"], document["n"]) == (4, 0, 6)
    assert "a.csv: 1 of 6 pairs have no answer and count as wrong" in done.stderr
    people = run("compare", a, b, pairs, "--examples", 1)
    assert "66.7 (" in people.stdout
    assert people.stdout.count("a says entailment, b says neutral") == 1
    assert "Heron 1 stands." in people.stdout
    itself = json.loads(run("compare", a, a, pairs, "--json").stdout)
    assert (itself["difference"], itself["p_value"]) == (0, 1)
    refused = run("compare", a, "nobody", pairs)
    assert refused.returncode == 2
    assert "'nobody' is no model" in refused.stderr
