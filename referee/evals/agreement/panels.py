"""Whether a model joins the human panel: alpha of people alone, of people with the model, and the difference."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.stats import Interval, krippendorff_alpha
from referee.stats.agreement import AlphaTable, Weighting
from referee.stats.resamples import drawn_units
from referee.stats.values import Floats

RESAMPLES = 1000
NO_PAPERS = "no paper has both human ratings and a prediction"
NO_PAIRS = "no paper has two human ratings"
NO_VARIATION = "no_variation"


@dataclass(frozen=True, slots=True)
class Panel:
    """Agreement in one conference and year, over the papers that have both human ratings and the model's.

    ``human`` is alpha_H, ``joined`` alpha_{H+L}, ``delta`` the second less the first; None with a ``reason``.
    """

    conference: str
    year: int | None
    papers: int
    human: Interval
    joined: Interval
    delta: Interval
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of a conference and their unweighted mean over the years that have a value.

    ``skipped`` are the years without one, with the reason. ``left_out`` counts papers without a prediction.
    """

    conference: str
    years: tuple[Panel, ...]
    human: Interval
    joined: Interval
    delta: Interval
    skipped: Mapping[str, str]
    left_out: int
    resamples: int


def panel_alphas(
    papers: Iterable[RatedPaper],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    weighting: Weighting = "ratings",
) -> tuple[Panels, ...]:
    """alpha_H, alpha_{H+L} and their difference, by conference and year and as a mean over years.

    Papers without a prediction are left out of both. A paper with one human rating becomes pairable only with the
    model, so it is left out of both too: otherwise the two would be of different papers. Each alpha uses its own
    marginals. Intervals are percentiles of ``resamples`` resamples of papers, drawn within each year; resamples in
    which a year is undefined are left out. One paper alone has no interval.

    Args:
        papers: Rated papers; forms may differ between groups, not within one.
        seed: For the resamples.
        resamples: How many; 0 for no intervals.
        level: Coverage of the intervals.
        weighting: As ``krippendorff_alpha``; with ``pairs`` there are no intervals.

    Returns:
        One entry a conference, by name.

    Raises:
        EvaluationError: A conference and year has two forms, a prediction is on another scale, or a rating is not
            finite.

    Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing"; the intersection is ours.
    """
    groups: dict[str, dict[int | None, list[RatedPaper]]] = defaultdict(lambda: defaultdict(list))
    for paper in papers:
        groups[paper.conference or paper.form][paper.year].append(same_scale(paper))
    how = _How(seed, resamples if weighting == "ratings" else 0, level, weighting)
    return tuple(_panels(name, groups[name], how) for name in sorted(groups))


@dataclass(frozen=True, slots=True)
class TwiceRated:
    """A paper that one model rated twice on one form (by two prompts, in two runs)."""

    paper_id: str
    form: str
    ratings: tuple[float, float]
    conference: str = ""
    year: int | None = None


@dataclass(frozen=True, slots=True)
class ConsistencyPanel:
    """Alpha between a model's two ratings in one conference, year and form.

    ``mean_of`` is 0 there; else the row is the unweighted mean over so many panels of the conference, and ``form`` is
    empty. ``alpha`` is None with a ``reason``.
    """

    conference: str
    year: int | None
    form: str
    papers: int
    alpha: Interval
    mean_of: int = 0
    reason: str = ""


def self_consistency(
    papers: Iterable[TwiceRated],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Iterator[ConsistencyPanel]:
    """Alpha between a model's two ratings of the same papers, by conference, year and form.

    Ratings of several conferences or scales are never pooled: values of two scales lie far apart, so that papers seem
    to differ and random ratings to agree. A conference with several panels that have a value has the unweighted mean
    over them as well. Intervals are percentiles of resamples of papers within each panel; one paper has none.
    """
    panels: dict[str, dict[tuple[int | None, str], list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for paper in sorted(papers, key=lambda one: one.paper_id):
        panels[paper.conference or paper.form][paper.year, paper.form].append(paper.ratings)
    for conference, parts in sorted(panels.items()):
        valued: list[tuple[ConsistencyPanel, Floats]] = []
        for (year, form), units in sorted(parts.items(), key=lambda part: (part[0][0] is None, *map(str, part[0]))):
            rng = np.random.default_rng([seed, year or 0])
            drawn = _drawn([(unit, None) for unit in units], rng, resamples)[:, 0]
            own = drawn if len(units) > 1 else drawn[:0]
            alpha = _estimate(krippendorff_alpha(units), own, level, len(units))
            reason = NO_VARIATION if alpha.mean is None else ""
            panel = ConsistencyPanel(conference, year, form, len(units), alpha, reason=reason)
            valued += [] if reason else [(panel, drawn)]
            yield panel
        if len(valued) > 1:
            means = np.mean([drawn for _, drawn in valued], axis=0)
            own = means if any(panel.papers > 1 for panel, _ in valued) else means[:0]
            count = sum(panel.papers for panel, _ in valued)
            mean = _estimate(_mean([panel.alpha.mean for panel, _ in valued]), own, level, count)
            yield ConsistencyPanel(conference, None, "", count, mean, mean_of=len(valued))


@dataclass(frozen=True, slots=True)
class _How:
    seed: int
    resamples: int
    level: float
    weighting: Weighting


def _panels(conference: str, by_year: Mapping[int | None, Sequence[RatedPaper]], how: _How) -> Panels:
    panels, draws = [], []
    for year in sorted(by_year, key=lambda y: (y is None, y or 0)):
        _refuse_two_forms(conference, year, by_year[year])
        panel, drawn = _panel(conference, year, by_year[year], how, np.random.default_rng([how.seed, year or 0]))
        panels.append(panel)
        if not panel.reason:
            draws.append(drawn)
    valued = [p for p in panels if not p.reason]
    means = np.mean(draws, axis=0) if any(p.papers > 1 for p in valued) else np.zeros((0, 3))
    human, joined, delta = (
        _estimate(_mean([e.mean for e in column]), means[:, i], how.level, sum(p.papers for p in valued))
        for i, column in enumerate(([p.human for p in valued], [p.joined for p in valued], [p.delta for p in valued]))
    )
    return Panels(
        conference=conference,
        years=tuple(panels),
        human=human,
        joined=joined,
        delta=delta,
        skipped={str(p.year) if p.year is not None else "no year": p.reason for p in panels if p.reason},
        left_out=sum(p.predicted is None for papers in by_year.values() for p in papers),
        resamples=how.resamples,
    )


def _panel(
    conference: str, year: int | None, papers: Sequence[RatedPaper], how: _How, rng: np.random.Generator
) -> tuple[Panel, Floats]:
    both = [p for p in papers if p.predicted is not None and p.human]
    pairable = [(tuple(sorted(p.human)), p.predicted) for p in both if len(p.human) > 1]
    human = krippendorff_alpha([h for h, _ in pairable], weighting=how.weighting)
    joined = krippendorff_alpha([(*h, m) for h, m in pairable], weighting=how.weighting)
    drawn = _drawn(pairable, rng, how.resamples)
    own = drawn if len(pairable) > 1 else drawn[:0]  # one paper drawn again and again says nothing of the spread
    delta = joined - human if human is not None and joined is not None else None
    reason = "" if delta is not None else NO_PAPERS if not both else NO_PAIRS if not pairable else NO_VARIATION
    panel = Panel(
        conference=conference,
        year=year,
        papers=len(pairable),
        human=_estimate(human, own[:, 0], how.level, len(pairable)),
        joined=_estimate(joined, own[:, 1], how.level, len(pairable)),
        delta=_estimate(delta, own[:, 2], how.level, len(pairable)),
        reason=reason,
    )
    return panel, drawn


def _refuse_two_forms(conference: str, year: int | None, papers: Sequence[RatedPaper]) -> None:
    forms = sorted({paper.form for paper in papers})
    if len(forms) > 1:
        raise EvaluationError(
            f"{conference!r} {year or ''} has ratings on {len(forms)} forms: {', '.join(forms)}.",
            hint="Give each track a conference of its own.",
            ids={"venues": ", ".join(forms)},
        )


def _drawn(
    pairable: Sequence[tuple[tuple[float, ...], float | None]], rng: np.random.Generator, resamples: int
) -> Floats:
    """Resamples x (alpha of people, alpha with the model, difference); equal papers are drawn as one kind.

    Papers are drawn by what people gave them, and dealt to the model's ratings by a stream of its own: the alpha of
    people is that of the same draws whichever model stands beside them.
    """
    by_human: dict[tuple[float, ...], Counter[float | None]] = defaultdict(Counter)
    for human, model in pairable:
        by_human[human][model] += 1
    kinds = sorted(by_human)
    given = [sorted(by_human[human].items(), key=str) for human in kinds]
    people = AlphaTable(kinds)
    joined = AlphaTable(
        [
            human if model is None else (*human, model)
            for human, rows in zip(kinds, given, strict=True)
            for model, _ in rows
        ]
    )
    dealing, out = rng.spawn(1)[0], []
    for drawn in drawn_units([by_human[human].total() for human in kinds], resamples, rng):
        dealt = [_dealt(drawn[:, at], [count for _, count in rows], dealing) for at, rows in enumerate(given)]
        alone, together = people.alphas(drawn), joined.alphas(np.concatenate(dealt, axis=1))
        out.append(np.stack([alone, together, together - alone], axis=1))
    return np.concatenate(out) if out else np.zeros((0, 3))


def _dealt(drawn: Floats, copies: Sequence[int], rng: np.random.Generator) -> Floats:
    """Resamples x ratings of the model: the draws of one kind of paper, by what the model gave those papers."""
    shares = np.array(copies) / sum(copies)
    return rng.multinomial(drawn.astype(np.int64), shares).astype(np.float64)


def _estimate(value: float | None, drawn: Floats, level: float, papers: int) -> Interval:
    defined = drawn[~np.isnan(drawn)]
    if value is None or len(defined) < 2:
        return Interval(value, None, None, papers, papers)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), papers, papers)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
