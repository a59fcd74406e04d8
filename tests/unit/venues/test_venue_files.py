"""Venue files, their mistakes, and what they borrow from each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import VenueError
from referee.venues import load_venue
from referee.venues.files import read_venue_file

GOOD = """
id = "mine-2026"
name = "My Workshop 2026"
overall = "rating"
accept_at = 2

[provenance]
checked = 2026-11-21

[sources]
page = { title = "The call", url = "https://example.org/call" }

[llm_policy]
status = "unknown"
sentence = "No rule was found."
applies_to = "reviewers"
fact = { confidence = "official", sources = ["page"] }

[[fields]]
name = "review"
kind = "text"
asks = "Say what you think."
fact = { confidence = "official", sources = ["page"] }

[[fields]]
name = "rating"
kind = "score"
aspect = "overall"
asks = "Rate it."
options = [{ value = 2, label = "accept" }, { value = 1, label = "reject" }]
fact = { confidence = "official", sources = ["page"] }
"""

MISTAKES = [
    ("not TOML", 'name = "My', "name = My", "not valid TOML"),
    ("missing key", 'id = "mine-2026"\n', "", "id is missing"),
    ("unknown key, near", "accept_at = 2", "acept_at = 2", "acept_at is not a key of a venue file (did you mean 'acc"),
    (
        "unknown key in a field",
        'asks = "Say',
        'ask = "Say',
        "fields.review.ask is not a key of a venue file (did you mean 'asks'?); fields.review.asks is missing",
    ),
    ("unknown key in an option", 'label = "reject"', 'lable = "reject"', "fields.rating.options[1].lable is not a key"),
    ("bad id", '"mine-2026"', '"Mine 2026"', "id is 'Mine 2026': "),
    ("bad kind", 'kind = "text"', 'kind = "essay"', "fields.review.kind is 'essay': "),
    ("boolean value", "value = 1,", "value = true,", "fields.rating.options[1].value is True, which is neither"),
    ("NaN value", "value = 1,", "value = nan,", "fields.rating.options[1].value is nan, which is neither"),
    ("word as score", "value = 1,", 'value = "one",', "fields.rating does not hold together"),
    ("value twice", "value = 1,", "value = 2,", "offers a value twice"),
    ("score without options", 'options = [{ value = 2, label = "accept" }, ', "# ", "needs options"),
    ("no aspect", 'aspect = "overall"', "", "needs an aspect"),
    ("overall of no field", 'overall = "rating"', 'overall = "rate"', "overall 'rate' is not one of its score fields"),
    ("threshold off scale", "accept_at = 2", "accept_at = 3", "accept_at 3.0 is not a value of 'rating'"),
    ("field twice", 'name = "review"', 'name = "rating"', "has a field twice"),
    (
        "source not listed",
        'sources = ["page"] }\n\n[[',
        'sources = ["blog"] }\n\n[[',
        "cites sources it does not list: b",
    ),
    ("unknown scale", "options = [{ value = 2", 'scale = "spc9" # ', "fields.rating.scale is 'spc9'"),
    ("scale of no name", "options = [{ value = 2", "scale = 4 # ", "fields.rating.scale is 4, which is not a shared"),
    ("scale and options", "options = [{", 'scale = "excellent-to-poor"\noptions = [{', "both 'scale' and 'options'"),
    ("threshold is NaN", "accept_at = 2", "accept_at = nan", "accept_at is nan: "),
    ("sources is no table", "[sources]\npage = {", "sources = 4\n[other]\npage = {", "provenance.sources is not a key"),
    (
        "source is a word",
        'page = { title = "The call", url = "https://example.org/call" }',
        'page = "x"',
        "sources.page is",
    ),
    ("fields is no list", "[[fields]]", "[fields]", "not valid TOML"),
    ("string without label", 'asks = "Rate', 'as_string = true\nasks = "Rate', None),
    ("string without label", ', label = "reject"', ', means = "no"', None),
]


def _write(folder: Path, text: str, name: str = "mine-2026.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_is_read(tmp_path: Path) -> None:
    form = read_venue_file(_write(tmp_path, GOOD))
    assert (form.id, form.field("rating").options[1].label) == ("mine-2026", "reject")


def test_toml_and_json_make_the_same_form(tmp_path: Path) -> None:
    form = read_venue_file(_write(tmp_path, GOOD))
    again = read_venue_file(_write(tmp_path, form.model_dump_json(), "mine-2026.json"))
    assert again == form


def test_a_shared_scale_fills_the_options(tmp_path: Path) -> None:
    text = GOOD.replace("options = [{ value = 2", 'scale = "excellent-to-poor" # ')
    form = read_venue_file(_write(tmp_path, text))
    assert [(o.value, o.label) for o in form.field("rating").options] == [
        (4, "excellent"),
        (3, "good"),
        (2, "fair"),
        (1, "poor"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"), [m[1:] for m in MISTAKES if m[3]], ids=[m[0] for m in MISTAKES if m[3]]
)
def test_a_mistake_is_told_with_file_place_and_cause(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in GOOD
    path = _write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(VenueError) as caught:
        read_venue_file(path)
    assert says in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert "pydantic" not in str(caught.value)


def test_a_string_field_needs_labels(tmp_path: Path) -> None:
    text = GOOD
    for _, old, new, says in MISTAKES:
        text = text if says else text.replace(old, new)
    with pytest.raises(VenueError, match="every option needs a label"):
        read_venue_file(_write(tmp_path, text))


def test_several_mistakes_are_told_together(tmp_path: Path) -> None:
    text = GOOD.replace('kind = "text"', 'kind = "essay"').replace('status = "unknown"', 'status = "maybe"')
    with pytest.raises(VenueError, match=r"fields\.review\.kind is 'essay': .*; llm_policy\.status is 'maybe': "):
        read_venue_file(_write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("v.toml", b"\xff\xfe\x00", "not UTF-8"),
        ("v.json", b"[1, 2]", "no table of keys"),
        ("v.json", b"[" * 100_000, "nested too deeply"),
        ("v.json", b'{"id": ', "not valid JSON"),
        ("v.json", b"{}", "id is missing; name is missing; fields is missing; and 3 more."),
        ("v.txt", b"id = 1", "neither TOML nor JSON"),
        ("v.toml", b"fields = 3", "fields is 3, where a list belongs"),
        ("v.toml", b"fields = [3]", "fields[0] is 3, where a table of keys belongs"),
    ],
)
def test_files_that_are_no_venue_files(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(VenueError) as caught:
        read_venue_file(path)
    assert says in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(VenueError, match="does not exist"):
        read_venue_file(tmp_path / "none.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(VenueError, match="cannot be read"):
        read_venue_file(tmp_path / "folder.toml")


def test_a_stored_form_survives_json(tmp_path: Path) -> None:
    data = json.loads(read_venue_file(_write(tmp_path, GOOD)).model_dump_json())
    data["llm_policy"]["fact"]["sorces"] = []
    with pytest.raises(VenueError, match=r"llm_policy\.fact\.sorces is not a key .*did you mean 'sources'"):
        read_venue_file(_write(tmp_path, json.dumps(data), "v.json"))


def test_the_example_of_the_docs_is_a_form(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "venues.md").read_text(encoding="utf-8")
    example = page[page.index("    schema_version = 1") : page.index("Keys of a field:")]
    text = "\n".join(line.removeprefix("    ") for line in example.splitlines())
    assert read_venue_file(_write(tmp_path, text)).id == "my-workshop-2026"


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
