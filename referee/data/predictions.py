"""What a model predicted for papers: one line a paper, whatever became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, ValidationError

from referee.data.drafts import describe
from referee.data.entries import line_entry
from referee.errors import DataError
from referee.runs.files import write_atomically
from referee.runs.lines import MOST_LINE_BYTES, lines_of
from referee.schemas.base import Frozen
from referee.schemas.case import CaseOrigin, FieldText, ReviewCase
from referee.schemas.paper_cut import PaperCut
from referee.schemas.usage import Usage

PREDICTIONS = "predictions.jsonl"
PREDICTED = "predictions"
"""The layout of reviews that come from such a file."""
Status = Literal["answered", "invalid", "failed", "skipped"]


class Prediction(Frozen):
    """A filled form, or the reason why there is none.

    ``status``: ``invalid`` is a reply that did not fit the form after all repairs, ``failed`` a paper or call that
    went wrong, ``skipped`` a paper that was never asked about. ``rating`` and ``scores`` are what the model chose;
    ``kept_rating`` is the rating the review stands behind, null where nothing in the paper backs it. ``fields`` are
    the form's texts. ``prompt`` names the prompt with its version. ``cut`` says how much of the paper the model read,
    or would have read where it was not asked for that reason (``failed``); null for all of it.
    """

    schema_version: Literal[1] = 1
    paper_id: str = Field(min_length=1)
    paper_title: str = ""
    venue: str | None = None
    year: int | None = Field(default=None, ge=1, le=9999)
    source: str = Field(min_length=1)
    kind: Literal["ai"] = "ai"
    status: Status
    reason: str = ""
    rating: float | None = None
    kept_rating: float | None = None
    confidence: float | None = None
    scores: dict[str, float | None] = Field(default_factory=dict)
    fields: dict[str, FieldText] = Field(default_factory=dict)
    text: str = ""
    prompt: str = ""
    prompt_digest: str = ""
    run: str = ""
    usage: Usage = Usage()
    cut: PaperCut | None = None


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write the file whole.

    Raises:
        OSError: It cannot be written.
    """
    write_atomically(path, "".join(f"{prediction.model_dump_json()}\n" for prediction in predictions))


def holds_predictions(path: Path) -> bool:
    """Whether a file is one of ``write_predictions``, by the keys of its first line: its name does not matter.

    A line that somebody wrote by the same keys is one too, where it has nothing else and a status of ours.
    """
    if not path.is_file():
        return False
    row = next((line_entry(line).value for line in lines_of(path, most=MOST_LINE_BYTES)), None)
    if not isinstance(row, dict) or not {"status", "paper_id"} <= row.keys():
        return False
    is_ours = row["status"] in get_args(Status) and "source" in row and row.keys() <= Prediction.model_fields.keys()
    return "kept_rating" in row or is_ours


def read_predictions(path: Path) -> list[Prediction]:
    """The predictions of a file.

    Raises:
        DataError: A line is none; it is named.
    """
    found = []
    hint = "Give a file of `referee arena run`, or a review set without its columns."
    for line in lines_of(path, most=MOST_LINE_BYTES):
        entry, where = line_entry(line), f"{str(path)!r}, line {line.number}, is no prediction"
        if entry.error:
            raise DataError(f"{where}: {entry.error}.", hint=hint)
        try:
            found.append(Prediction.model_validate(entry.value))
        except ValidationError as error:
            raise DataError(f"{where}: {describe(error)}.", hint=hint) from error
    return found


def counts(predictions: Iterable[Prediction]) -> Counter[str]:
    """How many predictions ended how."""
    return Counter(prediction.status for prediction in predictions)


def prediction_case(prediction: Prediction, path: Path, number: int) -> ReviewCase:
    """The prediction as a review; one that did not come about has neither rating nor text."""
    return ReviewCase(
        case_id=f"{prediction.paper_id}/{prediction.source}",
        paper_id=prediction.paper_id,
        paper_title=prediction.paper_title,
        venue=prediction.venue,
        year=prediction.year,
        source=prediction.source,
        kind="ai",
        text=prediction.text,
        fields={**prediction.fields, **prediction.scores},
        rating=prediction.rating,
        confidence=prediction.confidence,
        origin=CaseOrigin(file=str(path), line=number, layout=PREDICTED),
        extra={
            "status": prediction.status,
            "reason": prediction.reason,
            "prompt": prediction.prompt,
            "prompt_digest": prediction.prompt_digest,
            "usage": prediction.usage.model_dump(),
            **({"cut": prediction.cut.model_dump(mode="json")} if prediction.cut else {}),
        },
    )
