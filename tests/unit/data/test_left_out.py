"""What of a set is there and cannot be used is counted by name; a table whose columns are not told apart is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.data import ReadingNotes, read_cases
from referee.data.drafts import Author, Draft, case_of
from referee.errors import DataError
from referee.schemas.case import CaseOrigin
from referee.venues.names import VenueForms

CONCERNS = "The controls of the second study are missing, and nothing in the paper says why they were not run. " * 2
BOXES = {
    "summary": "A study of graphs.",
    "rating": "6: marginally above",
    "confidence": "rather sure",
    "soundness": "9 of 10",
    "main_concerns": CONCERNS,
}


def test_boxes_scores_and_confidences_that_are_not_used_are_counted() -> None:
    reading = ReadingNotes()
    for name in "ab":
        draft = Draft("p", Author("human", "human", "said"), BOXES, review_id=name, conference="ICLR", year=2024)
        case = case_of(draft, CaseOrigin(file="set.jsonl", line=1, layout="flat"), VenueForms())
        assert (case.text, case.rating) == ("A study of graphs.", 6)
        reading.add(case)
    assert list(reading.notes()) == [
        "2 confidence(s) cannot be read and count as missing",
        "2 value(s) of the score 'soundness' are not on the venue's form and count as missing",
        "the box 'main_concerns' of 2 review(s) is not on the venue's form and is no part of the text",
    ]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "set.csv"
    file.write_text("paper_id,text,text\np,One.,Two.\n")
    with pytest.raises(DataError, match="more than one column 'text'") as caught:
        list(read_cases(file))
    assert "Rename" in caught.value.hint
