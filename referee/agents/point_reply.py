"""The shape of a reply that raises points, in full and lean, and the way from such a reply to points on the record.

Source: the point schema of the `sections` strategy; its bounds are enforced here, what a program must set is not asked
for. A reply that contradicts itself is completed by code and each completion is a note: nothing raised is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.briefing import Sentence
from referee.evidence.stems import STOPWORDS, WORD
from referee.schemas.point import (
    Absence,
    Checkable,
    EvidenceRole,
    Fix,
    PointEvidence,
    PointKind,
    PointSource,
    Polarity,
    ReviewPoint,
    Severity,
)

MAX_POINTS = 12
MAX_LEAN_POINTS = 3
LEAN_REPLY_TOKENS = 900
# Twelve points at the length that the bounds allow would be longer than some models may write; few are.
FULL_REPLY_TOKENS = 8_000

_CLOSED = ConfigDict(extra="ignore")
_LACK = re.compile(
    r"\b(?:lack(?:s|ing|ed)?|missing|omit(?:s|ted|ting)?|absent|absence of|nowhere|without (?:any|reporting|stating)"
    r"|no (?:mention|description|explanation|discussion|evidence|ablation|baseline|comparison|details?)"
    r"|(?:not|never) (?:report|state|describ|mention|provid|give|specif|discuss|compar|evaluat|includ|defin"
    r"|cite|explain|releas|justif)\w*)",
    re.IGNORECASE,
)
_FEWEST_TERMS, _MOST_TERMS = 2, 6


_Ids = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Choices:
    """What a reply may name: ids of the mapped guidelines, of the card's claims, and of sections (id to heading)."""

    criteria: tuple[str, ...]
    claims: tuple[str, ...]
    sections: Mapping[str, str]

    @property
    def ids(self) -> _Ids:
        """Those of criteria, claims and sections: what the shape of a reply depends on."""
        return self.criteria, self.claims, tuple(self.sections)


@dataclass(frozen=True)
class Origin:
    """Where points come from: ``part`` names them (``p-<part>-1``), ``prompt`` is the digest of prompt and schema."""

    source: PointSource
    part: str
    section_id: str | None
    call_id: str
    model: str
    prompt: str


def points_model(choices: Choices) -> type[BaseModel]:
    """The full reply: a list of points, which may be empty."""
    return _points_model(choices.ids)


@lru_cache(maxsize=64)
def _points_model(ids: _Ids) -> type[BaseModel]:
    return _reply("SectionPoints", _point_model(ids), MAX_POINTS)


@lru_cache(maxsize=64)
def lean_points_model(sentences: tuple[str, ...]) -> type[BaseModel]:
    """The short reply for small models; ``sentences`` are the ids by which it quotes."""
    shape: dict[str, Any] = {
        "claim": (str, Field(min_length=1, max_length=240, description="one defect or one merit, about this text")),
        "polarity": (Polarity, Field()),
        "kind": (PointKind, Field()),
    }
    if sentences:
        shape["sentence"] = (one_of(sentences), Field(description="the number of the sentence that shows it"))
    shape["refuted_by"] = (str, Field(max_length=160, description="what passage would make this point wrong"))
    shape["severity"] = (Severity, Field())
    return _reply("LeanPoints", create_model("LeanPoint", __config__=_CLOSED, **shape), MAX_LEAN_POINTS)


def cross_model(choices: Choices, point_ids: tuple[str, ...]) -> type[BaseModel]:
    """The cross-section reply: contradictions with quotations from two sections, and pairs of duplicate ids."""
    return _cross_model(choices.ids, point_ids)


@lru_cache(maxsize=64)
def _cross_model(ids: _Ids, point_ids: tuple[str, ...]) -> type[BaseModel]:
    point = _point_model(ids, ("contradiction",), fewest_quotes=2)
    shape: dict[str, Any] = {"points": (list_of(point), Field(max_length=MAX_POINTS))}
    if len(point_ids) > 1:
        pair = create_model(
            "Duplicate", __config__=_CLOSED, first=(one_of(point_ids), ...), second=(one_of(point_ids), ...)
        )
        about = "pairs of listed points that say the same of the same place"
        shape["duplicates"] = (list_of(pair), Field(max_length=2 * len(point_ids), description=about))
    return create_model("CrossPoints", __config__=_CLOSED, **shape)


def to_points(
    reply: BaseModel, origin: Origin, sections: Mapping[str, str], sentences: Mapping[str, Sentence] | None = None
) -> tuple[list[ReviewPoint], list[str]]:
    """Points from a reply, with ids and origin set; no quotation counts as found and no rule is applied yet.

    Args:
        reply: An instance of one of this file's models.
        origin: Where it comes from.
        sections: Section id to heading.
        sentences: What the ids of a lean reply stand for.

    Returns:
        The points in the reply's order, all of them, and a note for each thing that code completed or changed.
    """
    points: list[ReviewPoint] = []
    notes: list[str] = []
    for number, item in enumerate(reply.model_dump()["points"], start=1):
        point_id = f"p-{origin.part}-{number}"
        settled, said = _settled(_quoted(item, sentences or {}), origin)
        points.append(_point(point_id, settled, origin, sections))
        notes += [f"{point_id}: {note}" for note in said]
    return points, notes


def _reply(name: str, point: type[BaseModel], most: int) -> type[BaseModel]:
    shape: dict[str, Any] = {"points": (list_of(point), Field(max_length=most, description="may be empty"))}
    return create_model(name, __config__=_CLOSED, **shape)


def _point_model(ids: _Ids, kinds: tuple[str, ...] = get_args(PointKind), fewest_quotes: int = 0) -> type[BaseModel]:
    criteria, claims, sections = ids
    section = one_of(sections)
    quotation = create_model(
        "Quotation",
        __config__=_CLOSED,
        section_id=(section, Field()),
        quote=(str, Field(min_length=1, max_length=400, description="copied letter by letter, at most 60 words")),
        role=(EvidenceRole, Field()),
    )
    absence = create_model(
        "AbsenceClaim",
        __config__=_CLOSED,
        what=(str, Field(min_length=1, max_length=160, description="what is not there")),
        terms=(
            list_of(str),
            Field(min_length=_FEWEST_TERMS, max_length=_MOST_TERMS, description="words that would find it"),
        ),
        expected_in=(section, Field()),
    )
    remedies: Any = Literal["text", "analysis", "experiment", "citation", "none"]
    fix = create_model(
        "Remedy",
        __config__=_CLOSED,
        kind=(remedies, Field()),
        what=(str, Field(max_length=300, description="an experiment names data, comparison and measure")),
    )
    kind: Any = one_of(kinds)
    shape: dict[str, Any] = {
        "claim": (str, Field(min_length=1, max_length=300, description="one defect or one merit, no quotation inside")),
        "polarity": (Polarity, Field()),
        "kind": (kind, Field()),
        "evidence": (
            list_of(quotation),
            Field(min_length=fewest_quotes, max_length=4, description="1 to 4; none only where something is missing"),
        ),
        "absence": (absence | None, Field(description="filled where the claim says that something is not there")),
        "refuted_by": (str, Field(max_length=200, description="what passage, if present, would make this point wrong")),
    }
    if criteria:
        shape["criterion"] = (list_of(one_of(criteria)), Field(min_length=1, max_length=4))
    if claims:
        about = "the claim of the paper that falls if this is right, or null"
        shape["threatens"] = (one_of(claims) | None, Field(description=about))
    shape["severity"] = (Severity, Field())
    shape["checkable"] = (Checkable, Field(description="what would settle it"))
    shape["fix"] = (fix, Field())
    shape["confidence"] = (Literal["low", "medium", "high"], Field())
    return create_model("Point", __config__=_CLOSED, **shape)


def _quoted(item: dict[str, Any], sentences: Mapping[str, Sentence]) -> dict[str, Any]:
    """The item with its quotations: in a lean reply the sentence that its id stands for."""
    if "evidence" in item:
        return item
    found = sentences.get(item.get("sentence", ""))
    evidence = [{"section_id": found.section_id, "quote": found.text, "role": "shows"}] if found else []
    return {key: value for key, value in item.items() if key != "sentence"} | {"evidence": evidence}


def _settled(item: dict[str, Any], origin: Origin) -> tuple[dict[str, Any], list[str]]:
    """The item made consistent, and what was done to it."""
    notes = list(_settle_absence(item, origin))
    places = {quotation["section_id"] for quotation in item["evidence"]}
    if origin.source == "cross" and len(places) < 2:
        notes.append("its quotations are said to come from one section, not from two")
    if not item["evidence"] and item["kind"] != "missing":
        notes.append("it came without a quotation")
    return item, notes


def _settle_absence(item: dict[str, Any], origin: Origin) -> Iterator[str]:
    given = item.get("absence")
    if item["polarity"] == "strength":
        if given:
            item["absence"] = None
            yield "a merit claims no absence; that part of the reply was dropped"
        return
    if given:
        terms = _distinct(given["terms"])
        if len(terms) < _FEWEST_TERMS:
            terms = _distinct([*terms, *_terms(item)])[:_MOST_TERMS]
            yield "too few words to search for; code added words of the claim"
        item["absence"] = given | {"terms": terms}
    elif item["kind"] == "missing" or _LACK.search(item["claim"]):
        item["absence"] = {"what": item["claim"], "terms": _terms(item), "expected_in": origin.section_id or ""}
        yield "it claims an absence without saying how to search for it; code took the words from the claim"


def _terms(item: Mapping[str, Any]) -> list[str]:
    """Words that carry meaning, those of the refuting passage first: it says what would be found."""
    found = WORD.findall(f"{item['refuted_by']} {item['claim']}")
    telling = [word.casefold() for word in found if len(word) > 3 and word.casefold() not in STOPWORDS]
    return _distinct([word for word in telling if not _LACK.fullmatch(word)])[:_MOST_TERMS]


def _distinct(terms: list[str]) -> list[str]:
    return list(dict.fromkeys(term.strip() for term in terms if term.strip()))


def _point(point_id: str, item: dict[str, Any], origin: Origin, sections: Mapping[str, str]) -> ReviewPoint:
    evidence = tuple(
        PointEvidence(
            section=sections.get(quotation["section_id"], ""), status="not_found", similarity=0.0, **quotation
        )
        for quotation in item["evidence"]
    )
    optional = ("threatens", "checkable", "confidence")
    return ReviewPoint(
        id=point_id,
        claim=item["claim"],
        polarity=item["polarity"],
        kind=item["kind"],
        criterion=tuple(dict.fromkeys(item.get("criterion", ()))),
        severity=item["severity"],
        raised_severity=item["severity"],
        evidence=evidence,
        refuted_by=item["refuted_by"],
        absence=Absence.model_validate(item["absence"]) if item.get("absence") else None,
        fix=Fix.model_validate(item.get("fix", {"kind": "none"})),
        source=origin.source,
        section_id=origin.section_id,
        call_id=origin.call_id,
        model=origin.model,
        prompt=origin.prompt,
        **{key: item[key] for key in optional if key in item},
    )
