"""Rounds: what is collected against models is learnt from, and the next models are written against in their turn."""

from goldlabel.rounds.arms import Arm, Arms, compare_arms
from goldlabel.rounds.comparisons import Comparison
from goldlabel.rounds.figures import Campaign, RoundFigures, measure_campaign
from goldlabel.rounds.opening import open_next
from goldlabel.rounds.protocols import Protocols, compare_protocols
from goldlabel.rounds.report import CampaignReport, write_report
from goldlabel.rounds.status import Status, status_of
from goldlabel.rounds.training import Training, train_round

__all__ = [
    "Arm",
    "Arms",
    "Campaign",
    "CampaignReport",
    "Comparison",
    "Protocols",
    "RoundFigures",
    "Status",
    "Training",
    "compare_arms",
    "compare_protocols",
    "measure_campaign",
    "open_next",
    "status_of",
    "train_round",
    "write_report",
]
