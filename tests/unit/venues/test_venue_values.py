"""Reading, checking and writing the values of form fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import DataError
from referee.schemas import Fact, FormField, Option
from referee.venues import check_field, empty_required, load_venue, openreview_object, parse_score, wire_value

SHARED = Path(__file__).parents[4] / "shared" / "data" / "openreview_raw"
FACT = Fact(confidence="memory")
NEURIPS = load_venue("neurips-2025")
ICLR = load_venue("iclr-2025")
ARR = load_venue("arr")


def _score(options: dict[float, str], **more: object) -> FormField:
    offered = tuple(Option(value=value, label=label) for value, label in options.items())
    return FormField.model_validate(
        {"name": "s", "kind": "score", "asks": "", "aspect": "other", "fact": FACT, "options": offered, **more}
    )


RATING = NEURIPS.field("rating")
SPC4 = ICLR.field("soundness")
OVERALL = ARR.field("overall_assessment")
CORL = _score(
    {4: "Strong Accept", 3: "Weak Accept", 2: "Weak Reject", 1: "Strong Reject"}, as_string=True, string_shape="label"
)
OR10 = _score({10: "Top 5% of accepted papers, seminal paper", 6: "Marginally above acceptance threshold", 0: "none"})


@pytest.mark.parametrize(
    ("field", "raw", "value"),
    [
        (RATING, 6, 6),
        (RATING, 4.0, 4),
        (RATING, "5", 5),
        (RATING, " 5 ", 5),
        (RATING, "5.0", 5),
        (RATING, "5.", 5),
        (RATING, "6: Strong Accept: technically flawless", 6),
        (RATING, "6:Strong Accept", 6),
        (RATING, "5 = Accept", 5),
        (RATING, "5=Accept", 5),
        (RATING, "4. Borderline accept", 4),
        (RATING, "3 - Borderline reject", 3),
        (RATING, "Borderline Reject", 3),
        (SPC4, "3 good", 3),
        (SPC4, "3  good", 3),
        (SPC4, "good", 3),
        (SPC4, "4: excellent", 4),
        (OVERALL, 3.5, 3.5),
        (OVERALL, "4.5 ", 4.5),
        (OVERALL, "4.5 = Borderline Award", 4.5),
        (OVERALL, 4, 4.0),
        (OVERALL, "resubmit  next cycle.", 2.0),
        (CORL, "Weak Accept", 3),
        (CORL, "weak reject", 2),
        (OR10, "10: Top 5% of accepted papers, seminal paper", 10),
        (OR10, "10 Top 5% of accepted papers, seminal paper", 10),
        (OR10, 0, 0),
        (OR10, "0", 0),
        (OR10, -0.0, 0),
        (RATING, None, None),
        (RATING, "", None),
        (RATING, "  ", None),
        (RATING, "N/A", None),
        (RATING, "Not applicable", None),
    ],
)
def test_a_score_is_read(field: FormField, raw: object, value: float | None) -> None:
    parsed = parse_score(field, raw)
    assert parsed == value
    assert parsed is None or parsed in [option.value for option in field.options]
    assert not (field is OVERALL and isinstance(parsed, int))


@pytest.mark.parametrize(
    "raw",
    [
        11,
        "11",
        0,
        -1,
        "-1",
        3.5,
        "3.5",
        math.nan,
        math.inf,
        "nan",
        True,
        False,
        10**400,
        "9" * 5000,
        "6/10",
        "6 out of 10",
        "3 or 4",
        "4,5",
        "1e0",
        "1_0",
        "٣",
        "Accept with minor revision",
        "good",
        "Rating: 6",
        [6],
        {"value": 6},
        b"6",
        object(),
    ],
)
def test_what_is_no_score_of_the_field_is_refused(raw: object) -> None:
    with pytest.raises(DataError) as caught:
        parse_score(RATING, raw)
    assert "'rating'" in caught.value.message
    assert caught.value.hint == "Its values are 6, 5, 4, 3, 2, 1."
    assert len(caught.value.message) < 200


@given(
    st.sampled_from([RATING, SPC4, OVERALL, CORL, OR10]),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.lists(st.integers())
    | st.from_regex(r"[0-9. ]{1,4}[:= ]{0,2}[a-z0-9 ]{0,8}", fullmatch=True),
)
def test_reading_gives_an_offered_value_or_a_data_error(field: FormField, raw: object) -> None:
    try:
        parsed = parse_score(field, raw)
    except DataError:
        return
    assert parsed is None or parsed in [option.value for option in field.options]


@given(st.sampled_from([RATING, SPC4, OVERALL, OR10]), st.data())
def test_what_is_written_is_read_back(field: FormField, data: st.DataObject) -> None:
    option = data.draw(st.sampled_from(field.options))
    shapes = [f"{option.value}", f"{option.value}: {option.label}", f"{option.value} = {option.label}"]
    assert [parse_score(field, shape) for shape in shapes] == [option.value] * 3


@pytest.mark.parametrize(
    ("field", "value", "checked"),
    [
        (NEURIPS.field("summary"), "Text.\n", "Text.\n"),
        (NEURIPS.field("summary"), "  ", None),
        (NEURIPS.field("summary"), None, None),
        (NEURIPS.field("rating"), "5: Accept", 5),
        (ARR.field("needs_ethics_review"), "yes", "Yes"),
        (ARR.field("needs_ethics_review"), "", None),
        (ARR.field("needs_ethics_review"), None, None),
        (
            ICLR.field("flag_for_ethics_review"),
            ["Yes, Privacy, security and safety", "yes, discrimination / bias / fairness concerns"],
            ["Yes, Discrimination / bias / fairness concerns", "Yes, Privacy, security and safety"],
        ),
        (ICLR.field("flag_for_ethics_review"), "No ethics review needed.", ["No ethics review needed."]),
        (ICLR.field("flag_for_ethics_review"), [], None),
        (ICLR.field("code_of_conduct"), "Yes", ["Yes"]),
    ],
)
def test_a_value_is_normalised(field: FormField, value: object, checked: object) -> None:
    assert check_field(field, value) == checked


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        (NEURIPS.field("summary"), 3, "takes text, not 3"),
        (ARR.field("paper_summary"), "x" * 20_001, "has 20001 characters; the form takes 20000"),
        (ARR.field("needs_ethics_review"), "Maybe", "does not take 'Maybe'"),
        (ARR.field("needs_ethics_review"), True, "does not take True"),
        (ARR.field("needs_ethics_review"), 1, "does not take 1"),
        (ICLR.field("flag_for_ethics_review"), ["Perhaps"], "does not take 'Perhaps'"),
        (ICLR.field("flag_for_ethics_review"), {"a": 1}, "does not take {'a': 1}"),
        (
            ICLR.field("flag_for_ethics_review"),
            ["No ethics review needed.", "Yes, Other reasons (please specify below)"],
            "ticks 'No ethics review needed.' and something else",
        ),
    ],
)
def test_a_value_the_field_does_not_take_is_refused(field: FormField, value: object, says: str) -> None:
    with pytest.raises(DataError) as caught:
        check_field(field, value)
    assert says in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("shape", "stored"), [("colon", "3: Weak Accept"), ("space", "3 Weak Accept"), ("label", "Weak Accept")]
)
def test_the_platform_stores_a_string_where_the_form_says_so(shape: str, stored: str) -> None:
    field = CORL.model_copy(update={"string_shape": shape})
    assert wire_value(field, 3) == stored
    assert parse_score(field, stored) == 3


def test_the_platform_stores_the_forms_own_number() -> None:
    assert repr(wire_value(RATING, "4: Borderline accept")) == "4"
    assert repr(wire_value(OVERALL, 4)) == "4.0"
    assert wire_value(RATING, None) is None


def test_a_choice_stored_as_string_is_its_option() -> None:
    field = ARR.field("needs_ethics_review").model_copy(update={"as_string": True})
    assert wire_value(field, "no") == "No"


def test_one_flat_object_with_the_venues_names() -> None:
    values = {
        "rating": "5: Accept",
        "summary": "It does X.",
        "ethical_concerns": "NO or VERY MINOR ethics concerns only",
        "confidence": None,
        "code_of_conduct_acknowledgement": "Yes",
        "final_justification": "Later.",
    }
    stored = openreview_object(NEURIPS, values)
    assert list(stored.items()) == [
        ("summary", "It does X."),
        ("rating", 5),
        ("ethical_concerns", ["NO or VERY MINOR ethics concerns only"]),
    ]
    json.dumps(stored)


def test_a_name_that_is_not_the_forms_is_refused() -> None:
    with pytest.raises(DataError, match="has no field 'soundness'"):
        openreview_object(NEURIPS, {"soundness": 3})


def test_what_the_form_demands_and_does_not_have() -> None:
    filled = {"summary": "It does X.", "rating": 5, "quality": " "}
    missing = empty_required(NEURIPS, filled)
    assert missing[:2] == ("strengths_and_weaknesses", "quality")
    assert not {"summary", "rating", "paper_formatting_concerns", "code_of_conduct_acknowledgement"} & set(missing)
    assert empty_required(ICLR, {}) == ()


def _note_contents(folder: str) -> Iterator[dict[str, object]]:
    for path in sorted((SHARED / folder).glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for note in data.get("notes", data.get("replies", [{"content": data}])):
            content = note["content"]
            yield {k: v["value"] if isinstance(v, dict) and "value" in v else v for k, v in content.items()}


def _scale(*values: float) -> FormField:
    return _score(dict.fromkeys(values, ""))


@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
@pytest.mark.parametrize(
    ("folder", "names", "field", "at_least"),
    [
        ("api_v2_iclr2026", ["rating"], _scale(0, 2, 4, 6, 8, 10), 40),
        ("api_v2_iclr2026", ["soundness", "presentation", "contribution"], SPC4, 120),
        ("api_v2_iclr2026", ["confidence"], ICLR.field("confidence"), 40),
        ("api_v2_agents4science2025", ["overall"], RATING, 40),
        ("api_v2_agents4science2025", ["confidence"], NEURIPS.field("confidence"), 40),
        ("api_v1_note_content_iclr2019_2020", ["rating"], _scale(*range(1, 11)), 60),
        ("api_v1_note_content_iclr2019_2020", ["confidence"], _scale(*range(1, 6)), 15),
    ],
)
def test_scores_of_real_notes_are_read(folder: str, names: list[str], field: FormField, at_least: int) -> None:
    contents = list(_note_contents(folder))
    read = [parse_score(field, content[name]) for content in contents for name in names if name in content]
    assert len(read) >= at_least
    assert None not in read


@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
def test_a_placeholder_of_zero_is_no_score() -> None:
    qualities = [c["quality"] for c in _note_contents("api_v2_agents4science2025") if "quality" in c]
    assert 0 in qualities
    with pytest.raises(DataError):
        parse_score(NEURIPS.field("quality"), 0)
