"""Scores, decisions and headings that stand in the one text of a review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.data import RejectedSink, read_cases
from referee.data.one_text import read_one_text
from referee.data.score_lines import (
    DISAGREE,
    NO_OPTION,
    NOT_ASKED,
    OFF_SCALE,
    TWO_VALUES,
    UNCLEAR,
)
from referee.schemas.case import ReviewCase
from referee.venues.registry import load_venue

BEFORE, BEHIND = "The paper is about graphs.", "The proofs are short."
PROSE = f"{BEFORE}\n\n{BEHIND}"


def around(lines: str) -> str:
    return f"{BEFORE}\n\n{lines}\n\n{BEHIND}"


TAKEN: list[tuple[str | None, str, dict[str, Any]]] = [
    ("neurips-2024", "Rating: 8 (Strong accept)", {"rating": 8}),
    ("neurips-2024", "Recommendation: Weak Accept", {"rating": 6}),
    ("neurips-2024", "Decision: Weak accept.", {"rating": 6}),
    ("neurips-2024", "Soundness: 3 good", {"soundness": 3}),
    ("neurips-2024", "Overall recommendation: Weak Accept (6/10)", {"rating": 6}),
    ("neurips-2024", "Decision: Accept - 7", {"rating": 7}),
    ("neurips-2024", "Soundness: good", {"soundness": 3}),
    ("neurips-2024", "### Overall Score\n7/10", {"rating": 7}),
    ("neurips-2024", "**Overall Score**\n\n- **7 / 10**", {"rating": 7}),
    ("neurips-2024", "Rating:\n7: Accept", {"rating": 7}),
    ("neurips-2024", "Rating: 7 out of 10", {"rating": 7}),
    ("neurips-2024", "My rating = 7.0", {"rating": 7}),
    ("neurips-2024", "> 5) __Final rating__ – 7 – Accept", {"rating": 7}),
    ("neurips-2024", "Overall (1-10): 7", {"rating": 7}),
    ("neurips-2024", "Rating: 7 (on a scale of 1 to 10)", {"rating": 7}),
    ("neurips-2024", "Rating: 7\nOverall score: 7/10", {"rating": 7}),
    ("neurips-2024", "- Confidence: 4", {"confidence": 4}),
    ("neurips-2024", "Confidence (4)", {"confidence": 4}),
    ("neurips-2024", "Confidence: 4: You are confident in your assessment, but not certain.", {"confidence": 4}),
    ("neurips-2024", "Confidence\n4", {"confidence": 4}),
    ("neurips-2024", "Rating: 7; Confidence: 4", {"rating": 7, "confidence": 4}),
    (
        "neurips-2024",
        "Soundness: 3, Presentation: 2, Contribution: 4",
        {"soundness": 3, "presentation": 2, "contribution": 4},
    ),
    ("neurips-2024", "| Soundness | 3 |", {"soundness": 3}),
    (
        "neurips-2024",
        "| Aspect | Score |\n| --- | --- |\n| Soundness | 3 |\n| Rating | 7/10 |",
        {"soundness": 3, "rating": 7},
    ),
    ("neurips-2024", "| Soundness | Presentation |\n|:-:|:-:|\n| **3** | 2 |", {"soundness": 3, "presentation": 2}),
    ("neurips-2024", "## Scores\n\n* **Soundness**: 3/4 (good)\n* **Soundness score:** 3", {"soundness": 3}),
    ("neurips-2024", "Decision: Accept (poster)", {"decision": "Accept (poster)"}),
    ("iclr-2024", "**Decision:** 6: marginally above", {"rating": 6}),
    ("iclr-2024", "Rating: 8: accept, good paper", {"rating": 8}),
    ("iclr-2024", "Rating: 6 (borderline accept)", {"rating": 6}),
    ("iclr-2020", "Decision: Weak Reject", {"rating": 3}),
    ("arr", "Overall Assessment: 3.5 = Borderline Conference", {"overall_assessment": 3.5}),
    ("tmlr", "Claims and evidence: Yes", {"claims_and_evidence": "Yes"}),
    (None, "Overall rating: 7/10\nConfidence: 4/5\nSoundness: 3", {"rating": 7, "confidence": 4, "soundness": 3}),
]


@pytest.mark.parametrize(("venue", "lines", "scores"), TAKEN)
def test_a_line_that_is_a_label_and_a_score_is_read_and_is_no_prose(
    venue: str | None, lines: str, scores: dict[str, Any]
) -> None:
    read = read_one_text(around(lines), load_venue(venue) if venue else None)
    assert read is not None
    assert (read.scores, read.unused, read.text) == (scores, (), PROSE)


UNUSED = [
    ("iclr-2024", "Rating: 7", OFF_SCALE),
    ("iclr-2024", "Rating: 11", OFF_SCALE),
    ("neurips-2025", "Overall: 5/10", OFF_SCALE),
    ("neurips-2024", "Rating (1-5): 4", OFF_SCALE),
    ("neurips-2024", "| Soundness | 7 |", OFF_SCALE),
    (None, "Rating: 4/5", OFF_SCALE),
    (None, "Rating: 6.5", OFF_SCALE),
    ("neurips-2024", "Soundness: 3 poor", DISAGREE),
    ("neurips-2024", "Rating: 8 (Reject)", DISAGREE),
    ("neurips-2024", "Rating: Reject (8)", DISAGREE),
    ("iclr-2024", "Rating: 3 (clear accept)", DISAGREE),
    ("iclr-2024", "| Rating | 8 | strong reject |", DISAGREE),
    ("iclr-2024", "Recommendation: Weak Accept", NO_OPTION),
    ("neurips-2024", "Confidence: High", NO_OPTION),
    ("tmlr", "Rating: 8", NOT_ASKED),
    ("neurips-2024", "Novelty: 3", NOT_ASKED),
    ("neurips-2024", "Rating: 6-7", UNCLEAR),
    ("neurips-2024", "Rating: 5 -> 6", UNCLEAR),
    ("neurips-2024", "Score: 85%", UNCLEAR),
]


@pytest.mark.parametrize(("venue", "line", "reason"), UNUSED)
def test_a_score_that_cannot_be_used_is_named_with_its_reason(venue: str | None, line: str, reason: str) -> None:
    read = read_one_text(around(line), load_venue(venue) if venue else None)
    assert read is not None
    assert read.scores == {}
    assert [(one.line, one.reason) for one in read.unused] == [(line, reason)]
    assert read.text == PROSE


def test_of_two_ratings_neither_is_taken() -> None:
    read = read_one_text(around("Rating: 6\nConfidence: 4\nOverall score: 7"), load_venue("neurips-2024"))
    assert read is not None
    assert read.scores == {"confidence": 4}
    assert [(one.line, one.reason) for one in read.unused] == [
        ("Rating: 6", TWO_VALUES),
        ("Overall score: 7", TWO_VALUES),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "I would rate this 6 if the proof were mended.",
        "accuracy: 8 points",
        "Quality: 3 figures are blurred",
        "Presentation: 2 typos in Section 3.",
        "Clarity: 1. The introduction is long. 2. Section 3 is short.",
        "Overall, the paper needs work.",
        "Overall: the paper is good.",
        "Soundness: the proofs hold.",
        "- Evaluation: 3 datasets only",
        "Questions: 3",
        "Score: the AUC score is 8",
        "The rating 8 of Table 2 is wrong.",
        "Rating 8 users took 5 minutes",
        "| model | accuracy |\n| --- | --- |\n| ours | 8 |",
        "```\nRating: 6\n```",
    ],
)
def test_prose_that_mentions_a_number_is_no_score(line: str) -> None:
    assert read_one_text(around(line), load_venue("neurips-2024")) is None
    assert read_one_text(around(line), None) is None


def test_a_rating_with_a_condition_is_counted_and_stays_prose() -> None:
    line = "Rating: 6 if the proof is mended"
    read = read_one_text(around(line), load_venue("neurips-2024"))
    assert read is not None
    assert (read.scores, read.lines, read.text) == ({}, (), around(line))
    assert [one.reason for one in read.unused] == [UNCLEAR]


def test_what_a_reviewer_writes_behind_a_score_stays_prose() -> None:
    read = read_one_text(
        "Soundness: 3 - Lemma 2 has a gap.\n| Rating | 7 | Lemma 2 decides. |", load_venue("neurips-2024")
    )
    assert read is not None
    assert read.scores == {"soundness": 3, "rating": 7}
    assert read.text == "Lemma 2 has a gap.\nLemma 2 decides."


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=":=\n\r|#*-–—：")), max_size=8))
def test_a_text_without_scores_and_headings_is_the_prose_as_it_stands(lines: list[str]) -> None:
    prose = [f"We {line}" for line in lines]
    assert read_one_text("\n".join(prose), load_venue("neurips-2024")) is None
    assert read_one_text("\n".join(prose), None) is None


FILLED = """# Review

## Summary
It works.

## Strengths
- **Clear**: well said

## Weaknesses
1. No baselines.

### Minor
Typos.

## Questions
Why?

## Limitations
None.

---
## Scores
Soundness: 3
Rating: 6

## Why
Because.
"""


def test_headings_that_name_boxes_part_the_text_into_the_forms_fields() -> None:
    read = read_one_text(FILLED, load_venue("neurips-2024"))
    assert read is not None
    assert read.boxes == {
        "summary": "It works.",
        "strengths": "- **Clear**: well said",
        "weaknesses": "1. No baselines.\n\n### Minor\nTypos.",
        "questions": "Why?",
    }
    assert read.text == (
        "It works.\n\n- **Clear**: well said\n\n1. No baselines.\n\n### Minor\nTypos.\n\nWhy?\n\nBecause."
    )
    assert read.outside == "Because."
    assert read.lines == ("Soundness: 3", "Rating: 6", "# Review", "## Why")


def test_a_box_for_both_sides_keeps_which_is_which() -> None:
    read = read_one_text(FILLED, load_venue("neurips-2025"))
    assert read is not None
    assert read.boxes["strengths_and_weaknesses"] == (
        "Strengths:\n- **Clear**: well said\n\nWeaknesses:\n1. No baselines.\n\n### Minor\nTypos."
    )


def test_a_form_of_one_box_keeps_the_headings_its_reviewer_wrote() -> None:
    read = read_one_text("## Summary\nIt works.\n\n## Strengths\nShort.\n\nRating: 6", load_venue("iclr-2020"))
    assert read is not None
    assert (read.boxes, read.text) == ({}, "## Summary\nIt works.\n\n## Strengths\nShort.")
    assert read_one_text("## Summary\nIt works.\n\n## Strengths\nShort.", load_venue("iclr-2020")) is None


@pytest.mark.parametrize(
    "text",
    [
        "**Summary:** It works.\n**Strengths:** Short.\nRating: 6",
        "Summary:\nIt works.\n\nStrengths:\nShort.\n\nRating: 6",
        "1. Summary\nIt works.\n2. Strengths\nShort.",
        "Summary: It works.\n\nPros: Short.",
    ],
)
def test_headings_are_known_in_bold_with_a_colon_and_by_their_place(text: str) -> None:
    read = read_one_text(text, load_venue("neurips-2024"))
    assert read is not None
    assert read.boxes == {"summary": "It works.", "strengths": "Short."}
    assert read.text == "It works.\n\nShort."


def test_headings_within_prose_do_not_part_it() -> None:
    text = "I like the paper.\n\nStrengths:\nShort.\n\nWeaknesses:\nSlow."
    assert read_one_text(text, load_venue("neurips-2024")) is None


OTHERS = "Summary:\nIt works.\n\nWeaknesses:\nSlow.\n\nMajor concerns:\n\nThe proof.\n\nClarity:\nFine.\n\n"


def test_a_text_with_further_headings_of_the_same_kind_is_parted_only_with_its_scores() -> None:
    assert read_one_text(OTHERS, load_venue("neurips-2024")) is None
    read = read_one_text(f"{OTHERS}Rating: 6", load_venue("neurips-2024"))
    assert read is not None
    assert read.boxes == {"summary": "It works.", "weaknesses": "Slow."}
    assert read.outside == "Major concerns:\n\nThe proof.\n\nClarity:\nFine."
    assert read.text == f"It works.\n\nSlow.\n\n{read.outside}"


def test_points_of_a_box_are_no_headings() -> None:
    text = "1. Summary\nIt works.\n\n2. Weaknesses\n\n1. No baselines\n\n**Slow.**\n\nRating: 6"
    read = read_one_text(text, load_venue("neurips-2024"))
    assert read is not None
    assert read.boxes["weaknesses"] == "1. No baselines\n\n**Slow.**"


def cases(tmp_path: Path, *rows: dict[str, Any]) -> list[ReviewCase]:
    path = tmp_path / "set.jsonl"
    about = {"paper_id": "p", "source": "ai:m", "venue": "NeurIPS", "year": 2024}
    path.write_text("".join(json.dumps({**about, **row}) + "\n" for row in rows), encoding="utf-8")
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        found = list(read_cases(path, rejected=sink))
    assert sink.count == 0
    return found


@pytest.mark.parametrize("column", ["text", "review"])
@pytest.mark.parametrize("source", ["ai:m", "human"])
def test_a_row_with_one_text_gets_rating_confidence_and_fields(tmp_path: Path, column: str, source: str) -> None:
    (case,) = cases(tmp_path, {column: f"{FILLED}\n- Confidence: 4", "source": source})
    assert (case.rating, case.confidence) == (6, 4)
    assert (case.fields["soundness"], case.fields["questions"]) == (3, "Why?")
    assert case.fields.get("review") == ("Because." if column == "review" else None)
    assert case.extra["scores_in_text"] == ["soundness", "rating", "confidence"]
    assert not any(word in case.text for word in ("Summary", "Rating", "Confidence", "Soundness"))


@pytest.mark.parametrize("column", ["rating", "overall_recommendation"])
def test_a_column_wins_over_the_text(tmp_path: Path, column: str) -> None:
    text = "It works.\nRating: 6\nConfidence: 4"
    beside, off, empty = cases(
        tmp_path,
        {"text": text, column: "8: Strong Accept", "confidence": 2},
        {"text": f"{text}\n.", column: 6.5},
        {"text": f"{text}\n..", column: None},
    )
    assert (beside.rating, beside.confidence, beside.text) == (8, 2, "It works.")
    assert "scores_in_text" not in beside.extra
    assert (off.rating, off.confidence, off.extra["scores_in_text"]) == (6.5, 4, ["confidence"])
    assert (empty.rating, empty.confidence) == (6, 4)


def test_boxes_of_the_data_are_not_replaced_by_headings(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, {"text": FILLED, "strengths": "Its own."})
    assert (case.rating, case.fields["strengths"], case.fields.get("questions")) == (6, "Its own.", None)


def test_unused_lines_are_with_the_case(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, {"text": around("Rating: 12")})
    assert (case.rating, case.text) == (None, PROSE)
    assert case.extra["score_lines_unused"] == [{"line": "Rating: 12", "reason": OFF_SCALE}]
