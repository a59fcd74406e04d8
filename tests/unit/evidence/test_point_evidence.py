from __future__ import annotations

import pytest
from hypothesis import given, settings

from referee.evidence import QuotationIndex, settle_literature, verify_point
from referee.schemas.point import SEVERITIES, Correction, ReviewPoint, Severity

from .scene_paper import paper
from .scene_points import ACCURACY, GAIN, INDEX, INVENTED, LABELS, point, quoted, raised_points


def verified(raised: ReviewPoint) -> ReviewPoint:
    return verify_point(raised, INDEX)


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


@pytest.mark.parametrize("severity", SEVERITIES)
def test_without_a_quotation_of_the_paper_a_point_is_unverified_and_weighs_the_same(severity: Severity) -> None:
    found = verified(point("p1", INVENTED, severity=severity))
    assert (found.unverified, found.severity, found.raised_severity) == (True, severity, severity)
    assert found.outcome == "listed"
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


@pytest.mark.parametrize("kind", ["error", "contradiction", "unsupported", "statistics", "clarity", "ethics"])
def test_what_must_quote_and_quotes_nothing_is_unverified(kind: str) -> None:
    found = verified(point(kind=kind))
    assert found.unverified
    assert "it quotes nothing" in found.reason
    assert not verified(point(kind=kind, polarity="question")).unverified
    assert not verified(point(kind=kind, polarity="strength")).unverified


@pytest.mark.parametrize("kind", ["missing", "comparison", "design", "novelty"])
def test_what_concerns_the_whole_paper_needs_no_quotation(kind: str) -> None:
    assert not verified(point(kind=kind)).unverified
    assert verified(point("p1", INVENTED, kind=kind)).unverified


def test_a_merit_without_a_quotation_stays() -> None:
    kept = verified(point(polarity="strength"))
    assert (kept.outcome, kept.unverified, kept.reason) == ("listed", False, "")
    misquoted = verified(point("p1", INVENTED, polarity="strength"))
    assert (misquoted.outcome, misquoted.verified_quotes) == ("listed", 0)
    assert verified(point("p1", GAIN, polarity="strength")).verified_quotes == 1


def test_a_correction_of_words_that_the_paper_does_not_hold_is_dropped() -> None:
    slip = Correction(place="Method", printed=INVENTED, should_be="nothing")
    dropped = verified(point("p1", INVENTED, correction=slip))
    assert (dropped.outcome, dropped.field) == ("dropped", None)
    assert "what it corrects is not in the paper" in dropped.reason
    assert verified(point("p1", GAIN, correction=slip)).outcome == "listed"


@pytest.mark.parametrize(("printed", "status"), [("blurred", "exact"), ("blured", "not_found")])
def test_one_word_is_enough_for_a_correction_and_for_nothing_else(printed: str, status: str) -> None:
    slip = Correction(place="Method", printed=printed, should_be="smoothed")
    looked_up = verified(point("p1", printed, correction=slip))
    assert looked_up.evidence[0].status == status
    assert looked_up.outcome == ("listed" if status == "exact" else "dropped")
    assert verified(point("p1", printed)).evidence[0].status == "not_found"


def test_a_correction_of_a_heading_stays() -> None:
    slip = Correction(place="Section 3", printed="Results", should_be="Findings")
    assert verified(point("p1", "Results", correction=slip)).outcome == "listed"


def test_an_equation_may_be_quoted_by_its_name() -> None:
    named = numbered_equation()
    (evidence,) = verify_point(point("p1", "equation (4)", section_id="s4"), named).evidence
    assert (evidence.status, evidence.section_id, evidence.page) == ("exact", "s4", 4)
    assert evidence.quote.startswith("L = L_1")
    (missed,) = verify_point(point("p1", "equation (5)"), named).evidence
    assert missed.status == "not_found"


def numbered_equation() -> QuotationIndex:
    """The index of the paper whose equation is printed as number 4."""
    method_, results_ = paper().sections
    blocks = tuple(b.model_copy(update={"label": "(4)"}) if b.kind == "equation" else b for b in results_.blocks)
    return QuotationIndex(paper(method_, results_.model_copy(update={"blocks": blocks})))


def test_a_contradiction_needs_two_different_places() -> None:
    both = verified(point("p1", GAIN, ACCURACY, kind="contradiction"))
    assert both.kind == "contradiction"
    for quotes in ((GAIN,), (GAIN, GAIN), (GAIN, INVENTED)):
        alone = verified(point("p1", *quotes, kind="contradiction"))
        assert (alone.kind, alone.severity) == ("unsupported", "major")
        assert "contradiction" in alone.reason


@pytest.mark.parametrize("threatens", [None, "C9"])
def test_what_threatens_no_claim_of_the_card_keeps_its_severity(threatens: str | None) -> None:
    found = verified(point("p1", GAIN, severity="fatal", threatens=threatens))
    assert (found.severity, found.reason) == ("fatal", "")


def test_what_a_rule_read_off_the_paper_is_not_looked_up() -> None:
    cell = quoted("0.71", status="exact")
    assert verified(point("p1", source="rule", evidence=(cell,))).evidence == (cell,)


def test_a_settled_point_is_left_alone() -> None:
    struck = point("p1", INVENTED, outcome="struck", reason="refuted")
    assert verified(struck) is struck


@pytest.mark.parametrize("about", [{"kind": "novelty"}, {"checkable": "literature"}])
def test_novelty_that_nothing_in_the_paper_carries_is_asked(about: dict[str, str]) -> None:
    for raised in (point(**about), verified(point("p1", INVENTED, **about))):
        assert settle_literature(raised).polarity == "question"
        assert "no work outside the paper was looked up" in settle_literature(raised).reason
    assert settle_literature(point(polarity="strength", **about)).outcome == "dropped"


@pytest.mark.parametrize("about", [{"kind": "novelty"}, {"checkable": "literature"}])
def test_novelty_that_quotes_the_paper_stays_a_weakness(about: dict[str, str]) -> None:
    carried = verified(point("p1", GAIN, **about))
    assert settle_literature(carried) == carried


def test_a_work_named_from_memory_makes_a_question_whatever_is_quoted() -> None:
    asked = settle_literature(verified(point("p1", GAIN, unverified_work="Doe et al. 2023")))
    assert asked.polarity == "question"
    assert "Doe" not in asked.reason
    assert settle_literature(point()) == point()


@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=4))
def test_verifying_twice_changes_nothing_and_severity_least_of_all(raised: list[ReviewPoint]) -> None:
    for before in raised:
        after = verified(before)
        assert verified(after) == after
        assert after.severity == before.severity
        assert len(after.evidence) == len(before.evidence)
        assert after.claim == before.claim
