"""What a venue file with a mistake is answered with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import VenueError
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
    ("bad id", '"mine-2026"', '"Mine 2026"', "id is 'Mine 2026': string should match"),
    ("bad kind", 'kind = "text"', 'kind = "essay"', "fields.review.kind is 'essay': input should be 'text'"),
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
    ("threshold is NaN", "accept_at = 2", "accept_at = nan", "accept_at is nan: input should be a finite number"),
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
