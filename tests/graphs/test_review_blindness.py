"""Who is shown what, read off the requests that a server got."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import FakeServer

from .sections_paper import PROMISE, SEEDED, TIED, TUNED
from .sections_run import run_sections
from .sections_script import REMEDY, Answers, Raised, Scene, statements

# The reviewer part by part.
pytestmark = pytest.mark.slow

POINTS = {
    "Introduction": [Raised("Rivals stay untuned here.", (("Introduction", PROMISE, "shows"),), severity="fatal")],
    "Method": [Raised("The spread over seeds is hidden.", (("Method", SEEDED, "shows"),), refuted_by="five seeds")],
    "Results": [
        Raised("A tie is sold as a gain.", (("Results", TIED, "shows"),), kind="statistics"),
        Raised("The grid is not described.", (("Results", TUNED, "shows"),), kind="reproducibility", severity="minor"),
    ],
}
CLAIMS = [raised.claim for points in POINTS.values() for raised in points]


async def test_the_checker_sees_claim_refutation_and_the_papers_words_and_nothing_of_the_author(folder: Path) -> None:
    with FakeServer(Scene(POINTS).script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
        asked = [call.request for call in server.log.calls(role="checker")]
    shown = [claim for request in asked for _, claim, _ in statements(request)]
    assert sorted(shown) == sorted(CLAIMS)
    for request in asked:
        for hidden in (REMEDY, "fatal", "major", "minor", "severity", "confidence", "criterion", "threatens", "C1"):
            assert hidden not in request.text, hidden
        for point in review.points:
            assert not re.search(rf"\b{re.escape(point.id)}\b", request.text)
            assert point.call_id not in request.text
    assert any("five seeds" in refuting for request in asked for _, _, refuting in statements(request))


async def test_reviewers_of_sections_do_not_see_each_others_points(folder: Path) -> None:
    with FakeServer(Scene(POINTS).script(), context_tokens=32_000) as server:
        await run_sections(server, folder)
        asked = [call.request for call in server.log.calls(role="writer")]
    assert len(asked) == 3
    for request in asked:
        for claim in (*CLAIMS, REMEDY):
            assert claim not in request.text


async def test_the_composer_sees_points_and_the_card_and_not_the_sections(folder: Path) -> None:
    with FakeServer(Scene(POINTS).script(), context_tokens=32_000) as server:
        await run_sections(server, folder)
        (asked,) = [call.request for call in server.log.calls(role="composer")]
    for claim in CLAIMS:
        assert claim in asked.text
    for sentence in (SEEDED, TIED, TUNED):
        assert sentence not in asked.text


async def test_struck_points_do_not_reach_the_composer(folder: Path) -> None:
    scene = Scene(POINTS, tests={CLAIMS[0]: Answers(refuted=TUNED)})
    scene.sections = {
        **POINTS,
        "Introduction": [Raised(CLAIMS[0], (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)],
    }
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        await run_sections(server, folder)
        (asked,) = [call.request for call in server.log.calls(role="composer")]
    assert CLAIMS[0] not in asked.text
    assert CLAIMS[1] in asked.text
