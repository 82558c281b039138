"""Models as judges: kept apart from people, and counted only where the project says so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import select

from goldlabel.collect.configuration import configure
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.money.recount import check
from goldlabel.collect.projects import project
from goldlabel.collect.protocols import with_settings
from goldlabel.collect.schema import model_votes, pairs
from goldlabel.collect.store import Store
from goldlabel.collect.work.model_votes import judge_pairs
from goldlabel.errors import InputError
from goldlabel.models.loading import load_model
from goldlabel.pairs.labels import NLI2, NLI3
from tests.collect.campaign import Projects, join, small_protocol, verify_all, write_all

LABELS = ("contradiction", "entailment", "neutral")


def neutral(premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
    """Say neutral, and nothing of sentences that begin otherwise than usual."""
    shares = np.tile([0.1, 0.1, 0.8], (len(hypotheses), 1))
    shares[[not text.startswith("It is") for text in hypotheses]] = np.nan
    return shares


neutral.label_space = LABELS  # type: ignore[attr-defined]


@pytest.fixture
def projects() -> Iterator[Projects]:
    with Projects() as opened:
        yield opened


def split(number: int, _: str, hypothesis: str) -> str:
    """The first of two verifiers says what the writer meant, the second contradiction."""
    return hypothesis.split()[2] if number == 0 else "contradiction"


def verdicts(store: Store, project_id: int) -> dict[str, str | None]:
    with store.read() as tx:
        assert check(tx, project_id) == []
        return {row.label: row.verdict for row in tx.all(select(pairs).where(pairs.c.project_id == project_id))}


def test_a_model_votes_apart_and_counts_only_where_the_project_says_so(tmp_path: Path, projects: Projects) -> None:
    store, made = projects.open(tmp_path / "collection", small_protocol("single", verifiers=2), premises=1)
    write_all(store, made, join(store, made, "writer", 1))
    verify_all(store, made, join(store, made, "verifier", 2), split)
    before = verdicts(store, made)
    assert before == {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradiction"}
    model = load_model("tests.collect.test_model_votes:neutral")
    assert judge_pairs(store, made, "neutral", model) == 3
    assert judge_pairs(store, made, "neutral", model) == 0, "each pair once"
    assert verdicts(store, made) == before
    with store.write() as tx:
        snapshot = take_snapshot(tx, made).own.frame.collect()
        told = [json.loads(meta) for meta in snapshot["meta"]]
        assert {len(votes) for votes in snapshot["votes"]} == {3}
        assert [one["model_votes"][0]["label"] for one in told] == ["neutral"] * 3
        assert "model neutral" not in [name for one in told for name in one["annotators"]]
        protocol = project(tx, made).protocol
        configure(tx, made, with_settings(protocol, {"verifying.models": True}), by=None)
    # Author and first verifier against second verifier and model: nobody has more than half of four.
    assert verdicts(store, made) == {"entailment": "-", "neutral": "neutral", "contradiction": "contradiction"}
    with store.write() as tx:
        snapshot = take_snapshot(tx, made).own.frame.collect()
        told = [json.loads(meta) for meta in snapshot["meta"]]
        assert all(one["annotators"][-1] == "model neutral" for one in told)
        assert all(len(one["annotators"]) == len(one["seconds"]) == len(one["times"]) == 4 for one in told)
        assert {votes[-1] for votes in snapshot["votes"].to_list()} == {"neutral"}
        configure(tx, made, with_settings(project(tx, made).protocol, {"verifying.models": False}), by=None)
    assert verdicts(store, made) == before


def test_a_vote_that_the_events_do_not_tell_is_found(tmp_path: Path, projects: Projects) -> None:
    store, made = projects.open(tmp_path / "collection", small_protocol("single", verifiers=2), premises=1)
    write_all(store, made, join(store, made, "writer", 1))
    with store.write() as tx:
        values = {"model": "m", "label": "neutral", "scores": {"neutral": 1.0}, "created_at": tx.now}
        pair_id = tx.value(select(pairs.c.id).limit(1))
        tx.insert(model_votes, project_id=made, pair_id=pair_id, **values)
        assert [line.partition(":")[0] for line in check(tx, made)] == [f"votes of models on pair {pair_id}"]


def test_a_model_of_other_labels_is_refused(tmp_path: Path, projects: Projects) -> None:
    store, made = projects.open(tmp_path / "collection", small_protocol("single"), premises=1)
    model = load_model("tests.collect.test_model_votes:neutral", label_space="nli2", default_space=NLI3)
    assert model.label_space == NLI2
    with pytest.raises(InputError, match="says entailment, not_entailment, and the project's labels are"):
        judge_pairs(store, made, "neutral", model)
