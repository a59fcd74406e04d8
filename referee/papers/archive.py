"""Archives in memory: the files of a paper's sources, with limits that hold while reading, never on disk."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from referee.errors import PaperParseError

_CHUNK = 64 * 1024
_RATIO_FROM = 2**20
_TAR_BLOCK = 512
_LEFT_OUT = re.compile(r"(?:^|/)(?:__MACOSX/|\._|\.DS_Store$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TEX = re.compile(rb"\\(?:documentclass|documentstyle|begin\s*\{document\}|input|section)\b")
_HINT = "Pack the paper's sources (.tex, .bib, .bbl, .sty) anew as .tar.gz or .zip, without anything else."
_LINK = "is a link, and links are not followed"
_ENCRYPTED = 0x1
# Lists and members that lie about places and sizes end in any of these.
BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(NotImplementedError, OverflowError, ValueError),
)


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may unpack to.

    Attributes:
        total_bytes: All files together, unpacked.
        file_bytes: One file, unpacked.
        count: Files.
        depth: Folders above a file.
        ratio: Unpacked over packed bytes, looked at from 1 MiB of unpacked bytes upwards.
    """

    total_bytes: int = 256 * 2**20
    file_bytes: int = 64 * 2**20
    count: int = 2000
    depth: int = 12
    ratio: float = 200.0


def unpack(path: Path, data: bytes, limits: ArchiveLimits | None = None) -> Mapping[str, bytes]:
    """Read every file of an archive into memory.

    A ``.tar.gz``, ``.tgz``, ``.tar`` or ``.zip`` by its bytes, or one gzip'ed ``.tex`` as preprint servers give it
    (then the single name is the archive's without ``.gz``, ending in ``.tex``). An archive inside it stays a file.
    System leftovers (``__MACOSX/``, ``._*``, ``.DS_Store``) are left out.

    Args:
        path: Names the archive in errors; it is not read.
        data: The archive's bytes.
        limits: What it may unpack to.

    Returns:
        Bytes by path, with ``/`` between folders, relative to the archive's root.

    Raises:
        PaperParseError: A limit is passed; a link, device or sparse file, an absolute path, ``..`` or a name given
            twice is inside; it is encrypted, broken or empty. The member and the cause are named.
    """
    return _Unpacking(path.name, data, limits or ArchiveLimits()).run()


@dataclass
class _Unpacking:
    """One archive while it is read: what was counted so far against the limits."""

    name: str
    data: bytes
    limits: ArchiveLimits
    files: dict[str, bytes] = field(default_factory=dict)
    total: int = 0

    def run(self) -> Mapping[str, bytes]:
        try:
            if self.data[:2] == b"PK":
                self._zip()
            elif self.data[:2] == b"\x1f\x8b":
                self._gzip()
            else:
                self._tar(self.data)
        except (tarfile.TarError, *BROKEN_ZIP) as error:
            raise PaperParseError(
                f"The archive {self.name!r} cannot be read: {str(error) or type(error).__name__}.",
                hint="Download or pack it again as .tar.gz or .zip.",
            ) from error
        if not self.files:
            raise PaperParseError(f"The archive {self.name!r} holds no file.", hint=_HINT)
        return self.files

    def _refuse(self, member: str, cause: str, hint: str = _HINT) -> PaperParseError:
        return PaperParseError(f"The member {member!r} of the archive {self.name!r} {cause}.", hint=hint)

    def _gzip(self) -> None:
        whole = f"{self.name} (unpacked)"
        headers = _TAR_BLOCK * (2 * self.limits.count + 40)
        with gzip.GzipFile(fileobj=io.BytesIO(self.data)) as stream:
            inner = self._bounded(whole, stream, len(self.data), self.limits.total_bytes + headers, headers)
        self.total = 0
        if tarfile.is_tarfile(io.BytesIO(inner)):
            self._tar(inner)
        elif _TEX.search(inner):
            stem = re.sub(r"\.(?:gz|tgz|tar|tex)$", "", re.sub(r"\.gz$", "", self.name)) or "paper"
            self.files[f"{stem}.tex"] = inner
        else:
            raise self._refuse(whole, "is neither a tar file nor LaTeX text")

    def _tar(self, data: bytes) -> None:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for count, member in enumerate(iter(tar.next, None)):
                if count > 4 * self.limits.count:
                    raise self._refuse(member.name, f"is beyond the limit of {self.limits.count} files")
                if member.isdir():
                    continue
                links = member.issym() or member.islnk()
                if links or not member.isreg() or member.sparse is not None:
                    raise self._refuse(member.name, _LINK if links else "is a device, pipe or sparse file")
                name = self._admit(member.name, member.size)
                stream = tar.extractfile(member)
                if name and stream is not None:
                    self.files[name] = self._bounded(name, stream, len(self.data), self.limits.file_bytes)

    def _zip(self) -> None:
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise self._refuse(info.filename, _LINK if kind == stat.S_IFLNK else "is a device or pipe")
                if info.flag_bits & _ENCRYPTED:
                    raise self._refuse(info.filename, "is encrypted", "Pack the sources without a password.")
                name = self._admit(info.filename, info.file_size)
                if name:
                    with archive.open(info) as stream:
                        packed = max(1, info.compress_size)
                        self.files[name] = self._bounded(name, stream, packed, self.limits.file_bytes)

    def _admit(self, member: str, size: int) -> str:
        """The member's clean name; empty for system leftovers."""
        shown = member.encode("utf-8", "backslashreplace").decode("utf-8")
        name = shown.replace("\\", "/")
        parts = PurePosixPath(name).parts
        clean, most = "/".join(parts), self.limits
        bad_name = (
            (name.startswith("/") or re.match(r"^[A-Za-z]:", name), "has an absolute path"),
            (".." in parts, "leads out of the archive with '..'"),
            (not parts or _CONTROL.search(name), "has no proper name"),
        )
        too_much = (
            (len(parts) - 1 > most.depth, f"lies {len(parts) - 1} folders deep; at most {most.depth} are read"),
            (clean in self.files, "is there twice, and which one was meant cannot be known"),
            (len(self.files) >= most.count, f"is beyond the limit of {most.count} files"),
            (size > most.file_bytes, f"has {size} bytes; at most {most.file_bytes} are read"),
        )
        left_out = _LEFT_OUT.search(clean)
        if cause := next((cause for fails, cause in (*bad_name, *(() if left_out else too_much)) if fails), ""):
            raise self._refuse(shown, cause)
        return "" if left_out else clean

    def _bounded(self, member: str, stream: IO[bytes] | gzip.GzipFile, packed: int, most: int, slack: int = 0) -> bytes:
        """Read to the end or to the first limit; what a header says about sizes is not trusted."""
        parts: list[bytes] = []
        size = 0
        while chunk := stream.read(_CHUNK):
            parts.append(chunk)
            size += len(chunk)
            self.total += len(chunk)
            if size > most:
                raise self._refuse(member, f"unpacks to more than {most} bytes")
            if self.total > self.limits.total_bytes + slack:
                raise self._refuse(member, f"brings all files to more than {self.limits.total_bytes} bytes")
            if size > _RATIO_FROM and size > self.limits.ratio * packed:
                raise self._refuse(member, f"unpacks to more than {self.limits.ratio:g} times its packed size")
        return b"".join(parts)
