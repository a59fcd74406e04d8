"""One review in all its outputs, each as plain text, and reviews of one list to print."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.evidence.listing import listed
from referee.reports import openreview_object, render_review, summary_lines, to_json
from referee.reports.fixes import render_fixes
from referee.reports.formulas import readable
from referee.reports.highlights import highlights_of
from referee.reports.review_page import review_page
from referee.schemas.page import PageImage, PageImages
from referee.schemas.point import Absence, Correction, Fix, PointCheck, PointEvidence, ReviewPoint
from referee.schemas.review import Review, ScoreRecord
from referee.schemas.venue import VenueForm

RECORDED = Path(__file__).parents[3] / "benchmarks" / "planted" / "reviews"
PAGES = PageImages(paper_id="0" * 64, pages=(PageImage(number=1, width=600, height=800, image="1.webp"),))


def quote(words: str, section: str = "Results", page: int | None = 1, **changes: Any) -> PointEvidence:
    return PointEvidence(
        **{"quote": words, "status": "exact", "section_id": "s3", "section": section, "page": page, **changes}
    )


def point(id: str, claim: str, **changes: Any) -> ReviewPoint:
    given = {"polarity": "weakness", "kind": "error", "severity": "major", "source": "whole", **changes}
    given.setdefault("raised_severity", given["severity"])
    return ReviewPoint(id=id, claim=claim, **given)


def scripted() -> list[ReviewPoint]:
    """A point of each kind: a pair of quotations, a rule's finding, an absence, a correction, a merit, a question."""
    pair = (
        quote("the gain is 3.1 points", box={"x0": 1, "y0": 2, "x1": 50, "y1": 12}),
        quote("Ours | 70.1 | 68.9", "Table 2", box={"x0": 1, "y0": 42, "x1": 50, "y1": 52}, role="contradicts"),
    )
    return [
        point("q", "Which seeds were used?", polarity="question", severity="minor"),
        point("m", "The code is whole and runs.", polarity="strength", evidence=(quote("our code is public"),)),
        point(
            "c",
            "Table 2: “71.0” should be “70.1” (as in the text)",
            severity="minor",
            correction=Correction(place="Table 2", printed="71.0", should_be="70.1", why="as in the text"),
            evidence=(quote("71.0"),),
        ),
        point("small", "Section 4 repeats Section 3.", severity="minor", kind="clarity"),
        point(
            "absent",
            "No deviation is given for Table 2.",
            argument="With three runs a gain of 1.2 points may be chance.",
            absence=Absence(what="deviation", terms=("standard deviation", "error bar"), hits=0),
            fix=Fix(kind="analysis", what="Give the deviation over five seeds."),
        ),
        point(
            "rule", "12 of 40 is 30%, not 35%.", severity="minor", source="rule", evidence=(quote("12 of 40 (35%)"),)
        ),
        point(
            "p-pair",
            "The text claims a gain of 3.1 points, Table 2 shows 1.2.",
            severity="fatal",
            kind="contradiction",
            argument="The abstract rests on it.",
            evidence=pair,
            fix=Fix(kind="text", what="Say 1.2 points."),
            check=PointCheck(verdict="stands", by="reader"),
        ),
    ]


def review_on(form: VenueForm, points: Sequence[ReviewPoint], rating: float | None = None, **changes: Any) -> Review:
    """A review of these points on a form, with numbers: its list is made, and its boxes are filled."""
    overall = form.overall
    value = rating if overall is not None else None
    scores = (
        (
            ScoreRecord(
                field=overall, stated=value, value=value, reason="As [p-pair] shows.", supported_by=("p-pair", "m")
            ),
        )
        if overall is not None and value is not None
        else ()
    )
    given = {
        "review_id": "r",
        "paper_id": "0" * 64,
        "paper_title": "A paper",
        "venue": form.id,
        "source": "reader",
        "fields": {f.name: value if f.name == overall else None for f in form.fields},
        "rating": value,
        "scores": scores,
        "points": tuple(points),
    }
    return listed(Review(**{**given, **changes}), form)


def worst(form: VenueForm) -> float | None:
    """The lowest overall rating of a form; None where it has none."""
    if form.overall is None:
        return None
    return min(float(o.value) for o in form.field(form.overall).options if not isinstance(o.value, str))


def recorded(name: str, folder: Path = RECORDED) -> list[ReviewPoint]:
    """The points of a recorded review, raised anew."""
    from referee.venues import load_venue

    stored = Review.model_validate_json((folder / f"{name}.json").read_text(encoding="utf-8"))
    review = listed(stored, load_venue(stored.venue), stored=True)
    return [p.model_copy(update={"number": 0, "source": "whole"}) for p in review.points if p.number]


def flat(text: str) -> str:
    """Text on one line without Markdown's backslashes and emphasis."""
    return " ".join(re.sub(r"\\([^\sA-Za-z0-9])", r"\1", text).split())


def outputs(review: Review, form: VenueForm) -> dict[str, str]:
    """What each output prints, on one line, formulas in signs; the form as its boxes one after the other."""
    boxes = [str(review.fields[f.name] or "") for f in form.reviewer_fields if f.kind == "text"]
    pasted = json.loads(to_json(openreview_object(review, form)))
    page = re.sub(r"<style>.*?</style>", "", review_page(review, form, None, PAGES, lambda image: "data:,"), flags=re.S)
    notes = [one.note for one in highlights_of(review, PAGES).items]
    return {
        "terminal": flat("\n".join(summary_lines(review, form))),
        "review.md": flat(render_review(review, form)),
        "report.html": flat(html.unescape(re.sub(r"<[^>]*>", "", page.split('<h2 id="form">')[0]))),
        "annotated PDF": flat("\n".join(notes)),
        "form": flat(readable("\n".join(boxes))),
        "fixes.md": flat(render_fixes(review, form)),
        "review.openreview.json": flat(readable("\n".join(v for v in pasted.values() if isinstance(v, str)))),
    }
