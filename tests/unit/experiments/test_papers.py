"""Papers by file and pattern, splits, and the human reviews of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.errors import DataError, SettingsError
from referee.experiments.papers import PlanPaper, find_papers, of_split, read_references, same_content
from referee.experiments.plan_file import load_plan
from referee.papers import load_paper


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for name in "abcdefgh":
        (tmp_path / "in" / f"{name}.md").write_text(f"# Paper {name}\n")
    (tmp_path / "in" / "notes.log").write_text("no paper")
    return tmp_path


def found(folder: Path, files: list[str], **splits: Any) -> tuple[PlanPaper, ...]:
    plan = folder / "plan.toml"
    plan.write_text(f"[papers]\nfiles = {files}\n")
    loaded = load_plan(plan)
    changed = type(loaded.plan).model_validate({**loaded.plan.model_dump(), "splits": splits})
    return find_papers(type(loaded)(changed, loaded.folder))


@pytest.mark.parametrize("files", [["in/*.md"], ["in"], ["in/a.md", "in/[b-h].md"]])
def test_files_folders_and_patterns_are_beside_the_plan(shelf: Path, files: list[str]) -> None:
    assert [paper.name for paper in found(shelf, files)] == list("abcdefgh")


def test_nothing_found_one_name_twice_and_one_paper_twice_are_refused(shelf: Path) -> None:
    with pytest.raises(DataError, match=r"no paper is found by 'in/x\*.pdf'"):
        found(shelf, ["in/x*.pdf"])
    (shelf / "in" / "a.txt").write_text("another")
    with pytest.raises(DataError, match="have one name"):
        found(shelf, ["in"])
    (shelf / "in" / "a.txt").rename(shelf / "in" / "copy.md")
    (shelf / "in" / "copy.md").write_text("# Paper b\n")
    with pytest.raises(DataError, match="hold the same paper"):
        found(shelf, ["in"])


def test_splits_are_lists_or_a_share_that_does_not_change(shelf: Path) -> None:
    def test_of(**splits: Any) -> list[str]:
        return [paper.name for paper in found(shelf, ["in"], **splits) if paper.split == "test"]

    assert test_of() == []
    assert test_of(test=["b"]) == ["b"]
    assert test_of(development=list("abcdef")) == ["g", "h"]
    share = test_of(test_share=0.5)
    assert share == test_of(test_share=0.5)
    assert 0 < len(share) < 8
    assert set(test_of(test_share=0.2)) <= set(share)  # a larger share keeps what a smaller one held


@pytest.mark.parametrize(
    ("splits", "says"),
    [
        ({"test": ["z"]}, "'z', which is no paper"),
        ({"test": ["a"], "development": ["a"]}, "in both splits"),
        ({"test": ["a"], "development": ["b"]}, "in neither split"),
        ({"test": ["a"], "test_share": 0.5}, "by lists or by test_share"),
    ],
)
def test_splits_that_contradict_the_papers_are_refused(shelf: Path, splits: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        found(shelf, ["in"], **splits)


def test_a_split_without_papers_is_refused(shelf: Path) -> None:
    with pytest.raises(SettingsError, match="no paper in its test split"):
        of_split(found(shelf, ["in"]), "test")


def test_human_reviews_are_found_by_name_or_digest_and_others_are_left_out(shelf: Path) -> None:
    papers = found(shelf, ["in"])
    rows = [
        {"case_id": "1", "paper_id": "a", "source": "human", "kind": "human", "text": "Good."},
        {"case_id": "2", "paper_id": papers[1].digest, "source": "human", "kind": "human", "text": "Bad."},
        {"case_id": "3", "paper_id": "c", "source": "some-system", "kind": "ai", "text": "Fine."},
        {"case_id": "4", "paper_id": "elsewhere", "source": "human", "kind": "human", "text": "Fine."},
    ]
    (shelf / "human.jsonl").write_text("\n".join(map(json.dumps, rows)))
    references, notes = read_references(shelf / "human.jsonl", papers)
    assert {name: [case.case_id for case in cases] for name, cases in references.items()} == {"a": ["1"], "b": ["2"]}
    assert references["b"][0].paper_id == "b"
    assert notes == (
        "of the human reviews in 'human.jsonl': 1 review(s) are not said to be a human's and are left out",
        "of the human reviews in 'human.jsonl': 1 review(s) are of papers that are not in the plan and are left out",
    )


def test_rows_of_the_human_reviews_that_cannot_be_used_and_unread_ratings_are_told(shelf: Path) -> None:
    rows = [
        {"paper_id": "a", "source": "human", "text": "Good.", "rating": "rather good"},
        {"paper_id": "", "source": "human", "text": "No paper."},
    ]
    (shelf / "human.jsonl").write_text("\n".join(map(json.dumps, rows)))
    _, notes = read_references(shelf / "human.jsonl", found(shelf, ["in"]))
    assert (
        notes[0]
        == "of the human reviews in 'human.jsonl': 1 row(s) could not be used (of human: 1); the log names each"
    )
    assert "1 rating(s) cannot be read and count as missing" in notes[1]


def test_a_copy_is_the_same_paper_under_another_name_and_one_shared_paragraph_is_not(tmp_path: Path) -> None:
    shared = " ".join(f"shared{n}" for n in range(60))
    texts = {
        "one": f"# One\n\n## 1 Method\n\n{' '.join(f'own{n}' for n in range(300))}\n\n{shared}\n",
        "other": f"# Other\n\n## 1 Method\n\n{' '.join(f'else{n}' for n in range(300))}\n\n{shared}\n",
    }
    texts["copy"] = texts["one"].replace("# One", "# A title").replace("own150 ", "changed ").replace("own40 ", "")
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text)
    papers = {name: load_paper(tmp_path / f"{name}.md") for name in texts}
    assert same_content(papers) == ("one", "copy")
    assert same_content({name: papers[name] for name in ("copy", "other")}) is None
    assert same_content({}) is None
