"""Public sets of known errors, read from tiny copies in their layouts."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from referee.api.known_errors import load_set
from referee.data import read_cases, read_papers
from referee.data.known_sets import KnownErrors, Written, read_known
from referee.data.parquet import write_parquet
from referee.errors import DataError, RefereeError
from tests import known_sets as sets


def loaded(source: str, path: Path, tmp_path: Path, **more: Any) -> tuple[Written, KnownErrors]:
    out = tmp_path / "out"
    return load_set(source, path, out=out, **more), read_known(out)


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("spot", Written(papers=2, errors=3, reviews=0, rejected=0, without_file=1)),
        ("specs", Written(papers=1, errors=1, reviews=1, rejected=1, without_file=1)),
        ("flaws", Written(papers=2, errors=2, reviews=0, rejected=1, without_file=1)),
        ("peerreview-bench", Written(papers=1, errors=1, reviews=2, rejected=0, without_file=0)),
        ("reviewcritique", Written(papers=1, errors=2, reviews=2, rejected=0, without_file=0)),
    ],
)
def test_every_set_becomes_papers_errors_and_reviews_that_can_be_read_again(
    source: str, written: Written, tmp_path: Path
) -> None:
    done, known = loaded(source, sets.SETS[source](tmp_path / "copy"), tmp_path)
    assert done == written
    assert (known.about.source, len(known.errors)) == (source, written.errors)
    files = {paper.file: paper.sha256 for paper in known.about.papers if paper.file}
    held = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (tmp_path / "out/papers").iterdir()}
    assert files == held
    reviews = tmp_path / "out" / "reviews.jsonl"
    assert len(list(read_cases(reviews)) if reviews.exists() else []) == written.reviews
    assert all(known.of(error.paper_id) for error in known.errors)


def test_a_paper_is_found_by_its_id_by_its_files_name_and_by_its_digest(tmp_path: Path) -> None:
    _, known = loaded("spot", sets.spot(tmp_path / "copy"), tmp_path)
    paper = known.about.papers[0]
    assert known.of("10.1/a") == known.of("10.1_a") == known.of(paper.sha256)
    assert [error.place for error in known.of("10.1/a") or ()] == ["Lemma 3", "Table 2"]
    assert known.of("elsewhere") is None
    assert "Lemma 3 holds" in str(read_papers(tmp_path / "out" / "papers").get("10.1/a"))


def test_what_experts_let_stand_is_known_and_says_whose_it_is(tmp_path: Path) -> None:
    _, known = loaded("peerreview-bench", sets.peerreview(tmp_path / "copy"), tmp_path)
    assert [(e.description, e.reported_by) for e in known.errors] == [("Lemma 3 is not proven for n = 1.", ("7/H1",))]
    person = next(case for case in read_cases(tmp_path / "out" / "reviews.jsonl") if case.kind == "human")
    assert [one["correctness"] for one in person.extra["judgements"]] == ["Correct"] * 3


def test_rows_with_two_judgements_each_mean_the_same(tmp_path: Path) -> None:
    row = {"paper_id": 7, "reviewer_id": "H1", "reviewer_type": "Human", "review_item_number": 1, "review_item": "It."}
    axes = {"correctness": "Correct", "significance": "Significant", "evidence": "Sufficient"}
    both = {f"{axis}_{who}": said for axis, said in axes.items() for who in ("primary", "secondary")}
    split = {**both, "evidence_secondary": "Requires More"}
    file = sets.rows(tmp_path / "meta.jsonl", {**row, **both}, {**row, **split, "review_item_number": 2})
    _, known = loaded("peerreview-bench", file, tmp_path)
    assert [error.error_id for error in known.errors] == ["7/H1#1"]


def test_labelled_sentences_keep_their_labels_and_reviews_their_scores(tmp_path: Path) -> None:
    _, known = loaded("reviewcritique", sets.critique(tmp_path / "copy"), tmp_path)
    person, model = sorted(read_cases(tmp_path / "out" / "reviews.jsonl"), key=lambda case: case.kind, reverse=True)
    assert (person.rating, person.confidence, person.decision, model.source) == (6, 4, "Accept", "gpt4")
    assert person.extra["segments"][2]["error_type"] == "Neglect"
    assert {error.reported_by[0] for error in known.errors} == {person.case_id, model.case_id}


def test_the_altered_passages_of_a_flaw_are_kept_and_what_stood_before_is_not(tmp_path: Path) -> None:
    _, known = loaded("flaws", sets.flaws(tmp_path / "copy"), tmp_path)
    first = known.errors[0]
    assert first.description == "Too few."
    assert first.passages == ("We train for two epochs only.", "The schedule of two epochs is enough.")


def test_papers_of_ones_own_fill_a_set_without_texts_and_parquet_is_read(tmp_path: Path) -> None:
    rows = [{name: sets.spot_row()[name] for name in ("title", "error_location", "error_annotation")}]
    write_parquet(rows, tmp_path / "set.parquet", dict.fromkeys(rows[0], "string"))
    _, bare = loaded("spot", tmp_path / "set.parquet", tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    (own / f"{bare.about.papers[0].paper_id}.txt").write_text("Text.", encoding="utf-8")
    done = load_set("spot", tmp_path / "set.parquet", out=tmp_path / "filled", papers=own)
    assert done.without_file == 0
    assert (tmp_path / "filled" / "papers" / f"{bare.about.papers[0].paper_id}.txt").read_text() == "Text."


def test_broken_rows_are_counted_and_named_and_end_nothing(tmp_path: Path) -> None:
    good, same = sets.spot_row(), sets.spot_row(error_annotation="")
    file = sets.rows(tmp_path / "set.jsonl", good, "{broken", [1], same, {"title": "No error"}, good)
    done, _ = loaded("spot", file, tmp_path)
    assert (done.errors, done.rejected) == (2, 4)
    rejected = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert [row["line"] for row in rejected] == [2, 3, 4, 5]
    assert rejected[3]["reason"] == "there is no error_annotation; the fields are title."


def test_an_error_whose_paper_the_set_does_not_hold_is_left_out_by_name(tmp_path: Path) -> None:
    loaded("specs", sets.specs(tmp_path / "copy"), tmp_path)
    rejected = json.loads((tmp_path / "out" / "rejected.jsonl").read_text())
    assert rejected["file"].endswith("P2/c1.json")
    assert "'P2__c1', which the set does not hold" in rejected["reason"]


@pytest.mark.parametrize(("source", "given"), list(itertools.permutations(sets.SETS, 2)))
def test_another_sets_folder_is_refused_with_what_was_found_and_wanted(source: str, given: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"not in the layout of the set '{source}': found .*; wanted ") as caught:
        loaded(source, sets.SETS[given](tmp_path / "copy"), tmp_path)
    assert f"looks like the set '{given}'" in caught.value.hint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "rows", "said"),
    [
        (
            "spot",
            [{"title": "On a", "annotation": "wrong"}],
            "the fields annotation, title; wanted rows with error_ann",
        ),
        ("peerreview-bench", [{"paper_id": 1, "review_item": "x"}], "the fields paper_id, review_item; wanted rows"),
        ("spot", [{"title": "On a", "error_annotation": None}], "no known error that can be used. The first that was"),
        ("spot", ["nothing"], "no record in the file"),
        ("bench", [{}], "there is no set 'bench'"),
    ],
)
def test_missing_columns_name_the_fields_found(source: str, rows: list[Any], said: str, tmp_path: Path) -> None:
    file = sets.rows(tmp_path / "set.jsonl", *rows)
    with pytest.raises(RefereeError) as caught:
        load_set(source, file, out=tmp_path / "out")
    assert said in caught.value.message
    assert caught.value.hint


def test_specs_without_the_fields_that_we_know_are_refused_by_their_names(tmp_path: Path) -> None:
    sets.rows(tmp_path / "copy" / "perturbations" / "P1" / "c1.json", {"kind": "sign", "patch": "x"})
    with pytest.raises(DataError, match=r"no description or .*modified_text.*the fields are kind, patch"):
        load_set("specs", tmp_path / "copy", out=tmp_path / "out")


def test_a_changed_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    load_set("spot", sets.spot(tmp_path / "copy"), out=out)
    with pytest.raises(DataError, match="is there already"):
        load_set("spot", tmp_path / "copy", out=out)
    (out / "errors.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="is not as it was written"):
        read_known(out)
    with pytest.raises(DataError, match="holds no known errors"):
        read_known(tmp_path)
