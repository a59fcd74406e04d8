"""An area chair's merger of independent reviews into one on the same form, without the paper; and the shapes of replies
that write a review anew from one there is.

Source: The AI Scientist (Lu et al. 2024, 2408.06292), automated reviewing: an area chair aggregates the ensemble.
Deviations: the merged review names the reviewers' evidence it rests on, and its scores cite that evidence; they are not
replaced by the reviewers' averages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, list_of, one_of, tokens_left
from referee.agents.form_reply import (
    FormValues,
    Lengths,
    lengths_for,
    output_tokens,
    reply_model,
    slugs_of,
    sorted_values,
)
from referee.errors import ContextTooLong
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.review import Evidence
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

_CLOSED = ConfigDict(extra="ignore")
_THOUGHTS_CHARS = 1200
# A merged review may cite more than one reviewer's worth of evidence for a score.
_CITED_FACTOR = 2


@lru_cache(maxsize=64)
def chair_model(form: VenueForm, lengths: Lengths, ids: tuple[str, ...]) -> type[BaseModel]:
    """``kept`` evidence by its ids, then the form; scores cite those ids.

    Args:
        form: The venue's form.
        lengths: The bounds.
        ids: Of the evidence that the reviews brought; none leaves nothing to keep and to cite.
    """
    about = "ids of the reviewers' evidence that the merged review rests on"
    kept: Any = (_ids(ids), Field(max_length=len(ids), description=about))
    return create_model("MergedReview", __config__=_CLOSED, kept=kept, **_form_shape(form, lengths, ids, ()))


@lru_cache(maxsize=64)
def reflection_model(
    form: VenueForm, lengths: Lengths, ids: tuple[str, ...], sentences: tuple[str, ...] = ()
) -> type[BaseModel]:
    """``thoughts``, then ``revised``: null, or the whole review with new evidence; scores cite old and new ids.

    Args:
        form: The venue's form.
        lengths: The bounds.
        ids: Of the evidence the review has.
        sentences: Ids of the paper's sentences; where given, new evidence names one instead of quoting.
    """
    new = tuple(f"N{number}" for number in range(1, lengths.items + 1))
    base = reply_model(form, lengths, sentences).model_fields["quoted_evidence"]
    shape = _form_shape(form, lengths, (*ids, *new), sentences)
    evidence: Any = (base.annotation, base)
    revised = create_model("RevisedReview", __config__=_CLOSED, quoted_evidence=evidence, **shape)
    return create_model(
        "Reflection",
        __config__=_CLOSED,
        thoughts=(str, Field(max_length=_THOUGHTS_CHARS, description="what is wrong or missing, in a few sentences")),
        revised=(revised | None, Field(description="null if the review needs no change")),
    )


def _form_shape(form: VenueForm, lengths: Lengths, ids: tuple[str, ...], sentences: tuple[str, ...]) -> dict[str, Any]:
    """The form's fields as a reviewer's reply has them, but for the ids that a score may cite."""
    fields = dict(reply_model(form, lengths, sentences).model_fields)
    del fields["quoted_evidence"]
    scores = {slugs_of(form)[field.name] for field in form.reviewer_fields if field.kind == "score"}
    most = min(len(ids), lengths.cited * _CITED_FACTOR)
    shape: dict[str, Any] = {}
    for slug, info in fields.items():
        kind: Any = info.annotation
        if slug in scores:
            cited: Any = (_ids(ids), Field(max_length=most, description="ids of the evidence that supports it"))
            kind = create_model("MergedScore", __base__=kind, evidence=cited)
            shape[slug] = (kind, Field(description=info.description))
        else:
            shape[slug] = (kind, info)
    return shape


def _ids(ids: tuple[str, ...]) -> Any:
    return list_of(one_of(ids))


PROMPT = "review/chair"
ROLE = "composer"

_FEWEST_CHARS = 200
_SHRINK = 0.75
_CUT_MARK = " [shortened]"


class MemberReview(FormValues):
    """One reviewer's review as the chair sees it, with the evidence that was found."""

    number: int
    evidence: tuple[Evidence, ...]


class MergedReview(FormValues):
    """The merged review. ``kept`` holds ids of evidence, those the scores cite among them."""

    kept: tuple[str, ...]
    notes: tuple[str, ...]
    call_id: str


async def merge_reviews(
    members: Sequence[MemberReview],
    form: VenueForm,
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
) -> MergedReview:
    """Merge independent reviews in one call.

    Texts that do not fit are shortened, all of them alike, and a note says so; evidence is shown whole.

    Args:
        members: The reviews, at least one.
        form: The form they are on.
        door: Answers the prompt.
        context_tokens: The model's context, in tokens.
        count: Counts tokens as the model does.

    Raises:
        ContextTooLong: Not even shortened reviews fit.
        ModelError: The model did not answer validly.
    """
    lengths = lengths_for(form, context_tokens)
    ids = tuple(evidence.id for member in members for evidence in member.evidence)
    reply, most_out = chair_model(form, lengths, ids), output_tokens(form, lengths)
    prompt, notes = _fitted(
        members, form, lengths, lambda prompt: tokens_left(prompt, reply, most_out, context_tokens, count)
    )
    answer = await door.ask(prompt, reply, role=ROLE, max_output_tokens=most_out)
    data = answer.value.model_dump()
    values, broken = sorted_values(form, answer.value)
    cited = {name for score in values.scores.values() for name in score.supports}
    kept = tuple(name for name in ids if name in cited or name in data["kept"])
    return MergedReview(**dict(values), kept=kept, notes=(*notes, *answer.notes, *broken), call_id=answer.call_id)


def _fitted(
    members: Sequence[MemberReview],
    form: VenueForm,
    lengths: Lengths,
    left_by: Callable[[RenderedPrompt], int],
) -> tuple[RenderedPrompt, tuple[str, ...]]:
    """The first prompt that leaves no fewer than 0 tokens, and what had to be shortened for it."""
    longest = max((len(text) for member in members for text in member.texts.values()), default=0)
    cap = longest
    while True:
        prompt = _render(members, form, lengths, cap)
        if (left := left_by(prompt)) >= 0:
            break
        if cap <= _FEWEST_CHARS:
            raise ContextTooLong(
                f"{len(members)} reviews, shortened, are {-left:,} tokens too long for the area chair's context.",
                hint="Lower review.ensemble_size, or use a model with a longer context for the role composer.",
            )
        cap = max(_FEWEST_CHARS, int(cap * _SHRINK))
    if cap == longest:
        return prompt, ()
    return prompt, (f"the area chair saw the reviewers' texts shortened to {cap:,} characters each",)


def _render(members: Sequence[MemberReview], form: VenueForm, lengths: Lengths, cap: int) -> RenderedPrompt:
    return load_prompt(PROMPT).render(
        venue_name=form.name,
        reviewers=str(len(members)),
        guidelines=render_guidelines(form, brief=lengths.brief),
        form=render_form(form, brief=lengths.brief),
        reviews="\n\n".join(
            delimit(
                "review",
                render_values(form, member, member.evidence, cap=cap),
                reviewer=str(member.number),
            )
            for member in members
        ),
        lengths=f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}.",
    )


def render_values(
    form: VenueForm,
    values: FormValues,
    evidence: Sequence[Evidence],
    *,
    cap: int | None = None,
) -> str:
    """A review as prompt text, not yet delimited: fields in the form's order, then its evidence with ids.

    Args:
        form: The form it is on.
        values: By field.
        evidence: What was found in the paper.
        cap: The most characters of a text; a longer one is cut and marked.
    """
    lines = []
    for field in form.reviewer_fields:
        if field.name in values.texts:
            lines.append(f"{field.name}: {_capped(values.texts[field.name], cap)}")
        elif (score := values.scores.get(field.name)) is not None:
            cited = f" [{', '.join(score.supports)}]" if score.supports else ""
            lines.append(f"{field.name}: {score.value:g}. {score.reason}{cited}")
        elif chosen := values.choices.get(field.name):
            lines.append(f"{field.name}: {chosen}")
    shown = [f'[{e.id}] {e.claim} Quotation: "{e.quote}" ({e.section})' for e in evidence]
    return "\n".join([*lines, "Evidence:", *(shown or ["none of its quotations is in the paper"])])


def _capped(text: str, cap: int | None) -> str:
    return text if cap is None or len(text) <= cap else text[:cap].rsplit(" ", 1)[0] + _CUT_MARK
