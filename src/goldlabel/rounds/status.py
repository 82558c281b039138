"""Where a campaign stands: its rounds, what came of them so far, and what keeps the last one open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from goldlabel.collect.data.snapshot import take_snapshot
from goldlabel.collect.rounds.round_splits import round_name
from goldlabel.collect.rounds.rounds import OpenWork, Round, open_round_of, open_work, rounds_of, unused_contexts
from goldlabel.collect.store import Store
from goldlabel.pairs import Result
from goldlabel.rounds.figures import Campaign, measure_campaign


@dataclass(frozen=True, repr=False)
class Status(Result):
    """All rounds; ``work`` is what is still to be done in the one that is open, ``contexts`` those that none used."""

    rounds: tuple[Round, ...]
    contexts: int
    work: OpenWork | None
    campaign: Campaign

    @property
    def title(self) -> str:
        """What is to be done next."""
        left = f"{self.contexts:,} contexts left"
        if not self.rounds:
            return f"no round yet; {left}"
        last = self.rounds[-1]
        if self.work is None:
            trained = "" if last.trained else ", nothing trained on it yet"
            return f"round {last.number} is closed{trained}; {left}"
        waiting = (
            f"{self.work.jobs:,} jobs in people's hands, {self.work.tries:,} tries without an answer, "
            f"{self.work.unverified:,} pairs without a verdict"
        )
        return f"round {last.number} is open; {left}; {waiting if self.work else 'nothing keeps it open'}"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each round: its state, and Table 2 of what it has."""
        told = [{"round": round_name(one.number), "state": one.state, "tries": one.tries} for one in self.rounds]
        frame = pl.DataFrame(told)
        return frame.join(self.campaign.table, on="round", how="left") if self.campaign.rounds else frame

    def to_dict(self) -> dict[str, Any]:
        """Return rounds with their figures as plain values."""
        figures = {one.name: one.to_dict() for one in self.campaign.rounds}
        return {
            "contexts_left": self.contexts,
            "open_work": None if self.work is None else vars(self.work),
            "rounds": [
                {
                    "number": one.number,
                    "state": one.state,
                    "tries": one.tries,
                    "adversaries": [adversary.name for adversary in one.adversaries],
                    "pay": None if one.pay is None else {"pair": str(one.pay.pair), "bonus": str(one.pay.bonus)},
                    "opened_at": one.opened_at.isoformat(),
                    "closed_at": one.closed_at and one.closed_at.isoformat(),
                    "trained": None if one.trained is None else dict(one.trained),
                    "figures": figures.get(round_name(one.number)),
                }
                for one in self.rounds
            ],
        }


def status_of(store: Store, project_id: int, *, resamples: int = 1000) -> Status:
    """Return where a project stands."""
    with store.read() as tx:
        rounds = tuple(rounds_of(tx, project_id))
        current = open_round_of(tx, project_id)
        contexts = unused_contexts(tx, project_id)
        work = None if current is None else open_work(tx, project_id, current)
        snapshot = take_snapshot(tx, project_id)
    return Status(rounds, contexts, work, measure_campaign(snapshot, resamples=resamples))
