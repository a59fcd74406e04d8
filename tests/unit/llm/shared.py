"""Doors to the providers' own formats on this machine, and prompts that begin alike."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from pydantic import BaseModel, Field

from referee.llm.door import Answer, Door
from referee.llm.limits import Limits
from referee.llm.models import Model, Models
from referee.llm.spec import ModelSpec
from referee.llm.wire import Wire
from referee.prompts import RenderedPrompt
from referee.settings import CallSettings
from tests.held import PATIENCE_S
from tests.support import FakeServer

SPECS = {
    "openai": ModelSpec("openai", "gpt-5"),
    "anthropic": ModelSpec("anthropic", "claude-opus-4-6"),
    "google_genai": ModelSpec("google_genai", "gemini-2.5-pro"),
    "server": ModelSpec("server", "own"),
}
PAPER = "".join(f"Sentence {number} of the paper says what it says and nothing else. " for number in range(200))
PREFIX = f"<paper>\n{PAPER}\n</paper>\n\n"
GOOD = {"reason": "because", "score": 2}


class Verdict(BaseModel):
    """A verdict."""

    reason: str = Field(max_length=40)
    score: Literal[1, 2, 3]


def sharing(task: str, prefix: str = PREFIX) -> RenderedPrompt:
    """A task behind the shared paper."""
    return RenderedPrompt(id="test/verdict", version="v1", digest="d", system="You judge.", user=task, prefix=prefix)


@asynccontextmanager
async def door_to(
    provider: str, server: FakeServer, *, prices: Any = None, concurrency: int = 8, **door_args: Any
) -> AsyncIterator[Door]:
    """A door to one provider's format, without waits between tries; a token is a word."""
    calls = CallSettings(retry_wait_s=0, timeout_s=PATIENCE_S)
    base = server.base_url if provider in ("openai", "server") else server.url
    model = Model(
        spec=SPECS[provider],
        wire=Wire(SPECS[provider], key="k", timeout_s=PATIENCE_S, base_url=base),
        limits=Limits(concurrency, None, None),
        context_tokens=100_000,
        prices=prices or {},
        count=lambda text: len(text.split()),
        temperature=0.0,
    )
    try:
        yield Door(Models({"writer": model}), calls=calls, **door_args)
    finally:
        await model.wire.aclose()


async def ask(door: Door, prompt: RenderedPrompt, max_output_tokens: int = 200) -> Answer[Verdict]:
    """The writer's verdict."""
    return await door.ask(prompt, Verdict, role="writer", max_output_tokens=max_output_tokens)
