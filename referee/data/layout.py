"""Which layout a file is in, by what stands in it, with the reason; and which files of a folder are read at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from referee.data import keys
from referee.data.entries import PACKED
from referee.data.found import ROW_SUFFIXES, TABLE_SUFFIXES, TEXT_SUFFIXES, entries, refuse_no_data, rows_suffix
from referee.data.layouts.detection import path_facts
from referee.data.layouts.flat import is_flat
from referee.data.layouts.openreview import is_bare_content, is_wrapped
from referee.data.suggestion import suggested_mapping
from referee.errors import DataError
from referee.nearest import did_you_mean

LAYOUTS: Mapping[str, str] = {
    "cases": "our own records, one a line",
    "reviews": "review.json of `referee review`: a file, or a folder of run folders",
    "papers": "one row a paper with a list of reviews (ReviewArena: `reviews` or `reviews_json`)",
    "flat": "one row a review, in JSON or in a table",
    "detection-csv": "the detection benchmark's tree: SPLIT/LLM/CONFYEAR.SPLIT.TAG.csv",
    "openreview-v2": "notes of OpenReview's API v2",
    "openreview-v1": "notes of OpenReview's API v1",
    "openreview-v1-content": "the content of v1 notes, in files YEAR__FORUM__NOTE.json",
    "mapped": "JSON rows or a table, read by a mapping file",
    "texts": "Markdown or text files PAPER__SOURCE__N, or one folder a paper",
}
_TRIED = 50
_MAPPING = "Name the layout, or put this into a file, correct it, and give it as the mapping (--mapping FILE):"
_RUN_FILE = "review.json"
_NOT_READ = frozenset({"rejected.jsonl", "papers.jsonl", "run.json", "collected.json"})
_ABOUT_A_SET = ("readme", "license")


@dataclass(frozen=True, slots=True)
class SetFile:
    """A file of a review set: the layout it is read by and why.

    Where it is not read there is no layout, a next step, and who wrote its first review, as far as that is told.
    """

    path: Path
    layout: str | None
    reason: str
    hint: str = ""
    source: str = ""


def find_layouts(path: Path, *, layout: str | None = None) -> tuple[SetFile, ...]:
    """The files of a review set, each with its layout.

    Args:
        path: A file or a folder. Of a run folder only its ``review.json`` counts, of a folder with rows or tables
            no text files, and no file that is hidden or named README, LICENSE, ``papers.jsonl``, ``rejected.jsonl``,
            ``run.json`` or ``collected.json``.
        layout: One of ``LAYOUTS``; without it the content decides.

    Raises:
        DataError: The layout is unknown, the path is missing, or no file in it is in a known layout.
    """
    if layout is not None and layout not in LAYOUTS:
        raise DataError(
            f"layout {layout!r} is unknown.", hint=f"{did_you_mean(layout, LAYOUTS)}There are: {', '.join(LAYOUTS)}."
        )
    refuse_no_data(path)
    if not path.exists():
        raise DataError(f"there is no {str(path)!r}.", hint="Give a file or a folder of reviews.")
    files = tuple(_with_layout(file, layout) for file in _files(path, layout))
    if not any(file.layout for file in files):
        reason = files[0].reason if files else "it holds no file that could"
        raise DataError(
            f"{str(path)!r} holds no reviews in a known layout: {reason}.",
            hint=(files[0].hint if files else "")
            or "Name the layout, or describe the rows in a mapping file (docs/data.md).",
        )
    return files


def is_known(path: Path) -> bool:
    """Whether a file or a folder of reviews is in a known layout.

    Raises:
        DataError: The path is missing, or may hold no data.
    """
    refuse_no_data(path)
    if not path.exists():
        raise DataError(f"there is no {str(path)!r}.", hint="Give a file or a folder of reviews.")
    return any(detect(file).layout for file in _files(path, None))


def _with_layout(file: Path, layout: str | None) -> SetFile:
    if layout is not None:
        return SetFile(file, layout, "named by the user")
    return detect(file)


def detect(file: Path) -> SetFile:
    """A file with its layout and what decided it; without a layout, what was seen instead."""
    if file.suffix.lower() in TEXT_SUFFIXES:
        return SetFile(file, "texts", f"its suffix is {file.suffix}")
    problem, tried = "it is empty", islice(entries(file), _TRIED)
    try:
        for entry in tried:
            if isinstance(entry.value, dict):
                around = {name for name in entry.around if isinstance(name, str)}
                layout, reason = _of_record(file, entry.value, around)
                rows = (
                    [entry.value] if layout else [entry.value, *(e.value for e in tried if isinstance(e.value, dict))]
                )
                if layout:
                    return SetFile(file, layout, reason)
                source = keys.named_source(entry.value) if keys.take(entry.value, keys.PAPER) else ""
                return SetFile(file, None, reason, f"{_MAPPING}\n\n{suggested_mapping(rows)}", source)
            problem = entry.error or "its records are no objects"
    except DataError as error:
        return SetFile(file, None, error.message.rstrip("."), error.hint)
    return SetFile(file, None, problem)


def _of_record(file: Path, row: Mapping[str, object], around: set[str]) -> tuple[str | None, str]:
    names = set(row)
    if rows_suffix(file) in TABLE_SUFFIXES and path_facts(file) is not None:
        return "detection-csv", "it is a table named CONFYEAR.SPLIT.TAG"
    if names >= {"case_id", "paper_id", "source", "kind", "text"}:
        return "cases", "its first record has case_id, paper_id, source, kind and text"
    if names >= {"review_id", "paper_id", "venue", "source", "fields"}:
        return "reviews", "its first record has review_id, paper_id, venue, source and fields"
    if {"reviews", "reviews_json"} & names:
        return "papers", f"its first record has {'reviews_json' if 'reviews_json' in names else 'reviews'}"
    if "invitations" in names or is_wrapped(row.get("content")):
        return "openreview-v2", "its first note has invitations or wrapped values"
    if "invitation" in names and "content" in names:
        return "openreview-v1", "its first note has one invitation and a content"
    if {"replies", "details"} & names:
        return "openreview-v2", "its first note has replies"
    if is_flat(row):
        return "flat", "its first record names a paper and holds a review's text"
    if is_bare_content(row):
        return "openreview-v1-content", "its record has the boxes of a review and a rating, and no id"
    shown = ", ".join(sorted(names)[:8]) or "no keys"
    return None, f"the first record of {file.name!r} has {shown}"


def _files(path: Path, layout: str | None) -> list[Path]:
    if path.is_file():
        return [path]
    found = list(_walk(path))
    if layout is not None:
        wanted = TEXT_SUFFIXES if layout == "texts" else ROW_SUFFIXES
        return [file for file in found if rows_suffix(file) in wanted]
    rows = [file for file in found if file.suffix.lower() not in TEXT_SUFFIXES]
    return rows or found


def _is_not_read(file: Path) -> bool:
    name = file.name.lower()
    about = name.startswith(_ABOUT_A_SET) and rows_suffix(file) not in ROW_SUFFIXES
    return about or name.removesuffix(PACKED) in _NOT_READ or name.partition(".")[0] in _ABOUT_A_SET


def _walk(folder: Path) -> Iterator[Path]:
    if (folder / _RUN_FILE).is_file():
        yield folder / _RUN_FILE
        return
    for inner in sorted(folder.iterdir()):
        if inner.name.startswith(".") or _is_not_read(inner):
            continue
        if inner.is_dir():
            yield from _walk(inner)
        elif inner.is_file() and (rows_suffix(inner) in ROW_SUFFIXES or inner.suffix.lower() in TEXT_SUFFIXES):
            yield inner
