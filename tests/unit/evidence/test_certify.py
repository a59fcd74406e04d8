"""Statements of reviews held against a paper: what is refuted, what is proved, and what must stay untouched."""

from __future__ import annotations

import pytest

from referee.evidence.certify import Reading, check_statement, statements_of, unfit, verify_text
from referee.schemas.paper import Section

from .test_rules_material import caption, prose, table, wrap


@pytest.fixture(scope="module")
def reading() -> Reading:
    setup = prose(
        "We train each model for 30 epochs with a batch size of 64 and a dropout rate of 0.2. The corpus holds 4,000 "
        "training and 500 test sentences. Response rates were 62% in the treated group and 41% in the control group. "
        "The optimizer is AdamW, and all runs share one seed."
    )
    ablation = prose("The ablation study removes the gate and keeps the encoder of the pipeline.", id="b2")
    models = table(
        "Model | Accuracy (%) | Latency (ms)",
        "Falcon | 81.2 | 14.0",
        "Heron | 84.6 | 21.5",
        "Plover | 79.9 | 11.3",
        "Stork | 86.0 | 35.2",
    )
    told = caption("Table 1: Accuracy and latency of four models.", "Table 1", id="b3")
    return Reading(
        wrap(
            Section(id="s3", heading="Setup", level=1, number="3", blocks=(setup,)),
            Section(id="s4", heading="Ablation study", level=1, number="4", blocks=(ablation, models, told)),
        )
    )


TRUE = [
    "Heron reaches an accuracy of 84.6 and Falcon one of 81.2.",
    "In Table 1 the latency of Stork is 35.2 ms.",
    "Heron is 3.4 points more accurate than Falcon (84.6 against 81.2).",
    "The latency of Stork (35.2) is more than three times that of Plover (11.3).",
    "Three of the four models in Table 1 stay below 85% accuracy.",
    "The lowest latency in Table 1 is 11.3, that of Plover.",
    "Together there are 4,500 sentences, 4,000 for training and 500 for testing.",
    "Response rates were 62% with treatment and 41% in the control group.",
    'The paper says that "all runs share one seed".',
    "The paper does not report confidence intervals.",
    "No human evaluation is reported.",
    "Section 4 holds the ablation study.",
    "The models were trained for thirty epochs.",
    "The evaluation is rather thin.",
    "Please train for 90 epochs and report a batch size of 512.",
    "Why was a dropout rate of 0.9 not tried?",
    "The authors should report an accuracy of at least 95% for Heron.",
]
LIES = [
    "Heron reaches an accuracy of 81.2 and Falcon one of 84.6.",
    "In Table 1 the latency of Stork is 21.5 ms.",
    "Heron reaches an accuracy of 88.3.",
    "Heron is 5.9 points more accurate than Falcon (84.6 against 81.2).",
    "The latency of Stork (35.2) is six times that of Plover (11.3).",
    "Only one of the four models in Table 1 stays below 85% accuracy.",
    "The lowest latency in Table 1 is 14.0.",
    "Together there are 5,500 sentences, 4,000 for training and 500 for testing.",
    "Response rates were 62% in the control group and 41% in the treated group.",
    'The paper says that "every run was repeated with ten different seeds".',
    "The paper does not say which optimizer was used.",
    "No batch size is given.",
    "The ablation study is described in Section 3.",
    "The models were trained for fifty epochs.",
    "The dropout rate is 0.5.",
]


@pytest.mark.parametrize("statement", TRUE)
def test_what_is_true_is_not_refuted(statement: str, reading: Reading) -> None:
    certificate = check_statement(statement, reading)
    assert certificate.status != "refuted", certificate.reason


@pytest.mark.parametrize("statement", LIES)
def test_what_the_paper_contradicts_is_refuted_with_a_place(statement: str, reading: Reading) -> None:
    certificate = check_statement(statement, reading)
    assert certificate.status == "refuted", certificate.reason
    assert certificate.place
    assert certificate.reason


@pytest.mark.parametrize("statement", [TRUE[0], TRUE[2], TRUE[3], TRUE[5], TRUE[7]])
def test_values_at_their_places_and_sums_are_proved(statement: str, reading: Reading) -> None:
    assert check_statement(statement, reading).status == "proved"


def test_a_single_value_a_quotation_and_an_absence_are_sourced(reading: Reading) -> None:
    assert {check_statement(TRUE[i], reading).status for i in (1, 8, 9)} == {"sourced"}


def test_a_review_is_cut_at_its_sentences_without_headings_and_marks() -> None:
    review = "# Summary\n\n- First point. It goes\n  on here.\n\n2. Second point?\n\n---\n"
    assert statements_of(review) == ["First point.", "It goes on here.", "Second point?"]


def test_each_sentence_has_one_certificate_in_order(reading: Reading) -> None:
    review = "\n\n".join((*TRUE, *LIES))
    assert [one.statement for one in verify_text(review, reading.paper)] == [*TRUE, *LIES]


def test_what_cannot_be_checked_is_said(reading: Reading) -> None:
    german = ["Die Arbeit ist gut geschrieben und die Versuche sind nachvollziehbar, aber es fehlt ein Vergleich."] * 3
    foreign = (
        "The wound dressings were removed by the surgeons after an augmentation of the breast. The bacterial colonies "
        "grew on agar plates and the patients disliked the wet bandages. Staphylococci were in every swab, and "
        "antibiotics lowered the rate of infection. The implants require sterile theatres with gowns, gloves and "
        "drapes. The sutures, the nurses, the consent forms and the insurance of the hospital are not of interest to "
        "the surgeons, nor is the microbiologist who counts the fungi in the laboratory."
    )
    assert "no statement" in unfit([], reading)
    assert "English" in unfit(german, reading)
    assert "2,001" in unfit(["The model is good."] * 2001, reading)
    assert "another paper" in unfit(statements_of(foreign), reading)
    assert unfit(TRUE, reading) == ""


@pytest.mark.parametrize(
    "odd", ["NaN of NaN is NaN%.", "1" * 100_000, "(" * 5_000, "Table 1: % of , and .", "\x00 5 \ufffd"]
)
def test_odd_statements_are_opinions(odd: str, reading: Reading) -> None:
    assert check_statement(odd, reading).status == "opinion"
