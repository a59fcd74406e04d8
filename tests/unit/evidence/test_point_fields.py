from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from referee.evidence import field_for
from referee.schemas.point import SEVERITIES, PointKind, Polarity
from referee.venues import list_venues, load_venue

from .scene_points import point

VENUES = sorted(str(getattr(venue, "id", venue)) for venue in list_venues())
CASES = tuple(product(get_args(Polarity), get_args(PointKind), SEVERITIES))
SUMMARIES = {"tmlr": "summary_of_contributions", "corl-2024": "summary_of_recommendation"}


@pytest.mark.parametrize("venue", VENUES)
def test_every_point_has_one_box_in_every_form(venue: str) -> None:
    form = load_venue(venue)
    boxes = {field.name for field in form.reviewer_fields if field.kind == "text"}
    for polarity, kind, severity in CASES:
        name = field_for(point(polarity=polarity, kind=kind, severity=severity), form)
        if not boxes:
            assert name is None
            continue
        assert name in boxes
        lower = name.lower()
        assert not any(word in lower for word in ("title", "formatting", "justification", "supplementary"))
        assert "summary" not in lower or "of_strengths" in lower or "of_weak" in lower or SUMMARIES[venue] == name
        praised = any(word in lower for word in ("strength", "accept", "publish"))
        blamed = any(word in lower for word in ("weakness", "reject", "concerns"))
        assert not (polarity == "strength" and blamed and not praised)
        assert not (polarity != "strength" and praised and not blamed)


@pytest.mark.parametrize("venue", VENUES)
def test_questions_go_to_the_box_for_questions_where_there_is_one(venue: str) -> None:
    form = load_venue(venue)
    boxes = [f.name for f in form.reviewer_fields if f.kind == "text" and "question" in f.name.lower()]
    assert not boxes or field_for(point(polarity="question"), form) == boxes[0]


@pytest.mark.parametrize(
    ("venue", "changes", "name"),
    [
        ("neurips-2025", {"polarity": "strength"}, "strengths_and_weaknesses"),
        ("neurips-2025", {"kind": "missing", "claim": "No limitation is named"}, "limitations"),
        ("neurips-2025", {"kind": "missing", "claim": "No code is given"}, "strengths_and_weaknesses"),
        ("iclr-2023", {"kind": "novelty", "severity": "major"}, "strength_and_weaknesses"),
        ("iclr-2023", {"kind": "clarity", "severity": "minor"}, "clarity,_quality,_novelty_and_reproducibility"),
        ("iclr-2024", {"kind": "ethics"}, "details_of_ethics_concerns"),
        ("icml-2025", {"kind": "error"}, "claims_and_evidence"),
        ("icml-2025", {"kind": "statistics"}, "methods_and_evaluation_criteria"),
        ("icml-2025", {"kind": "comparison", "fix": {"kind": "citation"}}, "essential_references_not_discussed"),
        ("icml-2025", {"kind": "clarity"}, "other_strengths_and_weaknesses"),
        ("emnlp-2023", {"kind": "clarity", "severity": "note"}, "Typos_Grammar_Style_And_Presentation_Improvements"),
        ("emnlp-2023", {"kind": "design"}, "Reasons_To_Reject"),
        ("arr", {"kind": "error", "severity": "note"}, "comments_suggestions_and_typos"),
        ("arr-2021", {"polarity": "question"}, "concerns"),
        ("tmlr", {"kind": "design"}, "claims_explanation"),
        ("tmlr", {"polarity": "strength"}, "summary_of_contributions"),
        ("tmlr-before-2025", {"severity": "note"}, "requested_changes"),
        ("neurips-db-2021", {"kind": "reproducibility", "severity": "minor"}, "documentation"),
        ("neurips-db-2022", {"kind": "error", "severity": "fatal"}, "opportunities_for_improvement"),
        ("corl-2021", {"polarity": "question"}, "review"),
        ("icml-2025-position", {}, None),
    ],
)
def test_the_box_that_a_form_has_for_it(venue: str, changes: dict[str, object], name: str | None) -> None:
    assert field_for(point(**changes), load_venue(venue)) == name
