"""What ``calls.py`` measures inside a process of its own: many structured calls, through the door or without it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from referee import RunOptions
from referee.api.session import session
from referee.llm.completions import Completion
from referee.llm.providers.protocol import WireRequest
from referee.prompts import RenderedPrompt

SLOTS = 32
WARM = 50
"""Calls before the clock starts: imports, connections and vocabularies are no cost of a call."""


class Finding(BaseModel):
    """One finding, with the sentence that it rests on."""

    quote: str = Field(max_length=400)
    reason: str = Field(max_length=400)
    weight: int = Field(ge=0, le=5)


class Reply(BaseModel):
    """What a judge says of a review: reasons first."""

    reasoning: str = Field(max_length=2_000)
    findings: list[Finding] = Field(max_length=8)
    rating: int = Field(ge=1, le=5)


SCRIPTED = Reply(
    reasoning="The review names what is missing and says why it matters. " * 4,
    findings=[Finding(quote="The baselines are not tuned. " * 3, reason="It can be acted on.", weight=3)] * 3,
    rating=4,
)
SYSTEM = "You judge how much a peer review helps its authors. Read the review whole before you rate anything. " * 12


def prompt(number: int) -> RenderedPrompt:
    """A prompt of about 1,300 tokens, as those of ``referee eval`` are; no two are the same."""
    user = (
        f"Review {number}.\n" + f"The method of paper {number} is described well, but Table {number} lacks units. " * 60
    )
    return RenderedPrompt(id="benchmark/calls", version="v1", digest="d", system=SYSTEM, user=user)


async def through_the_door(base_url: str, calls: int, folder: Path, *, sent: bool = True) -> dict[str, Any]:
    """Ask in a run folder that is made, or gone on with, for the purpose.

    Args:
        base_url: The server.
        calls: How many questions are asked.
        folder: The run folder.
        sent: Whether they are sent; otherwise each is answered in the place of the client, which is quick.
    """
    began, resumed = time.perf_counter(), (folder / "run.json").exists()
    where: dict[str, Any] = {"resume": folder} if resumed else {"out": folder}
    options = RunOptions(base_url=base_url, cache=False, **where)
    async with session("benchmark", options=options, settings=options.settled()) as run:
        models = await run.open_models(["fake"])
        if not sent:
            models["judge"].wire.send = answered  # type: ignore[method-assign]
        run.check_inputs({"calls": "benchmark"})
        before = time.perf_counter()
        door = run.begin(models, prompts={})
        opened = time.perf_counter()
        figures = await measured(
            calls, lambda number: door.ask(prompt(number), Reply, role="judge", max_output_tokens=1_000)
        )
        figures |= {"opened_s": opened - before, "usage": door.ledger.usage().model_dump()}
    return figures | {"whole_s": time.perf_counter() - began}


async def answered(request: WireRequest) -> Completion:
    """What comes back where nothing is sent."""
    await asyncio.sleep(0)
    return Completion(SCRIPTED.model_dump_json(), 1_500, 200)


async def bare(base_url: str, calls: int) -> dict[str, Any]:
    """The same structured call with LangChain's client alone, and pydantic reading the reply."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    chat = ChatOpenAI(
        model="fake",
        api_key=SecretStr("none"),
        base_url=base_url,
        temperature=0.0,
        max_retries=0,
        use_responses_api=False,
    )
    schema = {"name": "reply", "strict": True, "schema": Reply.model_json_schema()}
    body = {"max_tokens": 1_000, "response_format": {"type": "json_schema", "json_schema": schema}}

    async def ask(number: int) -> Reply:
        sent = prompt(number)
        message = await chat.ainvoke([("system", sent.system), ("user", sent.user)], extra_body=body)
        return Reply.model_validate_json(str(message.text))

    return await measured(calls, ask)


async def measured(calls: int, ask: Callable[[int], Awaitable[object]]) -> dict[str, Any]:
    """Ask that often, so many at once; processor time and seconds of all but the first calls."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await ask(number)

    for _ in range(WARM):
        await ask(next(numbers))
    processor, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(SLOTS)))
    counted = calls - WARM
    return {
        "calls": calls,
        "cpu_a_call_s": (time.process_time() - processor) / counted,
        "seconds_a_call": (time.perf_counter() - wall) / counted,
    }


def main() -> None:
    """Run one command and print its figures as a line of JSON."""
    kind, base_url, calls, *folder = sys.argv[1:]
    if kind == "bare":
        work = bare(base_url, int(calls))
    else:
        work = through_the_door(base_url, int(calls), Path(*folder), sent=kind == "door")
    print(json.dumps(asyncio.run(work)))


if __name__ == "__main__":
    main()
