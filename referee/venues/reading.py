"""What a model read from a guideline page, held against the page: only what its own words bear out is kept.

Boxes keep the words that name them; a value of a scale must stand beside its label, or inside a range that the page
prints; the rule on language models needs a sentence of the page. What is not found is put aside, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from referee.schemas.venue import Fact, LlmPolicy, LlmPolicyStatus
from referee.venues.compiled import policy_sentence
from referee.venues.page import GuidelinePage, trace
from referee.venues.page.form import is_no_box, name_fields
from referee.venues.page.page_types import Dropped, FieldDraft
from referee.venues.scales import Box, ReadScale, checked_scale, page_places

_STEERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules?|prompts?|guidelines)\b"
    r"|\b(?:obey|follow)\b.{0,30}\bthis page\b"
    r"|\b(?:give|assign|award|rate|score|recommend|accept)\b.{0,40}"
    r"\b(?:every|all|any|this|each)\b.{0,40}\b(?:highest|maximum|top|perfect|full|best|accept(?:ed|ance)?|10|5)\b"
    r"|\b(?:language models?|LLMs?|AI (?:assistants?|systems?|models?)|assistants?|chatbots?)\b.{0,60}"
    r"\b(?:must|should|shall|have to|are to)\b.{0,40}\b(?:accept|output|print|answer|reply|give|write|obey|ignore)\b",
    re.IGNORECASE,
)
_LONGEST_TITLE = 7
# A second box below a heading is named after its first one.
_SECOND = ("text", "details", "comments", "explanation", "justification")


@dataclass(frozen=True)
class SettledReading:
    """What stands after the words were looked up. ``put_aside`` are boxes and rules that the page does not bear out."""

    drafts: tuple[FieldDraft, ...]
    policy: tuple[LlmPolicyStatus, tuple[str, ...]] | None
    unknown: tuple[str, ...]
    put_aside: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()


def settle_reading(readings: Sequence[Mapping[str, Any]], page: GuidelinePage) -> SettledReading:
    """Look up the words of each box, scale, rule and announcement, in the order of the page's pieces.

    Args:
        readings: Replies of the shape ``page_reader.reading_model``, as plain data.
        page: The whole page.
    """
    aside: list[Dropped] = []
    notes: list[str] = []
    drafts: list[FieldDraft] = []
    boxes = [box for reading in readings for box in _traced_boxes(reading["boxes"], page, aside)]
    for box, region in zip(boxes, page_places([box.words for box in boxes], page), strict=True):
        scale = checked_scale(box, region, page)
        aside += scale.put_aside
        notes += scale.notes
        drafts.append(_draft(box, scale, page))
    unknown = [_announced(item, page, aside) for reading in readings for item in reading["missing"]]
    unknown += _scaleless(drafts)
    return SettledReading(
        tuple(name_fields(_one_overall(_each_once(drafts), notes))),
        _policy([reading["policy"] for reading in readings], page, aside),
        tuple(dict.fromkeys(filter(None, unknown))),
        tuple(aside),
        tuple(notes),
    )


def policy_of(settled: SettledReading, by_code: LlmPolicy, fact: Fact) -> LlmPolicy:
    """The rule as the model read it, quoted; code's where the model saw none or its words are not on the page."""
    if settled.policy is None:
        return by_code
    status, quotes = settled.policy
    note = "status read by the model from the quoted sentences: compare them with the page"
    if by_code.status not in ("unknown", status):
        note += f"; a rule reads it as {by_code.status}"
    return LlmPolicy(
        status=status,
        sentence=policy_sentence(quotes),
        applies_to="reviewers",
        fact=fact.model_copy(update={"note": note}),
    )


def steers(words: str) -> bool:
    """Whether words tell a model, or everybody, what the verdict is to be: no criterion, whoever wrote them."""
    return bool(_STEERS.search(words))


def _traced_boxes(given: Iterable[Mapping[str, Any]], page: GuidelinePage, aside: list[Dropped]) -> Iterable[Box]:
    for raw in given:
        words = trace(raw["words"], page) or trace(raw["title"], page)
        title = " ".join(raw["title"].split()).strip(" :*")
        if words is None:
            aside.append(Dropped(title or raw["words"], "a box whose words cannot be found on the page"))
        elif is_no_box(title):
            aside.append(Dropped(title, "a policy or a heading is no box"))
        else:
            yield Box(
                words=words,
                title=_title(title, words, page),
                kind=raw["kind"],
                measures=raw["measures"],
                scale=raw["scale"],
                options=tuple((option["value"].strip(), option["label"].strip()) for option in raw["options"]),
                length=raw["length"],
                late=raw["late"] == "yes",
            )


def _title(title: str, words: str, page: GuidelinePage) -> str:
    """The title where the page has its words; else the first words of the box."""
    head, _, tail = title.partition(": ")
    if tail.casefold() in _SECOND and trace(head, page):
        return title
    own = set(re.findall(r"\w+", words.casefold()))
    if title and (trace(title, page) or set(re.findall(r"\w+", title.casefold())) <= own):
        return title
    return " ".join(re.split(r"[:.?!(]", words)[0].split()[:_LONGEST_TITLE])


def _draft(box: Box, scale: ReadScale, page: GuidelinePage) -> FieldDraft:
    length = trace(box.length, page) if box.length else None
    words = box.words if not length or length in box.words else f"{box.words} ({length})"
    kind = scale.kind if scale.options else "text"
    return FieldDraft(
        "", box.title, kind, scale.options, words, aspect=box.measures, stage="discussion" if box.late else "review"
    )


def _each_once(drafts: Iterable[FieldDraft]) -> list[FieldDraft]:
    """A box that two pieces show is one: same title and scale."""
    seen: dict[tuple[object, ...], FieldDraft] = {}
    for draft in drafts:
        seen.setdefault((draft.title.casefold(), draft.kind, tuple(one.value for one in draft.options)), draft)
    return list(seen.values())


def _one_overall(drafts: list[FieldDraft], notes: list[str]) -> list[FieldDraft]:
    """Of two boxes that the model calls overall neither is believed."""
    called = [draft.title for draft in drafts if draft.aspect == "overall" and draft.kind != "text"]
    if len(called) < 2:
        return drafts
    notes.append(f"the model called {' and '.join(called)} overall: neither is taken for it")
    return [replace(draft, aspect="other") if draft.aspect == "overall" else draft for draft in drafts]


def _scaleless(drafts: Iterable[FieldDraft]) -> list[str]:
    rated = [draft.title for draft in drafts if draft.kind == "text" and draft.aspect not in ("other", "contribution")]
    return [f"the scale of {title!r}: the page gives none, so it is a box for text" for title in rated]


def _announced(item: Mapping[str, Any], page: GuidelinePage, aside: list[Dropped]) -> str:
    words = trace(item["words"], page)
    if words is None:
        aside.append(Dropped(item["words"], "an announcement that cannot be found on the page"))
        return ""
    return f"{item['what'].strip().rstrip('.') or 'what the page announces'}: the page says “{words}”"


def _policy(
    given: Iterable[Mapping[str, Any]], page: GuidelinePage, aside: list[Dropped]
) -> tuple[LlmPolicyStatus, tuple[str, ...]] | None:
    """The first rule with a sentence that is on the page; two pieces with different rules are ``restricted``."""
    found: dict[LlmPolicyStatus, list[str]] = {}
    for raw in given:
        if raw["status"] == "unknown":
            continue
        quotes = [quote for words in raw["words"] if (quote := trace(words, page))]
        aside += [
            Dropped(words, "a rule on language models that cannot be found on the page")
            for words in raw["words"]
            if trace(words, page) is None
        ]
        if quotes:
            found.setdefault(raw["status"], []).extend(quotes)
    if not found:
        return None
    status = next(iter(found)) if len(found) == 1 else "restricted"
    return status, tuple(dict.fromkeys(quote for quotes in found.values() for quote in quotes))
