"""Certificates as lines for a terminal and as JSON: what is refuted first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from referee.schemas.certificate import Certificate, CertificateStatus

_TITLES: dict[CertificateStatus, str] = {
    "refuted": "Refuted",
    "proved": "Proved",
    "sourced": "Sourced",
    "opinion": "Opinions",
}
_SHOWN = 300


def counts_line(counts: Mapping[CertificateStatus, int]) -> str:
    """As ``18 proved, 23 sourced, 9 opinions, 2 refuted``."""
    opinions = f"{counts['opinion']} opinion{'' if counts['opinion'] == 1 else 's'}"
    return f"{counts['proved']} proved, {counts['sourced']} sourced, {opinions}, {counts['refuted']} refuted"


def certificate_lines(certificates: Sequence[Certificate]) -> Iterator[str]:
    """Every statement under its status, what is refuted first, each with its place; a passage where one refutes."""
    for status, title in _TITLES.items():
        found = [one for one in certificates if one.status == status]
        if found:
            yield ""
            yield f"{title}:"
        for one in found:
            number = f"{one.point}. " if one.point is not None else ""
            yield f"  {number}{_cut(one.statement)}"
            if status != "opinion":
                yield f"    {one.place}: {_cut(one.reason)}" if one.place else f"    {_cut(one.reason)}"
            if status == "refuted" and one.passage:
                yield f"    “{_cut(one.passage)}”"


def certificates_json(paper: str, counts: Mapping[CertificateStatus, int], certificates: Sequence[Certificate]) -> str:
    """The same as one JSON object."""
    held = {"paper": paper, "counts": dict(counts), "certificates": [one.model_dump() for one in certificates]}
    return json.dumps(held, ensure_ascii=False, indent=2)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN].rsplit(" ", 1)[0] + " …"
