"""The values of a form in its order, and the reason for each that is empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from referee.agents.form_reply import Choice
from referee.agents.scores import SettledChoices, SettledScores
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import (
    CriterionRecord,
    DroppedQuotation,
    Evidence,
    FieldValue,
    Review,
    ScoreRecord,
    TrialValue,
)
from referee.schemas.venue import VenueForm


def form_values(
    form: VenueForm,
    texts: Mapping[str, str],
    choices: Mapping[str, Choice | None],
    scores: Iterable[ScoreRecord],
    *,
    no_text: str,
    no_tick: str = "nothing was ticked, or options that exclude each other",
) -> tuple[dict[str, FieldValue], dict[str, str]]:
    """Every field of the form in its order, and the reason for each null.

    Args:
        form: The venue's form.
        texts: Text fields by name.
        choices: What was ticked, by name.
        scores: What became of each score.
        no_text: Why a text field is empty.
        no_tick: Why a choice or checklist is empty.
    """
    settled = {record.field: record for record in scores}
    fields: dict[str, FieldValue] = {}
    nulls: dict[str, str] = {}
    for field in form.fields:
        name = field.name
        fields[name], reason = None, no_text
        if field.attestation:
            reason = "only a person can declare this"
        elif field.stage == "discussion":
            reason = "filled after the authors' reply"
        elif name in settled:
            fields[name], reason = settled[name].value, settled[name].null_reason
        elif field.kind == "score":
            reason = "no score was composed"
        elif field.kind != "text":
            fields[name], reason = choices.get(name) or None, no_tick
        else:
            fields[name] = texts.get(name, "").strip() or None
        if fields[name] is None:
            nulls[name] = reason
    return fields, nulls


def filled_review(
    form: VenueForm,
    paper: Paper,
    values: tuple[dict[str, FieldValue], dict[str, str]],
    scores: SettledScores,
    ticked: SettledChoices,
    *,
    review_id: str,
    source: str,
    points: Iterable[ReviewPoint] = (),
    evidence: Iterable[Evidence] = (),
    dropped: Iterable[DroppedQuotation] = (),
    criteria: Iterable[CriterionRecord] = (),
) -> Review:
    """The review on the form.

    Args:
        form: The venue's form.
        paper: The submission.
        values: As ``form_values`` gives them.
        scores: What became of each score.
        ticked: What became of each choice.
        review_id: The review's id.
        source: The model that wrote it.
        points: All that were raised.
        evidence: The quotations that were found in the paper.
        dropped: Those that were not.
        criteria: The form's criteria with who read for them.
    """
    fields, nulls = values[0], values[1] | ticked.nulls
    return Review(
        review_id=review_id,
        paper_id=paper.paper_id,
        paper_title=paper.title,
        venue=form.id,
        source=source,
        fields=fields,
        nulls=nulls,
        rating=_number(fields.get(form.overall or "")),
        confidence=_number(next((fields[f.name] for f in form.fields if f.aspect == "confidence"), None)),
        scores=scores.records,
        forced=(*scores.forced, *ticked.forced),
        attestations=tuple(f.name for f in form.attestations),
        points=tuple(points),
        criteria=tuple(criteria),
        evidence=tuple(evidence),
        dropped=tuple(dropped),
        findings=paper.findings,
    )


NO_JUDGE = "the embedded model cannot judge a paper; what it chose is kept under “trial” in review.json"


def as_trial(review: Review, form: VenueForm) -> Review:
    """The review without what the embedded model thinks of the paper: scores, choices and ticks are kept apart.

    ``trial`` keeps them with their reasons. No value stands in for one that the form demands, and no sentence for a
    text. Fields that were null before keep their own reason.
    """
    records = {record.field: record for record in review.scores}
    fields, nulls = dict(review.fields), dict(review.nulls)
    trial: list[TrialValue] = []
    for name in (field.name for field in form.reviewer_fields if field.kind != "text"):
        record = records.get(name)
        value = fields[name] if record is None or record.stated is None else record.stated
        if value is None:
            continue
        trial.append(TrialValue(field=name, value=value, reason=record.reason if record else ""))
        fields[name], nulls[name] = None, NO_JUDGE
    return review.model_copy(
        update={
            "fields": fields,
            "nulls": nulls,
            "rating": None,
            "confidence": None,
            "scores": (),
            "forced": (),
            "trial": tuple(trial),
        }
    )


def _number(value: FieldValue) -> int | float | None:
    return value if isinstance(value, int | float) else None
