"""Models on this machine that write better reviews than the embedded one, for whoever named none."""

from __future__ import annotations

import asyncio

from referee.errors import RefereeError
from referee.settings import load_settings

_MOST_SHOWN = 3


def better_models() -> list[str]:
    """A line for each server that runs here, with the options that use its first models; none where a model is set."""
    from referee.llm.nearby import servers_nearby

    try:
        if load_settings().models.default != "local":
            return []
    except RefereeError:
        return []  # what is wrong with the settings is said by the command
    lines = []
    for server in asyncio.run(servers_nearby()):
        options = [server.command(model) for model in server.models[:_MOST_SHOWN]]
        if options:
            lines.append(f"A model server runs here ({server.kind}). To use it: {'; or '.join(options)}")
    return lines
