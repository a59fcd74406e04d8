"""Whether two run folders hold the same results, whatever the ids, times, costs and order of lines."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.runs.folder import RECORD, TRACE
from referee.runs.joining import PART
from referee.runs.lines import lines_of

# What a run says of itself, and what differs wherever a model is asked again.
_OWN = frozenset({RECORD, TRACE, PART, ".lock", "units.jsonl", "seal.json"})
_OWN_KEYS = frozenset(
    {"at", "call_id", "calls", "judging", "origin", "paid", "reused", "run", "run_id", "seconds", "usage"}
)
_OWN_COLUMNS = frozenset({"calls", "cost_usd", "input_tokens", "output_tokens", "seconds"})
_COMPARED = frozenset({".json", ".jsonl", ".csv"})
# Whole runs of single reviews, shards, and what was computed later.
_RUNS_WITHIN = ("reviews", "shards", "rescored")
_LAST_DIGITS = 1e-9


def differences(one: Path, other: Path) -> list[str]:
    """Where two run folders differ, in words; nothing where they hold the same.

    Compared are the files that programs read: JSON, JSON lines as a set, and CSV. Numbers are the same up to their last
    digits.
    """
    files = sorted({*_files(one), *_files(other)})
    return [said for name in files for said in _differing(name, one / name, other / name)]


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.suffix in _COMPARED and path.name not in _OWN and name.parts[0] not in _RUNS_WITHIN:
            yield str(name)


def _differing(name: str, one: Path, other: Path) -> Iterator[str]:
    for path, side in ((one, "the first"), (other, "the second")):
        if not path.is_file():
            yield f"{name} is not in {side}"
            return
    if one.suffix == ".jsonl":
        yield from _differing_lines(name, one, other)
    elif one.suffix == ".csv":
        yield from _differing_trees(name, _rows(one), _rows(other))
    else:
        yield from _differing_trees(name, json.loads(one.read_bytes()), json.loads(other.read_bytes()))


def _differing_lines(name: str, one: Path, other: Path) -> Iterator[str]:
    """Lines as a set: a digest of each is kept, and no line."""
    ours, theirs = Counter(_line_digests(one)), Counter(_line_digests(other))
    if missing := sum((ours - theirs).values()):
        yield f"{missing:,} of {ours.total():,} lines of {name} are in the first alone"
    if added := sum((theirs - ours).values()):
        yield f"{added:,} of {theirs.total():,} lines of {name} are in the second alone"


def _line_digests(path: Path) -> Iterator[int]:
    for line in lines_of(path):
        yield hash(json.dumps(_rounded(json.loads(line.text)), sort_keys=True))


def _rounded(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _rounded(value) for key, value in tree.items() if key not in _OWN_KEYS}
    if isinstance(tree, list):
        return [_rounded(value) for value in tree]
    return float(f"{tree:.9g}") if isinstance(tree, float) else tree


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: v for k, v in row.items() if k not in _OWN_COLUMNS} for row in csv.DictReader(file)]


def _differing_trees(where: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted((one.keys() | other.keys()) - _OWN_KEYS, key=str):
            yield from _differing_trees(f"{where}: {key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differing_trees(f"{where}[{number}]", left, right)
    elif not _same(one, other):
        yield f"{where} is {_short(one)} in the first and {_short(other)} in the second"


def _same(one: Any, other: Any) -> bool:
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=_LAST_DIGITS, abs_tol=_LAST_DIGITS)
    except (TypeError, ValueError):
        return False


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
