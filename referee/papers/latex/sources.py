"""Where a paper's files come from: a folder, read no higher than itself, or an archive in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from referee.papers.latex.limits import LIMITS


class Files(Protocol):
    """Files by their path with ``/`` between folders, relative to one root."""

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None where there is none or it may not be read."""

    def beside(self, folder: str, suffix: str) -> list[str]:
        """Names of the files in ``folder`` (empty for the root) that end in ``suffix``, sorted."""


class ArchiveFiles:
    """The files of an unpacked archive."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def read(self, name: str) -> bytes | None:
        """The member's bytes; None where there is none."""
        return self.files.get(name)

    def beside(self, folder: str, suffix: str) -> list[str]:
        """Members directly in ``folder`` that end in ``suffix``, sorted."""
        return sorted(n for n in self.files if n.lower().endswith(suffix) and n.rpartition("/")[0] == folder)


class FolderFiles:
    """The folder of a lone ``.tex`` file. What was read is remembered, because it belongs to the paper's digest."""

    def __init__(self, main: Path, data: bytes) -> None:
        self.root = main.parent.resolve()
        self.main = main.name
        self.data = data
        self.used: dict[str, bytes] = {}

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None where there is none, it is too large, or a link leads out of the folder."""
        if name == self.main:
            return self.data
        if name in self.used:
            return self.used[name]
        try:
            path = (self.root / name).resolve()
            if not path.is_relative_to(self.root) or not path.is_file() or path.stat().st_size > LIMITS.file_bytes:
                return None
            self.used[name] = path.read_bytes()
        except (OSError, ValueError):
            return None
        return self.used[name]

    def beside(self, folder: str, suffix: str) -> list[str]:
        """Files directly in ``folder`` that end in ``suffix``, sorted."""
        try:
            place = (self.root / folder).resolve()
            if not place.is_relative_to(self.root) or not place.is_dir():
                return []
            found = [entry.name for entry in place.iterdir() if entry.name.lower().endswith(suffix)]
        except (OSError, ValueError):
            return []
        return sorted(f"{folder}/{name}" if folder else name for name in found)

    def digest(self) -> str:
        """SHA-256 of the main file's bytes, or, when others were read, of all names and bytes in order of names."""
        if not self.used:
            return hashlib.sha256(self.data).hexdigest()
        whole = hashlib.sha256()
        for name, data in sorted({**self.used, self.main: self.data}.items()):
            whole.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
            whole.update(data)
        return whole.hexdigest()


def joined(folder: str, name: str) -> str | None:
    """``name`` seen from ``folder``, both inside the root; None when it is absolute or leads out of the root."""
    if name.startswith(("/", "~", "\\")) or "\x00" in name or (len(name) > 1 and name[1] == ":"):
        return None
    parts: list[str] = []
    for part in f"{folder}/{name}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None
