"""A program may compile a machine with a saver of its own: interrupted after each step, it ends as a whole run does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

from referee.api import refine_prompts
from tests.options import with_options
from tests.support import FakeServer

from .chunked_run import run_chunked, short_chunks
from .chunked_script import PassageScene, TeamScene
from .ensemble_script import Panel, run_panel
from .factuality_script import measured, write_paper
from .guidelines_script import PAGE, labelling, sensible
from .refining_script import Refining, small_venue
from .sections_run import quick_settings, run_sections
from .test_guidelines import LABEL, compiled
from .test_literature import asking, searched, services

__all__ = ["services"]

RUN = CompiledStateGraph.ainvoke


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The machines of this test are run with a saver in memory and interrupted after each step; these come next."""
    waiting: list[str] = []

    async def stepwise(self: Any, given: Any, config: Any = None, *, context: Any = None, **more: Any) -> Any:
        if config is not None:  # a machine inside another one
            return await RUN(self, given, config, context=context, **more)
        saved = self.builder.compile(checkpointer=InMemorySaver())
        thread = {"configurable": {"thread_id": "one"}, "max_concurrency": None}
        while True:
            state = await RUN(saved, given, thread, context=context, interrupt_after="*")
            following = (await saved.aget_state(thread)).next
            if not following:
                return state
            waiting.extend(following)
            given = None

    monkeypatch.setattr(CompiledStateGraph, "ainvoke", stepwise)
    return waiting


async def on_a_server(run: Callable[..., Awaitable[Any]], script: Any, *given: Any, **more: Any) -> Any:
    with FakeServer(script, context_tokens=32_000) as server:
        return await run(server, *given, **more)


async def refine(server: FakeServer, folder: Path) -> Any:
    options = {"model": "m", "base_url": server.base_url, "settings": quick_settings(), "rounds": 2}
    return await refine_prompts(small_venue("lanterns", "bridges"), **with_options(**options, out=folder / "run"))


async def compile_page(folder: Path) -> Any:
    (folder / "guide.md").write_text(PAGE, encoding="utf-8")
    with FakeServer({LABEL: labelling(sensible)}, context_tokens=8_000) as server:
        return await compiled(server, folder / "guide.md")


MACHINES: dict[str, Callable[[Path], Awaitable[Any]]] = {
    "sections": lambda folder: on_a_server(run_sections, None, folder),
    "single": lambda folder: on_a_server(run_sections, None, folder, strategy="single"),
    "audited": lambda folder: on_a_server(run_sections, None, folder, strategy="audited"),
    "ensemble": lambda folder: on_a_server(run_panel, Panel().script(), folder),
    "multi-agent": lambda folder: on_a_server(run_chunked, TeamScene().script(), folder, "multi-agent"),
    "progressive": lambda folder: on_a_server(run_chunked, PassageScene().script(), folder, "progressive"),
    "refinement": lambda folder: on_a_server(refine, Refining().script(), folder),
    "guidelines": compile_page,
    "factuality": lambda folder: measured(write_paper(folder)),
}


@pytest.mark.parametrize("machine", MACHINES)
async def test_a_machine_goes_on_from_a_saver(
    folder: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    short_chunks(monkeypatch)
    assert await MACHINES[machine](folder)
    assert len(steps) >= 1, "it was interrupted"


async def test_the_literature_goes_on_from_a_saver(folder: Path, steps: list[str], services: Any) -> None:
    review, _ = await searched(folder, services, settings=asking(services))
    assert review.literature
    assert {"search", "rank", "read"} <= set(steps)
