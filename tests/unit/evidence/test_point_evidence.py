from __future__ import annotations

import pytest
from hypothesis import given, settings

from referee.evidence import settle_literature, verify_point
from referee.schemas.point import SEVERITIES, ReviewPoint

from .scene_points import ACCURACY, CLAIMS, GAIN, INDEX, INVENTED, LABELS, point, quoted, raised_points


def verified(raised: ReviewPoint) -> ReviewPoint:
    return verify_point(raised, INDEX, claims=CLAIMS)


def test_a_quotation_gets_the_papers_wording_and_place() -> None:
    found = verified(point("p1", "our model reaches an accuracy of 0.78 on the test set"))
    (evidence,) = found.evidence
    assert (evidence.quote, evidence.status) == (ACCURACY, "exact")
    assert (evidence.section_id, evidence.section, evidence.page) == ("s4", "4 Results", 3)
    assert evidence.box is not None
    assert (found.severity, found.unverified, found.reason) == ("major", False, "")


def test_a_quotation_in_another_section_is_found_there() -> None:
    (evidence,) = verified(point("p1", LABELS)).evidence
    assert (evidence.section_id, evidence.section, evidence.page) == ("s3", "3 Method", 2)


@pytest.mark.parametrize(
    ("raised", "left"), [("fatal", "major"), ("major", "minor"), ("minor", "note"), ("note", "note")]
)
def test_without_a_quotation_of_the_paper_a_point_is_unverified_and_weighs_less(raised: str, left: str) -> None:
    found = verified(point("p1", INVENTED, severity=raised))
    assert (found.unverified, found.severity, found.raised_severity) == (True, left, raised)
    assert "none of its quotations is in the paper" in found.reason
    assert (found.evidence[0].status, found.evidence[0].similarity) == ("not_found", 0.0)


def test_a_wrong_digit_is_not_repaired_and_the_reason_says_so() -> None:
    found = verified(point("p1", "reaches an accuracy of 0.87 on the test set"))
    assert found.unverified
    assert "digits differ" in found.reason


def test_one_found_quotation_is_enough_and_the_other_is_kept_as_not_found() -> None:
    found = verified(point("p1", INVENTED, GAIN))
    assert [e.status for e in found.evidence] == ["not_found", "exact"]
    assert (found.unverified, found.severity, found.verified_quotes) == (False, "major", 1)
    assert "a quotation does not count" in found.reason


def test_what_must_quote_and_quotes_nothing_is_unverified() -> None:
    assert verified(point()).unverified
    assert verified(point(kind="missing")).unverified
    assert not verified(point(kind="missing", criterion=("reproducibility",))).unverified
    assert not verified(point(polarity="question")).unverified


def test_a_strength_without_a_quotation_is_dropped() -> None:
    dropped = verified(point("p1", INVENTED, polarity="strength"))
    assert dropped.outcome == "dropped"
    assert "strength" in dropped.reason
    assert verified(point("p1", GAIN, polarity="strength")).outcome == "listed"


def test_a_contradiction_needs_two_different_places() -> None:
    both = verified(point("p1", GAIN, ACCURACY, kind="contradiction"))
    assert both.kind == "contradiction"
    for quotes in ((GAIN,), (GAIN, GAIN), (GAIN, INVENTED)):
        alone = verified(point("p1", *quotes, kind="contradiction"))
        assert (alone.kind, alone.severity) == ("unsupported", "major")
        assert "contradiction" in alone.reason


@pytest.mark.parametrize("threatens", [None, "C9"])
def test_what_threatens_no_claim_of_the_paper_is_at_most_minor(threatens: str | None) -> None:
    found = verified(point("p1", GAIN, severity="fatal", threatens=threatens))
    assert (found.severity, found.threatens) == ("minor", None)
    assert ("'C9'" in found.reason) == (threatens == "C9")


def test_what_a_rule_read_off_the_paper_is_not_looked_up() -> None:
    cell = quoted("0.71", status="exact")
    assert verified(point("p1", source="rule", evidence=(cell,))).evidence == (cell,)


def test_a_settled_point_is_left_alone() -> None:
    struck = point("p1", INVENTED, outcome="struck", reason="refuted")
    assert verified(struck) is struck


def test_novelty_without_a_retrieved_work_is_asked() -> None:
    for raised in (point(kind="novelty"), point(checkable="literature")):
        assert settle_literature(raised).polarity == "question"
        assert "no other work was retrieved" in settle_literature(raised).reason
        assert settle_literature(raised, retrieved=True) == raised
    assert settle_literature(point(kind="novelty", polarity="strength")).outcome == "dropped"
    assert settle_literature(point()) == point()


@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=4))
def test_verifying_twice_changes_nothing_and_severity_never_rises(raised: list[ReviewPoint]) -> None:
    for before in raised:
        after = verified(before)
        assert verified(after) == after
        assert SEVERITIES.index(after.severity) >= SEVERITIES.index(before.severity)
        assert len(after.evidence) == len(before.evidence)
        assert after.claim == before.claim
