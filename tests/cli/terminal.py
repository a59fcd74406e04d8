"""The command line as a process on a terminal of its own."""

from __future__ import annotations

import os
import pty
import threading
from pathlib import Path

from .processes import PATIENCE_S, forks


class Terminal:
    """A command on a terminal: what it shows, and the keys that are pressed; one that is ``dumb`` moves nothing."""

    def __init__(self, folder: Path, arguments: tuple[object, ...], *, term: str = "dumb", columns: int = 200) -> None:
        self._master, slave = pty.openpty()
        self._shown: list[bytes] = []
        own = {"TERM": term, "COLUMNS": str(columns)}
        self.process = forks().start(arguments, folder, out=Path(os.ttyname(slave)), env=own, terminal=True)
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
        code = self.process.ended()
        assert code is not None, self.shown
        self._reader.join(PATIENCE_S)
        return code, self.shown

    def close(self) -> None:
        self.process.kill()
        self._reader.join(PATIENCE_S)
        os.close(self._master)
