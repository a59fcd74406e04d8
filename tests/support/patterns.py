"""Strings that match a regular expression, for schemas with a ``pattern``."""

from __future__ import annotations

import importlib
import random
import re
import string
from typing import Any

# The parser of the standard library's own ``re``; its public alias ``sre_parse`` warns on import since 3.11.
_parser: Any = importlib.import_module("re._parser")

_PRINTABLE = string.ascii_letters + string.digits + " -_.,:;/"
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
    "CATEGORY_NOT_WORD": " -.",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": string.ascii_letters + string.digits,
}


def matching(pattern: str, rng: random.Random, *, min_length: int = 0, max_length: int = 10_000) -> str:
    """A string in which ``pattern`` is found, within the lengths.

    Literals, classes, groups, alternatives, repeats and anchors are understood; look-arounds are tried by luck.

    Raises:
        ValueError: No match was found in 200 tries.
    """
    tree = _parser.parse(pattern)
    for attempt in range(200):
        extra = attempt % 8 if attempt % 3 else max(0, min(min_length, max_length))
        text = _walk(tree, rng, extra, {})
        if len(text) < min_length and not pattern.endswith("$"):
            text += "x" * (min_length - len(text))
        if min_length <= len(text) <= max_length and re.search(pattern, text):
            return text
    raise ValueError(f"no string of {min_length} to {max_length} characters was found for the pattern {pattern!r}.")


def _walk(tree: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
    return "".join(_one(str(op), argument, rng, extra, groups) for op, argument in tree)


def _one(op: str, argument: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
    if op == "LITERAL":
        return chr(argument)
    if op == "ANY":
        return rng.choice(_PRINTABLE)
    if op in ("IN", "NOT_LITERAL", "CATEGORY"):
        items = argument if op == "IN" else [(op, argument)]
        return rng.choice(_characters([(str(kind), value) for kind, value in items]))
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        low, high, inner = argument
        times = rng.randint(int(low), max(int(low), min(int(high), int(low) + extra)))
        return "".join(_walk(inner, rng, extra, groups) for _ in range(times))
    if op == "SUBPATTERN":
        text = _walk(argument[3], rng, extra, groups)
        if argument[0] is not None:
            groups[argument[0]] = text
        return text
    if op == "BRANCH":
        return _walk(rng.choice(argument[1]), rng, extra, groups)
    if op == "ATOMIC_GROUP":
        return _walk(argument, rng, extra, groups)
    return groups.get(argument, "") if op == "GROUPREF" else ""


def _characters(items: list[tuple[str, Any]]) -> str:
    if items[0][0] in ("NEGATE", "NOT_LITERAL"):
        excluded = set(_members(items[1:])) if items[0][0] == "NEGATE" else {chr(items[0][1])}
        allowed = [c for c in _PRINTABLE + string.punctuation if c not in excluded]
        return "".join(allowed) or "é"
    return _members(items)


def _members(items: list[tuple[str, Any]]) -> str:
    found = []
    for kind, value in items:
        if kind == "LITERAL":
            found.append(chr(value))
        elif kind == "RANGE":
            found.append("".join(map(chr, range(value[0], min(value[1], value[0] + 127) + 1))))
        elif kind == "CATEGORY":
            found.append(_CATEGORIES.get(str(value), string.ascii_letters))
    return "".join(found)
