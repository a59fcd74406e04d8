from __future__ import annotations

from referee.agents.point_texts import CORRECTIONS, corrections_text
from referee.schemas.point import Correction, PointCheck, ReviewPoint

from .whole_run import raised

CHANGED = PointCheck(verdict="weakened", by="m", narrowed="Section 2: a full stop is missing")


def correction(printed: str, should_be: str, *, severity: str, place: str = "Section 2", **more: object) -> ReviewPoint:
    slip = Correction(place=place, printed=printed, should_be=should_be)
    claim = f"{place}: “{printed}” should be “{should_be}”"
    return raised(f"c-F1-{printed}", claim, severity=severity, correction=slip, **more)


def test_slips_of_writing_share_the_last_line() -> None:
    listed = [
        correction("31 days", "29 days", severity="minor"),
        correction("teh", "the", severity="note"),
        correction("lamp", "lamps", severity="note", place=""),
        correction("a", "a.", severity="note", check=CHANGED),
    ]
    assert corrections_text(listed).splitlines() == [
        CORRECTIONS,
        "- Section 2: “31 days” should be “29 days”",
        "- Slips of writing: for “teh” read “the” (Section 2); for “lamp” read “lamps”; "
        "Section 2: a full stop is missing.",
    ]


def test_without_slips_there_is_no_line_for_them_and_without_corrections_no_list() -> None:
    assert "Slips" not in corrections_text([correction("31 days", "29 days", severity="minor")])
    assert corrections_text([]) == ""
