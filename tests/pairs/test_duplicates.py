from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.pairs.card import Card
from goldlabel.pairs.dataset import Pairs
from goldlabel.pairs.duplicates import find_duplicates
from goldlabel.pairs.labels import NLI3
from tests.pairs.test_clusters import jaccard
from tests.pairs.test_splits import make


def of(*texts: tuple[str, str], **columns: list[object]) -> Pairs:
    return make(len(texts), premise=[p for p, _ in texts], hypothesis=[h for _, h in texts], **columns)


def clusters(pairs: Pairs, **options: object) -> list[list[str]]:
    members = pairs.duplicates(**options).clusters  # type: ignore[arg-type]
    return [part["id"].to_list() for part in members.partition_by("cluster", maintain_order=True)]


def test_equal_after_normalisation_is_exact() -> None:
    pairs = of(
        ("A heron, here!", "A bird."), ("a  HERON here", "a bird"), ("Ａ heron here", "A Bird"), ("An owl.", "x")
    )
    assert clusters(pairs) == [["00000", "00001", "00002"]]
    assert pairs.duplicates().clusters["kind"].to_list() == ["exact"] * 3


def test_one_premise_with_three_hypotheses_is_no_duplicate() -> None:
    premise = "The lighthouse keeper counted every ship that passed the northern cape that autumn evening."
    pairs = of((premise, "A man counted."), (premise, "Nobody counted."), (premise, "Ships passed."))
    assert clusters(pairs) == []
    assert clusters(pairs, on="premise") == [["00000", "00001", "00002"]]
    assert pairs.duplicates(on="premise").to_dict()["contradictory"] is None, "a premise has every label"


def test_near_duplicates_in_english_and_chinese() -> None:
    pairs = of(
        ("The old lighthouse keeper counted every ship that evening.", "Someone counted all the ships that evening."),
        (
            "The old lighthouse keeper counted every ship that evening!",
            "Someone counted all of the ships that evening.",
        ),
        ("灯塔看守人在那个秋天的傍晚数了每一艘经过北角的船。", "有人在傍晚数了经过北角的船。"),
        ("灯塔看守人在那个秋天的傍晚数了每一艘经过北角的船！", "有人在傍晚数了经过北角的船只。"),
        ("A violin maker repaired the bridge of a very old cello.", "A cello was repaired."),
    )
    assert clusters(pairs, threshold=0.7) == [["00000", "00001"], ["00002", "00003"]]
    assert clusters(pairs, threshold=1.0) == []


def test_leaks_across_splits_datasets_and_labels() -> None:
    one = of(("a b c d", "e f g"), ("h i j k", "l m n"), split=["train", "train"], dataset=["one", "one"])
    two = of(("a b c d", "e f g"), ("o p q r", "s t u"), split=["test", "test"], label=["neutral"] * 2)
    duplicates = one.duplicates(two)
    counts = duplicates.to_dict()
    assert (counts["clusters"], counts["pairs"], len(counts["members"])) == (1, 4, 2)
    assert (counts["across_splits"], counts["across_datasets"], counts["contradictory"]) == (1, 1, 1)
    assert duplicates.across("split")["split"].to_list() == ["train", "test"]
    assert "by pair: 1" in duplicates._repr_html_()
    with pytest.raises(InputError, match="'genre' cannot be leaked across; allowed: dataset, label, split"):
        duplicates.across("genre")


def test_no_gold_contradicts_nothing_and_none_leaks_nowhere() -> None:
    same = ("a b c d", "e f g")
    pairs = of(same, same, label=["neutral", "-"], split=["train", "none"])
    assert len(pairs.duplicates().clusters) == 2
    assert pairs.duplicates().across("label").is_empty()
    assert pairs.duplicates().across("split").is_empty()
    three = of(same, same, same, label=["neutral", "-", "entailment"], split=["train", "none", "dev"])
    assert len(three.duplicates().across("label")) == len(three.duplicates().across("split")) == 3


@pytest.mark.parametrize(
    ("splits", "labels", "kept"),
    [
        (("train", "test"), ("neutral", "neutral"), 1),
        (("train", "dev", "test"), ("neutral", "neutral", "-"), 2),
        (("dev", "train"), ("neutral", "neutral"), 0),
        (("none", "train"), ("neutral", "neutral"), 1),
        (("train", "train"), ("neutral", "entailment"), 0),
        (("test", "test"), ("-", "entailment"), 1),
    ],
)
def test_one_of_each_cluster_stays_and_train_gives_way(
    splits: tuple[str, ...], labels: tuple[str, ...], kept: int
) -> None:
    texts = [("a b c d", "e f g")] * len(splits)
    pairs = of(*texts, ("o p q r", "s t u"), split=[*splits, "test"], label=[*labels, "neutral"])
    cleared = pairs.duplicates().without(pairs)
    assert cleared.collect()["id"].to_list() == [f"{kept:05}", f"{len(splits):05}"]
    assert cleared.card.history == (f"{len(splits) - 1} duplicates dropped, by pair at 0.8",)


def test_what_is_compared_with_stays_and_its_own_duplicates_are_not_told() -> None:
    same, twice = ("a b c d", "e f g"), ("h i j k", "l m n")
    ours = of(same, ("o p q r", "s t u"), split=["test", "test"])
    theirs = of(same, twice, twice, split=["train"] * 3)
    duplicates = find_duplicates([ours], against=[theirs])
    assert duplicates.clusters.select("input", "id").rows() == [(0, "00000"), (1, "00000")]
    assert duplicates.without(ours).collect()["id"].to_list() == ["00001"]
    assert duplicates.redundant["input"].to_list() == [0]


def test_finds_what_all_with_all_finds() -> None:
    random = np.random.RandomState(0)
    texts = []
    for _ in range(150):
        letters = random.choice(list("abcdefghij"), 40)
        texts.append("".join(letters))
        for _ in range(random.randint(0, 3)):
            copy = letters.copy()
            copy[random.randint(0, 40, random.randint(1, 4))] = "z"
            texts.append("".join(copy))
    pairs = make(len(texts), hypothesis=texts)
    expected = {(i, j) for i in range(len(texts)) for j in range(i) if jaccard(texts[i], texts[j]) >= 0.7}
    cluster_of = {
        id_: n for n, members in enumerate(clusters(pairs, on="hypothesis", threshold=0.7)) for id_ in members
    }
    together = {(i, j) for i, j in expected if cluster_of.get(f"{i:05}", -1) == cluster_of.get(f"{j:05}", -2)}
    assert len(expected) > 100
    assert len(together) / len(expected) >= 0.99
    # Nothing is put together that no chain of like texts joins.
    neighbours = {i for pair in expected for i in pair}
    assert {int(id_) for id_ in cluster_of} <= neighbours


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12))
def test_any_text_can_be_compared(texts: list[str]) -> None:
    texts = [text if text.strip() else "x" for text in texts]
    duplicates = make(len(texts), hypothesis=texts).duplicates(on="hypothesis")
    assert set(duplicates.clusters["id"]) <= {f"{i:05}" for i in range(len(texts))}


def test_a_crowd_of_like_texts_is_one_cluster() -> None:
    texts = [f"The keeper of the northern lighthouse counted ship number {n} again." for n in range(100)]
    assert len(clusters(make(100, hypothesis=texts), on="hypothesis", threshold=0.7)) == 1


def test_senseless_questions_are_refused() -> None:
    with pytest.raises(InputError, match="on 'title'; allowed: pair, premise, hypothesis"):
        make(2).duplicates(on="title")
    with pytest.raises(InputError, match=r"threshold 0\.1 is not between"):
        make(2).duplicates(threshold=0.1)


def test_clusters_do_not_depend_on_how_many_rows_are_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz "))
    texts = ["".join(letters[row]) for row in np.random.default_rng(0).integers(0, 27, (40, 30))]
    premises = [*texts, *(f"{text}now" for text in texts[:25])]
    frame = pl.DataFrame({"premise": premises, "hypothesis": premises, "label": ["neutral"] * len(premises)})
    pairs = Pairs.from_frame(frame, Card(name="random", label_space=NLI3))
    whole = find_duplicates([pairs]).clusters
    assert whole["cluster"].n_unique() == 25
    monkeypatch.setattr("goldlabel.pairs.duplicates.ROWS_PER_BLOCK", 7)
    assert find_duplicates([pairs]).clusters.equals(whole)
