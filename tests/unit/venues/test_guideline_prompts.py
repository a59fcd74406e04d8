from __future__ import annotations

import pytest

from referee.schemas.venue import VenueForm
from referee.venues import list_venues, load_venue
from referee.venues.prompts import ANY, REVIEW, SECTION_TYPES, general_prompts, known_guidelines, section_prompts

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
