from typing import Any

import pytest

from referee.agents.scores import settle_choices, settle_scores
from referee.schemas.paper import Block, Finding, Paper
from referee.venues import load_venue

from .paper_on_tests import section, small_paper

FORM = load_venue("neurips-2025")
SCORES = ("quality", "clarity", "significance", "originality", "rating", "confidence")


def stated(**evidence: list[str]) -> dict[str, dict[str, Any]]:
    return {name: {"value": 3, "reason": "because", "evidence": evidence.get(name, ["E1"])} for name in SCORES}


def null_reasons(paper: Paper, **evidence: list[str]) -> dict[str, str]:
    settled = settle_scores(FORM, stated(**evidence), ["E1"], paper)
    return {r.field: r.null_reason for r in settled.records if r.value is None}


def test_a_score_with_verified_evidence_stands_and_one_without_is_null_and_forced() -> None:
    settled = settle_scores(FORM, stated(quality=["E2"]), ["E1"], small_paper())
    records = {r.field: r for r in settled.records}
    assert records["rating"].value == 3
    assert records["rating"].supported_by == ("E1",)
    assert records["quality"].value is None
    assert records["quality"].stated == 3
    forced = {f.field: f for f in settled.forced}
    assert forced["quality"].value == 3
    assert forced["quality"].reason == records["quality"].null_reason
    assert "rating" not in forced


def test_what_a_program_cannot_judge_is_null_whatever_is_cited() -> None:
    nulls = null_reasons(small_paper())
    assert "expertise" in nulls["confidence"]
    assert "literature" in nulls["originality"]
    assert "clarity" not in nulls


def test_presentation_is_null_only_where_there_are_figures_that_were_not_seen() -> None:
    caption = Block(id="c", kind="caption", text="Figure 1: A plot.", page=1)
    shown = section(1, "Method", "text")
    paper = small_paper(shown.model_copy(update={"blocks": (*shown.blocks, caption)}))
    assert "figures" in null_reasons(paper)["clarity"]
    table = small_paper(shown.model_copy(update={"blocks": (caption.model_copy(update={"text": "Table 1: x"}),)}))
    assert "clarity" not in null_reasons(table)


@pytest.mark.parametrize(("certainty", "is_null"), [("low", False), ("medium", True), ("high", True)])
def test_soundness_is_null_where_text_was_lost(certainty: Any, is_null: bool) -> None:
    lost = Finding(kind="lost_text", message="m", certainty=certainty, page=1)
    assert ("quality" in null_reasons(small_paper(findings=(lost,)))) is is_null


def test_a_score_the_model_left_out_has_no_record() -> None:
    settled = settle_scores(FORM, {}, ["E1"], small_paper())
    assert settled.records == ()
    assert settled.forced == ()


def test_a_judgement_in_words_needs_something_that_stands_and_a_declaration_does_not() -> None:
    tmlr, neurips = load_venue("tmlr-before-2025"), load_venue("neurips-2022")
    ticked = {"claims_and_evidence": "Yes", "audience": "No"}
    assert settle_choices(tmlr, ticked, backed=True).values == ticked
    open_ = settle_choices(tmlr, ticked, backed=False)
    assert open_.values == {"claims_and_evidence": None, "audience": None}
    assert set(open_.nulls) == set(ticked)
    assert {(forced.field, forced.value) for forced in open_.forced} == set(ticked.items())
    assert settle_choices(neurips, {"ethics_flag": "No"}, backed=False).values == {"ethics_flag": "No"}
