"""What once lost or spoiled a point: equations quoted by name, formulas cut in half, findings of labels joined."""

from __future__ import annotations

from referee.evidence import QuotationIndex, merge_points, verify_point
from referee.reports.formulas import readable
from referee.schemas.paper import Block, Converter, Paper, Section
from referee.schemas.point import Correction, Quotation

from .scene_points import point, quoted

PROSE = (
    "In Algorithm 1 the loss of Equation 5 is minimised by steps of equal size. "
    "The bound holds for $\\alpha_{i} > 0$ and any set, where $\\beta$ is the share of the held out items."
)


def paper(label: str | None = None) -> Paper:
    blocks = (
        Block(id="b1", kind="paragraph", text=PROSE),
        Block(id="b2", kind="equation", text="L = x^2 + y^2", label=label),
    )
    return Paper(
        paper_id="0" * 64,
        title="A paper",
        format="markdown",
        sections=(Section(id="s1", heading="Method", level=1, blocks=blocks),),
        converter=Converter(name="markdown", version="1"),
    )


def test_an_equation_quoted_by_its_name_is_never_the_same_words_of_a_sentence() -> None:
    index = QuotationIndex(paper("(5)"))
    numbered = verify_point(point("p1", "equation (5)", section_id="s1"), index)
    assert [e.quote for e in numbered.evidence] == ["L = x^2 + y^2"]
    unnumbered = verify_point(point("p1", "equation (5)"), QuotationIndex(paper()))
    assert [e.status for e in unnumbered.evidence] == ["not_found"]
    assert "the file has none of that number" in unnumbered.reason


def test_a_correction_of_an_equation_without_a_number_is_kept_and_says_it_is_unverified() -> None:
    slip = Correction(place="Equation 10", printed="equation (10)", should_be="x^2 - y^2")
    kept = verify_point(point("p1", "equation (10)", correction=slip), QuotationIndex(paper()))
    assert (kept.outcome, kept.unverified) == ("listed", True)
    gone = verify_point(
        point("p1", "words of nobody", correction=slip.model_copy(update={"printed": "words of nobody"})),
        QuotationIndex(paper()),
    )
    assert gone.outcome == "dropped"


def found(words: str) -> str:
    match = QuotationIndex(paper()).find(words)
    assert isinstance(match, Quotation)
    return match.quote


def test_a_quotation_holds_the_whole_of_its_formulas() -> None:
    begins = found("\\alpha_{i} > 0$ and any set, where $\\beta$ is the share of the held out items")
    assert begins == "$\\alpha_{i} > 0$ and any set, where $\\beta$ is the share of the held out items"
    assert readable(begins) == "α_i > 0 and any set, where β is the share of the held out items"
    ends = found("The bound holds for \\alpha_{i} > 0")
    assert ends == "The bound holds for $\\alpha_{i} > 0$"


def test_findings_of_labels_and_claims_about_different_tables_stay_apart() -> None:
    rules = [
        point(
            f"r-{n}",
            claim=f"The text names {label}, which the file does not hold",
            source="rule",
            evidence=(quoted(label),),
        )
        for n, label in enumerate(("Table 3", "Table 4", "Figure 3"), start=1)
    ]
    assert all(p.merged_into is None for p in merge_points(rules, similar=lambda a, b: 1.0))
    read = [p.model_copy(update={"source": "section"}) for p in rules]
    assert all(p.merged_into is None for p in merge_points(read, similar=lambda a, b: 1.0))
    same = [read[0], read[0].model_copy(update={"id": "x"})]
    assert sum(p.merged_into is not None for p in merge_points(same, similar=lambda a, b: 1.0)) == 1
