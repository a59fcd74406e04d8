"""The points of a review as Markdown: by severity with quotation and place; what was put aside, with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.reports.markdown_text import inline
from referee.schemas.point import SEVERITIES, PointEvidence, ReviewPoint

_TITLES = {"fatal": "Fatal", "major": "Major", "minor": "Minor", "note": "Notes"}
_ASIDE = {
    "listed": "Smaller points",
    "merged_into": "Merged into others",
    "struck": "Struck by the check",
    "dropped": "Dropped",
}


def render_points(points: Sequence[ReviewPoint], *, all_points: bool = False) -> list[str]:
    """Markdown lines: the printed points by severity; with ``all_points`` also the others with their reasons.

    Without it the others are counted in one line. No lines where there are no points.
    """
    if not points:
        return []
    printed = [p for p in points if p.outcome == "printed"]
    lines = ["## Points", ""]
    for polarity, title in (("weakness", "Weaknesses"), ("question", "Questions"), ("strength", "Strengths")):
        of_kind = [p for p in printed if p.polarity == polarity]
        if of_kind:
            lines += [f"### {title}", "", *_by_severity(of_kind, polarity)]
    lines += _aside(points) if all_points else _counted(points)
    return lines


def _by_severity(points: Sequence[ReviewPoint], polarity: str) -> Iterable[str]:
    for severity in SEVERITIES:
        for point in (p for p in points if p.severity == severity):
            weight = f"**{_TITLES[severity]}.** " if polarity == "weakness" else ""
            yield f"- {weight}{inline(point.claim)} `{point.id}`"
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
            lines += [f"- `{p.id}` {inline(p.claim)} ({inline(p.reason or p.merged_into or outcome)})" for p in chosen]
            lines.append("")
    return lines


def _counted(points: Sequence[ReviewPoint]) -> list[str]:
    counts = {title: sum(p.outcome == outcome for p in points) for outcome, title in _ASIDE.items()}
    shown = ", ".join(f"{title.lower()}: {count}" for title, count in counts.items() if count)
    return (
        [f"Of {len(points)} points raised, not printed above: {shown}; `referee show` with `--all` lists them.", ""]
        if shown
        else []
    )


def _quoted(evidence: PointEvidence) -> str:
    place = inline(evidence.section) + (f", p. {evidence.page}" if evidence.page else "")
    return f"“{inline(evidence.quote)}” ({place})"
