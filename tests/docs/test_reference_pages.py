"""The pages name everything of a kind that there is: keys, flags, errors, decisions, pages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.main import get_command

from referee import cli, errors
from referee.cli.app import app
from referee.schemas.review import Review, ScoreRecord
from referee.schemas.run import CallRecord, RunRecord

from .pages import ROOT

DOCS = ROOT / "docs"
REVIEW = (DOCS / "review.md").read_text(encoding="utf-8")
PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("record", [Review, ScoreRecord, RunRecord, CallRecord])
def test_every_key_of_a_run_folder_is_described(record: type[BaseModel]) -> None:
    assert [key for key in record.model_fields if f"`{key}`" not in REVIEW and key != "field"] == []


def test_every_flag_of_review_is_described() -> None:
    command: Any = get_command(app)
    flags = {flag for p in command.commands["review"].params for flag in p.opts if flag.startswith("--")}
    described = set(re.findall(r"^\| `(--[a-z-]+)` \|", REVIEW, re.MULTILINE))
    assert flags - {"--help"} == described


def test_every_exit_code_is_described() -> None:
    codes = {value for name, value in vars(cli).items() if name.startswith("EXIT_")}
    assert {0, *codes} == {int(code) for code in re.findall(r"^\| (\d+) \|", REVIEW, re.MULTILINE)}


def tree(error: type[errors.RefereeError], depth: int = 0) -> Iterator[tuple[int, str]]:
    yield depth, error.__name__
    for child in error.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child, depth + 1)


def test_the_tree_of_errors_is_the_one_in_the_code() -> None:
    drawn = re.findall(r"^([│├└─ ]*)([A-Z]\w+)", PYTHON.split("```text")[1].split("```")[0], re.MULTILINE)
    assert {(len(lines) // 4, name) for lines, name in drawn} == set(tree(errors.RefereeError))


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *DOCS.rglob("*.md")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_layers_are_the_ones_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (c["layers"] for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    drawn = " > ".join(layers).replace("referee.", "")
    assert drawn in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
