"""Review sets in: any known layout to a stream of cases, with every unusable row named."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TextIO

from referee.data.drafts import Draft, case_of
from referee.data.entries import EXCERPT_CHARS
from referee.data.found import Found, NoReview
from referee.data.keys import UNKNOWN
from referee.data.layout import SetFile, find_layouts
from referee.data.layouts.detection import TreeChecks, read_tree_file
from referee.data.layouts.flat import read_flat, read_papers_rows
from referee.data.layouts.mapped import load_mapping, read_mapped
from referee.data.layouts.openreview import NotesReader, read_bare_content
from referee.data.layouts.own import read_own_cases, read_own_reviews, read_text
from referee.data.reading_notes import ReadingNotes
from referee.errors import DataError
from referee.schemas.case import CaseOrigin, ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues.names import VenueForms

_log = logging.getLogger(__name__)


class RejectedSink:
    """Writes ``rejected.jsonl``: file, line, reason, source and the first 200 characters of each row left out.

    The file is made with the first such row, and replaces one that is there. Use it as a context manager, or close it.
    Without a path each row is logged as a warning.

    Attributes:
        count: Rows written so far.
        by_source: The same by who wrote them; the empty name counts rows that do not say.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.count = 0
        self.by_source: Counter[str] = Counter()
        self._stream: TextIO | None = None

    def add(self, file: str, line: int | None, reason: str, raw: str = "", source: str = "") -> None:
        """Write one row.

        Args:
            file: The file it stands in.
            line: Its line or place in the list, from 1; None where the whole file is meant.
            reason: Why it was left out.
            raw: The row, of which the beginning is kept.
            source: Who wrote it, as far as it says.
        """
        self.count += 1
        self.by_source[source] += 1
        if self.path is None:
            _log.warning("%s, line %s is left out: %s", file, line, reason)
            return
        if self._stream is None:
            self._stream = self.path.open("w", encoding="utf-8")
        row = {"file": file, "line": line, "reason": reason, "source": source, "row": raw[:EXCERPT_CHARS]}
        self._stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Close the file; a later ``add`` would begin a new one."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> RejectedSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def rejected_text(by_source: Mapping[str, int]) -> str:
    """How many rows could not be used, and whose: ``3 row(s) could not be used (of gpt: 2, of nobody named: 1)``."""
    named = ", ".join(f"of {name or 'nobody named'}: {count:,}" for name, count in sorted(by_source.items()))
    return f"{sum(by_source.values()):,} row(s) could not be used ({named})"


Reader = Callable[[Path], Iterator[Found]]


def read_cases(
    path: Path,
    *,
    mapping: Path | None = None,
    layout: str | None = None,
    venue: VenueForm | None = None,
    rejected: RejectedSink | None = None,
    checks: TreeChecks | None = None,
    notes: ReadingNotes | None = None,
) -> Iterator[ReviewCase]:
    """The reviews of a file or folder, one at a time; what is wrong with the path is raised before the first.

    Ids are unique: of two records with one id the second is left out where their texts are equal, and gets the next
    free suffix ``~2``, ``~3``, ... where they differ (``extra`` then holds ``case_id_given``).

    Args:
        path: A file or a folder in one of ``LAYOUTS``; a folder may mix them.
        mapping: A TOML file that says which key is what, for rows in another layout.
        layout: One of ``LAYOUTS``; without it each file's content decides.
        venue: The form of reviews that name no known venue; ``extra`` then holds what they named as ``venue_named``.
        rejected: Takes the rows that cannot be used; without it each is logged as a warning.
        checks: Counts what is odd about files of the layout ``detection-csv`` while they are read.
        notes: Counts the records that are no reviews; the reviews are for the caller to ``add``.

    Raises:
        DataError: The path or the mapping file is missing or unusable, or no file is in a known layout. At the end:
            rows of others can be used and none of some system, which would go missing.
    """
    if mapping is not None and layout not in (None, "mapped"):
        raise DataError(f"layout {layout!r} takes no mapping file.", hint="Leave out one of the two.")
    if layout == "mapped" and mapping is None:
        raise DataError("layout 'mapped' needs a mapping file.", hint="docs/data.md shows one.")
    files = find_layouts(path, layout="mapped" if mapping is not None else layout)
    readers = _readers(path, files, mapping, checks)
    sink = RejectedSink() if rejected is None else rejected
    return _stream(files, readers, VenueForms(venue), sink, ReadingNotes() if notes is None else notes)


def _readers(
    root: Path, files: Sequence[SetFile], mapping: Path | None, checks: TreeChecks | None
) -> Mapping[str, Reader]:
    notes = NotesReader([file.path for file in files if file.layout in ("openreview-v1", "openreview-v2")])
    readers: dict[str, Reader] = {
        "cases": read_own_cases,
        "reviews": read_own_reviews,
        "papers": read_papers_rows,
        "flat": read_flat,
        "detection-csv": partial(read_tree_file, checks=checks),
        "openreview-v2": notes,
        "openreview-v1": notes,
        "openreview-v1-content": read_bare_content,
        "texts": partial(read_text, root=root),
    }
    return readers if mapping is None else {**readers, "mapped": read_mapped(load_mapping(mapping))}


def _stream(
    files: Sequence[SetFile],
    readers: Mapping[str, Reader],
    forms: VenueForms,
    rejected: RejectedSink,
    notes: ReadingNotes,
) -> Iterator[ReviewCase]:
    ids, used = _Ids(), set[str]()
    lost: dict[str, tuple[str, int]] = {}

    def left_out(file: SetFile, found: Found, reason: str) -> None:
        rejected.add(str(file.path), found.line, reason, found.raw, _source(found))
        line = f", line {found.line}" if found.line is not None else ""
        first, count = lost.get(_source(found), (f"{str(file.path)!r}{line}: {reason}", 0))
        lost[_source(found)] = first, count + 1

    for file in files:
        if file.layout is None:
            unread = Found(None, DataError(f"no known layout: {file.reason}"), source=file.source)
            left_out(file, unread, f"no known layout: {file.reason}")
            continue
        for found in readers[file.layout](file.path):
            if isinstance(found.item, NoReview):
                notes.no_reviews[found.item.what] += 1
                continue
            try:
                case = ids.unique(_case(found.item, found.line, file, forms))
            except DataError as error:
                left_out(file, found, error.message)
            else:
                used.add(case.source)
                yield case
    if used:
        require_everybody(used, lost)


def _source(found: Found) -> str:
    """Who wrote a row, as far as it says."""
    if isinstance(found.item, Draft):
        return "" if found.item.author.source == UNKNOWN else found.item.author.source
    return found.item.source if isinstance(found.item, ReviewCase) else found.source


def require_everybody(used: Set[str], lost: Mapping[str, tuple[str, int]]) -> None:
    """See that everybody whose rows were left out has others: else a system would be missing in every table.

    Args:
        used: Who wrote the rows that can be used.
        lost: By who wrote them, the first row that was left out and how many there are.

    Raises:
        DataError: Somebody has not; the first such row is named.
    """
    for name, (first, count) in lost.items():
        if name and name not in used:
            raise DataError(
                f"no row of {name!r} can be used: {count:,} left out, the first in {first.rstrip('.')}.",
                hint="Correct these rows, or take them out of the set.",
                ids={"source": name},
            )


def _case(item: ReviewCase | Draft | DataError, line: int | None, file: SetFile, forms: VenueForms) -> ReviewCase:
    if isinstance(item, DataError):
        raise item
    if isinstance(item, Draft):
        return case_of(item, CaseOrigin(file=str(file.path), line=line, layout=file.layout or ""), forms)
    return item


class _Ids:
    """The ids given so far with the digest of each text, eight bytes each."""

    def __init__(self) -> None:
        self._texts: dict[int, int] = {}

    def unique(self, case: ReviewCase) -> ReviewCase:
        """The case, under a free id.

        Raises:
            DataError: A case with this id and text was there before.
        """
        text, name, number = _digest(case.text), case.case_id, 1
        while (before := self._texts.get(_digest(name))) is not None:
            if before == text:
                raise DataError(f"duplicate: a review {name!r} with the same text was read before.")
            number += 1
            name = f"{case.case_id}~{number}"
        self._texts[_digest(name)] = text
        if number == 1:
            return case
        return case.model_copy(update={"case_id": name, "extra": {**case.extra, "case_id_given": case.case_id}})


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
