"""The points behind a review as Markdown: by severity with quotation and place; what was put aside, with reasons.

The form above prints everything that stands. This list is for who wants to look behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.reports.formulas import readable
from referee.reports.markdown_text import inline
from referee.schemas.point import SEVERITIES, PointEvidence, ReviewPoint

_TITLES = {"fatal": "Fatal", "major": "Major", "minor": "Minor", "note": "Notes"}
_ASIDE = {
    "listed": "Without a field",
    "merged_into": "Joined with others",
    "struck": "Struck by the check",
    "dropped": "Dropped",
}


def render_points(points: Sequence[ReviewPoint], *, all_points: bool = False) -> list[str]:
    """Markdown lines: how many points stand and fell; with ``all_points`` each with its quotations, check or reason.

    No lines where there are no points.
    """
    if not points:
        return []
    lines = ["## Behind this review", "", _counted(points), ""]
    if not all_points:
        return lines
    printed = [p for p in points if p.outcome == "printed"]
    for polarity, title in (("weakness", "Weaknesses"), ("question", "Questions"), ("strength", "Strengths")):
        of_kind = [p for p in printed if p.polarity == polarity]
        if of_kind:
            lines += [f"### {title}", "", *_by_severity(of_kind, polarity)]
    return lines + _aside(points)


def _by_severity(points: Sequence[ReviewPoint], polarity: str) -> Iterable[str]:
    for severity in SEVERITIES:
        for point in (p for p in points if p.severity == severity):
            weight = f"**{_TITLES[severity]}.** " if polarity == "weakness" else ""
            yield f"- {weight}{inline(readable(point.statement))} `{point.id}`"
            yield from (f"  - {_quoted(e)}" for e in point.evidence if e.status != "not_found")
            if point.unverified:
                yield "  - no quotation was found for this"
            if point.check is not None:
                yield f"  - check: {point.check.verdict}"
    yield ""


def _aside(points: Sequence[ReviewPoint]) -> list[str]:
    lines: list[str] = []
    for outcome, title in _ASIDE.items():
        chosen = [p for p in points if p.outcome == outcome]
        if chosen:
            lines += [f"### {title}", ""]
            lines += [
                f"- `{p.id}` {inline(readable(p.claim))} ({inline(p.reason or p.merged_into or outcome)})"
                for p in chosen
            ]
            lines.append("")
    return lines


def _counted(points: Sequence[ReviewPoint]) -> str:
    counts = {title: sum(p.outcome == outcome for p in points) for outcome, title in _ASIDE.items()}
    aside = ", ".join(f"{title.lower()}: {count}" for title, count in counts.items() if count)
    printed = sum(p.outcome == "printed" for p in points)
    told = f"{len(points)} points were raised and {printed} stand in the form above"
    counted = f"{told} ({aside})" if aside else told
    return f"{counted}. report.html and `referee show` have each with its quotations, its check and its reasons."


def _quoted(evidence: PointEvidence) -> str:
    place = inline(evidence.section) + (f", p. {evidence.page}" if evidence.page else "")
    return f"“{inline(readable(evidence.quote))}” ({place})"
