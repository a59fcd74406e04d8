"""References to figures and tables."""

from __future__ import annotations

import pytest

from referee.evidence.rules.labels import known_numbers
from referee.schemas.paper import Block, Finding, Section

from .test_rules_material import caption, hits, paper, prose, wrap

FIGURES = (caption("Figure 1: One.", "Figure 1", id="f1"), caption("Figure 2: Two.", "Figure 2", id="f2"))


def test_an_unresolved_reference() -> None:
    (hit,) = hits("dangling_label", paper("See Figure ?? and Figure ??.", *FIGURES))
    assert hit.numbers == ("??",)


def test_a_figure_that_is_not_there() -> None:
    (hit,) = hits("dangling_label", paper("Figures 1 and 2 show it; Figure 5 does not. See Fig. 5.", *FIGURES))
    assert (hit.numbers, hit.kind, hit.severity) == (("5",), "clarity", "note")
    assert hit.evidence[1].quote == "Figure 2: Two."


@pytest.mark.parametrize(
    "text",
    [
        "Figures 1 and 2 show it, and so does Fig. 2a.",
        "See Figure 5 of Smith and Figure 7 in [12].",
        "See Doe (2003, Figure 9) and Supplementary Figure 4 and Figure S3.",
        "See Section 9 and Table 4.",
    ],
)
def test_references_that_are_met_or_lead_elsewhere_pass(text: str) -> None:
    assert hits("dangling_label", paper(text, *FIGURES)) == []


def test_a_gap_or_a_lossy_paper_proves_nothing() -> None:
    third = caption("Figure 4: Four.", "Figure 4", id="f4")
    assert hits("dangling_label", paper("See Figures 3 and 9.", *FIGURES, third)) == []
    lost = Finding(kind="missing_page", message="page 4 has no text", certainty="high", page=4)
    assert hits("dangling_label", paper("See Figure 5.", *FIGURES, findings=(lost,))) == []


def test_equations_by_their_numbers() -> None:
    equations = [Block(id=f"e{n}", kind="equation", text=f"y = {n} x   ({n})", page=3) for n in (1, 2)]
    assert known_numbers(paper("By Eq. (5)", *equations))["Equation"] == {"1", "2"}
    assert known_numbers(paper("In prose (5)", *equations))["Equation"] == {"1", "2", "5"}


MENTION = "Equations (1) and (2) are solved; Equation 5 is not, see Eq. (5) and equations (4)-(5)."


def equation(number: int, text: str = "") -> Block:
    label = f"({number})" if number else None
    return Block(id=f"e{number}", kind="equation", text=text or f"y = {number} x", label=label, page=3)


def test_an_equation_that_is_not_there() -> None:
    assert [hit.numbers for hit in hits("dangling_label", paper(MENTION, equation(1), equation(2)))] == [("5",), ("4",)]


@pytest.mark.parametrize("text", ["y = a x + b   (5)\nand z = y (4)", "where y = a x (5) holds and (4) z = 1"])
@pytest.mark.parametrize("kind", ["paragraph", "equation", "code"])
def test_an_equation_whose_number_is_printed_is_there(text: str, kind: str) -> None:
    block = Block.model_validate({"id": "x", "kind": kind, "text": text, "page": 3, "label": "(3)"})
    if kind == "equation":
        block = equation(0, "y = a x + b   (5)\nz = y   (4)")
    assert hits("dangling_label", paper(MENTION, equation(1), equation(2), block)) == []


@pytest.mark.parametrize("certainty", ["low", "high"])
def test_nothing_is_said_of_equations_where_any_were_lost(certainty: str) -> None:
    lost = Finding.model_validate({"kind": "lost_text", "message": "(5) was not read", "certainty": certainty})
    assert hits("dangling_label", paper(MENTION, equation(1), equation(2), findings=(lost,))) == []


def test_nothing_is_said_of_equations_whose_numbering_a_pdf_does_not_show() -> None:
    made = paper(MENTION, equation(1), equation(2), equation(0))
    assert len(hits("dangling_label", made)) == 2
    assert hits("dangling_label", made.model_copy(update={"format": "pdf"})) == []


def test_sections_by_their_numbers() -> None:
    def section(number: str, text: str) -> Section:
        return Section(id=f"s{number}", heading="A", level=1, number=number, blocks=(prose(text),))

    made = wrap(section("1", "See Section 2.7 and Section 2."), section("2", "See Section 7."))
    (hit,) = hits("dangling_label", made)
    assert hit.numbers == ("7",)


def test_figures_nobody_refers_to() -> None:
    (hit,) = hits("unused_label", paper("Figure 1 shows it.", *FIGURES))
    assert hit.claim == "Figure 2 is never referred to in the text."
    for text in ("Figures 1 and 2 show it.", "Figures 1–2 show it.", "See Fig. 1, and Fig. 2b.", "Nothing is said."):
        assert hits("unused_label", paper(text, *FIGURES)) == [], text


@pytest.mark.parametrize(
    ("kind", "certainty", "said"),
    [("lost_text", "high", 0), ("missing_page", "medium", 0), ("lost_text", "low", 1), ("hidden_text", "high", 1)],
)
def test_nothing_is_said_of_figures_where_text_is_lost(kind: str, certainty: str, said: int) -> None:
    lost = Finding.model_validate({"kind": kind, "message": "x", "certainty": certainty})
    assert len(hits("unused_label", paper("Figure 1 shows it.", *FIGURES, findings=(lost,)))) == said


def test_a_reference_inside_what_was_read_as_code_counts() -> None:
    code = Block(id="c", kind="code", text="return d Results are given in Figure 2.")
    assert hits("unused_label", paper("Figure 1 shows it.", code, *FIGURES)) == []
