"""Known answers: Tables 4 and 10 of Hu et al. (2020) on the release, ANLI's verifiers, ChaosNLI's entropy."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from goldlabel.pairs import Pairs
from goldlabel.sources import add, load
from goldlabel.verify import StoppingRule, gold_labels, opinions, simulate, verify, votes_of
from tests.verify.ballots import ballots

KEYS = (
    "relabelled",
    "agree5",
    "agree4",
    "agree3",
    "individual_gold",
    "individual_author",
    "gold_author",
    "gold_not_author",
    "no_gold",
)


@pytest.fixture(scope="module")
def ocnli(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOLDLABEL_HOME", str(tmp_path_factory.mktemp("home")))
        add("ocnli", [corpora / "ocnli"])
        return load("ocnli")


def test_agreement_on_ocnli_is_the_published_one(ocnli: Pairs) -> None:
    by_condition = verify(ocnli, by="split,condition", resamples=100).to_dict()["groups"]
    by_level = verify(ocnli, by="condition,level", resamples=100).to_dict()["groups"]
    by_split = verify(ocnli, by="split", resamples=100).to_dict()["groups"]
    groups = {
        "hard": by_level['["multi", "hard"]'],
        "multi": by_condition['["train", "multi"]'],
        "single": by_condition['["train", "single"]'],
        "dev": by_split["dev"],
    }
    expected = {
        "hard": (662, 62.5, 85.2, 98.2, 88.5, 82.4, 89.3, 8.9, 1.8),
        "multi": (1988, 63.4, 84.7, 98.8, 88.9, 82.2, 89.6, 9.2, 1.2),
        "single": (1919, 62.0, 82.0, 98.7, 88.0, 81.7, 89.7, 9.0, 1.3),
        "dev": (3000, 57.9, 81.7, 98.3, 86.9, 79.8, 88.6, 9.7, 1.7),
    }
    for name, figures in groups.items():
        assert tuple(round(figures[key], 1) for key in KEYS) == expected[name], name
        for key, interval in figures["intervals"].items():
            assert key == "cohen_kappa" or interval[0] <= figures[key] <= interval[1], (name, key)
    assert round(by_level['["multi", "hard"]']["unrelated"], 1) == 0.4


def test_gold_from_votes_is_the_released_label_on_every_relabelled_row(ocnli: Pairs) -> None:
    result = verify(ocnli, resamples=0)
    assert (result.gold_matches_label, result.gold_differs) == (6907, 0)
    assert result.pairs.collect()["label"].equals(ocnli.collect()["label"])


def test_stopping_early_saves_votes_on_ocnli_and_keeps_the_gold_labels(ocnli: Pairs) -> None:
    votes = votes_of(ocnli)
    careful = simulate(votes, StoppingRule(confidence=0.999, most=5), repeats=3)
    assert careful.same_as_fixed == 100.0
    assert careful.saving > 35
    bold = simulate(votes, StoppingRule(confidence=0.95, most=5, prior=0.137), repeats=3)
    assert bold.saving > 60
    assert bold.same_as_fixed > 98


def test_anli_verifiers(corpora: Path) -> None:
    with gzip.open(corpora / "anli" / "verifier_labels_R1-3.jsonl.gz") as lines:
        labels = ["".join(orjson.loads(line)["verifier labels"]) for line in lines]
    assert len(labels) == 29803
    votes = votes_of(ballots(*labels, labels="".join(votes[0] for votes in labels)), author="label")
    details = gold_labels(votes, "two-plus-one").details
    assert details["third_verifiers"] == 8951
    assert details["outcomes"]["discarded"] == 9
    assert details["outcomes"]["pending"] == 22, "two who differ, and no third"


def test_anli_kappa_and_labels(corpora: Path, home: Path) -> None:
    add("anli", [corpora / "anli"])
    result = verify(load("anli"), by="round", method="two-plus-one", author="label", resamples=0)
    assert result.gold.details["outcomes"]["verified"] == 3200
    kappas = [result.groups[name,].figures["fleiss_kappa"].value or 0 for name in ("R1", "R2", "R3")]
    assert [round(kappa, 3) for kappa in kappas] == [0.702, 0.71, 0.674]


def test_chaosnli_entropy_is_the_published_one(corpora: Path, home: Path) -> None:
    add("chaosnli", [corpora / "chaosnli"])
    pairs = load("chaosnli")
    published = [orjson.loads(meta)["entropy"] for meta in pairs.collect()["meta"]]
    divided = opinions(votes_of(pairs))
    assert divided.pairs["entropy"].to_list() == pytest.approx(published, abs=1e-9)
    assert divided.to_dict()["ambiguous"] > 1000
    assert any("sorted" in note for note in verify(pairs, author="first", resamples=0).notes)
    assert verify(pairs, resamples=0).whole.figures["gold_author"].value is None, "nobody knows the author's label"
