"""One call across sections: contradictions that no reader of one section can see, and pairs of duplicate points.

It adds points and names duplicates by id; it has no way to change or to remove a point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from referee.agents.asking import Asks, CountTokens, Excerpt, tokens_left
from referee.agents.card import Card
from referee.agents.point_reply import Choices, Origin, cross_model, to_points
from referee.agents.section_reviewer import fit_card, keep_head, render_passages, render_places, section_budget
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/cross"
ROLE = "cross"
PART = "cross"


@dataclass(frozen=True)
class CrossBrief:
    """What the reader across sections is given.

    ``texts`` are results and discussion, the most telling first; they are shown as far as they fit, and the card's
    claims stand for what is not. ``criteria`` (guideline id to text) and ``sections`` (id to heading) are what a new
    point may name.
    """

    venue_name: str
    how_read: str
    card: Card
    points: tuple[ReviewPoint, ...]
    conflicts: tuple[str, ...] = ()
    texts: tuple[Excerpt, ...] = ()
    criteria: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CrossReply:
    """New points, pairs of duplicate ids (each pair once, in the order the points were listed), and notes."""

    points: tuple[ReviewPoint, ...]
    duplicates: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    call_id: str


async def review_across(
    brief: CrossBrief,
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
) -> CrossReply:
    """Look for contradictions between sections and for points raised twice.

    Args:
        brief: Card, conflicts, points and texts; it must name two sections or more.
        door: Answers the prompt.
        context_tokens: The model's context.
        count: Counts tokens as the model does.

    Raises:
        ContextTooLong: The list of points alone fills the context.
        ModelError: The model did not answer validly.
    """
    prompt = load_prompt(PROMPT)
    point_ids = tuple(point.id for point in brief.points)
    reply = cross_model(Choices(tuple(brief.criteria), brief.card.claim_ids, brief.sections), point_ids)
    budget = section_budget(context_tokens)
    room = tokens_left(_render(prompt, brief, "", ()), reply, budget.reply, context_tokens, count)
    card, texts, notes = _fit(brief, room, budget.card, count)
    rendered = _render(prompt, brief, card, texts)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=budget.reply)
    digest = prompt_digest(rendered, reply_schema(reply))
    origin = Origin("cross", PART, None, answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, brief.sections)
    pairs = _pairs(answer.value, point_ids)
    return CrossReply(tuple(points), pairs, (*notes, *answer.notes, *said), answer.call_id)


def _fit(brief: CrossBrief, room: int, share: int, count: CountTokens) -> tuple[str, tuple[Excerpt, ...], list[str]]:
    """Card and texts as far as they fit into the room, and notes; the points are always listed whole."""
    if room < 0:
        raise ContextTooLong(
            f"the list of {len(brief.points)} points is {-room:,} tokens too long for the model's context.",
            hint="Use a model with a longer context for the role 'cross'.",
            ids={"prompt": PROMPT},
        )
    card, notes = fit_card(brief.card, share, room, count)
    texts, said = _kept_texts(brief.texts, room - count(card), count)
    return card, texts, [f"cross: {note}" for note in [*notes, *said]]


def _kept_texts(texts: Sequence[Excerpt], room: int, count: CountTokens) -> tuple[tuple[Excerpt, ...], list[str]]:
    kept: list[Excerpt] = []
    notes: list[str] = []
    for text in texts:
        heading = count(render_passages((replace(text, text=""),))) + 2
        shown, cut = keep_head(text.text, max(0, room - heading), count)
        if cut:
            notes.append(f"{cut:,} tokens of {text.section!r} were not shown")
        if shown:
            kept.append(replace(text, text=shown))
            room -= heading + count(shown)
    return tuple(kept), notes


def _render(prompt: Prompt, brief: CrossBrief, card: str, texts: Sequence[Excerpt]) -> RenderedPrompt:
    lines = (f"{point.id} | {_place(point, brief)} | {' '.join(point.claim.split())}" for point in brief.points)
    return prompt.render(
        venue_name=brief.venue_name,
        how_read=brief.how_read,
        criteria="\n".join(f"[{name}] {text}" for name, text in brief.criteria.items()) or "(nothing in particular)",
        card=card,
        conflicts=delimit("conflicts", "\n".join(f"- {line}" for line in brief.conflicts) or "(none)"),
        points=delimit("points", "\n".join(lines) or "(none)"),
        places=render_places(brief.sections),
        texts=delimit("texts", render_passages(texts) or "(not shown: the card's claims stand for them)"),
    )


def _place(point: ReviewPoint, brief: CrossBrief) -> str:
    return brief.sections.get(point.section_id or "", point.section_id or "the whole paper")


def _pairs(reply: BaseModel, point_ids: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs named, each once and in the points' order; a point is no duplicate of itself."""
    order = {point_id: place for place, point_id in enumerate(point_ids)}
    given: list[dict[str, Any]] = reply.model_dump().get("duplicates", [])
    pairs = {tuple(sorted((pair["first"], pair["second"]), key=order.__getitem__)) for pair in given}
    return tuple(sorted(((a, b) for a, b in pairs if a != b), key=lambda pair: (order[pair[0]], order[pair[1]])))
