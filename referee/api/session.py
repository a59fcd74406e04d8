"""What every command that runs in a folder does alike: one session around what is special about it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from referee.api.coverage import beside_limits
from referee.api.options import RunOptions
from referee.api.places import RunPlace
from referee.errors import BudgetExceeded, RefereeError, RunError
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.models import Models, open_models
from referee.runs import Budget, Event, Ledger, Progress, RunFolder
from referee.runs.folder import CHECKPOINTS, RECORD, TRACE, TRACE_INDEX
from referee.schemas.estimate import Estimate
from referee.schemas.run import RunStatus
from referee.schemas.usage import Usage
from referee.settings import BudgetSettings, Settings

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

T = TypeVar("T")


class Session:
    """One start of a run: first what it is made of is checked and confirmed, then its folder is open until the end.

    The steps in their order are ``check_inputs``, ``confirm`` and ``begin``; a command that makes no call itself takes
    ``open_folder`` and ``record`` in place of the last. However the work after that ends, ``run.json`` says how, with
    what it has cost, and an error names the run.

    Attributes:
        settings: What the run is made with.
        progress: Called with each event.
        place: Where the run is to lie; the folder is there from ``begin`` on.
        remark: What ``run.json`` shall say beside ``finished``.
    """

    def __init__(
        self,
        command: str,
        place: RunPlace,
        options: RunOptions,
        settings: Settings,
        stack: ExitStack | AsyncExitStack,
    ) -> None:
        self.settings, self.progress, self.place = settings, options.progress, place
        self.remark = ""
        self._command, self._confirm, self._stack = command, options.confirm, stack
        self._inputs: Mapping[str, str] = {}
        self._folder: RunFolder | None = None

    def enter(self, context: AbstractContextManager[T]) -> T:
        """Enter what is left when the session ends."""
        return self._stack.enter_context(context)

    def closing(self, close: Callable[[], object]) -> None:
        """Call this when the session ends, before what was opened earlier is closed."""
        self._stack.callback(close)

    async def open_models(self, judges: Sequence[str] | None = None) -> Models:
        """The models that the settings name, or a panel of judges; raises as ``referee.llm.models.open_models``."""
        models = await open_models(self.settings, self.progress, judges=judges)
        self._closing(models.aclose)
        return models

    async def open_embedder(self) -> Embedder:
        """The embedder of the settings."""
        embedder = await opened_embedder(self.settings, self.progress)
        self._closing(embedder.aclose)
        return embedder

    def check_inputs(self, inputs: Mapping[str, str]) -> None:
        """Say what must be the same for a run to be resumed, and see that it is, before anything is shown or asked.

        Raises:
            RunError: The run to be resumed was started on others; each is named.
        """
        self._inputs = inputs
        self.place.check_inputs(inputs)

    @property
    def is_asked(self) -> bool:
        """Whether somebody is shown an estimate."""
        return self._confirm is not None

    def confirm(self, estimate: Estimate, limits: BudgetSettings | None = None) -> None:
        """Show the estimate beside the limits (those of the settings), and go on only with a yes.

        Raises:
            RunError: The answer was no; nothing was sent or written.
        """
        if self._confirm and not self._confirm(beside_limits(estimate, limits or self.settings.budget)):
            raise RunError("not confirmed: nothing was sent or written.", hint="Add --yes to go on without asking.")

    def begin(
        self,
        models: Models,
        *,
        prompts: Mapping[str, str],
        roles: Iterable[str] | None = None,
        asked: Mapping[str, str] | None = None,
        budget: Budget | None = None,
        sample: int = 0,
    ) -> Door:
        """Open the folder, locked until the session ends, and the run's way to models.

        Progress is told where the run lies, what it has consumed before, and how many lines of the ledger are damaged.

        Args:
            models: Role to model.
            prompts: Digest by prompt and version.
            roles: Those that the record names; all by default.
            asked: How the inputs were named.
            budget: One that several runs share; by default the run's own, less what it has spent before.
            sample: As in ``Door``.

        Raises:
            RunError: The folder is in use, unwritable, or belongs to other inputs.
        """
        self.open_folder(models, roles=models.by_role if roles is None else roles, prompts=prompts, asked=asked)
        ledger = Ledger(self.path / TRACE, index=self.path / TRACE_INDEX)
        self.closing(ledger.close)
        self.record(ledger.usage, ledger.usage_by_role)
        if ledger.damaged_lines:
            self.progress(Event("note", f"{ledger.damaged_lines} damaged line(s) in {TRACE} were left out"))
        limits = self.settings.budget
        return Door(
            models,
            calls=self.settings.calls,
            ledger=ledger,
            budget=budget or Budget(limits.max_cost, limits.max_tokens, spent=ledger.usage()),
            cache=ReplyCache(cache_root() / "replies") if self.settings.calls.cache else None,
            progress=self.progress,
            sample=sample,
        )

    def open_folder(
        self,
        models: Models = Models({}),
        *,
        roles: Iterable[str] = (),
        prompts: Mapping[str, str] = MappingProxyType({}),
        asked: Mapping[str, str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Open the folder, locked until the session ends; ``begin`` does it for commands that make calls themselves.

        Args:
            models: Role to model.
            roles: Those that the record names.
            prompts: Digest by prompt and version.
            asked: How the inputs were named.
            settings: Those of the record, where they are not the session's.

        Raises:
            RunError: The folder is in use, unwritable, or belongs to other inputs.
        """
        self._folder = self.enter(
            self.place.open(
                self._command,
                inputs=self._inputs,
                settings=settings or self.settings,
                models={role: models[role].record() for role in roles},
                prompts=prompts,
                asked=asked,
            )
        )

    def record(
        self, usage: Callable[[], Usage] = Usage, by_role: Callable[[], Mapping[str, Usage]] = dict[str, Usage]
    ) -> None:
        """From now on ``run.json`` says how the work ends and what it has cost: what these return, over all starts."""
        self._usage, self._by_role = usage, by_role
        self.progress(Event("run", os.fspath(self.path), usage()))
        self.enter(self._recorded())

    @property
    def folder(self) -> RunFolder:
        """The run folder, which is open."""
        assert self._folder is not None, "the session has begun"
        return self._folder

    @property
    def path(self) -> Path:
        """Where the run lies."""
        return self.folder.path

    @property
    def usage(self) -> Usage:
        """What the run has cost so far, over all its starts."""
        return self._usage()

    def write(self, name: str, text: str) -> Path:
        """Write one result file whole."""
        return self.folder.write(name, text)

    def _closing(self, close: Callable[[], Awaitable[None]]) -> None:
        assert isinstance(self._stack, AsyncExitStack), "an offline session opens no model"
        self._stack.push_async_callback(close)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record the end of what happens inside: finished, failed, stopped by a budget, or interrupted."""
        try:
            yield
            self.folder.set_usage(self._usage(), self._by_role())
            self.folder.set_status("finished", error=self.remark)
        except RefereeError as error:
            self._end("stopped" if isinstance(error, BudgetExceeded) else "failed", str(error))
            error.ids["run"] = os.fspath(self.path)
            raise
        except (OSError, sqlite3.Error) as error:
            failure = _unusable(self.path, error)
            self._end("failed", str(failure))
            raise failure from error
        except BaseException as error:
            interrupted = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
            self._end("stopped" if interrupted else "failed", "interrupted" if interrupted else repr(error))
            raise

    def _end(self, status: RunStatus, error: str) -> None:
        self.folder.set_usage(self._usage(), self._by_role())
        with suppress(OSError):  # the folder itself may be what failed
            self.folder.set_status(status, error=error)


@asynccontextmanager
async def session(command: str, *names: str, options: RunOptions, settings: Settings) -> AsyncIterator[Session]:
    """Choose where a run is to lie; what is opened for it is closed in the end, last things first.

    Args:
        command: As the record names it.
        *names: What a default folder is named by, before the time.
        options: How the command runs.
        settings: Those of ``options`` with what the command's own arguments change.

    Raises:
        RunError: Two folders are named, a new one holds something, or there is no run to resume.
    """
    async with AsyncExitStack() as stack:
        yield Session(command, RunPlace(*names, out=options.out, resume=options.resume), options, settings, stack)


@contextmanager
def offline_session(command: str, *names: str, options: RunOptions, settings: Settings) -> Iterator[Session]:
    """The same for a command that opens no model."""
    with ExitStack() as stack:
        yield Session(command, RunPlace(*names, out=options.out, resume=options.resume), options, settings, stack)


async def opened_embedder(settings: Settings, progress: Progress) -> Embedder:
    """The embedder of the settings; who asked closes it."""
    from referee.retrieval import open_embedder

    def fetched(text: str, done: int, total: int) -> None:
        progress(Event("fetch", text, done=done, total=total))

    base_url = None if settings.embedder.startswith("local") else settings.models.base_url
    return await open_embedder(settings.embedder, base_url=base_url, progress=fetched, calls=settings.calls)


def _unusable(path: Path, error: OSError | sqlite3.Error) -> RunError:
    """What is said where the run's own files fail: a full disk, lost rights, a damaged file."""
    if isinstance(error, OSError):
        where = f" in {str(error.filename)!r}" if error.filename else ""
        cause, hint = f"{error.strerror or error}{where}", "Make room or mend its rights"
    else:
        cause, hint = f"{CHECKPOINTS}: {error}", f"If {CHECKPOINTS} is damaged, delete it"
    there = (path / RECORD).is_file()
    return RunError(
        f"run folder {str(path)!r} can no longer be used: {cause}.",
        hint=f"{hint}; the replies in {TRACE} are not paid again." if there else "Start a new run.",
        ids={"run": os.fspath(path)} if there else {},
    )
