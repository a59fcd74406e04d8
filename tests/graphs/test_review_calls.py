"""How many calls a review takes and how many of them wait for one another, from the server's log."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.held import InSteps
from tests.support import FakeServer
from tests.support.log import CallEntry

from .sections_paper import HEADINGS, paper_text
from .sections_run import quick_settings, run_sections
from .sections_script import Raised, Scene, with_own_rule

# The reviewer part by part.
pytestmark = pytest.mark.slow

PAPERS = (1, 2, 8, 12)
KINDS = ("error", "unsupported", "comparison", "design", "statistics", "reproducibility", "clarity")


def chain_of(calls: list[CallEntry]) -> int:
    """The most calls of which each waited for the one before, by the benchmark's own measure."""
    path = Path(__file__).parents[2] / "benchmarks" / "review_chain.py"
    spec = importlib.util.spec_from_file_location("review_chain", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("review_chain", module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return len(module.longest_chain(module.spans(calls)))


def busy(sections: int, **more: Any) -> Scene:
    """Twelve different points in each section: more than the check has calls for."""
    bodies = dict(re.findall(r"^## \d+ (.*)\n\n(.*)$", paper_text(sections), re.MULTILINE))
    points = {}
    for heading in HEADINGS[:sections]:
        sentences = [f"{sentence}." for sentence in bodies[heading].rstrip(".").split(". ")][:12]
        points[heading] = [
            Raised(" ".join(re.findall(r"[a-z]{5,}", s)), ((heading, s, "shows"),), kind=KINDS[n % len(KINDS)])
            for n, s in enumerate(sentences)
        ]
    return Scene(points, **more)


async def calls_of(
    scene: Scene, folder: Path, sections: int, steps: Sequence[int] = (), **more: Any
) -> list[CallEntry]:
    settings = quick_settings(**{"calls.concurrency": 64})
    with FakeServer(InSteps(scene.script(), *steps), context_tokens=32_000) as server:
        await run_sections(server, folder, sections=sections, settings=settings, **more)
    return server.log.calls(endpoint="chat")


@pytest.mark.parametrize("sections", PAPERS)
async def test_a_quiet_review_reads_crosses_and_composes(folder: Path, sections: int) -> None:
    calls = await calls_of(Scene(), folder, sections)
    assert len(calls) == sections + 2


@pytest.mark.slow
@pytest.mark.parametrize("sections", PAPERS)
@pytest.mark.parametrize("rule_to_map", [True, False])
async def test_the_busiest_review_stays_within_its_calls(folder: Path, sections: int, rule_to_map: bool) -> None:
    """Points fill the checker's calls; a score is sent back, or left open where a rule had to be mapped first."""
    scene = busy(sections, scores={"rating": (6, lambda ids: ids[:1])}, mapped={"lantern-rule": ["Introduction"]})
    venue = {"venue": with_own_rule("lantern-rule")} if rule_to_map else {}
    calls = await calls_of(scene, folder, sections, **venue)
    by_role = {role: sum(call.role == role for call in calls) for role in {call.role for call in calls}}
    assert by_role["checker"] <= sections + 2
    assert by_role.get("mapper", 0) + by_role["composer"] == 2
    assert by_role["cross"] == 1
    assert by_role["writer"] == sections
    assert len(calls) <= 2 * sections + 5
    assert sections < 8 or len(calls) == 2 * sections + 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sections", "extra", "steps"),
    [
        (1, "a rule to map", (1, 1, 1, 2, 1)),
        (12, "a rule to map", (1, 12, 1, 14, 1)),
        (12, "a score sent back", (12, 1, 14, 1, 1)),
        (12, "both", (1, 12, 1, 14, 1)),
        (12, "nothing", (12, 1, 14, 1)),
    ],
)
async def test_no_more_than_five_calls_wait_for_one_another(
    folder: Path, sections: int, extra: str, steps: tuple[int, ...]
) -> None:
    """``steps`` are the calls of each step, which are all under way before one of them is answered."""
    scene, more = busy(sections), {}
    if extra in ("a rule to map", "both"):
        scene.mapped, more = {"lantern-rule": ["Introduction"]}, {"venue": with_own_rule("lantern-rule")}
    if extra in ("a score sent back", "both"):
        scene.scores = {"rating": (6, lambda ids: ids[:1])}
    calls = await calls_of(scene, folder, sections, steps, **more)
    assert len(calls) == sum(steps)
    assert chain_of(calls) == len(steps)


@pytest.mark.parametrize("sections", PAPERS)
async def test_the_lean_plan_reads_and_composes(folder: Path, monkeypatch: pytest.MonkeyPatch, sections: int) -> None:
    monkeypatch.setattr("referee.graphs.sections.strategy.is_lean", lambda job: True)
    calls = await calls_of(Scene(), folder, sections)
    assert len(calls) <= sections + 2
    assert {call.role for call in calls} == {"writer", "composer"}
