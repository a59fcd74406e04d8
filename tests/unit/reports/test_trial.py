"""A review by the embedded model in every output: no score anywhere, what rules found first, and what is left empty."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.evidence.listing import BY_RULES as HEADING
from referee.evidence.listing import listed
from referee.graphs.form_values import NO_JUDGE, as_trial
from referee.reports import openreview_object, render_review, summary_lines
from referee.reports.disclosure import disclosure
from referee.reports.fixes import render_fixes
from referee.reports.review_page import review_page
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint
from referee.schemas.review import Forced, Provenance, Review, ScoreRecord
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.venues import load_venue

VENUES = ("iclr-2025", "arr", "neurips-2025")
REASON = "Because it shines."
CLAIM = "The text gives 94.8% where Table 2 has 92.3."


def rule(claim: str = CLAIM, **changes: Any) -> ReviewPoint:
    quotes = ("With 20 groups it covers 94.8% of the sets, and it is", "CLUSTER-T | 88.6 | 92.3")
    return ReviewPoint(
        id="r-1",
        claim=claim,
        polarity="weakness",
        kind="contradiction",
        severity="major",
        raised_severity="major",
        source="rule",
        prompt="text_vs_table",
        outcome="printed",
        evidence=tuple(
            PointEvidence(quote=quote, status="exact", section_id="s4", section="4 Results", page=page)
            for page, quote in enumerate(quotes, start=3)
        ),
        check=PointCheck(verdict="stands", by="rule text_vs_table"),
    ).model_copy(update=changes)


def provenance(*, rules: bool = True) -> Provenance:
    made = {"strategy": "single", "models": {"writer": "m"}, "prompts": {}, "package_version": "1", "run_id": "run"}
    return Provenance(**made, venue_digest="d", converter="test 1", usage=Usage(), rules=rules)


def written(form: VenueForm, *points: ReviewPoint, rules: bool = True) -> Review:
    """A whole review: every score at its best option with a reason, every choice ticked, every text a sentence."""
    fields: dict[str, Any] = {}
    for field in form.fields:
        best = field.options[0].value if field.options else None
        value: Any = {"text": f"About {field.name}.", "flag": [best]}.get(field.kind, best)
        fields[field.name] = value if field in form.reviewer_fields else None
    scored = [f.name for f in form.reviewer_fields if f.kind == "score"]
    return Review(
        review_id="r",
        paper_id="0" * 64,
        paper_title="Two views",
        venue=form.id,
        source="m",
        fields=fields,
        nulls={name: "only a person can declare this" for name, value in fields.items() if value is None},
        rating=fields[form.overall or ""],
        scores=tuple(ScoreRecord(field=n, stated=fields[n], value=fields[n], reason=REASON) for n in scored),
        forced=(Forced(field=scored[0], value=fields[scored[0]], reason="nothing backs it"),),
        attestations=tuple(field.name for field in form.attestations),
        points=points,
        provenance=provenance(rules=rules),
    )


def trial(form: VenueForm, *points: ReviewPoint, rules: bool = True) -> Review:
    review = listed(as_trial(written(form, *points, rules=rules), form), form)
    return review.model_copy(update={"disclosure": disclosure(review, form, embedded=True)})


def labels(form: VenueForm) -> set[str]:
    """The best options of the form's scores in the venue's words, where they are words that nothing else says."""
    options = (field.options[0] for field in form.reviewer_fields if field.kind == "score")
    return {option.label for option in options if len(option.label) > 5}


@pytest.mark.parametrize("venue", VENUES)
def test_values_are_kept_apart_with_their_reasons_and_every_field_that_judges_is_null(venue: str) -> None:
    form = load_venue(venue)
    before = written(form)
    review = as_trial(before, form)
    judged = [field.name for field in form.reviewer_fields if field.kind != "text"]
    assert [one.field for one in review.trial or ()] == judged
    assert {one.field: one.value for one in review.trial or ()} == {name: before.fields[name] for name in judged}
    assert {one.reason for one in review.trial or () if form.field(one.field).kind == "score"} == {REASON}
    assert {review.fields[name] for name in judged} == {None}
    assert {review.nulls[name] for name in judged} == {NO_JUDGE}
    assert (review.rating, review.confidence, review.scores, review.forced) == (None, None, (), ())
    kept = {name: value for name, value in review.fields.items() if name not in judged}
    assert kept == {name: value for name, value in before.fields.items() if name not in judged}
    assert Review.model_validate_json(review.model_dump_json()) == review


@pytest.mark.parametrize("venue", VENUES)
def test_no_output_shows_a_score_and_each_that_stands_for_the_review_says_what_is_empty(venue: str) -> None:
    form = load_venue(venue)
    review = trial(form, rule())
    page = review_page(review, form, None, None, lambda image: "")
    shown = {
        "terminal": "\n".join(summary_lines(review, form)),
        "review.md": render_review(review, form),
        "page": page,
        "fixes.md": render_fixes(review, form),
        "paste": json.dumps(openreview_object(review, form)),
    }
    for name, text in shown.items():
        assert not [label for label in labels(form) if label in text], name
        assert REASON not in text, name
    overall = form.field(form.overall or "").title
    for name in ("terminal", "review.md", "page"):
        said = "Left empty in the file to paste, because the embedded model cannot judge a paper: "
        assert overall in shown[name].split(said)[1].split(". What it chose")[0], name
    judged = {field.name for field in form.reviewer_fields if field.kind != "text"}
    assert not judged & openreview_object(review, form).keys()
    assert openreview_object(review, form), "the texts stay"


def test_a_text_that_the_form_demands_is_named_where_a_trial_has_none() -> None:
    form = load_venue("neurips-2025")
    review = trial(form)
    empty = review.model_copy(update={"fields": review.fields | {"summary": None}})
    assert "Left empty as well, though the form demands them: Summary." in summary_lines(empty, form)


@pytest.mark.parametrize("venue", VENUES)
def test_what_rules_found_stands_first_with_page_and_quotation(venue: str) -> None:
    form = load_venue(venue)
    review = trial(form, rule())
    lines = summary_lines(review, form)
    assert lines[1].startswith("This review was written by a program")
    assert lines[2:7] == [
        "",
        f"{HEADING}:",
        f"1. [Weakness, material, found by a rule] {CLAIM}",
        "   “With 20 groups it covers 94.8% of the sets, and it is” (4 Results, p. 3)",
        "   “CLUSTER-T | 88.6 | 92.3” (4 Results, p. 4)",
    ]
    assert "The form as the embedded model filled it, as a trial of the pipeline:" in lines
    markdown = render_review(review, form)
    first = f"## {HEADING}\n\n1. [Weakness, material, found by a rule] {CLAIM}\n   - “With 20 groups"
    assert markdown.index("## ") == markdown.index(first)
    assert "(4 Results, p. 3)" in markdown
    assert "decides" not in markdown
    page = review_page(review, form, None, None, lambda image: "")
    section = page[page.index('<h2 id="points">') : page.index('<h2 id="form">')]
    assert section.index(HEADING) < section.index('id="point-1"') < section.index("4 Results, p. 3")
    assert 'class="verdict"' not in page


@pytest.mark.parametrize(
    ("points", "rules", "said"),
    [
        ((), True, "The rules that need no model found nothing in this paper."),
        ((), False, ""),
        ((rule(outcome="struck"),), True, "The check struck what rules found (1); `referee show` with --dropped"),
    ],
)
def test_that_rules_found_nothing_is_said_only_where_they_ran(
    points: tuple[ReviewPoint, ...], rules: bool, said: str
) -> None:
    form = load_venue("iclr-2025")
    review = trial(form, *points, rules=rules)
    for text in ("\n".join(summary_lines(review, form)), render_review(review, form)):
        assert said in text
        assert ("need no model" in text) is ("need no model" in said)


def test_the_review_of_another_model_has_what_rules_found_in_its_order() -> None:
    form = load_venue("iclr-2025")
    review = written(form, rule())
    assert HEADING not in render_review(review, form)
    assert f"found by a rule] {CLAIM}" in "\n".join(summary_lines(review, form))


def test_a_record_from_before_loads_and_is_no_trial() -> None:
    form = load_venue("neurips-2025")
    old = json.loads(written(form, rules=False).model_dump_json())
    del old["trial"], old["provenance"]["rules"]
    review = Review.model_validate(old)
    assert review.trial is None
    assert review.provenance is not None
    assert not review.provenance.rules
    assert f"{form.field('rating').title}: 6" in "\n".join(summary_lines(review, form))
