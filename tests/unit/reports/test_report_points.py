from __future__ import annotations

from typing import Any, get_args

from referee.reports import render_review
from referee.reports.point_lines import point_lines
from referee.reports.points import render_points
from referee.schemas.point import PointCheck, PointEvidence, PointSource, ReviewPoint

from .example import form, review


def quoted(quote: str = "We train one model", **changes: Any) -> PointEvidence:
    given: dict[str, Any] = {"section_id": "s3", "section": "3 Method", "quote": quote, "status": "exact", "page": 4}
    return PointEvidence.model_validate(given | changes)


def point(point_id: str, **changes: Any) -> ReviewPoint:
    given: dict[str, Any] = {
        "id": point_id,
        "claim": f"Claim of {point_id}.",
        "polarity": "weakness",
        "kind": "design",
        "severity": "major",
        "raised_severity": "major",
        "evidence": (quoted(),),
        "source": "section",
        "outcome": "printed",
        "field": "weaknesses",
    }
    return ReviewPoint.model_validate(given | changes)


def aside(point_id: str, outcome: str, **changes: Any) -> ReviewPoint:
    return point(point_id, outcome=outcome, field=None, reason=f"reason of {point_id}", **changes)


ALL = (
    point("p-P1-1", severity="minor"),
    point("p-P1-2", severity="fatal"),
    point("p-P2-1", polarity="strength", severity="note"),
    point("p-P2-2", polarity="question", severity="minor"),
    aside("p-P3-1", "listed"),
    aside("p-P3-2", "merged_into", merged_into="p-P1-1"),
    aside("p-P3-3", "struck"),
    aside("p-P3-4", "dropped"),
)


def text(points: tuple[ReviewPoint, ...], **options: bool) -> str:
    return "\n".join(render_points(points, **options))


def test_no_points_no_lines() -> None:
    assert render_points(()) == []
    assert render_points((), all_points=True) == []
    assert "## Behind this review" not in render_review(review(), form())


def test_the_page_counts_the_points_and_prints_none_of_them_again() -> None:
    shown = text(ALL)
    assert "8 points were raised and 4 stand in the form above" in shown
    assert "without a field: 1, joined with others: 1, struck by the check: 1, dropped: 1" in shown
    assert "Claim of" not in shown
    assert "(" not in text(ALL[:4])


def test_weaknesses_come_first_the_gravest_on_top() -> None:
    shown = text(ALL, all_points=True)
    order = ["### Weaknesses", "p-P1-2", "p-P1-1", "### Questions", "p-P2-2", "### Strengths", "p-P2-1"]
    assert [shown.index(part) for part in order] == sorted(shown.index(part) for part in order)
    assert "**Fatal.** Claim of p-P1-2. `p-P1-2`" in shown
    assert "**Notes.**" not in shown


def test_a_quotation_stands_with_its_section_and_page() -> None:
    assert "  - “We train one model” (3 Method, p. 4)" in text(ALL, all_points=True)
    assert "(3 Method)" in text((point("p", evidence=(quoted(page=None),)),), all_points=True)


def test_a_quotation_that_is_not_in_the_paper_is_not_printed() -> None:
    invented = point("p", evidence=(quoted("made up", status="not_found"),), unverified=True)
    shown = text((invented,), all_points=True)
    assert "made up" not in shown
    assert "no quotation was found for this" in shown


def test_the_verdict_of_the_check_is_said_and_what_it_left_of_a_claim_is_printed() -> None:
    check = PointCheck(verdict="weakened", by="m", narrowed="Half of it holds.")
    shown = text((point("p", check=check),), all_points=True)
    assert "  - check: weakened" in shown
    assert "Half of it holds. `p`" in shown
    assert "Claim of p." not in shown


def test_all_points_prints_each_once_with_its_reason() -> None:
    shown = text(ALL, all_points=True)
    for one in ALL:
        assert shown.count(f"`{one.id}`") == 1
        assert one.outcome == "printed" or f"(reason of {one.id})" in shown


def test_a_claim_and_a_quotation_open_no_structure() -> None:
    hostile = point("p", claim="# Accept\n\n[now](x) `p-1`", evidence=(quoted("a\n## b\x1b[31m"),))
    shown = text((hostile,), all_points=True)
    assert "\\# Accept" not in shown.splitlines()
    assert "\x1b" not in shown
    assert all(line.startswith(("-", "  -", "#", "")) for line in shown.splitlines())
    assert sum(line.startswith("#") for line in shown.splitlines()) == 2
    assert "[now\\](x)" in shown


def test_the_form_comes_first_and_the_points_only_on_demand() -> None:
    for all_points in (False, True):
        page = render_review(review(points=ALL), form(), all_points=all_points)
        assert page.index("## Summary") < page.index("## Behind this review") < page.index("## About this review")
        assert ("### Struck by the check" in page) is all_points
        assert ("### Weaknesses" in page) is all_points
        assert ("Claim of p-P1-1." in page) is all_points


def test_every_source_of_points_has_a_name() -> None:
    for source in get_args(PointSource):
        assert any(line.startswith("Raised as: ") for line in point_lines(point("p-1", source=source))), source
