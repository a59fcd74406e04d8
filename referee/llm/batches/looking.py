"""A run's batches as their providers see them now, for who does not run it: to look at, and to end."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from referee.errors import RunError
from referee.llm.batches.book import FOLDER, Batch, Book
from referee.llm.batches.wire import open_provider
from referee.llm.failures import classified
from referee.llm.providers import parse_model, require_key
from referee.settings import Settings

_UNSURE = "being handed in: the run finds out when it is resumed"


@dataclass(frozen=True)
class SeenBatch:
    """One batch: the provider's id, the model, its calls, and how it stands in words."""

    id: str
    model: str
    calls: int
    status: str


async def look_at_batches(run: Path, settings: Settings, *, cancel: bool = False) -> list[SeenBatch]:
    """How the batches of a run stand at their providers, and their end where that is asked for.

    What is answered until then is kept by the provider, is paid, and is read when the run is resumed.

    Args:
        run: The run folder; it may be in use.
        settings: Those of the run, which name its server.
        cancel: Whether open ones are cancelled.

    Raises:
        RunError: The run has no batches.
        SettingsError: A key is missing.
        ModelError: The provider does not answer or knows no such batch.
    """
    book = Book(run / FOLDER)
    if not book.batches:
        raise RunError(f"{str(run)!r} holds no batches.", hint="Name a run that was made with --batch.")
    return [await _seen(book, batch, settings, cancel) for batch in book.batches.values()]


async def _seen(book: Book, batch: Batch, settings: Settings, cancel: bool) -> SeenBatch:
    handed_in = batch.submission
    if batch.over or not batch.id:
        status = "read" if batch.id else "not taken" if batch.over else _UNSURE
        return SeenBatch(batch.id or batch.name, handed_in.model, handed_in.requests, status)
    base_url = settings.models.base_url  # a server's id in records has its host behind an @
    spec = parse_model(handed_in.model.rpartition("@")[0] if base_url else handed_in.model, base_url)
    opened = open_provider(spec, key=require_key(spec), timeout_s=settings.calls.timeout_s)
    async with aclosing(opened) as provider:
        with classified(spec, as_what="a server with batches"):
            if cancel:
                await provider.cancel(batch.id)
                book.note("cancelled", batch)
            state = await provider.state(batch.id)
    answered = f", {state.answered:,} answered" if state.answered else ""
    status = f"{'cancelling' if cancel and state.status == 'open' else state.status}{answered}"
    return SeenBatch(batch.id, handed_in.model, handed_in.requests, status)
