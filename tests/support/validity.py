"""A small JSON Schema check: the keywords that structured-output schemas use, in the standard library only."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any] | bool


def resolve(ref: str, root: Schema) -> Schema:
    """The schema a local reference (``#``, ``#/$defs/Name``) points to.

    Raises:
        ValueError: The reference is not local, or leads nowhere.
    """
    if not ref.startswith("#"):
        raise ValueError(f"schema reference {ref!r} is not local.")
    node: Any = root
    for part in filter(None, ref[1:].split("/")):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, Mapping) and key in node:
            node = node[key]
        else:
            raise ValueError(f"schema reference {ref!r} leads nowhere.")
    found: Schema = node
    return found


def is_type(value: Any, name: str) -> bool:
    """Whether a JSON value is of the named JSON Schema type; a bool is no number, 2.0 is an integer."""
    if name in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return name == "number" or isinstance(value, int) or (math.isfinite(value) and value == int(value))
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "boolean": bool,
        "null": type(None),
        "array": (list, tuple),
        "object": Mapping,
    }
    return name in kinds and isinstance(value, kinds[name])


def same(left: Any, right: Any) -> bool:
    """JSON equality: as Python's, but true is not 1, at any depth."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def is_valid(value: Any, schema: Schema, root: Schema | None = None) -> bool:
    """Whether a JSON value fits a schema. ``format`` is not checked; ``root`` holds the ``$defs``."""
    root = schema if root is None else root
    if isinstance(schema, bool):
        return schema
    checks = (_valid_combination, _valid_choice, _valid_number, _valid_string, _valid_array, _valid_object)
    return all(check(value, schema, root) for check in checks)


def _valid_combination(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if "$ref" in schema and not is_valid(value, resolve(schema["$ref"], root), root):
        return False
    if not all(is_valid(value, part, root) for part in schema.get("allOf", ())):
        return False
    if "anyOf" in schema and not any(is_valid(value, part, root) for part in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(is_valid(value, part, root) for part in schema["oneOf"]) != 1:
        return False
    return "not" not in schema or not is_valid(value, schema["not"], root)


def _valid_choice(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if "enum" in schema and not any(same(value, option) for option in schema["enum"]):
        return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    return not types or any(is_type(value, name) for name in types)


def _valid_number(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if not is_type(value, "number"):
        return True
    if value < schema.get("minimum", -math.inf) or value > schema.get("maximum", math.inf):
        return False
    if value <= schema.get("exclusiveMinimum", -math.inf) or value >= schema.get("exclusiveMaximum", math.inf):
        return math.isinf(value)
    step = schema.get("multipleOf")
    return step is None or Decimal(str(value)) % Decimal(str(step)) == 0


def _valid_string(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if not isinstance(value, str):
        return True
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
        return False
    return "pattern" not in schema or re.search(schema["pattern"], value) is not None


def _valid_array(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if not isinstance(value, list):
        return True
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        return False
    if schema.get("uniqueItems") and any(same(a, b) for i, a in enumerate(value) for b in value[:i]):
        return False
    head = schema.get("prefixItems", ())
    if not all(is_valid(item, part, root) for item, part in zip(value, head, strict=False)):
        return False
    if not all(is_valid(item, schema.get("items", True), root) for item in value[len(head) :]):
        return False
    if "contains" not in schema:
        return True
    hits = sum(is_valid(item, schema["contains"], root) for item in value)
    return bool(schema.get("minContains", 1) <= hits <= schema.get("maxContains", math.inf))


def _valid_object(value: Any, schema: Mapping[str, Any], root: Schema) -> bool:
    if not isinstance(value, Mapping):
        return True
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", math.inf):
        return False
    if any(name not in value for name in schema.get("required", ())):
        return False
    names = schema.get("propertyNames", True)
    return all(
        is_valid(name, names, root) and all(is_valid(item, part, root) for part in property_schemas(name, schema))
        for name, item in value.items()
    )


def property_schemas(name: str, schema: Mapping[str, Any]) -> list[Schema]:
    """The schemas one property must fit: its own, those whose pattern its name matches, else the additional one."""
    found: list[Schema] = [schema["properties"][name]] if name in schema.get("properties", {}) else []
    found += [part for pattern, part in schema.get("patternProperties", {}).items() if re.search(pattern, name)]
    return found or [schema.get("additionalProperties", True)]
