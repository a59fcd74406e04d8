"""Replies that went wrong: what the content faults do to a valid reply."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.merging import merge, narrow
from tests.support.validity import Schema, is_type, is_valid

_PROSE = "Sure! I have read the material carefully and here is what I think of it, in my own words."


def spoil(kind: str, text: str, schema: Schema | None, rng: random.Random) -> str:
    """The reply ``text`` after the content fault ``kind``; other kinds leave it as it is.

    ``wrong_schema``, ``out_of_range``, ``too_long`` and ``nan`` need a JSON reply. The first three give a reply that
    the schema rejects, wherever the schema rejects anything: what has no range or maximal length gets wrong types.
    """
    if kind == "empty":
        return ""
    if kind == "prose":
        return _PROSE
    if kind == "garbage":
        return "".join(rng.choice('{}[]",:\\ abc\u00e9\u4e2d0123456789') for _ in range(80))
    if kind in ("truncated", "length"):
        return text[: max(1, len(text) * 2 // 3)]
    if kind not in ("wrong_schema", "out_of_range", "too_long", "nan"):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return _PROSE
    return json.dumps(_spoil_value(kind, value, schema), ensure_ascii=False)


def _spoil_value(kind: str, value: Any, schema: Schema | None) -> Any:
    if kind == "nan":
        spoiled = _with_nan(value)
        return spoiled if spoiled != value else {**value, next(iter(value), "value"): float("nan")}
    whole = True if schema is None else schema
    leaf = {"out_of_range": _beyond, "too_long": _lengthened}.get(kind)
    spoiled = _change_leaves(value, whole, whole, leaf) if leaf else value
    return spoiled if not is_valid(spoiled, whole) else _wrong_types(value)


def _with_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    return float("nan") if is_type(value, "number") else value


def _wrong_types(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"unexpected": value}
    return {key: _other_type(item) for key, item in value.items()} | {"unexpected": "reply"}


def _other_type(value: Any) -> Any:
    if isinstance(value, str) or value is None:
        return {"unexpected": [value]}
    return "not what was asked for"


def _change_leaves(value: Any, schema: Schema, root: Schema, leaf: Callable[[Any, Mapping[str, Any]], Any]) -> Any:
    """Apply ``leaf`` to every scalar with the schema that governs it."""
    whole = _governing(value, schema, root)
    if isinstance(value, dict):
        parts = whole.get("properties", {})
        other = whole.get("additionalProperties", True)
        return {key: _change_leaves(item, parts.get(key, other), root, leaf) for key, item in value.items()}
    if isinstance(value, list):
        head, rest = whole.get("prefixItems", []), whole.get("items", True)
        parts = [*head, *[rest] * len(value)]
        return [_change_leaves(item, part, root, leaf) for item, part in zip(value, parts, strict=False)]
    return leaf(value, whole)


def _governing(value: Any, schema: Schema, root: Schema) -> dict[str, Any]:
    """The schema with references folded in and, of alternatives, the one the value fits."""
    whole = narrow(schema, root)
    for keyword in ("anyOf", "oneOf"):
        fitting = [branch for branch in whole.get(keyword, ()) if is_valid(value, branch, root)]
        if fitting:
            rest = {key: part for key, part in whole.items() if key != keyword}
            return _governing(value, merge(rest, fitting[0], root), root)
    return whole


def _beyond(value: Any, schema: Mapping[str, Any]) -> Any:
    options = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if options and is_type(options[0], "number"):
        return max(11, *(option + 1 for option in options))
    if options:
        return "none of the options"
    if is_type(value, "number") and ("maximum" in schema or "exclusiveMaximum" in schema):
        return max(11, int(schema.get("maximum", schema.get("exclusiveMaximum"))) + 1)
    if is_type(value, "number") and ("minimum" in schema or "exclusiveMinimum" in schema):
        return min(-11, int(schema.get("minimum", schema.get("exclusiveMinimum"))) - 1)
    return value


def _lengthened(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and "maxLength" in schema:
        return (value or "too long ") * (schema["maxLength"] // max(1, len(value)) + 2)
    return value
