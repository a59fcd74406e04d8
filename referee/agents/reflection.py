"""A round of reflection: a review beside its paper, to be mended or left as it is.

Source: The AI Scientist (Lu et al. 2024, 2408.06292), automated reviewing: rounds of self-reflection that end early
when nothing is left to change. Deviations: each round is a call of its own that sees the paper and the latest review,
not a growing conversation; evidence a review has cannot be taken away, and new claims bring quotations that are looked
up by code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import fit_paper, how_read
from referee.agents.form_reply import FormValues, Lengths, lengths_for, output_tokens, sorted_values
from referee.agents.meta_reviewer import reflection_model, render_values
from referee.agents.single_reviewer import claimed_evidence
from referee.evidence import ClaimedQuote
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.review import Evidence
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

PROMPT = "review/reflect"
ROLE = "writer"

_THOUGHTS_TOKENS = 400


@dataclass(frozen=True)
class Reflected:
    """What a round gave. ``values`` is null where nothing had to change; ``evidence`` are new claims, N1, N2, ...

    ``cut`` says how much of the paper it was shown, null for all of it.
    """

    values: FormValues | None
    evidence: tuple[ClaimedQuote, ...]
    notes: tuple[str, ...]
    call_id: str
    cut: PaperCut | None = None


async def reflect_on_review(
    paper: Paper,
    form: VenueForm,
    values: FormValues,
    evidence: Sequence[Evidence],
    *,
    round_name: str,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
    reading_tokens: int | None = None,
) -> Reflected:
    """Ask once whether the review has to change, and how.

    Args:
        paper: The submission.
        form: The venue's form.
        values: The review so far.
        evidence: Its evidence, all of it found in the paper.
        round_name: As ``round 2 of 5``.
        door: Answers the prompt.
        context_tokens: The model's context, in tokens; the paper is fitted into what the rest leaves.
        count: Counts tokens as the model does.
        reading_tokens: The most of the paper that is shown, where that is less than what would fit.

    Raises:
        ContextTooLong: Form and review alone fill the context.
        ModelError: The model did not answer validly.
    """
    lengths = lengths_for(form, context_tokens)
    ids = tuple(e.id for e in evidence)
    most_out = output_tokens(form, lengths) + _THOUGHTS_TOKENS
    shown = delimit("review", render_values(form, values, evidence))

    def rendered(text: str, read: str) -> RenderedPrompt:
        return _render(form, lengths, round_name=round_name, review=shown, paper=text, read=read)

    frame = rendered("", how_read(paper, ()))
    room = tokens_left(frame, reflection_model(form, lengths, ids), most_out, context_tokens, count)
    briefing = fit_paper(paper, room, count, reading_tokens, numbered=lengths.brief)
    reply = reflection_model(form, lengths, ids, tuple(briefing.sentences))
    prompt = rendered(briefing.text, how_read(paper, briefing.cuts))
    answer = await door.ask(prompt, reply, role=ROLE, max_output_tokens=most_out)
    revised: BaseModel | None = dict(answer.value)["revised"]
    if revised is None:
        return Reflected(None, (), answer.notes, answer.call_id, briefing.cut)
    new = tuple(claimed_evidence(form, revised.model_dump()["quoted_evidence"], briefing, lengths, prefix="N"))
    values, notes = sorted_values(form, revised)
    return Reflected(values, new, (*answer.notes, *notes), answer.call_id, briefing.cut)


def _render(
    form: VenueForm, lengths: Lengths, *, round_name: str, review: str, paper: str, read: str
) -> RenderedPrompt:
    return load_prompt(PROMPT).render(
        venue_name=form.name,
        round=round_name,
        guidelines=render_guidelines(form, brief=lengths.brief),
        form=render_form(form, brief=lengths.brief),
        how_read=read,
        review=review,
        paper=paper,
        lengths=f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}.",
    )
