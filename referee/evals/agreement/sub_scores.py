"""How far predicted sub-scores (soundness, presentation, ...) are from people's, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.schemas.venue import VenueForm


@dataclass(frozen=True, slots=True)
class Axis:
    """One score field: ``mae`` and ``bias`` over the ``n`` papers where both sides filled it.

    ``human`` and ``predicted`` count the papers where each did: the coverage. None where no paper has both.
    """

    name: str
    mae: float | None
    bias: float | None
    n: int
    human: int
    predicted: int


@dataclass(frozen=True, slots=True)
class SubScores:
    """The axes of one form, confidence apart; ``mae`` is the unweighted mean over axes with a value."""

    axes: tuple[Axis, ...]
    confidence: Axis | None
    mae: float | None
    reason: str = ""


def sub_scores(papers: Sequence[RatedPaper], form: VenueForm, *, include_confidence: bool = False) -> SubScores:
    """Per axis |prediction - mean human value|, averaged over papers where both exist, then over axes.

    One human value suffices. Confidence is reported by itself; ReviewArena includes it in one sentence, which
    ``include_confidence`` repeats. A form without sub-scores has None and takes no part in a mean over venues.

    Raises:
        EvaluationError: A prediction is on another scale than the human ratings.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review".
    """
    rows = [same_scale(paper) for paper in papers]
    scored = [field for field in form.fields if field.kind == "score" and field.name != form.overall]
    axes = tuple(_axis(rows, field.name) for field in scored if field.aspect != "confidence")
    confidence = next((_axis(rows, field.name) for field in scored if field.aspect == "confidence"), None)
    counted = [*axes, confidence] if include_confidence and confidence is not None else axes
    values = [axis.mae for axis in counted if axis.mae is not None]
    reason = "" if values else "no paper has both sides" if counted else "the form has no sub-scores"
    return SubScores(axes, confidence, sum(values) / len(values) if values else None, reason)


def _axis(papers: Sequence[RatedPaper], name: str) -> Axis:
    human = [paper for paper in papers if paper.scores.get(name)]
    errors = [
        paper.predicted_scores[name] - sum(paper.scores[name]) / len(paper.scores[name])
        for paper in human
        if name in paper.predicted_scores
    ]
    n = len(errors)
    return Axis(
        name,
        sum(abs(error) for error in errors) / n if n else None,
        sum(errors) / n if n else None,
        n,
        len(human),
        sum(name in paper.predicted_scores for paper in papers),
    )
