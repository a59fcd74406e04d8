"""Steps for guidelines, and the points they cover."""

from __future__ import annotations

import pytest

from referee.schemas.venue import Fact, Guideline, VenueForm
from referee.venues import list_venues, load_venue
from referee.venues.prompts import (
    ANY,
    REVIEW,
    SECTION_TYPES,
    general_prompts,
    guideline_points,
    known_guidelines,
    section_prompts,
)

BUNDLED = {guideline.id for form in list_venues() for guideline in form.guidelines}


def with_guideline(guideline_id: str, text: str) -> VenueForm:
    form = load_venue("neurips-2025")
    own = form.guidelines[0].model_copy(update={"id": guideline_id, "text": text})
    return form.model_copy(update={"guidelines": (*form.guidelines, own)})


def test_every_bundled_guideline_has_steps_of_its_own() -> None:
    assert known_guidelines() == BUNDLED


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
def test_every_form_gives_well_formed_prompts_in_its_order(form: VenueForm) -> None:
    prompts = section_prompts(form)
    assert [prompt.guideline_id for prompt in prompts] == [guideline.id for guideline in form.guidelines]
    for prompt in prompts:
        assert 3 <= len(prompt.steps) <= 6
        assert len(set(prompt.steps)) == len(prompt.steps)
        assert all(20 < len(step) < 200 and step.endswith((".", "?")) for step in prompt.steps)
        types = set(prompt.section_types)
        assert types
        assert types <= set(SECTION_TYPES) or types in ({ANY}, {REVIEW})


def test_rules_about_the_review_itself_go_to_no_section() -> None:
    about = {p.id for p in section_prompts(load_venue("neurips-2025")) if p.is_about_the_review}
    assert {"constructive", "specific"} <= about
    assert not about & {"quality", "clarity", "significance", "originality"}


def test_an_unknown_guideline_gets_steps_from_its_text_and_is_to_be_mapped() -> None:
    *_, prompt = section_prompts(with_guideline("wet-lab", "The review judges whether wet-lab protocols are given."))
    assert prompt.id == "wet-lab"
    assert prompt.section_types == ()
    assert "wet-lab protocols are given" in prompt.steps[0]
    assert prompt.render().startswith("- Read the section")


def test_a_guideline_cannot_be_named_like_a_general_prompt_by_accident() -> None:
    *_, prompt = section_prompts(with_guideline("general-clarity", "Own rule."))
    assert prompt.section_types == ()
    assert all(general.section_types == (ANY,) for general in general_prompts())
    assert len(general_prompts()) == 2


def rule(text: str, words: str = "") -> Guideline:
    return Guideline(id="rule", text=text, kind="subjective", words=words, fact=Fact(confidence="official"))


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Lanterns are compared with torches, and the price of oil is stated.", 2),
        ("The review judges lanterns; torches; ropes.", 3),
        ("The review asks whether ropes hold and whether wells are deep.", 2),
        ("Ropes. Ropes hold.", 1),
        ("The review says so.", 0),
        ("", 0),
        (". ".join(f"Thing{n} bends thing{n}a" for n in "abcdefghijklmnopq"), 17),
    ],
)
def test_a_guideline_is_cut_into_clauses_with_words_of_their_own(text: str, points: int) -> None:
    assert len(guideline_points(rule(text))) == points


def test_the_pages_words_add_only_what_the_text_does_not_hold() -> None:
    found = guideline_points(rule("Ropes are tested for load.", "Please test the ropes for load. Measure the wells!"))
    assert list(found) == ["Ropes are tested for load", "Measure the wells"]


def test_every_guideline_of_every_venue_has_a_point() -> None:
    for form in list_venues():
        for guideline in form.guidelines:
            assert guideline_points(guideline), guideline.text
