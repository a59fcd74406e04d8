"""From the bytes of a guideline page to candidates that can be traced: code only, no model."""

from referee.venues.page.candidates import candidates, windows
from referee.venues.page.checks import Signs, check_holds_guidelines, signs, trace
from referee.venues.page.form import form_fields
from referee.venues.page.page_types import (
    Candidate,
    Dropped,
    FieldDraft,
    FormDraft,
    GuidelinePage,
    OptionDraft,
    Window,
)
from referee.venues.page.read import read_page, text_for

__all__ = [
    "Candidate",
    "Dropped",
    "FieldDraft",
    "FormDraft",
    "GuidelinePage",
    "OptionDraft",
    "Signs",
    "Window",
    "candidates",
    "check_holds_guidelines",
    "form_fields",
    "read_page",
    "signs",
    "text_for",
    "trace",
    "windows",
]
