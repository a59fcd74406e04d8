"""Which scores a review stands behind: a score that nothing backs is null, with the reason.

Source: the null rules follow the evidence that freely given scores are compressed and lenient; the venue's file still
carries the model's option where the form demands one, and says that it was forced.

Confidence is no opinion of a model. It follows from what was seen: on a scale of five, 3 where all of the paper's text
was read, 2 where some of it was not; figures, and literature beyond abstracts, would be needed for more. Other
scales take the option at the same share of their length. Expertise stays open: a program has none to declare.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from referee.agents.form_reply import BY_RULE, Choice, StatedScore
from referee.evidence.point_fields import field_roles
from referee.evidence.points import is_live
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Evidence, Forced, ScoreRecord
from referee.schemas.venue import FormField, VenueForm


@dataclass(frozen=True)
class SettledScores:
    """What became of each score, and the values that only the form demands."""

    records: tuple[ScoreRecord, ...]
    forced: tuple[Forced, ...]


_WHOLE, _IN_PART = 2 / 4, 1 / 4


NO_QUOTATION = "no verified quotation of the paper supports it"
NO_POINT = "no point that stands supports it"


def settle_scores(
    form: VenueForm,
    stated: Mapping[str, StatedScore],
    standing: Iterable[str],
    paper: Paper,
    *,
    unbacked: str = NO_QUOTATION,
    whole: bool = True,
    literature: Literature | None = None,
) -> SettledScores:
    """Decide for each score field whether its stated value is backed.

    Args:
        form: The venue's form.
        stated: What the model says of each score field.
        standing: Ids of the evidence whose quotation is in the paper, or of the points that the review prints.
        paper: The submission; what could not be read of it makes some scores unbacked.
        unbacked: Why a score is null that names nothing that stands; empty where it stands without.
        whole: Whether all of the paper's text was shown to whoever judged it.
        literature: The works that whoever judged it was shown.
    """
    known = set(standing)
    records: list[ScoreRecord] = []
    forced: list[Forced] = []
    for field in (f for f in form.reviewer_fields if f.kind == "score"):
        if field.aspect in BY_RULE:
            records.append(_by_rule(field, paper, literature, whole=whole))
        elif (said := stated.get(field.name)) is not None:
            records.append(_record(field, said, known, paper, unbacked, literature))
            if records[-1].null_reason and said.value is not None and field.required is not False:
                forced.append(Forced(field=field.name, value=said.value, reason=records[-1].null_reason))
    return SettledScores(tuple(records), tuple(forced))


@dataclass(frozen=True)
class SettledChoices:
    """What was ticked, null where nothing backs it (then with the reason), and values that only the form demands."""

    values: dict[str, Choice | None]
    nulls: dict[str, str]
    forced: tuple[Forced, ...]


def settle_choices(
    form: VenueForm, ticked: Mapping[str, Choice], *, backed: bool, ethics_backed: bool
) -> SettledChoices:
    """Decide for each choice that judges the paper whether it is backed.

    A choice with an aspect, such as whether the claims are supported, is a score in words. It names no evidence of its
    own, so it stands where the review prints a point at all. A concern about ethics or integrity accuses, and stands
    only on evidence of its own; "none" needs no evidence, and is what the file for the form carries instead.

    Args:
        form: The venue's form.
        ticked: Per choice or checklist, what was ticked.
        backed: Whether any point is printed that a judgement can rest on.
        ethics_backed: Whether anything that stands, with a quotation of the paper, is about ethics.
    """
    nulls: dict[str, str] = {}
    forced: list[Forced] = []
    for field in form.reviewer_fields:
        value = ticked.get(field.name)
        reason, instead = _unbacked(field, value, backed, ethics_backed) if value else ("", None)
        if reason:
            nulls[field.name] = reason
        if reason and instead and field.required is not False:
            forced.append(Forced(field=field.name, value=instead, reason=reason))
    values: dict[str, Choice | None] = {name: None if name in nulls else value for name, value in ticked.items()}
    return SettledChoices(values, nulls, tuple(forced))


def evidence_on_ethics(form: VenueForm, evidence: Iterable[Evidence]) -> bool:
    """Whether any verified quotation was filed under a text box of the form for ethics; false where it has none."""
    boxes = {field.name for field in form.reviewer_fields if field.kind == "text" and "ethics" in field_roles(field)}
    return any(one.field in boxes for one in evidence)


def points_on_ethics(points: Iterable[ReviewPoint]) -> bool:
    """Whether a criticism about ethics stands that quotes the paper."""
    return any(is_live(p) and p.kind == "ethics" and p.polarity != "strength" and p.verified_quotes for p in points)


def _unbacked(field: FormField, value: Choice, backed: bool, ethics_backed: bool) -> tuple[str, Choice | None]:
    """Why what was ticked cannot stand, or nothing; then what the form's file may carry instead."""
    if field.kind in ("choice", "flag") and _ETHICS.search(f"{field.name} {field.title}"):
        none = [str(option.value) for option in field.options if option.exclusive or _NONE.match(str(option.value))]
        ticks = value if isinstance(value, list) else [value]
        if ethics_backed or all(tick in none for tick in ticks):
            return "", None
        return _NO_ETHICS, ([none[0]] if field.kind == "flag" else none[0]) if none else None
    if field.kind == "choice" and field.aspect not in (None, "other") and not backed:
        return _NOTHING, value
    return "", None


_ETHICS = re.compile(r"ethic|integrity|misconduct", re.IGNORECASE)
_NONE = re.compile(r"(?:no|none|n/a)\b", re.IGNORECASE)
_NO_ETHICS = "no point about ethics with a quotation of the paper stands behind it"
_NOTHING = "nothing was found in the paper that it could rest on"
_NO_WORK = "judged without earlier works: the search of the literature found none"
_NO_EXPERTISE = "a program has no expertise to declare"


def _record(
    field: FormField,
    said: StatedScore,
    known: Collection[str],
    paper: Paper,
    unbacked: str,
    literature: Literature | None,
) -> ScoreRecord:
    """What becomes of one score; only ids in ``known`` count."""
    supported, opposed = (
        tuple(name for name in dict.fromkeys(ids) if name in known) for ids in (said.supports, said.opposes)
    )
    limit = _limit(field, paper, literature)
    why_null = _unreadable(field, paper) or ("" if supported else unbacked)
    if limit and field.required is False and not _is_informed(field, literature):
        why_null = why_null or limit
    if said.value is None:
        why_null = f"left open: {said.reason}"
    return ScoreRecord(
        field=field.name,
        stated=said.value,
        value=None if why_null else said.value,
        reason=said.reason,
        supported_by=supported,
        opposed_by=opposed,
        null_reason=why_null,
        limit="" if why_null else limit,
    )


def _by_rule(field: FormField, paper: Paper, literature: Literature | None, *, whole: bool) -> ScoreRecord:
    """Confidence from what was seen; expertise is left open."""
    if field.aspect == "expertise":
        return ScoreRecord(field=field.name, stated=None, value=None, null_reason=_NO_EXPERTISE)
    seen_whole = whole and not _lost_much(paper)
    options = sorted(float(option.value) for option in field.options)
    value = options[int((_WHOLE if seen_whole else _IN_PART) * (len(options) - 1))]
    read = "all of the paper's text was read" if seen_whole else "some of the paper's text was not read"
    seen = f"{NOT_LOOKED_AT}, " if _has_figures(paper) else ""
    reason = f"by rule: {read}, {seen}{_searched(literature)}"
    own = next(option.value for option in field.options if float(option.value) == value)
    assert not isinstance(own, str), "a score field holds numbers"
    return ScoreRecord(field=field.name, stated=None, value=own, reason=reason)


NOT_SEARCHED = "no literature was searched"
WITHOUT_SEARCH = "judged without a search of the literature"


def after_search(record: ScoreRecord, literature: Literature) -> ScoreRecord:
    """A record of who judged without seeing the works that a search found, with that said in place of no search."""
    unseen = "judged without seeing the works that a search found"
    return record.model_copy(
        update={
            "reason": record.reason.replace(NOT_SEARCHED, _searched(literature)),
            "limit": record.limit.replace(WITHOUT_SEARCH, unseen),
            "null_reason": record.null_reason.replace(WITHOUT_SEARCH, unseen),
        }
    )


NOT_LOOKED_AT = "its figures were not looked at"
WITHOUT_FIGURES = "judged without the figures"


def after_figures(record: ScoreRecord, figures: FigureReading) -> ScoreRecord:
    """A record of who judged the text alone, with what was seen of the figures beside it."""
    if not figures.seen:
        return record
    looked_at = f"{len(figures.seen)} of its {figures.count} figures and doubtful tables were looked at as pictures"
    apart = "judged by the text: the figures were looked at in calls of their own"
    return record.model_copy(
        update={
            "reason": record.reason.replace(NOT_LOOKED_AT, looked_at),
            "limit": record.limit.replace(WITHOUT_FIGURES, apart),
            "null_reason": record.null_reason.replace(WITHOUT_FIGURES, apart),
        }
    )


def _searched(literature: Literature | None) -> str:
    if literature is None:
        return NOT_SEARCHED
    return f"a search of the literature found {len(literature.works)} work(s), of which the abstracts were read"


def _is_informed(field: FormField, literature: Literature | None) -> bool:
    """Whether a score of this field was given with earlier works in view."""
    return field.aspect == "novelty" and literature is not None and bool(literature.works)


def _limit(field: FormField, paper: Paper, literature: Literature | None) -> str:
    """What a score of this field does not take into account, in words; empty where there is no such limit."""
    if field.aspect == "novelty":
        if literature is None:
            return WITHOUT_SEARCH
        return f"in view of {len(literature.works)} works by their abstracts" if literature.works else _NO_WORK
    if field.aspect == "presentation" and _has_figures(paper):
        return WITHOUT_FIGURES
    return ""


def _unreadable(field: FormField, paper: Paper) -> str:
    """Why a program cannot judge this field of this paper, or nothing."""
    if field.aspect == "soundness" and _lost_much(paper):
        return "text of the paper was lost in reading the file"
    return ""


def _has_figures(paper: Paper) -> bool:
    return any(
        block.kind == "figure" or (block.kind == "caption" and (block.label or block.text).lower().startswith("fig"))
        for _, block in paper.blocks()
    )


def _lost_much(paper: Paper) -> bool:
    return any(f.kind in ("lost_text", "missing_page") and f.certainty != "low" for f in paper.findings)
