"""Forms, guidelines and policies as text."""

from __future__ import annotations

import pytest

from referee.venues import load_venue, render_form, render_guidelines, render_policy

IDS = ["arr", "iclr-2025", "neurips-2025"]


@pytest.mark.parametrize("venue", IDS)
def test_every_box_of_the_reviewer_is_there_and_no_other(venue: str) -> None:
    form = load_venue(venue)
    heads = [line for line in render_form(form).splitlines() if line[:1].isdigit()]
    assert [head.split(" ")[1] for head in heads] == [field.name for field in form.reviewer_fields]
    assert all(field.asks in render_form(form) for field in form.reviewer_fields)


@pytest.mark.parametrize("venue", IDS)
def test_every_option_is_there_with_its_label(venue: str) -> None:
    form = load_venue(venue)
    text = render_form(form)
    for field in form.reviewer_fields:
        for option in field.options:
            shown = option.value if isinstance(option.value, str) else f"{option.value:g}"
            assert f"   - {shown} = {option.label}" in text if option.label else f"   - {shown}" in text


def test_a_field_reads_well() -> None:
    text = render_form(load_venue("neurips-2025"))
    assert "9. rating (one score from the list; required)" in text
    assert "   - 4 = Borderline accept (solid work" in text
    assert "This is the overall rating; 4 and above lean to acceptance." in text
    assert "NO or VERY MINOR ethics concerns only [only by itself]" in text
    assert "12. paper_formatting_concerns (free text)\n" in text


def test_limits_and_half_steps_are_told() -> None:
    text = render_form(load_venue("arr"))
    assert "1. paper_summary (free text; required; at most 20000 characters)" in text
    assert "   - 4.5\n" in text
    assert "reviewer_certification" not in text


@pytest.mark.parametrize("venue", IDS)
def test_guidelines_carry_their_ids(venue: str) -> None:
    form = load_venue(venue)
    lines = render_guidelines(form).splitlines()
    assert lines[1:] == [f"- [{g.id}] {g.text}" for g in form.guidelines]


def test_no_guidelines_no_text() -> None:
    assert render_guidelines(load_venue("arr").model_copy(update={"guidelines": ()})) == ""


@pytest.mark.parametrize("venue", IDS)
def test_the_policy_names_status_rule_whom_source_and_footing(venue: str) -> None:
    form = load_venue(venue)
    text = render_policy(form)
    assert text.startswith(f"{form.name}, language models in reviewing: {form.llm_policy.status.upper()}. ")
    assert form.llm_policy.sentence in text
    assert form.llm_policy.applies_to in text
    assert all(form.sources[key].title in text for key in form.llm_policy.fact.sources)
    assert "Footing: " in text
    assert form.provenance.checked.isoformat() in text
    assert len(text.splitlines()) <= 3


def test_a_policy_without_source_or_date_says_so() -> None:
    form = load_venue("iclr-2025")
    fact = form.llm_policy.fact.model_copy(update={"sources": (), "confidence": "memory", "note": ""})
    text = render_policy(form.model_copy(update={"llm_policy": form.llm_policy.model_copy(update={"fact": fact})}))
    assert text.endswith("date unknown. Source: none. Footing: from memory, unverified; checked 2026-11-21.")
