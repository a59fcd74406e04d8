"""From a model's text to a validated reply, or to an error a model can mend."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from referee.llm.json_text import FoundJson, UnusableReply, mended_prose, objects_in, without_reasoning

T = TypeVar("T", bound=BaseModel)

_MAX_SHOWN = 6
_MOST_WRAPPERS = 3
_NO_OBJECT = "The reply was not a JSON object."
_ONLY_REASONING = "The reply held nothing but reasoning. Write the JSON object outside of it."
_COPIED = "The reply holds only a JSON object that was copied from the material. Write your own."
_SEVERAL = "The reply holds several JSON objects that differ and would all do. Write one, the final one, and no other."


def read_reply(text: str, reply: type[T], *, material: str = "") -> tuple[T, tuple[str, ...]]:
    """Validate a model's text against its reply model.

    One valid object counts, wherever it stands: in a code fence, in prose, in a list of one, under one key. Reasoning
    does not count; an object that was copied from the material does not count beside another one. Of a broken object
    behind a valid one nobody knows whether it was to replace it. A string that is only too long is cut at its limit,
    and the cut is returned as a note.

    Args:
        text: What the model wrote.
        reply: The reply model.
        material: What the model was sent.

    Returns:
        The reply, and one note per cut string.

    Raises:
        UnusableReply: Empty text, no JSON, NaN or infinity, a key twice in one object, a number that is true or false,
            values that do not fit, several valid objects that differ, or only one that was copied.
    """
    if not text.strip():
        raise UnusableReply("The reply was empty.")
    valid = list[tuple[str, T, tuple[str, ...]]]()
    problem = UnusableReply(_NO_OBJECT if without_reasoning(text) else _ONLY_REASONING)
    for found in {one.text: one for one in objects_in(text)}.values():
        try:
            valid.append((found.text, *_read(found, reply)))
        except UnusableReply as error:
            problem = error
            if valid and found.problem:
                raise
    if not valid:
        raise problem
    (_, value, notes), *others = _own(valid, material)
    if any(other != value for _, other, _ in others):
        raise UnusableReply(_SEVERAL, once=True)
    return value, notes


def _own(valid: list[tuple[str, T, tuple[str, ...]]], material: str) -> list[tuple[str, T, tuple[str, ...]]]:
    """The objects that do not stand in the material, blanks and line breaks aside."""
    shown = "".join(material.split()) if "{" in material else ""
    if not (own := [one for one in valid if "".join(one[0].split()) not in shown]):
        raise UnusableReply(_COPIED, once=True)
    return own


def _read(found: FoundJson, reply: type[T]) -> tuple[T, tuple[str, ...]]:
    if found.problem:
        raise found.problem
    data = mended_prose(_unwrapped(found.value, reply))
    value, notes = _validated(data, reply)
    _refuse_truths(data, value)
    return value, notes


def _unwrapped(data: Any, reply: type[BaseModel]) -> Any:
    """The one item of a list, or the one value under a name that is no field of the reply."""
    names = {name for key, field in reply.model_fields.items() for name in (key, field.alias)}
    for _ in range(_MOST_WRAPPERS):
        held = list(data.values()) if isinstance(data, dict) else data
        if not isinstance(held, list) or len(held) != 1 or not isinstance(held[0], dict | list):
            break
        if isinstance(data, dict) and not names.isdisjoint(data):
            break
        data = held[0]
    return data


def _validated(data: Any, reply: type[T], notes: tuple[str, ...] = ()) -> tuple[T, tuple[str, ...]]:
    """The reply, once strings are cut that are only too long; ``notes`` are of those that were."""
    try:
        return reply.model_validate(data), notes
    except ValidationError as error:
        cuts = () if notes else tuple(_cut_long_strings(data, error))
        if not cuts:
            raise _described(error) from error
    return _validated(data, reply, cuts)


def _refuse_truths(given: Any, read: Any, *path: int | str) -> None:
    """True and false are no numbers, which pydantic would make of them."""
    if isinstance(given, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        place = _dotted(path)
        raise UnusableReply(f"The reply does not fit its schema:\n- {place}: {given!r} is no number", (place,))
    if isinstance(given, dict) and isinstance(read, dict | BaseModel):
        for name, value in given.items():
            held = read.get(name) if isinstance(read, dict) else getattr(read, name, None)
            _refuse_truths(value, held, *path, name)
    elif isinstance(given, list) and isinstance(read, list | tuple) and len(given) == len(read):
        for number, (value, held) in enumerate(zip(given, read, strict=True)):
            _refuse_truths(value, held, *path, number)


def _cut_long_strings(data: Any, error: ValidationError) -> list[str]:
    """Cut every string that is too long, in place; do nothing when anything else is wrong as well."""
    problems = error.errors()
    if any(problem["type"] != "string_too_long" for problem in problems):
        return []
    notes = []
    for problem in problems:
        *path, last = problem["loc"]
        holder = data
        for part in path:
            holder = holder[part]
        limit = problem["ctx"]["max_length"]
        notes.append(f"{_dotted(problem['loc'])} was cut from {len(holder[last])} to {limit} characters")
        holder[last] = holder[last][:limit]
    return notes


def _described(error: ValidationError) -> UnusableReply:
    problems = error.errors(include_url=False)
    lines = [f"- {_dotted(p['loc'])}: {p['msg']}{_given(p)}" for p in problems[:_MAX_SHOWN]]
    more = f"\n- and {len(problems) - _MAX_SHOWN} more" if len(problems) > _MAX_SHOWN else ""
    fields = tuple(dict.fromkeys(_dotted(p["loc"]) for p in problems))
    return UnusableReply("The reply does not fit its schema:\n" + "\n".join(lines) + more, fields)


def _given(problem: ErrorDetails) -> str:
    """What stood there; for a missing field pydantic names its whole surroundings instead."""
    return "" if problem["type"] == "missing" else f" (given: {_short(problem['input'])})"


def _dotted(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "the reply"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
