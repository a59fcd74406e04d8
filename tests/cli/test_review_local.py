"""``referee review`` on the embedded model, whose place a server on this machine takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.llm import models
from referee.llm.models import Limits, Model
from referee.llm.spec import ModelSpec
from referee.llm.wire import Wire
from referee.schemas.review import Review
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer

from .command import Referee

PAPER = """# Tests that are run twice

## Abstract

We run each test twice. The number of false alarms falls.

## 1 Method

Each test is run twice, and the two results are compared by a person who did not write the test.

## 2 Results

Going from one run to two lowers the number of false alarms from 18.9 to 1.5 points, a relative reduction of 98%.
"""
FOUND = "A change of 98% is stated beside the values 18.9 and 1.5 points"
BROKEN = "It is clear. The second sentence has no end because the limit of the reply " + "came and went " * 40

MEAN = {"mean": 1, "low": 0, "high": 2}
MAP: dict[str, Any] = {
    **{"model": "local:qwen-1.5b", "form": "neurips-2025", "field": "rating", "allowed": [1, 2, 3, 4, 5, 6]},
    **{"prompt_version": "v1", "prompt_digest": "d", "knots": [{"predicted": 4, "mapped": 3}], "papers": 80},
    **{"folds": 5, "seed": 0, "mae_before": MEAN, "mae_after": MEAN, "mae_constant": MEAN, "change": MEAN},
    **{"coverage": 0.9, "residual_low": -1, "residual_high": 1},
}


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch, server: FakeServer, workplace: Path) -> Path:
    """A paper that a rule finds fault with; `local` is answered by the server."""

    async def opened(*_: Any) -> Model:
        spec = ModelSpec("local", "qwen-1.5b")
        return Model(
            spec=spec,
            wire=Wire(spec, key="none", timeout_s=30, base_url=server.base_url),
            limits=Limits(1, None, None),
            context_tokens=16_384,
            prices={},
            count=lambda text: len(text) // 4 + 1,
            temperature=0,
            reading_tokens=4_000,
        )

    monkeypatch.setattr(models, "_open_local", opened)
    server.script.entries["writer"] = best
    (workplace / "paper.md").write_text(PAPER)
    return workplace / "paper.md"


def best(request: ChatRequest) -> dict[str, Any]:
    """Whatever the form, an answer with a text that ran into its limit."""
    return request.instance(summary=BROKEN[:480])


@pytest.mark.parametrize("venue", ["neurips-2025", "iclr-2025", "arr"])
@pytest.mark.parametrize("strategy", ["single", "ensemble"])
def test_no_score_is_shown_or_pasted_and_what_rules_found_comes_first(
    referee: Referee, embedded: Path, workplace: Path, venue: str, strategy: str
) -> None:
    done = referee(
        *("review", embedded, "--venue", venue, "--model", "local", "--strategy", strategy, "--out", "run"),
        *("--no-cache", *(("--ensemble-size", "1", "--reflections", "0") if strategy == "ensemble" else ())),
    )
    assert done.code == 0, done.err
    review = Review.model_validate_json((workplace / "run" / "review.json").read_text())
    form = load_venue(venue)
    judged = {field.name for field in form.reviewer_fields if field.kind != "text"}
    assert {review.fields[name] for name in judged} == {None}
    assert review.trial
    assert review.forced == ()
    pasted = json.loads((workplace / "run" / "review.openreview.json").read_text())
    assert not judged & pasted.keys()
    text = " ".join(done.out.split())
    first = text.index("Found by rules, without a model: 1. [Weakness, ")
    assert first < text.index(FOUND) < text.index("The form as the embedded model")
    assert "Left empty in the file to paste, because the embedded model cannot judge a paper" in text
    markdown = (workplace / "run" / "review.md").read_text()
    assert FOUND in markdown.split("## ")[1]
    assert FOUND in (workplace / "run" / "report.html").read_text()
    shown = referee("show", "run").out
    assert "the model chose" not in shown
    assert f"{form.overall}: not given: the embedded model cannot judge a paper" in " ".join(shown.split())


def test_the_last_lines_name_each_file_and_fields_by_their_titles(
    referee: Referee, embedded: Path, workplace: Path
) -> None:
    done = referee("review", embedded, "--venue", "neurips-2025", "--model", "local", "--out", "run", "--no-cache")
    assert "Left to you: Code of conduct, Responsible reviewing." in done.out
    lines = done.out.splitlines()
    written = lines[lines.index("Written to run:") + 1 :]
    assert [line.split()[0] for line in written] == [
        "report.html",
        "review.md",
        "fixes.md",
        "review.openreview.json",
        "review.json",
    ]
    assert all(len(line.split(maxsplit=1)[1]) > 10 for line in written)
    assert "referee open run" in written[0]


def test_a_text_that_its_limit_broke_off_ends_with_a_whole_sentence_and_a_note_says_so(
    referee: Referee, embedded: Path, workplace: Path
) -> None:
    referee("review", embedded, "--venue", "neurips-2025", "--model", "local", "--out", "run", "--no-cache")
    review = Review.model_validate_json((workplace / "run" / "review.json").read_text())
    assert review.fields["summary"] == "It is clear."
    assert review.provenance is not None
    note = "summary ran into its limit of 480 characters; its unfinished last sentence was left out"
    assert note in review.provenance.notes


def test_a_rating_map_is_refused_for_a_review_without_a_rating(
    referee: Referee, embedded: Path, workplace: Path, tmp_path: Path
) -> None:
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    done = referee(
        *("review", embedded, "--venue", "neurips-2025", "--model", "local", "--calibration", tmp_path / "map.json")
    )
    assert done.code == 2
    assert "states no rating that --calibration could map" in " ".join(done.err.split())
