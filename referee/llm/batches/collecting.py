"""Calls that wait become batches: they are collected while the run goes on, handed in when it only waits, and polled.

A run is taken to only wait when for a while no call came and the processor had nothing to do: every step of every
unit is then at a call. So a chain of steps goes stage by stage, and a stage is one batch for each model.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, repeat
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import ModelError, ModelRefused, ModelUnavailable, RefereeError, RunError
from referee.llm.batches.book import FOLDER, Batch, Book, Spool
from referee.llm.batches.protocol import BAD_REQUEST, BatchProvider, BatchResult, BatchState, ResultsDamaged, unanswered
from referee.llm.failures import NotReached, classified
from referee.llm.spec import ModelSpec
from referee.runs.progress import Event, Progress
from referee.runs.stopping import Stop, current_stop
from referee.settings import BatchSettings

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Waits grow by this factor, up to so many times the first.
_SLOWER, _SLOWEST = 1.5, 20
# A run that is never quiet hands in what waits after so many quiet times; computing counts as quiet below this share.
_OLDEST, _BUSY = 120, 0.5
_FULL = 429
# How often damaged results are read before the calls without a line are sent once more.
_READS = 3
# Calls that are written or read at once: a call on its way through LangChain takes 100 KB, one that waits 30.
_AT_ONCE = 16


@dataclass
class Tally:
    """Batches of this start: how many were handed in or found, how many are done, and the calls they hold.

    Calls that a batch did not answer count no more once it is done: they may come again with another.
    """

    handed_in: int = 0
    done: int = 0
    calls: int = 0
    answered: int = 0


class Batches:
    """The batches of one command, over all its runs; ``book`` is there from ``open`` on."""

    def __init__(self, settings: BatchSettings, progress: Progress) -> None:
        self.settings, self.progress = settings, progress
        self.tally = Tally()
        self.stop: Stop = Stop()
        self.book: Book | None = None
        self._queues: dict[str, BatchQueue] = {}

    def queue(self, spec: ModelSpec, provider: Callable[[], BatchProvider]) -> BatchQueue:
        """The queue of a model; all that ask it share one."""
        if spec.id not in self._queues:
            queue = self._queues[spec.id] = BatchQueue(spec, provider(), self)
            if self.book is not None:
                queue.open(self.book)
        return self._queues[spec.id]

    def open(self, run: Path) -> None:
        """From here on calls may come; the batches of earlier starts are polled first.

        Raises:
            RunError: The folder's book cannot be read.
        """
        self.stop = current_stop()
        self.book = Book(run / FOLDER)
        self.book.sweep()
        for queue in self._queues.values():
            queue.open(self.book)

    def drop(self, requests: Iterable[str]) -> None:
        """Replies to these calls are written down already: they are not handed out again."""
        if self.book is not None:
            for digest in requests:
                self.book.drop(digest)

    def say(self, text: str) -> None:
        """Tell progress what happened, and how many batches wait."""
        tally = self.tally
        waiting = tally.handed_in - tally.done
        counts = f"batches: {waiting} waiting, {tally.done} done, {tally.answered:,} of {tally.calls:,} calls answered"
        self.progress(Event("stage", f"{counts}; {text}"))

    async def aclose(self) -> None:
        """Let go of everything; batches that were handed in go on at the provider."""
        for queue in self._queues.values():
            await queue.aclose()


class BatchQueue:
    """The calls of one model that wait for a batch, and the batches that wait for their replies."""

    def __init__(self, spec: ModelSpec, provider: BatchProvider, batches: Batches) -> None:
        self._spec, self._provider, self._all = spec, provider, batches
        self._spool: Spool | None = None
        # Who waits for a call; the result is null where it is to be looked for, or asked for, again.
        self._waiting: dict[str, list[asyncio.Future[BatchResult | None]]] = {}
        self._in_batch: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._collecting: asyncio.Task[None] | None = None
        self._matched = asyncio.Event()
        self._came = self._oldest = 0.0
        self._most_requests = min(batches.settings.most_requests, provider.most_requests)
        self._rest_s = 0.0
        self._working, self._turns = 0, asyncio.Semaphore(_AT_ONCE)

    @property
    def _book(self) -> Book:
        assert self._all.book is not None, "calls come once the run's folder is open"
        return self._all.book

    def open(self, book: Book) -> None:
        """Follow the batches of earlier starts; those whose id was not noted are looked for before anything is sent."""
        mine = [batch for batch in book.open if batch.submission.model == self._spec.id]
        for batch in mine:
            self._in_batch[batch.name] = book.digests(batch)
            self._all.tally.handed_in += 1
            self._all.tally.calls += batch.submission.requests
        if mine:
            self._all.say(f"{len(mine)} batch(es) of {self._spec.id} were handed in earlier")
        self._begin(self._match([batch for batch in mine if not batch.id]))
        for batch in mine:
            if batch.id:
                self._begin(self._follow(batch))

    @asynccontextmanager
    async def answered(
        self, digest: str, body: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> AsyncIterator[BatchResult]:
        """What a batch says of this call, held while it is read: one that was handed in already, or the next one.

        Args:
            digest: The call.
            body: Makes the request's body; asked only where the call is in no batch yet.

        Raises:
            ModelError: The provider takes no such batch, or it was cancelled.
            RunError: The call cannot be written down.
        """
        while True:
            with current_stop().aside():
                said = await self._said(digest, body)
            async with self._at_work():
                if (result := said or self._book.take(digest)) is not None:
                    yield result
                    return

    async def aclose(self) -> None:
        """End what is under way here."""
        tasks = [*self._tasks, *([self._collecting] if self._collecting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._spool is not None:
            self._spool.path.unlink(missing_ok=True)
            self._spool = None
        await self._provider.aclose()

    async def _said(self, digest: str, body: Callable[[], Awaitable[Mapping[str, Any]]]) -> BatchResult | None:
        """What became of an unanswered call; null where its reply lies in the book, or it is to be asked again."""
        if self._book.holds(digest):
            return None
        spooled = self._spool.digests if self._spool is not None else set[str]()
        if not any(digest in digests for digests in (spooled, *self._in_batch.values())):
            async with self._at_work():
                self._collect(digest, self._provider.line(digest, await body()))
        return await self._waited(digest)

    @asynccontextmanager
    async def _at_work(self) -> AsyncIterator[None]:
        """A call is being written or its reply read, a few at once: the run does more than wait."""
        self._working += 1
        try:
            async with self._turns:
                yield
        finally:
            self._working -= 1

    async def _waited(self, digest: str) -> BatchResult | None:
        """What comes for this call; where nobody waits any more, a call that was not handed in is taken out again."""
        future: asyncio.Future[BatchResult | None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(digest, [])
        waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            waiting.remove(future)
            if self._waiting.get(digest) == []:
                del self._waiting[digest]
                if self._spool is not None:
                    self._spool.withdraw(digest)
            raise

    def _collect(self, digest: str, line: bytes) -> None:
        spool, most_bytes = self._spool, self._provider.most_bytes
        if spool and (len(spool.digests) >= self._most_requests or spool.size + len(line) > most_bytes):
            self._hand_in()
        try:
            if self._spool is None:
                self._spool = self._book.spool()
                self._oldest = time.monotonic()
            self._spool.add(digest, line)
        except OSError as error:
            raise RunError(
                f"a call for a batch cannot be written down: {error.strerror or error} in {str(error.filename)!r}.",
                hint="Make room or mend its rights; --resume goes on.",
            ) from error
        self._came = time.monotonic()
        if self._collecting is None or self._collecting.done():
            self._collecting = asyncio.create_task(self._until_quiet())

    async def _until_quiet(self) -> None:
        """Hand in what waits once nothing more comes, or once it has waited for long."""
        quiet = self._all.settings.quiet_s
        while self._spool is not None:
            computed, before = time.process_time(), self._came
            await asyncio.sleep(quiet)
            busy = self._working > 0 or time.process_time() - computed > _BUSY * quiet
            old = time.monotonic() - self._oldest > _OLDEST * quiet
            if self._spool is not None and ((before == self._came and not busy) or old):
                self._hand_in()

    def _hand_in(self) -> None:
        spool, self._spool = self._spool, None
        if spool is not None and spool.digests:
            self._in_batch[spool.name] = set(spool.digests)
            self._begin(self._carry(spool))
        elif spool is not None:
            spool.path.unlink(missing_ok=True)

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, spool: Spool) -> None:
        """Hand in one batch and follow it; what goes wrong is the failure of its calls."""
        try:
            await self._matched.wait()
            await asyncio.sleep(self._rest_s)
            async with self._all.stop.call():
                batch = self._book.begin(self._spec.id, spool)
                await self._submit(batch)
        except Exception as error:  # whatever it is, the calls would wait for ever
            self._fail(spool.name, error)
            return
        self._all.tally.handed_in += 1
        self._all.tally.calls += batch.submission.requests
        self._all.say(f"{batch.submission.requests:,} call(s) handed in to {self._spec.id} as a batch")
        await self._follow(batch)

    async def _submit(self, batch: Batch) -> None:
        """Hand it in until the provider takes it. Where it is unsure whether it did, it is looked for first."""
        for attempt, wait_s in enumerate(islice(self._waits(), _SLOWEST), 1):
            try:
                with classified(self._spec, as_what=_AS_WHAT):
                    batch.id = await self._provider.submit(batch.submission, self._book.requests(batch.name))
            except ModelError as failure:
                if not isinstance(failure, ModelUnavailable) or (isinstance(failure, NotReached) and attempt == 1):
                    self._book.note("dropped", batch)
                    raise _no_batches(failure) from failure
                self._all.progress(Event("retry", f"a batch was not handed in (try {attempt}): {failure.message}"))
                await asyncio.sleep(wait_s)
                batch.id = await self._found(batch)
            if batch.id:
                self._book.note("accepted", batch)
                return
        self._book.note("dropped", batch)
        raise ModelUnavailable(
            f"{self._spec.id!r} took no batch in {_SLOWEST} tries.", hint="Resume the run later (--resume)."
        )

    async def _match(self, unsure: list[Batch]) -> None:
        """Look for batches that were being handed in when an earlier start ended; nothing is sent before that."""
        for batch in unsure:
            since = time.time() - batch.submission.at
            batch.id = await self._found(batch)
            if not batch.id and since < self._all.settings.poll_s:  # what was just taken may not be listed yet
                await asyncio.sleep(self._all.settings.poll_s)
                batch.id = await self._found(batch)
            if batch.id:
                self._book.note("accepted", batch)
                self._begin(self._follow(batch))
            else:
                self._book.note("dropped", batch)
                self._all.tally.handed_in -= 1
                self._all.tally.calls -= batch.submission.requests
                self._settle(batch.name, {})
        self._matched.set()

    async def _found(self, batch: Batch) -> str:
        known = frozenset(other.id for other in self._book.batches.values() if other.id)
        digests = frozenset(self._in_batch[batch.name])
        wait = partial(asyncio.sleep, self._all.settings.poll_s * _SLOWEST / 2)
        return await self._patiently(lambda: self._provider.find(batch.submission, known, digests, wait))

    async def _follow(self, batch: Batch) -> None:
        """Poll a batch, the more rarely the longer it takes, and hand out what it brought."""
        try:
            state = await self._polled(batch)
            failed = await self._read(batch, state)
        except Exception as error:  # whatever it is, the calls would wait for ever
            self._fail(batch.name, error)
            return
        answered = batch.submission.requests - len(failed)
        self._book.note("ended", batch, status=state.status, answered=answered)
        self._all.tally.done += 1
        self._all.tally.answered += answered
        self._all.tally.calls -= len(failed)
        left = f", {len(failed):,} of its calls were not answered" if failed else ""
        self._all.say(f"a batch of {self._spec.id} is {_WORDS[state.status]}{left}")
        said: Mapping[str, BatchResult | RefereeError] = failed
        if state.status == "cancelled":  # calls of an earlier start's batch go into the next one
            ended = ModelUnavailable(
                f"a batch of {self._spec.id!r} was cancelled before this call was answered.",
                hint="Resume the run (--resume) to hand in what is left.",
            )
            said = {} if batch.earlier else dict.fromkeys(failed, ended)
        self._settle(batch.name, said)

    async def _polled(self, batch: Batch) -> BatchState:
        said = 0
        for wait_s in self._waits():
            state = await self._patiently(lambda: self._provider.state(batch.id))
            if state.status != "open":
                break
            if state.answered != said:
                self._all.say(f"a batch of {self._spec.id}: {state.answered:,} of {batch.submission.requests:,}")
                said = state.answered
            await asyncio.sleep(wait_s)
        return state

    async def _read(self, batch: Batch, state: BatchState) -> dict[str, BatchResult]:
        """Keep the replies of a batch that has ended; what became of the calls without one.

        Results that lack lines are read again some times: a damaged file costs nothing while the provider keeps it.
        """
        for wait_s in islice(self._waits(), _READS - 1):
            try:
                failed = await self._kept(batch, state, whole=state.status == "ended")
                break
            except ResultsDamaged as damaged:
                self._all.progress(Event("retry", f"the results of a batch of {self._spec.id} are damaged: {damaged}"))
                await asyncio.sleep(wait_s)
                state = await self._polled(batch)
        else:
            failed = await self._kept(batch, state, whole=False)
        if lost := sum(result.lost for result in failed.values()):
            text = f"the results of a batch of {self._spec.id} stay damaged: {lost:,} of its calls are sent once more"
            self._all.progress(Event("note", text))
        if state.status != "failed":
            self._rest_s = 0.0
            return failed
        self._rest_s = min(max(self._rest_s * 2, self._all.settings.poll_s), self._all.settings.poll_s * _SLOWEST)
        if state.full:
            self._most_requests = max(1, batch.submission.requests // 2)
        why = f"the batch was turned away: {state.problem or 'no reason was given'}"
        return {digest: unanswered(digest, why, _FULL if state.full else BAD_REQUEST) for digest in failed}

    async def _kept(self, batch: Batch, state: BatchState, *, whole: bool) -> dict[str, BatchResult]:
        scratch = self._book.folder / f"{batch.name}.results.part"

        def read() -> Awaitable[dict[str, BatchResult]]:
            results = self._provider.results(batch.id, state, scratch, batch.submission.requests)
            return self._book.keep(batch, results, whole=whole)

        try:
            return await self._patiently(read)
        finally:
            scratch.unlink(missing_ok=True)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask the provider until it answers: a batch goes on while a machine sleeps or a network is down.

        Raises:
            ModelError: It says that this is not to be had.
        """
        for wait_s in self._waits():
            try:
                with classified(self._spec, as_what=_AS_WHAT):
                    found = await ask()
                break
            except ModelUnavailable as failure:
                self._all.progress(Event("retry", f"the batches of {self._spec.id} wait: {failure.message}"))
            except ModelError as failure:
                raise _no_batches(failure) from failure
            await asyncio.sleep(wait_s)
        return found

    def _waits(self) -> Iterator[float]:
        """Pauses that grow up to a bound, without end."""
        poll_s = self._all.settings.poll_s
        return accumulate(repeat(poll_s), lambda before, _: min(before * _SLOWER, poll_s * _SLOWEST))

    def _fail(self, name: str, error: Exception) -> None:
        """What went wrong with a batch is the failure of all its calls."""
        if isinstance(error, OSError):
            where = f" in {str(error.filename)!r}" if error.filename else ""
            error = RunError(
                f"the run's batches cannot be written down: {error.strerror or error}{where}.",
                hint="Make room or mend its rights; --resume goes on.",
            )
        if not isinstance(error, RefereeError):
            logger.error("a batch of %s", self._spec.id, exc_info=error)
            error = ModelUnavailable(
                f"a batch of {self._spec.id!r} could not be followed: {type(error).__name__}.",
                hint="Resume the run later (--resume).",
            )
        self._settle(name, dict.fromkeys(self._in_batch[name], error))

    def _settle(self, name: str, said: Mapping[str, BatchResult | RefereeError]) -> None:
        """Hand out what is said of a batch's calls; the others are looked for in the book, or asked for again."""
        for digest in self._in_batch.pop(name):
            outcome = said.get(digest)
            for future in self._waiting.pop(digest, ()):
                if future.done():
                    continue
                if isinstance(outcome, RefereeError):
                    future.set_exception(copy(outcome))
                    future.exception()  # who waits may be about to leave
                else:
                    future.set_result(outcome)


_AS_WHAT = "a server with batches"
_WORDS = {"ended": "done", "expired": "expired", "cancelled": "cancelled", "failed": "turned away", "open": "open"}


def _no_batches(failure: ModelError) -> ModelRefused:
    """What is wrong with a whole batch, with the way out."""
    return ModelRefused(failure.message, hint=f"{failure.hint} Without --batch calls are made at once.".strip())
