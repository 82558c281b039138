"""Arms of a campaign: dealt out at random, told apart in the data, and compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import func, select

from goldlabel.collect.configuration import create_project
from goldlabel.collect.data.export import split_pairs
from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.events import history
from goldlabel.collect.money.ledger import lines
from goldlabel.collect.money.recount import check
from goldlabel.collect.people.people import add_member, roles
from goldlabel.collect.protocols import make_protocol
from goldlabel.collect.refusals import Conflict
from goldlabel.collect.rounds.costs import costs_of
from goldlabel.collect.rounds.fooling import finish
from goldlabel.collect.rounds.rounds import Adversary, Rates, close_round, open_round
from goldlabel.collect.rounds.tries import add_try, decide, job_of, take_questions
from goldlabel.collect.schema import metadata
from goldlabel.collect.store import Store, Transaction
from goldlabel.collect.work.assignment import claim
from goldlabel.collect.work.leases import own_assignment
from goldlabel.collect.work.pool import add_premises
from goldlabel.collect.work.verifying import vote
from goldlabel.errors import InputError
from goldlabel.metrics import gap
from goldlabel.rounds import Arm, Arms, compare_arms, measure_campaign, write_report
from goldlabel.rounds.arms import Contrast
from goldlabel.rounds.pilot import Assumptions, run_pilot
from goldlabel.rounds.proposing import by_examples, by_function, propose
from goldlabel.worker.measuring import measure
from tests.collect.campaign import join
from tests.rounds.players import VERBS, contexts, hypothesis, lessons, truth

ARMS = ("adversarial", "plain", "assisted")
CONTEXTS = 6


def write(premises: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Propose the last verb of each label."""
    return [hypothesis(premise, VERBS[label][-1]) for premise, label in zip(premises, labels, strict=True)]


class Campaign:
    """Three arms with two writers each, and three verifiers who say the truth."""

    def __init__(self, store: Store) -> None:
        self.store = store
        protocol = make_protocol(",".join(ARMS), "en")
        protocol = replace(
            protocol,
            qualification=replace(protocol.qualification, training=0, gold_rate=0.0),
            writing=replace(protocol.writing, writers_per_premise=1),
        )
        with store.write() as tx:
            self.id = create_project(tx, "owners", protocol, seed=5).id
            add_premises(tx, self.id, contexts(0, CONTEXTS), by=None)
        self.proposed = propose(store, self.id, by_function("tests.rounds.test_arms:write"))
        with store.write() as tx:
            model = [Adversary(name="m", reference="tests.web.duels:obedient", options={})]
            rates = Rates(pair=Decimal("1.00"), bonus=Decimal("0.50"))
            open_round(tx, self.id, model, number_of_tries=2, pay=rates, by=None)
        self.writers, self.verifiers = join(store, self.id, "writer", 6), join(store, self.id, "verifier", 3)

    def arm(self, person: int) -> str:
        with self.store.read() as tx:
            return roles(tx, self.id, person)["writer"].condition

    def play(self) -> None:
        for _ in range(CONTEXTS):
            for person in self.writers:
                self.job(person)
        for verifier in self.verifiers:
            while self.judge(verifier):
                pass

    def job(self, person: int) -> bool:
        with self.store.write() as tx:
            tasks = claim(tx, self.id, person, "write").tasks
            if not tasks:
                return False
            number, premise, arm = tasks[0].assignment_id, tasks[0].premise, tasks[0].condition
            first = self.send(tx, number, person, premise, 0, arm)
            if arm == "adversarial":  # the model is right once, then wrong
                with pytest.raises(Conflict, match="1 tries are left"):
                    finish(tx, number, person, key="f", reasons={})
                self.send(tx, number, person, premise, 1, arm)
            else:
                with pytest.raises(Conflict, match="all 1 tries are used up"):
                    add_try(tx, number, person, key="more", text=f"{first} And more.")
            finish(tx, number, person, key="f", reasons={"label": "So.", "model": "So."}, timings={"total": 30.0})
            return True

    def send(self, tx: Transaction, number: int, person: int, premise: str, turn: int, arm: str) -> str:
        """Write a sentence; the model is wrong at the second, and at every third sentence of writers who do not see."""
        target = job_of(tx, own_assignment(tx, number, person)).target
        text = hypothesis(premise, VERBS[target][turn])
        add_try(tx, number, person, key=f"t{turn}", text=text)
        (question,) = take_questions(tx, "worker", 10)
        wrong = bool(turn) if arm == "adversarial" else number % 3 == 0
        said = next(label for label in VERBS if (label != target) == wrong)
        decide(tx, question.id, model="m", scores={label: float(label == said) for label in question.space.labels})
        return text

    def judge(self, verifier: int) -> bool:
        with self.store.write() as tx:
            tasks = claim(tx, self.id, verifier, "verify").tasks
            for task in tasks:
                label = truth(task.hypothesis or "")
                vote(tx, task.assignment_id, verifier, key=f"v{task.assignment_id}", label=label, seconds=3.0)
            return bool(tasks)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """A campaign played to the end of its round."""
    made = Campaign(Store.create(tmp_path_factory.mktemp("arms") / "campaign"))
    made.play()
    with made.store.write() as tx:
        close_round(tx, made.id, by=None)
    return made


@pytest.fixture(scope="module")
def frame(campaign: Campaign) -> pl.DataFrame:
    with campaign.store.read() as tx:
        return split_pairs(take_snapshot(tx, campaign.id)).pairs.frame.collect()


@pytest.fixture(scope="module")
def compared(campaign: Campaign) -> Arms:
    with campaign.store.read() as tx:
        return compare_arms(take_snapshot(tx, campaign.id), costs_of(tx, campaign.id), resamples=200)


def test_writers_are_dealt_out_at_random_in_equal_numbers_and_it_is_written_down(campaign: Campaign) -> None:
    dealt = [campaign.arm(person) for person in campaign.writers]
    assert Counter(dealt[:3]) == Counter(dealt[3:]) == dict.fromkeys(ARMS, 1)
    with campaign.store.read() as tx:
        joined = [one for one in history(tx, campaign.id, limit=1000) if one.kind == "member.joined"]
    told = {one.data["condition"] for one in joined if one.data["role"] == "writer"}
    assert told == {*ARMS}
    first = set()
    with campaign.store.write() as tx:
        for seed in range(12):
            made = create_project(tx, f"dealt {seed}", make_protocol(",".join(ARMS), "en"), seed=seed).id
            first.add(add_member(tx, made, campaign.writers[0], "writer", by=None).condition)
    assert len(first) > 1, "who comes first is not always in the same arm"


def test_every_pair_says_its_arm_what_a_model_said_and_where_its_text_comes_from(frame: pl.DataFrame) -> None:
    assert Counter(frame["condition"]) == {"adversarial": 2 * CONTEXTS, "plain": CONTEXTS, "assisted": CONTEXTS}
    told = [json.loads(meta)["pair_meta"] for meta in frame["meta"]]
    assert {one["model"] for one in told} == {"m"}, "models are asked in every arm"
    shown = [one.get("proposal") for one in told]
    assert [one is not None for one in shown] == (frame["condition"] == "assisted").to_list()
    assert {one["text_from"] for one, arm in zip(told, frame["condition"], strict=True) if arm != "assisted"} == {
        "person"
    }
    for one, text in zip(told, frame["hypothesis"], strict=True):
        if one.get("proposal"):
            assert one["text_from"] == "person, from a proposal"
            assert one["proposal"]["source"] == "tests.rounds.test_arms:write"
            assert 0 < one["proposal"]["distance"] <= max(len(text), len(one["proposal"]["text"]))
    verified = frame["meta"].str.json_path_match("$.verified") == "true"
    assert Counter(frame.filter(verified)["condition"]) == dict.fromkeys(ARMS, CONTEXTS)


def test_every_confirmed_pair_earns_the_bonus_of_its_arm(campaign: Campaign) -> None:
    with campaign.store.read() as tx:
        assert check(tx, campaign.id) == []
        bonuses = [line for line in lines(tx, campaign.id) if line.kind == "bonus"]
    paid = Counter((campaign.arm(line.person_id), line.reason.partition(":")[0]) for line in bonuses)
    assert paid == {
        ("adversarial", "fooled the model, and others agree with the label"): CONTEXTS,
        ("plain", "others agree with the label"): CONTEXTS,
        ("assisted", "others agree with the label"): CONTEXTS,
    }


def test_the_arms_are_compared(campaign: Campaign, frame: pl.DataFrame, compared: Arms) -> None:
    arms: dict[str, Arm] = {one.name: one for one in compared.arms}
    assert list(arms) == [*ARMS]
    fooled = frame.with_columns(fooled=frame["meta"].str.json_path_match("$.pair_meta.fooled") == "true")
    for name, arm in arms.items():
        own = fooled.filter(pl.col("condition") == name)
        assert (arm.writers, arm.jobs, arm.sentences) == (2, CONTEXTS, len(own))
        assert arm.fooled.value == pytest.approx(own["fooled"].mean())
        assert arm.confirmed.value == 1.0
        assert arm.seconds.value == 30.0
        # A job, its bonus, and two judgements at 0.20.
        assert arm.cost.value == pytest.approx(1.00 + 0.50 + 2 * 0.20)
        assert arm.overlap.value is not None
    assert arms["adversarial"].fooled.value == 0.5
    assert arms["assisted"].edits.value is not None
    assert arms["plain"].edits.value is None
    assert compared.table["arm"].to_list() == [*ARMS]
    assert json.dumps(compared.to_dict())
    with campaign.store.read() as tx:
        (told,) = measure_campaign(take_snapshot(tx, campaign.id)).rounds
    assert told.examples == 2 * CONTEXTS, "Table 2 is of writers who saw the model"


def test_arms_are_held_against_the_first_one(frame: pl.DataFrame, compared: Arms) -> None:
    wrong = frame["meta"].str.json_path_match("$.pair_meta.fooled") == "true"
    shares = {name: float(wrong.filter(frame["condition"] == name).mean() or 0.0) for name in ARMS}
    contrasts = {(one.share, one.arm): one for one in compared.contrasts}
    assert {arm for _, arm in contrasts} == {*ARMS[1:]}
    assert {one.against for one in compared.contrasts} == {ARMS[0]}
    for name in ARMS[1:]:
        for share in ("fooled", "verified_errors"):  # all of what fooled the model was confirmed
            one = contrasts[share, name]
            assert one.difference.value == pytest.approx(shares[name] - shares[ARMS[0]])
            assert one.difference.units == CONTEXTS, "arms have their contexts in common"
        assert contrasts["confirmed", name].difference.value == 0.0
    raw = {(one.share, one.arm): gap_of(frame, wrong, one) for one in compared.contrasts if one.share == "fooled"}
    assert all(contrasts[key].p_value >= p_value for key, p_value in raw.items())
    smallest = min(raw.values())
    assert contrasts[min(raw, key=raw.__getitem__)].p_value == pytest.approx(min(1.0, len(contrasts) * smallest))


def gap_of(frame: pl.DataFrame, hits: pl.Series, one: Contrast) -> float:
    """Return the p-value of a contrast by itself."""
    parts = [(frame["condition"] == name).to_numpy() for name in (one.arm, one.against)]
    return gap(hits.to_numpy(), parts, units=frame["group"].to_numpy()).p_value


def test_the_report_has_a_part_for_each_arm_and_what_they_differ_in(campaign: Campaign, tmp_path: Path) -> None:
    report = write_report(campaign.store, campaign.id, tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for text in ("What the adversary is worth", "Arm against arm", *(f"{arm}: verified errors" for arm in ARMS)):
        assert text in page, text
    rows = pl.read_csv(tmp_path / "arms.csv")
    assert rows["arm"].to_list() == [*ARMS]
    assert report.arms is not None
    assert [p == "–" for p in rows["p (Holm)"]] == [True, False, False]
    told = json.loads((tmp_path / "rounds.json").read_text(encoding="utf-8"))["arms"]["contrasts"]
    assert told == json.loads(json.dumps([one.to_dict() for one in report.arms.contrasts]))


def test_the_meter_is_by_round_and_arm(campaign: Campaign) -> None:
    with campaign.store.read() as tx:
        measured, _ = measure(take_snapshot(tx, campaign.id), 0)
    assert measured.meter is not None
    assert [(one.name, one.pairs) for one in measured.meter.rounds] == [("R1", 4 * CONTEXTS)]
    assert [one.name for one in measured.meter.conditions] == [*ARMS]
    assert all(sum(one.words.values()) > 0 for one in measured.meter.rounds)


def test_proposals_are_made_once_and_tell_their_source(
    campaign: Campaign, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert campaign.proposed == 3 * CONTEXTS
    assert propose(campaign.store, campaign.id, by_function("tests.rounds.test_arms:write")) == 0
    with campaign.store.write() as tx:
        add_premises(tx, campaign.id, contexts(900, 1), by=None)
    assert propose(campaign.store, campaign.id, by_examples(lessons(1), "examples lessons")) == 3
    for wrong in ("nothing", "tests.rounds.test_arms:nothing"):
        with pytest.raises(InputError, match="--generator"):
            by_function(wrong)


def test_several_conditions_are_of_one_kind() -> None:
    with pytest.raises(InputError, match="there is no protocol 'multi'; allowed: "):
        make_protocol("plain,multi", "en")


def test_a_pilot_tells_what_a_round_costs_and_leaves_nothing_behind(campaign: Campaign) -> None:
    with campaign.store.read() as tx:
        before = [tx.value(select(func.count()).select_from(table)) for table in metadata.sorted_tables]
    assumed = Assumptions(fooling=1.0, agreement=1.0)
    pilot = run_pilot(campaign.store, campaign.id, contexts=100, assumptions=assumed)
    with campaign.store.read() as tx:
        assert [tx.value(select(func.count()).select_from(table)) for table in metadata.sorted_tables] == before
    # Everybody fools the model at once, and two confirm it: a job, a bonus and two judgements by the project's rates.
    each = 0.30 + 0.10 + 2 * 0.20
    for arm in ARMS:
        assert pilot.arms[arm]["cost"].value == pytest.approx(100 * each)
        assert pilot.arms[arm]["confirmed"].value == pytest.approx(100)
    assert pilot.arms["all"]["cost"].value == pytest.approx(300 * each)
    hours = pilot.arms["all"]["writing_hours"]
    assert hours.low is not None
    assert hours.high is not None
    assert hours.low < 300 * 60 / 3600 < hours.high
    usual = run_pilot(campaign.store, campaign.id, contexts=100)
    assert (usual.arms["all"]["confirmed"].value or 0) < 300
    assert json.dumps(usual.to_dict())
    with pytest.raises(InputError, match="fooling is 2; allowed"):
        Assumptions(fooling=2)
