"""What code establishes of a review: quotations, numbers that stand together, and what it leaves alone."""

from __future__ import annotations

import pytest

from referee.evidence.certificates import Bearings, certify_text, statements_of, unfit
from referee.schemas.paper import Section

from .test_rules_material import caption, prose, table, wrap


@pytest.fixture(scope="module")
def paper() -> Bearings:
    setup = prose(
        "We train each model for 30 epochs with a batch size of 64. The optimizer is AdamW, and all runs share one "
        "seed."
    )
    rows = table("Model | Accuracy (%) | Latency (ms)", "Falcon | 81.2 | 14.0", "Stork | 86.0 | 35.2")
    told = caption("Table 1: Accuracy and latency.", "Table 1", id="b3")
    return Bearings(
        wrap(
            Section(id="s3", heading="Setup", level=1, number="3", blocks=(setup,)),
            Section(id="s4", heading="Results", level=1, number="4", blocks=(rows, told)),
        )
    )


@pytest.mark.parametrize(
    ("statement", "status"),
    [
        ('The paper says that "all runs share one seed" in total.', "sourced"),
        ('The paper says that "every run was repeated with ten different seeds".', "refuted"),
        ("Stork takes 35.2 ms for an accuracy of 86.0.", "sourced"),
        ("Stork takes 35.2 ms for an accuracy of 81.2.", "opinion"),
        ("The models were trained for fifty epochs.", "opinion"),
        ("Please train for 90 epochs.", "opinion"),
        ('It should read "every run was repeated with ten different seeds".', "opinion"),
        ('So-called "good models" are meant.', "opinion"),
        ("NaN of NaN is NaN%.", "opinion"),
        ("1" * 100_000, "opinion"),
        ("(" * 5_000, "opinion"),
        ("\x00 5 \ufffd", "opinion"),
    ],
)
def test_each_statement_has_its_status(statement: str, status: str, paper: Bearings) -> None:
    (certificate,) = certify_text([statement], paper)
    assert (certificate.status, certificate.statement) == (status, statement)
    assert status == "opinion" or certificate.place


def test_a_review_is_cut_at_its_sentences_without_headings_and_marks() -> None:
    review = "# Summary\n\n- First point. It goes\n  on here.\n\n2. Second point?\n\n---\n"
    assert statements_of(review) == ["First point.", "It goes on here.", "Second point?"]


def test_what_cannot_be_checked_is_said(paper: Bearings) -> None:
    german = ["Die Arbeit ist gut geschrieben und die Versuche sind nachvollziehbar, aber es fehlt ein Vergleich."] * 3
    foreign = (
        "The wound dressings were removed by the surgeons after an augmentation of the breast. The bacterial colonies "
        "grew on agar plates and the patients disliked the wet bandages. Staphylococci were in every swab, and "
        "antibiotics lowered the rate of infection. The implants require sterile theatres with gowns, gloves and "
        "drapes. The sutures, the nurses, the consent forms and the insurance of the hospital are not of interest to "
        "the surgeons, nor is the microbiologist who counts the fungi in the laboratory."
    )
    assert "no statement" in unfit([], paper)
    assert "English" in unfit(german, paper)
    assert "2,001" in unfit(["The model is good."] * 2001, paper)
    assert "another paper" in unfit(statements_of(foreign), paper)
    assert unfit(["The optimizer is AdamW."], paper) == ""
