"""The tree of the detection benchmark: odd tags and words are read, and what is odd about the rows is counted."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from referee.data import RejectedSink, TreeChecks, find_layouts, read_cases
from referee.data.layouts.detection import path_facts
from referee.schemas.case import ReviewCase

Row = dict[str, object]


def tree_file(root: Path, name: str, *rows: Row) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


def pair(paper: str, llm: str, **more: object) -> list[Row]:
    human = {"paper_id": paper, "author_type": "human", "review": f"A person on {paper}.", "rating": "6", **more}
    return [human, {**human, "author_type": "ai", "review": f"{llm} on {paper}."}]


def read(root: Path) -> tuple[list[ReviewCase], list[str]]:
    checks = TreeChecks()
    with RejectedSink(root.parent / "rejected.jsonl") as sink:
        cases = list(read_cases(root, rejected=sink, checks=checks))
    return cases, list(checks.notes())


@pytest.mark.parametrize(
    ("path", "split", "llm", "tag"),
    [
        ("test/gpt4o/ICLR2021.test.gpt-4o.csv", "test", "gpt4o", "gpt-4o"),
        ("test/llama/NeurIPS_2022.test.Meta-Llama-3.1-70B.v2.csv", "test", "llama", "Meta-Llama-3.1-70B.v2"),
        ("extended/llama/ICLR2017.extended.csv", "extended", "llama", "llama"),
        ("test/claude/ICLR2021.calibration.claude.csv", "calibration", "claude", "claude"),
        ("test/qwen/Agents4Science2025.test.qwen.csv", "test", "qwen", "qwen"),
        ("elsewhere/ICLR2021.test.gpt-4o.csv.gz", "test", "gpt-4o", "gpt-4o"),
    ],
)
def test_a_path_says_split_llm_and_tag(path: str, split: str, llm: str, tag: str) -> None:
    facts = path_facts(Path("/data") / path)
    assert facts is not None
    assert (facts.split, facts.llm, facts.tag) == (split, llm, tag)


@pytest.mark.parametrize("name", ["reviews.csv", "ICLR2021.csv", "ICLR2021.test.csv", "2021.test.x.csv"])
def test_other_tables_are_none_of_the_tree(name: str) -> None:
    assert path_facts(Path("/data/reviews") / name) is None


def test_a_tree_becomes_reviews_with_split_and_llm_and_its_integrity_is_told(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    tree_file(root, "calibration/gpt4o/ICLR2021.calibration.gpt-4o.csv", *pair("p1", "GPT"), *pair("p2", "GPT"))
    tree_file(root, "calibration/claude/ICLR2021.calibration.odd.v9.csv", *pair("p1", "Claude"), *pair("p2", "Claude"))
    tree_file(root, "test/gpt4o/ICLR2022.test.gpt-4o.csv", *pair("p3", "GPT"))
    assert {file.layout for file in find_layouts(root)} == {"detection-csv"}
    cases, notes = read(root)
    assert [(case.source, case.extra["split"], case.extra["llm"]) for case in cases if case.kind == "ai"] == [
        ("odd.v9", "calibration", "claude"),
        ("odd.v9", "calibration", "claude"),
        ("gpt-4o", "calibration", "gpt4o"),
        ("gpt-4o", "calibration", "gpt4o"),
        ("gpt-4o", "test", "gpt4o"),
    ]
    assert [case.paper_id for case in cases if case.kind == "human"] == ["p1", "p2", "p3"]
    assert {case.venue for case in cases} == {"iclr-2021", "iclr-2022"}
    assert notes == [
        "3 file(s) of the detection tree; rows: calibration 8 (published: 75,824), test 2 (published: 287,052)",
        "5 human rows hold 3 different reviews: the tree repeats them beside every LLM's, and equal rows are read once",
    ]


def test_what_is_odd_is_counted_and_nothing_of_it_is_fatal(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    late = pair("p1", "GPT", technical_novelty_and_significance="3", empirical_novelty_and_significance="-999")
    tree_file(root, "test/gpt4o/ICLR2024.test.gpt-4o.csv", *late, {"paper_id": "p1", "review": "Whose?"})
    tree_file(root, "test/gpt4o/ICLR2021.calibration.gpt-4o.csv", *pair("p1", "GPT")[:1])
    cases, notes = read(root)
    assert len(cases) == 4
    assert "empirical_novelty_and_significance" not in cases[1].fields
    assert notes[1] == (
        "1 of 2 file(s) hold unequal numbers of human and AI rows: ICLR2021.calibration.gpt-4o.csv: 1 human, 0 AI"
    )
    assert "1 paper(s) stand in calibration as well as in test, the first: 'p1'" in "\n".join(notes)
    assert notes[-4:] == [
        "2 scores of -999 (not applicable) are read as missing",
        "1 rows do not say who wrote them",
        "1 rows lie in the folder of another split than their file's name says",
        "1 human rows are of conferences after 2022 and may be AI reviews themselves",
    ]


@pytest.mark.parametrize(
    ("column", "human", "machine"),
    [
        ("author_type", "Human", "AI"),
        ("label", "human-written", "LLM-generated"),
        ("label", "0", "1"),
        ("is_llm", "False", "True"),
        ("Review Source", "human", "machine"),
    ],
)
def test_who_wrote_a_row_is_told_in_many_ways(tmp_path: Path, column: str, human: str, machine: str) -> None:
    rows: list[Row] = [{"Paper ID": "p", column: said, "Main Review": f"By {said}."} for said in (human, machine)]
    tree_file(tmp_path / "tree", "test/gpt4o/ICLR2022.test.gpt-4o.csv", *rows)
    cases, _ = read(tmp_path / "tree")
    assert [(case.kind, case.source) for case in cases] == [("human", "human"), ("ai", "gpt-4o")]


@pytest.mark.parametrize("column", ["forum", "submission_id", "id", "paper"])
def test_papers_have_many_names_for_their_ids(tmp_path: Path, column: str) -> None:
    rows: list[Row] = [{column: "p7", "author_type": "ai", "review": "Text."}]
    tree_file(tmp_path / "tree", "test/gpt4o/ICLR2021.test.gpt-4o.csv", *rows)
    cases, _ = read(tmp_path / "tree")
    assert [case.paper_id for case in cases] == ["p7"]


def test_other_sets_have_no_notes(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text('{"paper_id": "p", "source": "human", "text": "T."}\n', encoding="utf-8")
    checks = TreeChecks()
    assert len(list(read_cases(tmp_path / "set.jsonl", checks=checks))) == 1
    assert list(checks.notes()) == []
