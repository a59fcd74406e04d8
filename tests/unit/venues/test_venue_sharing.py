"""Forms that take fields or guidelines from another venue."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues import load_venue
from referee.venues.files import read_venue_file

HEAD = """
id = "mine-2026"
name = "My Workshop 2026"
overall = "rating"

[provenance]
checked = 2026-11-21

[sources]
page = { title = "The call" }

[llm_policy]
status = "unknown"
sentence = "No rule was found."
applies_to = "reviewers"
fact = { confidence = "official", sources = ["page"] }
"""
FIELDS = '[fields_as]\nvenue = "iclr-2025"\n'
MINE = '{ confidence = "memory", sources = ["page"], note = "Carried over." }'


def _read(folder: Path, text: str, name: str = "mine-2026") -> object:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return read_venue_file(path)


def test_a_whole_form_is_borrowed_with_its_sources(tmp_path: Path) -> None:
    form, lender = _read(tmp_path, HEAD + FIELDS), load_venue("iclr-2025")
    assert form.fields == lender.fields
    assert form.guidelines == ()
    assert set(form.sources) == {"page", *(key for field in lender.fields for key in field.fact.sources)}


def test_a_fact_of_the_borrower_stands_for_all(tmp_path: Path) -> None:
    form = _read(tmp_path, f"{HEAD}{FIELDS}fact = {MINE}\nwithout = ['code_of_conduct']\n")
    assert {field.fact.note for field in form.fields} == {"Carried over."}
    assert set(form.sources) == {"page"}
    assert [field.name for field in form.fields] == [f.name for f in load_venue("iclr-2025").fields][:-1]


def test_listed_fields_are_the_form_and_change_what_they_say(tmp_path: Path) -> None:
    own = (
        '[[fields]]\nname = "rating"\nscale = "openreview-rating"\nas_string = true\n'
        f'[[fields]]\nname = "extra"\nkind = "text"\nasks = "More."\nfact = {MINE}\n[[fields]]\nname = "summary"\n'
    )
    form, lender = _read(tmp_path, HEAD + FIELDS + own), load_venue("iclr-2025")
    assert [field.name for field in form.fields] == ["rating", "extra", "summary"]
    assert (len(form.field("rating").options), form.field("rating").asks) == (10, lender.field("rating").asks)
    assert form.field("summary") == lender.field("summary")


def test_guidelines_are_borrowed_before_the_files_own(tmp_path: Path) -> None:
    own = f'[[guidelines]]\nid = "own"\nkind = "objective"\ntext = "Be brief."\nfact = {MINE}\n'
    text = f'{HEAD}{FIELDS}[guidelines_as]\nvenue = "arr"\nfact = {MINE}\nwithout = ["specific"]\n{own}'
    form = _read(tmp_path, text)
    lent = [guideline.id for guideline in load_venue("arr").guidelines if guideline.id != "specific"]
    assert [guideline.id for guideline in form.guidelines] == [*lent, "own"]


def test_a_file_beside_goes_before_a_bundled_one_and_may_lean_on_it(tmp_path: Path) -> None:
    own = HEAD.replace("mine-2026", "iclr-2025")
    _read(tmp_path, own + FIELDS + f"fact = {MINE}\n", "iclr-2025")
    form = _read(tmp_path, HEAD + FIELDS)
    assert form.field("rating").fact.note == "Carried over."


def test_forms_that_share_are_equal_where_nothing_differs() -> None:
    assert load_venue("iclr-2017").field("review").options == load_venue("iclr-2019").field("review").options
    assert load_venue("corl-2022").fields == load_venue("corl-2021").fields
    assert load_venue("neurips-db-2023").fields == load_venue("neurips-db-2022").fields


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[fields_as]\nvenue = "none-2000"\n', "borrows from 'none-2000', which is unknown"),
        ('[fields_as]\nvenue = "mine-2026"\n', "borrows from 'mine-2026', which is unknown"),
        ('[fields_as]\nvenue = "../secret"\n', "fields_as.venue is '../secret'"),
        ("[fields_as]\n", "fields_as.venue is missing"),
        ('fields_as = "iclr-2025"\n', "fields_as is 'iclr-2025'"),
        (f'{FIELDS}with_out = ["x"]\n', "fields_as.with_out is not a key of a venue file (did you mean 'without'?)"),
        (f'{FIELDS}without = ["x"]\n', "leaves out 'x', which 'iclr-2025' does not have"),
        ('[guidelines_as]\nvenue = "arr"\nwithout = ["x"]\n', "leaves out 'x', which 'arr' does not have"),
        (f"{FIELDS}[[fields]]\nname = 'new'\n", "fields.new.kind is missing"),
        (f"{FIELDS}[[fields]]\nname = 'rating'\nasp = 'x'\n", "fields.rating.asp is not a key"),
        (f"{FIELDS}[[fields]]\nname = 'rating'\nfact = {{ confidence = 'raw', sources = 3 }}\n", "fact.sources is 3"),
        ("fields = 3\n" + FIELDS, "fields is 3, where a list belongs"),
        ("guidelines = 3\n[guidelines_as]\nvenue = 'arr'\n" + FIELDS, "guidelines is 3, where a list belongs"),
    ],
)
def test_borrowing_wrongly_is_told(tmp_path: Path, text: str, says: str) -> None:
    top, _, rest = text.partition("[") if not text.startswith("[") else ("", "", text[1:])
    with pytest.raises(VenueError) as caught:
        _read(tmp_path, top + HEAD + ("[" + rest if rest else ""))
    assert says in caught.value.message
    assert "mine-2026.toml" in caught.value.message
    assert caught.value.hint


def test_one_source_key_for_two_sources_is_told(tmp_path: Path) -> None:
    text = HEAD.replace("[sources]", '[sources]\ntranscript = { title = "Mine" }')
    with pytest.raises(VenueError, match="source 'transcript' is another one in 'iclr-2025'"):
        _read(tmp_path, text + FIELDS)
    assert _read(tmp_path, f"{text}{FIELDS}fact = {MINE}\n")


def test_two_files_that_borrow_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "other-2026.toml").write_text(
        HEAD.replace("mine", "other") + '[fields_as]\nvenue = "mine-2026"\n', encoding="utf-8"
    )
    with pytest.raises(VenueError, match="borrows from it in turn"):
        _read(tmp_path, HEAD + '[fields_as]\nvenue = "other-2026"\n')


def test_a_mistake_in_the_lender_names_the_lender(tmp_path: Path) -> None:
    (tmp_path / "other-2026.toml").write_text("id = 3", encoding="utf-8")
    with pytest.raises(VenueError, match=r"other-2026\.toml"):
        _read(tmp_path, HEAD + '[fields_as]\nvenue = "other-2026"\n')
