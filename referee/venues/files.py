"""Read one venue file: TOML or JSON, shared and borrowed parts filled in, mistakes told in a person's words."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from referee.errors import VenueError
from referee.nearest import nearest
from referee.schemas.base import Frozen
from referee.schemas.foreign import Unreadable, json_value, toml_table
from referee.schemas.venue import (
    Fact,
    FormField,
    FormProvenance,
    Guideline,
    LlmPolicy,
    Option,
    Source,
    VenueForm,
)
from referee.venues.template import is_unfilled, unfilled


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


SUFFIXES = (".toml", ".json")
BUNDLED = Path(__file__).parent / "data"
_SCALES = Path(__file__).parent / "scales.toml"
_DOCS = "docs/venues.md describes every key."
_TOLD = 3
_TOLD_UNFILLED = 20
_ARMS = frozenset({"int", "float", "str"})
_TABLES: dict[str, type[BaseModel]] = {
    "fields": FormField,
    "options": Option,
    "fact": Fact,
    "guidelines": Guideline,
    "llm_policy": LlmPolicy,
    "provenance": FormProvenance,
    "sources": Source,
    "fields_as": Borrowed,
    "guidelines_as": Borrowed,
}


def read_venue_file(path: Path) -> VenueForm:
    """The form that a ``.toml`` or ``.json`` file describes.

    A field may name a shared scale (``scale = "excellent-to-poor"``) in place of its ``options``, and the file may take
    fields and guidelines from another venue (``fields_as``, ``guidelines_as``); the form that comes back holds the
    options, fields and guidelines themselves. The other venue is looked for beside the file, then among the bundled.

    Raises:
        VenueError: The file cannot be read, is no TOML or JSON, or does not describe a form. The message names the
            file, the place in it and the cause.
    """
    return _form(path, ())


def _form(path: Path, borrowers: tuple[Path, ...]) -> VenueForm:
    return _bundled(path) if path.parent == BUNDLED else _read(path, borrowers)


@cache
def _bundled(path: Path) -> VenueForm:
    """Read once a process: a set of reviews names forms by the dozen, and these borrow from each other."""
    return _read(path, ())


def _read(path: Path, borrowers: tuple[Path, ...]) -> VenueForm:
    data = _decode(path, _text(path))
    _check_filled(path, data)
    _fill_scales(path, data)
    written = dict(data)
    try:
        borrow(data, lambda venue: _form(_lender(path, venue, borrowers), (*borrowers, path)))
    except ValidationError as error:
        raise _mistake(path, written, error) from error
    except ValueError as error:
        raise VenueError(f"venue file {str(path)!r} borrows wrongly: {error}.", hint=_DOCS) from error
    try:
        return VenueForm.model_validate(data)
    except ValidationError as error:
        raise _mistake(path, data, error) from error


def _check_filled(path: Path, data: dict[str, Any]) -> None:
    """Refuse a template that somebody has not filled in: its instructions are no facts about a venue."""
    places = [_place(data, location) for location in unfilled(data)]
    if not places:
        return
    more = f", and {len(places) - _TOLD_UNFILLED} more" if len(places) > _TOLD_UNFILLED else ""
    raise VenueError(
        f"venue file {str(path)!r} is still to be filled in: {', '.join(places[:_TOLD_UNFILLED])}{more}.",
        hint=f'Write over each "<fill in: ...>", or delete the entry where the venue has none; {_DOCS}',
        ids={"file": str(path)},
    )


def _lender(path: Path, venue: str, borrowers: tuple[Path, ...]) -> Path:
    """The file of the venue that ``path`` borrows from; a file that stands in for a bundled one may borrow from it."""
    places = [folder / f"{venue}{suffix}" for folder in (path.parent, BUNDLED) for suffix in SUFFIXES]
    chain = [known.resolve() for known in (*borrowers, path)]
    found = [place for place in places if place.is_file() and place.resolve() != path.resolve()]
    if not found:
        raise VenueError(
            f"venue file {str(path)!r} borrows from {venue!r}, which is unknown.",
            hint="`referee venue list` shows the bundled forms; a form of your own lies beside the file.",
            ids={"venue": venue},
        )
    if found[0].resolve() in chain:
        raise VenueError(
            f"venue file {str(path)!r} borrows from {venue!r}, which borrows from it in turn.",
            hint="Write the fields out in one of the two.",
            ids={"venue": venue},
        )
    return found[0]


@cache
def scales() -> Mapping[str, list[dict[str, Any]]]:
    """The shared rating scales: name to options, as a venue file would write them."""
    tables = tomllib.loads(_SCALES.read_text(encoding="utf-8"))
    return {name: table["options"] for name, table in tables.items()}


def _text(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise VenueError(
            f"venue file {str(path)!r} is neither TOML nor JSON.", hint="Give a file that ends in .toml or .json."
        )
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise VenueError(f"venue file {str(path)!r} does not exist.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise VenueError(f"venue file {str(path)!r} is not UTF-8 text.", hint="Save it as UTF-8.") from error
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise VenueError(f"venue file {str(path)!r} cannot be read: {cause}.", hint="Check the path.") from error


def _decode(path: Path, text: str) -> dict[str, Any]:
    read = toml_table if path.suffix.lower() == ".toml" else json_value
    try:
        data = read(text, f"venue file {str(path)!r}")
    except Unreadable as error:
        raise VenueError(error.message, hint=_DOCS if error.problem == "depth" else "Correct that place.") from error
    if not isinstance(data, dict):
        raise VenueError(f"venue file {str(path)!r} holds no table of keys but {_shown(data)}.", hint=_DOCS)
    return data


def _fill_scales(path: Path, data: dict[str, Any]) -> None:
    fields = data.get("fields")
    for index, field in enumerate(fields if isinstance(fields, list) else []):
        if not isinstance(field, dict) or "scale" not in field:
            continue
        place = _place(data, ("fields", index))
        name = field.pop("scale")
        if "options" in field:
            raise VenueError(
                f"venue file {str(path)!r}: {place} has both 'scale' and 'options'.", hint="Keep one of the two."
            )
        if not isinstance(name, str) or name not in scales():
            raise VenueError(
                f"venue file {str(path)!r}: {place}.scale is {_shown(name)}, which is not a shared scale.",
                hint=f"The shared scales are {', '.join(scales())}; or write the options out.",
            )
        field["options"] = [dict(option) for option in scales()[name]]


def _mistake(path: Path, data: dict[str, Any], error: ValidationError) -> VenueError:
    places: dict[tuple[int | str, ...], ErrorDetails] = {}
    for mistake in error.errors():
        places.setdefault(_location(mistake), mistake)
    # A misspelt key is two mistakes, one unknown and one missing: the unknown one says more, so it comes first.
    ordered = sorted(places.items(), key=lambda item: item[1]["type"] != "extra_forbidden")
    told = [f"{_place(data, location) or 'the form'} {_cause(mistake)}" for location, mistake in ordered[:_TOLD]]
    more = f"; and {len(ordered) - _TOLD} more" if len(ordered) > _TOLD else ""
    return VenueError(
        f"venue file {str(path)!r}: {'; '.join(told)}{more}.",
        hint=f"Correct it and load it again; {_DOCS}",
        ids={"file": str(path), "field": _place(data, ordered[0][0])},
    )


def _location(mistake: ErrorDetails) -> tuple[int | str, ...]:
    """Where the mistake is, without the names pydantic adds for the arms of a union."""
    return tuple(part for part in mistake["loc"] if part not in _ARMS)


def _place(data: Any, location: Sequence[int | str]) -> str:
    """``fields.rating.options[2].value``: list entries by their name or id where they have one, else by position."""
    text = ""
    for part in location:
        data = _inside(data, part)
        if isinstance(part, str):
            text += f".{part}" if text else part
            continue
        name = (data.get("name") or data.get("id")) if isinstance(data, dict) else None
        text += f".{name}" if isinstance(name, str) and not is_unfilled(name) else f"[{part}]"
    return text


def _inside(data: Any, part: int | str) -> Any:
    if isinstance(data, dict):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _cause(mistake: ErrorDetails) -> str:
    if mistake["loc"] and mistake["loc"][-1] in _ARMS:
        return f"is {_shown(mistake['input'])}, which is neither a finite number nor a string"
    match mistake["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return f"is not a key of a venue file{_nearest(mistake)}"
        case "value_error":
            return f"does not hold together: {mistake['ctx']['error']}"
        case "tuple_type":
            return f"is {_shown(mistake['input'])}, where a list belongs"
        case "model_type" | "dict_type":
            return f"is {_shown(mistake['input'])}, where a table of keys belongs"
        case _:
            return f"is {_shown(mistake['input'])}: {mistake['msg'][:1].lower()}{mistake['msg'][1:]}"


def _nearest(mistake: ErrorDetails) -> str:
    *path, key = (str(part) for part in mistake["loc"])
    model = next((_TABLES[part] for part in reversed(path) if part in _TABLES), VenueForm)
    near = nearest(key, model.model_fields, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
