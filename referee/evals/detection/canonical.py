"""The text of a review as detectors read it: what its author wrote, and nothing that tells whose file it came from.

Generated reviews are JSON or lists with the form's names on them, human ones are not: left in, the layout alone would
tell the two apart, and every detector would look good. So both classes pass through the same rule, and the rule's name
stands beside every score.

Source: specification of "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in Peer Review" as
read here, section 1.1; the paper does not state its rule.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from referee.data.prose import canonical_text, cleaned, is_prose, on_ethics, plain_name
from referee.schemas.case import ReviewCase
from referee.schemas.foreign import Unreadable, json_value
from referee.schemas.venue import VenueForm

CANONICAL_RULE = "free-text/1"
"""Changed with the rule; scores of two rules are never compared."""

_LABEL = re.compile(r"[ \t>#*_\-+\d.()\"']*(?P<name>[A-Za-z][A-Za-z ,_&/-]{1,60}?)[ \t*_\"']*:?[ \t*_\"']*")
_SCORE = re.compile(
    r"[ \t>#*_\-+\"']*(?:(?:overall|technical|empirical|final|reviewer|review)[ _])*"
    r"(?:rating|score|recommendation|confidence|soundness|presentation|contribution|correctness|novelty|originality|"
    r"quality|clarity|significance|decision|assessment|excitement|reproducibility|evaluation)"
    r"[ \t*_\"']*[:=][ \t*_\"']*(?:-?\d[^\n]{0,160}|(?:strong |weak |borderline )?(?:accept|reject)\W*)",
    re.IGNORECASE,
)
_ON_ETHICS = re.compile(r"[ \t]*(?:#.*|\*.*|[^\n]*:[ \t*_]*)")
_MOST_NAME_WORDS = 4
_MARK = re.compile(r"[ \t>]*(?:[-*+•‣▪◦–—]|\(?\d{1,2}[.)])[ \t]+(?=\S)")
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Canonical:
    """A review's text for detectors, the rule that made it and the digest of the text, by which scores are kept."""

    text: str
    rule: str
    digest: str


def canonical_review(case: ReviewCase, form: VenueForm | None = None) -> Canonical:
    """The free texts of a review in the form's order, joined by a blank line, without the form's names and scores.

    NFC, plain line breaks, nothing around it. Text that is a JSON object is read as its fields. Items of a list become
    paragraphs without marks: most are put there in reading JSON, and those that people set themselves go with them.
    Lines that hold nothing but a field's name, or nothing but a score, go, whoever wrote them. A rule for one class
    only would itself tell the classes apart.

    Args:
        case: The review.
        form: The form it was written for, for the order of boxes that are put together anew.
    """
    held = _json_fields(case.text)
    fields: Mapping[str, object] = case.fields if held is None else held
    listed = held is not None or any(isinstance(value, list) for value in fields.values())
    text = canonical_text({name: _unmarked(value) for name, value in fields.items()}, form) if listed else case.text
    return of_text(text or ("" if held is not None else case.text), _names(form))


def of_text(text: str, names: frozenset[str] = frozenset()) -> Canonical:
    """The same of a text without fields, as a stored AI review of a paper.

    Args:
        text: The text.
        names: Plain names of boxes that count as names beside the customary ones.
    """
    kept = [_paragraph(line) for line in cleaned(text).split("\n") if not _is_layout(line, names)]
    plain = _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip()
    return Canonical(plain, CANONICAL_RULE, hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest())


def _is_layout(line: str, names: frozenset[str]) -> bool:
    if _SCORE.fullmatch(line):
        return True
    found = _LABEL.fullmatch(line)
    name = plain_name(found["name"]) if found else ""
    if not name or is_prose(name) or name in names:
        return bool(name)
    # A short heading about ethics is a box's name; a point about ethics is the reviewer's.
    short = name.count("_") < _MOST_NAME_WORDS
    return short and on_ethics(name) and bool(_ON_ETHICS.fullmatch(line))


def _paragraph(line: str) -> str:
    """The line; an item of a list without its mark, as a paragraph of its own."""
    mark = _MARK.match(line)
    return f"\n{line[mark.end() :].rstrip()}" if mark else line.rstrip()


def _names(form: VenueForm | None) -> frozenset[str]:
    return frozenset(plain_name(field.name) for field in form.fields) if form is not None else frozenset()


def _unmarked(value: object) -> object:
    """A list as one text, an item a paragraph; what only says that there is nothing is left out."""
    if not isinstance(value, list):
        return value
    said = [canonical_text({"review": item}, None) for item in value if isinstance(item, str)]
    return "\n\n".join(item for item in said if item)


def _json_fields(text: str) -> Mapping[str, object] | None:
    """The fields of a review that was stored as a JSON object; None for any other text."""
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        found = json_value(body, "the review")
    except Unreadable:
        return None
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else None
