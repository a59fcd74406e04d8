"""Running a machine to its end. What a killed run was told before is in its ledger, so a machine begins anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from referee.graphs.failure import raise_failure


async def run_machine(build: Callable[[], Any], context: Any, initial: Any) -> Any:
    """Run a machine to its end.

    Args:
        build: Makes the uncompiled graph; it is compiled once in a process.
        context: The services and fixed data of the run.
        initial: The empty state.

    Returns:
        The last state.

    Raises:
        RefereeError: What a node recorded under ``failure``.
    """
    state = await _compiled(build).ainvoke(initial, context=context)
    if state["failure"]:
        raise_failure(state["failure"])
    return state


@cache
def _compiled(build: Callable[[], Any]) -> Any:
    return build().compile()
