"""Scores over plain label arrays, figures with their uncertainty, and paired tests.

Labels are words; ``-`` (no gold label) must be left out before scoring. Pairs of one unit (see
``goldlabel.pairs.units``) are not independent: whatever takes ``units`` counts them as one draw. Every random
procedure takes a seed and gives the same figures on any machine.
"""

from goldlabel.metrics.adjustment import benjamini_hochberg, holm
from goldlabel.metrics.bootstrap import (
    Statistic,
    Terms,
    bootstrap,
    bootstrap_sums,
    divided,
    percentile_interval,
)
from goldlabel.metrics.estimate import Estimate, check_level, difference, mean, mean_test, share, share_of, wilson
from goldlabel.metrics.gaps import Gap, gap
from goldlabel.metrics.over_sets import compare_over_sets, mean_of_shares, mean_over_sets, paired_bootstrap_over_sets
from goldlabel.metrics.paired import PairedTest, mcnemar, paired_bootstrap, permutation_test, swap_test
from goldlabel.metrics.scores import (
    Metric,
    accuracy,
    accuracy_score,
    balanced_accuracy,
    confusion,
    f1_per_label,
    macro_f1,
)
from goldlabel.metrics.wording import in_percent, in_points, p_in_words, p_value, percent, percentage

__all__ = [
    "Estimate",
    "Gap",
    "Metric",
    "PairedTest",
    "Statistic",
    "Terms",
    "accuracy",
    "accuracy_score",
    "balanced_accuracy",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_sums",
    "check_level",
    "compare_over_sets",
    "confusion",
    "difference",
    "divided",
    "f1_per_label",
    "gap",
    "holm",
    "in_percent",
    "in_points",
    "macro_f1",
    "mcnemar",
    "mean",
    "mean_of_shares",
    "mean_over_sets",
    "mean_test",
    "p_in_words",
    "p_value",
    "paired_bootstrap",
    "paired_bootstrap_over_sets",
    "percent",
    "percentage",
    "percentile_interval",
    "permutation_test",
    "share",
    "share_of",
    "swap_test",
    "wilson",
]
