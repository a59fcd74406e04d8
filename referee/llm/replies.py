"""From a model's text to a validated reply, or to an error a model can mend."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

T = TypeVar("T", bound=BaseModel)

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_BEGINS_AS_OBJECT = re.compile(r"\s*(?:```(?:json)?\s*)?\{")
_MAX_SHOWN = 6


class UnusableReply(ValueError):
    """A reply that is no valid instance; the message is fit to be shown to the model that wrote it."""

    def __init__(self, message: str, fields: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.fields = fields


def read_reply(text: str, reply: type[T], *, cut_off: bool = False) -> tuple[T, tuple[str, ...]]:
    """Validate a model's text against its reply model.

    JSON may stand alone, in a code fence, or within prose: a valid object is not refused for its wrapping. A string
    that is only too long is cut at its limit, and the cut is returned as a note.

    Args:
        text: What the model wrote.
        reply: The reply model.
        cut_off: Whether the provider stopped the reply at its token limit.

    Returns:
        The reply, and one note per cut string.

    Raises:
        UnusableReply: Empty text, no JSON, NaN or infinity, a key twice in one object, a number that is true or false,
            or values that do not fit.
    """
    if not text.strip():
        long = "The reply was so long that nothing of it was kept. Write it again, much shorter."
        raise UnusableReply(long if cut_off else "The reply was empty.")
    data = _json_object(text, cut_off)
    found, notes = _validated(data, reply)
    _refuse_truths(data, found)
    return found, notes


def _validated(data: Any, reply: type[T]) -> tuple[T, tuple[str, ...]]:
    try:
        return reply.model_validate(data), ()
    except ValidationError as error:
        notes = tuple(_cut_long_strings(data, error))
        if not notes:
            raise _described(error) from error
    try:
        return reply.model_validate(data), notes
    except ValidationError as error:
        raise _described(error) from error


def _json_object(text: str, cut_off: bool) -> Any:
    fenced = _FENCE.search(text)
    candidates = [text, fenced.group(1)] if fenced else [text]
    for candidate in candidates:
        try:
            return _decoded(
                json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_object).decode, candidate
            )
        except json.JSONDecodeError as error:
            problem = error
    # A broken object holds whole ones inside it; only prose before the first brace makes a search worth while.
    broken = _BEGINS_AS_OBJECT.match(text) is not None
    if not broken and (found := _object_in_prose(text, tries=1 if cut_off else 20)) is not None:
        return found
    if cut_off:
        raise UnusableReply("The reply was cut off before the JSON object ended. Write it again, shorter.")
    if broken:
        raise UnusableReply(f"The reply is no valid JSON: {problem}.")
    raise UnusableReply("The reply was not a JSON object.")


def _object_in_prose(text: str, tries: int) -> Any:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_object)
    for start in [match.start() for match in re.finditer(r"\{", text)][:tries]:
        try:
            found, _ = _decoded(decoder.raw_decode, text, start)
        except json.JSONDecodeError:
            continue
        return found
    return None


def _decoded(decode: Callable[..., Any], *arguments: Any) -> Any:
    """Decode; what Python itself cannot hold is the reply's fault as well."""
    try:
        return decode(*arguments)
    except (json.JSONDecodeError, UnusableReply):
        raise
    except RecursionError as error:
        raise UnusableReply("The reply is nested too deeply.") from error
    except ValueError as error:
        raise UnusableReply("The reply holds a number with too many digits.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that is there twice nobody knows which value is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise UnusableReply(f"The reply names {next(key for key in keys if keys.count(key) > 1)!r} twice in an object.")
    return found


def _refuse_truths(given: Any, read: Any, *path: int | str) -> None:
    """True and false are no numbers, which pydantic would make of them."""
    if isinstance(given, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        place = _dotted(path)
        raise UnusableReply(f"The reply does not fit its schema:\n- {place}: {given!r} is no number", (place,))
    if isinstance(given, dict) and isinstance(read, BaseModel):
        for name, value in given.items():
            _refuse_truths(value, getattr(read, name, None), *path, name)
    elif isinstance(given, dict) and isinstance(read, dict):
        for name, value in given.items():
            _refuse_truths(value, read.get(name), *path, name)
    elif isinstance(given, list) and isinstance(read, list | tuple) and len(given) == len(read):
        for number, (value, held) in enumerate(zip(given, read, strict=True)):
            _refuse_truths(value, held, *path, number)


def _refuse_constant(name: str) -> NoReturn:
    raise UnusableReply(f"The reply holds {name}, which is not a JSON number.")


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
