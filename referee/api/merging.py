"""``merge``: the shards of one run in, its whole results out, equal to those of a run that was never parted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from referee.api.comparing import differences
from referee.data.entries import parquet_library
from referee.errors import RunError
from referee.reports.parquet import write_tables
from referee.runs import RunFolder
from referee.runs.files import umask
from referee.runs.folder import RECORD, TRACE, check_new, read_record
from referee.runs.joining import join_lines, ordered_parts
from referee.runs.shards import whole_inputs
from referee.schemas.run import RunRecord
from referee.schemas.usage import Usage
from referee.version import VERSION

Join = Callable[[Sequence[Path], RunFolder], str]

_JOINS = {
    "eval": "referee.api.evaluations.rescoring:join_evaluations",
    "detect score": "referee.api.evaluations.rescoring:join_evaluations",
    "detect anchors": "referee.api.detection.anchors:join_anchors",
    "arena run": "referee.api.arena.running:join_arena_runs",
    "experiment": "referee.api.experiments.parts:join_experiments",
}
_SHOWN = 5


@dataclass(frozen=True)
class Merged:
    """A merged run: its folder, its command, how many shards it was, what they cost, and what is left to say.

    ``cut`` counts readings of papers of which a model did not read all.
    """

    run: Path
    command: str
    shards: int
    usage: Usage
    remark: str
    cut: int = 0


def merge(parts: Sequence[str | Path], *, out: str | Path, parquet: bool = False) -> Merged:
    """Join the shards of a run into one run's results.

    What is read is joined line by line, and the numbers over all papers are computed by what computes them in a run
    that was never parted. The folder is there whole or not at all, and can be resumed like any other.

    Args:
        parts: The run folders of all shards, in any order.
        out: A new folder.
        parquet: Whether the rows are left as Parquet too.

    Raises:
        RunError: A folder is no shard, a shard is missing, given twice or unfinished, shards are of different runs
            (what differs is named), or ``out`` holds something.
        EvaluationError: Nothing could be measured, over all parts.
    """
    found = ordered_parts([Path(part) for part in parts])
    target = Path(out)
    if parquet:
        parquet_library()
    check_new(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".merging"))
    aside.chmod(0o777 & ~umask())  # mkdtemp makes it private
    try:
        with _begun(aside, found[0][1]) as folder:
            merged = join(found, folder, parquet=parquet)
        _put_at(aside, target)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return Merged(target, merged.command, len(found), merged.usage, merged.error, len(merged.cuts))


def check_merge(whole: str | Path, parts: Sequence[str | Path]) -> Merged:
    """See that shards, joined, hold what a run of the same holds that was never parted.

    Ids, times, costs and the order of lines do not count, and numbers may differ in their last digits, as sums do that
    are added up in another order.

    Raises:
        RunError: They differ; the first differences are named. Or as ``merge``.
    """
    with TemporaryDirectory(prefix="referee-") as aside:
        merged = merge(parts, out=Path(aside) / "merged")
        if not (Path(whole) / RECORD).is_file():
            raise RunError(f"{str(whole)!r} holds no run: there is no {RECORD} in it.", hint="Name a whole run.")
        _require_same_inputs(Path(whole), merged.run)
        found = differences(Path(whole), merged.run)
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise RunError(
            f"the merged shards differ from {str(whole)!r}: {'; '.join(found[:_SHOWN])}{more}.",
            hint="Judges that answer differently when asked again differ so; else report it.",
        )
    return merged


def join(parts: Sequence[tuple[Path, RunRecord]], folder: RunFolder, *, parquet: bool = False) -> RunRecord:
    """Join shards into an open run folder; its record says that it is finished, and what the parts cost.

    Args:
        parts: All shards, in the order of their numbers.
        folder: The whole run's.
        parquet: Whether the rows are left as Parquet too.

    Raises:
        EvaluationError: Nothing could be measured, over all parts.
    """
    records = [record for _, record in parts]
    paths = [path for path, _ in parts]
    command = records[0].command
    if command not in _JOINS:
        raise RunError(f"runs of `referee {command}` have no shards.", hint=f"Those of {', '.join(_JOINS)} do.")
    if any((path / TRACE).is_file() for path in paths):
        join_lines([path / TRACE for path in paths], folder.path / TRACE)
    module, _, name = _JOINS[command].partition(":")
    joined: Join = getattr(import_module(module), name)
    remark = joined(paths, folder)
    if parquet:
        write_tables(folder.path, command)
    folder.set_usage(sum((one.usage for one in records), Usage()), _by_role(records))
    folder.set_cuts({name: cut for one in records for name, cut in one.cuts.items()})
    folder.set_merged(tuple(one.run_id for one in records))
    folder.set_status("finished", error=remark)
    return folder.record


def _put_at(made: Path, target: Path) -> None:
    """Raises ``RunError`` where something came to be there in the meantime, as by another merge."""
    try:
        made.replace(target)
    except OSError as error:
        if not target.exists():
            raise
        raise RunError(
            f"{str(target)!r} was written by another command while the shards were joined.",
            hint="Look at it first; name another --out to join them again.",
        ) from error


def _begun(path: Path, record: RunRecord) -> RunFolder:
    return RunFolder.create(
        path,
        command=record.command,
        inputs=whole_inputs(record),
        settings=record.settings,
        models=record.models,
        prompts=record.prompts,
        package_version=VERSION,
        asked=record.asked,
    )


def _by_role(records: Sequence[RunRecord]) -> Mapping[str, Usage]:
    roles = sorted({role for record in records for role in record.usage_by_role})
    return {role: sum((one.usage_by_role.get(role, Usage()) for one in records), Usage()) for role in roles}


def _require_same_inputs(whole: Path, merged: Path) -> None:
    ours, theirs = read_record(whole).inputs, read_record(merged).inputs
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if changed:
        raise RunError(
            f"{str(whole)!r} is a run of something else than the shards: another {' and another '.join(changed)}.",
            hint="Name a run that was made with the same inputs.",
        )
