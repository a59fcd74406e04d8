"""A concern about ethics in the composed form: open unless a printed point about ethics has a quotation behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.schemas.review import Review
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer

from .sections_paper import SEEDED
from .sections_run import run_sections
from .sections_script import VENUE, Raised, Scene

NONE, CONCERN = (str(option.value) for option in load_venue(VENUE).field("ethical_concerns").options[:2])


class Accusing(Scene):
    """A composer that ticks a concern whatever the points are."""

    def composed(self, request: ChatRequest) -> dict[str, Any]:
        return {**super().composed(request), "ethical_concerns": [CONCERN]}


async def reviewed(quote: str, kind: str, folder: Path) -> Review:
    raised = Raised("The seeds were chosen after the results were known.", (("Method", quote, "shows"),), kind=kind)
    with FakeServer(Accusing({"Method": [raised]}).script(), context_tokens=32_000) as server:
        return await run_sections(server, folder)


@pytest.mark.parametrize(("quote", "kind"), [(SEEDED, "unsupported"), ("Nobody asked the board for leave.", "ethics")])
async def test_a_concern_without_evidence_is_open(quote: str, kind: str, folder: Path) -> None:
    review = await reviewed(quote, kind, folder)
    assert review.fields["ethical_concerns"] is None
    assert "no point about ethics" in review.nulls["ethical_concerns"]
    assert {one.field: one.value for one in review.forced}["ethical_concerns"] == [NONE]


async def test_a_concern_with_a_quoted_point_stands(folder: Path) -> None:
    review = await reviewed(SEEDED, "ethics", folder)
    assert review.fields["ethical_concerns"] == [CONCERN]
    assert "ethical_concerns" not in {one.field for one in review.forced}
