"""What a run of the checks has to judge with: the overlap judge or a model behind the door, and an embedder."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from metric_validity_judge import NAME, overlap_panel

from referee.evals.judging import Panel
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.llm.models import open_models
from referee.retrieval import open_embedder
from referee.runs import Budget, Event
from referee.settings import load_settings
from referee.testing import HashEmbedder

SCRIPTED, HASH = "scripted", "hash"
DATA = Path(__file__).parents[2] / "shared" / "data"
_HASH_DIM = 512

T = TypeVar("T")


@dataclass(frozen=True)
class Means:
    """A run's judge and embedder, and how many units are under way at once."""

    panel: Panel
    embedder: Embedder
    judge: str
    at_once: int


@asynccontextmanager
async def opened_means(
    model: str, *, base_url: str | None = None, embedder: str = "local", max_tokens: int | None = None
) -> AsyncIterator[Means]:
    """The means of a run. Replies of models are kept in the cache, so that a run that was ended goes on.

    Args:
        model: ``scripted`` for the overlap judge, else as for ``referee eval --judge``.
        base_url: An OpenAI-compatible server for the model.
        embedder: ``hash`` for hashed words, else as for ``referee eval --embedder``.
        max_tokens: What no call may pass.

    Raises:
        RefereeError: The model, its key or the embedder is not usable.
    """
    overrides = {"models.base_url": base_url, "budget.max_tokens": max_tokens}
    settings = load_settings(overrides if embedder == HASH else {**overrides, "embedder": embedder})
    near = None if settings.embedder.startswith("local") else settings.models.base_url
    opened: Embedder = (
        HashEmbedder(_HASH_DIM) if embedder == HASH else await open_embedder(settings.embedder, base_url=near)
    )
    try:
        if model == SCRIPTED:
            yield Means(overlap_panel(), opened, NAME, at_once=4)
            return
        models = await open_models(settings, say, judges=[model])
        try:
            budget = Budget(settings.budget.max_cost, settings.budget.max_tokens)
            cache = ReplyCache(cache_root() / "replies")
            door = Door(models, calls=settings.calls, budget=budget, cache=cache)
            yield Means(Panel(door, models=models.ids()), opened, models["judge"].spec.id, at_once=8)
        finally:
            await models.aclose()
    finally:
        await opened.aclose()


async def gathered(jobs: Iterable[Coroutine[Any, Any, T]], *, at_once: int, what: str) -> list[T]:
    """Run jobs, some at once, and say how many are done; results in the jobs' order. The first failure ends all."""
    slots, waiting = asyncio.Semaphore(at_once), list(jobs)
    done = 0

    async def limited(job: Coroutine[Any, Any, T]) -> T:
        nonlocal done
        async with slots:
            result = await job
        done += 1
        if done % 25 == 0 or done == len(waiting):
            note(f"{what}: {done} of {len(waiting)}")
        return result

    tasks = [asyncio.ensure_future(limited(job)) for job in waiting]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for job in waiting:
            job.close()


def say(event: Event) -> None:
    note(event.text)


def note(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
