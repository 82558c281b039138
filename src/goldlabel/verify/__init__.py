"""Votes become gold labels: aggregation, agreement, annotator quality."""

from goldlabel.verify.annotators import Annotators, annotators
from goldlabel.verify.cohen_kappa import cohen_kappa, pairwise_cohen
from goldlabel.verify.fleiss_kappa import fleiss_kappa
from goldlabel.verify.gold import METHODS, GoldLabels, gold_labels
from goldlabel.verify.human_baseline import HumanBaseline, human_baseline
from goldlabel.verify.krippendorff_alpha import krippendorff_alpha
from goldlabel.verify.mixture import Mixture, compare_mixture
from goldlabel.verify.opinions import Opinions, opinions
from goldlabel.verify.sequential import Simulation, StoppingRule, VotePlan, fit_prior, plan_votes, simulate
from goldlabel.verify.verification import Verification, verify
from goldlabel.verify.vote_files import read_votes
from goldlabel.verify.votes import Votes, votes_of

__all__ = [
    "METHODS",
    "Annotators",
    "GoldLabels",
    "HumanBaseline",
    "Mixture",
    "Opinions",
    "Simulation",
    "StoppingRule",
    "Verification",
    "VotePlan",
    "Votes",
    "annotators",
    "cohen_kappa",
    "compare_mixture",
    "fit_prior",
    "fleiss_kappa",
    "gold_labels",
    "human_baseline",
    "krippendorff_alpha",
    "opinions",
    "pairwise_cohen",
    "plan_votes",
    "read_votes",
    "simulate",
    "verify",
    "votes_of",
]
