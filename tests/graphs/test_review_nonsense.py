"""A model that answers nonsense: the review is whole, says what is missing, and claims nothing."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest

from referee.api import review as review_paper
from referee.cli import main
from referee.errors import ReplyInvalid
from referee.schemas.run import RunRecord
from referee.venues import load_venue
from tests.options import with_options
from tests.support import FakeServer, Fault

from .sections_paper import PROMISE, SEEDED, TUNED, paper_text
from .sections_run import WINDOW, assert_conserved, by_claim, quick_settings, run_sections
from .sections_script import VENUE, Answers, Raised, Scene, with_own_rule

# The reviewer part by part.
pytestmark = pytest.mark.slow

SEED, REFUTED = "The spread over seeds is hidden.", "Rivals stay untuned here."
POINTS = {
    "Introduction": [Raised(REFUTED, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)],
    "Method": [Raised(SEED, (("Method", SEEDED, "shows"),))],
}
SCENE = Scene(POINTS, tests={REFUTED: Answers(refuted=TUNED)}, scores={"quality": (2, lambda ids: ids[:1])})
KINDS = ("prose", "empty", "refusal")


def nonsense(role: str | None, kind: str) -> FakeServer:
    return FakeServer(SCENE.script(), faults=[Fault(kind, role=role)], context_tokens=32_000)


@pytest.mark.parametrize("kind", KINDS)
async def test_of_the_mapper_code_maps_instead(folder: Path, kind: str) -> None:
    with nonsense("mapper", kind) as server:
        review = await run_sections(server, folder, venue=with_own_rule("lantern-rule"))
    assert by_claim(review, SEED).outcome == "printed"
    assert review.provenance is not None
    assert any("code mapped instead" in note for note in review.provenance.notes)


@pytest.mark.parametrize("kind", KINDS)
async def test_of_the_reader_across_sections_is_named_and_leaves_the_others_alone(folder: Path, kind: str) -> None:
    with nonsense("cross", kind) as server:
        review = await run_sections(server, folder)
    assert {by_claim(review, SEED).outcome, by_claim(review, REFUTED).outcome} == {"printed", "struck"}
    assert review.provenance is not None
    assert any("the pass across sections failed" in note for note in review.provenance.notes)


@pytest.mark.parametrize("kind", KINDS)
async def test_of_the_checker_leaves_points_unchecked_and_as_severe(folder: Path, kind: str) -> None:
    with nonsense("checker", kind) as server:
        review = await run_sections(server, folder)
    for claim in (SEED, REFUTED):
        point = by_claim(review, claim)
        assert point.check is not None
        assert (point.check.verdict, point.raised_severity, point.severity) == ("unchecked", "major", "major")
        assert "unchecked" in point.reason


@pytest.mark.parametrize("kind", KINDS)
async def test_of_the_composer_leaves_scores_null_and_the_points_in_place(folder: Path, kind: str) -> None:
    with nonsense("composer", kind) as server:
        review = await run_sections(server, folder)
    assert SEED in str(review.fields["strengths_and_weaknesses"])
    assert review.rating is None
    assert review.nulls["quality"] == "no score was composed"
    assert review.provenance is not None
    assert any("could not be composed" in note for note in review.provenance.notes)


@pytest.mark.parametrize("role", ["writer", None])
@pytest.mark.parametrize("kind", ["prose", "empty"])
async def test_of_all_readers_ends_the_run_with_the_reading_that_failed(
    folder: Path, role: str | None, kind: str
) -> None:
    with nonsense(role, kind) as server, pytest.raises(ReplyInvalid) as raised:
        await run_sections(server, folder)
    record = RunRecord.model_validate_json((folder / "run" / "run.json").read_text())
    assert record.status == "failed"
    assert raised.value.ids["run"]
    assert not (folder / "run" / "review.json").exists()


def test_the_command_ends_with_code_2_and_the_run_can_be_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "paper.md").write_text(paper_text(2))
    (folder / "referee.toml").write_text(f"[models]\ncontext_tokens = {WINDOW}\n")
    asked = ["referee", "review", "paper.md", "--venue", VENUE, "--strategy", "sections", "--model", "m", "--no-cache"]
    with FakeServer(SCENE.script(), faults=[Fault("prose", role="writer", first=6)], context_tokens=32_000) as server:
        asked += ["--base-url", server.base_url]
        monkeypatch.setattr(sys, "argv", [*asked, "--out", "run"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert "--resume" in said
        monkeypatch.setattr(sys, "argv", [*asked, "--resume", "run"])
        with suppress(SystemExit):
            main()
    assert (folder / "run" / "review.json").is_file()


@pytest.mark.parametrize("seed", range(4))
async def test_random_valid_replies_end_in_a_whole_review(folder: Path, seed: int) -> None:
    with FakeServer(seed=seed, context_tokens=32_000) as server:
        review = await run_sections(server, folder, sections=2)
    assert all("unverified" in point.reason for point in review.points if point.unverified)
    assert all(point.severity == point.raised_severity for point in review.points if not point.merged_from)


@pytest.mark.parametrize("venue", ["arr", "tmlr", "iclr-2024", "icml-2025-position", "corl-2021"])
async def test_random_valid_replies_on_other_forms(folder: Path, venue: str) -> None:
    (folder / "paper.md").write_text(paper_text(2), encoding="utf-8")
    with FakeServer(seed=11, context_tokens=32_000) as server:
        on = {"model": "m", "base_url": server.base_url, "settings": quick_settings(**{"review.preset": "quick"})}
        made = await review_paper(folder / "paper.md", **with_options(venue=venue, out=folder / "run", **on))
    assert_conserved(made)
    assert list(made.fields) == [field.name for field in load_venue(venue).fields]
    assert all(value is not None or made.nulls[name] for name, value in made.fields.items())


async def test_empty_replies_end_in_a_nearly_empty_review(folder: Path) -> None:
    with FakeServer(Scene().script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
    assert review.points == ()
    assert review.rating is None
    assert review.fields["strengths_and_weaknesses"] is None
    assert review.nulls["strengths_and_weaknesses"] == "no point belongs here"
