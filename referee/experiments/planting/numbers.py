"""Values and counts that no longer agree with the other place that states them: kinds ``number`` and ``size``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import pairwise

from referee.evidence.numerals import Numeral, find_numerals
from referee.evidence.rules.text_vs_table import is_change, same_number
from referee.evidence.stems import stem
from referee.experiments.planting.candidate import Anchor, Candidate, Conflict, Rejection, Site, edited, span
from referee.experiments.planting.direction import order_contradicted
from referee.experiments.planting.source import (
    EDITED,
    MOST_PLACES,
    Source,
    Value,
    content_stems,
    is_duplicate,
    is_headline,
    spread_over,
)
from referee.schemas.planted import PlantedKind

_PLAIN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_COUNTED = re.compile(
    r"^[\s-]*(?:[a-z-]+\s+){0,2}(?P<noun>quer(?:y|ies)|samples?|participants?|subjects?|patients?|images?|examples?"
    r"|items?|documents?|sentences?|pairs?|cells?|neurons?|mice|rats|animals?|trials?|sequences?|genes?|proteins?"
    r"|students?|people|individuals?|volunteers?|observations?|records?|papers?|reviews?|tokens?|questions?|groups?"
    r"|instances?|points|users?|annotations?|particles?|steps?|iterations?|resamples?|epochs?)\b",
    re.IGNORECASE,
)
_TEST = re.compile(r"(?:\b[pPnNtFrz]\s*(?:\(.{0,12}\))?\s*[<>=≤≥]\s*|[±]\s*|α\s*=\s*)$")
_LEVEL = re.compile(r"^\s*%?\s*(?:confidence|credible|CI\b|level)", re.IGNORECASE)
_LEVEL_BEFORE = re.compile(r"\b(?:from|to)\s+$")
_LEAST_COUNT = 100
_OF_NUMBERS, _GOES_ON = frozenset("0123456789.,"), re.compile(r"[\d.,]*\d")
_MOST_COMPARED = 50
_NO_PLACE = "the value occurs once"


def number_sites(source: Source) -> Iterator[Site | Rejection]:
    """Measured values of running text, each with the places that state the same value of the same subject."""
    return _sites(source, "number")


def size_sites(source: Source) -> Iterator[Site | Rejection]:
    """Counts of what was sampled, each with the places that state the same count."""
    return _sites(source, "size")


def _sites(source: Source, kind: PlantedKind) -> Iterator[Site | Rejection]:
    of_kind = [v for v in source.values if v.passage.block.kind in EDITED and _is_of(kind, v)]
    for value in spread_over(of_kind, MOST_PLACES + 2):
        digits = _PLAIN.search(value.entry.text)
        if digits is None:
            continue
        anchors = tuple(_partners(source, value, kind))
        if not anchors:
            yield Rejection(kind, _NO_PLACE, f"{value.entry.text}: {value.passage.text}")
            continue
        lead = value.start - value.passage.start + digits.start()
        place = span(value.passage, lead, lead + len(digits.group()))
        examine = partial(_examine, source, value, kind, anchors)
        proposals = tuple((text,) for text in _proposals(kind, digits.group(), source))
        yield Site(kind, (place,), proposals, lambda after, e=examine: e(after[0]), tuple(a for a, _ in anchors))  # type: ignore[misc]


def _is_of(kind: PlantedKind, value: Value) -> bool:
    entry, before, after = value.entry, *_around(value)
    if entry.spread or entry.bound in ("<", ">") or _TEST.search(before) or _LEVEL.match(after):
        return False
    if re.search(r"[a-zA-Z^×·]\d|\d\s*[×x·^]\s*\d|10\s*\^|e-?\d", entry.text):
        return False
    if kind == "size":
        return (
            not entry.unit and not entry.decimals and entry.value >= _LEAST_COUNT and _COUNTED.match(after) is not None
        )
    if entry.symbol:  # a setting, which another panel or run may have otherwise
        return False
    # Round shares (100%) and whole factors (a lens of 63×) stand in many places for many things.
    measured = bool(entry.decimals) or (entry.unit in ("%", "ms") and entry.value % 10 != 0)
    level = _LEVEL_BEFORE.search(before) is not None and entry.unit != "pp"
    return measured and _digits(entry) >= 2 and (level or not is_change(value.passage.text, _local(value)))


def _around(value: Value) -> tuple[str, str]:
    at = value.start - value.passage.start
    return value.passage.text[:at], value.passage.text[at + value.end - value.start :]


def _local(value: Value) -> Numeral:
    """The numeral with offsets into its passage."""
    at = value.start - value.passage.start
    e = value.entry
    return Numeral(e.value, e.step, e.decimals, e.unit, e.bound, e.text, at, at + e.end - e.start)


def _digits(entry: Numeral) -> int:
    return len(re.sub(r"\D", "", entry.text).lstrip("0"))


def _partners(source: Source, value: Value, kind: PlantedKind) -> Iterator[tuple[Anchor, int]]:
    """Other places of the same value, with the offset of the numeral in each; one at least is surely its subject's."""
    places = spread_over(source.places_of(value.entry.value), _MOST_COMPARED)
    equal = [other for other in places if _is_equal(value, other)]
    if not any(_same_subject(value, other, kind) for other in equal):
        return
    for other in equal:
        if _same_subject(value, other, kind) or _may_be_subject(value, other, kind):
            at = other.start - other.passage.start
            yield Anchor(other.passage, f"{_place_of(other)} has {other.entry.text}"), at


def _is_equal(value: Value, other: Value) -> bool:
    a, b = value.entry, other.entry
    if other.passage.start == value.passage.start or b.spread or b.bound in ("<", ">"):
        return False
    if is_duplicate(value.passage.text, other.passage.text):
        return False
    return a.decimals == b.decimals and (a.unit == b.unit or (other.entry.source == "cell" and not (a.unit and b.unit)))


def _may_be_subject(value: Value, other: Value, kind: PlantedKind) -> bool:
    """Whether a value of running text shares a word near it: enough beside a sure place, or to fear an error there."""
    if kind == "size" or other.entry.source == "cell" or _digits(value.entry) < 3:
        return False
    return bool(content_stems(value.entry.subject) & content_stems(other.entry.subject))


def _place_of(value: Value) -> str:
    heads = ", ".join((*value.entry.row_head, *value.entry.column_head[-1:]))
    return f"{value.passage.where} ({heads})" if heads else value.passage.where


def _same_subject(value: Value, other: Value, kind: PlantedKind) -> bool:
    if other.entry.source == "cell":
        heads = content_stems(" ".join((*other.entry.row_head, *other.entry.column_head)))
        shared = heads & value.passage.stems
        named = _names(value.passage.text, other.entry.row_head)
        about = content_stems(f"{value.passage.block.text} {_caption(other)}")
        return named or (bool(shared) and bool(heads & about) and _digits(value.entry) >= 3)
    if kind == "size":
        nouns = [_COUNTED.match(_around(v)[1]) for v in (value, other)]
        same = all(nouns) and stem(nouns[0]["noun"]) == stem(nouns[1]["noun"])  # type: ignore[index]
        return bool(same) and (value.entry.value >= 1000 or len(value.passage.stems & other.passage.stems) >= 2)
    near = content_stems(value.entry.subject) & content_stems(other.entry.subject)
    shared = value.passage.stems & other.passage.stems
    return len(near) >= (2 if _digits(value.entry) >= 3 else 3) and len(shared) >= 3


def _names(text: str, head: tuple[str, ...]) -> bool:
    parts = [part for part in head if sum(char.isalpha() for char in part) > 2]
    return bool(parts) and all(
        re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", text, re.IGNORECASE) for part in parts
    )


def _caption(value: Value) -> str:
    blocks = value.passage.section.blocks
    at = next((i for i, block in enumerate(blocks) if block.id == value.passage.block.id), 0)
    return " ".join(block.text for block in blocks[max(0, at - 1) : at + 2] if block.kind == "caption")


def _proposals(kind: PlantedKind, digits: str, source: Source) -> list[str]:
    if kind == "size":
        return [*(_grouped(t, source) for t in _tens(digits)), *_swaps(digits)]
    # A shifted point would change the decimals, which checks refuse: equal digits are scaled instead.
    return list(_swaps(digits)) or list(_scaled(digits))


def _swaps(digits: str) -> Iterator[str]:
    """The number with two neighbouring unequal digits exchanged; a zero in front neither moves nor comes."""
    places = [i for i, char in enumerate(digits) if char.isdigit()]
    for i, j in pairwise(places):
        if digits[i] != digits[j] and not (i == places[0] and "0" in (digits[i], digits[j])):
            chars = list(digits)
            chars[i], chars[j] = chars[j], chars[i]
            yield "".join(chars)


def _scaled(digits: str) -> Iterator[str]:
    value, decimals = Decimal(digits.replace(",", "")), len(digits.partition(".")[2])
    for factor in ("1.3", "0.7", "1.5", "0.6", "1.2"):
        yield f"{value * Decimal(factor):.{decimals}f}"


def _tens(digits: str) -> Iterator[str]:
    whole = digits.replace(",", "")
    yield whole + "0"
    if whole.endswith("0") and len(whole) > 2:
        yield whole[:-1]


def _grouped(whole: str, source: Source) -> str:
    """A whole number with the separators that the paper uses for numbers of its length."""
    least = source.least_grouped
    return f"{int(whole):,}" if least is not None and len(whole) >= least else whole


def _examine(
    source: Source, value: Value, kind: PlantedKind, anchors: tuple[tuple[Anchor, int], ...], after: str
) -> Candidate | str:
    reason = _refusal(source, value, kind, after)
    if reason:
        return reason
    digits = _PLAIN.search(value.entry.text)
    assert digits is not None, "a site has digits"
    at = value.start - value.passage.start + digits.start()
    edits = edited((span(value.passage, at, at + len(digits.group())),), (after,))
    headline = is_headline(value.passage.section)
    table = any(anchor.passage.place == "cell" for anchor, _ in anchors)
    first = anchors[0][0]
    breaks = tuple(_also_breaks(source, value))
    return Candidate(
        kind=kind,
        subtype="value" if kind == "number" else "count",
        severity="H" if headline else "M" if table or is_headline(first.passage.section) else "L",
        anchor_class="A1",
        edits=edits,
        anchors=tuple(anchor for anchor, _ in anchors),
        conflict=_differs(at, tuple(offset for _, offset in anchors)),
        expected=value.entry.text,
        statement=(
            f"{value.passage.where} gives {value.entry.text.replace(digits.group(), after, 1)} where {first.says}."
        ),
        also_breaks=breaks,
    )


def _differs(at: int, offsets: tuple[int, ...]) -> Conflict:
    """The rule of both kinds: the number at this offset is none of those that the anchors hold."""

    def conflict(passages: tuple[str, ...], anchors: tuple[str, ...]) -> bool:
        own = _numeral_at(passages[0], at)
        others = [_numeral_at(text, offset) for text, offset in zip(anchors, offsets, strict=True)]
        return own is not None and all(other is not None and not same_number(own, other) for other in others)

    return conflict


def _numeral_at(text: str, at: int) -> Numeral | None:
    return next((n for n in find_numerals(text) if n.start <= at < n.end), None)


def _refusal(source: Source, value: Value, kind: PlantedKind, after: str) -> str:
    """Why a text cannot stand for a value; empty where it can."""
    entry = value.entry
    try:
        new = Decimal(after.replace(",", ""))
    except InvalidOperation:
        return "the replacement is no number"
    if new == abs(entry.value):
        return "V1: nothing changes"
    if kind == "number" and len(after.partition(".")[2]) != entry.decimals:
        return "V6: other decimals than the value's"
    others = [v for v in (*source.places_of(new), *source.places_of(-new)) if v.start != value.start]
    if any(_may_be_subject(value, other, kind) for other in spread_over(others, _MOST_COMPARED)):
        return "V3: the paper already says this of the same subject"
    if others or _stands_in(source.text, after):
        return "the new value equals another value of the paper" if kind == "number" else "equals another stated count"
    if abs(new - abs(entry.value)) <= entry.step:
        return "within half a unit of rounding"
    if not _in_range(entry, new):
        return "the new value leaves its range"
    if kind == "number" and not Decimal("0.25") <= new / abs(entry.value) <= 4:
        return "the new value is out of all proportion"
    if kind == "number" and order_contradicted(_with(value, after)):
        return "flips a direction word"
    return ""


def _stands_in(text: str, number: str) -> bool:
    """Whether a text has these digits as a number of their own. Found as a text first: that is fast in a long one."""
    at = text.find(number)
    while at >= 0:
        if text[at - 1 : at] not in _OF_NUMBERS and not _GOES_ON.match(text, at + len(number)):
            return True
        at = text.find(number, at + 1)
    return False


def _in_range(entry: Numeral, new: Decimal) -> bool:
    if entry.unit == "%" and abs(entry.value) <= 100:
        return new <= 100
    return new >= 1 or abs(entry.value) < 1


def _with(value: Value, after: str) -> str:
    at = value.start - value.passage.start
    text = value.passage.text
    return (
        text[:at]
        + _PLAIN.sub(after, text[at : at + value.end - value.start], count=1)
        + text[at + value.end - value.start :]
    )


def _also_breaks(source: Source, value: Value) -> Iterator[str]:
    """Differences stated in the sentence that followed from the value and another one of the paper."""

    def is_known(number: Decimal) -> bool:
        return any(v.start != value.start for v in source.places_of(number))

    for n in find_numerals(value.passage.text):
        stated = n.start != value.start - value.passage.start and n.unit in ("pp", "%") and n.value
        if stated and (is_known(value.entry.value - n.value) or is_known(value.entry.value + n.value)):
            yield n.text
