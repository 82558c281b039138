"""Vocabulary, vectors and encoded pairs, made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from goldlabel.errors import InputError  # noqa: E402
from goldlabel.models import network as network_module  # noqa: E402
from goldlabel.train import TrainOptions  # noqa: E402
from goldlabel.train.encoded import EncodedTask, encode_task  # noqa: E402
from goldlabel.train.task import gather_task  # noqa: E402
from tests.train.samples import make_pairs, make_rows, with_dev, write_vectors  # noqa: E402


def encoded(folder: Path, model: str = "cbow", *, vocabulary: Any = (), **options: Any) -> EncodedTask:
    return encode_task(gather_task(model, [with_dev()], TrainOptions(**options), vocabulary=vocabulary), None, folder)


def test_words_of_training_dev_and_further_pairs_are_known(tmp_path: Path) -> None:
    more = make_pairs([{**make_rows(1)[0], "premise": "An armadillo sleeps."}])
    plain, with_more = encoded(tmp_path), encoded(tmp_path, vocabulary=[more])
    assert "1012" in plain.preparation.encoder.vocabulary  # of the dev split
    assert "armadillo" not in plain.preparation.encoder.vocabulary
    assert "armadillo" in with_more.preparation.encoder.vocabulary
    assert len(plain.rows) == 48
    assert [len(pairs) for pairs in plain.dev] == [24]


def test_encoding_happens_once_for_the_same_data_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = 0
    real = network_module.build_encoder

    def counting(*arguments: Any, **options: Any) -> Any:
        nonlocal built
        built += 1
        return real(*arguments, **options)

    monkeypatch.setattr(network_module, "build_encoder", counting)
    first = encoded(tmp_path)
    again = encoded(tmp_path, seed=4, lr=0.1, epochs=3, options={"hidden": 5})
    assert built == 1
    np.testing.assert_array_equal(first.rows.premise.words, again.rows.premise.words)
    np.testing.assert_array_equal(first.rows.hypothesis.words, again.rows.hypothesis.words)
    assert first.preparation.encoder == again.preparation.encoder
    encoded(tmp_path, reads="hypothesis")
    encoded(tmp_path, tokenizer="characters")
    assert built == 3
    assert len(list(tmp_path.iterdir())) == 3


def test_networks_that_read_alike_share_what_is_encoded(tmp_path: Path) -> None:
    first, again = encoded(tmp_path, "lstm"), encoded(tmp_path, "esim")
    np.testing.assert_array_equal(first.rows.premise.words, again.rows.premise.words)
    assert len(list(tmp_path.iterdir())) == 1
    encoded(tmp_path, "disan")  # in lower case
    encoded(tmp_path, "bimpm")  # with characters
    encoded(tmp_path, "decomposable-attention")  # unknown words in buckets
    encoded(tmp_path, "esim", length=7)
    assert len(list(tmp_path.iterdir())) == 5


def test_vectors_are_shared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = write_vectors(tmp_path / "vectors.txt", ["gate", "the", "unused"])
    options = {"vectors": str(tmp_path / "vectors.txt")}
    first = encoded(tmp_path / "encoded", **options)
    monkeypatch.setattr(network_module, "read_vectors", None)
    again = encoded(tmp_path / "encoded", **options)
    assert first.preparation.vectors is not None
    assert again.preparation.vectors is not None
    assert again.preparation.vectors.words == ["gate", "the"]
    np.testing.assert_allclose(again.preparation.vectors.matrix, given.matrix[:2], atol=1e-5)
    monkeypatch.undo()
    write_vectors(tmp_path / "vectors.txt", ["gate", "barn", "mill"], seed=1)
    changed = encoded(tmp_path / "encoded", **options)
    assert changed.preparation.vectors is not None
    assert changed.preparation.vectors.words == ["gate", "barn", "mill"], "another file under the same name"


def test_words_without_vectors_are_dropped_where_the_paper_does(tmp_path: Path) -> None:
    write_vectors(tmp_path / "vectors.txt", ["gate", "the", "stands", "open"])
    made = encoded(tmp_path / "encoded", "infersent", vectors=str(tmp_path / "vectors.txt"))
    assert set(made.preparation.encoder.vocabulary.words) == {"The", "gate", "stands", "open"}
    assert made.preparation.encoder.options.drop_unknown
    kept = encoded(tmp_path / "encoded", "infersent")
    assert "number" in kept.preparation.encoder.vocabulary
    assert not kept.preparation.encoder.options.drop_unknown


def test_chinese_is_taken_by_character(tmp_path: Path) -> None:
    made = encode_task(gather_task("lstm", [make_pairs(12, language="zh")]), None, tmp_path)
    assert made.preparation.encoder.options.tokenizer == "characters"
    assert "门" in made.preparation.encoder.vocabulary


def test_the_tagger_is_a_part_of_the_encoder(tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    plain, tagged = (
        encode_task(gather_task("diin", [make_pairs(12, language="zh")], TrainOptions(tagger=tagger)), None, tmp_path)
        for tagger in ("", "jieba")
    )
    assert (plain.preparation.encoder.options.tagger, tagged.preparation.encoder.options.tagger) == ("", "jieba")
    assert not plain.rows.hypothesis.fields["tags"].any()
    assert tagged.rows.hypothesis.fields["tags"].any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gate 0.1 0.2\nthe 0.1\n", r"vectors\.txt line 2: is not a word with 2 numbers"),
        ("Elefant 0.1 0.2\n", r"vectors\.txt: has no vector of any word that is needed"),
    ],
)
def test_vectors_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        encoded(tmp_path / "encoded", vectors=str(tmp_path / "vectors.txt"))
    assert not list((tmp_path / "encoded").glob("*")), "nothing is left half-made"
