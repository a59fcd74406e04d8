"""Which criteria of the venue each reader was shown, and the record of it on the review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pydantic import Field

from referee.agents.asking import shortened
from referee.schemas.base import Frozen
from referee.schemas.review import CriterionReader, CriterionRecord
from referee.schemas.venue import VenueForm
from referee.venues.prompts import section_prompts

OF_THE_REVIEW = "it is about the form of the review, not about the paper: it goes to who writes the review"
FAILED = "no reader that was shown it gave a reply that could be used"
NO_ROOM = "it did not fit into the prompt of any reader that it was meant for"
NOT_ASKED = "the plan of the embedded model shows its readers no criteria: they go to who writes the review"
_NAME_CHARS = 60
_NAME_ALONE = "its name alone"


class CriteriaShown(Frozen):
    """The criteria, by id, that one reader was shown.

    ``notes`` say for some of them what was left out, and for others why the reader was not shown them.
    """

    reader: str
    call_id: str
    criteria: tuple[str, ...]
    notes: dict[str, str] = Field(default_factory=dict)


def part_reader(part_id: str, headings: Iterable[str]) -> str:
    """How the reader of a part is called."""
    return f"the reader of {part_id} ({shortened('; '.join(filter(None, headings)) or 'no heading', _NAME_CHARS)})"


def whole_form_shown(form: VenueForm, reader: str, call_id: str, *, brief: bool = False) -> CriteriaShown:
    """What a reader was shown who gets all the form's criteria at once; ``brief``: of each the name alone."""
    ids = tuple(guideline.id for guideline in form.guidelines)
    return CriteriaShown(
        reader=reader, call_id=call_id, criteria=ids, notes=dict.fromkeys(ids, _NAME_ALONE) if brief else {}
    )


def criterion_records(
    form: VenueForm,
    shown: Iterable[CriteriaShown],
    *,
    why: Mapping[str, str] = MappingProxyType({}),
    otherwise: str = FAILED,
) -> tuple[CriterionRecord, ...]:
    """The form's criteria in their order, each with its readers, or with the reason why it has none.

    Args:
        form: The venue's form.
        shown: What each reader was shown who gave a usable reply; those of parallel branches in any order.
        why: Why nobody was shown a criterion, by its id, where that is known.
        otherwise: Why nobody read for any other that has no reader.
    """
    of_the_review = {p.guideline_id: OF_THE_REVIEW for p in section_prompts(form) if p.is_about_the_review}
    readers = sorted(shown, key=lambda one: (one.reader, one.call_id))
    missed = {name: note for one in readers for name, note in one.notes.items()}
    reasons = missed | of_the_review | dict(why)
    return tuple(
        CriterionRecord(
            id=g.id,
            text=g.text,
            readers=(
                own := tuple(
                    CriterionReader(name=one.reader, call_id=one.call_id, note=one.notes.get(g.id, ""))
                    for one in readers
                    if g.id in one.criteria
                )
            ),
            note="" if own else reasons.get(g.id, otherwise),
        )
        for g in form.guidelines
    )
