"""The command line as a process on a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from pathlib import Path

from .processes import PATIENCE_S, environment


class Terminal:
    """A command on a terminal: what it shows, and the keys that are pressed; one that is ``dumb`` moves nothing."""

    def __init__(self, folder: Path, arguments: tuple[object, ...], *, term: str = "dumb", columns: int = 200) -> None:
        self._master, slave = pty.openpty()
        self._shown: list[bytes] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "referee", *map(str, arguments)],
            cwd=folder,
            env={**environment(), "TERM": term, "COLUMNS": str(columns)},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._master, 4096)
            except OSError:  # the other side is closed
                return
            if not part:
                return
            self._shown.append(part)

    @property
    def shown(self) -> str:
        return b"".join(self._shown).decode(errors="replace").replace("\r\n", "\n")

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def ended(self) -> tuple[int, str]:
        code = self.process.wait(timeout=PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code, self.shown

    def close(self) -> None:
        self.process.kill()
        self.process.wait(timeout=PATIENCE_S)
        self._reader.join(PATIENCE_S)
        os.close(self._master)


def _take_terminal() -> None:
    """Make it the one whose Ctrl-C is a signal, which is heard even where a shell has it ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
