"""The shards of a run joined: they must be all there, finished, and of one plan; files are joined line by line."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import RunError
from referee.runs.files import naming
from referee.runs.folder import RECORD, read_record
from referee.runs.lines import lines_of
from referee.runs.shards import Shard, plan_facts, shard_of
from referee.schemas.base import Frozen
from referee.schemas.run import RunRecord

PART = "part.json"
"""What a shard notes of the whole run, for what is computed over all parts."""

_NAMED = 4
P = TypeVar("P", bound=Frozen)


def ordered_parts(folders: Sequence[Path]) -> list[tuple[Path, RunRecord]]:
    """All shards of one run, in the order of their numbers.

    Raises:
        RunError: A folder is no shard or is named twice, a shard is given twice, missing or unfinished, or shards are
            of different runs; what differs is named.
    """
    twice = [path for path, times in Counter(folder.resolve() for folder in folders).items() if times > 1]
    if twice:
        raise RunError(f"{str(twice[0])!r} is named twice.", hint="Name each shard once.")
    found = [(folder, _shard_at(folder)) for folder in folders]
    if not found:
        raise RunError("no shard is named.", hint="Give the run folders of all shards.")
    first = found[0]
    for other in found[1:]:
        _require_same_plan(first, other)
    by_number: dict[int, tuple[Path, RunRecord]] = {}
    for folder, (shard, record) in found:
        if shard.number in by_number:
            raise RunError(
                f"{str(by_number[shard.number][0])!r} and {str(folder)!r} are both shard {shard}.",
                hint="Give each shard once.",
            )
        by_number[shard.number] = folder, record
    _require_all(by_number, first[1][0].of)
    return [by_number[number] for number in sorted(by_number)]


def _shard_at(folder: Path) -> tuple[Shard, RunRecord]:
    if not (folder / RECORD).is_file():
        raise RunError(
            f"{str(folder)!r} holds no run: there is no {RECORD} in it.", hint="Name the run folders of the shards."
        )
    record = read_record(folder)
    shard = shard_of(record)
    if shard is None:
        raise RunError(
            f"{str(folder)!r} holds a whole run of `referee {record.command}`, not a shard of one.",
            hint="Name runs that were made with --shard.",
        )
    return shard, record


def _require_same_plan(
    first: tuple[Path, tuple[Shard, RunRecord]], other: tuple[Path, tuple[Shard, RunRecord]]
) -> None:
    (one, (shard, record)), (two, (second, compared)) = first, other
    ours, theirs = plan_facts(record), plan_facts(compared)
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if shard.of != second.of:
        changed.insert(0, f"number of shards ({shard.of} and {second.of})")
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        raise RunError(
            f"{str(one)!r} and {str(two)!r} are shards of different runs; they differ in: "
            f"{', '.join(changed[:_NAMED])}{more}.",
            hint="Make all shards with the same inputs, settings, models and version of referee.",
        )


def _require_all(by_number: dict[int, tuple[Path, RunRecord]], of: int) -> None:
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in by_number]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise RunError(
            f"of {of} shards {len(missing)} missing: {', '.join(missing[:_NAMED])}{more}.",
            hint="Make them with --shard, or name their folders too.",
        )
    for number, (folder, record) in by_number.items():
        if record.status != "finished":
            raise RunError(
                f"shard {number}/{of} in {str(folder)!r} is not finished ({record.status}).",
                hint=f"Continue it with --resume {folder}.",
            )


class SealedPart(Frozen):
    """A part that says what its shard's files were when it finished: the SHA-256 of each; None in older ones."""

    files: dict[str, str] | None = None


def file_digests(folder: Path, *patterns: str) -> dict[str, str]:
    """The SHA-256 of the files that match, by their paths in the folder."""
    found = {}
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        with path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def read_part(folder: Path, kind: type[P], *patterns: str) -> P:
    """What a shard noted of itself and of the whole run.

    Raises:
        RunError: It cannot be read, or files that match are not those that the shard wrote.
    """
    hint = "Copy the shard's folder again, or make the shard again with --shard."
    try:
        part = kind.model_validate_json((folder / PART).read_bytes())
    except (OSError, ValueError) as error:
        raise RunError(f"shard {str(folder)!r} is not whole: {PART} is missing or damaged.", hint=hint) from error
    if isinstance(part, SealedPart) and part.files is not None:
        own, found = part.files, file_digests(folder, *patterns)
        for name in sorted(own.keys() | found.keys()):
            if own.get(name) != found.get(name):
                how = "is missing" if name not in found else "was changed" if name in own else "is of another shard"
                raise RunError(f"shard {str(folder)!r} is not whole: {name} {how}.", hint=hint)
    return part


def join_lines(sources: Sequence[Path], target: Path, *, key: Callable[[dict[str, Any]], Any] | None = None) -> None:
    """Write the lines of files one after the other into another one, whole or not at all; nothing is kept in memory.

    Args:
        sources: The files; missing ones count as empty.
        target: What is written, in place of what was there.
        key: Of a JSON row: the files are in this order, and so will their lines be together.

    Raises:
        OSError: It could not be written, with the file's name.
        RunError: A line of a file is cut off or too long.
    """
    streams = [_whole_lines(source) for source in sources]
    lines = heapq.merge(*streams, key=lambda line: key(json.loads(line))) if key else (x for s in streams for x in s)
    part = target.with_name(f".{target.name}.part")
    with naming(target), part.open("wb") as file:
        file.writelines(lines)
    part.replace(target)


def _whole_lines(path: Path) -> Iterator[bytes]:
    for line in lines_of(path):
        if line.fault:
            raise RunError(
                f"{str(path)!r} is damaged in line {line.number}: it is {line.fault}.",
                hint="Copy the shard's folder again, or make the shard again with --shard.",
            )
        yield line.text + b"\n"
