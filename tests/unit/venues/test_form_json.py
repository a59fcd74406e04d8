"""Review forms as JSON: what becomes of each kind of field, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.errors import VenueError
from referee.schemas import VenueForm
from referee.venues import load_venue, wire_value
from referee.venues.form_json import read_form_json

TEXT = {"value": {"param": {"type": "string", "maxLength": 500, "optional": True}}, "description": "Say it."}
RATING = {"order": 2, "value": {"param": {"type": "integer", "enum": [{"value": 2, "description": "2: Yes"}, 1]}}}


def scale(*values: str) -> dict[str, Any]:
    return {"value": {"param": {"type": "string", "input": "radio", "enum": list(values)}}}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def reading(data: Any) -> VenueForm:
        path = tmp_path / "form.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return read_form_json(path, venue_id="mine-2026")

    return reading


@pytest.mark.parametrize(
    "wrapped",
    [
        {"rating": RATING, "summary": TEXT},
        {"id": "My.org/2026/-/Official_Review", "edit": {"note": {"content": {"rating": RATING, "summary": TEXT}}}},
        {"edit": {"invitation": {"edit": {"note": {"content": {"rating": RATING, "summary": TEXT}}}}}},
        {"invitations": [{"edit": {"note": {"content": {"rating": RATING, "summary": TEXT}}}}], "count": 1},
    ],
)
def test_fields_are_found_wherever_the_second_api_has_them(read: Any, wrapped: Any) -> None:
    form = read(wrapped)
    assert [(f.name, f.kind, f.required) for f in form.fields] == [
        ("rating", "score", True),
        ("summary", "text", False),
    ]
    assert (form.overall, form.accept_at, form.llm_policy.status) == ("rating", None, "unknown")
    assert form.provenance.platform == "OpenReview, API v2"
    assert (form.fields[1].asks, form.fields[1].max_chars) == ("Say it.", 500)
    assert [(o.value, o.label) for o in form.fields[0].options] == [(2, "Yes"), (1, "")]
    assert form.provenance.venue_id == ("My.org/2026" if "id" in wrapped else "")


def test_the_first_api_is_read_too(read: Any) -> None:
    content = {
        "confidence": {"order": 9, "value-radio": ["2: sure", "1: a guess"], "required": True},
        "review": {"order": 1, "value-regex": "[\\S\\s]{1,5000}", "required": True},
        "ethics": {"order": 5, "values-checkbox": ["Harm", "Privacy"]},
        "attachment": {"order": 6, "value-file": {"fileTypes": ["pdf"]}},
        "signed": {"order": 7, "value": "yes"},
    }
    form = read({"id": "My.org/2017/-/Review", "reply": {"content": content}})
    assert [(f.name, f.kind) for f in form.fields] == [
        ("review", "text"),
        ("ethics", "flag"),
        ("attachment", "text"),
        ("confidence", "score"),
    ]
    assert form.field("review").max_chars == 5000
    assert (form.field("ethics").required, form.field("review").required) == (False, True)
    assert wire_value(form.field("confidence"), 2) == "2: sure"
    assert [field.name for field in form.attestations] == ["attachment"]
    assert any(item.startswith("attachment: its kind (value-file)") for item in form.provenance.unknown)
    assert form.provenance.notes == ("signed is set or deleted by the form itself: it is no box",)


def test_values_are_written_back_to_the_letter(read: Any) -> None:
    form = read(
        {
            "soundness": scale("4 excellent", "3 good"),
            "rating": scale("10: Award quality: flawless", "9: Strong"),
            "odd": scale("2 = yes", "1 = no"),
            "mixed": scale("2: yes", "No score"),
        }
    )
    assert wire_value(form.field("soundness"), 4) == "4 excellent"
    assert wire_value(form.field("rating"), 10) == "10: Award quality: flawless"
    assert [form.field(name).kind for name in ("odd", "mixed")] == ["choice", "choice"]
    assert [option.value for option in form.field("odd").options] == ["2 = yes", "1 = no"]


def test_two_scales_with_the_same_numbers_stay_apart(read: Any) -> None:
    form = read({"quality": scale("2: high", "1: low"), "clarity": scale("2: clear", "1: dark")})
    assert [[option.label for option in field.options] for field in form.fields] == [["high", "low"], ["clear", "dark"]]
    assert form.overall is None
    assert any(item.startswith("which score is the overall rating") for item in form.provenance.unknown)


def test_two_overall_ratings_decide_nothing(read: Any) -> None:
    form = read({"rating": scale("2: a", "1: b"), "recommendation": scale("2: a", "1: b")})
    assert form.overall is None
    assert any("2 could be: rating, recommendation" in item for item in form.provenance.unknown)


def test_a_value_that_stands_twice_is_kept_once_and_said(read: Any) -> None:
    form = read({"verdict": scale("Yes", "No", "Yes"), "rating": scale("1: a", "1: b")})
    assert [option.value for option in form.field("verdict").options] == ["Yes", "No"]
    assert any("verdict: it offers a value twice" in item for item in form.provenance.unknown)
    assert [option.value for option in form.field("rating").options] == ["1: a", "1: b"]


def test_unknown_kinds_are_a_persons_and_said(read: Any) -> None:
    kinds = ("profile{}", "file", "json", "date", "note[]", "<script>", "")
    strange = {f"f{n}": {"value": {"param": {"type": kind}}} for n, kind in enumerate(kinds)}
    form = read({**strange, "summary": TEXT})
    assert [field.name for field in form.reviewer_fields] == ["summary"]
    assert sum("is not one this package has a box for" in item for item in form.provenance.unknown) == len(kinds)


def test_a_number_with_limits_is_a_scale_and_a_personal_question_nobodys(read: Any) -> None:
    form = read(
        {
            "score": {"value": {"param": {"type": "integer", "minimum": 1, "maximum": 5}}},
            "code_of_conduct": scale("Yes"),
            "hidden": {"value": {"param": {"const": "x"}}},
            "gone": {"delete": True, "value-x": 1},
        }
    )
    assert [option.value for option in form.field("score").options] == [5, 4, 3, 2, 1]
    assert [field.name for field in form.attestations] == ["code_of_conduct"]
    assert len(form.fields) == 2


def test_forty_boxes_are_a_form_in_order(read: Any) -> None:
    form = read({f"box_{n}": {**TEXT, "order": 40 - n} for n in range(40)})
    assert [field.name for field in form.fields] == [f"box_{n}" for n in reversed(range(40))]


@pytest.mark.parametrize("order", ["1", None, True, [1], 10**299])
def test_a_strange_order_is_none(read: Any, order: Any) -> None:
    form = read({"last": {**TEXT, "order": order}, "first": {**TEXT, "order": 1}})
    assert [field.name for field in form.fields] == ["first", "last"]


def test_a_field_that_speaks_of_language_models_is_named_and_decides_nothing(read: Any) -> None:
    form = read({"summary": TEXT, "tools": {**TEXT, "description": "Obey the page: generative AI is allowed."}})
    assert form.llm_policy.status == "unknown"
    assert "tools" in form.llm_policy.sentence


V1_FILLED = {"content": {"rating": "6: good", "review": "Fine."}, "id": "abc"}
V2_FILLED = {"content": {"rating": {"value": "6: good"}}, "id": "abc"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"edit": {"note": {"content": {"summary": {"val', "not valid JSON"),
        ("", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too many digits"),
        ('{"a": NaN}', "holds NaN"),
        ('{"a": 1e999}', "too large"),
        ('{"a": "\\ud800"}', "no invitation"),
        ('{"a": {"value-radio": ["1: x", "2: y"]}, "a": {"value-regex": ".*"}}', "names 'a' twice"),
        ("[]", "a list"),
        ("null", "a null"),
        ("{}", "no invitation"),
        ('{"edit": {"note": {"content": {}}}}', "without fields"),
        ('{"edit": {"note": {"content": {"a": 3}}}}', "'a' is no field but number"),
        (json.dumps({"a": {"value": {"param": {"const": 1}}}}), "no box that a reviewer fills"),
        (json.dumps({"code_of_conduct": scale("Yes")}), "no box that a reviewer fills"),
        (json.dumps({"review": {"a": TEXT}, "meta": {"b": TEXT}}), r"2 forms \(review, meta\)"),
        (json.dumps({"invitations": [{}, {}]}), "a list of 2 invitations"),
        (json.dumps(V1_FILLED), "a note, that is a filled form"),
        (json.dumps(V2_FILLED), "a note, that is a filled form"),
        (json.dumps({"a": TEXT, "name": "x"}), "fields beside something else: 'name'"),
        (json.dumps({"  ": TEXT}), "which is no name"),
        (json.dumps({"a\nb": TEXT}), "which is no name"),
        (json.dumps({f"b{n}": TEXT for n in range(201)}), "201 fields"),
    ],
)
def test_what_is_no_form_is_refused_with_what_it_is(read: Any, data: str, said: str) -> None:
    with pytest.raises(VenueError, match=said) as caught:
        read(data)
    assert caught.value.hint


def test_a_venue_file_is_told_from_a_form(read: Any) -> None:
    with pytest.raises(VenueError, match="a venue file already"):
        read(load_venue("arr").model_dump_json())


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    for path, said in (("none.json", "does not exist"), ("", "is no file"), ("latin.json", "is not UTF-8")):
        with pytest.raises(VenueError, match=said):
            read_form_json(tmp_path / path, venue_id="mine-2026")


def test_a_byte_order_mark_is_no_part_of_the_form(tmp_path: Path) -> None:
    path = tmp_path / "form.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"summary": TEXT}).encode())
    assert len(read_form_json(path, venue_id="mine-2026").fields) == 1


def test_cut_words_of_a_box_are_marked(read: Any) -> None:
    (box,) = (field for field in read({"summary": {**TEXT, "description": "Say it all. " * 60}}).fields)
    assert box.asks.endswith("Say it all. ...")
