"""``referee`` commands as processes that start in milliseconds: each is forked from one that has imported everything.

    python forked_commands.py SOCKET

listens on that socket, and prints a line of JSON when it is ready. A connection is one command: it sends what ``Start``
holds, and gets the process id, then the exit code when the process has ended. A forked process ends as any other does,
by its own interpreter, or by ``kill -9``; several may live at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE_S = 600.0
_LOOK_EVERY_S = 0.002
# The server forks, so no library may have threads of its own by then.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_NUMBER = struct.Struct("i")
_FOLDERS = ("REFEREE_CACHE_DIR", "REFEREE_CONFIG_DIR")
# What commands on a server import; none of them starts a thread by being imported.
_HEAVY = (
    "referee.api.evaluations.evaluating",
    "referee.api.experiments.running",
    "referee.api.venues.refining",
    "referee.api.reviewing",
    "referee.graphs.sections.by_part",
    "referee.retrieval.store",
    "langchain_core.tracers.stdout",
    "langchain_openai",
    "openai.resources.chat",
    "openai.types.chat",
    "anyio._backends._asyncio",
    "httpcore2",
    "chromadb",
)


@dataclass(frozen=True)
class Start:
    """A command to start: its words, folder and environment, and the files that are its streams.

    ``terminal``: the files are one terminal, which becomes the one whose Ctrl-C the process hears.
    """

    argv: Sequence[str]
    folder: str
    env: Mapping[str, str]
    stdin: str
    stdout: str
    stderr: str
    terminal: bool


@dataclass
class Command:
    """A command that was started; ``out`` and ``err`` are the files it prints to."""

    pid: int
    out: Path
    err: Path
    _connection: socket.socket
    _code: int | None = field(default=None, init=False)

    def ended(self, seconds: float = PATIENCE_S) -> int | None:
        """Its exit code once it has ended, negative after a signal; None where it still runs after so many seconds."""
        if self._code is None and select.select([self._connection], [], [], seconds)[0]:
            self._code = _received(self._connection)
            self._connection.close()
        return self._code

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.ended(0) is None:
            os.kill(self.pid, number)

    def kill(self) -> int:
        """``kill -9`` it, unless it has ended by itself; its exit code."""
        self.send(signal.SIGKILL)
        code = self.ended()
        assert code is not None, f"process {self.pid} outlives its end"
        return code

    def killed_once(self, reached: Callable[[], bool], then_s: float) -> bool:
        """Kill it so long after something is reached; false where it had ended well by itself."""
        until = time.monotonic() + PATIENCE_S
        while self.ended(_LOOK_EVERY_S) is None and not reached():
            assert time.monotonic() < until, "what was waited for did not happen"
        if self.ended(then_s) is None:
            self.kill()
        code = self.ended()
        assert code in (0, -signal.SIGKILL), f"the command ended with {code}:\n{self.err.read_text()[-3000:]}"
        return code != 0


class ForkServer:
    """Starts commands within milliseconds."""

    def __init__(self, address: Path) -> None:
        self._address = str(address)

    def start(
        self,
        argv: Sequence[object],
        folder: Path,
        *,
        out: Path,
        err: Path | None = None,
        env: Mapping[str, str] | None = None,
        terminal: bool = False,
    ) -> Command:
        """Start ``referee ARGV`` in a folder.

        Args:
            argv: The words.
            folder: Where it runs.
            out: What it prints is added here.
            err: What it says on its standard error is added here, by default to ``out``.
            env: Variables beside those of this process.
            terminal: ``out`` is a terminal, and its standard input too.
        """
        stdin = str(out) if terminal else os.devnull
        words = [str(word) for word in argv]
        given = Start(words, str(folder), environment() | dict(env or {}), stdin, str(out), str(err or out), terminal)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        connection.sendall(json.dumps(asdict(given)).encode() + b"\n")
        return Command(_received(connection), out, err or out, connection)


def _received(connection: socket.socket) -> int:
    (number,) = _NUMBER.unpack(connection.recv(_NUMBER.size, socket.MSG_WAITALL))
    return int(number)


def environment() -> dict[str, str]:
    """This process's own, without keys and settings, and with the package that is under test."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_API_TOKEN")) and (not name.startswith("REFEREE_") or name in _FOLDERS)
    }
    return {**kept, "PYTHONPATH": str(HERE.parent)}


@contextmanager
def fork_server() -> Iterator[ForkServer]:
    """A process that has imported everything, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="forks-") as folder:
        address = Path(folder) / "socket"
        command = [sys.executable, __file__, str(address)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        own = {**environment(), **_ONE_THREAD, "REFEREE_CACHE_DIR": folder}
        with subprocess.Popen(command, env=own, **pipes) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline()) == {"ready": True}
            yield ForkServer(address)


def _served(address: str) -> bool:
    """Fork a process for each command until standard input ends; true in such a process, ready to run it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print(json.dumps({"ready": True}), flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    return _watched(connection)
            with suppress(ChildProcessError):  # those that watched commands which have ended
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    return False


def _watched(connection: socket.socket) -> bool:
    """Fork the command, and tell how it goes; true in the command's process, and the other one ends here."""
    with connection.makefile() as asked:
        given = Start(**json.loads(asked.readline()))
    child = os.fork()
    if child == 0:
        _become(given)
        connection.sendall(_NUMBER.pack(os.getpid()))
        return True
    try:
        _, status = os.waitpid(child, 0)
        connection.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
    finally:
        os._exit(0)


def _become(given: Start) -> None:
    if given.terminal:
        os.setsid()
    streams = [
        os.open(given.stdin, os.O_RDWR if given.terminal else os.O_RDONLY),
        os.open(given.stdout, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        os.open(given.stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
    ]
    for target, source in enumerate(streams):
        os.dup2(source, target)
        os.close(source)
    if given.terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdout.reconfigure(line_buffering=True)
    os.chdir(given.folder)
    os.environ.clear()
    os.environ.update(given.env)
    # A shell that starts the benchmark in the background has Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["referee", *given.argv]


def main() -> None:
    """Import everything, and serve."""
    import typer

    from referee.cli.app import COMMANDS, app
    from referee.llm.tokens import count_tokens

    for name in _HEAVY:
        import_module(name)
    count_tokens("The vocabulary is read once.")
    for name in COMMANDS:  # each is imported when it is called otherwise
        typer.main.get_command(app).commands[name]
    if _served(sys.argv[1]):
        from referee.cli import main as command

        command()


if __name__ == "__main__":
    main()
