"""What the package imports, its metadata names: an environment made from nothing has it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# The one library that comes with another at an exact version, which that other sets.
BROUGHT = {"pydantic_core": "pydantic"}


def imported(path: Path) -> Iterator[str]:
    """The top-level names of a file's imports, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def requirements() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return [one for one in [*project["dependencies"], *extras] if not one.startswith("referee[")]


def test_every_library_has_a_lowest_and_a_highest_version() -> None:
    """A new major version of a library changes nothing for users before it has been tried here."""
    bounded = re.compile(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?(==[\w.]+|>=[\w.]+,<[\w.]+)")
    assert [one for one in requirements() if not bounded.fullmatch(one)] == ["setuptools<81"]


def test_the_tested_versions_are_in_the_ranges() -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    tested = {canonicalize_name(name): version for name, version in pinned.items()}
    for one in map(Requirement, requirements()):
        if version := tested.get(canonicalize_name(one.name)):
            assert one.specifier.contains(version), f"{one} leaves out {version}"


@pytest.mark.slow
def test_every_library_is_declared() -> None:
    declared = {canonicalize_name(Requirement(one).name) for one in requirements()}
    known = packages_distributions()
    names = {name for path in (ROOT / "referee").rglob("*.py") for name in imported(path)}
    missing = {
        name
        for name in names - sys.stdlib_module_names - {"referee"}
        if not declared & {canonicalize_name(one) for one in (*known.get(name, ()), BROUGHT.get(name, name))}
    }
    assert missing == set()
