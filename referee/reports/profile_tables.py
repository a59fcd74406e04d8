"""The tables of a profile, part by part: groups, tests, ratings, systems beside people, coverage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from referee.data import rejected_text
from referee.evals.profile.result import Cell, Covered, ProfileResult
from referee.literature.checking import STATUSES
from referee.reports.page import Section
from referee.reports.tables import Table, console, estimate, interval, number, pvalue

MAIN = ("words", "mattr_100", "fre", "fkg", "xref", "citations", "mathematics", "rating", "weaknesses_per_strength")
_DIGITS = {"ttr": 3, "ttr_words": 3, "mattr_100": 3, "mathematics": 3, "citations": 3}
_MOST_PAIRS = 12
_CONSOLE_COLUMNS = 10
_WORDS = {"no_variation": "all ratings of these papers are equal: alpha is undefined"}


def lead(result: ProfileResult) -> str:
    """What the profile is of."""
    counts = (result.reviews, "review"), (result.papers, "paper"), (len(result.groups), "group")
    reviews, papers, groups = (f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    out = f"{reviews} of {papers} in {groups}"
    rejected = f"; {rejected_text(result.rejected_by)}" if result.rejected else ""
    return f"{out} by {', '.join(result.by)}{rejected}."


def facts(result: ProfileResult) -> dict[str, str]:
    """How the numbers came about."""
    return {
        **result.backends,
        "intervals": "95%, percentile bootstrap, papers drawn whole, 1,000 resamples",
        "tests": "rank tests, two-sided: reviews of one paper count as alike, and a paper of both groups is compared "
        "with itself (Mann-Whitney where every review is of another paper, exact for at most 8 a side without ties); "
        "Holm over all pairs and measures but variants; effect: rank-biserial",
    }


def sections(result: ProfileResult) -> Iterator[Section]:
    """Each part that has something to show."""
    yield Section("Groups", (_main(result),))
    text = "Mean over reviews [interval]; n used, n skipped with reasons."
    yield Section("Every measure", (text, *_all_cells(result)))
    if result.tests:
        text = (
            "Differences are of means, first less second. With many reviews nearly everything is significant: "
            "read the effect."
        )
        pairs = len({(test.first, test.second) for test in result.tests})
        if pairs > _MOST_PAIRS:
            text += f" The first {_MOST_PAIRS} of {pairs} pairs; comparisons.csv has all."
        yield Section("Differences between groups", (text, *_tests(result)))
    if any(sum(one.counts) or one.off_scale for one in result.shares):
        yield Section("Ratings and confidence", (_ratings(result),))
    if result.agreements or result.alphas or result.engagement:
        yield Section("Beside people", tuple(_beside(result)))
    if result.citations:
        text = "The rate is verified / (all - unresolved): what no service could be asked about says nothing."
        yield Section("Formal citations", (text, _cited(result)))
    if result.coverage:
        text = "Recall means little without what chance and an equal volume give; rules match words, not meaning."
        yield Section("Atomic items and coverage", (text, _coverage(result), _matched(result)))


def _main(result: ProfileResult) -> Table:
    by_group = {(cell.group, cell.measure): cell for cell in result.cells}
    shown = [name for name in MAIN if any(cell.measure == name and cell.n for cell in result.cells)]
    rows = [
        [size.group, f"{size.reviews:,}", f"{size.papers:,}", *(_value(by_group[size.group, name]) for name in shown)]
        for size in result.groups
    ]
    return Table("Means by group", ("group", "reviews", "papers", *shown), rows)


def _all_cells(result: ProfileResult) -> Iterator[Table]:
    columns = ("measure", "mean", "interval", "median", "n", "skipped", "why skipped")
    for size in result.groups:
        rows = [
            [
                cell.measure,
                _value(cell),
                interval(cell.low, cell.high, _DIGITS.get(cell.measure, 2)),
                number(cell.median, _DIGITS.get(cell.measure, 2)),
                f"{cell.n:,}",
                f"{cell.skipped:,}",
                _reasons(cell.reasons),
            ]
            for cell in result.cells
            if cell.group == size.group
        ]
        yield Table(size.group, columns, rows)


def _cited(result: ProfileResult) -> Table:
    columns = ("group", "reviews", "citations", *(status.replace("_", " ") for status in STATUSES), "rate")
    rows = [
        [
            one.group,
            f"{one.reviews:,}",
            f"{one.citations:,}",
            *(f"{getattr(one, status):,}" for status in STATUSES),
            number(one.rate, 3) or f"none: {one.reason}",
        ]
        for one in result.citations
    ]
    return Table("By group", columns, rows)


def _tests(result: ProfileResult) -> Iterator[Table]:
    columns = ("measure", "difference", "interval", "ratio", "effect", "U", "p", "p (Holm)", "n", "")
    pairs = dict.fromkeys((test.first, test.second) for test in result.tests)
    for first, second in list(pairs)[:_MOST_PAIRS]:
        rows = [
            [
                test.measure,
                number(test.difference, 3),
                interval(test.low, test.high, 3),
                number(test.ratio, 2),
                number(test.effect, 3),
                number(test.u, 1),
                pvalue(test.p),
                pvalue(test.p_holm),
                f"{test.n_first:,} + {test.n_second:,}",
                test.reason,
            ]
            for test in result.tests
            if (test.first, test.second) == (first, second)
        ]
        yield Table(f"{first} less {second}", columns, rows)


def console_lines(result: ProfileResult) -> list[str]:
    """The table of groups for a terminal, and how systems rate beside people."""
    beside = [
        Table(one.title, one.columns[:_CONSOLE_COLUMNS], [row[:_CONSOLE_COLUMNS] for row in one.rows])
        for one in _beside(result)
    ]
    return [line for table in (_main(result), *beside[:2]) for line in (*console(table), "")][:-1]


def _value(cell: Cell) -> str:
    """A mean; ``none`` where there is none."""
    return number(cell.mean, _DIGITS.get(cell.measure, 2)) or "none"


def _reasons(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {count:,}" for why, count in reasons.items())


def _ratings(result: ProfileResult) -> Table:
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


def _beside(result: ProfileResult) -> Iterator[Table]:
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


def _matched(result: ProfileResult) -> Table:
    columns = ("system", "of", "quantity", "ratio", "pairs", "no denominator", "mean difference", "median", "")
    return Table(
        "Numbers and lengths of items, generated beside human",
        columns,
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
