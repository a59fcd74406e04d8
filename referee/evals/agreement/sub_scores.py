"""How far predicted sub-scores (soundness, presentation, ...) are from people's, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.evals.agreement.scales import scale_of
from referee.schemas.venue import VenueForm


@dataclass(frozen=True, slots=True)
class Axis:
    """One score field: ``mae`` and ``bias`` over the ``n`` papers where both sides filled it.

    ``human`` and ``predicted`` count the papers where each did: the coverage. ``invalid`` counts predictions outside
    the field's values, as a placeholder 0; they are left out. None where no paper has both.
    """

    name: str
    mae: float | None
    bias: float | None
    n: int
    human: int
    predicted: int
    invalid: int = 0


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
    axes = tuple(_axis(rows, form, field.name) for field in scored if field.aspect != "confidence")
    confidence = next((_axis(rows, form, field.name) for field in scored if field.aspect == "confidence"), None)
    counted = [*axes, confidence] if include_confidence and confidence is not None else axes
    values = [axis.mae for axis in counted if axis.mae is not None]
    reason = "" if values else "no paper has both sides" if counted else "the form has no sub-scores"
    return SubScores(axes, confidence, sum(values) / len(values) if values else None, reason)


def _axis(papers: Sequence[RatedPaper], form: VenueForm, name: str) -> Axis:
    scale = scale_of(form, name)
    assert scale is not None, "a named field has a scale"
    given = {at: paper.predicted_scores[name] for at, paper in enumerate(papers) if name in paper.predicted_scores}
    valid = {at: value for at, value in given.items() if scale.low <= value <= scale.high}
    human = {at: paper.scores[name] for at, paper in enumerate(papers) if paper.scores.get(name)}
    errors = [valid[at] - sum(values) / len(values) for at, values in human.items() if at in valid]
    n = len(errors)
    return Axis(
        name,
        sum(abs(error) for error in errors) / n if n else None,
        sum(errors) / n if n else None,
        n,
        human=len(human),
        predicted=len(valid),
        invalid=len(given) - len(valid),
    )
