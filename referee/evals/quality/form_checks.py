"""What a venue asks of a review that a program can decide: yes, no, or not from this record.

Two tables. ``FORM_CHECKS`` decide what every form prescribes (required boxes, scales, lengths). ``GUIDELINE_CHECKS``
decide objective guidelines by their id, where the guideline's text also speaks of what the check looks at; any
objective guideline that only bounds a length is decided too. Null means that the record does not hold what it takes
(plain text has no boxes, half the rule needs judgement): a judge decides then, or nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from referee.data.prose import box_text
from referee.errors import DataError
from referee.evals.forms import says_nothing
from referee.evidence.point_fields import FieldRole, field_roles
from referee.schemas.case import ReviewCase
from referee.schemas.venue import FormField, Guideline, VenueForm
from referee.venues.values import check_field

_ITEM = re.compile(r"^\s*(?:[-*•]\s*)?(?:\*\*|\()?(?:[QW]?\d{1,2}[.):](?!\d)|[QW]\d{1,2}\b|[a-h][.)]\s)", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*(?:[-*•]\s*)?(?:\*\*|\()?[W#]?\d{1,2}(?:[.):](?!\d)|\b(?=\s+[A-Z]))", re.MULTILINE)
_BULLET = re.compile(r"^\s*[-*•]\s+\S", re.MULTILINE)
_BOUND = re.compile(
    r"\b(?P<side>at least|no fewer than|no less than|at most|no more than|up to)\s+(?P<n>\d[\d,]*)\s+"
    r"(?P<unit>words|characters)\b",
    re.IGNORECASE,
)
_ONLY_LENGTH_WORDS = 16


@dataclass(frozen=True)
class Decision:
    """What code decided of one criterion, and what it saw."""

    met: bool
    finding: str


@dataclass(frozen=True)
class Record:
    """A review as a form sees it: the boxes it fills, by the form's names.

    ``on_form`` says whether its prose is spread over the form's boxes: only then is a box that is missing an empty box,
    and not one whose content stands elsewhere.

    ``common`` are the boxes that AI and human reviews of the set both fill, under which a rating and a confidence that
    stand beside the boxes count too; null for all. The others are no boxes here: what one side cannot have, it would
    lose or win by.
    """

    case: ReviewCase
    form: VenueForm
    common: frozenset[str] | None = None

    @property
    def fields(self) -> tuple[FormField, ...]:
        """The boxes of the form that count."""
        return tuple(field for field in self.form.reviewer_fields if self._counts(field))

    @property
    def boxes(self) -> dict[str, object]:
        """The values under the form's own names, in the form's order."""
        fields, unset = self.case.fields, self.placeholders
        names = (field.name for field in self.fields)
        return {name: fields[name] for name in names if name in fields and name not in unset}

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Score boxes that hold 0 for "not given": all beside recommendation and confidence do, and none offers 0.

        A system that fills in only the recommendation leaves them so; a single 0 out of scale is a fault.
        """
        scores = [
            field
            for field in self.form.reviewer_fields
            if field.kind == "score"
            and field.aspect not in ("overall", "confidence")
            and field.name in self.case.fields
        ]
        unset = [f.name for f in scores if self.case.fields[f.name] == 0 and not _takes(f, 0)]
        return tuple(unset) if 1 < len(unset) == len(scores) else ()

    @property
    def on_form(self) -> bool:
        """Whether at least two text boxes say something; of a form with one, that one."""
        boxes = self._texts()
        return sum(bool(self.text(field)) for field in boxes) >= min(2, len(boxes)) > 0

    def of_role(self, *roles: FieldRole) -> list[FormField]:
        """The form's text boxes of these roles."""
        return [field for field in self._texts() if field_roles(field) & set(roles)]

    def text(self, field: FormField) -> str:
        """What a text box says; empty for a placeholder such as ``N/A`` and for words such as "none"."""
        text = self.prose(field)
        return "" if says_nothing(text) else text

    def prose(self, field: FormField) -> str:
        """What a text box holds; empty for a title and for a placeholder such as ``N/A``."""
        return "" if field.name == "title" else box_text(self.case.fields.get(field.name))

    def _texts(self) -> list[FormField]:
        return [field for field in self.fields if field.kind == "text"]

    def _counts(self, field: FormField) -> bool:
        if self.common is None or field.name in self.common:
            return True
        beside = {"rating": field.name == self.form.overall, "confidence": field.aspect == "confidence"}
        return any(name in self.common for name, is_it in beside.items() if is_it)


def required_boxes(record: Record) -> Decision | None:
    """Every box that the form demands holds something; boxes whose rule is unknown are not asked for."""
    demanded = [field.name for field in record.fields if field.required]
    if not record.on_form or not demanded:
        return None
    empty = [name for name in demanded if not _filled(record, name)]
    return Decision(not empty, f"empty: {', '.join(empty)}" if empty else f"all {len(demanded)} required boxes filled")


def scores_in_scale(record: Record) -> Decision | None:
    """Every score, choice and checklist holds what the form offers; the record's rating and confidence count too."""
    held = {name: value for name, value in record.boxes.items() if value not in (None, "", [])}
    given = {
        name: value
        for name, value in {**_plain_scores(record), **held}.items()
        if record.form.field(name).kind != "text"
    }
    if not given:
        return None
    refused = [f"{name} {value!r}" for name, value in given.items() if not _takes(record.form.field(name), value)]
    return Decision(not refused, f"not on offer: {', '.join(refused)}" if refused else f"{len(given)} values on offer")


def box_lengths(record: Record) -> Decision | None:
    """No text is longer than its box takes."""
    bounded = [(f, record.text(f)) for f in record.fields if f.kind == "text" and f.max_chars is not None]
    held = [(field, text) for field, text in bounded if text]
    if not held:
        return None
    long = [
        f"{f.name} has {len(text)} of {f.max_chars} characters" for f, text in held if len(text) > (f.max_chars or 0)
    ]
    return Decision(not long, "; ".join(long) or f"{len(held)} bounded boxes within their limits")


def decide(guideline: Guideline, record: Record) -> Decision | None:
    """What code says of an objective guideline; null where it cannot say."""
    if guideline.kind != "objective":
        return None
    check = GUIDELINE_CHECKS.get(guideline.id)
    if check is not None and check.speaks_of.search(guideline.text):
        return check.decide(record)
    return _length(guideline, record)


def _both_sides(record: Record) -> Decision | None:
    """Strengths and weaknesses both filled, where the form has a box for each."""
    sides = record.of_role("strengths"), record.of_role("weaknesses")
    if not record.on_form or not all(sides):
        return None
    lacking = [side[0].name for side in sides if not any(record.text(field) for field in side)]
    return Decision(not lacking, f"nothing under {', '.join(lacking)}" if lacking else "both boxes say something")


def _numbered_weaknesses(record: Record) -> Decision | None:
    """The box for weaknesses numbers them; one paragraph without a list is one weakness, and needs no number."""
    texts = [text for field in record.of_role("weaknesses") if (text := record.text(field))]
    if not texts:
        return None
    text = "\n\n".join(texts)
    if _NUMBERED.search(text):
        return Decision(True, "numbered")
    single = len([piece for piece in re.split(r"\n\s*\n", text) if piece.strip()]) == 1 and not _BULLET.search(text)
    return None if single else Decision(False, "several paragraphs or bullets without numbers")


def _few_questions(record: Record) -> Decision | None:
    """Three to five listed questions; none at all breaks the rule, any other number is a judge's to weigh."""
    boxes = record.of_role("questions")
    if not record.on_form or not boxes:
        return None
    text = "\n".join(record.text(field) for field in boxes)
    if not text.strip():
        return _no_question(record)
    count = len(_ITEM.findall(text)) or len(_BULLET.findall(text))
    return Decision(True, f"{count} questions listed") if 3 <= count <= 5 else None


def _asks(record: Record) -> Decision | None:
    """The box for questions holds one."""
    boxes = record.of_role("questions")
    if not record.on_form or not boxes:
        return None
    text = "\n".join(record.text(field) for field in boxes)
    if not text.strip():
        return _no_question(record)
    return Decision(True, "the box for questions asks") if "?" in text else None


def _no_question(record: Record) -> Decision | None:
    """An empty box breaks the rule; one whose questions may stand elsewhere in the review is a judge's to see."""
    return None if "?" in record.case.text else Decision(False, "the box for questions is empty, and nothing is asked")


def _recommends(record: Record) -> Decision | None:
    """A recommendation left empty has no reasons; whether they are given for one that is made is a judge's to say."""
    overall = record.form.overall
    if overall is None or overall not in record.boxes or _filled(record, overall):
        return None
    return Decision(False, f"{overall} is empty")


def _changes(record: Record) -> Decision | None:
    """An empty box asks for nothing; whether what it lists is marked is a judge's to say."""
    boxes = record.of_role("changes")
    if not record.on_form or not boxes or any(record.text(field) for field in boxes):
        return None
    return Decision(False, f"{boxes[0].name} is empty")


def _length(guideline: Guideline, record: Record) -> Decision | None:
    """A guideline that says no more than how long the review, or one of its boxes, is to be."""
    bounds = list(_BOUND.finditer(guideline.text))
    if len(bounds) != 1 or len(guideline.text.split()) > _ONLY_LENGTH_WORDS:
        return None
    text = _meant(guideline.text.casefold(), record)
    if not text:
        return None
    bound = bounds[0]
    unit = bound["unit"].lower()
    has = len(text.split()) if unit == "words" else len(text)
    limit = int(bound["n"].replace(",", ""))
    least = bound["side"].lower() in ("at least", "no fewer than", "no less than")
    return Decision(has >= limit if least else has <= limit, f"{has} {unit}, {bound['side'].lower()} {limit} asked for")


def _meant(words: str, record: Record) -> str:
    """The text a rule on lengths speaks of: the box it names, else the review; empty where that is not known."""
    named = [field for field in record.fields if field.kind == "text" and _names(words, field)]
    if named:
        return record.text(named[0]) if len(named) == 1 else ""
    return record.case.text if re.search(r"\breviews?\b", words) else ""


def _names(words: str, field: FormField) -> bool:
    names = {field.name.replace("_", " ").casefold(), field.title.casefold()} - {"", "review"}
    return any(re.search(rf"\b{re.escape(name)}\b", words) for name in names)


def _plain_scores(record: Record) -> dict[str, object]:
    """The record's rating and confidence under the names of the form's fields for them."""
    scores: dict[str, object] = {}
    overall = [f.name for f in record.fields if f.name == record.form.overall]
    if overall and record.case.rating is not None:
        scores[overall[0]] = record.case.rating
    sure = [f.name for f in record.fields if f.kind == "score" and f.aspect == "confidence"]
    if sure and record.case.confidence is not None:
        scores[sure[0]] = record.case.confidence
    return scores


def _takes(field: FormField, value: object) -> bool:
    try:
        check_field(field, value)
    except DataError:
        return False
    return True


def _filled(record: Record, name: str) -> bool:
    value = record.boxes.get(name)
    held = value is not None and value != [] and bool(str(value).strip())
    return held or name in _plain_scores(record)


@dataclass(frozen=True)
class GuidelineCheck:
    """What decides a guideline, and what its text must speak of, lest another venue means something else by the id."""

    speaks_of: re.Pattern[str]
    decide: Callable[[Record], Decision | None]


FORM_CHECKS: Mapping[str, tuple[str, Callable[[Record], Decision | None]]] = {
    "form:required-boxes": ("Every required box of the form is filled.", required_boxes),
    "form:scores-in-scale": ("Every score, choice and checklist holds what the form offers.", scores_in_scale),
    "form:box-lengths": ("No text is longer than its box takes.", box_lengths),
}
"""Id to what is asked and what decides it. Guideline ids hold no colon, so none can collide."""

GUIDELINE_CHECKS: Mapping[str, GuidelineCheck] = {
    "both-sides": GuidelineCheck(re.compile("strength|reasons"), _both_sides),
    "strong-and-weak-points": GuidelineCheck(re.compile("strong"), _both_sides),
    "numbered-concerns": GuidelineCheck(re.compile("numbered"), _numbered_weaknesses),
    "three-to-five-questions": GuidelineCheck(re.compile("three to five"), _few_questions),
    "questions-for-authors": GuidelineCheck(re.compile("asks|question"), _asks),
    "questions-for-rebuttal": GuidelineCheck(re.compile("question"), _asks),
    "recommendation-with-reasons": GuidelineCheck(re.compile("recommendation"), _recommends),
    "requested-changes": GuidelineCheck(re.compile("[Rr]equested changes"), _changes),
}
