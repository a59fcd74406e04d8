"""Rows as tables hold them: what is nested is one string of JSON, as in ReviewArena's public copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from referee.data.entries import decoder
from referee.schemas.paper_row import PaperRow

_JSON = "_json"
NESTED = ("reviews", "other_notes", "sections", "references", "written", "note", "scale_override", "extra")
TABLE: Mapping[str, str] = {
    name + (_JSON if name in NESTED else ""): {
        "schema_version": "int64",
        "year": "int64",
        "paper_number": "int64",
        "num_reviews": "int64",
        "markdown_chars": "int64",
        "authors": "strings",
        "keywords": "strings",
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


def unpacked(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the strings of JSON read, except for the reviews, which their reader reads; others stay as they are.

    A string that is no JSON stays under its own name, where the row's check finds it.
    """
    found = dict(row)
    for name in NESTED:
        text = row.get(name + _JSON)
        if name == "reviews" or not isinstance(text, str):
            continue
        try:
            found[name] = decoder.decode(text)
        except (json.JSONDecodeError, RecursionError):
            found[name] = text
        del found[name + _JSON]
    return {name: value for name, value in found.items() if not (value is None and name.endswith(_JSON))}
