"""The shapes of replies that write a review anew from one there is: an area chair's merger, a round of reflection."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.choices import list_of, one_of
from referee.agents.form_reply import FULL, Lengths, reply_model, slugs_of
from referee.schemas.venue import VenueForm
from referee.venues import load_venue

_CLOSED = ConfigDict(extra="ignore")
_THOUGHTS_CHARS = 1200
# A merged review may cite more than one reviewer's worth of evidence for a score.
_CITED_FACTOR = 2


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


def sample_chair_model() -> type[BaseModel]:
    """The reply model of one form, by which the prompt's header is checked."""
    return chair_model(load_venue("neurips-2025"), FULL, ("R1-E1",))


def sample_reflection_model() -> type[BaseModel]:
    """The same for a round of reflection."""
    return reflection_model(load_venue("neurips-2025"), FULL, ("R1-E1",))


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
