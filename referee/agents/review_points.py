"""A review as one list of points: the shape of the reply, built from the venue's form, and the points in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.form_reply import (
    FormValues,
    Lengths,
    asked_fields,
    field_shape,
    score_value,
    slugs_of,
    stated_scores,
    ticked_choices,
    whole_texts,
)
from referee.agents.point_reply import Origin
from referee.agents.point_texts import correction_line
from referee.evidence.listing import SHOULD_READ
from referee.schemas.computation import Program
from referee.schemas.paper import Paper
from referee.schemas.point import Absence, Correction, Fix, PointEvidence, PointKind, ReviewPoint, Severity
from referee.schemas.venue import VenueForm

Kind = Literal["weakness", "correction", "merit", "question"]
Weighs = Literal["decides", "material", "small"]
SEVERITY_OF: dict[str, Severity] = {"decides": "fatal", "material": "major", "small": "minor"}
PART = "S"
CLAIM_CHARS, WHERE_CHARS = 600, 80
ARGUMENT_CHARS, _SETTLE, _TERM = 2_000, 600, 60
_QUOTES, _TERMS = 4, 4
_CODE, _EXPECTS = 4_000, 40


_LENIENT = ConfigDict(extra="ignore")


@lru_cache(maxsize=8)
def point_model(quote_chars: int) -> type[BaseModel]:
    """The shape of a point, with quotations of at most so many characters."""
    quotation = create_model(
        "PointQuotation",
        __config__=_LENIENT,
        where=(str, Field(max_length=WHERE_CHARS, description="Section 4.2; Table 3; Abstract")),
        quote=(str, Field(min_length=1, max_length=quote_chars, description="copied letter by letter")),
    )
    term: Any = Annotated[str, Field(max_length=_TERM)]
    return create_model(
        "ListedPoint",
        __config__=_LENIENT,
        kind=(Kind, Field()),
        severity=(Weighs, Field()),
        topic=(one_of(get_args(PointKind)), Field()),
        claim=(str, Field(min_length=1, max_length=CLAIM_CHARS)),
        argument=(str, Field(max_length=ARGUMENT_CHARS)),
        evidence=(list_of(quotation), Field(max_length=_QUOTES)),
        absent=(list_of(term), Field(max_length=_TERMS)),
        should_be=(str, Field(max_length=quote_chars)),
        would_settle=(str, Field(max_length=_SETTLE)),
    )


@lru_cache(maxsize=64)
def review_model(form: VenueForm, lengths: Lengths) -> type[BaseModel]:
    """The shape of the reply for one form: points, texts that hold more than points, scores and choices."""
    point = point_model(lengths.quote)
    number: Any = Annotated[int, Field(ge=1, le=lengths.points)]
    shape: dict[str, Any] = {"points": (list_of(point), Field(max_length=lengths.points))}
    if lengths.programs:
        program = create_model(
            "PointProgram",
            __config__=_LENIENT,
            point=(number, Field(description="its place in `points`")),
            code=(str, Field(max_length=_CODE)),
            expects=(str, Field(max_length=_EXPECTS, description="11.8; > 0.05; True")),
            otherwise=(str, Field(max_length=CLAIM_CHARS)),
        )
        shape["computations"] = (list_of(program), Field(default_factory=list, max_length=lengths.programs))
    slugs = slugs_of(form)
    fields = asked_fields(form)
    for field in (f for f in fields if f.kind == "text"):
        limit = min(lengths.lead, field.max_chars or lengths.lead)
        about = f"{field.asks} Without what the points say."
        shape[slugs[field.name]] = (str, Field(max_length=limit, description=about))
    for field in sorted((f for f in fields if f.kind == "score"), key=lambda f: f.aspect == "overall"):
        score = create_model(
            "Score",
            __config__=_LENIENT,
            reason=(str, Field(max_length=lengths.reason)),
            points=(list_of(number), Field(max_length=lengths.cited, description="their places in `points`")),
            value=(score_value(field), Field()),
        )
        shape[slugs[field.name]] = (score, Field(description=field.asks))
    for field in (f for f in fields if f.kind not in ("text", "score")):
        shape[slugs[field.name]] = field_shape(field, lengths)
    return create_model("ReviewInPoints", __config__=_LENIENT, **shape)


def review_values(form: VenueForm, reply: BaseModel) -> tuple[FormValues, tuple[str, ...]]:
    """The values of a reply by the form's names, scores with the ids of their points, and what its bounds cut off."""
    data, slugs = reply.model_dump(), slugs_of(form)
    texts, notes = whole_texts(reply, {f.name: slugs[f.name] for f in asked_fields(form) if f.kind == "text"})
    for field in asked_fields(form):
        if field.kind == "score":
            data[slugs[field.name]]["supports"] = [f"p-{PART}-{number}" for number in data[slugs[field.name]]["points"]]
    return FormValues(texts=texts, scores=stated_scores(form, data), choices=ticked_choices(form, data)), notes


def review_points(items: Sequence[Mapping[str, Any]], paper: Paper, origin: Origin) -> Iterator[ReviewPoint]:
    """The points of a reply in its order; their quotations are still to be looked up."""
    for number, item in enumerate(items, start=1):
        evidence = tuple(_evidence(one, paper) for one in item["evidence"])
        claim, correction, settle = " ".join(item["claim"].split()), None, item["would_settle"].strip()
        if item["kind"] == "correction" and item["should_be"].strip() and evidence:
            correction = Correction(
                place=item["evidence"][0]["where"], printed=evidence[0].quote, should_be=item["should_be"], why=claim
            )
            claim = correction_line(correction)
        elif item["kind"] == "weakness" and item["should_be"].strip():
            settle = f"{settle} {SHOULD_READ}{item['should_be'].strip()}".strip()
        severity = SEVERITY_OF[item["severity"]] if correction is None else "minor"
        terms = tuple(dict.fromkeys(term.strip() for term in item["absent"] if term.strip()))
        yield ReviewPoint(
            id=f"p-{origin.part}-{number}",
            claim=claim,
            argument=item["argument"].strip(),
            correction=correction,
            polarity={"merit": "strength", "question": "question"}.get(item["kind"], "weakness"),
            kind=item["topic"],
            severity=severity,
            raised_severity=severity,
            evidence=evidence,
            absence=Absence(what=claim, terms=terms) if terms else None,
            fix=Fix(kind="text", what=settle) if settle else Fix(kind="none"),
            source=origin.source,
            call_id=origin.call_id,
            model=origin.model,
            prompt=origin.prompt,
        )


def _evidence(item: Mapping[str, str], paper: Paper) -> PointEvidence:
    section = _section_named(item["where"], paper)
    return PointEvidence(
        quote=item["quote"],
        status="not_found",
        similarity=0.0,
        section_id=section or "",
        section=item["where"],
    )


def programs_of(reply: BaseModel) -> list[Program]:
    """The programs of a reply, each under the id of its point; one without a point in the list is left out."""
    data = reply.model_dump()
    return [
        Program(
            id=f"p-{PART}-{item['point']}",
            code=item["code"],
            expects=item["expects"],
            otherwise=item["otherwise"].strip(),
        )
        for item in data.get("computations", ())
        if item["point"] <= len(data["points"])
    ]


_NUMBER = re.compile(r"\b(?:section|sec|appendix|app)\b\.?\s*§?\s*([A-Z0-9][\w.]*)", re.IGNORECASE)


def _section_named(where: str, paper: Paper) -> str | None:
    """The section that a place names by number or heading; None where it names none."""
    said = " ".join(where.casefold().split())
    number = _NUMBER.search(where)
    for section in paper.sections:
        heading = " ".join(section.heading.casefold().split())
        if number is not None and section.number and section.number.rstrip(".") == number[1].rstrip("."):
            return section.id
        if len(heading) > 3 and heading in said:
            return section.id
    return None
