from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import TermIndex, apply_check, ask_unchecked_absence, settle_absence
from referee.schemas.point import SEVERITIES, Correction, PointCheck, ReviewPoint, Severity

from .scene_paper import paper
from .scene_points import GAIN, INVENTED, check, checks, point, quoted, raised_points

SEEDS = {"what": "a study of seeds", "terms": ("random seed", "standard deviation")}
LABELS = {"what": "labels", "terms": ("labels",)}
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
    found = settle_absence(absent(LABELS), TermIndex(paper()).search(LABELS["terms"]))
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
    unchecked = apply_check(point(severity="fatal"), missed, "note")
    assert (unchecked.severity, unchecked.outcome) == ("fatal", "listed")
    assert unchecked.reason == "unchecked: no call was left"
    assert apply_check(unchecked, missed) == unchecked


@pytest.mark.parametrize(("raised", "said"), [("minor", "fatal"), ("fatal", "note")])
def test_the_check_says_how_grave_a_point_is(raised: Severity, said: Severity) -> None:
    checked = apply_check(point(severity=raised), check("stands"), said)
    assert (checked.severity, checked.raised_severity) == (said, raised)
    assert checked.reason == f"raised as {raised}"
    assert apply_check(point(severity=raised), check("stands"), raised).reason == ""


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


@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=3), checks(), st.sampled_from((None, *SEVERITIES)))
def test_a_check_twice_changes_nothing_and_rewrites_nothing(
    raised: list[ReviewPoint], verdict: PointCheck, severity: Severity | None
) -> None:
    for before in raised:
        after = apply_check(before, verdict, severity)
        assert apply_check(after, verdict, severity) == after
        assert after.severity in (before.severity, severity)
        assert (after.evidence, after.claim) == (before.evidence, before.claim)
        assert after.outcome == "listed" or after.reason
