"""The batches of a run on the disk: what is handed in is written down first, and what came back is kept.

The folder holds ``book.jsonl`` (a line for each thing that happened to a batch, flushed to the disk), and for each
batch its requests as they were sent and the replies as they came. From these a resumed run knows what is paid for.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from referee.errors import RunError
from referee.llm.batches.protocol import OK, BatchResult, ResultsDamaged, Submission, digest_in, unanswered
from referee.runs.files import naming
from referee.runs.lines import JsonLines, lines_of, records
from referee.schemas.base import Frozen

FOLDER, BOOK = "batches", "book.jsonl"
_NO_LINE = "the batch's results hold no line for this call"
_REQUESTS, _REPLIES, _PART = ".requests.jsonl", ".replies.jsonl", ".part"

Happened = Literal["submitting", "accepted", "cancelled", "ended", "dropped"]


class BookLine(Frozen):
    """One thing that happened to a batch; ``submission`` stands with the first, ``id`` with what the provider took."""

    event: Happened
    batch: str
    at: float
    submission: Submission | None = None
    id: str = ""
    status: str = ""
    answered: int = 0


@dataclass
class Batch:
    """A batch of this run.

    Attributes:
        id: The provider's; empty until it is known.
        cancelled: Whether it was cancelled from here.
        over: Whether its replies are on the disk, or it was never taken.
        earlier: Whether an earlier start handed it in.
    """

    submission: Submission
    id: str = ""
    cancelled: bool = False
    over: bool = False
    earlier: bool = False

    @property
    def name(self) -> str:
        """Its own name."""
        return self.submission.name


@dataclass
class Spool:
    """Calls that wait to be handed in, on the disk: in memory there are only their digests."""

    name: str
    path: Path
    digests: set[str] = field(default_factory=set)
    withdrawn: bool = False
    size: int = 0

    def add(self, digest: str, line: bytes) -> None:
        """Write one call down; raises ``OSError`` where it cannot be."""
        with naming(self.path), self.path.open("ab") as file:
            file.write(line)
        self.digests.add(digest)
        self.size += len(line)

    def withdraw(self, digest: str) -> None:
        """Nobody waits for this call any more."""
        self.withdrawn |= digest in self.digests
        self.digests.discard(digest)

    def settle(self) -> None:
        """Take out what nobody waits for any more, and flush the rest to the disk."""
        with naming(self.path):
            if self.withdrawn:
                kept = [line for line in self.path.read_bytes().splitlines(True) if digest_in(line) in self.digests]
                self.path.write_bytes(b"".join(kept))
            with self.path.open("rb") as file:
                os.fsync(file.fileno())


class Book:
    """What is known of a run's batches.

    Args:
        folder: Where it lies; it need not be there yet.

    Attributes:
        batches: By name, in the order they were handed in.

    Raises:
        RunError: It is there and cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.batches: dict[str, Batch] = {}
        self._places: defaultdict[bytes, list[tuple[str, int]]] = defaultdict(list)
        try:
            self._read()
        except OSError as error:
            raise RunError(
                f"{str(error.filename or folder)!r} cannot be read: {error.strerror or error}.",
                hint="Mend its rights: without it batches that are paid for would be sent again.",
            ) from error

    @property
    def open(self) -> list[Batch]:
        """Batches whose replies are not here yet."""
        return [batch for batch in self.batches.values() if not batch.over]

    def sweep(self) -> None:
        """Remove what a killed process had not handed in; only for who holds the run's lock."""
        for path in [*self.folder.glob(f"*{_PART}"), *self.folder.glob(f"*{_REQUESTS}")]:
            if path.name.removesuffix(_REQUESTS) not in self.batches:
                path.unlink()

    def begin(self, model: str, spool: Spool) -> Batch:
        """Write down that these calls are being handed in; from here on they count as sent."""
        spool.settle()
        batch = Batch(Submission(name=spool.name, model=model, requests=len(spool.digests), at=time.time()))
        spool.path.replace(self.requests(spool.name))
        self.batches[spool.name] = batch
        self.note("submitting", batch, submission=batch.submission)
        return batch

    def spool(self) -> Spool:
        """A new file for calls that wait."""
        self.folder.mkdir(exist_ok=True)
        name = f"referee-{uuid4().hex[:24]}"
        return Spool(name, self.folder / f"{name}{_PART}")

    def note(self, event: Happened, batch: Batch, **more: Any) -> None:
        """Write down what happened to a batch, through to the disk; ``more`` are fields of the line."""
        line = BookLine(event=event, batch=batch.name, at=time.time(), id=batch.id, **more)
        with JsonLines(self.folder / BOOK) as lines:
            lines.append(line.model_dump_json(exclude_defaults=True).encode())
        self._happened(line)

    def requests(self, name: str) -> Path:
        """The file with a batch's calls as they were sent."""
        return self.folder / f"{name}{_REQUESTS}"

    def digests(self, batch: Batch) -> set[str]:
        """The calls of a batch."""
        with self.requests(batch.name).open("rb") as file:
            return {digest for line in file if (digest := digest_in(line))}

    async def keep(
        self, batch: Batch, results: AsyncIterator[BatchResult], *, whole: bool = False
    ) -> dict[str, BatchResult]:
        """Write replies down as they come; the file is whole or not there. What was not answered is returned.

        Of several results for one call the first counts; those of calls that are not the batch's are left out.

        Raises:
            ResultsDamaged: With ``whole``, where a call has no result; nothing is kept then.
        """
        pending, failed = self.digests(batch), dict[str, BatchResult]()
        part = self.folder / f"{batch.name}{_REPLIES}{_PART}"
        with naming(part), part.open("wb") as file:
            async for result in results:
                if result.digest not in pending:
                    continue
                pending.discard(result.digest)
                if result.status == OK:
                    line = json.dumps({"id": result.digest, "body": result.body}, ensure_ascii=False)
                    file.write(line.encode() + b"\n")
                else:
                    failed[result.digest] = result
            file.flush()
            os.fsync(file.fileno())
        if whole and pending:
            part.unlink()
            raise ResultsDamaged(len(pending))
        part.replace(self.folder / f"{batch.name}{_REPLIES}")
        self._index(batch.name)
        return failed | {digest: replace(unanswered(digest, _NO_LINE), lost=True) for digest in pending}

    def holds(self, digest: str) -> bool:
        """Whether a reply to this call is here to be taken."""
        return bool(self._places.get(bytes.fromhex(digest)))

    def take(self, digest: str) -> BatchResult | None:
        """The reply that a batch of this run brought for a call, once: it is the caller's to write down."""
        place = self.drop(digest)
        if place is None:
            return None
        with (self.folder / f"{place[0]}{_REPLIES}").open("rb") as file:
            file.seek(place[1])
            return BatchResult(digest, OK, json.loads(file.readline())["body"])

    def drop(self, digest: str) -> tuple[str, int] | None:
        """A reply to this call has been written down: it is not handed out again. Where it lies, if there is one."""
        places = self._places.get(bytes.fromhex(digest))
        return places.pop(0) if places else None

    def _read(self) -> None:
        for _, line in records(self.folder / BOOK, BookLine):  # what a damaged one said the provider is asked for
            self._happened(line)
        for batch in self.batches.values():
            batch.earlier = True
            if (self.folder / f"{batch.name}{_REPLIES}").is_file():
                batch.over = True
                self._index(batch.name)

    def _happened(self, line: BookLine) -> None:
        if line.submission is not None:
            self.batches.setdefault(line.batch, Batch(line.submission))
        batch = self.batches.get(line.batch)
        if batch is None:
            return
        batch.id = line.id or batch.id
        batch.cancelled |= line.event == "cancelled"
        batch.over |= line.event in ("ended", "dropped")

    def _index(self, name: str) -> None:
        for line in lines_of(self.folder / f"{name}{_REPLIES}"):
            if not line.fault and (digest := digest_in(line.text)) is not None:
                self._places[bytes.fromhex(digest)].append((name, line.place))


def open_batches(run: Path) -> list[Batch]:
    """The batches that a run waits for; none where there is no run or it was not made in batches."""
    return Book(run / FOLDER).open if (run / FOLDER / BOOK).is_file() else []
