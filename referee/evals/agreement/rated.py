"""Papers with what people and one model gave them: the rows on which agreement is measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from referee.data.decisions import decision_class
from referee.data.prose import plain_name
from referee.data.ratings import leading_number
from referee.errors import DataError, EvaluationError
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues.values import parse_score


@dataclass(frozen=True, slots=True)
class RatedPaper:
    """The ratings of one paper on its form.

    ``form`` names the scale, ``conference`` and ``year`` the group. ``human`` are people's ratings, ``predicted`` the
    model's, None with ``reason`` (an invalid reply, no rating in it). ``scores`` and ``predicted_scores`` hold the
    form's other score fields, without those that nobody filled. ``accepted`` is None where no decision is known.
    ``other_form`` names the prediction's form where that offers other values: such a paper is only good for ranks.
    """

    paper_id: str
    form: str
    human: tuple[float, ...]
    predicted: float | None = None
    reason: str = ""
    conference: str = ""
    year: int | None = None
    accepted: bool | None = None
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    predicted_scores: Mapping[str, float] = field(default_factory=dict)
    other_form: str = ""


@dataclass(frozen=True, slots=True)
class Gathered:
    """``papers`` in the order of their ids; the numbers say what of the reviews they leave out.

    ``predicted_only`` are papers without a human review; ``repeated`` are further predictions for a paper, of which
    the first in the set counts.
    """

    papers: tuple[RatedPaper, ...]
    predicted_only: tuple[str, ...] = ()
    repeated: int = 0
    no_venue: tuple[str, ...] = ()


def gather(
    human: Iterable[ReviewCase],
    predictions: Iterable[ReviewCase],
    forms: Mapping[str, VenueForm],
    *,
    across_scales: bool = False,
) -> Gathered:
    """Human reviews and one model's, joined by paper.

    A paper's form is that of its human reviews. A paper without a venue is left out and named.

    Args:
        human: People's reviews.
        predictions: One model's reviews; of several for a paper the first counts.
        forms: The known forms by id; other venues are taken as a free scale.
        across_scales: Take predictions from a form with other values too, marked by ``other_form``.

    Raises:
        EvaluationError: A paper's reviews are on two forms, or a prediction is on other values than the human reviews
            and ``across_scales`` is not set.
    """
    rows: dict[str, RatedPaper] = {}
    homeless: set[str] = set()
    for case in human:
        if case.venue is None:
            homeless.add(case.paper_id)
        else:
            rows[case.paper_id] = _with_human(rows.get(case.paper_id), case, forms.get(case.venue))
    alone: set[str] = set()
    predicted: set[str] = set()
    repeated = 0
    for case in predictions:
        row = rows.get(case.paper_id)
        if row is None:
            alone.add(case.paper_id)
        elif case.paper_id in predicted:
            repeated += 1
        else:
            predicted.add(case.paper_id)
            joined = _with_prediction(row, case, forms)
            rows[case.paper_id] = joined if across_scales else same_scale(joined)
    homeless -= rows.keys()
    return Gathered(tuple(rows[key] for key in sorted(rows)), tuple(sorted(alone)), repeated, tuple(sorted(homeless)))


def accepted(decision: str | None) -> bool | None:
    """Whether the data's words for a decision mean acceptance; None for withdrawn, desk-rejected, unclear and empty.

    Presentations (oral, spotlight, poster) are acceptances; an invitation to a workshop is neither.
    """
    return {"accept": True, "reject": False}.get(decision_class(decision) or "")


def same_scale(paper: RatedPaper) -> RatedPaper:
    """The paper, if people and the model rated it on the same values.

    Raises:
        EvaluationError: The prediction is on another form's values; the message names both forms.
    """
    if paper.other_form:
        raise EvaluationError(
            f"paper {paper.paper_id!r} was rated on {paper.form!r} by people and on {paper.other_form!r} by the model.",
            hint="Compare ratings on one form, or ranks within each form (--compare-scales).",
            ids={"paper": paper.paper_id, "venues": f"{paper.form}, {paper.other_form}"},
        )
    return paper


def _with_human(row: RatedPaper | None, case: ReviewCase, form: VenueForm | None) -> RatedPaper:
    venue = case.venue or ""
    if row is None:
        year = case.year if case.year is not None else (form.year if form else None)
        row = RatedPaper(case.paper_id, venue, (), conference=_conference(venue), year=year)
    if row.form != venue:
        raise EvaluationError(
            f"the reviews of paper {case.paper_id!r} are on two forms, {row.form!r} and {venue!r}.",
            hint="Give each paper's reviews one venue and year.",
            ids={"paper": case.paper_id},
        )
    scores = dict(row.scores)
    for name, value in _sub_scores(case, form).items():
        scores[name] = (*scores.get(name, ()), value)
    human = row.human if case.rating is None else (*row.human, case.rating)
    decided = row.accepted if row.accepted is not None else accepted(case.decision)
    return replace(row, human=human, scores=scores, accepted=decided)


def _with_prediction(row: RatedPaper, case: ReviewCase, forms: Mapping[str, VenueForm]) -> RatedPaper:
    venue = case.venue or row.form
    ours, theirs = _offered(forms.get(row.form)), _offered(forms.get(venue))
    other = "" if venue == row.form or (ours is not None and ours == theirs) else venue
    return replace(
        row,
        predicted=case.rating,
        reason="" if case.rating is not None else "the review states no rating",
        predicted_scores={} if other else _sub_scores(case, forms.get(row.form)),
        other_form=other,
    )


def _sub_scores(case: ReviewCase, form: VenueForm | None) -> dict[str, float]:
    """The form's score fields but the overall one, as far as the review fills them with a value that is offered."""
    if form is None:
        return {}
    by_name = {plain_name(name): value for name, value in case.fields.items()}
    out: dict[str, float] = {}
    for box in form.fields:
        if box.kind != "score" or box.name == form.overall:
            continue
        given = by_name.get(plain_name(box.name))
        if given is None and box.aspect == "confidence":
            given = case.confidence
        try:
            score = parse_score(box, given)
        except DataError:
            # A value off the form is no score of it; the reader of the set has noted it.
            continue
        if score is not None:
            out[box.name] = float(score)
    return out


def _offered(form: VenueForm | None) -> tuple[object, ...] | None:
    if form is None or form.overall is None:
        return None
    return tuple(sorted(float(o.value) for o in form.field(form.overall).options))


def _conference(venue: str) -> str:
    return re.sub(r"[\s_-]*(?:19|20)\d{2}.*$", "", venue).strip() or venue


LISTED = "human_ratings"


def gather_listed(
    predictions: Iterable[ReviewCase],
    forms: Mapping[str, VenueForm],
    *,
    rated_on: str = "",
    across_scales: bool = False,
) -> Gathered:
    """One model's reviews with the human ratings that their records list; records without a list are left out.

    Args:
        predictions: One model's reviews; of several for a paper the first counts. Their venue is people's form.
        forms: The known forms by id.
        rated_on: The form the model rated on, where it is another than the venue says.
        across_scales: As ``gather``.

    Raises:
        EvaluationError: As ``gather``.
    """
    cases = [case for case in predictions if isinstance(case.extra.get(LISTED), list)]
    human = {case.paper_id: _listed(case) for case in reversed(cases)}
    people = [case.model_copy(update={"rating": None, "confidence": None, "fields": {}}) for case in cases]
    models = [case.model_copy(update={"venue": rated_on or case.venue}) for case in cases]
    found = gather(people, models, forms, across_scales=True)
    papers = [replace(paper, human=human[paper.paper_id]) for paper in found.papers]
    return replace(found, papers=tuple(papers if across_scales else map(same_scale, papers)))


def _listed(case: ReviewCase) -> tuple[float, ...]:
    numbers = (leading_number(raw) for raw in case.extra[LISTED])
    return tuple(number for number in numbers if number is not None)
