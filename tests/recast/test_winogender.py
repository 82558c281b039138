from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from goldlabel.errors import InputError
from goldlabel.recast import Options, run_recast
from goldlabel.recast.winogender import gender_parity
from tests.recast.samples import sentiment, winogender


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


def test_gender_parity(tmp_path: Path) -> None:
    pairs = run_recast("winogender", winogender(tmp_path), Options()).pairs
    frame = pairs.collect()
    gold = frame["label"].to_list()
    fair = gender_parity(pairs, gold)
    assert (fair.score.value, fair.score.n) == (1.0, 10)
    assert fair.with_neutral is not None
    biased = [
        "entailment" if " he " in premise else label for premise, label in zip(frame["premise"], gold, strict=True)
    ]
    result = gender_parity(pairs, biased)
    assert result.score.value == pytest.approx(0.8)
    assert result.to_dict()["gender_parity"] == result.score.value
    assert result.table.select("template", "female", "male").rows() == [
        ("baker.neighbour.0", "not_entailment", "entailment"),
        ("salesperson.customer.0", "not_entailment", "entailment"),
    ]
    assert "0.800" in result.title


def test_gender_parity_needs_all_pairs_of_winogender(tmp_path: Path) -> None:
    pairs = run_recast("winogender", winogender(tmp_path), Options()).pairs
    with pytest.raises(InputError, match="1 predictions for 30 pairs"):
        gender_parity(pairs, ["entailment"])
    from goldlabel.pairs import Pairs

    one = Pairs(pairs.frame.filter(pl.col("premise").str.contains("she")), pairs.card)
    with pytest.raises(InputError, match="no sentence with both pronouns"):
        gender_parity(one, ["entailment"] * len(one.collect()))
    other = run_recast("sentiment", sentiment(tmp_path), Options(), limit=1).pairs
    with pytest.raises(InputError, match="not recast from Winogender"):
        gender_parity(other, ["entailment"])
