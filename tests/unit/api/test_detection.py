"""The functions of detection with models that a program brings."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import referee
from referee import RunOptions
from referee.api.detection.opening import read_anchors
from referee.errors import DataError, EvaluationError
from referee.evals.detection.services import DetectionServices
from tests.cli.detect_sets import HUMAN, MACHINE, reviews, saved
from tests.unit.evals.detection.fakes import BigramLogits, Generator, WordEmbedder


@pytest.fixture
def services() -> DetectionServices:
    return DetectionServices(provider=BigramLogits(" ".join(MACHINE) * 3), generator=Generator([MACHINE[0]]))


@pytest.mark.slow
async def test_a_program_brings_its_own_models(tmp_path: Path, services: DetectionServices) -> None:
    names = ["loglik", "dna_gpt"]
    for name, seed in (("cal", 1), ("test", 2)):
        file = saved(tmp_path / f"{name}.jsonl", reviews(20, seed))
        options = RunOptions(out=tmp_path / name)
        done = await referee.detect_score(file, detectors=names, services=services, options=options)
        assert {name: counts.scored for name, counts in done.counts.items()} == {"loglik": 60, "dna_gpt": 60}
    file = tmp_path / "c.json"
    made = referee.detect_calibrate(tmp_path / "cal", out=file, target_fpr=(0.1,))
    assert [entry.detector for entry in made.calibration.detectors] == ["loglik", "dna_gpt", "length"]
    found = referee.detect_evaluate(
        tmp_path / "test", calibration=file, resamples=20, options=RunOptions(out=tmp_path / "ev")
    )
    assert {report.detector for report in found.result.overall} == {"loglik", "dna_gpt", "length"}
    (tmp_path / "r.txt").write_text(" ".join(HUMAN), encoding="utf-8")
    checked = await referee.detect_check(
        tmp_path / "r.txt", calibration=file, services=services, options=RunOptions(out=tmp_path / "ck")
    )
    assert [one.detector for one in checked.checked.verdicts] == names
    assert checked.checked.verdicts[0].pushes is not None
    with pytest.raises(EvaluationError, match=r"no threshold for a rate of 0\.3, but for 0\.1"):
        await referee.detect_check(tmp_path / "r.txt", calibration=file, services=services, target_fpr=0.3)


async def test_polished_reviews_do_not_count_as_people_in_a_calibration(
    tmp_path: Path, services: DetectionServices
) -> None:
    rows = reviews(10, 1)
    rows[0]["source_review"] = "p1-0-h1"
    file = saved(tmp_path / "r.jsonl", rows)
    await referee.detect_score(file, detectors=["loglik"], services=services, options=RunOptions(out=tmp_path / "s"))
    made = referee.detect_calibrate(tmp_path / "s", out=tmp_path / "c.json")
    assert (made.calibration.humans, made.calibration.detectors[0].thresholds[0].n) == (19, 19)
    assert "1 review(s) labelled human were made from another one" in made.notes[0]


ANCHOR = {"paper_id": "p", "model": "gpt", "review": "By a model.", "decision": "Accept", "prompt_digest": "d"}


@pytest.mark.parametrize("name", ["anchors.jsonl", "det-anchors.jsonl", "a.jsonl.gz", "a.json"])
def test_anchors_are_told_by_what_is_in_the_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(json.dumps(ANCHOR).encode()) if name.endswith("gz") else json.dumps(ANCHOR).encode())
    found = read_anchors(file)
    assert (found.texts, found.prompt) == ({"p": {"gpt": "By a model."}}, "d")


def test_a_review_set_is_one_whatever_its_name_and_a_bad_anchor_is_named(tmp_path: Path) -> None:
    found = read_anchors(saved(tmp_path / "anchors.jsonl", reviews(1, 1)))
    assert list(found.texts["p1-0"]) == ["gpt"]
    bad = saved(tmp_path / "own.jsonl", [ANCHOR, {"paper_id": "p", "model": "gpt"}])
    with pytest.raises(DataError, match=r"line 2 .* is no anchor: it has no review"):
        read_anchors(bad)


async def test_one_review_as_json_and_several_in_a_file(tmp_path: Path) -> None:
    services = DetectionServices(
        embedder=WordEmbedder(),  # type: ignore[arg-type]
        anchors={f"p1-{at}": {"gpt": MACHINE[0]} for at in range(20)},
        anchor_models=("gpt",),
    )
    rows = reviews(20, 1)
    file = saved(tmp_path / "r.jsonl", rows)
    await referee.detect_score(file, detectors=["anchor"], services=services, options=RunOptions(out=tmp_path / "s"))
    referee.detect_calibrate(tmp_path / "s", out=tmp_path / "c.json", target_fpr=(0.1,))
    (tmp_path / "one.json").write_text(json.dumps(rows[0]), encoding="utf-8")
    options = RunOptions(out=tmp_path / "ck")
    asked = {"calibration": tmp_path / "c.json", "services": services}
    found = await referee.detect_check(tmp_path / "one.json", options=options, **asked)
    assert found.checked.verdicts[0].score is not None
    assert any("reviews of this paper, 'p1-0', too" in warning for warning in found.checked.warnings)
    with pytest.raises(DataError, match="holds 60 reviews"):
        await referee.detect_check(file, **asked)


def test_anchors_of_a_review_set_are_its_ai_reviews(tmp_path: Path) -> None:
    rows = reviews(2, 1, models=("gpt", "claude"))
    rows.append({**rows[-1], "review_id": "again", "review": "A second one by the same model."})
    rows.insert(
        0, {**rows[0], "source": "gpt", "kind": "ai", "review_id": "edited", "task": "edit", "review": "A person's."}
    )
    found = read_anchors(saved(tmp_path / "r.jsonl", rows))
    assert {paper: sorted(own) for paper, own in found.texts.items()} == {
        "p1-0": ["claude", "gpt"],
        "p1-1": ["claude", "gpt"],
    }
    assert "second" not in found.texts["p1-1"]["claude"]
    assert "person's" not in found.texts["p1-0"]["gpt"]
    with pytest.raises(DataError, match="holds no AI review"):
        read_anchors(saved(tmp_path / "people.jsonl", reviews(1, 1, models=())))
