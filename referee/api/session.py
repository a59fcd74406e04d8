"""What every command that runs in a folder does alike: one session around what is special about it."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from referee.api.coverage import beside_limits, in_batches
from referee.api.options import RunOptions
from referee.api.own_prompts import keep_prompts, require_room, with_kept_prompts
from referee.api.places import RunPlace
from referee.errors import RefereeError, RunError, RunStopped, SettingsError
from referee.llm.batches.collecting import Batches
from referee.llm.batches.wire import put_into_batches, waiting_calls
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.models import Models, open_models
from referee.prompts import active, active_prompts, chosen_prompts, is_in_run
from referee.runs import Budget, Event, Ledger, Progress, RunFolder
from referee.runs.folder import RECORD, TRACE, TRACE_INDEX, read_record
from referee.runs.shards import SHARD_INPUT, Shard
from referee.runs.shared_limits import open_book
from referee.schemas.estimate import Estimate, ReviewEstimate
from referee.schemas.paper_cut import PaperCut
from referee.schemas.run import RunStatus
from referee.schemas.usage import Usage
from referee.settings import BudgetSettings, Settings

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

T = TypeVar("T")

logger = logging.getLogger(__name__)


class ReadyForShards(Exception):
    """The folder of a run that processes are to make is there; nothing else of it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"run folder {str(path)!r} waits for its shards")
        self.path = path


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
        cuts: Papers, by id, of which a model did not read all; ``run.json`` holds them.
        shard: The part of the run that is made here; None for the whole.
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
        self.cuts: dict[str, PaperCut] = {}
        self._not_written: dict[str, Exception] = {}
        self._command, self._confirm, self._stack = command, options.confirm, stack
        self._inputs: Mapping[str, str] = {}
        self._folder: RunFolder | None = None
        self._is_inner = is_in_run()  # of a run that makes several: that one says what none of them uses
        self._batches: Batches | None = None
        self._workers, self._parquet = options.workers, options.parquet
        if options.parquet:
            _require_parquet()
        self.shard = Shard.parse(options.shard) if options.shard is not None else None

    def enter(self, context: AbstractContextManager[T]) -> T:
        """Enter what is left when the session ends."""
        return self._stack.enter_context(context)

    def closing(self, close: Callable[[], object]) -> None:
        """Call this when the session ends, before what was opened earlier is closed."""
        self._stack.callback(close)

    def beside(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin work that goes on while models are asked; what nobody waited for ends with the session."""
        task = asyncio.create_task(work)

        async def end() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self._closing(end)
        return task

    async def open_models(self, judges: Sequence[str] | None = None) -> Models:
        """The models that the settings name, or a panel of judges; raises as ``referee.llm.models.open_models``."""
        batches = self.open_batches()
        models = await open_models(self.settings, self.progress, judges=judges)
        if batches is not None:
            put_into_batches(models, batches, self.settings.calls)
        self._closing(models.aclose)
        require_room(models)
        return models

    def open_batches(self) -> Batches | None:
        """The run's batches, for models that are opened elsewhere; None where calls are made at once.

        Raises:
            RunError: The run to be resumed waits for batches, and calls are to be made at once.
        """
        if not self.settings.calls.batch:
            self.place.refuse_open_batches()
        elif self._batches is None:
            self._batches = Batches(self.settings.batches, self.progress)
            self._closing(self._batches.aclose)
        return self._batches

    async def open_embedder(self) -> Embedder:
        """The embedder of the settings."""
        embedder = await opened_embedder(self.settings, self.progress)
        self._closing(embedder.aclose)
        return embedder

    def check_inputs(self, inputs: Mapping[str, str], hint: str | None = None) -> None:
        """Say what must be the same for a run to be resumed, and see that it is, before anything is shown or asked.

        Args:
            inputs: What must be the same.
            hint: What to do where it is not; by default a general one.

        Raises:
            RunError: The run to be resumed was started on others; each is named.
        """
        self._inputs = inputs if self.shard is None else {**inputs, SHARD_INPUT: str(self.shard)}
        self.place.check_inputs(self._inputs, hint)

    def holds(self, paper_id: str) -> bool:
        """Whether a paper is worked on here: it is in the shard, or the run is whole."""
        return self.shard is None or self.shard.holds(paper_id)

    @property
    def is_asked(self) -> bool:
        """Whether somebody is shown an estimate."""
        return self._confirm is not None

    def confirm(self, estimate: Estimate, limits: BudgetSettings | None = None) -> None:
        """Show the estimate beside the limits (those of the settings), and go on only with a yes.

        Raises:
            PaperNotRead: Too little of the paper would be read, and nobody agreed to that.
            RunError: The answer was no; nothing was sent or written.
        """
        shown = in_batches(estimate, self.settings.calls.batch)
        refusal = estimate.refusal if isinstance(estimate, ReviewEstimate) else None
        agreed = self._confirm(beside_limits(shown, limits or self.settings.budget)) if self._confirm else not refusal
        if not agreed:
            if refusal is not None:
                raise refusal
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
        part = f"s{self.shard.number}-" if self.shard else ""
        ledger = Ledger(self.path / TRACE, index=self.path / TRACE_INDEX, prefix=part)
        self.closing(ledger.close)
        self.record(ledger.usage, ledger.usage_by_role)
        if ledger.damaged_lines:
            self.progress(Event("note", f"{ledger.damaged_lines} damaged line(s) in {TRACE} were left out"))
        if self._batches is not None:
            self._batches.drop(ledger.answered())
        return Door(
            models,
            calls=waiting_calls(self.settings.calls),
            ledger=ledger,
            budget=budget or self.budget(self.settings.budget, ledger.usage()),
            cache=ReplyCache(cache_root() / "replies") if self.settings.calls.cache else None,
            progress=self.progress,
            sample=sample,
        )

    def budget(self, limits: BudgetSettings, spent: Usage) -> Budget:
        """The budget of the open run, kept together with other processes where the settings say so."""
        name = self.settings.calls.shared_limits
        book = open_book(name) if name else None
        return Budget(limits.max_cost, limits.max_tokens, spent=spent, book=book, run=str(self.path.absolute()))

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
            ReadyForShards: The options ask for the folder alone.
        """
        self._folder = self.enter(
            self.place.open(
                self._command,
                inputs=self._inputs,
                settings=(settings or self.settings).model_copy(update={"prompts": self.settings.prompts}),
                models={role: models[role].record() for role in roles},
                prompts=prompts,
                asked=asked,
                shard=self.shard,
                workers=self._workers,
            )
        )
        self._keep_prompts(prompts)
        if self._batches is not None:
            self._batches.open(self.path)
        if self._workers is not None:
            raise ReadyForShards(self.path)

    def _keep_prompts(self, used: Mapping[str, str]) -> None:
        """Keep the texts of the user's own prompts, and say which of the chosen ones nothing here uses."""
        keep_prompts(self.folder, self.settings)
        unused = tuple(name for name, prompt in active_prompts().items() if f"{prompt.id}@{prompt.version}" not in used)
        self.folder.set_unused_prompts(unused)
        if unused and not self._is_inner:
            self.progress(Event("note", f"chosen, but not used by this {self._command}: prompt {', '.join(unused)}"))

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

    @contextmanager
    def output(self, name: str) -> Iterator[None]:
        """Make one output of a result that was paid for: where that fails, the others are made all the same.

        The failure is told at once, and the session ends with an error that names every output that is missing.
        """
        try:
            yield
        except Exception as error:
            logger.info("%s could not be written", name, exc_info=error)
            self._not_written[name] = error
            self.progress(Event("note", f"{name} was not written: {_cause(error)}"))

    def _require_outputs(self) -> None:
        """Raise where an output is missing: an error of the file system as it is, any other by the outputs' names."""
        if not self._not_written:
            return
        first = next(iter(self._not_written.values()))
        if isinstance(first, OSError):
            raise first
        missing = "; ".join(f"{name} ({_cause(error)})" for name, error in self._not_written.items())
        raise RunError(
            f"the run is complete, but not every output could be written: {missing}.",
            hint=f"The other outputs are in {str(self.path)!r}. --resume writes the missing ones without a new call.",
        ) from first

    def _closing(self, close: Callable[[], Awaitable[None]]) -> None:
        assert isinstance(self._stack, AsyncExitStack), "an offline session opens no model"
        self._stack.push_async_callback(close)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record the end of what happens inside: finished, failed, stopped by a budget, or interrupted."""
        try:
            yield
            self._require_outputs()
            if self._parquet:
                from referee.reports.parquet import write_tables

                write_tables(self.path, self._command)
            self.folder.set_usage(self._usage(), self._by_role())
            self.folder.set_cuts(self.cuts)
            self.folder.set_status("finished", error=self.remark)
        except RefereeError as error:
            self._end("stopped" if isinstance(error, RunStopped) else "failed", str(error))
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
        self.folder.set_cuts(self.cuts)
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
        place = RunPlace(*names, out=options.out, resume=options.resume)
        if place.resumed and (made := read_record(place.path).workers) != options.workers:
            by = f"{made} processes" if made else "one process"
            raise RunError(
                f"run {str(place.path)!r} is made by {by}.", hint="Leave --processes away: the run knows their number."
            )
        settings = with_kept_prompts(settings, place, options.prompts or ())
        run = Session(command, place, options, settings, stack)
        stack.enter_context(active(chosen_prompts(settings.prompts)))
        yield run


@contextmanager
def offline_session(command: str, *names: str, options: RunOptions, settings: Settings) -> Iterator[Session]:
    """The same for a command that opens no model."""
    if options.prompts:
        raise SettingsError(f"`referee {command}` asks no model, so no prompt is used.", hint="Leave --prompt away.")
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
        cause, hint = f"{TRACE_INDEX}: {error}", f"If {TRACE_INDEX} is damaged, delete it"
    there = (path / RECORD).is_file()
    return RunError(
        f"run folder {str(path)!r} can no longer be used: {cause}.",
        hint=f"{hint}; the replies in {TRACE} are not paid again." if there else "Start a new run.",
        ids={"run": os.fspath(path)} if there else {},
    )


def _cause(error: Exception) -> str:
    """An error in a few words; those of ours say enough without their type."""
    if isinstance(error, RefereeError):
        return error.message.rstrip(".")
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _require_parquet() -> None:
    """Before anything is paid for."""
    from referee.data.entries import parquet_library

    parquet_library()
