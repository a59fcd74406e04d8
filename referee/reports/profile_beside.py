"""The tables of ratings, of systems beside people, and of coverage."""

from __future__ import annotations

from collections.abc import Iterator

from referee.evals.profile.result import Covered, ProfileResult
from referee.reports.profile_cells import Table, estimate, interval, number

_WORDS = {"no_variation": "all ratings of these papers are equal: alpha is undefined"}


def ratings_table(result: ProfileResult) -> Table:
    """How ratings and confidences are spread over the forms' values."""
    rows = []
    for one in result.shares:
        total = sum(one.counts)
        if not total and not one.off_scale:
            continue
        spread = ", ".join(
            f"{allowed:g}: {count / total:.1%}" if total else f"{allowed:g}: 0"
            for allowed, count in zip(one.allowed, one.counts, strict=True)
        )
        off = ", ".join(f"{name} ({count})" for name, count in one.off_scale.items())
        share = "" if one.off_scale_share is None else f"{one.off_scale_share:.1%}"
        form = one.form if one.known else f"{one.form} (free scale)"
        rows.append(
            [one.group, one.what, form, f"{total:,}", f"{one.missing:,}", number(one.mean, 2), spread, share, off]
        )
    columns = ("group", "what", "form", "on the form", "missing", "mean", "shares", "off scale", "values off scale")
    return Table("Shares of the values a form offers", columns, rows)


def beside_tables(result: ProfileResult) -> Iterator[Table]:
    """Systems beside people: ratings, alpha, mathematics; those that there are."""
    if result.agreements:
        yield _agreements(result)
    if result.alphas:
        yield _alphas(result)
    if result.engagement:
        yield _engagement(result)


def _agreements(result: ProfileResult) -> Table:
    columns = (
        *("system", "what", "form", "scale", "papers", "difference from the human median", "interval"),
        *("L1", "TV", "W1", "off scale", "repeated", ""),
    )
    return Table(
        "Ratings and confidences beside people's",
        columns,
        [
            [
                one.system,
                one.what,
                f"{one.form} | {one.other_form}" if one.other_form else one.form,
                one.scale,
                f"{one.papers:,}",
                number(one.difference, 3),
                interval(one.low, one.high, 3),
                number(one.l1, 3),
                number(one.total_variation, 3),
                number(one.wasserstein_1, 3),
                "" if one.off_scale_share is None else f"{one.off_scale_share:.1%}",
                f"{one.repeated:,}",
                one.reason,
            ]
            for one in result.agreements
        ],
    )


def _alphas(result: ProfileResult) -> Table:
    columns = ("system", "conference", "year", "scale", "papers", "alpha of people", "with the system", "delta", "")
    return Table(
        "Krippendorff's alpha, ordinal",
        columns,
        [
            [
                one.system,
                one.conference,
                "mean of years" if one.mean_of_years else str(one.year or "none"),
                one.scale if one.weighting == "ratings" else f"{one.scale}, printed variant",
                f"{one.papers:,}",
                estimate(one.human, one.human_low, one.human_high, 3),
                estimate(one.joined, one.joined_low, one.joined_high, 3),
                estimate(one.delta, one.delta_low, one.delta_high, 3),
                _WORDS.get(one.reason, one.reason),
            ]
            for one in result.alphas
        ],
    )


def _engagement(result: ProfileResult) -> Table:
    columns = ("system", "conference", "people engage", "P(+|+)", "n", "P(+|-)", "n", "backend")
    return Table(
        "Mathematical engagement given people's",
        columns,
        [
            [
                one.system,
                one.conference or "all",
                one.unit,
                estimate(one.given_positive, one.given_positive_low, one.given_positive_high, 3),
                f"{one.positive:,}",
                estimate(one.given_negative, one.given_negative_low, one.given_negative_high, 3),
                f"{one.negative:,}",
                one.backend,
            ]
            for one in result.engagement
        ],
    )


def coverage_tables(result: ProfileResult) -> Iterator[Table]:
    """Coverage of people's items, and how many and how long items are."""
    yield _coverage(result)
    counted = ("system", "of", "quantity", "ratio", "pairs", "no denominator", "mean difference", "median", "")
    yield Table(
        "Numbers and lengths of items, generated beside human",
        counted,
        [
            [
                one.system,
                one.split,
                one.quantity,
                number(one.ratio, 2),
                f"{one.pairs:,}",
                f"{one.zero_denominators:,}",
                number(one.difference, 2),
                number(one.difference_median, 2),
                one.reason,
            ]
            for one in result.matched
        ],
    )


def _coverage(result: ProfileResult) -> Table:
    """A row a measure: what it is, and beside it what chance and an equal volume come to."""
    columns = (
        "system",
        "of",
        "measure",
        "mean over pairs",
        "chance",
        "equal volume",
        "all together",
        "pairs",
        "skipped",
    )
    found = {(one.system, one.polarity, one.measure, one.kind): one for one in result.coverage}
    rows = []
    for one in result.coverage:
        if one.kind != "own":
            continue
        beside = [found.get((one.system, one.polarity, one.measure, kind)) for kind in ("chance", "volume", "micro")]
        cells = [_covered(each) if each is not None else "" for each in (one, *beside)]
        rows.append([one.system, one.polarity, one.measure, *cells, f"{one.pairs:,}", f"{one.skipped:,}"])
    return Table("Coverage of people's items", columns, rows)


def _covered(one: Covered) -> str:
    return estimate(one.value, one.low, one.high, 3) or f"none: {one.reason}"
