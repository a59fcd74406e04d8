"""What values of records become: places, ratings, texts, odd numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.data import RejectedSink, canonical_text, read_cases
from referee.data.keys import author
from referee.data.ratings import confidence, leading_number, rating
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.venues.names import VenueForms
from referee.venues.registry import load_venue


def test_texts_come_in_the_forms_order_without_names_scores_and_placeholders() -> None:
    fields = {
        "questions": "Why?\r\nHow?",
        "title": "A title",
        "Summary": " It works. ",
        "rating": "6: marginally above",
        "weaknesses": "n/a",
        "strengths": ["Clear", "", "Short"],
        "final_justification": "After the reply.",
        "details_of_ethics_concerns": "",
    }
    assert canonical_text(fields, load_venue("iclr-2025")) == "It works.\n\n- Clear\n- Short\n\nWhy?\nHow?"


def test_the_text_holds_no_field_name_of_any_form() -> None:
    form = load_venue("neurips-2025")
    fields = {field.name: f"Prose {number}." for number, field in enumerate(form.fields)}
    text = canonical_text(fields, form)
    assert text
    assert not any(field.name in text for field in form.fields)


def test_texts_are_composed_and_equal_however_accents_are_coded() -> None:
    assert canonical_text({"review": "caf\u00e9"}, None) == canonical_text({"review": "cafe\u0301"}, None)


def test_without_a_form_customary_names_come_first_and_else_long_texts() -> None:
    assert canonical_text({"weaknesses": "W", "summary": "S", "remark": "x" * 200}, None) == "S\n\nW"
    assert canonical_text({"remark": "x" * 200, "label": "short"}, None) == "x" * 200


def test_the_placeholder_that_names_an_ai_reviewer_is_no_text() -> None:
    fields = {"summary": "Summary by AIRev 3", "strengths_and_weaknesses": "Prose.", "questions": "N/A"}
    assert canonical_text(fields, load_venue("agents4science-2025")) == "Prose."


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ("6: marginally above", 6),
        ("3 good", 3),
        ("5 = clear", 5),
        (" 4.5 ", 4.5),
        (7, 7),
        ("6 out of 10", None),
        ("Weak accept", None),
        (True, None),
        (None, None),
        ("nan", None),
    ],
)
def test_numbers_as_data_write_them(raw: object, number: float | None) -> None:
    assert leading_number(raw) == number


def test_a_label_alone_is_read_by_the_form_and_a_number_off_it_is_named() -> None:
    form = load_venue("corl-2021")
    assert rating({"recommendation": "Weak Accept"}, form).value == 3
    assert rating({"rating": "7: Good"}, load_venue("iclr-2022")).value == 7
    assert rating({"rating": [6]}, None).value == 6
    assert rating({"rating": {"value": "8: accept"}}, None).value == 8
    assert rating({"rating": [6, 7]}, None).value is None
    assert "does not take" in rating({"rating": "7: Good"}, load_venue("iclr-2022")).off_form
    assert confidence({"Reviewer_Confidence": "4: sure"}, None).value == 4


@pytest.mark.parametrize(
    ("source", "kind", "found"),
    [
        ("human", None, ("human", "human")),
        ("ai:gpt", None, ("gpt", "ai")),
        ("gpt", None, ("gpt", "unknown")),
        ("gpt", "llm", ("gpt", "ai")),
        (None, "human", ("human", "human")),
        (None, "ai", ("the-model", "ai")),
        (None, None, ("unknown", "unknown")),
        ("ai:gpt", "unknown", ("gpt", "ai")),
    ],
)
def test_who_wrote_it_is_read_and_never_guessed(source: object, kind: object, found: tuple[str, str]) -> None:
    read = author(source, kind, model="the-model")
    assert (read.source, read.kind) == found


def test_a_kind_that_is_none_and_a_contradiction_are_refused() -> None:
    with pytest.raises(DataError, match="'robot' is none"):
        author("x", "robot")
    with pytest.raises(DataError, match="contradict"):
        author("human", "ai")


@pytest.mark.parametrize(
    ("name", "year", "platform", "venue"),
    [
        ("ICLR", 2020, "", "iclr-2020"),
        ("iclr-2020", None, "", "iclr-2020"),
        ("NeurIPS 2022", None, "", "neurips-2022"),
        ("ICLR", "2017.0", "", "iclr-2017"),
        ("", None, "ICLR.cc/2026/Conference", "iclr-2026"),
        ("", None, "ICML.cc/2025/Conference", "ICML.cc/2025/Conference"),
        ("Open Biology", 2016, "", "Open Biology"),
        (None, 2019, "", None),
    ],
)
def test_a_venue_is_a_known_form_or_keeps_its_own_name(name: object, year: object, platform: str, venue: str) -> None:
    assert VenueForms().place(name, year, platform).venue == venue


BOXES = {
    "summary": "It works.",
    "strengths": "Clear.",
    "weaknesses": "Thin.",
    "questions": "Why?",
    "limitations": "None",
}
ETHICS = (
    "No major ethical concerns. The paper evaluates on public data and harms nobody, as far as one can see from it."
)


def test_ethics_fields_are_left_out_with_a_form_and_without() -> None:
    fields = {**BOXES, "ethical_concerns": ETHICS, "flag_for_ethics_review": ["No ethics review needed."]}
    said = "It works.\n\nClear.\n\nThin.\n\nWhy?"
    assert canonical_text(fields, load_venue("neurips-2023")) == said
    assert canonical_text({**fields, "details_of_ethics_concerns": ETHICS}, load_venue("iclr-2026")) == said
    assert canonical_text(fields, None) == said
    tmlr = {"summary_of_contributions": "It works.", "broader_impact_concerns": ETHICS, "requested_changes": "None"}
    assert canonical_text(tmlr, load_venue("tmlr")) == canonical_text(tmlr, None) == "It works."
    assert canonical_text({"remark": "x" * 200, "ethical_concerns": ETHICS}, None) == "x" * 200


@pytest.mark.parametrize("nothing", ["None", "none.", "NA", "n/a", "N.A.", "- None", "**None**"])
def test_a_box_that_says_nothing_is_no_text(nothing: str) -> None:
    assert canonical_text({"summary": "Fine.", "limitations": nothing}, load_venue("neurips-2025")) == "Fine."
    assert canonical_text({"summary": "Fine.", "weaknesses": [nothing, "Thin."]}, None) == "Fine.\n\n- Thin."


def test_every_layout_gives_the_same_text_and_keeps_what_was_said_about_ethics(tmp_path: Path) -> None:
    boxes = {**BOXES, "ethical_concerns": ETHICS}
    note = {
        "id": "n",
        "forum": "p",
        "invitations": ["NeurIPS.cc/2023/Conference/Submission1/-/Official_Review"],
        "domain": "NeurIPS.cc/2023/Conference",
        "content": {name: {"value": value} for name, value in boxes.items()},
    }
    placed = {"paper_id": "p", "source": "human", "venue": "NeurIPS", "year": 2023}
    joined = "".join(f"{name.replace('_', ' ').capitalize()}:\n{value}\n\n" for name, value in boxes.items())
    rows = {
        "notes.json": {"notes": [note]},
        "papers.json": {**placed, "reviews": [boxes]},
        "flat.json": {**placed, **boxes},
        "joined.json": {**placed, "summary": BOXES["summary"], "text": joined},
    }
    for name, row in rows.items():
        (tmp_path / name).write_text(json.dumps(row), encoding="utf-8")
        (case,) = read_cases(tmp_path / name)
        assert case.text == "It works.\n\nClear.\n\nThin.\n\nWhy?", name
        assert ETHICS in ({**case.extra, **case.fields}["ethical_concerns"] or ""), name


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("raw", "rows", "count"),
    [
        ("openreview_raw/api_v2_agents4science2025", "paired/agents4science2025_reviews.jsonl", 48),
        ("openreview_raw/api_v2_iclr2026", "papers/iclr2026_abstract_reviews_rebuttals.jsonl", 45),
    ],
)
def test_raw_notes_and_rows_of_the_same_reviews_have_equal_texts(
    shared_data: Path, raw: str, rows: str, count: int
) -> None:
    texts = {case.case_id: case.text for case in read_cases(shared_data / rows)}
    both = [case for case in read_cases(shared_data / raw) if case.case_id in texts]
    assert len(both) == count
    assert [case.case_id for case in both if case.text != texts[case.case_id]] == []


DIGITS = "9" * 5_000


def line(review_id: str, **raw: str) -> str:
    values = {"paper_id": '"p"', "review_id": f'"{review_id}"', "source": '"human"', "text": f'"{review_id}."', **raw}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}"


def read(file: Path, *lines: str) -> tuple[list[ReviewCase], list[str]]:
    file.write_text("\n".join(lines) if file.suffix == ".jsonl" else f"[{','.join(lines)}]", encoding="utf-8")
    with RejectedSink(file.parent / "rejected.jsonl") as sink:
        cases = list(read_cases(file, rejected=sink))
    text = sink.path.read_text(encoding="utf-8") if sink.count else ""
    return cases, [json.loads(row)["reason"] for row in text.splitlines()]


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (DIGITS, "a number of 5,000 digits is too long"),
        ("1" + "0" * 400, "a number of 401 digits is too long"),
        ("1e999", "Infinity is no number"),
        ("Infinity", "Infinity is no number"),
        ("-Infinity", "-Infinity is no number"),
        ("NaN", "NaN is no number"),
        ("true", "true is no number"),
        ('"great"', "'great' is no number"),
        ("[6, 7]", "[6, 7] is no number"),
    ],
)
def test_a_rating_that_is_no_number_is_null_with_its_reason(tmp_path: Path, suffix: str, raw: str, said: str) -> None:
    rows = (line("a", rating="6"), line("b", rating=raw, confidence=raw), line("c", rating="8", score=raw))
    cases, rejected = read(tmp_path / f"set.{suffix}", *rows)
    assert [case.rating for case in cases] == [6, None, 8]
    assert cases[1].extra["rating_unread"] == cases[1].extra["confidence_unread"] == said
    assert rejected == []
    assert all(ReviewCase.model_validate_json(case.model_dump_json()) == case for case in cases)


def test_a_number_beside_one_that_is_none_is_taken() -> None:
    nan = float("nan")
    assert rating({"rating": nan, "overall": 6}, None).value == 6
    assert rating({"rating": 6}, None, nan).value == 6
    assert rating({"rating": True}, load_venue("iclr-2024")).unread == "true is no number"
    assert rating({"rating": "N/A"}, None).unread == rating({}, None).unread == ""


def test_odd_numbers_elsewhere_in_a_row_harm_nothing(tmp_path: Path) -> None:
    odd = {name: value for name in ("year", "date", "cdate", "seed") for value in ("1e999",)}
    rows = (
        line("a", **odd),
        line("b", year=DIGITS, date=DIGITS, seed=DIGITS),
        line("c", date=f'"{DIGITS}"', year="NaN", seed='[NaN, {"x": Infinity}]'),
        line("d", paper_id=DIGITS),
    )
    cases, rejected = read(tmp_path / "set.jsonl", *rows)
    assert ([case.case_id for case in cases], rejected) == (["a", "b", "c", "d"], [])
    assert [case.year for case in cases] == [None] * 4
    assert cases[2].extra["seed"] == [None, {"x": None}]


def test_notes_of_no_finite_time_are_read(tmp_path: Path) -> None:
    note = {"id": "n", "forum": "p", "invitation": "ICLR.cc/2019/Conference/-/Paper3/Official_Review"}
    row = json.dumps({**note, "mdate": float("nan"), "content": {"review": "Good."}})
    cases, _ = read(tmp_path / "notes.jsonl", row)
    assert [case.text for case in cases] == ["Good."]


def test_our_own_records_take_no_flag_for_a_number(tmp_path: Path) -> None:
    case = ReviewCase(case_id="a", paper_id="p", source="m", kind="ai", text="T.").model_dump(mode="json")
    rows = [json.dumps({**case, "case_id": name, "rating": value}) for name, value in (("a", True), ("b", 6))]
    cases, rejected = read(tmp_path / "set.jsonl", *rows)
    assert [case.case_id for case in cases] == ["b"]
    assert rejected == ["the record is no case: rating: true is no number."]
