"""Boxes that a form names in short items, as "Strengths" or "Confidence (1-3)", below a heading that says "form"."""

from __future__ import annotations

import re

from referee.venues.page.page_types import FieldDraft, OptionDraft

_FORM_HEAD = re.compile(
    r"^(?:\d+[.)]?\s+)?(?:the |our )?(?:(?:review(?:er)?|report|evaluation|assessment|referee) )?(?:form|template)$",
    re.I,
)
_ITEM = re.compile(
    r"^(?P<title>[A-Z][^.:?!,;()\[\]]{1,60}?)\s*(?P<note>[(\[][^)\]]*[)\]])?\s*(?:[.:]\s*(?P<rest>.*))?$", re.DOTALL
)
_RANGE = re.compile(r"^[(\[]\s*(?P<low>\d{1,2})\s*(?:-|–|—|to)\s*(?P<high>\d{1,2})\s*[)\]]$")
_BOX = re.compile(
    r"\b(?:summary|strengths?|weaknesses?|questions?|comments?|remarks|suggestions?|limitations?|justification)\b", re.I
)
_LONGEST_TITLE, _LONGEST_RANGE = 5, 11


def names_form(heading: str) -> bool:
    """Whether all that stands below a heading is the form: it is called one and nothing else."""
    return bool(_FORM_HEAD.match(heading.strip()))


def short_item(text: str, path: tuple[str, ...], paper_type: str) -> FieldDraft | None:
    """The box that an item names: a score where a range stands behind its title, text where it is called as boxes are.

    Any other item is left to whoever reads the page: code alone cannot tell it from a remark.
    """
    found = _ITEM.match(text)
    if found is None or len(found["title"].split()) > _LONGEST_TITLE:
        return None
    title = found["title"].strip()
    if options := range_options(found["note"] or ""):
        return FieldDraft("", title, "score", options, text, path, paper_type)
    return FieldDraft("", title, "text", (), text, path, paper_type) if _BOX.search(title) else None


def range_options(note: str) -> tuple[OptionDraft, ...]:
    """The values of a range in brackets, "(1-4)"; none for other words."""
    values = _RANGE.match(note.strip())
    numbers = range(int(values["low"]), int(values["high"]) + 1) if values else range(0)
    return tuple(OptionDraft(number, "", note) for number in numbers) if 2 <= len(numbers) <= _LONGEST_RANGE else ()
