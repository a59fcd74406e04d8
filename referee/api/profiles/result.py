"""The measured of a pass, closed: every number of a profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.api.profiles.job import ProfileAsked
from referee.api.profiles.reading import ProfileValues
from referee.data.decisions import unclear_text
from referee.evals.agreement import Scale
from referee.evals.profile import groups
from referee.evals.profile.agreement import Scales, agreements, alphas
from referee.evals.profile.ratings import WHATS, What, form_scale
from referee.evals.profile.result import Cited, Decided, GroupSize, ProfileResult
from referee.literature.checking import STATUSES

TRENDS = ("words", "mattr_100", "fre", "xref", "strengths", "weaknesses")


def profile_result(
    measured: ProfileValues,
    asked: ProfileAsked,
    *,
    rejected: Mapping[str, int],
    backends: Mapping[str, str],
    notes: Sequence[str],
) -> ProfileResult:
    """Groups, tests, distributions, agreement and coverage.

    Args:
        measured: What was measured.
        asked: The choices.
        rejected: Rows that could not be used, by who wrote them.
        backends: What measured what.
        notes: What is worth knowing.
    """
    table, by, seed = measured.table, asked.grouping.by, asked.seed
    given_on = measured.ratings.scales()
    wrong = {(form, what): said for form, what, said in measured.ratings.wrong()}
    rated_on = asked.rated_on.id if asked.rated_on else ""
    scales = Scales(_scales(measured, asked), rated_on, asked.compare_scales, frozenset(wrong))
    beside = tuple(agreements(measured.panels, scales, seed=seed))
    sizes = tuple(groups.sizes(table, by, measured.xref_bins))
    trends = [name for name in TRENDS if name in table.names]
    return ProfileResult(
        reviews=len(table),
        papers=table.papers,
        rejected=sum(rejected.values()),
        rejected_by=dict(rejected),
        by=by,
        groups=sizes,
        cells=tuple(
            cell for group in groups.ordered(table) for cell in groups.cells(table, group, given_on, seed=seed)
        ),
        years=tuple(groups.trends(table, by, trends, seed=seed)),
        tests=tuple(groups.tests(table, measured.metrics, groups.pairs_of(table, by), given_on, seed=seed)),
        shares=tuple(measured.ratings.shares()),
        agreements=beside,
        alphas=tuple(alphas(measured.panels, scales, seed=seed, weighting=asked.weighting)),
        engagement=tuple(
            one
            for name in measured.panels.systems
            for one in measured.panels.engagement(name, backends["mathematics"], seed=seed)
        ),
        coverage=tuple(measured.coverage.coverage(seed=seed)),
        matched=tuple(measured.coverage.matched()),
        consistency=tuple(measured.panels.consistency(seed=seed)),
        decisions=tuple(_decisions(measured)),
        citations=tuple(cited(size, measured.citations) for size in sizes if size.group in measured.citations),
        spread=groups.spread(table, by),
        drawn=tuple(group.label for group in groups.shown(table, by)),
        backends=dict(backends),
        notes=(
            *notes,
            *(
                f"{said}: they stand in the tables of ratings, and nothing is compared by them"
                for said in wrong.values()
            ),
            *filter(None, [unclear_text(asked.grouping.unclear) if asked.grouping.unclear else ""]),
            *_unresolved(measured),
            *_warnings(measured),
            *dict.fromkeys(f"{one.system}: {one.reason.rstrip('.')}" for one in beside if one.reason),
        ),
    )


def _scales(measured: ProfileValues, asked: ProfileAsked) -> dict[tuple[str, What], Scale | None]:
    forms = {form for name in measured.panels.systems for form in measured.panels.forms(name)}
    forms |= {measured.panels.form_of(name, form) for name in measured.panels.systems for form in forms}
    found = {(form, what): measured.ratings.scale(form, what) for form in forms for what in WHATS}
    if asked.rated_on is not None:
        found |= {(asked.rated_on.id, what): form_scale(asked.rated_on, what) for what in WHATS}
    return found


def _decisions(measured: ProfileValues) -> Iterator[Decided]:
    for (venue, year, decision), counts in sorted(measured.decisions.items(), key=lambda one: str(one[0])):
        yield Decided(
            venue=venue,
            year=year,
            decision=decision,
            words="; ".join(
                f"{said}: {n:,}" for said, n in sorted(measured.decision_words[venue, year, decision].items())
            ),
            papers=counts["paper"],
            human_reviews=counts["human"],
            ai_reviews=counts["ai"],
        )


def cited(size: GroupSize, found: Mapping[str, Mapping[str, int]]) -> Cited:
    """A group's formal citations by status."""
    counts = found[size.group]
    total, unresolved = sum(counts.values()), counts.get("unresolved", 0)
    verified = counts.get("verified", 0)
    return Cited(
        group=size.group,
        reviews=size.reviews,
        citations=total,
        **{status: counts.get(status, 0) for status in STATUSES},
        rate=verified / (total - unresolved) if total > unresolved else None,
        reason="" if total > unresolved else "no citation could be looked up" if total else "no formal citation",
    )


def _unresolved(measured: ProfileValues) -> list[str]:
    """Why citations could not be looked up."""
    return [f"{count:,} citations could not be looked up: {why}" for why, count in measured.unresolved.most_common(5)]


def _warnings(measured: ProfileValues) -> list[str]:
    """Unknown forms, and ratings that no form offers."""
    said = [
        f"the form {form!r} is unknown: its ratings are kept as a free scale of the values that were seen"
        for form in measured.ratings.free
    ]
    for shares in measured.ratings.shares():
        if shares.off_scale and shares.what == "rating" and shares.off_scale_share is not None:
            values = ", ".join(f"{value} ({count:,})" for value, count in shares.off_scale.items())
            share = f"{shares.off_scale_share:.1%} of the ratings are no values of {shares.form!r}"
            said.append(f"{shares.group}: {share}: {values}")
    return said
