from typing import Any

import pytest

from referee.agents.form_reply import StatedScore
from referee.agents.scores import NO_POINT, evidence_on_ethics, settle_choices, settle_scores
from referee.schemas.paper import Block, Finding, Paper
from referee.schemas.review import Evidence
from referee.schemas.venue import Option, VenueForm
from referee.venues import load_venue

from .paper_on_tests import section, small_paper

FORM = load_venue("neurips-2025")
SCORES = ("quality", "clarity", "significance", "originality", "rating", "confidence")


def stated(**evidence: tuple[str, ...]) -> dict[str, StatedScore]:
    return {name: StatedScore(value=3, reason="because", supports=evidence.get(name, ("E1",))) for name in SCORES}


def null_reasons(paper: Paper, **evidence: tuple[str, ...]) -> dict[str, str]:
    settled = settle_scores(FORM, stated(**evidence), ["E1"], paper)
    return {r.field: r.null_reason for r in settled.records if r.value is None}


def test_a_score_with_verified_evidence_stands_and_one_without_is_null_and_forced() -> None:
    settled = settle_scores(FORM, stated(quality=("E2",)), ["E1"], small_paper())
    records = {r.field: r for r in settled.records}
    assert records["rating"].value == 3
    assert records["rating"].supported_by == ("E1",)
    assert records["quality"].value is None
    assert records["quality"].stated == 3
    forced = {f.field: f for f in settled.forced}
    assert forced["quality"].value == 3
    assert forced["quality"].reason == records["quality"].null_reason
    assert "rating" not in forced


def limits(paper: Paper, form: VenueForm = FORM) -> dict[str, str]:
    settled = settle_scores(form, stated(), ["E1"], paper)
    return {r.field: r.limit for r in settled.records if r.limit and r.value is not None}


def with_figure(label: str = "Figure 1: A plot.") -> Paper:
    shown = section(1, "Method", "text")
    caption = Block(id="c", kind="caption", text=label, page=1)
    return small_paper(shown.model_copy(update={"blocks": (*shown.blocks, caption)}))


def without_duty(*names: str) -> VenueForm:
    """The form where these fields may stay empty."""
    fields = (f.model_copy(update={"required": False}) if f.name in names else f for f in FORM.fields)
    return FORM.model_copy(update={"fields": tuple(fields)})


def test_novelty_is_given_with_its_limit_where_the_form_may_require_it() -> None:
    assert limits(small_paper()) == {"originality": "judged without a search of the literature"}
    settled = settle_scores(without_duty("originality"), stated(), ["E1"], small_paper())
    record = next(r for r in settled.records if r.field == "originality")
    assert (record.value, record.null_reason, record.limit) == (None, "judged without a search of the literature", "")
    assert "originality" not in {forced.field for forced in settled.forced}


def test_presentation_has_a_limit_only_where_there_are_figures_that_were_not_seen() -> None:
    assert limits(with_figure())["clarity"] == "judged without the figures"
    assert "clarity" not in limits(with_figure("Table 1: x"))
    assert "clarity" not in limits(with_figure(), without_duty("clarity"))


def test_expertise_is_left_open_and_nothing_is_forced_for_it() -> None:
    asked = {"aspect": "expertise", "required": True}
    fields = (f.model_copy(update=asked) if f.aspect == "confidence" else f for f in FORM.fields)
    settled = settle_scores(FORM.model_copy(update={"fields": tuple(fields)}), {}, ["E1"], small_paper())
    (record,) = settled.records
    assert (record.value, record.null_reason) == (None, "a program has no expertise to declare")
    assert settled.forced == ()


def scale(options: int) -> VenueForm:
    """The form whose confidence has so many options, from one."""
    changed = {"options": tuple(Option(value=number, label=f"level {number}") for number in range(1, options + 1))}
    fields = (f.model_copy(update=changed) if f.aspect == "confidence" else f for f in FORM.fields)
    return FORM.model_copy(update={"fields": tuple(fields)})


@pytest.mark.parametrize(("options", "whole", "in_part"), [(3, 2, 1), (4, 2, 1), (5, 3, 2), (10, 5, 3)])
def test_confidence_follows_from_what_was_read_on_any_scale(options: int, whole: int, in_part: int) -> None:
    lost = Finding(kind="lost_text", message="m", certainty="high", page=1)
    for paper, seen, value in (
        (small_paper(), True, whole),
        (small_paper(), False, in_part),
        (small_paper(findings=(lost,)), True, in_part),
    ):
        settled = settle_scores(scale(options), stated(), ["E1"], paper, whole=seen)
        record = next(r for r in settled.records if r.field == "confidence")
        assert (record.value, record.stated, record.null_reason) == (value, None, "")
        assert record.reason.startswith("by rule: ")
        assert ("all of the paper's text was read" in record.reason) is (value == whole)
        composed = settle_scores(scale(options), {}, (), paper, unbacked=NO_POINT, whole=seen)
        assert next(r for r in composed.records if r.field == "confidence") == record


def test_what_confidence_says_of_the_figures_depends_on_the_paper() -> None:
    def reason(paper: Paper) -> str:
        return next(r.reason for r in settle_scores(FORM, {}, (), paper).records if r.field == "confidence")

    assert "its figures were not looked at" in reason(with_figure())
    assert "figures" not in reason(small_paper())


@pytest.mark.parametrize(("certainty", "is_null"), [("low", False), ("medium", True), ("high", True)])
def test_soundness_is_null_where_text_was_lost(certainty: Any, is_null: bool) -> None:
    lost = Finding(kind="lost_text", message="m", certainty=certainty, page=1)
    assert ("quality" in null_reasons(small_paper(findings=(lost,)))) is is_null


def test_a_score_the_model_left_out_has_no_record_and_confidence_has_its_own() -> None:
    settled = settle_scores(FORM, {}, ["E1"], small_paper())
    assert [r.field for r in settled.records] == ["confidence"]
    assert settled.forced == ()


def test_a_judgement_in_words_needs_something_that_stands_and_a_declaration_does_not() -> None:
    tmlr = load_venue("tmlr-before-2025")
    ticked = {"claims_and_evidence": "Yes", "audience": "No"}
    assert settle_choices(tmlr, ticked, backed=True, ethics_backed=False).values == ticked
    open_ = settle_choices(tmlr, ticked, backed=False, ethics_backed=True)
    assert open_.values == {"claims_and_evidence": None, "audience": None}
    assert set(open_.nulls) == set(ticked)
    assert {(forced.field, forced.value) for forced in open_.forced} == set(ticked.items())


CONCERNS: list[tuple[str, str, Any, Any, Any]] = [
    ("neurips-2025", "ethical_concerns", "Major Concern", "NO or VERY MINOR", True),
    ("iclr-2025", "flag_for_ethics_review", "Yes, Privacy", "No ethics review needed", True),
    ("neurips-2022", "ethics_flag", "Yes", "No", True),
    ("colm-2025", "ethics_flag", "Yes", "No", True),
    ("arr", "needs_ethics_review", "Yes", "No", False),
    ("neurips-2022", "ethics_review_area", "Research Integrity", None, False),
]


@pytest.mark.parametrize(("venue", "name", "concern", "none", "is_forced"), CONCERNS)
def test_a_concern_about_ethics_stands_on_evidence_of_its_own_or_is_open(
    venue: str, name: str, concern: str, none: str | None, is_forced: bool
) -> None:
    form = load_venue(venue)
    field = form.field(name)

    def tick(begins: str) -> Any:
        value = next(option.value for option in field.options if str(option.value).startswith(begins))
        return [value] if field.kind == "flag" else value

    ticked = {name: tick(concern)}
    open_ = settle_choices(form, ticked, backed=True, ethics_backed=False)
    assert open_.values == {name: None}
    assert "no point about ethics" in open_.nulls[name]
    assert [(f.field, f.value) for f in open_.forced] == ([(name, tick(none))] if none and is_forced else [])
    assert settle_choices(form, ticked, backed=False, ethics_backed=True).values == ticked
    if none:
        declared = {name: tick(none)}
        assert settle_choices(form, declared, backed=False, ethics_backed=False).values == declared


def test_only_what_was_filed_under_the_box_for_ethics_is_about_ethics() -> None:
    def one(field: str) -> Evidence:
        where = {"section_id": "s1", "section": "Data", "status": "exact", "similarity": 1.0}
        return Evidence.model_validate({"id": "E1", "claim": "c", "quote": "q", "field": field, **where})

    iclr = load_venue("iclr-2025")
    assert evidence_on_ethics(iclr, [one("summary"), one("details_of_ethics_concerns")])
    assert not evidence_on_ethics(iclr, [one("summary")])
    neurips = load_venue("neurips-2025")
    assert not evidence_on_ethics(neurips, [one(f.name) for f in neurips.reviewer_fields if f.kind == "text"])
