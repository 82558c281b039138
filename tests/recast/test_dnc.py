from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from goldlabel.errors import InputError
from goldlabel.files import InputFile, input_files
from goldlabel.recast import Options, run_recast
from goldlabel.recast.dnc import (
    binary_label,
    encode_release,
    published_pairs,
    read_release,
    release_rows,
    write_release,
)
from goldlabel.sources import add
from tests.recast.samples import NASTY, sentiment

DATA = [
    {
        "binary-label": True,
        "context": "Café owners left .",
        "hypothesis": "The leaving happened",
        "label": "entailed",
        "label-set": ["entailed", "not-entailed"],
        "pair-id": 7,
        "split": "dev",
        "type-of-inference": "Factuality",
    },
    {
        "annotations": "3",
        "binary-label": False,
        "context": NASTY,
        "hypothesis": "A",
        "label": 3,
        "label-set": None,
        "pair-id": 8,
        "split": "dev",
        "type-of-inference": "KG",
    },
]
METADATA = [
    {
        "corpus": "Streets",
        "corpus-license": None,
        "corpus-sent-id": 17,
        "creation-approach": "automatic",
        "misc": {"b": [], "a": {}},
        "pair-id": 7,
    },
    {"corpus": "Streets", "corpus-sent-id": "x 2", "corpus-split": "dev", "creation-approach": "manual", "pair-id": 8},
]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release" / "dev"
    folder.mkdir(parents=True)
    (folder / "recast_streets_data.json").write_bytes(encode_release(DATA))
    (folder / "recast_streets_metadata.json.gz").write_bytes(gzip.compress(encode_release(METADATA)))
    return folder


def test_files_are_written_as_python_2_did() -> None:
    assert encode_release([{"b": None, "a": [1, "é"]}]) == (
        b'[\n    {\n        "a": [\n            1, \n            "\\u00e9"\n        ], \n        "b": null\n    }\n]'
    )


def test_what_is_read_is_written_back(release: Path) -> None:
    for file in input_files(release):
        with file.open() as stream:
            assert encode_release(read_release(file)) == stream.read()


def test_pairs_are_joined_with_metadata_beside_them(release: Path) -> None:
    pairs = published_pairs([release / "recast_streets_data.json"], "streets")
    assert [(pair.source_id, pair.label, pair.pair_id) for pair in pairs] == [
        ("17", "entailment", 7),
        ("x 2", "not_entailment", 8),
    ]
    assert pairs == published_pairs([release], "streets")


def test_a_release_goes_through_the_record_and_back(release: Path, tmp_path: Path, home: Path) -> None:
    pairs = add("dnc", [release.parent]).pairs
    written = write_release(pairs, tmp_path / "again", "streets")
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "again/dev/recast_streets_data.json",
        "again/dev/recast_streets_metadata.json",
    ]
    assert written[0].read_bytes() == (release / "recast_streets_data.json").read_bytes()
    assert written[1].read_bytes() == encode_release(METADATA)


def test_our_pairs_are_written_in_the_form_of_the_release(tmp_path: Path) -> None:
    pairs = run_recast("sentiment", sentiment(tmp_path), Options(style="dnc")).pairs
    write_release(pairs, tmp_path / "release", "sentiment")
    again = published_pairs([tmp_path / "release"], "sentiment")
    assert len(again) == len(pairs)
    assert {pair.source_id for pair in again} >= {"imdb_labelled.txt 3"}
    data = json.loads((tmp_path / "release" / "train" / "recast_sentiment_data.json").read_bytes())
    metadata = json.loads((tmp_path / "release" / "train" / "recast_sentiment_metadata.json").read_bytes())
    assert set(data[0]) == set(DATA[0])
    assert set(metadata[0]) == set(METADATA[0])
    assert metadata[0]["misc"]["id"].startswith("sentiment-")
    with pytest.raises(InputError, match="is there already"):
        write_release(pairs, tmp_path / "release", "sentiment")


def test_labels_without_a_place_in_the_release_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "a.yaml").write_text("labels: nli3\npremise: '{x}'\nhypotheses: [{text: B, label: neutral}]\n")
    with pytest.raises(InputError, match="label 'neutral' has no place"):
        list(release_rows(run_recast("template", [tmp_path]).pairs))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"pair-id": 1}]', "item 1: binary-label is missing"),
        ('[\n{"pair-id": 1},\n]', r"data\.json line \d: is not JSON"),
        ('{"pair-id": 1}', "line 1: is not a list of objects"),
    ],
)
def test_a_file_of_something_else_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "recast_streets_data.json").write_text(text)
    with pytest.raises(InputError, match=message):
        published_pairs([tmp_path], "streets")
    with pytest.raises(InputError, match=r"holds no recast_lanes_data\.json; it has recast_streets_data\.json"):
        published_pairs([tmp_path], "lanes")


def test_the_published_files_go_round_to_the_byte(corpora: Path) -> None:
    files = input_files(corpora / "recast_sources" / "dnc_published")
    assert len(files) >= 21
    for file in files:
        assert isinstance(file, InputFile)
        with file.open() as stream:
            assert encode_release(read_release(file)) == stream.read(), file


def test_the_published_files_go_through_the_record_and_back(corpora: Path, tmp_path: Path, home: Path) -> None:
    folder = corpora / "recast_sources" / "dnc_published"
    for name, split in (("winogender", "test"), ("verbnet", "dev"), ("megaveridicality", "dev"), ("sentiment", "dev")):
        given = [InputFile(folder / split / f"recast_{name}_{kind}.json") for kind in ("data", "metadata")]
        pairs = add("dnc", [file.path for file in given]).pairs
        for ours, theirs in zip(write_release(pairs, tmp_path / name, name), given, strict=True):
            assert ours.read_bytes() == theirs.path.read_bytes()


@pytest.mark.parametrize(
    ("label", "binary"),
    [
        ("very_likely", "entailment"),
        ("likely", "not_entailment"),
        ("impossible", "not_entailment"),
        ("entailment", "entailment"),
        ("not_entailment", "not_entailment"),
        ("-", "-"),
    ],
)
def test_of_a_scale_only_the_highest_is_entailed(label: str, binary: str) -> None:
    assert binary_label(label) == binary
