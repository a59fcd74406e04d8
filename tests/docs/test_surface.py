"""What the package shows to the outside: its names, its help, and nothing of the places it was made in."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

import referee
from referee.cli import main
from referee.cli.app import app

from .pages import ROOT

COMMANDS = [
    "",
    "app",
    "arena",
    "arena calibrate",
    "arena run",
    "arena score",
    "batches",
    "collect",
    "collect openreview",
    "data",
    "data convert",
    "data describe",
    "data index",
    "data load",
    "data split",
    "data validate",
    "detect",
    "detect anchors",
    "detect calibrate",
    "detect check",
    "detect evaluate",
    "detect generate",
    "detect score",
    "doctor",
    "eval",
    "experiment",
    "merge",
    "models",
    "models fetch",
    "models list",
    "models remove",
    "open",
    "plant",
    "profile",
    "prompts",
    "prompts check",
    "prompts copy",
    "prompts diff",
    "prompts list",
    "prompts show",
    "references",
    "rescore",
    "review",
    "show",
    "strategies",
    "venue",
    "venue compile",
    "venue diff",
    "venue diff-prompts",
    "venue export",
    "venue list",
    "venue new",
    "venue refine",
    "venue remove",
    "venue show",
    "verify",
]


def every_command(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    yield " ".join(words), command
    for name, below in getattr(command, "commands", {}).items():
        yield from every_command(below, (*words, name))


def test_the_commands_are_those_that_are_tested_here() -> None:
    assert sorted(name for name, _ in every_command(get_command(app))) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_is_printed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["referee", *command.split(), "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().out
    assert not ended.value.code
    assert printed.startswith(f"Usage: referee {command}".rstrip())
    assert "\x1b" not in printed


def test_every_command_option_and_argument_has_a_text() -> None:
    silent = [
        f"{name} {part.name}"
        for name, command in every_command(get_command(app))
        for part in (command, *command.params)
        if not part.help and part.name != "help"
    ]
    assert silent == []


def test_the_public_names() -> None:
    assert referee.__all__ == [
        "Generation",
        "RunOptions",
        "__version__",
        "arena_calibrate",
        "arena_run",
        "arena_run_sync",
        "arena_score",
        "collect_openreview",
        "collect_openreview_sync",
        "compile_venue",
        "compile_venue_sync",
        "detect_anchors",
        "detect_anchors_sync",
        "detect_calibrate",
        "detect_check",
        "detect_check_sync",
        "detect_evaluate",
        "detect_generate",
        "detect_generate_sync",
        "detect_score",
        "detect_score_sync",
        "evaluate",
        "evaluate_sync",
        "experiment",
        "experiment_sync",
        "load_paper",
        "load_venue",
        "merge",
        "plant",
        "plant_sync",
        "profile",
        "profile_sync",
        "references",
        "references_sync",
        "refine_by_objective",
        "refine_by_objective_sync",
        "refine_prompts",
        "refine_prompts_sync",
        "rescore",
        "review",
        "review_sync",
        "verify",
    ]
    assert dir(referee) == sorted(referee.__all__)
    for name in referee.__all__:
        assert getattr(referee, name)
    with pytest.raises(AttributeError, match="no attribute 'reviews'"):
        referee.reviews  # noqa: B018


@pytest.mark.slow
def test_no_file_names_a_package_registry_or_a_folder_of_somebodys_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: git clone the repository")
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    registries = r"pypi\.(?:org|io)|pythonhosted\.org|npm[j]s"
    foreign = re.compile(rf"{registries}|(?<![\w.])/(?:work|opt/venv|home/\w+|Users/\w+)/".encode())
    files = (ROOT / name for name in names if name)
    held = {str(f.relative_to(ROOT)): foreign.search(f.read_bytes()) for f in files if f.is_file()}
    assert {name: found.group() for name, found in held.items() if found} == {}
