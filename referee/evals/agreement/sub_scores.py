"""How far predicted sub-scores (soundness, presentation, ...) are from people's, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.evals.agreement.nested_means import Errors, nested_interval
from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.evals.agreement.scales import scale_of
from referee.schemas.venue import VenueForm
from referee.stats import Interval, bootstrap_interval


@dataclass(frozen=True, slots=True)
class Axis:
    """One score field: ``mae`` and ``bias`` over the ``n`` papers where both sides filled it, with intervals by paper.

    ``human`` and ``predicted`` count the papers where each did: the coverage. ``invalid`` counts predictions outside
    the field's values, as a placeholder 0; they are left out. ``errors`` holds |prediction - mean| by paper.
    """

    name: str
    mae: Interval
    bias: Interval
    human: int
    predicted: int
    invalid: int = 0
    errors: dict[str, float] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Papers where both sides filled it."""
        return self.mae.n


@dataclass(frozen=True, slots=True)
class SubScores:
    """The axes of one form, confidence apart; ``mae`` is the unweighted mean over axes with a value.

    Its interval draws papers whole; ``errors`` is what it is of, by paper and axis.
    """

    axes: tuple[Axis, ...]
    confidence: Axis | None
    mae: Interval
    errors: Errors = field(default_factory=dict)
    reason: str = ""


def sub_scores(
    papers: Sequence[RatedPaper], form: VenueForm, *, include_confidence: bool = False, seed: int = 0
) -> SubScores:
    """Per axis |prediction - mean human value|, averaged over papers where both exist, then over axes.

    One human value suffices. Confidence is reported by itself; ReviewArena includes it in one sentence, which
    ``include_confidence`` repeats. A form without sub-scores has None and takes no part in a mean over venues.

    Raises:
        EvaluationError: A prediction is on another scale than the human ratings.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review".
    """
    rows = [same_scale(paper) for paper in papers]
    scored = [field for field in form.fields if field.kind == "score" and field.name != form.overall]
    axes = tuple(_axis(rows, form, field.name, seed) for field in scored if field.aspect != "confidence")
    confidence = next((_axis(rows, form, field.name, seed) for field in scored if field.aspect == "confidence"), None)
    counted = [*axes, confidence] if include_confidence and confidence is not None else axes
    by_paper: dict[str, dict[str, float]] = {}
    for axis in counted:
        for paper_id, error in axis.errors.items():
            by_paper.setdefault(paper_id, {})[axis.name] = error
    reason = "" if by_paper else "no paper has both sides" if counted else "the form has no sub-scores"
    return SubScores(axes, confidence, nested_interval([[by_paper]], seed=seed), by_paper, reason)


def _axis(papers: Sequence[RatedPaper], form: VenueForm, name: str, seed: int) -> Axis:
    scale = scale_of(form, name)
    assert scale is not None, "a named field has a scale"
    given = {row.paper_id: row.predicted_scores[name] for row in papers if name in row.predicted_scores}
    valid = {key: value for key, value in given.items() if scale.low <= value <= scale.high}
    human = {row.paper_id: row.scores[name] for row in papers if row.scores.get(name)}
    errors = {key: valid[key] - sum(values) / len(values) for key, values in human.items() if key in valid}
    far = {key: abs(error) for key, error in errors.items()}
    return Axis(
        name,
        bootstrap_interval({key: [error] for key, error in far.items()}, seed=seed),
        bootstrap_interval({key: [error] for key, error in errors.items()}, seed=seed),
        human=len(human),
        predicted=len(valid),
        invalid=len(given) - len(valid),
        errors=far,
    )
