"""One call for one section, or one part of it: the section whole, the paper's card and passages beside it, points out.

Reviewers of sections are blind to each other. What does not fit gives way in a fixed order: passages, the farthest
first; then the card, from its end. The section is never cut.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from referee.agents.asking import SLACK_TOKENS, Asks, CountTokens, Excerpt, tokens_left
from referee.agents.briefing import Sentence
from referee.agents.card import Card, render_card
from referee.agents.point_reply import (
    FULL_REPLY_TOKENS,
    LEAN_REPLY_TOKENS,
    Choices,
    Origin,
    lean_points_model,
    points_model,
    to_points,
)
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.llm.door import Answer, prompt_digest
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/section"
LEAN_PROMPT = "review/section-lean"
BARE_PROMPT = "review/section-bare"
QUOTA_PROMPT = "review/section-quota"
ROLE = "writer"

LEAN_CARD_TOKENS = 600

_INSTRUCTIONS, _CARD, _PASSAGES, _REPLY = 0.15, 0.20, 0.15, 0.20


@dataclass(frozen=True)
class Budget:
    """Most tokens for each part of a prompt; ``section`` is what all the others leave when each takes its share."""

    instructions: int
    card: int
    passages: int
    section: int
    reply: int


@dataclass(frozen=True)
class SectionBrief:
    """What the reviewer of one section is given.

    ``part`` names the points (``p-<part>-1``), ``section_id`` is the part's first section. ``text`` is the part as
    prompt text within its delimiters, as ``render_part`` gives it. ``steps`` hold, by guideline id, the prompts mapped
    to this section, the most fitting first, and ``criteria`` the guidelines' own texts; ``passages`` come from other
    sections, the nearest first. ``sections`` (id to heading) are those a quotation may come from. In a lean review
    ``text`` has an id before each sentence, and ``sentences`` says what the ids stand for. ``quota`` is the number of
    points that ``QUOTA_PROMPT`` asks for.
    """

    venue_name: str
    how_read: str
    part: str
    section_id: str
    heading: str
    text: str
    card: Card
    passages: tuple[Excerpt, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict)
    criteria: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, Sentence] = field(default_factory=dict)
    quota: int = 0


@dataclass(frozen=True)
class SectionReply:
    """The points of one part, what was cut or completed on the way, and the guidelines whose steps were shown.

    ``shortened`` are those of them of whose steps some were left out.
    """

    points: tuple[ReviewPoint, ...]
    notes: tuple[str, ...]
    call_id: str
    criteria: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Fitted:
    """The parts of a prompt that may give way, as far as they fit."""

    steps: Mapping[str, str]
    card: str
    passages: tuple[Excerpt, ...]
    notes: tuple[str, ...]
    reply: type[BaseModel]


def section_budget(context_tokens: int, *, lean: bool = False) -> Budget:
    """The shares of a model's context: instructions 15%, card 20%, passages 15%, reply 20%, the section the rest.

    The reply takes less where its bounds need less; the section gains it. A lean review shows a short card, because
    the models it is for read slowly.
    """
    reply = min(int(context_tokens * _REPLY), LEAN_REPLY_TOKENS if lean else FULL_REPLY_TOKENS)
    instructions, card, passages = (int(context_tokens * share) for share in (_INSTRUCTIONS, _CARD, _PASSAGES))
    if lean:
        card = min(card, LEAN_CARD_TOKENS)
    return Budget(
        instructions, card, passages, context_tokens - instructions - card - passages - reply - SLACK_TOKENS, reply
    )


async def review_section(
    brief: SectionBrief,
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
    lean: bool = False,
    prompt_id: str = "",
) -> SectionReply:
    """Raise points about one section.

    Args:
        brief: The section and what stands beside it.
        door: Answers the prompt.
        context_tokens: The model's context.
        count: Counts tokens as the model does.
        lean: Ask for at most three short points that quote by sentence id.
        prompt_id: Another prompt than the one that goes with ``lean``.

    Returns:
        Points whose quotations are not verified yet; none is a valid answer.

    Raises:
        ContextTooLong: The section does not fit even with nothing beside it; split it first.
        ModelError: The model did not answer validly.
    """
    prompt_id = prompt_id or (LEAN_PROMPT if lean else PROMPT)
    prompt = load_prompt(prompt_id)
    budget = section_budget(context_tokens, lean=lean)
    fitted = _fit(brief, prompt, budget, context_tokens, count, lean=lean)
    rendered = _render(prompt, brief, fitted)
    answer = await door.ask(rendered, fitted.reply, role=ROLE, max_output_tokens=budget.reply)
    reply = _sorted(answer, brief, prompt_digest(rendered, reply_schema(fitted.reply)), fitted.notes)
    cut = tuple(name for name, text in fitted.steps.items() if text != brief.steps[name])
    return replace(reply, criteria=tuple(fitted.steps), shortened=cut)


def fit_card(card: Card, share: int, room: int, count: CountTokens) -> tuple[str, list[str]]:
    """The card, delimited, within its share, or within all the room where title and claims need more; notes of cuts.

    Raises:
        ContextTooLong: Title and claims do not fit into the room.
    """
    room -= count(delimit("card", ""))
    try:
        text = render_card(card, min(share, room), count)
    except ContextTooLong:
        text = render_card(card, room, count)
    left_out = count(render_card(card, sys.maxsize, count)) - count(text)
    return delimit("card", text), [f"the card's last {left_out:,} tokens did not fit"] if left_out > 0 else []


def keep_passages(passages: Sequence[Excerpt], room: int, count: CountTokens) -> tuple[Excerpt, ...]:
    """The nearest passages that fit into a number of tokens together; they come nearest first."""
    kept: list[Excerpt] = []
    for passage in passages:
        room -= count(render_passages((passage,)))
        if room < 0:
            break
        kept.append(passage)
    return tuple(kept)


def keep_head(text: str, room: int, count: CountTokens) -> tuple[str, int]:
    """The first lines that fit into a number of tokens, with a mark where they end, and the tokens left out."""
    whole = count(text)
    if whole <= room:
        return text, 0
    lines = text.split("\n")
    mark = "[the rest is not shown]"
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        fits = count("\n".join([*lines[:middle], mark])) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    if low == 0:
        return "", whole
    return "\n".join([*lines[:low], mark]), whole - count("\n".join(lines[:low]))


def render_passages(passages: Sequence[Excerpt]) -> str:
    """Passages one below the other, each under the section it comes from, with its id."""
    return "\n\n".join(f"[{passage.section_id}] {passage.section}:\n{passage.text}" for passage in passages)


def render_places(sections: Mapping[str, str]) -> str:
    """The ids by which quotations name sections, one a line."""
    return delimit("places", "\n".join(f"{name}: {heading}" for name, heading in sections.items()))


def _fit(
    brief: SectionBrief, prompt: Prompt, budget: Budget, context_tokens: int, count: CountTokens, *, lean: bool
) -> _Fitted:
    bare = _render(prompt, brief)
    frame = count(bare.system) + count(bare.user) - count(brief.text)
    steps, notes = _kept_steps(brief, budget.instructions - frame, count, lean=lean)
    reply = _reply_model(brief, steps, lean=lean)
    room = tokens_left(bare, reply, budget.reply, context_tokens, count) - count(_render_steps(steps))
    if room < 0:
        raise ContextTooLong(
            f"section {brief.heading!r} is {-room:,} tokens too long for the model's context of {context_tokens:,}, "
            f"with {len(steps)} criteria beside it.",
            hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
            ids={"section": brief.section_id, "part": brief.part},
        )
    card, said = fit_card(brief.card, budget.card, room, count)
    whole = count(fit_card(brief.card, budget.card, sys.maxsize, count)[0])
    passages = keep_passages(brief.passages, min(budget.passages, room - whole), count)
    if dropped := len(brief.passages) - len(passages):
        said.append(f"{dropped} of {len(brief.passages)} passages from elsewhere did not fit")
    return _Fitted(steps, card, passages, tuple(f"{brief.part}: {note}" for note in [*notes, *said]), reply)


def _kept_steps(brief: SectionBrief, room: int, count: CountTokens, *, lean: bool) -> tuple[dict[str, str], list[str]]:
    """All guidelines with the steps that fit into the instructions' share, and notes of what was left out.

    Guidelines that do not fit even without steps take the room of card and passages; in a lean review, whose model
    holds little, the last ones are left out.
    """
    if count(_render_steps(brief.steps)) <= room or len(brief.steps) < 2:
        return dict(brief.steps), []
    most = max(text.count("\n") for text in brief.steps.values())
    for kept in range(most, -1, -1):
        steps = {name: _shortened(brief, name, kept) for name in brief.steps}
        if count(_render_steps(steps)) <= room:
            cut = [name for name, text in steps.items() if text != brief.steps[name]]
            said = f"the steps of {len(cut)} guidelines were shortened to fit the instructions: {', '.join(cut)}"
            return steps, [said]
    while lean and len(steps) > 1 and count(_render_steps(steps)) > room:
        steps.popitem()
    left_out = [name for name in brief.steps if name not in steps]
    notes = [f"the guidelines {', '.join(left_out)} did not fit into the instructions"] if left_out else []
    return steps, [*notes, f"the steps of {len(steps)} guidelines were left out: their own texts were shown"]


def _shortened(brief: SectionBrief, name: str, most_steps: int) -> str:
    """A guideline's own text and its first steps; the steps as they are where they are no longer."""
    steps = brief.steps[name].split("\n")
    if len(steps) <= most_steps:
        return brief.steps[name]
    return "\n".join([brief.criteria.get(name, steps[0]), *steps[:most_steps]])


def _reply_model(brief: SectionBrief, steps: Mapping[str, str], *, lean: bool) -> type[BaseModel]:
    if lean:
        return lean_points_model(tuple(brief.sentences))
    return points_model(Choices(tuple(steps), brief.card.claim_ids, _sections(brief)))


def _sections(brief: SectionBrief) -> dict[str, str]:
    return {brief.section_id: brief.heading, **brief.sections}


def _render(prompt: Prompt, brief: SectionBrief, fitted: _Fitted | None = None) -> RenderedPrompt:
    lean = prompt.id == LEAN_PROMPT
    steps, card, kept = (fitted.steps, fitted.card, fitted.passages) if fitted else ({}, "", ())
    # In a lean review bracketed ids are those of sentences.
    passages = "\n\n".join(p.text for p in kept) if lean else render_passages(kept)
    own = {} if lean else {"places": render_places(_sections(brief))}
    own |= {"quota": str(brief.quota)} if prompt.id == QUOTA_PROMPT else {}
    return prompt.render(
        venue_name=brief.venue_name,
        how_read=brief.how_read,
        steps=_render_steps(steps) or "(nothing in particular)",
        card=card,
        passages=delimit("passages", passages or "(none)"),
        section=brief.text,
        **own,
    )


def _render_steps(steps: Mapping[str, str]) -> str:
    return "\n\n".join(f"[{name}]\n{text}" for name, text in steps.items())


def _sorted(answer: Answer[BaseModel], brief: SectionBrief, digest: str, notes: tuple[str, ...]) -> SectionReply:
    origin = Origin("section", brief.part, brief.section_id, answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, _sections(brief), brief.sentences)
    return SectionReply(tuple(points), (*notes, *answer.notes, *said), answer.call_id)
