"""The files of an archive of attachments, each under the submission that it belongs to."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable

from referee.collecting.snapshot import Forum

_NUMBER = re.compile(r"^[A-Za-z]*_?(\d+)[_.]")


def is_pdf(content: bytes) -> bool:
    """Whether it begins as a PDF does, after at most a kilobyte of anything."""
    return b"%PDF-" in content[:1024]


def archived(content: bytes, forums: Iterable[Forum], largest: int) -> dict[str, bytes]:
    """The PDFs of an archive by forum id.

    A file belongs to the submission whose id its name holds, else to the one whose number its name begins with
    (``12_pdf.pdf``, ``Paper12.pdf``). What fits neither, is larger than ``largest`` bytes or damaged is left out, as
    is everything where the content is no archive: it is asked for alone then.
    """
    asked = list(forums)
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                forum = _owner(member.filename, asked)
                if forum is not None and forum.id not in found and member.file_size <= largest:
                    found[forum.id] = archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return found
    return found


def _owner(name: str, forums: Iterable[Forum]) -> Forum | None:
    base = name.rsplit("/", 1)[-1]
    number = _NUMBER.match(base)
    by_id = [one for one in forums if one.id in base]
    by_number = [one for one in forums if number and one.number == int(number[1])]
    fitting = by_id or by_number
    return fitting[0] if len(fitting) == 1 else None
