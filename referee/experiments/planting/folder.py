"""The folder of planted papers: clean, planted and neutral copies, keys apart from them, rejections and the yield."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from referee.data.planted import CLEAN, KEYS, NEUTRAL, PLANTED, twin_path
from referee.errors import DataError
from referee.experiments.planting.offers import KindYield
from referee.experiments.planting.planter import Planting
from referee.experiments.planting.reading import Acceptance
from referee.runs.files import write_atomically

YIELD, REJECTED = "yield.md", "rejected.jsonl"
_REASONS = 6


def write_plantings(
    folder: Path, plantings: Sequence[Planting], *, skipped: Mapping[str, str], acceptance: Acceptance
) -> None:
    """Write all copies, keys and lists; the same plantings give the same bytes.

    Args:
        folder: It exists; what it has of an earlier start of the run is written over.
        plantings: One a paper.
        skipped: Papers without a plant, by name, and why.
        acceptance: What the reading model said; empty where none read.

    Raises:
        DataError: Two papers have the same copy id: one was given twice.
    """
    if twice := [name for name, n in Counter(one.key.copy_id for one in plantings).items() if n > 1]:
        title = next(one.key.title for one in plantings if one.key.copy_id == twice[0])
        raise DataError(f"the paper {title!r} was given twice.", hint="Give each paper once.")
    for name in (CLEAN, PLANTED, KEYS, *([NEUTRAL] if any(one.neutral is not None for one in plantings) else [])):
        (folder / name).mkdir(exist_ok=True)
    for one in plantings:
        copy_id = one.key.copy_id
        write_atomically(twin_path(folder, copy_id, CLEAN), one.clean)
        write_atomically(twin_path(folder, copy_id, PLANTED), one.planted)
        if one.neutral is not None:
            write_atomically(twin_path(folder, copy_id, NEUTRAL), one.neutral)
        write_atomically(folder / KEYS / f"{copy_id}.json", one.key.model_dump_json(indent=1) + "\n")
    write_atomically(folder / REJECTED, "".join(_rejected_lines(plantings)))
    write_atomically(folder / YIELD, yield_page(plantings, skipped=skipped, acceptance=acceptance))


def _rejected_lines(plantings: Iterable[Planting]) -> Iterable[str]:
    for planting in plantings:
        for one in planting.rejected:
            excerpt = " ".join(one.excerpt.split())
            row = {
                "copy_id": planting.key.copy_id,
                "kind": one.kind,
                "reason": one.reason,
                "excerpt": excerpt if len(excerpt) <= 200 else f"{excerpt[:200]} ...",
            }
            yield json.dumps(row, ensure_ascii=False) + "\n"


def pooled_yields(plantings: Iterable[Planting]) -> dict[str, KindYield]:
    """The yields of all papers together, by kind."""
    pooled: dict[str, KindYield] = {}
    for planting in plantings:
        for kind, one in planting.yields.items():
            into = pooled.setdefault(kind, KindYield())
            into.candidates += one.candidates
            into.accepted += one.accepted
            into.planted += one.planted
            into.rejected.update(one.rejected)
    return pooled


def yield_table(yields: Mapping[str, KindYield]) -> str:
    """The yields as a Markdown table; zero is a result."""
    lines = [
        "| kind | candidates | accepted | planted | rejected, by reason |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for kind, one in yields.items():
        reasons = "; ".join(f"{reason}: {count}" for reason, count in one.rejected.most_common(_REASONS)) or "none"
        lines.append(f"| {kind} | {one.candidates} | {one.accepted} | {one.planted} | {reasons.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def yield_page(plantings: Sequence[Planting], *, skipped: Mapping[str, str], acceptance: Acceptance) -> str:
    """``yield.md``: what was planted in which copy, and what became of every candidate."""
    parts = [
        "# Yield\n\nThe copies are altered: they are not the authors' text and not to be published as it. "
        "*Accepted* passed every check but spacing; *planted* is what is in the copies.\n",
        yield_table(pooled_yields(plantings)),
        "\n".join(f"- {one.key.copy_id}: {planted_line(one)}" for one in plantings) + "\n",
    ]
    if skipped:
        parts.append(
            "Papers without a plant:\n\n" + "\n".join(f"- {name}: {why}" for name, why in skipped.items()) + "\n"
        )
    if acceptance.verdicts:
        said = [
            f"- {kind}: {', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items()))}"
            for kind, counts in sorted(acceptance.verdicts.items())
        ]
        parts.append("What the model that read the errors said:\n\n" + "\n".join(said) + "\n")
    return "\n".join(parts)


def planted_line(planting: Planting) -> str:
    """How many errors of which kinds a copy has, out of how many that were wanted."""
    kinds = Counter(record.kind for record in planting.key.records if record.kind != "neutral")
    named = ", ".join(f"{kind} {count}" if count > 1 else kind for kind, count in kinds.items())
    return f"{kinds.total()} of {planting.wanted} planted ({named})"
