"""``collect_openreview``: a venue-year's submissions and public reviews fetched into a folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from referee.api.options import RunOptions
from referee.api.session import session
from referee.collecting.client import check_access, open_openreview
from referee.collecting.collector import Collected, Collector
from referee.collecting.kinds import DEFAULT, parse_kinds
from referee.errors import CollectionError, DataError, RunError
from referee.llm.models import Models
from referee.runs.folder import check_resumable, read_record
from referee.venues.openreview import OpenReviewVenue, load_openreview_venue

COMMAND = "collect openreview"


@dataclass(frozen=True)
class Collection:
    """What was collected: ``notes`` is the snapshot, ``papers`` the folder of PDFs where they were wanted."""

    run: Path
    venue: OpenReviewVenue
    notes: Path
    papers: Path | None
    collected: Collected


async def collect_openreview(
    venue: str | None = None, *, kinds: Sequence[str] | None = None, options: RunOptions = RunOptions()
) -> Collection:
    """Collect the submissions of a venue-year with their public reviews.

    Asks anonymously, or as the account of ``OPENREVIEW_USERNAME`` and ``OPENREVIEW_PASSWORD``. A collection that was
    ended, however it was, goes on from what is on disk.

    Args:
        venue: Its id, as in ``referee.venues.openreview``; with ``options.resume``, by default the one begun there.
        kinds: What is kept beside submissions and reviews: ``pdf``, ``rebuttals``, ``comments``, ``decisions``. By
            default all but the PDFs; with ``options.resume``, by default what it was begun with.
        options: Where it is written, the settings, and who is told.

    Returns:
        Where it lies, with counts.

    Raises:
        VenueError: The venue is unknown, or its reviews are not public.
        SettingsError: A kind is unknown, a setting is not usable.
        RunError: The folder is in use, is another collection's, or cannot be written.
        CollectionError: OpenReview cannot be reached, refuses, or lists nothing.
    """
    settings = options.settled()
    venue, kinds = _begun(options, venue, kinds)
    if venue is None:
        raise DataError("no venue is named.", hint="Name one with --venue, for example --venue iclr-2025.")
    found, wanted = load_openreview_venue(venue), parse_kinds(DEFAULT if kinds is None else kinds)
    check_access(settings.collect)
    async with session(COMMAND, "collect", found.id, options=options, settings=settings) as run:
        run.check_inputs({"venue": found.id, "selection": ",".join(wanted)})
        run.open_folder(Models({}), asked={"venue": found.id, "selection": ",".join(wanted)})
        run.record()
        try:
            collector = Collector(
                found,
                wanted,
                run.path,
                requests_per_minute=settings.collect.requests_per_minute,
                largest_pdf=settings.paper.max_bytes,
                progress=options.progress,
            )
            if not collector.is_done:
                source = await open_openreview(found.api, settings.collect, options.progress)
                async with aclosing(source):
                    await collector.collect(source)
        except OSError as error:
            where = f" in {str(error.filename)!r}" if error.filename else ""
            raise CollectionError(
                f"what is collected cannot be written: {error.strerror or error}{where}.",
                hint="Make room or mend its rights, then go on: whole forums are kept.",
            ) from error
        return Collection(run.path, found, collector.snapshot.path, collector.papers, collector.state)


def _begun(
    options: RunOptions, venue: str | None, kinds: Sequence[str] | None
) -> tuple[str | None, Sequence[str] | None]:
    """What is collected, where not said by what the folder to be resumed was begun with.

    Raises:
        RunError: There is no collection in it.
    """
    if options.resume is None:
        return venue, kinds
    path = Path(options.resume)
    check_resumable(path)
    record = read_record(path)
    if record.command != COMMAND:
        raise RunError(f"{str(path)!r} is a run of `referee {record.command}`.", hint="Resume it with that command.")
    given = record.inputs.get("selection", "").split(",")
    return venue or record.inputs.get("venue"), given if kinds is None else kinds
