"""The files of an archive of attachments, each under the submission that it belongs to."""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.collecting.snapshot import Forum

_NUMBER = re.compile(r"^[A-Za-z]*_?([0-9]{1,9})[_.]")
# The record at an archive's end and its comment; members that an archive of some PDFs may have.
_LONGEST_END, _MOST_MEMBERS = 22 + 2**16, 1_000


def is_pdf(content: bytes) -> bool:
    """Whether it begins as a PDF does, after at most a kilobyte of anything."""
    return b"%PDF-" in content[:1024]


def archived(file: Path, forums: Iterable[Forum], largest: int) -> Iterator[tuple[str, bytes]]:
    """The PDFs of an archive, each with its forum's id, one at a time.

    A file belongs to the submission whose id its name holds, else to the one whose number its name begins with
    (``12_pdf.pdf``, ``Paper12.pdf``). What fits neither, is larger than ``largest`` bytes or damaged is left out, as
    is everything where the file is no archive, or lists far more than was asked for: it is asked for alone then.
    """
    asked, given = list(forums), set[str]()
    if not _lists_few(file):
        return
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                forum = _owner(member.filename, asked)
                if forum is not None and forum.id not in given and member.file_size <= largest:
                    content = archive.read(member)
                    given.add(forum.id)
                    yield forum.id, content
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return


def _lists_few(file: Path) -> bool:
    """Whether the archive's list of members is small: the library reads the whole list before it gives the first."""
    with file.open("rb") as archive:
        size = archive.seek(0, os.SEEK_END)
        archive.seek(max(0, size - _LONGEST_END))
        end = archive.read()
    at = end.rfind(b"PK\5\6")
    if at < 0 or len(end) < at + 16 or end[max(0, at - 20) : at].startswith(b"PK\6\7"):
        return False
    entries, listed = struct.unpack_from("<HI", end, at + 10)
    return bool(entries <= _MOST_MEMBERS and listed <= _MOST_MEMBERS * 2**10)


def _owner(name: str, forums: Iterable[Forum]) -> Forum | None:
    base = name.rsplit("/", 1)[-1]
    number = _NUMBER.match(base)
    by_id = [one for one in forums if one.id in base]
    by_number = [one for one in forums if number and one.number == int(number[1])]
    fitting = by_id or by_number
    return fitting[0] if len(fitting) == 1 else None
