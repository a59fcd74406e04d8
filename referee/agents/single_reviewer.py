"""One call: the form, the guidelines and the whole paper in, every field of the form out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from pydantic import BaseModel

from referee.agents.briefing import fit_paper, how_read
from referee.agents.form_reply import Lengths, lengths_for, offered, output_tokens, reply_model, slugs_of
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.review import Cut
from referee.schemas.venue import FormField, VenueForm
from referee.venues import render_form, render_guidelines

PROMPT = "review/single"
ROLE = "writer"
T = TypeVar("T", bound=BaseModel)


class Asks(Protocol):
    """What an agent needs of the door."""

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        """Ask a role's model."""
        ...


@dataclass(frozen=True)
class SingleReply:
    """The reply in the form's own names: evidence, then values; scores with reason and evidence ids."""

    evidence: tuple[dict[str, str], ...]
    texts: dict[str, str]
    scores: dict[str, dict[str, Any]]
    choices: dict[str, str | list[str]]
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    call_id: str


async def write_single_review(
    paper: Paper,
    form: VenueForm,
    *,
    door: Asks,
    context_tokens: int,
    count: Callable[[str], int],
    reading_tokens: int | None = None,
    lengths: Lengths | None = None,
    prompt_version: str | None = None,
) -> SingleReply:
    """Fill the form in one call.

    Args:
        paper: The submission.
        form: The venue's form; attestations and discussion fields are not asked for.
        door: Answers the prompt.
        context_tokens: The model's context, in tokens; the paper is fitted into what the rest leaves.
        count: Counts tokens as the model does.
        reading_tokens: The most of the paper that is shown, where that is less than what would fit.
        lengths: Bounds of the reply; by default the longest that suit the context.
        prompt_version: Which version of the prompt; the newest by default.

    Raises:
        ContextTooLong: The form alone fills the context.
        ModelError: The model did not answer validly.
    """
    lengths = lengths or lengths_for(form, context_tokens)
    reply = reply_model(form, lengths)
    most_out = output_tokens(form, lengths)
    frame = _render(form, lengths, prompt_version, paper="", read=how_read(paper, ()))
    overhead = count(frame.system) + count(frame.user) + count(str(reply.model_json_schema()))
    room = context_tokens - overhead - most_out - 64
    briefing = fit_paper(paper, room, count, reading_tokens)
    prompt = _render(form, lengths, prompt_version, paper=briefing.text, read=how_read(paper, briefing.cuts))
    answer = await door.ask(prompt, reply, role=ROLE, max_output_tokens=most_out)
    return _sorted_reply(answer, form, briefing.cuts)


def _render(form: VenueForm, lengths: Lengths, version: str | None, *, paper: str, read: str) -> RenderedPrompt:
    return load_prompt(PROMPT, version).render(
        venue_name=form.name,
        guidelines=render_guidelines(form),
        form=render_form(form, brief=lengths.brief),
        how_read=read,
        lengths=f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}.",
        paper=paper,
    )


def _sorted_reply(answer: Answer[BaseModel], form: VenueForm, cuts: tuple[Cut, ...]) -> SingleReply:
    data = answer.value.model_dump()
    slugs = slugs_of(form)
    names = {slug: name for name, slug in slugs.items()}
    texts: dict[str, str] = {}
    scores: dict[str, dict[str, Any]] = {}
    choices: dict[str, str | list[str]] = {}
    for field in form.reviewer_fields:
        value = data[slugs[field.name]]
        if field.kind == "text":
            texts[field.name] = value
        elif field.kind == "score":
            chosen = offered(field)[value["value"]]
            scores[field.name] = {"value": chosen, "reason": value["reason"], "evidence": value["evidence"]}
        else:
            choices[field.name] = _chosen(field, value)
    evidence = tuple(
        {"id": f"E{number}", "claim": e["claim"], "quote": e["quote"], "field": names.get(e["bears_on"], "")}
        for number, e in enumerate(cast("list[Mapping[str, str]]", data["quoted_evidence"]), start=1)
    )
    return SingleReply(evidence, texts, scores, choices, cuts, answer.notes, answer.call_id)


def _chosen(field: FormField, value: str | list[str]) -> str | list[str]:
    """The chosen options; a checklist that says both "none of these" and something else says nothing."""
    options = offered(field)
    if isinstance(value, str):
        return str(options[value])
    chosen = list(dict.fromkeys(options[item] for item in value))
    alone = {option.value for option in field.options if option.exclusive}
    contradictory = len(chosen) > 1 and alone.intersection(chosen)
    return [] if contradictory else [str(item) for item in chosen]
