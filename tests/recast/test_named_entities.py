"""Named entities: reading tags, drawing wrong labels, balancing them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.files import InputFile
from goldlabel.recast import Options, Recasting, run_recast
from goldlabel.recast.named_entities import UNBALANCED, recast
from goldlabel.recast.tagged_text import LABELS
from tests.recast.samples_more import CONLL, gmb, put

STRICT = Options(settings={"balance": "yes"})


def run(paths: Sequence[Path], style: str = "dnc", seed: int = 0, **settings: str) -> list[Recasting]:
    options = Options(style=style, seed=seed, settings=settings)  # type: ignore[arg-type]
    return [one for one in recast([InputFile(path) for path in paths], options) if isinstance(one, Recasting)]


def entailed(pairs: Sequence[Recasting]) -> list[str]:
    return [pair.hypothesis for pair in pairs if pair.label == "entailment"]


def test_conll_2003_is_recast_without_misc_and_with_neighbours_merged(tmp_path: Path) -> None:
    pairs = run([put(tmp_path, "eng.testa", CONLL)])
    assert entailed(pairs) == [
        "Rowan is a person",
        "Rowan is a location",
        "Rowan is a person",
        "Ilse Brandt is a person",
        "Rowan is a location",
        "Fern Club is an organization",
        "Rowan Ilse is a location",
        "{x} is an organization",
    ]
    assert {pair.split for pair in pairs} == {"dev"}
    assert pairs[0].premise == "Rowan mended the gate ."


def test_the_wrong_label_is_one_seen_with_the_phrase(tmp_path: Path) -> None:
    pairs = run([put(tmp_path, "a.conll", CONLL)])
    wrong = [pair.hypothesis for pair in pairs if pair.label == "not_entailment"]
    assert wrong[:3] == ["Rowan is a location", "Rowan is a person", "Rowan is a location"]
    assert len(pairs) == 16


@pytest.mark.parametrize(
    "text",
    [
        "Oslo B-LOC\nFjord E-LOC\nwaits O\nfor O\nMara S-PER\n",
        "1\tOslo\tI-LOC\n2\tFjord\tI-LOC\n3\twaits\tO\n4\tfor\tO\n5\tMara\tB-PER\n",
        "Oslo\tlocation\nFjord\tlocation\nwaits\tO\nfor\tO\nMara\tPERSON\n",
        "# a remark here\nOslo NNP B-geo-nam\nFjord NNP I-geo-nam\nwaits V O\nfor P O\nMara NNP B-per-nam",
    ],
)
def test_other_columns_and_schemes_say_the_same(tmp_path: Path, text: str) -> None:
    pairs = run([put(tmp_path, "a.iob", text)])
    assert entailed(pairs) == ["Oslo Fjord is a location", "Mara is a person"]
    assert pairs[0].premise == "Oslo Fjord waits for Mara"


def test_spans_keep_the_text_as_it_is(tmp_path: Path) -> None:
    rows = [{"text": 'Say "Jordan",  she!', "entities": [[5, 11, kind]]} for kind in ("PERSON", "GPE")]
    path = put(tmp_path, "train.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    pairs = run([path], "plain")
    assert {pair.premise for pair in pairs} == {'Say "Jordan",  she!'}
    assert entailed(pairs) == ["Jordan is a person.", "Jordan is a geopolitical entity."]


def test_the_csv_is_read_in_either_encoding(tmp_path: Path) -> None:
    pairs = run([put(tmp_path, "a.csv", gmb(), "latin-1")])
    assert "café" in pairs[0].premise
    assert len(pairs) == 60
    assert run([put(tmp_path, "b.csv", gmb())])[7].premise == pairs[7].premise


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_plain_style_balances_each_hypothesis_within_each_split(tmp_path: Path, seed: int) -> None:
    pairs = run([put(tmp_path, "a.csv", gmb(), "latin-1")], "plain", seed, balance="yes")
    counts = Counter((pair.split, pair.hypothesis, pair.label) for pair in pairs)
    assert len(pairs) > 20
    for split, hypothesis, _ in counts:
        assert counts[split, hypothesis, "entailment"] == counts[split, hypothesis, "not_entailment"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(["PER", "LOC", "ORG"])), min_size=1, max_size=60))
def test_balance_holds_for_any_counts(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{phrase} B-{kind}\nx{place} O\n" for place, (phrase, kind) in enumerate(rows))
    pairs = run([put(tmp_path_factory.mktemp("ner"), "train.conll", text)], "plain", balance="yes")
    counts = Counter((pair.hypothesis, pair.label) for pair in pairs)
    assert all(counts[text, "entailment"] == counts[text, "not_entailment"] for text, _ in counts)
    kinds = {phrase: Counter(kind for other, kind in rows if other == phrase) for phrase, _ in rows}
    most = sum(2 * min(sum(seen.values()) // 2, sum(seen.values()) - max(seen.values())) for seen in kinds.values())
    assert len(pairs) == 2 * most


def test_what_cannot_be_balanced_is_kept_and_counted(tmp_path: Path) -> None:
    path = put(tmp_path, "eng.train", CONLL)
    kept, balanced = run_recast("named-entities", [path]), run_recast("named-entities", [path], STRICT)
    assert kept.events == 9
    assert kept.skipped == {}
    assert kept.remarks == {UNBALANCED: len(kept.pairs) - len(balanced.pairs)}
    assert balanced.remarks == {}
    assert balanced.skipped == {UNBALANCED: 9 - balanced.events}


def test_a_file_where_nothing_balances_gives_pairs(tmp_path: Path) -> None:
    path = put(tmp_path, "small.conll", "Mara B-PER\nsang O\n\nOslo B-LOC\nslept O\n")
    assert [pair.hypothesis for pair in run([path], "plain")] == [
        "Mara is a person.", "Mara is a location.", "Oslo is a location.", "Oslo is a person.",
    ]  # fmt: skip
    with pytest.raises(InputError, match=rf"gives no pair \({UNBALANCED}: 2\)"):
        run_recast("named-entities", [path], STRICT)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_over_phrases_of_one_tag_a_label_is_as_often_wrong_as_right(tmp_path: Path, seed: int) -> None:
    kinds = ["PER"] * 9 + ["LOC"] * 6 + ["ORG"] * 5
    text = "\n".join(f"Name{place} B-{kind}\nwaits O\n" for place, kind in enumerate(kinds))
    pairs = run([put(tmp_path, "train.conll", text)], "plain", seed)
    said = Counter((pair.hypothesis.partition(" is ")[2], pair.label) for pair in pairs)
    assert len(pairs) == 40
    for label in ("a person.", "a location.", "an organization."):
        assert said[label, "entailment"] == said[label, "not_entailment"]


def test_one_kind_of_entity_has_no_wrong_label(tmp_path: Path) -> None:
    path = put(tmp_path, "small.conll", "Mara B-PER\nsang O\n\nIlse B-PER\nslept O\n")
    with pytest.raises(InputError, match="no other label stands in the files"):
        run_recast("named-entities", [path])


def test_tags_of_one_s_own_have_the_names_given(tmp_path: Path) -> None:
    path = put(tmp_path, "wards.conll", "Salvine B-DRUG\neases O\nglowfever B-DISEASE\nof O\nMara B-PER\n")
    with pytest.raises(InputError, match=r"wards\.conll line 1: tag 'B-DRUG' .*--set tags=TYPE:a name"):
        run([path])
    assert entailed(run([path], tags="DRUG:a drug, disease : an illness,PER:someone")) == [
        "Salvine is a drug", "glowfever is an illness", "Mara is someone",
    ]  # fmt: skip
    assert run([path], tags="DRUG:a drug,DISEASE:an illness")[0].meta["entity_label"] == "drug"
    for wrong in ("DRUG", "DRUG:", ":a drug", "DRUG:a drug,,"):
        with pytest.raises(InputError, match="is not TYPE:name"):
            run([path], tags=wrong)


def test_every_type_has_a_readable_label() -> None:
    for kind, label in LABELS.items():
        assert kind == kind.lower()
        assert label is None or label.replace(" ", "").replace("'", "").isalpha()


def test_prose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"notes\.txt line 1: tag 'ferns\.' is neither O nor"):
        run([put(tmp_path, "notes.txt", "A list of ferns.\n")])


def test_files_of_one_name_keep_their_ids_apart(tmp_path: Path) -> None:
    pairs = run([put(tmp_path, f"{folder}/train.conll", CONLL) for folder in "ab"])
    assert len({pair.source_id for pair in pairs}) == 16
    assert pairs[0].source_id == "a/train.conll:1:1"
