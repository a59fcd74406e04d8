"""The short papers of the plan for the embedded model: their script makes the tables, and flaws are where listed."""

from __future__ import annotations

import random
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

PLANTED = ("the best dictionary saves 7.2 points", "can be used for logs of any format with the same benefit")


@pytest.fixture(scope="module")
def notes() -> Path:
    return Path(__file__).parents[3] / "examples" / "notes"


@pytest.fixture(scope="module")
def measure(notes: Path) -> ModuleType:
    spec = spec_from_file_location("notes_measure", notes / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(text: str) -> list[list[float]]:
    """The numbers of each line of the table but its head, those of the first column included."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", line)] for line in lines]


def test_the_table_of_compression_is_what_its_script_makes(notes: Path, measure: ModuleType) -> None:
    draw = random.Random(7)
    known = [measure._json(number, draw) for number in range(measure.RECORDS)]
    records = [measure._json(measure.RECORDS + number, draw) for number in range(measure.RECORDS)]
    for group, *shares in rows((notes / "compression.md").read_text()):
        made = [measure.share(records, int(group), b"\n".join(known[:size])) for size in (0, 1, 10, 100)]
        assert made == pytest.approx(shares, abs=0.3)


def test_a_row_of_the_table_of_filters_is_what_its_script_makes(notes: Path, measure: ModuleType) -> None:
    row = next(row for row in rows((notes / "filters.md").read_text()) if row[0] == 1_000)
    assert round(measure.false_positives(1_000, 20, measure.double), 3) == row[4]


def test_the_planted_flaws_are_in_the_text_and_in_the_list(notes: Path) -> None:
    text, listed = ((notes / name).read_text() for name in ("compression.md", "README.md"))
    for words in PLANTED:
        assert words in re.sub(r"\s+", " ", text)
        assert words in listed
