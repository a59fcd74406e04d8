"""How far a model's ratings and texts are from people's: pure functions on numbers and texts, no model.

``rated`` joins reviews by paper; ``arena`` scores one model's predictions over all forms. Undefined is None with a
reason, never 0.
"""

from referee.evals.agreement.arena import ArenaScore, FormScore, score_predictions
from referee.evals.agreement.calibration import MapName, RatingPair, apply, check_fits, fit_rating_map
from referee.evals.agreement.distributions import apart, compare_scales, from_median, histogram
from referee.evals.agreement.panels import TwiceRated, panel_alphas, self_consistency
from referee.evals.agreement.rated import RatedPaper, accepted, gather, gather_listed
from referee.evals.agreement.scales import Scale, check_scale, free_scale, one_scale, scale_of
from referee.evals.agreement.text_similarity import (
    FieldSimilarity,
    TextMeans,
    TextPair,
    mean_over_fields,
    text_pairs,
    text_similarity,
)

__all__ = [
    "ArenaScore",
    "FieldSimilarity",
    "FormScore",
    "MapName",
    "RatedPaper",
    "RatingPair",
    "Scale",
    "TextMeans",
    "TextPair",
    "TwiceRated",
    "accepted",
    "apart",
    "apply",
    "check_fits",
    "check_scale",
    "compare_scales",
    "fit_rating_map",
    "free_scale",
    "from_median",
    "gather",
    "gather_listed",
    "histogram",
    "mean_over_fields",
    "one_scale",
    "panel_alphas",
    "scale_of",
    "score_predictions",
    "self_consistency",
    "text_pairs",
    "text_similarity",
]
