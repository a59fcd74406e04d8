"""Any other JSON rows or table, read by a small TOML file that says which key is what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from referee.data import keys
from referee.data.drafts import Draft, describe
from referee.data.entries import EXCERPT_CHARS, Entry
from referee.data.found import Found, each, kind_of_json, refuse_no_data
from referee.data.keys import author
from referee.errors import DataError
from referee.schemas.base import Frozen
from referee.schemas.foreign import Unreadable, toml_table

CaseName = Literal[
    "case_id",
    "paper_id",
    "paper_title",
    "venue",
    "year",
    "source",
    "kind",
    "text",
    "rating",
    "confidence",
    "decision",
    "date",
]


class Mapped(Frozen):
    """What a mapping file says.

    ``case`` gives for a name of ours the data's key, with dots into nested objects; ``constants`` gives values that
    hold for every row; ``fields`` gives for a name of the venue's form the data's key; ``kinds`` gives for a value of
    the data's kind (or of its source, where no kind is mapped) human, ai or unknown. ``reviews`` names the key of the
    list where a row is a paper: ``case`` and ``fields`` are looked up in the review first, then in the row.
    """

    reviews: str = ""
    case: dict[CaseName, str] = Field(default_factory=dict)
    constants: dict[CaseName, str | int | float] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)
    kinds: dict[str, Literal["human", "ai", "unknown"]] = Field(default_factory=dict)


def load_mapping(path: Path) -> Mapped:
    """The mapping file.

    Raises:
        DataError: It cannot be read, is no TOML, holds an unknown key, or leaves out the paper or the text.
    """
    refuse_no_data(path)
    try:
        mapped = Mapped.model_validate(toml_table(path.read_bytes(), f"mapping {str(path)!r}"))
    except OSError as error:
        raise DataError(f"mapping {str(path)!r} cannot be read: {error.strerror}.", hint="Check the path.") from error
    except Unreadable as error:
        raise DataError(error.message, hint="docs/data.md shows one.") from error
    except ValidationError as error:
        raise DataError(f"mapping {str(path)!r}: {describe(error)}.", hint="docs/data.md lists the keys.") from error
    given = {*mapped.case, *mapped.constants}
    if "paper_id" not in given or ("text" not in given and not mapped.fields):
        raise DataError(
            f"mapping {str(path)!r} does not say where the paper's id and the review's text stand.",
            hint="Give case.paper_id, and case.text or a table [fields].",
        )
    return mapped


def read_mapped(mapped: Mapped) -> Callable[[Path], Iterator[Found]]:
    """The reader for files that this mapping describes."""

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        for review, raw in _reviews(mapped, entry, row):
            yield Found(entry.number, _attempt(mapped, review, row), raw, _source(mapped, review, row))

    return lambda path: each(path, read)


def _reviews(mapped: Mapped, entry: Entry, row: dict[str, object]) -> Iterator[tuple[object, str]]:
    if not mapped.reviews:
        yield row, entry.raw
        return
    listed = _at(row, mapped.reviews)
    if not isinstance(listed, list):
        raise DataError(f"{mapped.reviews!r} holds {kind_of_json(listed)}, no list.")
    for review in listed:
        yield review, str(review)[:EXCERPT_CHARS]


def _attempt(mapped: Mapped, review: object, row: Mapping[str, object]) -> Draft | DataError:
    if not isinstance(review, dict):
        return DataError(f"a review of the list is {kind_of_json(review)}, no object.")
    try:
        return _draft(mapped, review, row)
    except DataError as error:
        return error


def _source(mapped: Mapped, review: object, row: Mapping[str, object]) -> str:
    key = mapped.case.get("source")
    return keys.text_of(_either(review, row, key)).strip() if key and isinstance(review, dict) else ""


def _draft(mapped: Mapped, review: Mapping[str, object], row: Mapping[str, object]) -> Draft:
    def value(name: CaseName) -> object:
        key = mapped.case.get(name)
        found = _either(review, row, key) if key else None
        return mapped.constants.get(name) if found in (None, "") else found

    source, kind = value("source"), value("kind")
    stated = kind if kind is not None else source
    if isinstance(stated, str | int) and str(stated) in mapped.kinds:
        kind = mapped.kinds[str(stated)]
    fields = {name: _either(review, row, key) for name, key in mapped.fields.items()}
    return Draft(
        paper_id=keys.text_of(value("paper_id")),
        author=author(keys.text_of(source), kind),
        fields={name: found for name, found in fields.items() if found is not None},
        text=keys.text_of(value("text")),
        review_id=keys.text_of(value("case_id")),
        identity=review,
        paper_title=keys.text_of(value("paper_title")),
        conference=value("venue"),
        year=value("year"),
        rating=value("rating"),
        confidence=value("confidence"),
        decision=value("decision"),
        date=value("date"),
    )


def _either(review: Mapping[str, object], row: Mapping[str, object], key: str) -> object:
    found = _at(review, key)
    return _at(row, key) if found is None and review is not row else found


def _at(row: Mapping[str, object], key: str) -> object:
    """The value under a key as it stands, or along its dots."""
    if key in row:
        return row[key]
    value: object = row
    for part in key.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value
