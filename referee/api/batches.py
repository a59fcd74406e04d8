"""``run_batches``: how the batches of a run stand, whether or not somebody waits for them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from referee.errors import RunError
from referee.llm.batches.looking import SeenBatch, look_at_batches
from referee.runs.folder import check_resumable, read_record
from referee.settings import changed_settings, stored_settings


async def run_batches(run: str | Path, *, cancel: bool = False, base_url: str | None = None) -> list[SeenBatch]:
    """How the batches of a run stand at their providers, in the order in which they were handed in.

    Args:
        run: The run folder; somebody may be waiting in it.
        cancel: Whether open batches are cancelled. What is answered by then is paid, and read by a resumed run.
        base_url: The server, where the run's settings do not name it, or hide a login in its address.

    Raises:
        RunError: There is no run, or it has no batches.
        SettingsError: A key is missing.
        ModelError: A provider does not answer, or knows no such batch.
    """
    folder = Path(run)
    check_resumable(folder)
    try:
        settings = stored_settings(read_record(folder).settings)
    except ValidationError as error:
        raise RunError(f"the settings in {str(folder)!r} are of another version.", hint="Use that version.") from error
    return await look_at_batches(folder, changed_settings(settings, {"models.base_url": base_url}), cancel=cancel)
