"""A stop on request: calls under way are answered and written down, no other one is sent, and the process ends in time.

``Stop`` belongs to the event loop. ``run_stoppable`` runs the work of a whole process, and hears of signals while the
loop is busy or a thread hangs.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

# The share of the time for a stop at which a process ends itself: then there is time to kill one that cannot.
_LEAVES = 0.9
# Before that, calls under way are dropped: the rest is for what is closed and written down after the last call.
_CLOSES, _CLOSES_S = 0.2, 5.0


class Stop:
    """Counts the calls under way, and ends the work once a stop was asked for and the last of them is done.

    All methods belong to the event loop that the work runs in.

    Args:
        end: Ends the work; called once.

    Attributes:
        requested: Whether a stop was asked for.
        in_flight: Calls that were sent and are not written down yet.
        dropped: Calls that were under way when the work was ended.
    """

    def __init__(self, end: Callable[[], object] = lambda: None) -> None:
        self.requested = False
        self.in_flight = self.dropped = 0
        self._end: Callable[[], object] | None = end

    def ends_by(self, end: Callable[[], object]) -> None:
        """Say what ends the work, where only the work knows; a stop that was asked for before ends it now."""
        self._end = end
        self._end_if_idle()

    @property
    def kept(self) -> str:
        """What is kept and what was dropped, in words."""
        if not self.dropped:
            return "what was answered so far is kept"
        calls = "1 call under way was" if self.dropped == 1 else f"{self.dropped} calls under way were"
        return f"what was answered so far is kept; {calls} dropped, to be sent again"

    def request(self) -> None:
        """Ask for the stop; asking twice is harmless."""
        self.requested = True
        self._end_if_idle()

    def now(self) -> None:
        """End the work without waiting for calls under way."""
        self.requested = True
        end, self._end = self._end, None
        if end is not None:
            self.dropped = self.in_flight
            end()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Hold one call that is being sent; after a stop was asked for, wait here until the work is ended."""
        await self.gate()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._end_if_idle()

    async def pause(self, seconds: float) -> None:
        """Wait between two tries of a call: meanwhile it is not under way, and a stop is not kept waiting by it."""
        self.in_flight -= 1
        try:
            self._end_if_idle()
            await asyncio.sleep(seconds)
            await self.gate()
        finally:
            self.in_flight += 1

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Wait inside a call for what may take hours: meanwhile it is not under way, and a stop ends it at once."""
        self.in_flight -= 1
        try:
            self._end_if_idle()
            yield
        finally:
            self.in_flight += 1

    async def gate(self) -> None:
        """Go on at once, or wait for the end of the work where a stop was asked for."""
        if self.requested:
            await asyncio.get_running_loop().create_future()

    def _end_if_idle(self) -> None:
        if self.requested and self.in_flight == 0:
            self.now()


async def in_thread(ask: Callable[..., T], *given: object) -> T:
    """Ask a service that blocks, in a thread. After a stop was asked for, what it was cut short to goes nowhere."""
    try:
        said = await asyncio.to_thread(ask, *given)
    except Exception:
        await current_stop().gate()
        raise
    await current_stop().gate()
    return said


_CURRENT: ContextVar[Stop | None] = ContextVar("referee_stop", default=None)


def current_stop() -> Stop:
    """The stop of the work that runs here; one that nobody asks for where there is none."""
    return _CURRENT.get() or Stop()


def end_if_stopped() -> None:
    """End what runs here where a stop was asked for: for long loops over data from elsewhere, in any thread.

    Raises:
        asyncio.CancelledError: It was.
    """
    if current_stop().requested:
        raise asyncio.CancelledError


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Make it the stop of all that is run inside."""
    before = _CURRENT.set(stop)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def run_stoppable(
    work: Coroutine[Any, Any, T],
    stop: Stop,
    *,
    after_s: float,
    say: Callable[[str], object],
    leave: Callable[[], NoReturn],
) -> T:
    """Run the work of a process in a loop of its own, until it is done or signals end it.

    The first Ctrl-C lets the calls under way be answered and written down, and no other one is sent. Ctrl-C once more
    ends the work at once, a third time the process. SIGTERM does as the first Ctrl-C does, and the process ends within
    ``after_s``, whatever its loop or its threads wait for.

    Args:
        work: What to run.
        stop: The work's; it says afterwards how many calls were dropped.
        after_s: How long a stop may take, in seconds.
        say: Told what is waited for.
        leave: Ends the process where it stands, in any thread.

    Raises:
        KeyboardInterrupt: Signals ended the work before it was done.
    """

    async def attended() -> T:
        task = asyncio.current_task()
        assert task is not None, "the runner runs this as a task"

        def end() -> None:
            after(after_s * _LEAVES, signals.end)
            task.cancel()

        with stoppable(stop):
            stop.ends_by(end)
            return await work

    runner = asyncio.Runner()
    signals = Signals(stop, runner.get_loop(), after_s, say, leave)
    with signals.heard_here():
        try:
            with runner:  # its end waits for threads
                return runner.run(attended())
        except asyncio.CancelledError:
            if stop.requested:
                raise KeyboardInterrupt from None
            raise
        finally:
            work.close()  # where the first signal came before its first step


class Signals:
    """The handler of Ctrl-C and SIGTERM. The arguments are those of ``run_stoppable``, and its loop.

    Attributes:
        heard: Whether a signal came.
    """

    def __init__(
        self,
        stop: Stop,
        loop: asyncio.AbstractEventLoop,
        after_s: float,
        say: Callable[[str], object],
        leave: Callable[[], NoReturn],
    ) -> None:
        self.heard = False
        self._stop, self._loop, self._say, self._leave = stop, loop, say, leave
        self._leaves_s = after_s * _LEAVES
        self._closes_s = min(after_s * _CLOSES, _CLOSES_S)
        self._limited = self._hurried = False

    def __call__(self, number: int, frame: object = None) -> None:
        """Set off what the loop and timers do: this runs in between any two steps of the main thread."""
        first, self.heard = not self.heard, True
        if number == signal.SIGTERM and not self._limited:
            self._limited = True
            after(self._leaves_s - self._closes_s, lambda: self._tell(self._stop.now))
            after(self._leaves_s, self.end)
        if first:
            self._stop.requested = True
            self._tell(self._ask)
        elif number == signal.SIGINT:
            if self._hurried:
                self.end()
            self._hurried = True
            after(self._closes_s, self.end)
            self._tell(self._stop.now)

    def end(self) -> None:
        """End the process where it stands."""
        self._stop.dropped = self._stop.dropped or self._stop.in_flight
        self._leave()

    @contextmanager
    def heard_here(self) -> Iterator[None]:
        """Attend to the signals that are neither ignored nor attended to by somebody else.

        A process that was told to end is ending when this is left: one more signal would only break its last words.
        """
        usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
        in_main = threading.current_thread() is threading.main_thread()
        ours = [number for number in usual if in_main and signal.getsignal(number) == usual[number]]
        for number in ours:
            # A signal that comes just before the loop waits would not wake it otherwise.
            self._loop.add_signal_handler(number, lambda: None)
            signal.signal(number, self)
        try:
            yield
        finally:
            for number in ours:
                signal.signal(number, signal.SIG_IGN if self.heard else usual[number])

    def _ask(self) -> None:
        if waiting := self._stop.in_flight:
            calls = f"{waiting} call{'' if waiting == 1 else 's'} under way"
            most = f", {self._leaves_s - self._closes_s:.3g} s at most" if self._limited else ""
            self._say(f"stopping: waiting for {calls}{most}")
        self._stop.request()

    def _tell(self, what: Callable[[], object]) -> None:
        """Do something in the loop, if it is still there."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)


def after(seconds: float, what: Callable[[], object]) -> None:
    """Do it so long from now in a thread, unless the process has ended by then."""
    timer = threading.Timer(seconds, what)
    timer.daemon = True
    timer.start()
