from pathlib import Path

import pytest

from referee.errors import SettingsError
from referee.settings import changed_settings, load_settings


def test_layers_override_each_other_in_order(tmp_path: Path) -> None:
    file = tmp_path / "referee.toml"
    file.write_text('[models]\ndefault = "openai:from-file"\n[calls]\nconcurrency = 3\nmax_tries = 2\n')
    env = {"REFEREE_MODELS__DEFAULT": "openai:from-env", "REFEREE_CALLS__CONCURRENCY": "4"}

    settings = load_settings({"models.default": "openai:argument"}, file=file, env=env)

    assert settings.models.default == "openai:argument"
    assert settings.calls.concurrency == 4
    assert settings.calls.max_tries == 2
    assert settings.calls.timeout_s == 600


def test_the_file_in_the_working_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(env={}).models.default == "local"
    Path("referee.toml").write_text('[models.roles]\nwriter = "openai:a"\n[models.prices]\n"x" = [1, 2.5]\n')
    settings = load_settings(env={})
    assert settings.models.roles == {"writer": "openai:a"}
    assert settings.models.prices == {"x": (1.0, 2.5)}


@pytest.mark.parametrize(
    ("toml", "env", "named", "offered"),
    [
        ("[calls]\nconcurency = 3\n", {}, "calls.concurency", "calls.concurrency"),
        ("", {"REFEREE_MODELS__DEFAULTS": "x"}, "models.defaults", "models.default"),
        ("colour = 1\n", {}, "colour", "docs/settings.md"),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest(
    tmp_path: Path, toml: str, env: dict[str, str], named: str, offered: str
) -> None:
    file = tmp_path / "referee.toml"
    file.write_text(toml)
    with pytest.raises(SettingsError) as caught:
        load_settings(file=file, env=env)
    assert named in caught.value.message
    assert offered in caught.value.hint


@pytest.mark.parametrize("name", ["api_key", "openai_api_key", "token"])
def test_a_key_in_a_file_is_refused_and_not_repeated(tmp_path: Path, name: str) -> None:
    file = tmp_path / "referee.toml"
    file.write_text(f'[models]\n{name} = "sk-verysecretvalue"\n')
    with pytest.raises(SettingsError, match="keys are not settings") as caught:
        load_settings(file=file, env={})
    assert f"models.{name}" in str(caught.value)
    assert "verysecret" not in str(caught.value)


@pytest.mark.parametrize("key", ["REFEREE_API_KEY", "REFEREE_CACHE_DIR", "REFEREE_CONFIG_DIR"])
def test_reserved_variables_are_no_settings(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    load_settings(env={key: "anything"})


def test_values_out_of_range_name_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"calls\.concurrency"):
        load_settings({"calls.concurrency": 0}, env={})
    with pytest.raises(SettingsError, match=r"budget\.max_cost"):
        load_settings({"budget.max_cost": float("nan")}, env={})


def test_ready_settings_can_be_changed_by_the_same_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ready = load_settings({"calls.concurrency": 3}, env={})
    changed = changed_settings(ready, {"models.default": "openai:a", "budget.max_cost": None})
    assert (changed.models.default, changed.calls.concurrency) == ("openai:a", 3)
    with pytest.raises(SettingsError, match=r"budget\.max_tokens"):
        changed_settings(ready, {"budget.max_tokens": 0})
    with pytest.raises(SettingsError, match="not a setting"):
        changed_settings(ready, {"budget.most": 1})


def test_broken_toml_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(file=tmp_path / "absent.toml", env={})
    broken = tmp_path / "referee.toml"
    broken.write_text("[models\n")
    with pytest.raises(SettingsError, match="not valid TOML"):
        load_settings(file=broken, env={})


def test_steps_to_take_out_come_as_a_list_or_with_commas_and_unknown_ones_get_the_nearest_name() -> None:
    assert load_settings({"review.ablate": ["rules", "card", "rules"]}, env={}).review.ablate == ("card", "rules")
    assert load_settings(env={"REFEREE_REVIEW__ABLATE": "rules, card"}).review.ablate == ("card", "rules")
    assert load_settings(env={}).review.ablate == ()
    with pytest.raises(SettingsError, match=r"'quotation-chek' is no step; did you mean 'quotation-check'"):
        load_settings({"review.ablate": ["quotation-chek"]}, env={})
    with pytest.raises(SettingsError, match=r"'all' is no step; there are blind-check, card"):
        load_settings({"review.ablate": ["all"]}, env={})
    with pytest.raises(SettingsError, match=r"'review\.ablate' has an unusable value 3"):
        load_settings({"review.ablate": 3}, env={})
