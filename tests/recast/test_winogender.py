from __future__ import annotations

from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from tests.recast.samples import winogender


def texts(folder: Path, **options: object) -> list[tuple[str, str, str, str]]:
    run = run_recast("winogender", winogender(folder), Options(**options))  # type: ignore[arg-type]
    return run.pairs.collect().select("id", "premise", "hypothesis", "label").rows()


def test_the_released_form_keeps_clauses_and_leaves_templates_out(tmp_path: Path) -> None:
    found = texts(tmp_path, style="dnc")
    assert len(found) == 4 * 2 * 2
    premise = "The neighbour thanked the baker because he was generous."
    assert found[:2] == [
        ("winogender-baker.neighbour.0.male-1", premise, "The baker was generous.", "entailment"),
        ("winogender-baker.neighbour.0.male-2", premise, "The neighbour was generous.", "not_entailment"),
    ]
    hypotheses = [row[2] for row in found]
    assert "The neighbour's window was open." in hypotheses
    assert "The weaver drew a map for the tourist and waved to the tourist." in hypotheses


def test_the_plain_form_has_a_third_pronoun_and_whole_sentences(tmp_path: Path) -> None:
    found = texts(tmp_path, style="plain")
    assert len(found) == 5 * 3 * 2
    assert found[4][1:3] == (
        "The neighbour thanked the baker because they were generous.",
        "The neighbour thanked the baker because the baker was generous.",
    )
    assert 'her {best} "blue" cloth.' in " ".join(row[1] for row in found)
    assert len(texts(tmp_path, style="plain", settings={"neutral": "no"})) == 5 * 2 * 2
    with pytest.raises(InputError, match="neutral=perhaps"):
        texts(tmp_path, settings={"neutral": "perhaps"})
