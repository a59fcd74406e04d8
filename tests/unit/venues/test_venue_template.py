"""The venue file that a person fills in, and what is refused of it."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues import load_venue
from referee.venues.template import template_text, unfilled, write_template

PLACES = [
    "name",
    "provenance.unknown[0]",
    "sources.guide.title",
    "sources.guide.url",
    "sources.guide.date",
    "llm_policy.sentence",
    "fields[0].name",
    "fields[0].asks",
    "fields[1].name",
    "fields[1].asks",
    "fields[1].options[0].label",
    "fields[1].options[1].label",
    "guidelines.first-rule.text",
]


def filled(text: str) -> str:
    """What somebody makes of it who writes over each instruction and touches nothing else."""
    count = iter(range(100))
    return re.sub(r'"<fill in: \w[^"]*>"', lambda _: f'"words {next(count)}"', text)


def test_an_unfilled_template_names_all_that_is_to_be_filled_in(tmp_path: Path) -> None:
    path = write_template("mine-2026", tmp_path / "mine-2026.toml")
    with pytest.raises(VenueError, match="is still to be filled in") as caught:
        load_venue(path)
    assert f" is still to be filled in: {', '.join(PLACES)}." in str(caught.value)
    assert "fill in: ..." in caught.value.hint


def test_one_place_left_is_named_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine-2026.toml"
    path.write_text(filled(template_text("mine-2026")).replace('"words 7"', '"<FILL IN: what it wants>"'))
    with pytest.raises(VenueError, match=r"filled in: fields\.words 6\.asks\."):
        load_venue(path)


def test_a_filled_template_is_a_form(tmp_path: Path) -> None:
    path = tmp_path / "mine-2026.toml"
    path.write_text(filled(template_text("mine-2026")), encoding="utf-8")
    form = load_venue(path)
    assert (form.id, form.name, form.overall, form.llm_policy.status) == ("mine-2026", "words 0", None, "unknown")
    assert form.provenance.checked == datetime.now(UTC).date()
    assert [(field.kind, len(field.options)) for field in form.fields] == [("text", 0), ("score", 2)]
    assert [guideline.id for guideline in form.guidelines] == ["first-rule"]


def test_the_lines_in_comments_are_keys_of_a_venue_file(tmp_path: Path) -> None:
    text = filled(template_text("mine-2026"))
    for key in ("year", "overall", "accept_at", "required", "max_chars"):
        assert text.count(f"\n# {key} = ") == 1
        text = text.replace(f"\n# {key} = ", f"\n{key} = ")
    text = text.replace('"words 8"', '"rating"').replace('aspect = "other"', 'aspect = "overall"')
    path = tmp_path / "mine-2026.toml"
    path.write_text(text.replace("accept_at = 4", "accept_at = 2"), encoding="utf-8")
    assert load_venue(path).accept_at == 2
    assert list(unfilled(tomllib.loads(text))) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine-2026.toml"
    path.write_text("mine")
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nowhere.toml")
    for taken in (path, tmp_path / "gone.toml"):
        with pytest.raises(VenueError, match="is there already"):
            write_template("mine-2026", taken)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("out", "said"), [("mine.json", "does not end in .toml"), ("no/such/x.toml", "cannot be written")]
)
def test_a_place_that_takes_no_file_is_refused(tmp_path: Path, out: str, said: str) -> None:
    with pytest.raises(VenueError, match=said):
        write_template("mine-2026", tmp_path / out)
    assert list(tmp_path.iterdir()) == []
