"""The statistics behind every printed number: intervals, agreement, comparisons; seeded, no state.

Where a quantity is not defined (no values, one value, no variation) the answer is None, never 0 or NaN.
"""

from referee.stats.agreement import Level, krippendorff_alpha
from referee.stats.comparisons import MannWhitney, cliffs_delta, holm, mann_whitney, permutation_test
from referee.stats.intervals import Interval, bootstrap_interval, mean_sd, paired_interval, wilson
from referee.stats.ranks import ClusteredRanks, average_ranks, clustered_rank_test, rank_biserial, spearman

__all__ = [
    "ClusteredRanks",
    "Interval",
    "Level",
    "MannWhitney",
    "average_ranks",
    "bootstrap_interval",
    "cliffs_delta",
    "clustered_rank_test",
    "holm",
    "krippendorff_alpha",
    "mann_whitney",
    "mean_sd",
    "paired_interval",
    "permutation_test",
    "rank_biserial",
    "spearman",
    "wilson",
]
