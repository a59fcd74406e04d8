"""A named pipe, a socket or a device given as a file: reading one may never end, so no command begins with one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from referee.machine import refuse_special_file


def refuse_devices(arguments: Iterable[str]) -> None:
    """Refuse arguments, also values behind ``--option=``, that name something which is neither a file nor a folder.

    Raises:
        DataError: One is a named pipe, a socket or a device; it is not opened.
    """
    for argument in arguments:
        name = argument.partition("=")[2] if argument.startswith("-") else argument
        # A sentence or a key is no path: too long, or not to be looked up.
        with suppress(OSError, ValueError):
            refuse_special_file(Path(name))
