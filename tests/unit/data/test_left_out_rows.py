"""What a review set, a list of papers or a conversion leaves out is counted, and said where the result is printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.api.benchmark_sets import convert_set
from referee.api.detection.checking import _case
from referee.api.detection.opening import read_anchors
from referee.api.evaluations.job import eval_notes
from referee.api.experiments.job import notes_of as notes_of_experiment
from referee.data import ReadingNotes, read_cases, read_papers
from referee.errors import DataError
from referee.evals.registry import find_metrics
from referee.venues import load_venue

ICLR = "ICLR.cc/2024/Conference"


def saved(path: Path, rows: list[Mapping[str, object]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def notes_of(path: Path, **options: object) -> list[str]:
    notes = ReadingNotes()
    for case in read_cases(path, notes=notes, **options):  # type: ignore[arg-type]
        notes.add(case)
    return list(notes.notes())


def test_notes_that_are_no_reviews_are_counted_by_kind(tmp_path: Path) -> None:
    def note(name: str, kind: str, **more: object) -> dict[str, object]:
        whole = {"id": name, "forum": "f", "invitation": f"{ICLR}/Paper1/-/{kind}", "content": {"review": "Fine work."}}
        return {**whole, "signatures": ["x"], **more}

    rows = [
        {**note("f", "Submission"), "invitation": f"{ICLR}/-/Blind_Submission", "content": {"title": "T"}},
        note("a", "Official_Review", tcdate=1),
        note("a", "Official_Review", tcdate=2),
        note("b", "Official_Review", ddate=5),
        note("c", "Meta_Review"),
        note("d", "Official_Comment"),
        note("e", "Official_Comment"),
    ]
    assert notes_of(saved(tmp_path / "notes.jsonl", rows), layout="openreview-v1") == [
        "5 record(s) are no reviews and are left out: Meta_Review (1), Official_Comment (2), deleted note (1), "
        "older version (1)"
    ]


def test_an_editors_letter_beside_reviewers_is_counted(tmp_path: Path) -> None:
    reviews = [{"reviewer": "letter", "text": "We thank you."}, {"reviewer": "1", "text": "Fine work."}]
    file = saved(tmp_path / "set.jsonl", [{"paper_id": "p", "reviews": reviews}])
    assert notes_of(file) == ["1 record(s) are no reviews and are left out: editor's letter (1)"]


def test_placed_reviews_second_columns_dates_and_reviews_without_text_are_counted(tmp_path: Path) -> None:
    rows = [
        {"paper_id": "p", "text": "One.", "Text": "Two.", "venue": "Workshop on Graphs", "date": 10**19},
        {"paper_id": "q", "summary": "", "remarks": "Too short.", "venue": "Workshop on Graphs"},
    ]
    assert notes_of(saved(tmp_path / "set.jsonl", rows), venue=load_venue("iclr-2024"), layout="flat") == [
        "2 review(s) name the venue 'Workshop on Graphs', which is not known; they are read on 'iclr-2024'",
        "the column 'Text' of 1 row(s) is not read; another has its name in small letters",
        "1 review(s) have no text: their boxes are empty, or have names that are not known and at most 120 characters",
        "1 date(s) cannot be read and count as missing",
    ]


def test_rows_without_a_full_text_and_parts_that_hold_none_are_problems(tmp_path: Path) -> None:
    rows = [
        {"paper_id": "a", "sections": [{"heading": "One", "text": "Text."}, "Two"], "references": ["A. Work.", 7]},
        {"paper_id": "b", "abstract": "Short."},
        {"paper_id": "c", "title": "T"},
        {"markdown": "# T\n\nText."},
    ]
    assert read_papers(saved(tmp_path / "papers.jsonl", rows)).problems == (
        "papers.jsonl, line 1: 1 of the sections cannot be read and are left out of the paper",
        "papers.jsonl, line 1: 1 of the references cannot be read and are left out of the paper",
        "papers.jsonl: 2 row(s) hold no paper, as they have no full text (sections or markdown), the first in line 2",
        "papers.jsonl: 1 row(s) hold no paper, as they have no id, the first in line 4",
    )


def test_a_system_that_no_row_of_a_conversion_holds_is_named(tmp_path: Path) -> None:
    rows = [
        {"forum_id": "a", "reviews": [{"review_id": "1", "source": "human", "text": "Fine."}]},
        {"forum_id": "", "reviews": [{"review_id": "2", "source": "ai:gpt", "text": "Fine."}]},
    ]
    with pytest.raises(DataError, match=r"no row of 'gpt' can be used: 1 left out, the first in .*line 2"):
        convert_set(saved(tmp_path / "set.jsonl", rows), out=tmp_path / "out")
    both = [{"review_id": "1", "source": "ai:gpt", "text": "Fine."}]
    kept = {"forum_id": "a", "reviews": [*both, "a review as text"]}
    done = convert_set(saved(tmp_path / "set.jsonl", [kept, rows[1]]), out=tmp_path / "out")
    assert (done.rejected, done.no_reviews) == (1, 1)


def test_anchors_and_a_checked_file_tell_what_they_left_out(tmp_path: Path) -> None:
    rows = [
        {"paper_id": "p", "source": "ai:gpt", "text": "Fine."},
        {"paper_id": "p", "source": "human", "text": "Good."},
        {"paper_id": "", "source": "ai:gpt", "text": "No paper."},
    ]
    assert read_anchors(saved(tmp_path / "set.jsonl", rows)).notes == (
        "of the anchors in 'set.jsonl': 1 row(s) could not be used (of gpt: 1); the log names each",
        "of the anchors in 'set.jsonl': 1 review(s) are left out: no AI wrote them of the paper alone, or its model "
        "has another",
    )
    case, notes = _case(saved(tmp_path / "one.jsonl", [{"paper_id": "", "text": "No paper."}, rows[0]]), "p")
    assert (case.text, notes) == (
        "Fine.",
        ("of the file 'one.jsonl': 1 row(s) could not be used (of nobody named: 1); the log names each",),
    )


def test_notes_on_papers_anchors_and_human_reviews_stand_among_those_of_the_result(tmp_path: Path) -> None:
    problems = tuple(f"papers.jsonl, line {n}: bad" for n in range(5))
    store = SimpleNamespace(ids=lambda: ("p",), problems=problems)
    job: Any = SimpleNamespace(
        paper_store=store,
        papers=tmp_path,
        metrics=find_metrics(["factual_correctness"]),
        reviews=SimpleNamespace(
            store=SimpleNamespace(papers=["p"], sources={("human", "human"): 1}, venues=Counter()),
            rejected=0,
            reading=ReadingNotes(),
            rows=SimpleNamespace(unclear=()),
        ),
        detection=SimpleNamespace(notes=("of the anchors: one",)),
        known=None,
        judges=(),
        repeats=1,
    )
    assert list(eval_notes(job)) == [
        "of the anchors: one",
        *(f"a paper cannot be used, or not as a whole: {problem}" for problem in problems[:3]),
        f"2 other problem(s) like these are in {str(tmp_path)!r}",
    ]
    common = SimpleNamespace(strategy="single", prompts={})
    plan: Any = SimpleNamespace(seeds=(0,), arms=(), grid=None, common=common)
    lists = dict.fromkeys(("units", "judges", "arms", "metrics", "looked_at", "left_out", "null_tests", "halves"), ())
    experiment: Any = SimpleNamespace(
        plan=plan, papers={}, references={}, excluded={}, planted=None, reading=("of the human reviews: one",), **lists
    )
    assert "of the human reviews: one" in list(notes_of_experiment(experiment))
