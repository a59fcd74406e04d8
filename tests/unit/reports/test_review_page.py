"""The page of a review: places of quotations, links between points and places, and nothing for a hostile paper."""

from __future__ import annotations

import re

import pytest

from referee.evidence.listing import listed
from referee.reports.highlights import highlights_of
from referee.reports.html import policy
from referee.reports.review_marks import Piece, marks_of, pieces_of
from referee.reports.review_page import review_page
from referee.schemas.page import PageImage, PageImages, PageLine
from referee.schemas.paper import Block, Box, Converter, Paper, Section
from referee.schemas.point import PointEvidence, ReviewPoint
from referee.schemas.review import DroppedQuotation, Evidence, Review
from referee.venues import load_venue

FORM = load_venue("iclr-2025")
HOSTILE = "</script><script>alert(1)</script><img src=http://x onerror=alert(1)> {{ 7777 * 2 }}"


def box(y: float) -> Box:
    return Box(x0=50, y0=y, x1=300, y1=y + 10)


LINES = ("We train on five seeds and re-", "port the mean of all of them.", "Nothing else is varied in this study.")
PAGE = PageImage(
    number=1,
    width=612,
    height=792,
    image="001.webp",
    lines=tuple(PageLine(text=text, box=box(20.0 * at)) for at, text in enumerate(LINES)),
)


def quoted(quote: str, page: int | None = 1, **more: object) -> PointEvidence:
    return PointEvidence.model_validate(
        {"quote": quote, "status": "exact", "section_id": "s1", "section": "Setup", "page": page} | more
    )


def point(number: int, *evidence: PointEvidence, claim: str = "Few seeds.", outcome: str = "printed") -> ReviewPoint:
    return ReviewPoint.model_validate(
        {
            **{"id": f"p-{number}", "claim": claim, "polarity": "weakness", "kind": "statistics", "source": "whole"},
            **{"severity": "major", "raised_severity": "major", "evidence": evidence, "outcome": outcome},
            **{"reason": "the paper says otherwise" if outcome == "struck" else ""},
        }
    )


def review(*points: ReviewPoint, title: str = "A paper") -> Review:
    return Review(
        review_id="r",
        paper_id="0" * 64,
        paper_title=title,
        venue=FORM.id,
        source="model",
        fields={"summary": HOSTILE},
        points=points,
        dropped=(DroppedQuotation(id="d1", claim="A claim", quote="never said", reason="not in the paper"),),
    )


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        ("five seeds and report the mean", [0, 1]),
        ("five seeds and […] Nothing else is varied", [0, 2]),
        ("words that stand nowhere", []),
    ],
)
def test_a_quotation_covers_the_lines_that_hold_it_or_else_its_block(quote: str, lines: list[int]) -> None:
    marks = marks_of([("p-1", quoted(quote, box=box(500)))], [PAGE])
    (mark,) = marks.by_page[1]
    assert mark.boxes == (tuple(box(20.0 * at) for at in lines) or (box(500),))


def test_one_place_names_all_points_that_quote_it_and_what_has_no_place_has_no_mark() -> None:
    twice = quoted("Nothing else is varied")
    marks = marks_of([("p-1", twice), ("p-2", twice), ("p-3", quoted("no page is known of this", None))], [PAGE])
    assert [mark.points for mark in marks.by_page[1]] == [("p-1", "p-2")]
    assert set(marks.by_quote.values()) == {"m1"}


def paper(text: str) -> Paper:
    return Paper(
        paper_id="0" * 64,
        title="A paper",
        format="markdown",
        sections=(Section(id="s1", heading="Setup", level=1, blocks=(Block(id="b1", kind="paragraph", text=text),)),),
        converter=Converter(name="markdown", version="1"),
    )


def test_without_pages_the_text_is_marked() -> None:
    marks = marks_of([("p-1", quoted("five seeds", None))], [])
    assert pieces_of(paper("We train on five seeds."), marks)["s1"] == (
        (Piece("We train on "), Piece("five seeds", "m1"), Piece(".")),
    )


def test_points_places_and_reasons_are_on_the_page_and_hostile_text_is_text() -> None:
    struck = point(2, claim="Struck one.", outcome="struck")
    shown = review(point(1, quoted("Nothing else is varied"), claim=f"Few seeds {HOSTILE}"), struck, title=HOSTILE)
    page = review_page(shown, FORM, None, PageImages(paper_id="0" * 64, pages=(PAGE,)), lambda _: "data:,")
    assert 'href="#m1"' in page
    assert re.search(r'<a class="mark" id="m1" href="#point-1"', page)
    assert "the paper says otherwise" in page
    assert "never said" in page
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "15554" not in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    code = page.split("<script>")[1].split("</script>")[0]
    assert policy(code) in page


def test_a_paper_of_text_that_is_script_does_nothing() -> None:
    page = review_page(review(point(1)), FORM, paper(f"We say {HOSTILE}"), None, lambda _: "")
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert(1)" in page


def test_evidence_of_an_older_form_becomes_a_point_with_its_place() -> None:
    claim = Evidence(
        id="E1", claim="Says it trains on seeds.", **quoted("We train on five seeds").model_dump(exclude={"role"})
    )
    own = listed(review().model_copy(update={"evidence": (claim,)}), FORM)
    pages = PageImages(paper_id=own.paper_id, pages=(PAGE,))
    shown = review_page(own, FORM, None, pages, lambda page: "x.webp")
    assert 'id="point-1"' in shown
    assert [mark.title for mark in highlights_of(own, pages).items] == ["1. Merit"]


def test_a_point_without_a_place_is_pinned_to_the_first_page() -> None:
    own = listed(review(point(1, quoted(LINES[2])), point(2)), FORM)
    items = highlights_of(own, PageImages(paper_id=own.paper_id, pages=(PAGE,))).items
    assert [(one.title.split(".")[0], one.pinned, one.page) for one in items] == [("1", False, 1), ("2", True, 1)]
