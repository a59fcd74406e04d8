"""Limits that cannot be used are refused where they are typed, whichever way a run is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.api import RunOptions
from referee.errors import SettingsError
from tests.support import FakeServer

from .command import Referee
from .eval_sets import install
from .experiment_sets import two_arms, write_papers
from .refusals import on

WRONG = ["nan", "inf", "-1"]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("way", ["option", "file", "environment", "experiment", "plan"])
def test_a_limit_that_is_none_is_refused(
    referee: Referee,
    workplace: Path,
    paper: Path,
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    wrong: str,
) -> None:
    write_papers(workplace / "papers", (1,))
    (workplace / "plan.toml").write_text(two_arms("papers/*.md"))
    review = ["review", str(paper), "--venue", "arr", "--strategy", "single", *on(server), "--out", "run"]
    experiment = ["experiment", "plan.toml", "--base-url", server.base_url, "--out", "run"]
    arguments = experiment if way in ("experiment", "plan") else review
    if way in ("option", "experiment"):
        arguments.append(f"--max-cost={wrong}")
    elif way == "file":
        (workplace / "referee.toml").write_text(f"[budget]\nmax_cost = {wrong}\n")
    elif way == "environment":
        monkeypatch.setenv("REFEREE_BUDGET__MAX_COST", wrong)
    else:
        (workplace / "plan.toml").write_text(two_arms("papers/*.md") + f"[budget]\nmax_cost = {wrong}\n")
    done = referee(*arguments)
    assert done.code == 2, done.err
    assert server.log.calls(endpoint="chat") == []
    assert "max_cost" in done.err or "max-cost" in done.err
    assert not (workplace / "run").exists()


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("resume", [None, "run"])
def test_a_limit_that_is_none_is_refused_in_python(wrong: str, resume: str | None) -> None:
    with pytest.raises(SettingsError, match="max_cost"):
        RunOptions(resume=resume, max_cost=float(wrong)).settled()


def test_an_experiment_keeps_the_limit_of_the_settings(
    referee: Referee, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_papers(workplace / "papers", (1,))
    (workplace / "plan.toml").write_text(two_arms("papers/*.md"))
    install(monkeypatch)
    monkeypatch.setenv("REFEREE_BUDGET__MAX_TOKENS", "10")
    done = referee("experiment", "plan.toml", "--base-url", server.base_url, "--out", "run", "--yes")
    assert done.code == 3, done.err
    assert server.log.calls(endpoint="chat") == []
