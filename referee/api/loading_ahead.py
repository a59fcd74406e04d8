"""Loading what a review will need while its paper is read, which is another process's work.

Nothing else may be loaded in the meantime: where two threads load modules that need one another, one of them can be
handed out half made. So who starts this waits for it before going on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from referee.api.paper_read import read_and_tell
from referee.errors import RefereeError
from referee.graphs.strategies import STRATEGIES
from referee.llm.spec import ModelSpec
from referee.papers.load import checked_head
from referee.runs import Progress
from referee.schemas.paper import Paper
from referee.settings import Settings


async def read_and_load(path: Path, settings: Settings, specs: Iterable[ModelSpec], progress: Progress) -> Paper:
    """Read the paper and say what was read; load meanwhile what the strategy and the models will need.

    Raises:
        PaperParseError: As ``read_paper``.
    """
    checked_head(path, settings.paper.max_bytes)  # a file that cannot be read is refused without delay
    loading = asyncio.create_task(asyncio.to_thread(_load, settings.review.strategy, set(specs)))
    try:
        return await read_and_tell(path, settings.paper, progress)
    finally:
        await loading


def _load(strategy: str, specs: set[ModelSpec]) -> None:
    """Import the libraries; what is missing is named where it is used."""
    from referee.llm.providers import provider_of
    from referee.llm.tokens import count_tokens

    with suppress(ImportError, RefereeError):
        STRATEGIES.get(strategy)  # loads its module; `auto` is settled by who calls
        import referee.graphs.single.machine
        import referee.reports  # noqa: F401

        for spec in specs:
            provider_of(spec).load()
            if not spec.is_local:
                count_tokens("", spec.name)
