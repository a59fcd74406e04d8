from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.errors import VenueError
from referee.venues import load_venue
from referee.venues.describe_prompts import describe_prompts, diff_prompts
from referee.venues.prompts import section_prompts
from referee.venues.refined import (
    Coverage,
    Criticism,
    PromptVersion,
    RefinedGuideline,
    RefinedPrompts,
    Refusal,
    choose_refined,
    find_refined,
    list_refined,
    read_refined,
    refinable,
    refined_path,
    refined_section_prompts,
    refinement_key,
    steps_digest,
    store_refined,
)

FORM = load_venue("neurips-2025")
MADE_OF: dict[str, Any] = {
    "model": "m",
    "supervisor": "m",
    "prompts": {"refinement/write@v1": "d"},
    "rounds": 3,
    "until_stable": False,
    "lean": (),
    "temperature": 0.0,
}


def version(number: int, *steps: str, **more: Any) -> PromptVersion:
    return PromptVersion(round=number, steps=steps, digest=steps_digest(steps), origin="revised", **more)


def refined(model: str = "openai:gpt-x", key: str = "k", at: str = "2026-01-01T00:00:00+00:00") -> RefinedPrompts:
    old, last = ("Judge the writing.", "Could an expert reproduce the results?"), "Say how to improve poor clarity."
    quality = RefinedGuideline(
        guideline_id="clarity",
        points=("a", "b"),
        versions=(version(0, *old, covers=("a",)), version(2, *old, last, covers=("a", "b"))),
        coverages=(Coverage(digest=steps_digest((*old, last)), words={"b": last}, lean=True),),
        criticisms=(
            Criticism(
                round=1,
                findings={"clarity": ("Step 1 is vague.",)},
                new=("Step 1 is vague.",),
                digest="c",
                model=model,
                call_id="c0001",
            ),
        ),
        refusals=(Refusal(round=1, steps=("x",), digest="d", lost=("b",), model=model, call_id="c0002"),),
        rounds=3,
        ended="rounds",
    )
    return RefinedPrompts(
        venue=FORM.id,
        key=key,
        model=model,
        supervisor=model,
        rounds=3,
        prompts={},
        guidelines=(quality,),
        refined_at=at,
        run_id="r",
    )


def test_what_is_stored_is_found_under_its_key_and_its_names(tmp_path: Path) -> None:
    path = store_refined(refined(), tmp_path)
    assert path == refined_path(FORM.id, "openai:gpt-x", tmp_path) == tmp_path / FORM.id / "openai-gpt-x.json"
    assert find_refined(FORM.id, "openai:gpt-x", ["other", "k"], tmp_path) == refined()
    assert find_refined(FORM.id, "openai:gpt-x", ["other"], tmp_path) is None
    assert find_refined(FORM.id, "openai:gpt-y", ["k"], tmp_path) is None
    for name in (None, "openai:gpt-x", "gpt-x", "openai-gpt-x"):
        assert choose_refined(FORM.id, name, tmp_path) == refined()


def test_another_key_moves_the_old_file_aside_and_both_are_found(tmp_path: Path) -> None:
    store_refined(refined(key="a" * 64), tmp_path)
    store_refined(refined(key="b" * 64), tmp_path)
    assert [found.key for found in list_refined(FORM.id, tmp_path)] == ["b" * 64]
    for key in ("a" * 64, "b" * 64):
        found = find_refined(FORM.id, "openai:gpt-x", [key], tmp_path)
        assert found is not None
        assert found.key == key


def test_steps_that_a_person_changed_in_the_file_are_taken_and_named_as_edited(tmp_path: Path) -> None:
    path = store_refined(refined(), tmp_path)
    before = read_refined(path)
    path.write_text(path.read_text().replace("Judge the writing.", "Praise the writing."))
    edited = read_refined(path)
    (changed,) = [one for one in edited.guidelines if one.is_edited]
    assert "Praise the writing." in changed.current.steps
    assert (changed.current.model, changed.current.covers) == ("", None)
    names = {name for name in edited.digests() if name.endswith("-edited")}
    assert names == {f"refined/{FORM.id}/{changed.guideline_id}@v{changed.current.round}-edited"}
    assert not any(one.is_edited for one in before.guidelines)
    assert "edited by hand" in describe_prompts(FORM, edited, history=True)
    assert read_refined(store_refined(edited, tmp_path)) == edited, "what was edited stays so"


def test_a_damaged_file_is_refused_and_survives_a_new_refinement(tmp_path: Path) -> None:
    path = store_refined(refined(), tmp_path)
    path.write_text(path.read_text().replace('"Judge the writing."', "7", 1))
    with pytest.raises(VenueError, match="cannot be used"):
        read_refined(path)
    store_refined(refined(key="new"), tmp_path)
    assert read_refined(path).key == "new"
    assert path.with_name(f"{path.name}.damaged").is_file()


def test_unknown_models_are_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(VenueError, match="not refined yet"):
        choose_refined(FORM.id, None, tmp_path)
    store_refined(refined(), tmp_path)
    store_refined(refined("local:small", at="2026-02-01T00:00:00+00:00"), tmp_path)
    assert choose_refined(FORM.id, None, tmp_path).model == "local:small"
    with pytest.raises(VenueError) as caught:
        choose_refined(FORM.id, "gpt-z", tmp_path)
    assert "local:small, openai:gpt-x" in caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 2},
        {"model": "n"},
        {"supervisor": "n"},
        {"prompts": {"refinement/write@v2": "d"}},
        {"until_stable": True},
        {"lean": ("writer",)},
        {"temperature": 0.5},
    ],
)
def test_everything_that_decides_the_outcome_changes_the_key(change: dict[str, Any]) -> None:
    assert refinement_key(FORM, **MADE_OF) == refinement_key(FORM, **MADE_OF)
    assert refinement_key(FORM, **{**MADE_OF, **change}) != refinement_key(FORM, **MADE_OF)


def test_a_changed_guideline_changes_the_key_and_the_forms_own_fields_do_not() -> None:
    first, *rest = FORM.guidelines
    for changed in ({"text": "Another rule."}, {"words": "The page's own words."}):
        other = FORM.model_copy(update={"guidelines": (first.model_copy(update=changed), *rest)})
        assert refinement_key(other, **MADE_OF) != refinement_key(FORM, **MADE_OF)
    assert refinement_key(FORM.model_copy(update={"accept_at": None}), **MADE_OF) == refinement_key(FORM, **MADE_OF)


def test_guidelines_about_the_review_are_not_refined() -> None:
    ids = {guideline.id for guideline in refinable(FORM)}
    assert ids == {prompt.id for prompt in section_prompts(FORM) if not prompt.is_about_the_review}
    assert "quality" in ids
    assert "neutral-summary" not in ids


def test_prompts_without_one_of_the_guidelines_are_not_used() -> None:
    with pytest.raises(VenueError, match="lack the guideline 'quality'"):
        refined_section_prompts(FORM, refined())


def test_the_history_tells_what_happened_in_each_round() -> None:
    told = describe_prompts(FORM, refined(), history=True)
    for part in ("v0:", "round 1, criticism", "clarity: Step 1 is vague.", "revision refused", "it lost 'b'", "v2:"):
        assert part in told
    assert told.index("v0:") < told.index("revision refused") < told.index("v2:")
    short = describe_prompts(FORM, refined())
    assert "Say how to improve poor clarity." in short
    assert "Step 1 is vague." not in short
    assert "changed since then, and not used:" in short, "the other guidelines of the form are not in it"
    assert "not refined" in describe_prompts(FORM, None)


def test_a_difference_names_versions_lines_and_points() -> None:
    told = diff_prompts(refined(), FORM, "v0", "3")
    assert "+ Say how to improve poor clarity." in told
    assert "v3 is v2: round 3 changed nothing" in told
    assert "points covered: 1 of 2 -> 2 of 2 by the embedded model, which is a weak judge" in told
    assert "gained: 'b'" in told
    assert "v1 is v0: the revision of round 1 was refused" in diff_prompts(refined(), FORM, "v0", "v1")


@pytest.mark.parametrize("unknown", ["v4", "latest", "-1", ""])
def test_an_unknown_version_is_answered_with_those_there_are(unknown: str) -> None:
    with pytest.raises(VenueError) as caught:
        diff_prompts(refined(), FORM, "v0", unknown)
    assert "v0, v1, v2, v3" in caught.value.hint
