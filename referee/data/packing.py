"""Rows as tables hold them: what is nested is one string of JSON, as in ReviewArena's public copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from referee.schemas.foreign import Unreadable, json_row
from referee.schemas.paper_row import PaperRow

_JSON = "_json"
NESTED = ("reviews", "other_notes", "sections", "references", "written", "note", "scale_override", "extra")
LISTS = ("authors", "keywords")
TABLE: Mapping[str, str] = {
    name + (_JSON if name in NESTED else ""): {
        "schema_version": "int64",
        "year": "int64",
        "paper_number": "int64",
        "num_reviews": "int64",
        "markdown_chars": "int64",
        **dict.fromkeys(LISTS, "strings"),
    }.get(name, "string")
    for name in PaperRow.model_fields
}
"""The columns of a packed row and what they hold, as ``write_parquet`` takes them."""


def packed(row: PaperRow) -> dict[str, Any]:
    """The row with what is nested under ``NAME_json`` as JSON; null where there is nothing."""
    found: dict[str, Any] = {}
    for name, value in row.model_dump(mode="json").items():
        if name not in NESTED:
            found[name] = value
        else:
            empty = value is None or (value in ({}, []) and name not in ("reviews", "other_notes"))
            found[name + _JSON] = None if empty else json.dumps(value, ensure_ascii=False)
    return found


def metadata(row: PaperRow, file_name: str) -> dict[str, Any]:
    """The packed row as a line of ``metadata.jsonl``.

    ``datasets`` wants columns of one type, the same in every split, and takes a column of nulls for one of its own:
    absent texts are empty, numbers that may be absent are texts, lists are JSON.
    """
    table = packed(row)
    lists = {name + _JSON: json.dumps(table.pop(name) or [], ensure_ascii=False) for name in LISTS}
    del table["pdf_path"], table["markdown_chars"]
    number = "" if row.paper_number is None else str(row.paper_number)
    return {
        "file_name": file_name,
        **{n: "" if v is None else v for n, v in table.items()},
        **lists,
        "paper_number": number,
    }


def unpacked(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the strings of JSON read, except for the reviews, which their reader reads.

    A string that is no JSON stays, under the column's name, where the row's check finds it.
    """
    found = dict(row)
    for name in (*NESTED, *LISTS):
        text = row.get(name + _JSON)
        if name == "reviews" or name + _JSON not in row:
            continue
        del found[name + _JSON]
        try:
            found[name] = json_row(text, "the cell") if text else None
        except (Unreadable, TypeError):
            found[name] = text
    return found
