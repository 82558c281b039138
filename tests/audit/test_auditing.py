from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.audit import audit, auditing, parse_bound
from goldlabel.audit.findings import Artifact, Fault, information
from goldlabel.audit.hypothesis_only import judge
from goldlabel.errors import InputError, UnknownNameError
from goldlabel.metrics import Estimate, holm
from goldlabel.models import MODELS, Model
from goldlabel.pairs import Pairs
from goldlabel.pairs.splits import Ratios
from goldlabel.report.audit_page import audit_page
from goldlabel.sources.fragments.making import fragment_pairs
from tests.audit.conftest import make_pairs

KEYS = {
    "pairs", "labels", "pmi", "hypothesis_only", "overlap", "length", "negators", "leakage", "tags", "foreign_text",
}  # fmt: skip


def undefined(value: Any) -> bool:
    """Whether anything in a document is NaN or infinite."""
    if isinstance(value, dict):
        return any(undefined(part) for part in value.values())
    if isinstance(value, list):
        return any(undefined(part) for part in value)
    return isinstance(value, float) and not math.isfinite(value)


def test_the_plant_is_named_first_with_examples(planted: Pairs) -> None:
    found = audit(planted, "genre", curve=True, models=("majority",), agreement=True)
    first = found.findings[0]
    assert isinstance(first.evidence, Artifact)
    assert (first.kind, first.evidence.label, first.evidence.count) == ("negation", "contradiction", 95)
    rows = planted.only(id=[example.id for example in first.examples]).collect()
    assert rows["hypothesis"].str.contains("never").all()
    assert found.hypothesis_only.significant
    assert "give away" in found.verdict
    assert set(found.groups) == {"all", "log", "mail"}
    document = json.loads(json.dumps(found.to_dict()))
    assert all(set(group) >= KEYS for group in document["groups"].values())
    assert not undefined(document)
    assert document["groups"]["all"]["hypothesis_only"].keys() >= {"accuracy", "interval", "majority", "gain"}
    assert document["groups"]["all"]["pmi"][0].keys() == {"word", "label", "pmi", "interval", "count", "total"}
    assert document["groups"]["all"]["agreement"] is None
    assert "hypothesis-only" in found._repr_html_()
    assert found.table["pairs"].to_list() == [300, 150, 150]
    predictions = found.predictions()
    assert len(predictions) == 300
    assert len(found.hard_subset()) == (predictions["label"] != predictions["predicted"]).sum()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("artifact", "kind"),
    [
        ("negation:contradiction:0.8", "negation"),
        ("number:neutral:0.8", "number"),
        ("length:entailment:0.8", "length"),
        ("overlap:contradiction:0.8", "overlap"),
        ("quantifier:neutral:0.8", "quantifier"),
        ("word=在:neutral:0.8", "word"),
    ],
)
def test_what_the_generator_plants_comes_first(language: str, artifact: str, kind: str) -> None:
    artifact = artifact.replace("在", "昨天" if language == "zh" else "monday")
    found = audit(fragment_pairs(language, 4000, artifact=artifact, seed=5), near=False)
    first = found.findings[0]
    assert isinstance(first.evidence, Artifact)
    assert (first.kind, first.evidence.label) == (kind, artifact.split(":")[1])
    if kind == "word":
        assert first.evidence.feature in artifact


@pytest.mark.parametrize(("language", "seed"), [("en", 0), ("en", 2), ("zh", 0), ("zh", 2)])
def test_pairs_without_an_artifact_show_no_gain(language: str, seed: int) -> None:
    found = audit(fragment_pairs(language, 3000, seed=seed), near=False)
    assert not found.hypothesis_only.significant
    assert "no significant gain at the level 0.05" in found.verdict
    assert [finding for finding in found.findings if not finding.kind.startswith("overlap")] == []


def test_languages_may_be_mixed(planted: Pairs) -> None:
    chinese = fragment_pairs("zh", 90).collect()
    both = Pairs.from_frame(
        pl.concat([planted.collect(), chinese]).sample(fraction=1, shuffle=True, seed=1), planted.card
    )
    found = audit(both)
    whole, alone = found.whole, audit(planted, near=False).whole
    assert whole.negators is not None
    assert alone.negators is not None
    assert whole.tags is not None
    assert whole.foreign_text is not None
    assert set(whole.negators) == {"en", "zh"}
    assert whole.tags["negation"].premise.n == 390
    assert whole.foreign_text.share.n == 90
    assert whole.negators["en"] == alone.negators["en"]


def test_leaks_and_duplicates_become_findings(planted: Pairs) -> None:
    split = planted.split(Ratios(ratios="60:20:20", by="pair")).pairs
    other = make_pairs(*planted.collect().head(7).select("premise", "hypothesis", "label").iter_rows(), name="older")
    found = audit(split, against=[other], near=False)
    assert [finding.kind for finding in found.findings[:3]] == ["leak_against", "shared_premises", "negation"]
    against, shared, _ = found.findings[:3]
    assert isinstance(against.evidence, Fault)
    assert against.evidence.count == 7
    assert shared.examples


def test_near_duplicates_across_splits_come_first_and_fail() -> None:
    rows = [
        {
            "premise": f"Boat {number} of the morning leaves the old harbour for island number {number * number}.",
            "hypothesis": f"Some ferry leaves for island number {number * number}{mark}",
            "label": ("entailment", "neutral", "contradiction")[number % 3],
            "split": split,
            "language": "en",
        }
        for number in range(30)
        for mark, split in ((".", "train"), ("!!", "test"))
    ]
    found = audit(make_pairs(*rows))
    first = found.findings[0]
    assert first.kind == "near_duplicates_across_splits"
    assert first.examples
    assert found.whole.leakage.shared_premises == 30, "the same but for punctuation is the same premise"
    assert parse_bound("near_duplicates_across_splits>0").trips(found)


def test_a_copy_of_another_dataset_is_named_before_any_word(planted: Pairs) -> None:
    found = audit(planted, against=[Pairs(planted.frame, replace(planted.card, name="older"))])
    assert found.findings[0].text.startswith("All 300 pairs are also in older.")
    assert found.whole.leakage.against["older"].near is not None


def test_near_duplicates_elsewhere_are_named_beside_exact_ones(planted: Pairs) -> None:
    later = pl.int_range(pl.len()) > 0
    changed = pl.when(later).then(pl.col("hypothesis") + " x").otherwise(pl.col("hypothesis"))
    older = Pairs(planted.frame.with_columns(changed.alias("hypothesis")), replace(planted.card, name="older"))
    first = audit(planted, against=[older], near=True).findings[0]
    assert re.match(r"1 pair is also in older, and \d+ clusters of near-duplicates reach into it\.", first.text)


def test_near_duplicates_that_were_not_looked_for_are_named(planted: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "MOST_NEAR", 100)
    found = audit(planted)
    assert "not looked for in more than 100 pairs" in found.to_dict()["groups"]["all"]["leakage"]["near_note"]
    with pytest.raises(InputError, match="is undefined for planted: near-duplicates were not looked for"):
        parse_bound("near_duplicates_across_splits>0").trips(found)
    page = audit_page(found)
    assert any("not looked for in more than 100 pairs" in str(section.text) for section in page.sections)
    assert audit(planted, near=True).whole.leakage.near is not None


def test_one_confidence_level_reaches_every_interval(planted: Pairs) -> None:
    wide, narrow = (
        audit(planted, "genre", level=level, curve=True, models=("majority",), near=False) for level in (0.95, 0.5)
    )
    pairs = list(zip(_estimates(wide), _estimates(narrow), strict=True))
    assert len(pairs) > 100
    for one, other in pairs:
        assert (one.level, other.level) == (0.95, 0.5)
        assert one.value == other.value
        if one.interval and other.interval and one.interval != other.interval:
            assert one.interval[1] - one.interval[0] > other.interval[1] - other.interval[0]


def _estimates(value: object) -> Iterator[Estimate]:
    """Walk through everything that an audit holds."""
    if isinstance(value, Estimate):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _estimates(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _estimates(part)
    elif is_dataclass(value):
        for part in fields(value):
            yield from _estimates(getattr(value, part.name))


def test_networks_need_a_trainer_and_any_is_taken(planted: Pairs) -> None:
    with pytest.raises(InputError, match="cbow is a network, which needs a trainer"):
        audit(planted, models=("cbow",))
    seeds = []

    def fit(name: str, premises: Any, hypotheses: Any, labels: Any, space: Any, *, seed: int) -> Model:
        seeds.append((name, seed))
        model: Model = MODELS.get("majority").fit(premises, hypotheses, labels, space)
        return model

    found = audit(planted, models=("cbow",), label_errors="cbow", fit=fit, seed=3, near=False)
    assert seeds == [("cbow", 3)] * 10
    assert found.models["cbow"] is not None
    assert found.label_errors is not None
    assert found.label_errors.too_weak
    assert "too weak to accuse anybody" in found.label_errors.title


def test_groups_are_tested_as_several(planted: Pairs) -> None:
    found = audit(planted, "genre", near=False)
    genres = planted.collect()["genre"].to_numpy()
    alone = [judge(found.out_of_fold, found.pairs.card.label_space.labels, rows=genres == g) for g in ("log", "mail")]
    together = [found.groups[genre].hypothesis_only for genre in ("log", "mail")]
    expected = holm([part.p_value for part in alone if part and part.p_value is not None])
    assert [part and part.p_value for part in together] == pytest.approx(expected)
    assert max(expected) < 0.05


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (make_pairs(), {}, "tiny: there are no pairs to audit"),
        (make_pairs(("p", "h", "-")), {}, "none of the 1 pairs has a gold label"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "-")), {}, "all pairs with a gold label are 'neutral'"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "entailment")), {}, "too few for 5 folds"),
        (make_pairs(("p", "h", "neutral")), {"by": "genere"}, "no column 'genere' to group by; did you mean 'genre'"),
        (make_pairs(("p", "h", "neutral")), {"by": "votes"}, "no column 'votes'"),
        (make_pairs(("p", "h", "neutral"), ("q", "i", "entailment")), {"by": "level"}, "'level' is empty"),
        (make_pairs(("p", "h", "neutral")), {"level": 1.5}, "not between 0 and 1"),
        (make_pairs(("p", "h", "neutral")), {"fdr": 0.0}, "not between 0 and 1"),
        (make_pairs(("p", "h", "neutral")), {"top": 0}, "1 or more"),
    ],
)
def test_bad_input_is_one_clear_line(pairs: Pairs, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(pairs, **options)


def test_too_many_groups_are_refused() -> None:
    rows = (
        {"premise": f"p{n}", "hypothesis": "h", "label": ("neutral", "entailment")[n % 2], "writer": f"w{n}"}
        for n in range(201)
    )
    with pytest.raises(InputError, match="at most 200 groups"):
        audit(make_pairs(*rows), by="writer")


def test_unknown_names_are_refused(planted: Pairs) -> None:
    with pytest.raises(UnknownNameError, match="no tokenizer 'wrods'; did you mean 'words'"):
        audit(planted, tokenizer="wrods")
    with pytest.raises(UnknownNameError, match="no model"):
        audit(planted, models=("lineer",))


def test_bounds(planted: Pairs) -> None:
    found = audit(planted, near=False)
    assert parse_bound("hypothesis_only_gain > 0.15").trips(found)
    assert parse_bound("hypothesis_only_gain>=15%").trips(found)
    assert not parse_bound("duplicates>0").trips(found)
    assert parse_bound("pmi<9").trips(found)
    for text in ("gain", "gain=1", "gain>high", ">3"):
        with pytest.raises(InputError, match="MEASURE>NUMBER"):
            parse_bound(text)
    with pytest.raises(InputError, match="did you mean 'hypothesis_only_gain'"):
        parse_bound("hypothesis_only_gian>0.1").trips(found)
    with pytest.raises(InputError, match="undefined"):
        parse_bound("foreign_text_share>0.1").trips(found)


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=10))
def test_information_is_that_of_scikit_learn(rows: list[tuple[int, int, int]]) -> None:
    from sklearn.metrics import mutual_info_score

    totals = np.array([40, 45, 50])
    for row, bits in zip(rows, information(np.array(rows), totals), strict=True):
        table = np.array([row, totals - np.array(row)])
        assert bits == pytest.approx(mutual_info_score(None, None, contingency=table) / math.log(2), abs=1e-9)


def test_snli_shows_its_known_artifacts(corpora: Path) -> None:
    found = audit(gl.read(corpora / "snli" / "snli_train_part.jsonl.gz"), near=False)
    assert 0.60 < (found.hypothesis_only.accuracy.value or 0) < 0.68
    features = {finding.evidence.feature for finding in found.findings if isinstance(finding.evidence, Artifact)}
    assert "sleeping" in {word.word for word in found.words_by_label["contradiction"]} | features
    assert found.premise_only is not None
    assert abs(found.premise_only.gain.value or 0) < 0.1
