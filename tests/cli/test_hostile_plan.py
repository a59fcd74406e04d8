"""Plans that came from elsewhere: text that no parser takes, patterns of files, and addresses for keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.api.experiments.units import settings_of
from referee.errors import SettingsError
from referee.experiments.arms import arms_of
from referee.experiments.plan_file import Given, load_plan
from referee.settings import load_settings
from tests.support import FakeServer

from .command import Referee
from .experiment_sets import write_papers

KEY = "rk-0123456789abcdefghij"


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    write_papers(workplace / "papers", (1, 2))
    return workplace


TEXTS = {
    "deep": ("x = " + "[" * 5_000, "nested too deeply"),
    "deep keys": (".".join("a" * 5_000) + " = 1", "nested too deeply"),
    "digits": ("seeds = [" + "1" * 5_000 + "]", "too many digits"),
    "hexadecimal digits": ("seeds = [0x" + "f" * 5_000 + "]", "too many digits"),
    "infinity": ("[budget]\nmax_cost = inf", "unusable value"),
    "a pattern": ('[papers]\nfiles = ["**["]', "cannot be looked for"),
    "all of the machine": ('[papers]\nfiles = ["/proc/**/*"]', "papers|plan"),
    "an absolute pattern": ('[papers]\nfiles = ["papers/*/../../**x/*"]', "papers|plan"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "words"), TEXTS.values(), ids=TEXTS)
def test_what_no_parser_takes_is_named(
    place: Path, referee: Referee, server: FakeServer, text: str, words: str
) -> None:
    arms = '\n[[arms]]\nname = "a"\nvenue = "iclr-2020"\nmodel = "m"\n'
    (place / "odd.toml").write_text(text + arms)
    done = referee("experiment", "odd.toml", "--base-url", server.base_url, "--dry-run")
    assert re.search(words, done.err), done.err
    assert "Traceback" not in done.err
    assert done.code == 2
    assert not server.log.calls()


PLAN = """
[papers]
files = ["papers/*.md"]

[measure]
metrics = ["tone"]
judges = ["judge"]

[[arms]]
name = "first"
venue = "iclr-2020"
strategy = "single"
model = "a"
"""


def redirected(place: Path, address: str) -> str:
    (place / "redirected.toml").write_text(f'{PLAN}settings = {{"models.base_url" = "{address}"}}\n')
    return "redirected.toml"


def test_a_plan_does_not_say_where_a_key_goes(
    place: Path, referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", KEY)
    with FakeServer() as elsewhere:
        plan = redirected(place, elsewhere.base_url)
        done = referee("experiment", plan, "--base-url", server.base_url, "--yes")
        assert done.code == 2
        assert "REFEREE_API_KEY would be sent" in done.err
        assert elsewhere.base_url in done.err
        assert KEY not in done.err
        assert not list(elsewhere.log)
    assert not server.log.calls()


def settled(place: Path, address: str, **models: str) -> None:
    loaded = load_plan(place / redirected(place, address), Given(models=()))
    settings = load_settings({f"models.{name}": value for name, value in models.items()}, env={})
    for arm in arms_of(loaded.plan):
        settings_of(arm, settings)


def test_a_key_goes_where_the_user_bound_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = "http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"
    settled(place, there, base_url=here)  # without a key there is none to send
    monkeypatch.setenv("REFEREE_API_KEY", KEY)
    settled(place, there, base_url=there)
    settled(place, there, base_url=here, key_hosts=f"http://x.example,{there}")
    for bound in ({"base_url": here}, {}, {"base_url": "https://127.0.0.1:10/v1"}):
        with pytest.raises(SettingsError, match="would be sent"):
            settled(place, there, **bound)


def test_a_plan_does_not_bind_a_key_itself(place: Path) -> None:
    (place / "binding.toml").write_text(f'{PLAN}settings = {{"models.key_hosts" = "http://x"}}\n')
    (first, *_) = arms_of(load_plan(place / "binding.toml").plan)
    with pytest.raises(SettingsError, match="says where your key may go"):
        settings_of(first, load_settings(env={}))


def test_a_login_for_mlflow_goes_to_the_users_server_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "logged.toml").write_text('[tracking]\nmlflow = "http://127.0.0.1:9"\n' + PLAN)
    assert load_plan(place / "logged.toml").plan.tracking.mlflow == "http://127.0.0.1:9"
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "a-token-of-mine")
    with pytest.raises(SettingsError, match="would send MLFLOW_TRACKING_TOKEN") as refused:
        load_plan(place / "logged.toml")
    assert "a-token" not in str(refused.value)
    assert load_plan(place / "logged.toml", Given(mlflow="http://127.0.0.1:9")).plan.tracking.mlflow
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9/")
    assert load_plan(place / "logged.toml").plan.tracking.mlflow


@pytest.mark.parametrize("text", ["x = " + "[" * 5_000, "calls.max_tries = " + "1" * 5_000])
def test_a_settings_file_that_no_parser_takes_is_named(place: Path, referee: Referee, text: str) -> None:
    (place / "referee.toml").write_text(text)
    done = referee("review", "papers/p1.md", "--venue", "iclr-2020")
    assert done.code == 2
    assert "referee.toml" in done.err
    assert "Traceback" not in done.err
