"""What the machine ``guidelines`` makes of the model's readings of a page: statements, what was settled, a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.agents.guideline_labeller import unreliable
from referee.agents.page_reader import PageReply
from referee.venues.page import GuidelinePage
from referee.venues.reading import SettledReading, settle_reading, steers
from referee.venues.statements import Statement, check_conserved, settle_statements

STEERS = "it speaks to a model or fixes the verdict: no criterion"


def in_order(replies: Iterable[PageReply]) -> list[PageReply]:
    """The replies in the order of the page's pieces, whatever the order they came in."""
    return sorted(replies, key=lambda reply: reply.piece)


def read_statements(replies: Sequence[PageReply], page: GuidelinePage) -> tuple[Statement, ...]:
    """Every criterion that was read, kept, merged or dropped with a reason."""
    given = [
        (reply.model, raw)
        for reply in replies
        for raw in (reply.reading or {}).get("criteria", ())
        if raw["words"].strip()
    ]
    read = [_statement(f"r{number}", raw, model) for number, (model, raw) in enumerate(given, start=1)]
    steering = {one.id for one in read if steers(one.words)}
    settled = {one.id: one for one in settle_statements((one for one in read if one.id not in steering), page)}
    statements = tuple(
        settled.get(one.id) or one.model_copy(update={"fate": "dropped", "reason": STEERS}) for one in read
    )
    check_conserved([one.id for one in read], statements)
    return statements


def settled_of(replies: Iterable[PageReply], page: GuidelinePage) -> SettledReading | None:
    """Boxes, rule and announcements that stand; none where no model has read the page."""
    ordered = in_order(replies)
    return settle_reading([one.reading for one in ordered if one.reading], page) if ordered else None


def refusal_of(replies: Iterable[PageReply], statements: Sequence[Statement], page: GuidelinePage) -> str:
    """Why the page makes no venue, in the model's words and with what was read of it; empty where it does.

    The model must say of every piece that it is not for reviewers, or nothing that it named may be on the page.
    """
    ordered = in_order(replies)
    if not ordered:
        return ""
    readings = [reply.reading for reply in ordered if reply.reading]
    parts = f"{len(readings)} of {len(ordered)} parts of it were read"
    abouts = " ".join(dict.fromkeys(reading["about"].strip() for reading in readings if reading["about"].strip()))
    said = f"; the model says: “{abouts}”" if abouts else ""
    if readings and all(reading["for_reviewers"] == "no" for reading in readings):
        return f"the model takes it for none ({parts}{said})"
    settled = settled_of(ordered, page)
    if not any(one.fate == "kept" for one in statements) and not (settled and settled.drafts):
        named = len(statements) + (len(settled.put_aside) if settled else 0)
        return f"no criterion and no box was found on it ({parts}; {named} things named are not on the page{said})"
    return ""


def _statement(name: str, raw: dict[str, str], model: str) -> Statement:
    words, says = " ".join(raw["words"].split()), " ".join(raw["says"].split())
    problem = unreliable(says, words) if says else ""
    return Statement(
        id=name,
        words=words,
        statement="read",
        label="criterion",
        criterion_kind="objective" if raw["kind"] == "objective" else "subjective",
        text=says if says and not problem else words,
        by=model,
        note=problem,
    )
