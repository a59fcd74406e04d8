"""Which models judge: named one by one, or the setting's."""

from __future__ import annotations

import pytest

from referee.errors import SettingsError
from referee.llm.models import check_models, judge_role, open_models
from referee.settings import load_settings
from referee.testing import FakeServer


def test_judges_are_roles_of_their_own() -> None:
    assert [judge_role(number) for number in (1, 2, 3)] == ["judge", "judge-2", "judge-3"]
    settings = load_settings({"models.base_url": "http://127.0.0.1:1/v1"}, env={})
    specs = check_models(settings, judges=["a", "b"])
    assert {role: spec.name for role, spec in specs.items()} == {"judge": "a", "judge-2": "b"}


@pytest.mark.parametrize(("chosen", "name"), [({}, "local"), ({"models.default": "local:qwen3-4b"}, "qwen3-4b")])
def test_without_names_the_settings_judge_is_meant(chosen: dict[str, str], name: str) -> None:
    assert check_models(load_settings(chosen, env={}), judges=[])["judge"].name == name
    named = load_settings({**chosen, "models.roles": {"judge": "local:qwen3-1.7b"}}, env={})
    assert check_models(named, judges=[])["judge"].name == "qwen3-1.7b"


def test_a_review_does_not_look_at_the_judge() -> None:
    settings = load_settings({"models.roles": {"judge": "openai:some-model"}}, env={})
    assert "judge" not in check_models(settings)
    with pytest.raises(SettingsError, match="needs a key"):
        check_models(settings, judges=[])


@pytest.mark.parametrize("judges", [["m", "m"], ["m", "openai:m"], ["a", "m", " m"]])
def test_a_judge_named_twice_is_refused_however_it_is_written(judges: list[str]) -> None:
    settings = load_settings({"models.base_url": "http://127.0.0.1:1/v1"}, env={})
    with pytest.raises(SettingsError, match="is named twice") as caught:
        check_models(settings, judges=judges)
    assert "--repeats" in caught.value.hint


@pytest.mark.parametrize("role", ["juge", "judge-2"])
def test_a_role_that_nobody_plays_is_refused_with_the_nearest(role: str) -> None:
    settings = load_settings({"models.roles": {role: "local"}}, env={})
    with pytest.raises(SettingsError, match="there is no role") as caught:
        check_models(settings, judges=[])
    assert "Did you mean 'judge'?" in caught.value.hint


async def test_only_the_judges_are_opened() -> None:
    with FakeServer(models=["a", "b"], context_tokens=9000) as server:
        settings = load_settings({"models.base_url": server.base_url}, env={})
        models = await open_models(settings, lambda event: None, judges=["a", "b"])
        assert list(models.by_role) == ["judge", "judge-2"]
        assert models["judge-2"].context_tokens == 9000
        await models.aclose()
