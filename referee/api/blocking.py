"""The public functions for those who do not await: notebooks, scripts and shells."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SUFFIX = "_sync"


def blocking(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """The function as one that returns when it is done.

    Where a loop is running already, as in a notebook, the work is done in a loop of its own beside it. Ctrl-C ends the
    work as it ends an awaited call.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        work = function(*args, **kwargs)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        return _beside(work)

    call.__name__ = f"{function.__name__}{SUFFIX}"
    call.__qualname__ = call.__name__
    return call


def _beside(work: Coroutine[Any, Any, R]) -> R:
    """Do the work in another thread's loop, and wait for it; what interrupts the wait ends the work first."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="referee")
    thread.start()
    done: Future[R] = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return done.result()
    finally:
        done.cancel()
        asyncio.run_coroutine_threadsafe(_ended(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended() -> None:
    """Until no other task is left."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()


if TYPE_CHECKING:
    from referee import api

    arena_run_sync = blocking(api.arena_run)
    collect_openreview_sync = blocking(api.collect_openreview)
    compile_venue_sync = blocking(api.compile_venue)
    detect_anchors_sync = blocking(api.detect_anchors)
    detect_check_sync = blocking(api.detect_check)
    detect_generate_sync = blocking(api.detect_generate)
    detect_score_sync = blocking(api.detect_score)
    evaluate_sync = blocking(api.evaluate)
    experiment_sync = blocking(api.experiment)
    plant_sync = blocking(api.plant)
    profile_sync = blocking(api.profile)
    references_sync = blocking(api.references)
    refine_by_objective_sync = blocking(api.refine_by_objective)
    refine_prompts_sync = blocking(api.refine_prompts)
    review_sync = blocking(api.review)


def __getattr__(name: str) -> Any:
    from referee import api

    plain = name.removesuffix(SUFFIX)
    if plain != name and inspect.iscoroutinefunction(found := getattr(api, plain, None)):
        return blocking(found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
