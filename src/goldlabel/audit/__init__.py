"""Audit: what a model could learn from a dataset without reading the premise, and other faults of pairs."""

from goldlabel.audit.aflite import AFLite
from goldlabel.audit.auditing import AuditOptions, audit
from goldlabel.audit.cartography import Cartography, cartography
from goldlabel.audit.hypothesis_only import Fit, judge_hypotheses
from goldlabel.audit.label_errors import LabelErrors, find_label_errors
from goldlabel.audit.probabilities import read_probabilities
from goldlabel.audit.result import Audit, parse_bound
from goldlabel.pairs.tokens import TOKENIZERS

__all__ = [
    "TOKENIZERS",
    "AFLite",
    "Audit",
    "AuditOptions",
    "Cartography",
    "Fit",
    "LabelErrors",
    "audit",
    "cartography",
    "find_label_errors",
    "judge_hypotheses",
    "parse_bound",
    "read_probabilities",
]
