"""A named pipe or a device given to a command is refused at once, whichever command it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers import load_paper

from .command import Referee

COMMANDS = [
    ("review", "@", "--venue", "arr"),
    ("review", "paper.md", "--venue=arr", "--guidelines=@"),
    ("references", "@"),
    ("eval", "@"),
    ("eval", "reviews.jsonl", "--papers", "@"),
    ("rescore", "@"),
    ("profile", "@"),
    ("plant", "@"),
    ("experiment", "@"),
    ("merge", "@"),
    ("show", "@"),
    ("open", "@"),
    ("batches", "@"),
    ("arena", "run", "--papers", "@"),
    ("data", "validate", "@"),
    ("data", "describe", "@"),
    ("data", "convert", "@"),
    ("data", "split", "@"),
    ("detect", "score", "@"),
    ("venue", "compile", "@"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words))
@pytest.mark.parametrize("what", ["a named pipe", "a device"])
def test_refused_at_once(referee: Referee, workplace: Path, words: tuple[str, ...], what: str) -> None:
    place = workplace / "odd.pdf"
    if what == "a named pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    outcome = referee(*(word.replace("@", str(place)) for word in words))
    assert outcome.code == 2
    assert f"{str(place)!r} is {what}, and only files and folders are read" in outcome.err
    assert "Save what it gives to a file" in outcome.err


def test_a_paper_that_is_one_is_refused_by_the_reader_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "paper.md")
    (tmp_path / "paper.pdf").symlink_to("/dev/zero")
    for name in ("paper.md", "paper.pdf"):
        with pytest.raises(PaperParseError, match="named pipe, a socket or a device"):
            load_paper(tmp_path / name)
