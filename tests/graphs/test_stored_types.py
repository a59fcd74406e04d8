"""States as checkpoints keep them: the records of each machine come back as they were, and no other type is made."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from referee.agents.form_reply import StatedScore
from referee.graphs.chunked.multi_agent import build_multi_agent_graph
from referee.graphs.chunked.progressive import build_progressive_graph
from referee.graphs.ensemble.machine import Member, build_ensemble_graph
from referee.graphs.failure import Failure
from referee.graphs.guidelines import build_guidelines_graph
from referee.graphs.refinement.machine import build_refinement_graph
from referee.graphs.running import stored_types
from referee.graphs.sections.by_part import build_parts_graph
from referee.graphs.sections.whole import build_whole_graph
from referee.graphs.single.machine import Checked, build_single_graph
from referee.runs.checkpoints import open_checkpoints
from referee.schemas.paper import Box
from referee.schemas.point import PointEvidence, ReviewPoint

FAILURE = Failure(node="the reading of s1", kind="ReplyInvalid", message="no JSON", ids={"model": "m"})
QUOTED = PointEvidence(
    quote="9 eruptions", status="exact", section_id="s1", section="Results", box=Box(x0=0, y0=0, x1=1, y1=1)
)
POINT = ReviewPoint(
    id="p1", claim="c", polarity="weakness", kind="error", severity="minor", raised_severity="minor",
    evidence=(QUOTED,), source="section",
)  # fmt: skip
MEMBER = Member(number=1, review=Checked(scores={"rating": StatedScore(value=4, reason="r")}), cuts=(), notes=("n",))
MACHINES: dict[Any, list[Any]] = {
    build_single_graph: [FAILURE, POINT, MEMBER.review],
    build_ensemble_graph: [FAILURE, MEMBER],
    build_parts_graph: [FAILURE, POINT],
    build_whole_graph: [FAILURE, POINT],
    build_multi_agent_graph: [FAILURE, POINT],
    build_progressive_graph: [FAILURE, POINT],
    build_guidelines_graph: [FAILURE],
    build_refinement_graph: [FAILURE],
}


@pytest.mark.parametrize("build", MACHINES, ids=lambda build: str(build.__name__))
async def test_what_a_state_holds_comes_back_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, build: Any
) -> None:
    caplog.set_level(logging.WARNING)
    async with open_checkpoints(tmp_path / "c.sqlite", stored_types(build().schemas)) as saver:
        for value in MACHINES[build]:
            assert saver.serde.loads_typed(saver.serde.dumps_typed([value])) == [value]
    assert caplog.records == []


async def test_a_type_that_no_state_holds_is_not_made(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "c.sqlite", {Failure}) as saver:
        assert saver.serde.loads_typed(saver.serde.dumps_typed(QUOTED)) == QUOTED.model_dump()
