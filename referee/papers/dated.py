"""The day on which a file says that it was made."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date
from pathlib import Path

# A PDF's own dictionary is not packed by the usual writers, so that no reader of PDFs is needed for it.
_MADE = re.compile(rb"/CreationDate\s*\(D:(\d{4})(\d{2})(\d{2})|<xmp:CreateDate>(\d{4})-(\d{2})-(\d{2})")
_MOST_BYTES = 64 * 2**20


def day_made(path: Path) -> date | None:
    """The day in a PDF's own description; null where it says none, and for other formats, which keep none."""
    if path.suffix.lower() != ".pdf" or not path.is_file():
        return None
    with path.open("rb") as file:
        found = _MADE.search(file.read(_MOST_BYTES))
    with suppress(ValueError):
        return date(*(int(part) for part in found.groups() if part is not None)) if found else None
    return None
