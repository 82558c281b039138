"""What is marked in a pair is what the finding is about."""

from __future__ import annotations

import pytest

from goldlabel.audit import audit
from goldlabel.audit.examples import mark_pair
from tests.audit.conftest import make_pairs

LABELS = ("entailment", "neutral", "contradiction")
PREMISE, SHOP = "Two men, outdoors, sell tea.", "那家商店不卖茶叶，不过有人。"


@pytest.mark.parametrize(
    ("kind", "feature", "premise", "hypothesis", "language", "premise_marks", "hypothesis_marks"),
    [
        ("word", "nobody", PREMISE, "Nobody is (nobody’s) nobody.", "en", [], ["Nobody", "nobody"]),
        ("word", "nobody's", PREMISE, "Nobody is (nobody’s) nobody.", "en", [], ["nobody’s"]),
        ("bigram", "is not", PREMISE, "It is, is not tea: not is.", "en", [], ["is not"]),
        ("position", "men (second)", PREMISE, "The men saw men.", "en", [], ["men"]),
        ("position", "men (last)", PREMISE, "The men saw men.", "en", [], ["men"]),
        ("negation", "negation", PREMISE, "They don't, no one ever did.", "en", [], ["don't", "no"]),
        ("negation", "negation", "x", SHOP, "zh", [], ["不"]),
        ("number", "number", "x", "他有12本，十分贵。", "zh", [], ["1", "2"]),
        ("word", "不卖", "x", SHOP, "zh", [], ["不卖"]),
        ("bigram", "卖 茶叶", "x", SHOP, "zh", [], ["卖茶叶"]),
        ("position", "那家 (first)", "x", SHOP, "zh", [], ["那家"]),
        ("overlap", "subsequence", PREMISE, "Men sell tea!", "en", ["men", "sell", "tea"], ["Men", "sell", "tea"]),
        ("overlap_rule", "", "茶好。", "好茶", "zh", ["茶", "好"], ["好", "茶"]),
        ("foreign_text", "", "他说hello world。", "是OK的", "zh", ["hello world"], ["OK"]),
        ("length", "length < 4", PREMISE, "Tea.", "en", [], []),
        ("shared_premises", "", PREMISE, "Tea.", "en", [], []),
        ("negation", "negation", PREMISE, "No tea.", "", [], []),
    ],
)
def test_marks(
    kind: str,
    feature: str,
    premise: str,
    hypothesis: str,
    language: str,
    premise_marks: list[str],
    hypothesis_marks: list[str],
) -> None:
    marks = mark_pair(kind, feature, premise, hypothesis, language=language)
    texts = [
        [text[start:end] for start, end in spans] for text, spans in zip((premise, hypothesis), marks, strict=True)
    ]
    assert texts == [premise_marks, hypothesis_marks]


def test_the_word_at_a_place_is_marked_there() -> None:
    assert mark_pair("position", "men (last)", "x", "The men saw men.", language="en")[1] == ((12, 15),)
    assert mark_pair("position", "men (second)", "x", "The men saw men.", language="en")[1] == ((4, 7),)


def test_every_finding_has_pairs_to_look_at() -> None:
    rows = [
        {
            "premise": f"Note {n // 3} of the harbour master is about arrivals.",
            "hypothesis": f"Note {n // 3} is about arrivals{' never' * (n % 3 == 2)}.",
            "label": LABELS[n % 3],
        }
        for n in range(120)
    ]
    findings = {finding.kind: finding for finding in audit(make_pairs(*rows), near=False).findings}
    assert {"negation", "overlap_rule"} <= findings.keys()
    for kind, word in (("negation", "never"), ("overlap_rule", "Note")):
        example = findings[kind].examples[0]
        hypothesis = rows[int(example.id)]["hypothesis"]
        assert word in {str(hypothesis)[start:end] for start, end in example.hypothesis}
        evidence = findings[kind].to_dict()["evidence"]
        assert evidence["examples"][0] == example.id
        assert evidence["marks"][0]["hypothesis"] == [list(span) for span in example.hypothesis]
