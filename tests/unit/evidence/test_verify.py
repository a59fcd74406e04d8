from __future__ import annotations

from referee.evidence import ClaimedQuote, QuotationIndex, verify_quotations

from .scene_paper import paper


def test_claims_are_kept_with_their_place_or_dropped_with_the_reason() -> None:
    claims = [
        ClaimedQuote("p1", "It needs no labels.", "training does not require any labels", field="strengths"),
        ClaimedQuote("p2", "Accuracy is high.", "reaches an accuracy of 0.99 on the test set", "s4", "weaknesses"),
    ]
    kept, dropped = verify_quotations(claims, paper())
    (evidence,), (lost,) = kept, dropped
    assert (evidence.id, evidence.field, evidence.section, evidence.page) == ("p1", "strengths", "3 Method", 2)
    assert evidence.quote == "Training does not require any labels"
    assert (lost.id, lost.field) == ("p2", "weaknesses")
    assert lost.reason.startswith("digits differ: 0.99 against 0.78")


def test_an_index_serves_as_well_as_a_paper() -> None:
    claim = ClaimedQuote("p1", "It needs no labels.", "training does not require any labels")
    assert verify_quotations([claim], QuotationIndex(paper())) == verify_quotations([claim], paper())


def test_no_claims_give_nothing() -> None:
    assert verify_quotations([], paper()) == ([], [])


def test_a_huge_quotation_is_kept_out_of_the_record() -> None:
    _, (lost,) = verify_quotations([ClaimedQuote("p1", "c", "word " * 200_000)], paper())
    assert len(lost.quote) < 700
    assert lost.reason.startswith("too long")
