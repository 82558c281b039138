from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldlabel.collect.data.stats import Stats, project_stats
from goldlabel.collect.store import Store
from tests.collect.campaign import Projects, bring_pairs, join, meant, small_protocol, verify_all, write_all

KEYS = {"premises", "pairs", "verified", "by_condition", "agreement", "writers", "verifiers", "ledger", "rounds"}


@pytest.fixture
def projects() -> Iterator[Projects]:
    with Projects() as found:
        yield found


def stats(store: Store, project_id: int) -> Stats:
    with store.read() as tx:
        return project_stats(tx, project_id, resamples=100)


def test_a_new_project_counts_nothing(projects: Projects, tmp_path: Path) -> None:
    found = stats(*projects.open(tmp_path, small_protocol("multi,single"), premises=3))
    told = found.to_dict()
    assert told.keys() >= KEYS
    assert (told["premises"], told["pairs"], told["verified"], told["agreement"]) == (3, 0, 0, None)
    assert {name: one["pairs"] for name, one in told["by_condition"].items()} == {"multi": 0, "single": 0}
    assert (told["writers"], told["verifiers"], told["rounds"]) == (0, 0, [])
    assert told["ledger"] == {"currency": "USD", "total": 0.0, "lines": 0}
    assert "3 premises, 0 pairs" in found.title
    assert found.table["pairs"].to_list() == [0, 0]


def test_what_was_done_is_counted(projects: Projects, place: str) -> None:
    store, project_id = projects.open(place, small_protocol("multi,single"), premises=2)
    writers = join(store, project_id, "writer", 2)
    assert write_all(store, project_id, writers) == 4
    bring_pairs(store, project_id, 3, origin="foreign", labels=("neutral",))

    def human(number: int, premise: str, hypothesis: str) -> str:
        return "unrelated" if number == 2 and hypothesis.endswith("hard") else meant(number, premise, hypothesis)

    votes = verify_all(store, project_id, join(store, project_id, "verifier", 4), human)
    assert votes == 4 * (18 + 6 + 3)
    told = stats(store, project_id).to_dict()
    assert (told["premises"], told["pairs"], told["verified"]) == (2, 24, 24)
    multi, single = told["by_condition"]["multi"], told["by_condition"]["single"]
    assert (multi["premises"], multi["pairs"], multi["verified"]) == (2, 18, 18)
    assert multi["by_level"] == {"easy": 6, "hard": 6, "medium": 6}
    assert single["by_label"] == {"contradiction": 2, "entailment": 2, "neutral": 2}
    assert single["by_level"] == {}
    assert multi["by_genre"] == {"letters": 9, "news": 9}
    assert (told["writers"], told["verifiers"]) == (2, 4)
    assert told["ledger"]["total"] == pytest.approx(0.3 * 24 + 0.2 * votes)
    assert told["ledger"]["lines"] == 4 + votes
    assert sum(one["owed"] for one in told["people"]) == pytest.approx(told["ledger"]["total"])
    low, high = told["agreement"]["all"]["intervals"]["individual_gold"]
    assert low < told["agreement"]["all"]["individual_gold"] < high
    assert told["agreement"]['["multi", "hard"]']["unrelated"] == 20.0
    assert told["agreement"]["single"]["agree5"] == 100.0
    assert told["mixture"]["foreign"]["relabelled"] == 3
    assert {one["condition"] for one in told["people"] if "writer" in one["roles"]} == {"multi", "single"}
    assert json.loads(json.dumps(told)) == told


def test_a_human_baseline_is_in_the_figures(projects: Projects, tmp_path: Path) -> None:
    store, project_id = projects.open(tmp_path, small_protocol("human-baseline", verifiers=5))
    bring_pairs(store, project_id, 6, origin="imported", labels=("neutral", "entailment"))
    verify_all(store, project_id, join(store, project_id, "verifier", 5))
    found = stats(store, project_id)
    told = found.to_dict()
    assert (told["premises"], told["pairs"], told["verified"], told["by_condition"]) == (6, 6, 6, {})
    assert told["human_baseline"]["accuracy"]["value"] == 100.0
    assert told["agreement"]["all"]["agree5"] == 100.0
    assert found.table.is_empty()
