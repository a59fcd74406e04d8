"""A line of ``profile.jsonl``."""

from __future__ import annotations

from typing import Any

from referee.evals.behaviour import Checked
from referee.evals.profile.table import Reasons, Values
from referee.evals.reading import Reading


def profile_line(read: Reading, group: str, values: Values, reasons: Reasons) -> dict[str, Any]:
    """A review in ``profile.jsonl``: who, what was read of it, every number, and why one is null."""
    case, found = read.case, read.text
    line: dict[str, Any] = {
        "case_id": case.case_id,
        "paper_id": case.paper_id,
        "source": case.source,
        "kind": case.kind,
        "venue": case.venue,
        "year": case.year,
        "date": case.date,
        "group": group,
        "status": found.status,
        "values": dict(values),
        "reasons": {name: why for name, why in reasons.items() if why},
        "xref_bin": found.xref_bin if found.status == "scored" else None,
        "targets": [f"{target.kind} {target.number}" for target in (*found.references.core, *found.references.extra)],
        "citations": _citations(read),
    }
    if read.items is not None:
        line["items"] = {
            "backend": read.items.backend,
            "split": read.items.split,
            "status": read.items.status,
            "strengths": list(read.items.strengths),
            "weaknesses": list(read.items.weaknesses),
        }
    return line


def _citations(read: Reading) -> list[dict[str, Any]]:
    checks = read.checked if read.checked is not None else [None] * len(read.text.formal)
    return [
        {"style": cited.style, "title": cited.title, "year": cited.year, **_looked_up(check)}
        for cited, check in zip(read.text.formal, checks, strict=True)
    ]


def _looked_up(check: Checked | None) -> dict[str, Any]:
    """The status of a citation with the record it rests on, or the reason for none."""
    if check is None:
        return {"status": None}
    record = check.record
    listed = {"title": record.title, "year": record.year, "doi": record.doi, "source": record.source} if record else {}
    about = {"record": listed, "weak": check.weak or None, "reason": check.reason}
    return {"status": check.status, **{name: value for name, value in about.items() if value}}
