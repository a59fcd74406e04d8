"""Each layout is found by its content and read into the same kind of case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.data import RejectedSink, find_layouts, read_cases
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.schemas.review import Review

NOTE = {
    "id": "n1",
    "forum": "f1",
    "replyto": "f1",
    "signatures": ["ICLR.cc/2026/Conference/Submission7/Reviewer_abcd"],
    "invitations": ["ICLR.cc/2026/Conference/Submission7/-/Official_Review", "ICLR.cc/2026/Conference/-/Edit"],
    "domain": "ICLR.cc/2026/Conference",
    "cdate": 1761827860027,
    "content": {"summary": {"value": "Old."}, "rating": {"value": 4}, "confidence": {"value": 3}},
}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def one(path: Path, **options: Any) -> ReviewCase:
    (case,) = read_cases(path, **options)
    return case


def layout_of(path: Path) -> str | None:
    return find_layouts(path)[0].layout


def test_our_own_lines_come_back_as_they_were_written(tmp_path: Path) -> None:
    case = ReviewCase(case_id="a", paper_id="p", source="m", kind="ai", text="Text.", rating=3, extra={"k": [1]})
    file = write(tmp_path / "set.jsonl", case.model_dump(mode="json"))
    read = one(file)
    assert read.origin is not None
    assert (read.origin.file, read.origin.line, read.origin.layout) == (str(file), 1, "cases")
    assert read.model_copy(update={"origin": None}) == case
    assert one(write(tmp_path / "again.jsonl", read.model_dump(mode="json"))) == read


def test_a_folder_of_runs_gives_one_review_each_and_nothing_else_of_them(tmp_path: Path) -> None:
    fields = {"summary": "What it does.", "strengths": "Clear.", "weaknesses": None, "rating": 6, "confidence": 3}
    for name in ("first", "second"):
        review = Review(
            review_id=name, paper_id="0" * 64, venue="iclr-2025", source="some-model", fields=fields, rating=6
        )
        (tmp_path / name).mkdir()
        (tmp_path / name / "review.json").write_text(review.model_dump_json(indent=2), encoding="utf-8")
        (tmp_path / name / "run.json").write_text("{}", encoding="utf-8")
    first, second = read_cases(tmp_path)
    assert (first.case_id, second.case_id, first.kind, first.source) == ("first", "second", "ai", "some-model")
    assert (first.text, first.rating, first.venue) == ("What it does.\n\nClear.", 6.0, "iclr-2025")
    assert "referee review" in first.extra["kind_rule"]


@pytest.mark.parametrize("packed", [False, True])
def test_rows_of_papers_hold_a_list_or_a_string_of_reviews(tmp_path: Path, packed: bool) -> None:
    reviews = [
        {"review_id": "r1", "summary": "Sum.", "weaknesses": "Weak.", "rating": 6, "rating_raw": "6: above"},
        {"review_id": "r2", "summary": "", "weaknesses": "Thin.", "rating": "", "extra_scores": {"novelty": "3 good"}},
    ]
    row = {"forum_id": "f", "conference": "ICLR", "year": 2025, "title": "T", "decision": "Reject"}
    row |= {"reviews_json": json.dumps(reviews)} if packed else {"reviews": reviews}
    first, second = read_cases(write(tmp_path / "arena.jsonl", row))
    assert (first.case_id, first.paper_id, first.paper_title, first.decision) == ("r1", "f", "T", "Reject")
    assert (first.venue, first.text, first.rating, first.fields["rating"]) == (
        "iclr-2025",
        "Sum.\n\nWeak.",
        6,
        "6: above",
    )
    assert (second.rating, second.text, second.fields["novelty"]) == (None, "Thin.", "3 good")
    assert (first.source, first.kind) == ("human", "human")
    assert "counts as human" in first.extra["kind_rule"]


def test_an_editors_letter_is_read_only_where_there_is_no_reviewer(tmp_path: Path) -> None:
    letter, review = {"reviewer": "letter", "text": "Dear"}, {"reviewer": "Reviewer 1", "text": "Review"}
    file = write(
        tmp_path / "p.jsonl", {"local_id": "a", "reviews": [letter, review]}, {"local_id": "b", "reviews": [letter]}
    )
    assert [(case.paper_id, case.text) for case in read_cases(file)] == [("a", "Review"), ("b", "Dear")]


def test_flat_rows_say_who_wrote_them_and_labels_leave_the_text(tmp_path: Path) -> None:
    row = {
        "paper_id": "p",
        "source": "ai:gpt-x",
        "text": "Summary:\nIt works.\n\nStrengths:\n- One\n- Two\n",
        "strengths": ["One", "Two"],
        "venue": "ICLR",
        "year": 2022,
        "scores": {"overall": 7},
        "config": "c",
    }
    case = one(write(tmp_path / "flat.jsonl", row))
    assert (case.source, case.kind, case.text) == ("gpt-x", "ai", "It works.\n\n- One\n- Two")
    assert case.rating == 7
    assert "does not take 7" in case.extra["rating_off_form"]
    assert (case.extra["config"], case.fields["strengths"]) == ("c", ["One", "Two"])


def test_the_newest_version_of_a_note_is_read_and_only_reviews(tmp_path: Path) -> None:
    newer = {**NOTE, "mdate": 1762917070188, "content": {**NOTE["content"], "summary": {"value": "New."}}}
    decision = {
        "id": "d",
        "forum": "f1",
        "invitations": ["ICLR.cc/2026/Conference/Submission7/-/Decision"],
        "content": {"decision": {"value": "Accept (poster)"}},
    }
    meta = {**NOTE, "id": "m", "invitations": ["ICLR.cc/2026/Conference/Submission7/-/Meta_Review"]}
    deleted = {**NOTE, "id": "x", "ddate": 1}
    file = tmp_path / "notes.json"
    file.write_text(json.dumps({"count": 5, "notes": [newer, NOTE, meta, deleted, decision]}), encoding="utf-8")
    case = one(file)
    assert layout_of(file) == "openreview-v2"
    assert (case.case_id, case.paper_id, case.venue, case.year) == ("n1", "f1", "iclr-2026", 2026)
    assert (case.text, case.rating, case.confidence, case.date) == ("New.", 4, 3, "2025-10-30")
    assert (case.decision, case.kind) == ("Accept (poster)", "human")


def test_versions_in_two_files_of_a_folder_count_as_one_note(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"notes": [NOTE]})
    write(tmp_path / "b.json", {"notes": [{**NOTE, "mdate": 1762917070188}]})
    case = one(tmp_path)
    assert case.origin is not None
    assert case.origin.file.endswith("b.json")


def test_an_ai_reviewer_signs_as_one(tmp_path: Path) -> None:
    note = {**NOTE, "signatures": ["Agents4Science/2025/Conference/Submission2/Reviewer_AIRev3"]}
    case = one(write(tmp_path / "n.jsonl", note))
    assert (case.source, case.kind) == ("AIRev3", "ai")


def test_both_versions_of_the_platform_give_the_same_case(tmp_path: Path) -> None:
    v2 = {**NOTE, "invitations": ["ICLR.cc/2019/Conference/-/Paper3/Official_Review"], "domain": None}
    v2["content"] = {"review": {"value": "Good work."}, "rating": {"value": "7: Good paper, accept"}}
    v1 = {name: value for name, value in v2.items() if name != "invitations"}
    v1 |= {"invitation": "ICLR.cc/2019/Conference/-/Paper3/Official_Review"}
    v1["content"] = {"review": "Good work.", "rating": "7: Good paper, accept"}
    new = one(write(tmp_path / "v2.json", {"notes": [v2]}))
    old = one(write(tmp_path / "v1.json", {"notes": [v1]}))
    assert layout_of(tmp_path / "v1.json") == "openreview-v1"
    assert old.model_copy(update={"origin": None}) == new.model_copy(update={"origin": None})
    assert (old.rating, old.venue, old.fields["rating"]) == (7, "iclr-2019", "7: Good paper, accept")


def test_a_files_name_tells_what_a_notes_content_does_not(tmp_path: Path) -> None:
    content = {"title": "Good", "review": "Fine.", "rating": "7: Good paper, accept", "confidence": "3: fairly"}
    case = one(write(tmp_path / "2019__forum-1__note_2.json", content))
    assert (case.case_id, case.paper_id, case.year, case.venue) == ("note_2", "forum-1", 2019, None)
    assert (case.text, case.rating, case.confidence) == ("Fine.", 7, 3)
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        assert list(read_cases(write(tmp_path / "other.json", content), rejected=sink)) == []
    assert sink.count == 1


def test_the_tree_of_the_detection_set_is_read_by_path_and_columns(tmp_path: Path) -> None:
    file = tmp_path / "test" / "gpt4o" / "ICLR2021.test.odd-tag.v2.csv"
    file.parent.mkdir(parents=True)
    file.write_text(
        "\ufeffpaper_id;author_type;Review;Rating;odd\np1;human;Human text.;6: fine;x\np1;ai;Machine text.;8;y\n",
        encoding="utf-8",
    )
    human, machine = read_cases(tmp_path)
    assert layout_of(tmp_path) == "detection-csv"
    assert (human.source, human.kind, human.rating, human.venue) == ("human", "human", 6, "iclr-2021")
    assert (machine.source, machine.kind, machine.text) == ("odd-tag.v2", "ai", "Machine text.")
    assert machine.extra == {"odd": "y", "split": "test", "llm": "gpt4o", "llm_tag": "odd-tag.v2"}


def test_human_rows_that_stand_in_two_folders_of_the_tree_are_read_once(tmp_path: Path) -> None:
    for llm in ("gpt4o", "claude"):
        file = tmp_path / "test" / llm / f"ICLR2021.test.{llm}.csv"
        file.parent.mkdir(parents=True)
        file.write_text(f"paper_id,is_ai,review\np1,0,Same.\np1,1,By {llm}.\n", encoding="utf-8")
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        assert [case.source for case in read_cases(tmp_path, rejected=sink)] == ["human", "claude", "gpt4o"]
    assert sink.count == 1


def test_text_files_are_named_after_paper_source_and_number(tmp_path: Path) -> None:
    for name in ("p1__human__1.md", "p1__ai-gpt__2.txt", "p2.md"):
        (tmp_path / name).write_text("A review.", encoding="utf-8")
    (tmp_path / "p3").mkdir()
    (tmp_path / "p3" / "somebody__1.md").write_text("Inside.", encoding="utf-8")
    cases = [(case.case_id, case.paper_id, case.source, case.kind) for case in read_cases(tmp_path)]
    assert (
        cases
        == [
            ("p1__gpt__2", "p1", "gpt", "ai"),
            ("p1__human__1", "p1", "human", "human"),
            ("p2__unknown", "p2", "unknown", "unknown"),
            ("p3__somebody__1", "p3", "somebody", "unknown"),
        ]
        or cases
    )


def test_other_rows_are_read_by_a_mapping_file(tmp_path: Path) -> None:
    file = write(tmp_path / "odd.jsonl", {"sub": {"no": 12}, "reports": [{"who": "gpt", "body": {"t": "Text."}}, "x"]})
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        'reviews = "reports"\n[case]\npaper_id = "sub.no"\ntext = "body.t"\nsource = "who"\n'
        '[constants]\nvenue = "ICLR"\nyear = 2024\n[kinds]\ngpt = "ai"\n',
        encoding="utf-8",
    )
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        case = one(file, mapping=mapping, rejected=sink)
    assert (case.paper_id, case.source, case.kind, case.text) == ("12", "gpt", "ai", "Text.")
    assert (case.venue, sink.count) == ("iclr-2024", 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case = 3", "case"),
        ('[case]\npaper_id = "p"\n', "does not say where"),
        ('[case]\npaper = "p"\n', "paper"),
        ("not toml", "not valid TOML"),
    ],
)
def test_a_wrong_mapping_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "map.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_cases(write(tmp_path / "odd.jsonl", {"a": 1}), mapping=tmp_path / "map.toml")


def test_what_is_in_no_known_layout_is_refused_with_what_was_seen(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has alpha, beta"):
        read_cases(write(tmp_path / "x.jsonl", {"alpha": 1, "beta": 2}))
    with pytest.raises(DataError, match="there is no"):
        read_cases(tmp_path / "nothing")
    with pytest.raises(DataError, match="'tables' is unknown"):
        read_cases(tmp_path, layout="tables")
    with pytest.raises(DataError, match="needs a mapping"):
        read_cases(tmp_path, layout="mapped")


def test_files_are_passed_over_by_their_whole_name_alone(tmp_path: Path) -> None:
    row = {"paper_id": "p", "source": "human", "text": "Fine."}
    read = ("run.jsonl", "collected.jsonl", "license-a.jsonl", "papers.jsonl.parquet.jsonl")
    passed = ("run.json", "collected.json", "papers.jsonl", "rejected.jsonl", "README.json")
    for number, name in enumerate((*read, *passed)):
        write(tmp_path / name, {**row, "review_id": name, "text": f"Text {number}."})
    (tmp_path / "README-data.md").write_text("About.", encoding="utf-8")
    assert {case.case_id for case in read_cases(tmp_path)} == set(read)
