"""Functions that return when they are done, with and without a loop around them."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest

import referee
from referee.api.blocking import blocking
from referee.errors import DataError


async def doubled(value: int) -> int:
    """Twice the value."""
    await asyncio.sleep(0)
    return 2 * value


async def refused() -> None:
    await asyncio.sleep(0)
    raise DataError("no.", hint="Give another.")


def test_without_a_loop_and_within_one() -> None:
    call = blocking(doubled)
    assert (call(3), call.__name__, call.__doc__) == (6, "doubled_sync", "Twice the value.")

    async def notebook() -> int:
        return call(4)

    before = set(threading.enumerate())
    assert asyncio.run(notebook()) == 8
    assert set(threading.enumerate()) <= before


def test_an_error_comes_through_and_leaves_no_thread() -> None:
    async def notebook() -> None:
        blocking(refused)()

    before = set(threading.enumerate())
    with pytest.raises(DataError):
        asyncio.run(notebook())
    with pytest.raises(DataError):
        blocking(refused)()
    assert set(threading.enumerate()) <= before


def test_each_function_that_is_awaited_has_one() -> None:
    awaited = {name for name in referee.__all__ if inspect.iscoroutinefunction(getattr(referee, name))}
    assert {f"{name}_sync" for name in awaited} == {name for name in referee.__all__ if name.endswith("_sync")}
