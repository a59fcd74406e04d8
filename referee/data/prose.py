"""The text of a review in canonical form: what its author wrote, in the form's order, without the form's words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from referee.schemas.venue import VenueForm

# The free-text boxes of review forms in the order in which forms ask for them; used where no form is known.
PROSE = (
    *("summary", "summary_of_the_paper", "summary_of_paper", "paper_summary", "summary_of_contributions"),
    *("summary_and_contributions", "paper_topic_and_main_contributions", "main_review", "review"),
    *("strengths_and_weaknesses", "strength_and_weaknesses", "strengths", "summary_of_strengths"),
    *("reasons_to_accept", "reasons_to_publish", "weaknesses", "summary_of_weaknesses", "reasons_to_reject"),
    *("concerns", "opportunities_for_improvement", "claims_and_evidence", "methods_and_evaluation_criteria"),
    *("theoretical_claims", "experimental_designs_or_analyses", "relation_to_broader_scientific_literature"),
    *("essential_references_not_discussed", "other_strengths_and_weaknesses", "other_comments_or_suggestions"),
    *("clarity,_quality,_novelty_and_reproducibility", "questions", "questions_to_authors", "questions_for_authors"),
    *("key_questions_for_authors", "questions_for_the_authors", "questions_for_rebuttal", "limitations"),
    *("limitations_and_societal_impact", "requested_changes", "broader_impact_concerns", "missing_references"),
    *("comments_suggestions_and_typos", "comments,_suggestions_and_typos"),
    *("typos_grammar_style_and_presentation_improvements", "additional_feedback", "additional_comments"),
    *("summary_of_the_review", "summary_of_recommendation"),
)
_PROSE = frozenset(PROSE)
# A text of at most so many characters under an unknown name may as well be a label.
LABEL_CHARS = 120
_PLACEHOLDER = re.compile(r"(?:n\s*/\s*a|n\.a\.?|-+|summary by airev\s*\d*)\.?", re.IGNORECASE)
_NOTHING = re.compile(r"[\s*_-]*(?:none|n\s*/?\s*a|n\.\s*a)[\s*_.-]*", re.IGNORECASE)
# PRAIB keeps summary, strengths, weaknesses, questions and limitations: what a venue asks about ethics is none of them.
_ETHICS = re.compile(r"ethic|code_of_conduct|broader_impact_concerns")
_LABEL_LINE = re.compile(r"^(?P<label>[A-Z][A-Za-z ]{2,40}):[ \t]*$", re.MULTILINE)


def canonical_text(fields: Mapping[str, object], form: VenueForm | None) -> str:
    """The texts of the fields, in the form's order, without field names, separated by blank lines.

    Of the form only free-text boxes of the review stage count, without its ``title``; texts under names that the form
    does not have follow in the customary order. Scores, labels, boxes on ethics, boxes of the discussion and boxes or
    items that say nothing ("N/A", "None") are left out, lists become lines that begin with ``- ``. Without a form and
    without a customary name, all texts above 120 characters are taken in the data's order.
    """
    by_name = {named: value for name, value in fields.items() if not on_ethics(named := plain_name(name))}
    taken = [name for name in _order(form) if name in by_name]
    pieces = [piece for name in taken if (piece := said(by_name[name]))]
    if not pieces and form is None:
        pieces = [piece for value in by_name.values() if len(piece := said(value)) > LABEL_CHARS]
    return "\n\n".join(pieces)


def left_out_boxes(fields: Mapping[str, object], text: str, form: VenueForm | None) -> list[str]:
    """The boxes of more than 120 characters that ``canonical_text`` left out, though the form does not know them.

    Boxes on ethics are meant to be left out, and so are those of the form's discussion.
    """
    known = {plain_name(field.name) for field in form.fields} if form else set()
    unknown = [name for name in fields if not on_ethics(plain_name(name)) and plain_name(name) not in known]
    return [name for name in unknown if len(piece := said(fields[name])) > LABEL_CHARS and piece not in text]


def box_text(value: object) -> str:
    """What one box holds as text, a list as lines; empty for a placeholder ("N/A") and for what is no text."""
    if isinstance(value, list):
        lines = [cleaned(item) for item in value if isinstance(item, str) and item.strip()]
        return "\n".join(f"- {line}" for line in lines)
    if not isinstance(value, str):
        return ""
    text = cleaned(value)
    return "" if _PLACEHOLDER.fullmatch(text) else text


def cleaned(text: str) -> str:
    """The text in Unicode's composed form, with plain line breaks and no blanks around it."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A field's name as it is compared: small letters, blanks as underscores."""
    return "_".join(name.strip().lower().split())


def is_prose(name: str) -> bool:
    """Whether forms have a free-text box of that name."""
    return plain_name(name) in _PROSE


def on_ethics(name: str) -> bool:
    """Whether a box asks about ethics or conduct, by its plain name."""
    return bool(_ETHICS.search(name))


def parted(text: str, known: Mapping[str, object]) -> dict[str, object] | None:
    """A text that was joined from labelled fields, as these fields; None where it was not.

    It was when it begins with a label on a line of its own ("Summary:"), every label is a customary name or one on
    ethics, and every free-text field that the record holds beside it is among the labels. The record's own values go
    before the text's.
    """
    marks = list(_LABEL_LINE.finditer(text))
    if not marks or text[: marks[0].start()].strip() or not any(is_prose(name) for name in known):
        return None
    names = [plain_name(mark["label"]) for mark in marks]
    beside = {plain_name(name) for name in known if is_prose(name)}
    known_names = all(name in _PROSE or on_ethics(name) for name in names)
    if len(set(names)) != len(names) or not known_names or not beside <= set(names):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    found = {name: text[mark.end() : end].strip() for name, mark, end in zip(names, marks, ends, strict=True)}
    return {**found, **{plain_name(name): value for name, value in known.items() if value and is_prose(name)}}


def _order(form: VenueForm | None) -> tuple[str, ...]:
    if form is None:
        return PROSE
    own = [plain_name(field.name) for field in form.reviewer_fields if field.kind == "text" and field.name != "title"]
    others = {plain_name(field.name) for field in form.fields}
    return (*own, *(name for name in PROSE if name not in others))


def said(value: object) -> str:
    """The text of a box; empty where it only says that there is nothing ("None")."""
    if isinstance(value, list):
        value = [item for item in value if not (isinstance(item, str) and _NOTHING.fullmatch(item))]
    text = box_text(value)
    return "" if _NOTHING.fullmatch(text) else text
