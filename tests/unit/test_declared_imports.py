"""What the package imports, its metadata names: an environment made from nothing has it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What others of the list bring along and are made of.
BROUGHT = {
    "anthropic": "langchain-anthropic",
    "google": "langchain-google-genai",
    "huggingface_hub": "transformers",
    "ollama": "langchain-ollama",
    "openai": "langchain-openai",
    "pydantic_core": "pydantic",
    "requests": "openreview-py",
}


def imported(path: Path) -> Iterator[str]:
    """The top-level names of a file's imports, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_every_library_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    declared = {re.split(r"[\[<>=!~; ]", one)[0].lower().replace("_", "-") for one in wanted}
    known = packages_distributions()
    names = {name for path in (ROOT / "referee").rglob("*.py") for name in imported(path)}
    missing = {
        name
        for name in names - sys.stdlib_module_names - {"referee"}
        if not declared & {one.lower().replace("_", "-") for one in (*known.get(name, ()), BROUGHT.get(name, name))}
    }
    assert missing == set()
