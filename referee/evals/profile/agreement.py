"""Systems beside people on the same papers: ratings, confidences, agreement, engagement with mathematics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from referee.data.ratings import leading_number
from referee.errors import DataError
from referee.evals.agreement import (
    RatedPaper,
    Scale,
    TwiceRated,
    apart,
    check_scale,
    compare_scales,
    from_median,
    histogram,
    panel_alphas,
    self_consistency,
)
from referee.evals.agreement.rated import LISTED
from referee.evals.agreement.scales import outside_share
from referee.evals.behaviour import conditional_engagement
from referee.evals.behaviour.mathematics import Unit, engagement_units
from referee.evals.grouping import conference_of, year_of
from referee.evals.profile.ratings import NO_FORM, WHATS, WRONG_FORM, What
from referee.evals.profile.result import Agreement, Alpha, Consistency, Engagement
from referee.schemas.case import ReviewCase
from referee.stats import Interval, bootstrap_interval
from referee.stats.agreement import Weighting
from referee.stats.distances import Distances

NO_SCALE = "no rating of the form is known"
NOBODY = "no paper has both human ratings and one of this system"
NO_COMMON = "no paper was reviewed by both"
NO_RATING = "one of the two gave no rating"
TWO_FORMS = "the two rated these papers on different forms"
RANK_BINS = 5
_UNITS: tuple[Unit, ...] = ("majority", "pair", "any")


@dataclass(slots=True)
class _People:
    """What people gave one paper on one form."""

    year: int | None
    ratings: list[float] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    engages: list[bool] = field(default_factory=list)

    def of(self, what: What) -> list[float]:
        return self.ratings if what == "rating" else self.confidences


@dataclass(frozen=True, slots=True)
class _Given:
    """What a system gave one paper."""

    form: str
    year: int | None
    rating: float | None
    confidence: float | None
    engages: bool | None

    def of(self, what: What) -> float | None:
        return self.rating if what == "rating" else self.confidence


_Key = tuple[str, str]


class PanelBook:
    """Numbers of people and systems by paper and form; of a system's further reviews of a paper the first counts.

    Where a system's record lists people's ratings (``human_ratings``), these stand for human reviews that the data do
    not hold. Reviews of unknown kind are on neither side.
    """

    def __init__(self) -> None:
        self._people: dict[_Key, _People] = {}
        self._listed: dict[_Key, _People] = {}
        self._systems: dict[str, dict[str, _Given]] = {}
        self._repeated: dict[str, int] = {}
        self._source: dict[str, str] = {}

    @property
    def systems(self) -> list[str]:
        """The systems by name."""
        return sorted(self._systems)

    def add(self, system: str, case: ReviewCase, engages: bool | None) -> None:
        """Take down one review's numbers."""
        form = case.venue or NO_FORM
        if case.kind == "human":
            paper = self._people.setdefault((case.paper_id, form), _People(year_of(case)))
            paper.ratings += [] if case.rating is None else [case.rating]
            paper.confidences += [] if case.confidence is None else [case.confidence]
            paper.engages += [] if engages is None else [engages]
        elif case.kind == "ai":
            own = self._systems.setdefault(system, {})
            self._source[system] = case.source
            if case.paper_id in own:
                self._repeated[system] = self._repeated.get(system, 0) + 1
                return
            own[case.paper_id] = _Given(form, year_of(case), case.rating, case.confidence, engages)
            self._listed_by(case, form)

    def rows(self, system: str, what: What, form: str) -> list[RatedPaper]:
        """The papers of a form that people rated, with what the system gave them."""
        own = self._systems[system]
        return [
            RatedPaper(
                paper,
                form,
                tuple(people.of(what)),
                None if (given := own.get(paper)) is None else given.of(what),
                conference=conference_of(form),
                year=people.year,
            )
            for (paper, on), people in sorted(self._rated().items())
            if on == form and paper in own
        ]

    def forms(self, system: str) -> list[str]:
        """The forms on which people rated papers that the system reviewed."""
        own = self._systems[system]
        return sorted({form for paper, form in self._rated() if paper in own})

    def form_of(self, system: str, form: str) -> str:
        """The form that the system's reviews of these papers name; people's where they name that or none."""
        own = self._systems[system]
        names = {own[paper].form for paper, on in self._rated() if on == form and paper in own}
        names.discard(NO_FORM)
        return form if form in names or not names else sorted(names)[0]

    def repeated(self, system: str) -> int:
        """Reviews left out because the system had reviewed the paper before."""
        return self._repeated.get(system, 0)

    def engagement(self, system: str, backend: str, *, seed: int) -> Iterator[Engagement]:
        """P(+|+) and P(+|-) by each reading of "people engage", over the papers with human reviews, by conference."""
        rows: list[tuple[str, str, list[bool], bool]] = []
        for (paper, form), people in sorted(self._people.items()):
            given = self._systems[system].get(paper)
            if given is not None and given.engages is not None and people.engages:
                rows.append((conference_of(form), paper, people.engages, given.engages))
        conferences = sorted({row[0] for row in rows})
        for conference in [*conferences, ""] if len(conferences) > 1 else conferences:
            own = {paper: (human, generated) for at, paper, human, generated in rows if conference in (at, "")}
            for unit in _UNITS:
                yield _engagement(system, conference, unit, backend, own, seed)

    def consistency(self, *, seed: int) -> Iterator[Consistency]:
        """How far two configurations of one source rate the same papers alike, by conference, year and form."""
        for first, second in combinations(self.systems, 2):
            if self._source[first] == self._source[second]:
                yield from self._consistency(first, second, seed)

    def _consistency(self, first: str, second: str, seed: int) -> Iterator[Consistency]:
        ours, theirs = self._systems[first], self._systems[second]
        blank = Consistency(
            source=self._source[first],
            first=first,
            second=second,
            conference="",
            year=None,
            form="",
            papers=0,
            alpha=None,
            low=None,
            high=None,
        )
        rated: list[TwiceRated] = []
        lacking: Counter[tuple[str, int | None, str]] = Counter()
        other_form = 0
        for paper in sorted(ours.keys() & theirs.keys()):
            one, other = ours[paper], theirs[paper]
            place = (conference_of(one.form), one.year if one.year is not None else other.year, one.form)
            if one.form != other.form:
                other_form += 1
            elif one.rating is None or other.rating is None:
                lacking[place] += 1
            else:
                conference, year, form = place
                rated.append(TwiceRated(paper, form, (one.rating, other.rating), conference, year))
        for panel in self_consistency(rated, seed=seed):
            yield blank.model_copy(
                update={
                    "conference": panel.conference,
                    "year": panel.year,
                    "form": panel.form,
                    "mean_of": panel.mean_of,
                    "papers": panel.papers,
                    "without_rating": 0
                    if panel.mean_of
                    else lacking.pop((panel.conference, panel.year, panel.form), 0),
                    "alpha": panel.alpha.mean,
                    "low": panel.alpha.low,
                    "high": panel.alpha.high,
                    "reason": panel.reason,
                }
            )
        for (conference, year, form), count in sorted(lacking.items(), key=str):
            place_of = {"conference": conference, "year": year, "form": form}
            yield blank.model_copy(update={**place_of, "without_rating": count, "reason": NO_RATING})
        if other_form:
            yield blank.model_copy(update={"papers": other_form, "reason": TWO_FORMS})
        elif not ours.keys() & theirs.keys():
            yield blank.model_copy(update={"reason": NO_COMMON})

    def _rated(self) -> Mapping[_Key, _People]:
        return {**self._listed, **self._people} if self._listed else self._people

    def _listed_by(self, case: ReviewCase, form: str) -> None:
        raw = case.extra.get(LISTED)
        if isinstance(raw, list) and (case.paper_id, form) not in self._listed:
            numbers = [number for one in raw if (number := leading_number(one)) is not None]
            self._listed[case.paper_id, form] = _People(year_of(case), numbers)


def _engagement(
    system: str,
    conference: str,
    unit: Unit,
    backend: str,
    papers: Mapping[str, tuple[Sequence[bool], bool]],
    seed: int,
) -> Engagement:
    human, generated = zip(*papers.values(), strict=True)
    found = conditional_engagement(human, generated, unit)
    ends: dict[str, float | None] = {}
    for name, state in (("given_positive", True), ("given_negative", False)):
        verdicts = {
            paper: [float(other) for own, other in engagement_units(*both, unit) if own is state]
            for paper, both in papers.items()
        }
        interval = bootstrap_interval({paper: values for paper, values in verdicts.items() if values}, seed=seed)
        ends |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return Engagement(system=system, conference=conference, unit=unit, backend=backend, **found._asdict(), **ends)


@dataclass(frozen=True, slots=True)
class Scales:
    """How ratings are put side by side.

    Attributes:
        of: The scale of a form, by name.
        rated_on: The form that systems rated on, where the data do not say; empty else.
        across: Whether ratings of two scales may be compared, by rank within each.
        wrong: Forms that people's numbers are not of.
    """

    of: Mapping[tuple[str, What], Scale | None]
    rated_on: str = ""
    across: bool = False
    wrong: frozenset[tuple[str, What]] = frozenset()


def agreements(book: PanelBook, scales: Scales, *, seed: int) -> Iterator[Agreement]:
    """Each system's ratings and confidences beside people's, form by form."""
    for system in book.systems:
        for form in book.forms(system):
            for what in WHATS:
                rows = book.rows(system, what, form)
                if any(row.human for row in rows) and any(row.predicted is not None for row in rows):
                    yield _agreement(book, system, what, form, rows, scales, seed)


def alphas(book: PanelBook, scales: Scales, *, seed: int, weighting: Weighting = "ratings") -> Iterator[Alpha]:
    """Krippendorff's alpha with and without each system, by conference and year and as a mean over years."""
    for system in book.systems:
        native: list[RatedPaper] = []
        ranked: list[RatedPaper] = []
        for form in book.forms(system):
            rows, (sides, refusal) = book.rows(system, "rating", form), _sides(book, system, "rating", form, scales)
            if sides is None or refusal:
                continue
            if sides[0].allowed == sides[1].allowed and not _off(rows, sides[1]):
                native += rows
            else:
                ranked += _ranks(rows, *sides)
        for kind, papers in (("native", native), ("ranks", ranked)):
            yield from _alphas(system, "native" if kind == "native" else "ranks", papers, seed, weighting)


def _agreement(
    book: PanelBook, system: str, what: What, form: str, rows: list[RatedPaper], scales: Scales, seed: int
) -> Agreement:
    sides, refusal = _sides(book, system, what, form, scales)
    blank = Agreement(system=system, what=what, form=form, repeated=book.repeated(system), reason=refusal)
    if sides is None:
        return blank
    ours, theirs = sides
    predicted = [row.predicted for row in rows if row.predicted is not None]
    human = [value for row in rows for value in row.human]
    blank = blank.model_copy(
        update={
            "other_form": theirs.form if theirs.form != form else "",
            "papers": sum(bool(row.human) and row.predicted is not None for row in rows),
            "without_human": sum(not row.human for row in rows),
            "without_rating": sum(row.predicted is None for row in rows),
            "off_scale_share": outside_share(ours, predicted) if ours.known else None,
            "human_off_scale_share": outside_share(ours, human) if ours.known else None,
        }
    )
    if refusal:
        return blank
    if ours.allowed == theirs.allowed and not _off(rows, ours):
        return blank.model_copy(update=_beside(rows, ours, seed))
    ranks = _ranks(rows, ours, theirs)
    binned = compare_scales((ours, human), (theirs, predicted), RANK_BINS).distances
    return blank.model_copy(update={"scale": "ranks", **_difference(ranks, seed), **_apart(binned)})


def _sides(
    book: PanelBook, system: str, what: What, form: str, scales: Scales
) -> tuple[tuple[Scale, Scale] | None, str]:
    """People's scale and the system's, and why the two are not compared; empty where they are."""
    ours = scales.of.get((form, what))
    other = scales.rated_on or book.form_of(system, form)
    theirs = ours if other == form else scales.of.get((other, what))
    if ours is None or theirs is None:
        return None, NO_SCALE
    if (form, what) in scales.wrong:
        return (ours, theirs), WRONG_FORM
    if scales.across:
        return (ours, theirs), ""
    if ours.allowed != theirs.allowed:
        return (ours, theirs), f"people rated on {ours.form!r}, the system on {theirs.form!r}; see --compare-scales"
    try:
        check_scale(ours, [row.predicted for row in book.rows(system, what, form) if row.predicted is not None])
    except DataError as error:
        return (ours, theirs), f"{error.message} Compare by rank with --compare-scales."
    return (ours, theirs), ""


def _off(rows: Iterable[RatedPaper], scale: Scale) -> bool:
    """Whether so many predictions are off the scale that they must have been given on another."""
    try:
        check_scale(scale, [row.predicted for row in rows if row.predicted is not None])
    except DataError:
        return True
    return False


def _ranks(rows: Iterable[RatedPaper], ours: Scale, theirs: Scale) -> list[RatedPaper]:
    """Ratings as ranks within their forms; those beyond a form's ends are left out."""
    return [
        replace(
            row,
            human=tuple(rank for value in row.human if (rank := ours.rank(value)) is not None),
            predicted=None if row.predicted is None else theirs.rank(row.predicted),
        )
        for row in rows
    ]


def _beside(rows: list[RatedPaper], scale: Scale, seed: int) -> dict[str, object]:
    both = [row for row in rows if row.human and row.predicted is not None]
    if not both:
        return {"reason": NOBODY}
    human = histogram((scale, value) for row in both for value in row.human)
    given = histogram((scale, row.predicted) for row in both)
    return {**_difference(rows, seed), **_apart(apart(human, given).distances)}


def _difference(rows: list[RatedPaper], seed: int) -> dict[str, float | None]:
    found = from_median(rows, seed=seed)
    ends = found.mean
    return {"difference": ends.mean, "low": ends.low, "high": ends.high, "difference_median": found.median}


def _apart(far: Distances | None) -> dict[str, float | None]:
    if far is None:
        return {}
    return {"l1": far.l1, "total_variation": far.total_variation, "wasserstein_1": far.wasserstein_1}


def _alphas(
    system: str, scale: Literal["native", "ranks"], papers: list[RatedPaper], seed: int, weighting: Weighting
) -> Iterator[Alpha]:
    for panels in panel_alphas(papers, seed=seed, weighting=weighting) if papers else ():
        for year in panels.years:
            estimates = _ends(human=year.human, joined=year.joined, delta=year.delta)
            yield Alpha(
                system=system,
                conference=panels.conference,
                year=year.year,
                mean_of_years=False,
                papers=year.papers,
                weighting=weighting,
                scale=scale,
                reason=year.reason,
                **estimates,
            )
        if len(panels.years) > 1:
            skipped = "; ".join(f"{year} skipped: {why}" for year, why in panels.skipped.items())
            yield Alpha(
                system=system,
                conference=panels.conference,
                year=None,
                mean_of_years=True,
                papers=sum(year.papers for year in panels.years if not year.reason),
                weighting=weighting,
                scale=scale,
                reason=skipped,
                **_ends(human=panels.human, joined=panels.joined, delta=panels.delta),
            )


def _ends(**estimates: Interval) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, one in estimates.items():
        found |= {name: one.mean, f"{name}_low": one.low, f"{name}_high": one.high}
    return found
