"""Running a machine to its end. What a killed run was told before is in its ledger, so a machine begins anew."""

from __future__ import annotations

from typing import Any

from referee.graphs.failure import raise_failure


async def run_machine(graph: Any, context: Any, initial: Any) -> Any:
    """Run an uncompiled graph to its end.

    Args:
        graph: The uncompiled machine.
        context: The services and fixed data of the run.
        initial: The empty state.

    Returns:
        The last state.

    Raises:
        RefereeError: What a node recorded under ``failure``.
    """
    state = await graph.compile().ainvoke(initial, context=context)
    if state["failure"]:
        raise_failure(state["failure"])
    return state
