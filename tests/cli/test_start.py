"""How little is imported before a command's help is printed, and that the list of commands is the tree."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from referee.cli.app import COMMANDS, app

HEAVY = {
    "anthropic",
    "chromadb",
    "google",
    "langchain",
    "langchain_anthropic",
    "langchain_core",
    "langchain_google_genai",
    "langchain_openai",
    "langgraph",
    "matplotlib",
    "numpy",
    "openai",
    "openreview",
    "pypdfium2",
    "rustypaper",
    "scipy",
    "starlette",
    "tiktoken",
    "xllamacpp",
}
PROGRAM = """
import sys
from referee.cli import main
try:
    main()
except SystemExit:
    pass
sys.stderr.write("\\n".join(sys.modules))
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage:")
    return set(done.stderr.split())


def test_the_first_help_imports_neither_a_command_nor_pydantic() -> None:
    modules = imported("--help")
    assert not {name for name in modules if name.partition(".")[0] in HEAVY | {"pydantic", "asyncio", "httpx"}}
    ours = {name for name in modules if name.startswith("referee.")}
    assert ours <= {
        "referee.cli",
        "referee.cli.app",
        "referee.cli.devices",
        "referee.cli.exits",
        "referee.cli.interrupt",
        "referee.errors",
        "referee.machine",
        "referee.version",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_commands_help_imports_nothing_that_does_its_work(command: str) -> None:
    modules = imported(command, "--help")
    assert not {name for name in modules if name.partition(".")[0] in HEAVY | {"httpx"}}
    assert not {
        name
        for name in modules
        if name.startswith(("referee.api", "referee.graphs", "referee.papers", "referee.schemas"))
    }


def test_each_line_of_the_help_is_whole_and_belongs_to_a_command() -> None:
    root: Any = get_command(app)
    assert list(root.commands) == list(COMMANDS)
    for name, (_, _, line) in COMMANDS.items():
        assert root.commands[name].name == name
        assert root.commands[name].help
        assert line.endswith(".")
        assert len(line) <= 60
