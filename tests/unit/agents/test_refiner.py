from __future__ import annotations

from typing import Any

import pytest

from referee.agents.card import build_card
from referee.agents.carded import ModelWindow
from referee.agents.chunks import ChunkSize, paper_chunks
from referee.agents.refiner import RefineBrief, chunks_about, refine_point, sift_points
from referee.errors import ContextTooLong
from referee.schemas.point import Absence, PointEvidence, ReviewPoint
from referee.testing import ScriptedModel

from .paper_on_tests import section, small_paper, words

PAPER = small_paper(
    section(1, "Abstract", "We test tests.", "abstract"),
    section(2, "Method", "Each test is run twice on the same data.", paragraphs=12),
    section(3, "Results", "All of the runs agree with each other.", paragraphs=12),
)
CHUNKS = paper_chunks(PAPER, ChunkSize(130, 100, 10_000), words)
CARD = build_card(PAPER)


def quoted(section_id: str, quote: str, status: Any = "exact") -> PointEvidence:
    return PointEvidence(section_id=section_id, section="", quote=quote, status=status)


def point(*evidence: PointEvidence, point_id: str = "p-clarity-1", **more: Any) -> ReviewPoint:
    given: dict[str, Any] = {"severity": "fatal", "raised_severity": "fatal", "confidence": "high", **more}
    return ReviewPoint(
        id=point_id,
        claim="Two runs give no spread.",
        polarity="weakness",
        kind="statistics",
        evidence=evidence,
        source="section",
        refuted_by="a third run",
        **given,
    )


def brief() -> RefineBrief:
    return RefineBrief("the venue", "as text", CARD, CHUNKS)


async def test_the_chunks_shown_are_those_quoted_the_verified_first_and_two_at_most() -> None:
    method, results = ([c for c in CHUNKS if name in c.section_ids] for name in ("s2", "s3"))
    lost = quoted("s2", "words of nobody", "not_found")
    assert chunks_about(point(lost, quoted("s3", "All of the runs agree")), CHUNKS)[0] == results[0]
    last = method[-1].blocks[method[-1].shared].text
    assert chunks_about(point(quoted("s2", last)), CHUNKS) == (method[-1],)
    many = [quoted("s2", block.text) for chunk in method for block in chunk.blocks[chunk.shared :]]
    about = chunks_about(point(*many), CHUNKS)
    door = ScriptedModel({"checker": [{"reason": "so", "verdict": "keep", "points": []}]})
    notes = (await refine_point(point(*many), brief(), door=door, window=ModelWindow(20_000, words))).notes
    assert len(about) > 2
    assert any(f"{len(about) - 2} more places that it quotes were not shown" in note for note in notes)


def test_without_a_quotation_the_place_of_the_absence_is_shown_or_nothing() -> None:
    absent = Absence(what="a third run", terms=("third", "run"), expected_in="s3")
    assert chunks_about(point(absence=absent), CHUNKS)[0].section_ids[-1] == "s3"
    assert chunks_about(point(), CHUNKS) == ()


async def test_the_comment_is_judged_without_its_severity_and_confidence() -> None:
    door = ScriptedModel({"checker": [{"reason": "it is so", "verdict": "keep", "points": []}]})
    found = await refine_point(point(quoted("s2", "Each test")), brief(), door=door, window=ModelWindow(20_000, words))
    assert (found.verdict, found.reason, found.points) == ("keep", "it is so", ())
    comment = door.history[0].user.partition("<comment>")[2].partition("</comment>")[0]
    assert "Two runs give no spread." in comment
    assert "fatal" not in comment
    assert "high" not in comment


async def test_a_second_chunk_that_does_not_fit_is_left_out_and_said() -> None:
    both = point(quoted("s2", "Each test is run"), quoted("s3", "All of the runs"))
    assert len(chunks_about(both, CHUNKS)) == 2

    async def with_context(tokens: int) -> tuple[str, ...]:
        door = ScriptedModel({"checker": [{"reason": "so", "verdict": "keep", "points": []}]})
        return (await refine_point(both, brief(), door=door, window=ModelWindow(tokens, words))).notes

    assert await with_context(20_000) == ()
    fits = [tokens for tokens in range(700, 3_000, 20) if await _fits(both, tokens)][0]  # noqa: RUF015
    assert any("refined without" in note for note in await with_context(fits))


async def _fits(comment: ReviewPoint, tokens: int) -> bool:
    door = ScriptedModel({"checker": [{"reason": "so", "verdict": "keep", "points": []}]})
    try:
        await refine_point(comment, brief(), door=door, window=ModelWindow(tokens, words))
    except ContextTooLong:
        return False
    return True


SIFTED = [
    ({"id": "p-K1-1", "reason": "fits any", "verdict": "vague"}, {"p-K1-1"}),
    ({"id": "p-K1-1", "reason": "fine", "verdict": "keep"}, set()),
]


@pytest.mark.parametrize(("said", "against"), SIFTED)
async def test_the_sift_goes_by_ids(said: dict[str, str], against: set[str]) -> None:
    points = [point(point_id="p-K1-1"), point(point_id="p-K1-2")]
    door = ScriptedModel({"supervisor": [{"comments": [said]}]})
    sifted = await sift_points(points, CARD, "the venue", door=door, window=ModelWindow(20_000, words))
    assert set(sifted.against) == against


async def test_two_verdicts_on_one_comment_keep_it() -> None:
    both = [{"id": "p-K1-1", "reason": "r", "verdict": verdict} for verdict in ("vague", "keep")]
    door = ScriptedModel({"supervisor": [{"comments": both}]})
    points = [point(point_id="p-K1-1"), point(point_id="p-K1-2")]
    sifted = await sift_points(points, CARD, "the venue", door=door, window=ModelWindow(20_000, words))
    assert sifted.against == {}
