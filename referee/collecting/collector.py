"""Collecting a venue-year: its forums list by list, then their PDFs; what is there already is not asked for again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from referee.collecting.client import Note, NotThere, OpenReview, Refused, TooLarge
from referee.collecting.files import archived, is_pdf
from referee.collecting.kinds import PDF, with_kinds
from referee.collecting.snapshot import Forum, Snapshot
from referee.errors import CollectionError
from referee.runs import Event, Progress
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.venues.openreview import OpenReviewVenue

STATE = "collected.json"
PAPERS = "papers"
_FORUMS_PER_PAGE = 50
_PDFS_PER_HOUR = 36  # requests for files that OpenReview was seen to grant in an hour, in August 2026
_REFUSALS = 10  # in a row
_MOST_LISTED = 200_000  # submissions of one list; the largest venues have some 30,000
_SCRATCH = ".pdfs.part"
_FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Listing(Frozen):
    """A list of submissions: how many forums were on disk before it and, once it has ended, after it; its ``total``."""

    invitation: str
    first: int
    last: int | None = None
    total: int | None = None


class Collected(Frozen):
    """``collected.json``: how far a collection is, and what it holds.

    ``deleted`` are submissions that were left out because they are; ``no_pdf`` says of a forum why it has no file.
    """

    schema_version: int = 1
    venue: str
    listings: tuple[Listing, ...] = ()
    forums: int = 0
    replies: dict[str, int] = Field(default_factory=dict, description="notes by kind")
    deleted: tuple[str, ...] = ()
    pdfs: int = 0
    no_pdf: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class _Pace:
    """How long what is left will take, by what was done since the start."""

    started: float
    least_s: float

    def left_s(self, done: int, left: int) -> float:
        """Seconds for so many more requests."""
        each = (time.monotonic() - self.started) / done if done else self.least_s
        return left * max(each, self.least_s)


class Collector:
    """One venue-year and its folder.

    Args:
        venue: What is collected.
        kinds: Beside submissions and reviews; ``pdf`` for the files.
        folder: The run's folder, which nobody else writes.
        requests_per_minute: For the time estimate.
        largest_pdf: Bytes that a file may have.
        progress: Called with each event.

    Attributes:
        snapshot: The forums on disk.
        state: How far it is.

    Raises:
        OSError: The folder cannot be read or written.
    """

    def __init__(
        self,
        venue: OpenReviewVenue,
        kinds: Sequence[str],
        folder: Path,
        *,
        requests_per_minute: int,
        largest_pdf: int,
        progress: Progress,
    ) -> None:
        self._venue, self._kinds, self._folder = venue, tuple(kinds), folder
        self._least_s, self._largest = 60 / requests_per_minute, largest_pdf
        self._progress = progress
        self._refused: set[str] = set()
        self.snapshot = Snapshot(folder / f"{venue.id}.jsonl")
        if self.snapshot.damaged:
            progress(Event("note", f"line {self.snapshot.damaged} of {self.snapshot.path.name} is cut: read again"))
        self.state = self._earlier_state()

    @property
    def papers(self) -> Path | None:
        """The folder of the PDFs; None where none are wanted."""
        return self._folder / PAPERS if PDF in self._kinds else None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to ask for."""
        ended = [one.invitation for one in self.state.listings if one.last is not None]
        return ended == list(self._venue.submissions) and not (self.papers and any(self._without_file(self.papers)))

    async def collect(self, source: OpenReview) -> Collected:
        """Collect what is not there yet.

        Args:
            source: Whom to ask.

        Raises:
            CollectionError: OpenReview cannot be reached or refuses; or it lists no submission at all.
            OSError: The folder cannot be written.
        """
        for invitation in self._venue.submissions:
            await self._list(source, invitation)
        if not self.snapshot.forums:
            raise CollectionError(
                f"OpenReview lists no submission of {self._venue.id!r} under {self._venue.submissions[0]!r}.",
                hint="They may not be public yet, or only with a log-in; see docs/collect.md.",
            )
        if not self.snapshot.replies["reviews"]:
            self._progress(Event("note", "none of these forums shows a review to who asks like this"))
        if self.papers:
            await self._pdfs(source, self.papers)
        self._save()
        return self.state

    async def _list(self, source: OpenReview, invitation: str) -> None:
        listing = next((one for one in self.state.listings if one.invitation == invitation), None)
        if listing is None:
            listing = Listing(invitation=invitation, first=len(self.snapshot.forums))
            self._save(listings=(*self.state.listings, listing))
        if listing.last is None:
            await self._walk(source, listing)
            self._amend(last=len(self.snapshot.forums))

    async def _walk(self, source: OpenReview, listing: Listing) -> None:
        """Page after page until one is empty, from the last forum of the list on disk, where there is one.

        That there is no such list is an error of the first one only: not every venue has those of withdrawn papers.
        """
        there = list(self.snapshot.forums)[listing.first :]
        after, seen, total = there[-1] if there else None, len(there), listing.total
        pace, pages, begun_anew = _Pace(time.monotonic(), self._least_s), 0, False
        while True:
            try:
                page = await source.page(listing.invitation, after=after, limit=_FORUMS_PER_PAGE)
            except NotThere:
                if after is None and listing.invitation != self._venue.submissions[0] and not begun_anew:
                    self._progress(Event("note", f"{listing.invitation} is no list there: passed over"))
                    return
                if after is None or begun_anew:
                    raise
                # The forum to go on from is gone: the list begins anew, and what is on disk is passed over.
                after, seen, begun_anew = None, 0, True
                continue
            if not page.notes:
                return
            last = str(page.notes[-1]["id"])
            if last == after:
                raise CollectionError(
                    f"OpenReview gave one page of {listing.invitation!r} twice.", hint="Go on later: all is kept."
                )
            self._store(page.notes)
            if total is None and page.total:
                total = page.total
                self._amend(total=total)
            after, pages, seen = last, pages + 1, seen + len(page.notes)
            self._say(listing.invitation, seen, total, pace, pages, len(page.notes))
            if seen >= (total or _MOST_LISTED):
                return
            if seen >= _MOST_LISTED:
                raise CollectionError(
                    f"OpenReview lists more than {_MOST_LISTED:,} submissions in {listing.invitation!r}.",
                    hint="No venue has as many, so the list is not read on. What was collected is kept.",
                )

    def _amend(self, **changed: int) -> None:
        """Change the list that is under way."""
        *before, current = self.state.listings
        self._save(listings=(*before, current.model_copy(update=changed)))

    def _store(self, notes: Sequence[Note]) -> None:
        gone = [str(note["id"]) for note in notes if note.get("ddate") is not None]
        new = {str(n["id"]): n for n in notes if n["id"] not in self.snapshot.forums and n["id"] not in gone}
        self.snapshot.add(with_kinds(note, self._kinds) for note in new.values())
        if gone:
            self._save(deleted=tuple(sorted({*self.state.deleted, *gone})))

    def _say(self, invitation: str, seen: int, total: int | None, pace: _Pace, pages: int, each: int) -> None:
        name, forums = invitation.rsplit("/", 1)[-1], len(self.snapshot.forums)
        if not total:
            self._progress(Event("stage", f"{name}: {seen:,} listed, {forums:,} forums on disk", done=seen))
            return
        left = -(-max(total - seen, 0) // each)
        if pages == 1 and left:
            self._progress(Event("note", f"{name}: {total:,} forums, {_lasting(pace.left_s(1, left))} ahead"))
        text = f"{name}: {min(seen, total):,} of {total:,} forums{_left(pace.left_s(pages, left))}"
        self._progress(Event("stage", text, done=min(seen, total), total=total))

    async def _pdfs(self, source: OpenReview, folder: Path) -> None:
        """Fetch the files that are not there, many in a request where the API can."""
        folder.mkdir(exist_ok=True)
        missing = list(self._without_file(folder))
        reasons = {forum.id: reason for forum in missing if (reason := _no_file(forum))}
        self._save(no_pdf={**self.state.no_pdf, **reasons})
        wanted = [forum for forum in missing if forum.id not in reasons]
        batches = _batches(wanted, source.pdfs_per_request)
        pace = _Pace(time.monotonic(), self._least_s)
        if batches:
            many = len(batches) > _PDFS_PER_HOUR
            seconds = len(batches) * (3600 / _PDFS_PER_HOUR if many else self._least_s)
            told = f"{len(wanted):,} PDFs in {len(batches):,} requests, {_lasting(seconds)} where OpenReview grants "
            self._progress(Event("note", f"{told}{_PDFS_PER_HOUR} an hour"))
        for done, batch in enumerate(batches, start=1):
            try:
                await self._batch(source, batch, folder, folder / _SCRATCH)
            finally:
                (folder / _SCRATCH).unlink(missing_ok=True)
            text = f"PDFs: {done:,} of {len(batches):,} requests{_left(pace.left_s(done, len(batches) - done))}"
            self._progress(Event("stage", text, done=done, total=len(batches)))
        self._save(pdfs=sum(1 for _ in folder.glob("*.pdf")))

    def _without_file(self, folder: Path) -> Iterator[Forum]:
        there = {file.stem for file in folder.glob("*.pdf")}
        return (one for one in self.snapshot.forums.values() if one.id not in there and one.id not in self.state.no_pdf)

    async def _batch(self, source: OpenReview, batch: Sequence[Forum], folder: Path, scratch: Path) -> None:
        """The files of several submissions at once; what an archive does not hold is asked for alone."""
        left = list(batch)
        if len(batch) > 1:
            given = set[str]()
            with suppress(NotThere, TooLarge):
                await source.pdfs([one.id for one in batch], scratch, self._largest)
                for forum_id, content in archived(scratch, batch, self._largest):
                    self._write(folder, forum_id, content)
                    given.add(forum_id)
            left = [one for one in batch if one.id not in given]
        for forum in left:
            try:
                await source.pdfs([forum.id], scratch, self._largest)
            except Refused as error:
                self._save(no_pdf={**self.state.no_pdf, forum.id: error.message})
                if not isinstance(error, NotThere | TooLarge):
                    self._refused.add(forum.id)
                if len(self._refused) >= _REFUSALS:  # this is about who asks, and no more about single files
                    kept = {one: why for one, why in self.state.no_pdf.items() if one not in self._refused}
                    self._save(no_pdf=kept)
                    raise
                continue
            self._refused.clear()
            self._write(folder, forum.id, scratch.read_bytes())

    def _write(self, folder: Path, forum_id: str, content: bytes) -> None:
        if is_pdf(content) and len(content) <= self._largest:
            write_atomically(folder / f"{forum_id}.pdf", content)
        else:
            reason = f"larger than {self._largest:,} bytes" if is_pdf(content) else "what came is no PDF"
            self._save(no_pdf={**self.state.no_pdf, forum_id: reason})

    def _save(self, **changed: object) -> None:
        now = {"forums": len(self.snapshot.forums), "replies": dict(sorted(self.snapshot.replies.items()))}
        self.state = self.state.model_copy(update={**now, **changed})
        write_atomically(self._folder / STATE, self.state.model_dump_json(indent=1) + "\n")

    def _earlier_state(self) -> Collected:
        """What the file says, as far as the forums on disk bear it out; without a readable one lists begin anew."""
        try:
            state = Collected.model_validate_json((self._folder / STATE).read_bytes())
        except (OSError, ValidationError):
            return Collected(venue=self._venue.id)
        there = len(self.snapshot.forums)
        kept = tuple(
            one if one.last is not None and one.last <= there else one.model_copy(update={"last": None})
            for one in state.listings
            if one.first <= there
        )
        whole = next((n for n, one in enumerate(kept) if one.last is None), len(kept))
        return state.model_copy(update={"listings": kept[: whole + 1]})


def _no_file(forum: Forum) -> str:
    """Why OpenReview cannot give a submission's file; empty where it can be asked."""
    if not forum.pdf:
        return "the submission names no PDF"
    if forum.pdf.startswith(("http://", "https://")):
        return f"it lies elsewhere: {forum.pdf}"
    return "" if _FILE_NAME.fullmatch(forum.id) else "the forum's id cannot name a file"


def _batches(forums: Sequence[Forum], size: int) -> list[Sequence[Forum]]:
    return [forums[start : start + size] for start in range(0, len(forums), size)]


def _left(seconds: float) -> str:
    return f", {_lasting(seconds)} left" if seconds else ""


def _lasting(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
