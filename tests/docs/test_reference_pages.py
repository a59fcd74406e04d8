"""The pages name everything of a kind that there is: keys, flags, errors, decisions, pages."""

from __future__ import annotations

import itertools
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

from .pages import ROOT, anchors, headings, links, prose

DOCS = ROOT / "docs"
REVIEW = (DOCS / "review.md").read_text(encoding="utf-8")
PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
INDEX = Path("docs/README.md")
PAGES = sorted(page.relative_to(ROOT) for page in DOCS.rglob("*.md"))


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


def test_every_page_is_once_below_a_door() -> None:
    """Each door of the documentation is a section; a page is linked from one, once, with a line that describes it."""
    parts = re.split(r"^## (.+)$", prose(INDEX), flags=re.MULTILINE)
    assert parts[1::2] == ["Author", "Researcher", "Operator and developer"]
    assert links(parts[0]) == []
    below = [link for part in parts[2::2] for link in links(part) if not link.startswith("../")]
    entries = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", prose(INDEX), re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page != ROOT / INDEX]
    assert sorted(below) == sorted(entries) == sorted(pages)


def test_every_door_says_where_to_start() -> None:
    doors = re.split(r"^## .+$", prose(INDEX), flags=re.MULTILINE)[1:]
    assert len(doors) == 3
    for door in doors:
        start, first = door.split("\n\n")[1], re.findall(r"^- \[([^]]+)\]", door, re.MULTILINE)[0]
        assert start.startswith(f"Start here: read *{first}*")
        assert re.search(r"`referee [a-z]+[^`]*`", start)


def test_the_index_calls_pages_by_their_titles() -> None:
    entries = re.findall(r"^- \[([^]]+)\]\(([^)]+)\)", prose(INDEX), re.MULTILINE)
    titles = [(headings(Path("docs") / page)[0][1], page) for _, page in entries]
    assert [(text.replace("`", ""), page) for text, page in entries] == titles


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_has_one_short_title(page: Path) -> None:
    found = headings(page)
    assert found[0][0] == 1
    assert [text for level, text in found if level == 1] == [found[0][1]]
    assert len(found[0][1].split()) <= 5


@pytest.mark.parametrize("page", [*(p.relative_to(ROOT) for p in ROOT.glob("*.md")), *PAGES], ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    assert [link for link in links(prose(page)) if not leads_somewhere(link, page)] == []


def leads_somewhere(link: str, page: Path) -> bool:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_the_page_of_commands_has_every_command() -> None:
    """Each row calls a command that there is, with options it has, in at most twenty words, and links its page."""
    root: Any = get_command(app)
    there = dict(tree_of_commands(root))
    rows = re.findall(r"^\| `referee ([^`]+)` \| (.+) \| \[[^]]+\]\(([a-z_-]+\.md)\) \|$", COMMANDS, re.MULTILINE)
    assert len(rows) == COMMANDS.count("| `referee ")
    called = {}
    for shown, line, _ in rows:
        name = " ".join(itertools.takewhile(lambda word: re.fullmatch(r"[a-z-]+", word), shown.split(" -")[0].split()))
        called[name] = shown
        assert set(re.findall(r"--[a-z-]+", shown)) <= there.get(name, set()), shown
        assert len(line.split()) <= 20, line
    assert set(called) == set(there)


def tree_of_commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Each command by its whole name, with its flags; a group is no command."""
    for name, child in getattr(command, "commands", {}).items():
        yield from tree_of_commands(child, (*path, name))
    if not hasattr(command, "commands"):
        yield " ".join(path), {flag for p in command.params for flag in p.opts}


def test_the_glossary_is_alphabetical_and_has_one_line_a_term() -> None:
    entries = re.findall(r"^- (.+)$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    terms = [re.fullmatch(r"\*\*([A-Z][A-Za-z -]+)\*\*: .+\.", entry) for entry in entries]
    assert [entry for entry, term in zip(entries, terms, strict=True) if term is None] == []
    names = [term[1].lower() for term in terms if term]
    assert names == sorted(set(names))


def test_the_review_page_begins_with_what_is_enough_in_a_hurry() -> None:
    first = REVIEW.split("\n## ")[1]
    assert first.startswith("In a hurry\n")
    assert len(first.split()) <= 150
    for needed in ("pip install", "--model", "--max-cost", "estimate", "referee open RUN", "--resume RUN"):
        assert needed in first


def test_the_layers_are_the_ones_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (c["layers"] for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    drawn = " > ".join(layers).replace("referee.", "")
    assert drawn in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
