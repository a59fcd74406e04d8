"""One call: the form, the guidelines and the whole paper in, every field of the form out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Protocol, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from referee.agents.briefing import fit_paper, how_read
from referee.errors import DataError
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.review import Cut
from referee.schemas.venue import FormField, Option, VenueForm
from referee.venues import parse_score, render_form, render_guidelines

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
class Lengths:
    """How long a review may be: characters of a text field, a reason and a quotation; items of evidence, and how many
    of them a score may cite. ``brief`` also shortens the form in the prompt.
    """

    text: int
    reason: int
    quote: int
    items: int
    cited: int
    brief: bool = False


FULL = Lengths(text=4000, reason=400, quote=400, items=12, cited=4)
MEDIUM = Lengths(text=1800, reason=250, quote=300, items=8, cited=4)
BRIEF = Lengths(text=480, reason=100, quote=200, items=3, cited=2, brief=True)

# A reply may take at most this share of the context; the paper needs the rest.
_REPLY_SHARE = 0.25


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


def lengths_for(form: VenueForm, context_tokens: int) -> Lengths:
    """The longest bounds whose reply leaves most of the context to the paper."""
    room = context_tokens * _REPLY_SHARE
    return next((lengths for lengths in (FULL, MEDIUM) if output_tokens(form, lengths) <= room), BRIEF)


def output_tokens(form: VenueForm, lengths: Lengths) -> int:
    """The most tokens a reply can need: its bounded characters at three to a token, and the JSON around them."""
    texts = sum(lengths.text for f in form.reviewer_fields if f.kind == "text")
    others = sum(lengths.reason + 120 for f in form.reviewer_fields if f.kind != "text")
    evidence = lengths.items * (lengths.quote + lengths.reason + 80)
    return (texts + others + evidence) // 3 + 256


@lru_cache(maxsize=64)
def _slugs(names: tuple[str, ...]) -> dict[str, str]:
    slugs = {name: re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") for name in names}
    if len(set(slugs.values())) != len(slugs):
        slugs = {name: f"{slug}_{number}" for number, (name, slug) in enumerate(slugs.items(), start=1)}
    return slugs


def reply_model(form: VenueForm, lengths: Lengths) -> type[BaseModel]:
    """The reply's shape for one form: evidence first, then texts, then scores and choices in the form's order."""
    fields = sorted(form.reviewer_fields, key=_reply_order)
    slugs = _slugs(tuple(f.name for f in form.reviewer_fields))
    texts = [slugs[f.name] for f in fields if f.kind == "text"]
    shape: dict[str, Any] = {
        "quoted_evidence": (
            list[_evidence_model(tuple(texts), lengths)],  # type: ignore[misc]
            Field(max_length=lengths.items, description="claims about the paper, each with the passage that shows it"),
        )
    }
    for field in fields:
        shape[slugs[field.name]] = _field_shape(field, lengths)
    return create_model("SingleReviewReply", __config__=ConfigDict(extra="ignore"), **shape)


def sample_reply_model() -> type[BaseModel]:
    """The reply model for a small form, by which the prompt's header is checked."""
    from referee.venues import load_venue

    return reply_model(load_venue("neurips-2025"), FULL)


def _reply_order(field: FormField) -> tuple[int, int]:
    """Texts first; scores after them, the overall and the confidence last; checklists at the end."""
    kind = {"text": 0, "score": 1}.get(field.kind, 2)
    return kind, {"overall": 1, "confidence": 2, "expertise": 2}.get(field.aspect or "", 0)


def _evidence_model(texts: tuple[str, ...], lengths: Lengths) -> type[BaseModel]:
    bears_on: Any = Literal[texts] if texts else str
    return create_model(
        "QuotedEvidence",
        __config__=ConfigDict(extra="ignore"),
        claim=(str, Field(min_length=1, max_length=lengths.reason, description="one merit or one defect")),
        quote=(str, Field(min_length=1, max_length=lengths.quote, description="copied letter by letter")),
        bears_on=(bears_on, Field(description="the text field this belongs to")),
    )


def _field_shape(field: FormField, lengths: Lengths) -> tuple[Any, Any]:
    if field.kind == "text":
        limit = min(lengths.text, field.max_chars or lengths.text)
        return str, Field(max_length=limit, description=field.asks)
    options = _offered(field)
    if field.kind == "flag":
        return list[Literal[tuple(options)]], Field(
            max_length=2 if lengths.brief else len(options), description=field.asks
        )  # type: ignore[misc]
    if field.kind == "choice":
        return Literal[tuple(options)], Field(description=field.asks)
    return _score_model(field, lengths), Field(description=field.asks)


def _score_model(field: FormField, lengths: Lengths) -> type[BaseModel]:
    options = _offered(field)

    def canonical(raw: Any) -> Any:
        """'4', 4 and '4: accept' are the same answer."""
        if raw in options or isinstance(raw, bool) or not isinstance(raw, int | float | str):
            return raw
        try:
            value = parse_score(field, raw)
        except DataError:
            return raw
        return next((text for text, option in options.items() if option == value), raw)

    value: Any = Annotated[Literal[tuple(options)], BeforeValidator(canonical)]
    ids = tuple(f"E{number}" for number in range(1, lengths.items + 1))
    return create_model(
        "Score",
        __config__=ConfigDict(extra="ignore"),
        reason=(str, Field(max_length=lengths.reason)),
        evidence=(
            list[Literal[ids]],
            Field(max_length=lengths.cited, description="ids of quoted_evidence, E1 is the first"),
        ),  # type: ignore[valid-type]
        value=(value, Field()),
    )


def _offered(field: FormField) -> dict[str, int | float | str]:
    """What the model may choose: value and label in one text, mapped back to the value."""
    return {_option_text(option): option.value for option in field.options}


def _option_text(option: Option) -> str:
    value = option.value if isinstance(option.value, str) else f"{option.value:g}"
    return f"{value}: {option.label}" if option.label and option.label != value else value


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
    slugs = _slugs(tuple(f.name for f in form.reviewer_fields))
    names = {slug: name for name, slug in slugs.items()}
    texts: dict[str, str] = {}
    scores: dict[str, dict[str, Any]] = {}
    choices: dict[str, str | list[str]] = {}
    for field in form.reviewer_fields:
        value = data[slugs[field.name]]
        if field.kind == "text":
            texts[field.name] = value
        elif field.kind == "score":
            chosen = _offered(field)[value["value"]]
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
    offered = _offered(field)
    if isinstance(value, str):
        return str(offered[value])
    chosen = list(dict.fromkeys(offered[item] for item in value))
    alone = {option.value for option in field.options if option.exclusive}
    contradictory = len(chosen) > 1 and alone.intersection(chosen)
    return [] if contradictory else [str(item) for item in chosen]
