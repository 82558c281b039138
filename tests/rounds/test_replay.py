"""ANLI's verified examples, driven through a live server, end in the sets that were published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.store import Store
from goldlabel.pairs import Pairs
from goldlabel.rounds import measure_campaign
from goldlabel.sources import add
from goldlabel.verify import verify
from tests.rounds.replay import Example, examples_of, replay, verified_of
from tests.web.site import serving


@pytest.fixture(scope="module")
def anli(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOLDLABEL_HOME", str(tmp_path_factory.mktemp("home")))
        return add("anli", [corpora / "anli"]).pairs


def test_the_published_votes_agree_as_published(anli: Pairs) -> None:
    groups = verify(anli, by="round", method="two-plus-one").groups
    kappas = {name[0]: group.figures["fleiss_kappa"].defined for name, group in groups.items() if name}
    assert {name: round(value, 2) for name, value in kappas.items()} == {"R1": 0.70, "R2": 0.71, "R3": 0.67}


def test_what_was_published_is_verified_again(anli: Pairs, tmp_path: Path) -> None:
    everything = examples_of(anli)
    by_kind: Counter[tuple[str, str, int]] = Counter()
    sample: list[Example] = []
    for one in everything:
        kind = (one.number, one.label, len(one.votes))
        by_kind[kind] += 1
        sample += [one] if by_kind[kind] == 1 else []
    with serving(Store.create(tmp_path / "c")) as site:
        project_id = replay(site.store, site.address, sample)
        with site.store.read() as tx:
            snapshot = take_snapshot(tx, project_id)
    assert verified_of(split_pairs(snapshot).pairs) == {
        (one.number, one.premise, one.hypothesis, one.label, one.votes) for one in sample
    }
    for figures in measure_campaign(snapshot).rounds:
        own = [one for one in sample if one.number == figures.name]
        assert figures.outcomes == {"verified": len(own), "overruled": 0, "discarded": 0, "pending": 0}
        assert {name: figures.labels[name] for name in figures.labels} == Counter(one.label for one in own)
