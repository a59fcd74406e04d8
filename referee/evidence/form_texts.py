"""The texts of a form as points: of strategies that write the form itself, and of runs older than the list.

What a box says in paragraphs or items, and the quotations that came with it, become points; ``listing`` numbers them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from referee.evidence.point_fields import field_roles
from referee.evidence.sentences import split_sentences
from referee.evidence.stems import stems
from referee.schemas.point import PointEvidence, Polarity, Quotation, ReviewPoint
from referee.schemas.review import Evidence, Review
from referee.schemas.venue import FormField

_ITEM = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-*•–])\s+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,2}(?=\S)([^*\n]+?)(?<=\S)\*{1,2}")
_GAP = re.compile(r"\n\s*\n")
_REPEATED = re.compile(
    r"^\s*(?:Corrections, those of most weight first:|Read off the figures by eye, beside the text:)", re.MULTILINE
)
_HEADS: tuple[tuple[Polarity, re.Pattern[str]], ...] = (
    ("strength", re.compile(r"(?:main )?(?:strengths?|merits?|pros|strong points?)", re.IGNORECASE)),
    ("weakness", re.compile(r"(?:main )?(?:weakness(?:es)?|concerns?|cons|weak points?|limitations?)", re.IGNORECASE)),
    ("question", re.compile(r"questions?(?: (?:to|for) (?:the )?authors)?", re.IGNORECASE)),
)
_BOXES: tuple[tuple[str, Polarity], ...] = (
    ("strengths", "strength"),
    ("weaknesses", "weakness"),
    ("questions", "question"),
    ("remarks", "weakness"),
    ("changes", "weakness"),
)
_MIXED = frozenset({"both", "review", "other"})
_FAULT = re.compile(
    r"\b(?:no|not|nor|never|without|only|lacks?|lacking|missing|unclear|however|but|fails?|wrong|differs?|contradict\w*"
    r"|inconsisten\w*|limited|weak\w*|insufficient\w*|unsupported|overstat\w*|cannot)\b|n't\b",
    re.IGNORECASE,
)
_SAME = 0.5
"""A quotation's claim belongs to the item of its box that holds this share of its words."""
_LABEL = re.compile(r"[^.?!:;]{1,60}")
_LABEL_WORDS = 5


def lead(text: str) -> str:
    """What a text says before its first item or its list of corrections."""
    ends = [match.start() for pattern in (_ITEM, _REPEATED) if (match := pattern.search(text))]
    return text[: min(ends)].strip() if ends else text.strip()


def points_of_texts(
    review: Review, boxes: Mapping[str, FormField], texts: Mapping[str, str]
) -> tuple[dict[str, str], list[ReviewPoint], dict[str, str]]:
    """Boxes whose items became points, these points, and the point that took each piece of evidence over."""
    leads: dict[str, str] = {}
    points: list[ReviewPoint] = []
    for name, field in boxes.items():
        leads[name], items = _items(_REPEATED.split(texts[name])[0].strip(), field)
        points += (_point(f"t-{len(points) + n}", text, polarity, name) for n, (polarity, text) in enumerate(items, 1))
    taken: dict[str, str] = {}
    known = {point.id: point for point in points}
    for one in review.evidence:
        claim = set(stems(one.claim))
        own = [known[point.id] for point in points if point.field == one.field]
        shares = [(len(claim & set(stems(f"{p.claim} {p.argument}"))) / max(1, len(claim)), p) for p in own]
        share, same = max(shares, key=lambda item: item[0], default=(0.0, None))
        if same is None or share < _SAME:
            polarity = _polarity(boxes.get(one.field or "")) or ("weakness" if _FAULT.search(one.claim) else "strength")
            same = _point(one.id, one.claim, polarity, one.field if one.field in boxes else None)
        quotes = (*same.evidence, _as_evidence(one))
        known[same.id] = same.model_copy(update={"evidence": quotes})
        taken[one.id] = same.id
    return leads, list(known.values()), taken


def _items(text: str, field: FormField) -> tuple[str, list[tuple[Polarity, str]]]:
    """What stays the box's own text, and its items with what they are, by the box or by the headings inside it."""
    polarity, mixed = _polarity(field), not _MIXED.isdisjoint(field_roles(field))
    if polarity is None and not mixed:
        return text, []
    lead: list[str] = []
    items: list[tuple[Polarity, str]] = []
    current = polarity
    for part in _GAP.split(text):
        head, _, rest = part.strip().partition("\n")
        named, after = _named(head)
        if named is not None:
            current, part = named, "\n".join(filter(None, (after, rest)))
        if current is None:
            lead.append(part.strip())
        else:
            items += ((current, own) for own in _split(part) if own and not _is_label(own))
    return "\n\n".join(filter(None, lead)), items


def _named(line: str) -> tuple[Polarity | None, str]:
    """The kind of points that a heading announces, and what stands behind it on its line."""
    bare = line.strip().strip("#*_ ").strip()
    head, colon, after = bare.partition(":")
    for polarity, pattern in _HEADS:
        if pattern.fullmatch(head.strip("*_ ")) and (colon or bare != line.strip() or not after):
            return polarity, after.strip("*_ ")
    return None, ""


def _is_label(item: str) -> bool:
    """Whether an item is no statement but a title over others."""
    bare = item.strip("#*_ ")
    return _LABEL.fullmatch(bare) is not None and len(bare.split()) <= _LABEL_WORDS and bare != item


def _split(part: str) -> list[str]:
    """The items of a list, or the paragraph as one item."""
    starts = [match.start() for match in _ITEM.finditer(part)]
    if not starts:
        return [part.strip()]
    cuts = [0, *(s for s in starts if s), len(part)]
    return [_ITEM.sub("", part[a:b].strip(), count=1).strip() for a, b in pairwise(cuts)]


def _polarity(field: FormField | None) -> Polarity | None:
    roles = field_roles(field) if field is not None else frozenset()
    return next((polarity for role, polarity in _BOXES if role in roles), None)


def _point(id: str, text: str, polarity: Polarity, field: str | None) -> ReviewPoint:
    first, *rest = split_sentences(" ".join(_EMPHASIS.sub(r"\1", text).split())) or [""]
    return ReviewPoint(
        id=id,
        claim=first,
        argument=" ".join(rest),
        polarity=polarity,
        kind="clarity",
        severity="major",
        raised_severity="major",
        source="form",
        field=field,
        outcome="printed",
    )


def _as_evidence(one: Evidence) -> PointEvidence:
    return PointEvidence(**{name: getattr(one, name) for name in Quotation.model_fields})
