"""``results.jsonl``: each finished unit is one line, with the system before the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from referee.errors import EvaluationError
from referee.runs.lines import JsonLines, Line, records
from referee.schemas.metric import MetricResult

RESULTS = "results.jsonl"


class Finals:
    """Which units are done for good, as bits by review: a failed unit is not, it is tried again."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._bits = {name: 1 << number for number, name in enumerate(metrics)}
        self._done: dict[str, int] = {}

    def note(self, case_id: str, metric: str) -> bool:
        """Note a unit; False where it was noted before."""
        before = self._done.get(case_id, 0)
        bit = self._bits.setdefault(metric, 1 << len(self._bits))
        self._done[case_id] = before | bit
        return not before & bit

    def has(self, case_id: str, metric: str) -> bool:
        """Whether the unit was noted."""
        return bool(self._done.get(case_id, 0) & self._bits.get(metric, 0))

    def __len__(self) -> int:
        return sum(bits.bit_count() for bits in self._done.values())


def append_result(lines: JsonLines, result: MetricResult) -> None:
    """Write one line; raises ``OSError`` with the file's name.

    It survives the end of the process, not that of the machine: the replies behind it are in the trace.
    """
    lines.append(result.model_dump_json().encode(), flush=False)


def finals_in(path: Path, metrics: Sequence[str] = ()) -> Finals:
    """The units of a results file that are done for good."""
    finals = Finals(metrics)
    for result in _lines(path):
        if result.status != "failed":
            finals.note(result.case_id, result.metric)
    return finals


def paid_in(path: Path) -> Iterator[str]:
    """The ids of the calls whose usage stands in results that are there for good."""
    return (call_id for result in _lines(path) if result.status != "failed" for call_id in result.paid)


def refused_in(path: Path) -> frozenset[str]:
    """The ids of the calls whose replies were valid and of no use to a unit, which failed for it."""
    failures = (result for result in read_results(path) if result.status == "failed")
    silent = (judge for result in failures for judge in result.judges if judge.value is None)
    return frozenset(call_id for judge in silent for call_id in judge.calls)


def read_results(path: Path) -> Iterator[MetricResult]:
    """Each unit's result once: what stands for good, else its last failure. Streams; reads the file twice.

    Raises:
        EvaluationError: A metric's results were made with different prompts: such values are never pooled.
    """
    prompts: dict[str, dict[str, str]] = {}
    finals, given = Finals(()), Finals(())
    last_failure: dict[tuple[str, str], int] = {}
    for number, result in enumerate(_lines(path)):
        if result.status == "failed":
            last_failure[result.case_id, result.metric] = number
        else:
            finals.note(result.case_id, result.metric)
    for number, result in enumerate(_lines(path)):
        unit = result.case_id, result.metric
        if (before := prompts.setdefault(result.metric, result.prompts)) != result.prompts:
            raise _mixed(path, result, before)
        if result.status == "failed":
            if last_failure[unit] == number and not finals.has(*unit):
                yield result
        elif given.note(*unit):
            yield result


def _mixed(path: Path, result: MetricResult, before: Mapping[str, str]) -> EvaluationError:
    differing = sorted(name for name in {**before, **result.prompts} if before.get(name) != result.prompts.get(name))
    versions = (dict(prompts).get(differing[0], "the newest that ships") for prompts in (before, result.prompts))
    return EvaluationError(
        f"{str(path)!r} holds results of {result.metric!r} by different prompts {differing[0]!r}: "
        f"{' and '.join(versions)}.",
        hint="Keep evaluations by different prompts in folders of their own.",
        ids={"metric": result.metric, "case": result.case_id},
    )


def damaged_lines(path: Path) -> int:
    """How many lines are no results, as one that a crash cut off."""
    damaged: list[Line] = []
    for _ in records(path, MetricResult, damaged=lambda line, _: damaged.append(line)):
        pass
    return len(damaged)


def _lines(path: Path) -> Iterator[MetricResult]:
    return (result for _, result in records(path, MetricResult))
