"""Notes become rows and come back whole; both APIs say the same; every layout of a row is read as the same reviews."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.data import read_cases
from referee.data.found import entries
from referee.data.layouts.openreview import notes_in
from referee.data.normalise import Normaliser, notes_of
from referee.data.packing import metadata, packed
from referee.data.paper_rows import RowFound, read_rows
from referee.schemas.case import ReviewCase
from referee.schemas.paper_row import PaperRow, ScaleOverride

VENUE = "ICLR.cc/2022/Conference"
BOXES = {
    "title": "Official Review of Paper12",
    "summary_of_the_paper": "A bound on the error.",
    "main_review": "The proof of Lemma 2 has a gap. " * 5,
    "summary_of_the_review": "Sound but thin.",
    "correctness": "3: Some of the paper's claims have minor issues.",
    "flag_for_ethics_review": ["NO."],
    "details_of_ethics_concerns": "None of mine.",
    "recommendation": "6: marginally above the acceptance threshold",
    "confidence": "4: You are confident in your assessment, but not absolutely certain.",
}


def v1(kind: str, note: str, content: dict[str, Any], replyto: str | None = "f1", **more: Any) -> dict[str, Any]:
    who = {"Official_Review": "Reviewer_AbCd", "Decision": "Program_Chairs"}.get(kind, "Authors")
    return {
        "id": note,
        "forum": "f1",
        "replyto": replyto,
        "invitation": f"{VENUE}/-/Blind_Submission" if replyto is None else f"{VENUE}/Paper12/-/{kind}",
        "signatures": [f"{VENUE}/Paper12/{who}"],
        "tcdate": 1635000000000,
        "tmdate": 1635000000000,
        "content": content,
        **more,
    }


def v2(note: dict[str, Any]) -> dict[str, Any]:
    """The same note as the later API gives it."""
    rest = {name: value for name, value in note.items() if name not in ("invitation", "content")}
    wrapped = {name: {"value": value} for name, value in note["content"].items()}
    invitation = note["invitation"].replace("Blind_Submission", "Submission")
    return {**rest, "invitations": [invitation, f"{VENUE}/-/Edit"], "content": wrapped, "domain": VENUE}


FORUM = [
    v1("", "f1", {"title": "On bounds", "keywords": ["a", "b"], "TL;DR": "Short.", "pdf": "/x.pdf"}, None, number=12),
    v1("Official_Review", "r1", BOXES),
    v1("Rebuttal", "b1", {"rebuttal": "The gap is closed."}, "r1"),
    v1("Official_Comment", "c1", {"comment": "Thank you."}, "b1"),
    v1("Rebuttal", "b2", {"rebuttal": "To all reviewers."}),
    v1("Decision", "d1", {"decision": "Accept (Poster)", "comment": "Agreed."}),
]


def rows_in(path: Path, **given: Any) -> list[RowFound]:
    return list(read_rows(path, **given))


def row_in(path: Path, **given: Any) -> PaperRow:
    (found,) = rows_in(path, **given)
    assert found.row is not None
    return found.row


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def cases(path: Path) -> dict[str, ReviewCase]:
    return {case.case_id: case.model_copy(update={"origin": None}) for case in read_cases(path)}


def test_a_forum_is_one_row_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    row = row_in(lines(tmp_path / "notes.jsonl", *FORUM))
    assert (row.conference, row.year, row.track, row.venue_id, row.paper_number) == ("iclr", 2022, "main", VENUE, 12)
    assert (row.title, row.keywords, row.tldr, row.extra) == ("On bounds", ["a", "b"], "Short.", {"pdf": "/x.pdf"})
    assert (row.decision, row.decision_normalized, row.decision_comment) == ("Accept (Poster)", "accept", "Agreed.")
    assert row.author_rebuttal == "To all reviewers."
    (review,) = row.reviews
    assert (review.rating, review.rating_raw, review.confidence) == (6, BOXES["recommendation"], 4)
    assert (review.reviewer, review.rebuttal, review.kind) == ("Reviewer_AbCd", "The gap is closed.", "human")
    assert review.extra_text.keys() == {"main_review"}
    assert review.ethics.keys() == {"flag_for_ethics_review", "details_of_ethics_concerns"}
    kinds = [(note.kind, note.review_id) for note in row.other_notes or ()]
    assert kinds == [("review_rebuttal", "r1"), ("comment", "r1"), ("paper_rebuttal", None), ("decision", None)]


def test_both_apis_give_the_same_row(tmp_path: Path) -> None:
    old = row_in(lines(tmp_path / "v1.jsonl", *FORUM))
    forum = {**v2(FORUM[0]), "details": {"replies": [v2(note) for note in FORUM[1:]]}}
    new = row_in(lines(tmp_path / "v2.jsonl", forum))

    def plain(row: PaperRow) -> dict[str, Any]:
        held = row.model_dump(exclude={"note": True, "other_notes": {"__all__": {"note"}}})
        for review in held["reviews"]:
            del review["note"]
        return held

    assert plain(old) == plain(new)
    assert cases(tmp_path / "v1.jsonl") == cases(tmp_path / "v2.jsonl")


def test_revisions_and_their_reasons_are_kept(tmp_path: Path) -> None:
    place = "NeurIPS.cc/2025/Conference"
    one = {
        **v2(FORUM[1]),
        "domain": place,
        "content": {"rating": {"value": 4}, "final_justification": {"value": "They convinced me."}},
        "invitations": [f"{place}/Submission12/-/Official_Review", f"{place}/-/Edit"],
    }
    revised = [*one["invitations"], f"{place}/Submission12/Official_Review1/-/Review_Revision"]
    row = row_in(lines(tmp_path / "n.jsonl", one, {**one, "id": "r2", "invitations": revised}))
    assert [(review.was_revised, review.final_justification) for review in row.reviews] == [
        (False, "They convinced me."),
        (True, "They convinced me."),
    ]
    assert row_in(lines(tmp_path / "i.jsonl", *FORUM)).reviews[0].was_revised is None, "no trace, no answer"


def test_a_rebuttal_without_its_review_is_named_and_kept(tmp_path: Path) -> None:
    lost = v1("Rebuttal", "b9", {"rebuttal": "To whom?"}, "r9")
    (found,) = rows_in(lines(tmp_path / "n.jsonl", FORUM[1], lost))
    assert [problem.key for problem in found.broken] == ["other_notes"]
    assert "'b9' answers 'r9'" in found.broken[0].cause
    assert found.row is not None
    assert found.row.author_rebuttal is None
    assert lost in list(notes_of(found.row))


@pytest.mark.parametrize(("rating", "override", "held"), [(7, None, None), (7, (1, 10), 7), (4, None, 4)])
def test_a_rating_on_another_scale_is_not_mapped(
    tmp_path: Path, rating: int, override: tuple[int, int] | None, held: int | None
) -> None:
    review = {"review_id": "r", "summary": "S.", "rating": rating, "confidence": 3}
    path = lines(tmp_path / "a.jsonl", {"forum_id": "f", "conference": "neurips", "year": 2025, "reviews": [review]})
    scale = ScaleOverride(form="neurips-2025", low=override[0], high=override[1]) if override else None
    (found,) = rows_in(path, override=scale)
    assert found.row is not None
    assert (found.row.reviews[0].rating, found.row.reviews[0].rating_raw) == (held, rating)
    assert [problem.key for problem in found.broken] == ([] if held else ["reviews[0].rating"])
    assert found.row.scale_override == scale
    (case,) = cases(lines(tmp_path / "b.jsonl", found.row.model_dump(mode="json"))).values()
    assert case.rating == rating
    assert ("rating_off_form" in case.extra, "scale_override" in case.extra) == (held is None, scale is not None)


def public(row: PaperRow) -> dict[str, Any]:
    """The row as ReviewArena's public copy has it: empty texts, the reviews as one string, the platform's venue."""
    reviews = []
    for review in row.reviews:
        held = review.model_dump(exclude={"written", "note", "off_scale", "ethics", "extra", "source", "kind", "text"})
        held["extra_text"] |= review.ethics
        reviews.append({name: "" if value is None else value for name, value in held.items()})
    about = row.model_dump(include={"forum_id", "conference", "year", "track", "venue_id", "title", "num_reviews"})
    return {**about, "venue": "ICLR 2022 Poster", "decision": row.decision or "", "reviews_json": json.dumps(reviews)}


def test_the_public_rows_of_reviewarena_give_the_same_text_and_numbers(tmp_path: Path) -> None:
    row = row_in(lines(tmp_path / "notes.jsonl", *FORUM))
    ours, theirs = cases(tmp_path / "notes.jsonl")["r1"], cases(lines(tmp_path / "p.jsonl", public(row)))["r1"]
    kept = ("paper_id", "paper_title", "venue", "year", "source", "kind", "text", "rating", "confidence", "decision")
    assert {name: getattr(ours, name) for name in kept} == {name: getattr(theirs, name) for name in kept}
    again = row_in(tmp_path / "p.jsonl")
    assert (again.reviews[0].rating, again.reviews[0].rebuttal) == (6, "The gap is closed.")
    assert again.reviews[0].extra_text["main_review"] == BOXES["main_review"]


@pytest.mark.parametrize(
    "folder", ["api_v1_note_content_iclr2019_2020", "api_v2_agents4science2025", "api_v2_iclr2026"]
)
@pytest.mark.shared_data
def test_every_shared_note_comes_back_with_every_key(shared_data: Path, tmp_path: Path, folder: str) -> None:
    given = shared_data / "openreview_raw" / folder
    found = rows_in(given)
    rows = [one.row for one in found if one.row is not None]
    assert [one.broken for one in found if one.broken] == []
    back = Counter(json.dumps(note, sort_keys=True) for row in rows for note in notes_of(row))
    assert back == Counter(json.dumps(note, sort_keys=True) for note in source_notes(given))
    expected = cases(given)
    for shape in (
        [row.model_dump(mode="json") for row in rows],
        [packed(row) for row in rows],
        [metadata(row, "x.pdf") for row in rows],
    ):
        path = lines(tmp_path / "rows.jsonl", *shape)
        assert cases(path) == expected
        again = [one.row.model_copy(update={"pdf_path": None}) for one in rows_in(path) if one.row is not None]
        assert again == rows


def source_notes(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.iterdir()):
        if file.name.count("__") == 2:
            _, forum, note = file.stem.split("__")
            yield {"id": note, "forum": forum, "content": json.loads(file.read_text(encoding="utf-8"))}
            continue
        around: Any = {}
        for entry in entries(file):
            around = entry.around
            yield from notes_in(entry)
        if "content" in around:
            yield around


@pytest.mark.parametrize(
    ("raw", "flat"),
    [
        ("api_v2_agents4science2025", "paired/agents4science2025_reviews.jsonl"),
        ("api_v2_iclr2026", "papers/iclr2026_abstract_reviews_rebuttals.jsonl"),
    ],
)
@pytest.mark.shared_data
def test_what_is_measured_does_not_depend_on_the_layout(shared_data: Path, raw: str, flat: str) -> None:
    notes, others = cases(shared_data / "openreview_raw" / raw), cases(shared_data / flat)
    assert len(notes) > 40
    assert notes.keys() <= others.keys()
    for name, case in notes.items():
        for what in ("text", "rating", "confidence", "venue", "year", "source", "kind", "paper_id"):
            assert getattr(case, what) == getattr(others[name], what), (name, what)


@pytest.mark.shared_data
def test_a_conference_can_be_named_for_notes_that_name_none(shared_data: Path) -> None:
    found = rows_in(shared_data / "openreview_raw/api_v1_note_content_iclr2019_2020", conference="iclr")
    forms = Counter(review.form_id for one in found if one.row for review in one.row.reviews)
    assert forms == {"iclr-2019": 19, "iclr-2020": 44}


def test_columns_of_other_data_are_kept_beside_the_row(tmp_path: Path) -> None:
    given = {"forum_id": "f", "extra": ["odd"], "note": "a remark", "stars": 3, "reviews": [], "abstract": ""}
    row = row_in(lines(tmp_path / "a.jsonl", given))
    assert row.extra == {"extra": ["odd"], "note": "a remark", "stars": 3}
    assert row.abstract is None


def test_a_normaliser_keeps_what_no_form_knows() -> None:
    strange = {
        "id": "r",
        "forum": "f",
        "invitation": "X.org/2030/W/Paper1/-/Review",
        "content": {"zeal": 7, "essay": "x" * 200},
    }
    row = Normaliser().row([strange]).row
    assert (row.conference, row.year) == ("x", 2030)
    assert (row.reviews[0].extra_scores, row.reviews[0].extra_text) == ({"zeal": 7}, {"essay": "x" * 200})
    assert list(notes_of(row)) == [strange]
