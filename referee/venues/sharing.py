"""A form that shares boxes or guidelines with another: what a file borrows is filled in before it is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field

from referee.schemas.base import Frozen
from referee.schemas.venue import Fact, VenueForm


class Borrowed(Frozen):
    """What is taken from which venue; ``fact`` stands in place of the facts there, ``without`` names what is left."""

    venue: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=100)
    fact: Fact | None = None
    without: tuple[str, ...] = ()


class Borrowing(BaseModel):
    """The two keys of a venue file that borrow."""

    fields_as: Borrowed | None = None
    guidelines_as: Borrowed | None = None


def borrow(data: dict[str, Any], lend: Callable[[str], VenueForm]) -> None:
    """Replace ``fields_as`` and ``guidelines_as`` of a decoded venue file by what they stand for.

    With ``fields_as`` and no ``fields``, the form has all fields of the other venue. With ``fields``, these are the
    whole form in its order, and each takes the keys it does not give from the other venue's field of the same name.
    Guidelines of the file follow the borrowed ones. Sources that borrowed facts cite come along.

    Raises:
        ValidationError: One of the two keys is not as it should be.
        ValueError: ``without`` names nothing there, or one source key stands for two sources.
    """
    wanted = Borrowing.model_validate(data)
    for key in Borrowing.model_fields:
        data.pop(key, None)
    if wanted.fields_as:
        form = lend(wanted.fields_as.venue)
        lent = _lent(wanted.fields_as, {field.name: field for field in form.fields})
        own = data.get("fields", [{"name": name} for name in lent])
        if isinstance(own, list):
            data["fields"] = [_filled(entry, lent) for entry in own]
            names = [entry.get("name") for entry in own if isinstance(entry, dict) and "fact" not in entry]
            _bring_sources(data, form, wanted.fields_as, [item for name, item in lent.items() if name in names])
    if wanted.guidelines_as:
        form = lend(wanted.guidelines_as.venue)
        taken = list(_lent(wanted.guidelines_as, {guideline.id: guideline for guideline in form.guidelines}).values())
        own = data.get("guidelines", [])
        if isinstance(own, list):
            data["guidelines"] = [*taken, *own]
            _bring_sources(data, form, wanted.guidelines_as, taken)


def _lent(borrowed: Borrowed, items: Mapping[str, BaseModel]) -> dict[str, dict[str, Any]]:
    unknown = [name for name in borrowed.without if name not in items]
    if unknown:
        raise ValueError(f"it leaves out {unknown[0]!r}, which {borrowed.venue!r} does not have")
    lent = {name: item.model_dump(exclude_unset=True) for name, item in items.items() if name not in borrowed.without}
    if borrowed.fact:
        lent = {name: {**item, "fact": borrowed.fact.model_dump()} for name, item in lent.items()}
    return lent


def _filled(entry: Any, lent: Mapping[str, dict[str, Any]]) -> Any:
    name = entry.get("name") if isinstance(entry, dict) else None
    return {**lent[name], **entry} if isinstance(name, str) and name in lent else entry


def _bring_sources(data: dict[str, Any], form: VenueForm, borrowed: Borrowed, items: Iterable[dict[str, Any]]) -> None:
    """Copy the sources that the lender's facts cite; facts of the borrower's own cite what its file lists."""
    sources = data.setdefault("sources", {})
    if borrowed.fact or not isinstance(sources, dict):
        return
    for key in sorted({key for item in items for key in item["fact"].get("sources", ())}):
        source = form.sources[key].model_dump(exclude_unset=True)
        if sources.setdefault(key, source) != source:
            raise ValueError(f"source {key!r} is another one in {form.id!r}, whose facts cite it: rename it here")
