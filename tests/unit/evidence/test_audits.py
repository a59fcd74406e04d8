"""What an audit does to the points of a review."""

from pathlib import Path
from typing import Any

import pytest

from referee import load_paper
from referee.evidence import QuotationIndex
from referee.evidence.audits import Change, ranked, settle_audit
from referee.schemas.point import ReviewPoint
from tests.unit.reports.one_list import point

PAPER = load_paper(Path(__file__).parents[3] / "examples" / "short.md")
INDEX = QuotationIndex(PAPER)
PASSAGE = next(block.text for _, block in PAPER.blocks() if len(block.text.split()) > 12).split(". ")[0]


def settled(*changes: Change, count: int = 4, **given: Any) -> dict[str, ReviewPoint]:
    points = [point(f"p{n}", f"Claim {n}.", **given) for n in range(1, count + 1)]
    found, _ = settle_audit(points, changes, INDEX, "reader")
    return {one.id: one for one in found}


def test_a_point_that_nobody_would_change_was_checked() -> None:
    assert {(one.check.verdict, one.check.by) for one in settled().values()} == {("stands", "reader")}


def test_a_refutation_with_a_passage_of_the_paper_strikes_and_keeps_its_reason() -> None:
    found = settled(Change("p1", "refute", quote=PASSAGE, reason="The paper says so."))
    assert (found["p1"].outcome, found["p1"].reason) == ("struck", "refuted: The paper says so.")
    assert found["p1"].check.passages[0].role == "contradicts"
    assert found["p2"].outcome == "listed"


@pytest.mark.parametrize("quote", ["", "No such words stand anywhere in this paper of ours."])
def test_one_without_a_passage_strikes_nothing_but_is_said(quote: str) -> None:
    found = settled(Change("p1", "refute", quote=quote, reason="It seems wrong."), severity="fatal")
    assert (found["p1"].outcome, found["p1"].check.verdict, found["p1"].severity) == ("listed", "undecidable", "minor")


def test_a_refutation_that_is_said_twice_strikes_nothing_either() -> None:
    found = settled(Change("p1", "refute", reason="It adds up."), Change("p1", "refute", reason="The sum is right."))
    assert (found["p1"].outcome, found["p1"].check.verdict) == ("listed", "undecidable")


def test_a_point_that_stands_strikes_its_opposite_and_two_opposites_strike_neither_each_other_nor_themselves() -> None:
    assert settled(Change("p1", "refute", against="p2", reason="p2 is right."))["p1"].outcome == "struck"
    both = settled(Change("p1", "refute", against="p2"), Change("p2", "refute", against="p1"))
    assert [one.outcome for one in both.values()] == ["listed"] * 4
    assert settled(Change("p1", "refute", against="p1"))["p1"].outcome == "listed"


def test_a_narrowed_point_says_what_is_left_and_weighs_what_the_reader_says() -> None:
    found = settled(Change("p1", "narrow", claim="A part\nof claim 1.", severity="minor", reason="Only Table 2."))
    assert (found["p1"].statement, found["p1"].severity) == ("A part of claim 1.", "minor")
    assert found["p1"].claim == "Claim 1."


def test_a_wrong_argument_gives_way_and_is_kept_in_the_reason() -> None:
    narrow = Change("p1", "narrow", claim="Claim 1.", argument="The sum is 3.", severity="major")
    found = settled(narrow, argument="The sum is 4.")["p1"]
    assert (found.argument, found.reason) == ("The sum is 3.", "its argument was: “The sum is 4.”")
    assert found.check.verdict == "stands", "its claim is as it was"
    kept = settled(Change("p1", "narrow", claim="Claim 1."), argument="The sum is 4.")["p1"]
    assert kept.argument == "The sum is 4."


def test_a_claim_that_was_narrowed_before_stays_narrow() -> None:
    [once], _ = settle_audit([point("p1", "Claim 1.")], [Change("p1", "narrow", claim="A part.")], INDEX, "reader")
    [twice], _ = settle_audit([once], [Change("p1", "narrow", claim="A part.", argument="So.")], INDEX, "reader")
    assert (twice.statement, twice.argument, twice.check.verdict) == ("A part.", "So.", "weakened")


def test_the_last_reading_never_raises_a_severity() -> None:
    raised = Change("p1", "weigh", severity="fatal", reason="It decides.")
    assert settled(raised)["p1"].severity == "fatal"
    assert settled(Change(**{**raised.__dict__, "only_less": True}))["p1"].severity == "major"
    assert settled(Change("p1", "weigh", severity="minor", only_less=True))["p1"].severity == "minor"


def test_of_two_points_that_repeat_each_other_one_stays() -> None:
    found = settled(Change("p1", "refute", repeats="p2"), Change("p2", "refute", repeats="p1"))
    assert (found["p1"].outcome, found["p1"].merged_into) == ("merged_into", "p2")
    assert found["p2"].merged_from == ("p1",)
    assert set(found["p1"].evidence) <= set(found["p2"].evidence), "what the other rests on is kept"
    assert found["p2"].outcome == "listed"


def test_a_reader_who_refutes_most_of_the_review_is_not_believed() -> None:
    points = [point(f"p{n}", f"Claim {n}.") for n in range(1, 7)]
    changes = [Change(one.id, "refute", quote=PASSAGE, reason="No.") for one in points[:4]]
    found, notes = settle_audit(points, changes, INDEX, "reader")
    assert {one.outcome for one in found} == {"listed"}
    assert notes == ("4 of 6 points were refuted by one reading, which was not believed",)
    few, none = settle_audit(points[:3], changes[:2], INDEX, "reader")
    assert [one.outcome for one in few] == ["struck", "struck", "listed"]
    assert none == ()


def test_only_what_weighs_little_is_omitted() -> None:
    omit = Change("p1", "omit", reason="A matter of taste.")
    assert settled(omit)["p1"].outcome == "listed"
    gone = settled(omit, severity="minor")["p1"]
    assert (gone.outcome, gone.reason) == ("dropped", "not worth the reader's time: A matter of taste.")


def test_what_readers_would_read_first_comes_first_and_the_rest_stays() -> None:
    points = [point(f"p{n}", f"Claim {n}.") for n in range(1, 6)]
    assert [one.id for one in ranked(points, ())] == ["p1", "p2", "p3", "p4", "p5"]
    assert [one.id for one in ranked(points, ("p4", "p2"))] == ["p4", "p2", "p1", "p3", "p5"]
