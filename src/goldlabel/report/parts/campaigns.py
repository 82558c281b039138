"""Folders of ``collect round report``: how often the models of each round were fooled, and at what pains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldlabel.metrics import Estimate, in_percent
from goldlabel.report.language import say
from goldlabel.report.page import Section
from goldlabel.report.parts.reading import as_written, flat_estimate, read_json
from goldlabel.report.table import Column, Table

FIGURES, BENCH = "rounds.json", "bench"
"""The figures, and the folder beside them in which the models of all rounds are judged, where there is a test set."""


@dataclass(frozen=True)
class Round:
    """A round as its report has it (Table 2 of Nie et al. 2020)."""

    name: str
    contexts: int
    examples: int
    errors: Estimate
    verified_errors: Estimate
    tries: Estimate
    seconds: Estimate


@dataclass(frozen=True)
class CampaignFolder:
    """The rounds of a campaign, the first one first."""

    folder: Path
    name: str
    rounds: Sequence[Round]

    @property
    def headline(self) -> str:
        """How often the models were fooled, in the first round and in the last."""
        if not self.rounds:
            return say("The campaign {name} has no example yet.", name=self.name)
        first, last = self.rounds[0], self.rounds[-1]
        share = in_percent(last.verified_errors)
        if first is last:
            return say("In round {round} of {name} {share} of examples fooled the model.", **_told(self, last, share))
        return say(
            "In round {round} of {name} {share} of examples fooled the model, in round {first} {before}.",
            **_told(self, last, share),
            first=first.name,
            before=in_percent(first.verified_errors),
        )

    @property
    def manifest(self) -> dict[str, str]:
        """What the figures are a function of."""
        examples = sum(own.examples for own in self.rounds)
        return {"dataset": say("{dataset}, {pairs:,} pairs", dataset=self.name, pairs=examples)}


def read_campaign(folder: Path) -> CampaignFolder:
    """Read the folder of a campaign's report."""
    content = read_json(folder / FIGURES)
    with as_written(folder / FIGURES):
        return CampaignFolder(folder, content["name"], [_round(own) for own in content["rounds"]])


def campaign_sections(campaigns: Sequence[CampaignFolder]) -> Iterator[Section]:
    """Yield a table of rounds for each campaign."""
    for campaign in campaigns:
        columns = (
            say("round"),
            say("contexts"),
            say("examples"),
            Column(say("model wrong"), percent=True),
            Column(say("model wrong, verified"), percent=True),
            Column(say("tries for a verified one"), 2),
            Column(say("seconds for a verified one"), 1),
        )
        rows = [
            (own.name, own.contexts, own.examples, own.errors, own.verified_errors, own.tries, own.seconds)
            for own in campaign.rounds
        ]
        if rows:
            yield Section(
                heading=say("Rounds of {campaign}", campaign=campaign.name),
                text=say("How often the model said something else than the writer, and how often others agreed."),
                table=Table(name=f"rounds-{campaign.name}", columns=columns, rows=rows),
            )


def _told(campaign: CampaignFolder, last: Round, share: str) -> dict[str, str]:
    return {"round": last.name, "name": campaign.name, "share": share}


def _round(fields: Mapping[str, Any]) -> Round:
    figures = (flat_estimate(fields[name], "value") for name in ("errors", "verified_errors", "tries", "seconds"))
    return Round(fields["name"], fields["contexts"], fields["examples"], *figures)
