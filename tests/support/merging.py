"""Joining schemas that must hold together: ``$ref`` with siblings, ``allOf``, a chosen branch with its parent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.support.validity import Schema, resolve, same

_LARGEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_SMALLEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_DEEPEST = 60


def narrow(schema: Schema, root: Schema, depth: int = 0) -> dict[str, Any]:
    """A schema with its own ``$ref`` and ``allOf`` folded in; nested schemas stay as they are.

    Raises:
        ValueError: A reference leads nowhere or to itself, or a part allows nothing.
    """
    if schema is False:
        raise ValueError("a part of it allows nothing.")
    if schema is True:
        return {}
    if depth > _DEEPEST:
        raise ValueError("a reference leads to itself.")
    parts: list[Schema] = [resolve(schema["$ref"], root)] if "$ref" in schema else []
    parts += schema.get("allOf", [])
    whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
    for part in parts:
        whole = _join(whole, narrow(part, root, depth + 1), root)
    return whole


def merge(left: Schema, right: Schema, root: Schema) -> dict[str, Any]:
    """One schema whose instances fit both."""
    return _join(narrow(left, root), narrow(right, root), root)


def _join(left: Mapping[str, Any], right: Mapping[str, Any], root: Schema) -> dict[str, Any]:
    joined = dict(left)
    for key, value in right.items():
        joined[key] = _join_keyword(key, left[key], value, root) if key in left else value
    _close_properties(joined, left, right)
    return joined


def _join_keyword(key: str, left: Any, right: Any, root: Schema) -> Any:
    if key in _LARGEST:
        return max(left, right)
    if key in _SMALLEST:
        return min(left, right)
    if key == "multipleOf":
        return _common_multiple(left, right)
    if key == "enum":
        return [option for option in left if any(same(option, other) for other in right)]
    if key == "type":
        return _common_types(left, right)
    if key == "required":
        return [*left, *(name for name in right if name not in left)]
    if key in ("properties", "patternProperties"):
        return {**left, **{name: _both(left[name], part) if name in left else part for name, part in right.items()}}
    if key in ("items", "additionalProperties", "propertyNames", "contains"):
        return _both(left, right)
    if key in ("anyOf", "oneOf"):
        return [_both(a, b) for a in left for b in right]
    if key == "not":
        return {"anyOf": [left, right]}
    return right


def _both(left: Schema, right: Schema) -> Schema:
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    return left if left == right else {"allOf": [left, right]}


def _common_types(left: Any, right: Any) -> list[str]:
    first = [left] if isinstance(left, str) else list(left)
    second = [right] if isinstance(right, str) else list(right)
    common = [kind for kind in first if kind in second]
    integers = "integer" in first + second and "number" in first + second and "number" not in common
    return [*common, "integer"] if integers and "integer" not in common else common


def _common_multiple(left: float, right: float) -> float:
    a, b = Fraction(str(left)), Fraction(str(right))
    multiple = Fraction(math.lcm(a.numerator, b.numerator), math.gcd(a.denominator, b.denominator))
    return int(multiple) if multiple.denominator == 1 else float(multiple)


def _close_properties(joined: dict[str, Any], left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    """Forbid what one side declares and the other one, closed, does not know."""
    for one, other in ((left, right), (right, left)):
        if one.get("additionalProperties", True) is not False or one.get("patternProperties"):
            continue
        unknown = [name for name in other.get("properties", {}) if name not in one.get("properties", {})]
        if unknown:
            joined["properties"] = {**joined["properties"], **dict.fromkeys(unknown, False)}
