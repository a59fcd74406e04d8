"""The text of a review as detectors read it: what its author wrote, and nothing that tells whose file it came from.

Generated reviews are JSON or lists with the form's names on them, human ones are not: left in, the layout alone would
tell the two apart, and every detector would look good. So both classes pass through the same rule, and the rule's name
stands beside every score.

Source: specification of "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in Peer Review" as
read here, section 1.1; the paper does not state its rule.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from referee.data.prose import canonical_text, cleaned, is_prose, on_ethics, plain_name
from referee.schemas.case import ReviewCase
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
_AROUND = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Canonical:
    """A review's text for detectors, the rule that made it and the digest of the text, by which scores are kept."""

    text: str
    rule: str
    digest: str


def canonical_review(case: ReviewCase, form: VenueForm | None = None) -> Canonical:
    """The free texts of a review in the form's order, joined by a blank line, without the form's names and scores.

    NFC, plain line breaks, nothing around it. Text that is a JSON object is read as its fields. Items of a list become
    lines without the marks that reading them put there. A line that holds nothing but a field's name, and a line that
    holds nothing but a score, go, whoever wrote them: a rule for one class only would itself tell the classes apart.

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
    kept = [line for line in cleaned(text).split("\n") if not _is_layout(line, names)]
    plain = _AROUND.sub("\n\n", "\n".join(line.rstrip() for line in kept)).strip()
    return Canonical(plain, CANONICAL_RULE, hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest())


def _is_layout(line: str, names: frozenset[str]) -> bool:
    if _SCORE.fullmatch(line):
        return True
    found = _LABEL.fullmatch(line)
    name = plain_name(found["name"]) if found else ""
    return bool(name) and (is_prose(name) or name in names or on_ethics(name))


def _names(form: VenueForm | None) -> frozenset[str]:
    return frozenset(plain_name(field.name) for field in form.fields) if form is not None else frozenset()


def _unmarked(value: object) -> object:
    """A list as one text: its items, each on a line of its own; what only says that there is nothing is left out."""
    if not isinstance(value, list):
        return value
    said = [canonical_text({"review": item}, None) for item in value if isinstance(item, str)]
    return "\n".join(item for item in said if item)


def _json_fields(text: str) -> Mapping[str, object] | None:
    """The fields of a review that was stored as a JSON object; None for any other text."""
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else None
