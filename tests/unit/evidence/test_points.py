"""What a point rests on, and what its check leads to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from referee.evidence import (
    QuotationIndex,
    TermIndex,
    apply_check,
    ask_unchecked_absence,
    settle_absence,
    settle_literature,
    verify_point,
)
from referee.schemas.point import SEVERITIES, Correction, PointCheck, ReviewPoint, Severity

from .scene_paper import paper
from .scene_points import ACCURACY, GAIN, INDEX, INVENTED, LABELS, check, checks, point, quoted, raised_points


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
    assert settle_literature(point()) == point(), "another kind of point is left alone"


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=4))
def test_verifying_twice_changes_nothing_and_severity_least_of_all(raised: list[ReviewPoint]) -> None:
    for before in raised:
        after = verified(before)
        assert verified(after) == after
        assert after.severity == before.severity
        assert len(after.evidence) == len(before.evidence)
        assert after.claim == before.claim


SEEDS = {"what": "a study of seeds", "terms": ("random seed", "standard deviation")}
NO_LABELS = {"what": "labels", "terms": ("labels",)}
REFUTING = quoted(GAIN, role="contradicts", status="exact")


def absent(what: dict[str, object]) -> ReviewPoint:
    return point(kind="missing", absence=what)


def test_words_that_are_found_nowhere_settle_nothing() -> None:
    settled = settle_absence(absent(SEEDS), TermIndex(paper()).search(SEEDS["terms"]))
    assert settled.check is None
    assert (settled.outcome, settled.severity) == ("listed", "major")
    assert "not found by these words: random seed, standard deviation" in settled.reason
    assert settled.absence is not None
    assert settled.absence.hits == 0


def test_words_that_are_found_are_counted_and_settle_nothing() -> None:
    found = settle_absence(absent(NO_LABELS), TermIndex(paper()).search(NO_LABELS["terms"]))
    assert (found.check, found.reason) == (None, "")
    assert found.absence is not None
    assert found.absence.hits == 1


def test_a_point_without_absence_is_left_to_its_check() -> None:
    assert settle_absence(point(), TermIndex(paper()).search(("seed",))) == point()
    gone = point(outcome="struck", reason="refuted", absence=SEEDS)
    assert settle_absence(gone, TermIndex(paper()).search(("seed",))) == gone


def test_an_unchecked_claim_of_absence_becomes_a_question() -> None:
    searched = settle_absence(absent(SEEDS), TermIndex(paper()).search(SEEDS["terms"]))
    for unread in (absent(SEEDS), searched, apply_check(searched, check("unchecked"))):
        asked = ask_unchecked_absence(unread)
        assert (asked.polarity, asked.severity) == ("question", "major")
        assert "was not checked" in asked.reason
    read = apply_check(searched, check("stands"))
    assert ask_unchecked_absence(read) == read
    assert ask_unchecked_absence(point()) == point()


def test_a_refutation_strikes_with_the_passage_that_refutes() -> None:
    struck = apply_check(point("p1", GAIN), check("refuted", REFUTING))
    assert struck.outcome == "struck"
    assert f"refuted by “{GAIN}” (s4)" in struck.reason


@pytest.mark.parametrize("passage", [quoted(INVENTED, role="contradicts"), quoted(GAIN, role="shows", status="exact")])
def test_a_refutation_without_its_passage_only_makes_a_question(passage: object) -> None:
    asked = apply_check(point("p1", GAIN), check("refuted", passage))  # type: ignore[arg-type]
    assert (asked.outcome, asked.polarity, asked.confidence) == ("listed", "question", "low")
    assert asked.check is not None
    assert asked.check.verdict == "undecidable"
    assert "without a passage" in asked.reason


def test_undecided_points_are_asked_with_low_confidence() -> None:
    asked = apply_check(point("p1", GAIN, confidence="high"), check("undecidable"))
    assert (asked.polarity, asked.confidence, asked.severity) == ("question", "low", "major")
    assert apply_check(point("p1", GAIN, polarity="strength"), check("undecidable")).outcome == "dropped"


def test_what_the_authors_concede_is_said_and_keeps_its_severity() -> None:
    for severity in SEVERITIES:
        conceded = apply_check(point(severity=severity, threatens=None), check("stands", conceded=True))
        assert (conceded.severity, conceded.outcome) == (severity, "listed")
        assert conceded.reason == "the authors concede it"


def test_what_is_out_of_scope_is_struck_and_praise_is_not() -> None:
    struck = apply_check(point(severity="fatal"), check("stands", out_of_scope=True))
    assert (struck.outcome, struck.severity, struck.reason) == ("struck", "fatal", "outside the scope of the paper")
    assert apply_check(point(polarity="question"), check("stands", out_of_scope=True)).outcome == "struck"
    assert apply_check(point(polarity="strength"), check("stands", out_of_scope=True)).outcome == "listed"


def test_what_no_check_reached_keeps_its_severity_and_says_so() -> None:
    missed = check("unchecked", reason="no call was left")
    unchecked = apply_check(point(severity="fatal"), missed)
    assert (unchecked.severity, unchecked.outcome) == ("fatal", "listed")
    assert unchecked.reason == "unchecked: no call was left"
    assert apply_check(unchecked, missed) == unchecked


def test_a_correction_or_a_rules_hit_is_struck_without_a_passage() -> None:
    slip = Correction(place="Table 2", printed="0.78", should_be="0.87")
    for small in (point(correction=slip), point(source="rule")):
        struck = apply_check(small, check("refuted"))
        assert (struck.outcome, struck.reason) == ("struck", "refuted by the check")


def test_what_remains_true_is_the_statement_and_the_claim_stays_on_record() -> None:
    left = apply_check(point(claim="all of it"), check("weakened", narrowed="a part of it"))
    assert (left.claim, left.statement) == ("all of it", "a part of it")
    assert point(claim="all of it", check=check("stands")).statement == "all of it"


@pytest.mark.parametrize("verdict", ["stands", "weakened"])
def test_a_point_that_stands_is_only_marked(verdict: str) -> None:
    assert apply_check(point(), check(verdict)) == point(check=check(verdict))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=3), checks())
def test_a_check_twice_changes_nothing_and_rewrites_nothing(raised: list[ReviewPoint], verdict: PointCheck) -> None:
    for before in raised:
        after = apply_check(before, verdict)
        assert apply_check(after, verdict) == after
        assert (after.evidence, after.claim, after.severity) == (before.evidence, before.claim, before.severity)
        assert after.outcome == "listed" or after.reason
