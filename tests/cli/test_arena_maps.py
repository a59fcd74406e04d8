"""Rating maps as a user meets them: fitted by ``referee arena calibrate``, applied by ``referee review``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.data.predictions import read_predictions
from referee.schemas.review import Review
from tests.support import FakeServer
from tests.unit.prompts.test_own import own_text

from .arena_sets import MARKDOWN, many, rated, row, write_rows
from .command import Outcome, Referee

Run = Callable[..., Outcome]


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    write_rows(workplace / "papers.jsonl", [row(1)])
    return workplace


@pytest.fixture
def arena(place: Path, referee: Referee, server: FakeServer) -> Run:
    server.script.entries["writer"] = rated

    def run(*arguments: object) -> Outcome:
        given = ("--papers", "papers.jsonl", "--model", "m", "--base-url", server.base_url, *arguments)
        return referee("arena", "run", *given)

    return run


def source(folder: Path) -> str:
    """The model's name in the predictions of a run."""
    return read_predictions(folder / "predictions.jsonl")[0].source


CALIBRATION = ("review", "paper.md", "--venue", "iclr-2024", "--strategy", "single", "--model", "m", "--no-cache")


@pytest.fixture
def fitted(arena: Run, place: Path, referee: Referee, server: FakeServer) -> tuple[Path, str]:
    """A map that is fitted on 90 papers on which the model is two points too lenient."""
    arena("--out", "run")
    ratings = [float((3, 5, 6, 8)[n % 4]) for n in range(90)]
    people = [((1.0, 1.0), (3.0, 3.0), (3.0, 5.0), (6.0, 6.0))[n % 4] for n in range(90)]
    made, human = many(place / "many", place / "run", ratings, people)
    model = source(place / "run")
    done = referee("arena", "calibrate", made, "--human", human, "--model", model, "--out", "map.json")
    assert done.code == 0, done.err
    assert "90 papers" in done.out
    assert "6 -> 4.00" in done.out
    (place / "paper.md").write_text(MARKDOWN.format(n=9))
    return place / "map.json", model


def test_a_map_is_applied_to_the_overall_rating_and_said(
    fitted: tuple[Path, str], place: Path, referee: Referee, server: FakeServer
) -> None:
    plain = referee(*CALIBRATION, "--base-url", server.base_url, "--out", "plain")
    assert "(not calibrated)" in plain.out
    done = referee(*CALIBRATION, "--base-url", server.base_url, "--out", "mapped", "--calibration", fitted[0])
    assert done.code == 0, done.err
    review = Review.model_validate_json((place / "mapped" / "review.json").read_text())
    assert review.rating == review.fields["rating"] == 3  # 4.00 lies between 3 and 5: the lower one
    (record_,) = [one for one in review.scores if one.field == "rating"]
    assert (record_.stated, record_.value) == (6, 3)
    told = "the model stated 6, which comes to 4.00 in human ratings, from 4.00 to 4.00 for 90% of papers"
    assert told in review.calibration
    assert "Ratings are calibrated on 90 papers" in review.disclosure
    assert told in (place / "mapped" / "review.md").read_text()
    assert "not calibrated" not in (place / "mapped" / "review.md").read_text() + done.out
    assert (
        json.loads((place / "mapped" / "review.openreview.json").read_text())["rating"] == "3: reject, not good enough"
    )
    other = referee(*CALIBRATION, "--base-url", server.base_url, "--resume", "mapped")
    assert other.code == 2
    assert "another rating map" in other.err


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        ({}, ("--venue", "iclr-2025"), "the form 'iclr-2024', not 'iclr-2025'"),
        ({"model": "gpt"}, (), "the model 'gpt', not 'm@127.0.0.1"),
        ({"prompt_version": "single: review/single@v0"}, (), "the prompt version 'single: review/single@v0', not"),
        ({"prompt_digest": "00"}, (), "the prompt digest '00', not"),
        ({}, ("--strategy", "sections"), "the prompt version 'single: review/single@v3', not 'sections: "),
        ({}, ("--prompt", "review/single=mine.md"), "'single: review/single@v3', not 'single: review/single@mine.md-"),
        ({"allowed": [1, 2, 3]}, (), "the values 1, 2, 3"),
        ({"papers": 3}, (), "is no rating map"),
    ],
)
def test_a_map_of_another_model_form_or_prompt_is_refused_before_a_call(
    fitted: tuple[Path, str],
    place: Path,
    referee: Referee,
    server: FakeServer,
    change: dict[str, Any],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    (place / "mine.md").write_text(own_text("review/single"))
    (place / "map.json").write_text(json.dumps(json.loads(fitted[0].read_text()) | change))
    before = len(server.log.calls(endpoint="chat"))
    given = (*CALIBRATION, *arguments, "--base-url", server.base_url, "--out", "x", "--calibration", "map.json")
    done = referee(*given)
    assert done.code == 2
    assert says in done.err
    assert len(server.log.calls(endpoint="chat")) == before
    assert not (place / "x").exists()


def test_too_few_papers_several_forms_and_several_prompts_give_no_map(
    arena: Run, place: Path, referee: Referee
) -> None:
    write_rows(place / "papers.jsonl", [row(1), row(2, "NeurIPS", 2025)])
    arena("--out", "run")
    model = source(place / "run")
    on = ("arena", "calibrate", "run", "--human", "papers.jsonl", "--out", "map.json", "--model")
    assert "on 2 forms (iclr-2024, neurips-2025)" in referee(*on, model).err
    assert (
        "needs 80 papers with human ratings and a prediction, not 1" in referee(*on, model, "--venue", "iclr-2024").err
    )
    assert "no prediction by the model 'gpt'" in referee(*on, "gpt").err
    assert "no prediction is on the form 'tmlr'" in referee(*on, model, "--venue", "tmlr").err
    made, human = many(place / "many", place / "run", [6.0] * 90, [(5.0, 6.0)] * 90)
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    write_rows(made, [one | {"prompt_digest": str(n % 2)} for n, one in enumerate(rows)])
    refused = referee("arena", "calibrate", made, "--human", human, "--model", model, "--out", "map.json")
    assert refused.code == 2
    assert "are by 2 prompts" in refused.err
    assert not (place / "map.json").exists()
