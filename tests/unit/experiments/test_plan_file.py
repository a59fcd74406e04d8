"""Plans as people write them, with their mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.errors import SettingsError
from referee.experiments.arms import arms_of, chosen_arms, pairs_of
from referee.experiments.plan import Plan
from referee.experiments.plan_file import READY, SECOND, Given, load_plan

GRID: dict[str, Any] = {"grid": {"strategies": ["single", "sections"], "venues": ["v"], "rounds": [0, 1]}}


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("seed = [1]", "'seed', which is no key of a plan", "'seeds'"),
        ("[grid]\nstrategy = ['single']", "'grid.strategy', which is no key of the table 'grid'", "'strategies'"),
        ("[[arms]]\nname = 'a'\nround = 1", "'arms.0.round'", "'rounds'"),
        ("[measure]\nmetric = ['depth']", "'measure.metric'", "'metrics'"),
        ("[grid]\nrounds = [-1]", "'grid.rounds.0' has an unusable value -1", "docs/experiments.md"),
        ("[[arms]]\nname = 'a'\nablate = ['all']", "'arms.0.ablate.0'", "docs/experiments.md"),
        ("[splits]\ntest_share = 1.0", "'splits.test_share'", "docs"),
        ("[tracking]\nmlfow = 'local'", "'tracking.mlfow'", "'mlflow'"),
        ("[tracking]\nmlflow = ''", "'tracking.mlflow' has an unusable value ''", "docs/experiments.md"),
        ("[grid", "is not valid TOML", "Mend"),
    ],
)
def test_a_mistake_is_named_with_the_nearest_key(tmp_path: Path, text: str, says: str, hint: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_plan(written(tmp_path, text))
    assert says in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("named", "given", "is_told"),
    [
        ("local", None, "local"),
        ("http://host:5000", None, "http://host:5000"),
        ("logs", None, "{folder}/logs"),
        ("logs", "mine", "mine"),
    ],
)
def test_mlflow_is_told_where_the_plan_or_the_command_says(
    tmp_path: Path, named: str, given: str | None, is_told: str
) -> None:
    loaded = load_plan(written(tmp_path, f"[tracking]\nmlflow = '{named}'"), Given(mlflow=given))
    assert loaded.plan.tracking.mlflow == is_told.format(folder=tmp_path)


def test_a_plan_that_is_not_there_offers_those_that_ship() -> None:
    with pytest.raises(SettingsError, match="no plan 'table3'") as refused:
        load_plan("table3")
    assert "table2, planted, ablation" in refused.value.hint


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ({}, "has no arm"),
        ({"arms": []}, "has no arm"),
        ({"grid": {"strategies": [], "venues": ["v"]}}, "the grid is empty: 'strategies' lists nothing"),
        ({**GRID, "arms": [{"name": "a"}]}, "a grid or a list of arms, not both"),
        ({"grid": {"strategies": ["single"]}}, "no venue is named"),
        ({"arms": [{"name": "a"}]}, "no venue is named for 'a'"),
        ({"arms": [{"name": "a", "venue": "v"}] * 2}, "two arms are called 'a'"),
        ({"grid": {"strategies": ["single", "single"], "venues": ["v"]}}, "two arms are called 'single'"),
    ],
)
def test_arms_that_cannot_be_are_refused(plan: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        arms_of(Plan.model_validate(plan))
    assert says in refused.value.message


def test_a_grid_is_every_combination_named_by_what_varies() -> None:
    arms = arms_of(Plan.model_validate(GRID))
    assert [arm.name for arm in arms] == [
        "single, 0 rounds",
        "single, 1 round",
        "sections, 0 rounds",
        "sections, 1 round",
    ]
    assert arms[0].overrides()["review.preset"] == "quick"
    assert (arms[3].overrides()["review.preset"], arms[3].overrides()["review.rounds"]) == ("full", 1)


def test_an_arm_takes_from_common_what_it_does_not_say() -> None:
    common = {"venue": "v", "settings": {"models.temperature": 0.5}, "model": "openai:x"}
    listed = [{"name": "a"}, {"name": "b", "venue": "w", "settings": {"review.appendices": True}}]
    first, second = arms_of(Plan.model_validate({"common": common, "arms": listed}))
    assert (first.venue, first.model, first.strategy) == ("v", "openai:x", "audited")
    assert (second.venue, second.settings) == ("w", {"models.temperature": 0.5, "review.appendices": True})


def test_comparisons_are_all_pairs_a_baseline_or_a_list() -> None:
    listed = [{"name": name, "venue": "v"} for name in "abc"]

    def pairs(compare: dict[str, Any], *chosen: str) -> tuple[tuple[str, str], ...]:
        plan = Plan.model_validate({"arms": listed, "compare": compare})
        arms = arms_of(plan)
        return pairs_of(plan.compare, arms, chosen_arms(arms, chosen))

    assert pairs({}) == (("b", "a"), ("c", "a"), ("c", "b"))
    assert pairs({"baseline": "b"}) == (("a", "b"), ("c", "b"))
    assert pairs({"baseline": "b"}, "b", "c") == (("c", "b"),)
    assert pairs({"pairs": [["a", "c"]]}) == (("a", "c"),)
    for wrong, says in (
        ({"baseline": "d"}, "'d' is no arm"),
        ({"pairs": [["a", "a"]]}, "compared with itself"),
        ({"baseline": "a", "pairs": [["a", "b"]]}, "not both"),
    ):
        with pytest.raises(SettingsError, match=says):
            pairs(wrong)


def test_what_is_said_beside_the_plan_goes_over_it(tmp_path: Path) -> None:
    path = written(tmp_path, "[grid]\nvenues = ['v']\n[measure]\nmetrics = ['depth']")
    loaded = load_plan(path, Given(models=["m", "n"], venue="w", judges=["j"], papers=["p.md"], metrics=["tone"]))
    assert loaded.plan.name == "mine"
    assert [(arm.model, arm.venue) for arm in arms_of(loaded.plan)] == [("m", "w"), ("n", "w")]
    assert (loaded.plan.measure.judges, loaded.plan.measure.metrics) == (("j",), ("tone",))
    assert Path(loaded.plan.papers.files[0]).is_absolute()
    with pytest.raises(SettingsError, match="lists its arms"):
        load_plan({"arms": [{"name": "a", "venue": "v"}]}, Given(models=["m", "n"]))


@pytest.mark.parametrize("name", ["table2", "ablation"])
def test_the_plans_that_ship_and_their_examples_have_the_same_arms(name: str, examples: Path) -> None:
    ready = load_plan(name, Given(venue="iclr-2025")).plan
    example = load_plan(examples / "plans" / f"{name}.toml", Given(venue="iclr-2025")).plan
    assert arms_of(ready) == arms_of(example)
    assert (ready.measure.metrics, ready.compare) == (example.measure.metrics, example.compare)


def test_every_example_is_a_plan(examples: Path) -> None:
    plans = {path.stem: load_plan(path).plan for path in (examples / "plans").glob("*.toml")}
    assert {"table2", "ablation", "rounds", "embedded"} <= plans.keys()
    for name, plan in plans.items():
        arms = arms_of(plan)
        assert pairs_of(plan.compare, arms), name
        assert plan.name == name


def test_every_plan_that_ships_is_one_and_the_second_model_has_to_be_named() -> None:
    for name in READY:
        models = ["m", "n"] if name == "second-model" else []
        arms = arms_of(load_plan(name, Given(venue="iclr-2025", models=models)).plan)
        assert len(arms) > 1, name
        assert SECOND not in repr(arms)
    checked = next(
        arm for arm in arms_of(load_plan("second-model", Given(venue="v", models=["m", "n"])).plan) if arm.model_for
    )
    assert (checked.model, checked.model_for) == ("m", {"checker": "n"})
    with pytest.raises(SettingsError, match="compares two models, and 1 is named"):
        load_plan("second-model", Given(models=["m"]))
    with pytest.raises(SettingsError, match="more than two --model"):
        load_plan("second-model", Given(models=["m", "n", "o"]))
