from typing import Any

import pytest

from referee.errors import DataError
from referee.evals.metric import failed
from referee.evals.registry import find_metrics
from referee.schemas.case import ReviewCase

CASE = ReviewCase(case_id="r7", paper_id="p", source="human", kind="human", text="It is wrong.")


@pytest.mark.parametrize(
    ("name", "details", "where"),
    [
        ("depth", {"readings": [{"repeat": 0}]}, "readings.0.judge"),
        ("constructiveness", {"readings": [{"judge": "m", "insights": [{"specificity": "?"}]}]}, "insights.0"),
        ("genericness", {"readings": [{"judge": "m", "prior_work": {"present": "?"}}]}, "readings.0.prior_work"),
        ("adherence", {"readings": [], "criteria": [{"id": "a", "kind": "odd", "by": "code"}]}, "criteria.0.kind"),
        ("topic_coverage", {"tau": 2, "references": [{"case_id": "h", "status": "lost"}]}, "references.0.status"),
        ("semantic_similarity", {"review": {}, "references": [{"case_id": "h"}]}, "references.0.cosine"),
        ("factual_correctness", {"split": {}, "passages": {}, "points": [{"id": "p1"}]}, "points.0.kind"),
    ],
)
def test_damaged_judgements_are_refused_with_metric_review_and_place(
    name: str, details: dict[str, Any], where: str
) -> None:
    (metric,) = find_metrics([name])
    stored = failed(metric, CASE, "made up", details=details)
    with pytest.raises(DataError, match=rf"'{name}' on review 'r7' are damaged at '.*{where}") as refused:
        metric.rescore(stored)
    assert "again" in refused.value.hint
