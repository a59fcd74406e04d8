from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import TermIndex, apply_check, ask_unchecked_absence, settle_absence
from referee.schemas.paper import Finding
from referee.schemas.point import SEVERITIES, PointCheck, ReviewPoint

from .scene_paper import paper
from .scene_points import GAIN, INVENTED, check, checks, point, quoted, raised_points

SEEDS = {"what": "a study of seeds", "terms": ("random seed", "standard deviation")}
LABELS = {"what": "labels", "terms": ("labels",)}
REFUTING = quoted(GAIN, role="contradicts", status="exact")


def absent(what: dict[str, object]) -> ReviewPoint:
    return point(kind="missing", absence=what)


def test_what_is_found_nowhere_stands_without_a_call() -> None:
    settled, needs_check = settle_absence(absent(SEEDS), TermIndex(paper()).search(SEEDS["terms"]))
    assert not needs_check
    assert settled.check is not None
    assert (settled.check.verdict, settled.check.by) == ("stands", "absence search")
    assert "'random seed'" in settled.check.reason
    assert settled.absence is not None
    assert settled.absence.hits == 0


def test_hits_near_passages_lost_text_and_another_language_leave_the_point_to_a_check() -> None:
    found, needs_check = settle_absence(absent(LABELS), TermIndex(paper()).search(LABELS["terms"]))
    assert (needs_check, found.check) == (True, None)
    assert found.absence is not None
    assert found.absence.hits == 1
    nothing = TermIndex(paper()).search(SEEDS["terms"])
    assert settle_absence(absent(SEEDS), nothing, near_passages=1)[1]
    assert settle_absence(absent(SEEDS), nothing, foreign=True)[1]
    lost = paper().model_copy(update={"findings": (Finding(kind="lost_text", message="lost", certainty="high"),)})
    assert settle_absence(absent(SEEDS), TermIndex(lost).search(SEEDS["terms"]))[1]


def test_a_point_without_absence_is_left_to_its_check() -> None:
    assert settle_absence(point(), TermIndex(paper()).search(("seed",))) == (point(), True)
    gone = point(outcome="struck", reason="refuted")
    assert settle_absence(gone, TermIndex(paper()).search(("seed",))) == (gone, False)


def test_an_unchecked_claim_of_absence_becomes_a_question() -> None:
    asked = ask_unchecked_absence(absent(SEEDS))
    assert (asked.polarity, asked.severity) == ("question", "major")
    stands, _ = settle_absence(absent(SEEDS), TermIndex(paper()).search(SEEDS["terms"]))
    assert ask_unchecked_absence(stands) == stands
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


def test_what_the_authors_concede_is_minor_unless_a_headline_claim_falls() -> None:
    conceded = check("stands", conceded=True)
    assert apply_check(point(severity="fatal"), conceded).severity == "minor"
    assert apply_check(point(severity="fatal"), conceded, headline={"C1"}).severity == "fatal"
    assert apply_check(point(severity="note"), conceded).severity == "note"


def test_out_of_scope_is_a_note_and_unchecked_weighs_one_step_less() -> None:
    assert apply_check(point(severity="fatal"), check("stands", out_of_scope=True)).severity == "note"
    unchecked = apply_check(point(severity="fatal"), check("unchecked", reason="no call was left"))
    assert unchecked.severity == "major"
    assert apply_check(unchecked, check("unchecked", reason="no call was left")) == unchecked
    assert unchecked.reason == "unchecked, one step less severe: no call was left"


@pytest.mark.parametrize("verdict", ["stands", "weakened"])
def test_a_point_that_stands_is_only_marked(verdict: str) -> None:
    assert apply_check(point(), check(verdict)) == point(check=check(verdict))


@settings(max_examples=100, deadline=None)
@given(raised_points(max_size=3), checks(), st.sampled_from(((), ("C1",))))
def test_a_check_twice_changes_nothing_and_severity_never_rises(
    raised: list[ReviewPoint], verdict: PointCheck, headline: tuple[str, ...]
) -> None:
    for before in raised:
        after = apply_check(before, verdict, headline=headline)
        assert apply_check(after, verdict, headline=headline) == after
        assert SEVERITIES.index(after.severity) >= SEVERITIES.index(before.severity)
        assert (after.evidence, after.claim) == (before.evidence, before.claim)
        assert after.outcome == "listed" or after.reason
