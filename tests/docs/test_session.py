"""The test of the documentation's commands fails where it should, and says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import blocks, commands, problems
from .session import Session

PAGE = Path("page.md")


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def written(root: Path, *lines: str) -> Path:
    (root / PAGE).write_text("\n".join(lines) + "\n")
    return PAGE


def test_blocks_know_their_place_their_comment_and_their_commands(root: Path) -> None:
    page = written(
        root, "# A", "<!-- output differs -->", "```console", "$ referee venue \\", ">   list", "id", "$ ls", "```"
    )
    (block,) = blocks(page, root)
    assert (block.where, block.comment) == ("page.md:3", "output differs")
    assert [(c.line, c.text, c.shown) for c in commands(block)] == [(4, "referee venue list", ["id"]), (7, "ls", [])]


@pytest.mark.parametrize(
    ("lines", "where", "said"),
    [
        (["$ referee venue show nowhere"], "page.md:2: ", "ended with 2:"),
        (["$ referee venue list", "Utopia 2025"], "page.md:2: ", "does not print ['Utopia']"),
        (["$ make check"], "page.md:2: ", "give the block a reason"),
        (["$ referee venue list | head"], "page.md:2: ", "more than one plain command"),
        (["$ referee venue show x", "$ echo $?", "1"], "page.md:3: ", "does not print ['1']"),
    ],
)
def test_a_command_that_does_something_else_fails(
    root: Path, session: Session, lines: list[str], where: str, said: str
) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        session.play(written(root, "```console", *lines, "```"), root)
    assert str(caught.value).startswith(where)
    assert said in str(caught.value)


def test_an_exit_code_that_is_shown_is_no_failure(root: Path, session: Session) -> None:
    lines = ["```console", "$ referee venue show nowhere", "error: venue", "$ echo $?", "2", "```"]
    session.play(written(root, *lines), root)


def test_a_python_block_that_fails_names_its_line(root: Path, session: Session) -> None:
    page = written(root, "text", "```python", "x = 1", "assert x == 2", "```")
    with pytest.raises(AssertionError) as caught:
        session.play(page, root)
    assert caught.traceback[-1].lineno + 1 == 4
    assert caught.value.__notes__ == ["in the block at page.md:2"]


def test_files_a_page_shows_are_there_for_its_commands(root: Path, session: Session) -> None:
    toml = ["<!-- file: referee.toml -->", "```toml", "colour = 1", "```"]
    session.play(written(root, "```console", "$ referee doctor", "no   settings", "$ echo $?", "1", "```", *toml), root)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["    referee venue list"], "indented"),
        (["```bash", "referee venue list", "```"], "```console"),
        (["<!-- not run: tired -->", "```console", "$ make", "```"], "'tired' is no reason"),
        (["<!-- ci: run -->", "```bash", "referee doctor", "```"], "only README.md"),
        (["```pyhton", "1", "```"], "'pyhton' is not known"),
    ],
)
def test_a_block_cannot_slip_through(root: Path, lines: list[str], said: str) -> None:
    (problem,) = problems(written(root, *lines), root)
    assert said in problem


def test_a_block_with_a_good_reason_is_left_alone(root: Path, session: Session) -> None:
    page = written(root, "<!-- not run: needs a key -->", "```console", "$ nowhere --at all", "```")
    assert list(problems(page, root)) == []
    session.play(page, root)
