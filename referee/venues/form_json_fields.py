"""One field of a form in JSON as a box of a venue: kind, values with labels, whether it is required."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from referee.errors import VenueError
from referee.schemas.venue import Aspect, Fact, FieldKind, FormField, Option
from referee.venues.page.form import aspect_of

_V1_ONE = ("value-radio", "value-dropdown")
_V1_SEVERAL = ("values-checkbox", "value-checkbox", "values-dropdown")
_V1_TEXT = ("value-regex", "value-textarea")
_NUMBERED = re.compile(r"^(?P<value>-?\d{1,6}(?:\.\d{1,6})?)(?P<sign>\s*[:=]\s*|\s+|$)(?P<label>.*)$", re.DOTALL)
_LIMIT = re.compile(r"\{\d*,(\d{1,9})\}\$?$")
_PERSONAL = re.compile(
    r"code of conduct|\backnowledge(?:ment)?\b|certif|attest|declaration|compliance|author identity|first.time reviewer"
    r"|(?:^|\s)knowledge of|secondary reviewer|conflicts? of interest",
    re.IGNORECASE,
)
_LONGEST_ASKS = 600
_LONGEST_NAME = 200
_LONGEST_RANGE = 101


@dataclass(frozen=True)
class ReadField:
    """A box, or none where the field holds no answer; what stays unknown of it, and what somebody should know."""

    field: FormField | None
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Answer:
    """What a field takes. ``raw`` are its values as the form has them; none for text."""

    kind: Literal["text", "one", "several", "constant", "other"]
    raw: tuple[Any, ...] = ()
    max_chars: int | None = None
    required: bool = False
    said: str = ""


def is_field(spec: Any) -> bool:
    """Whether a value is the description of a field, of API v1 or v2, and not a field's content."""
    if not isinstance(spec, dict):
        return False
    value = spec.get("value")
    inner = isinstance(value, dict) and "param" in value
    return inner or any(str(key).startswith(("value-", "values-")) for key in spec)


def read_field(name: str, spec: Mapping[str, Any], fact: Fact) -> ReadField:
    """A field as the box it is.

    Raises:
        VenueError: Its name cannot be one: blank, longer than 200 characters, or with control characters.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise VenueError(f"the form has a field named {name[:60]!r}, which is no name.", hint="Correct the file.")
    answer = _answer(spec)
    if answer.kind == "constant":
        return ReadField(None, notes=(f"{name} is set or deleted by the form itself: it is no box",))
    title = " ".join(name.replace("_", " ").split())
    options, stored, said = _options(answer)
    kind = _kind(answer, options)
    unknown = [f"{name}: {item}" for item in (answer.said, said) if item]
    aspect = aspect_of(title)
    field = FormField(
        name=name,
        title=title[:1].upper() + title[1:],
        kind=kind,
        asks=_asks(spec, title),
        options=options if kind != "text" else (),
        required=answer.required,
        aspect=_shown_aspect(kind, aspect),
        attestation=answer.kind == "other" or bool(_PERSONAL.search(title)),
        max_chars=answer.max_chars if kind == "text" else None,
        as_string=kind == "score" and stored != "number",
        string_shape="space" if stored == "space" else "colon",
        fact=fact,
    )
    return ReadField(field, tuple(unknown))


def _shown_aspect(kind: FieldKind, aspect: Aspect) -> Aspect | None:
    return aspect if kind == "score" or (kind == "choice" and aspect not in ("other", "overall")) else None


def _kind(answer: _Answer, options: tuple[Option, ...]) -> FieldKind:
    if answer.kind in ("text", "other") or not options:
        return "text"
    if answer.kind == "several":
        return "flag"
    return "choice" if any(isinstance(option.value, str) for option in options) or len(options) < 2 else "score"


def _asks(spec: Mapping[str, Any], title: str) -> str:
    """The form's own words on the box, whole sentences as far as they go."""
    described = spec.get("description")
    words = " ".join(described.split()) if isinstance(described, str) else ""
    if len(words) > _LONGEST_ASKS:
        cut = words[:_LONGEST_ASKS]
        words = f"{cut[: cut.rfind('. ') + 1] or cut.rpartition(' ')[0]} ..."
    return words or f"{title[:1].upper()}{title[1:]}."


def _answer(spec: Mapping[str, Any]) -> _Answer:
    value = spec.get("value")
    if isinstance(value, dict) and isinstance(value.get("param"), dict):
        return _second(value["param"])
    if "value" in spec or spec.get("delete") is True:
        return _Answer("constant")
    return _first(spec)


def _first(spec: Mapping[str, Any]) -> _Answer:
    """API v1: the key says the kind, and only ``required`` makes a field so."""
    required = spec.get("required") is True
    for keys, kind in ((_V1_ONE, "one"), (_V1_SEVERAL, "several")):
        for key in keys:
            if key in spec:
                return _Answer(kind, _values(spec[key]), required=required)  # type: ignore[arg-type]
    for key in _V1_TEXT:
        if key in spec:
            return _Answer("text", max_chars=_longest(spec[key]), required=required)
    kinds = ", ".join(sorted(str(key) for key in spec if str(key).startswith("value")))
    return _Answer("other", required=required, said=_strange(kinds or "none"))


def _second(param: Mapping[str, Any]) -> _Answer:
    """API v2: a type, perhaps an enumeration, and ``optional`` where it need not be filled."""
    if "const" in param or param.get("hidden") is True:
        return _Answer("constant")
    required = param.get("optional") is not True
    kind = str(param.get("type", "string"))
    offered = _values(param["enum"] if "enum" in param else param.get("items"))
    if offered and kind in ("string", "integer", "float", "string[]", "integer[]", "float[]"):
        return _Answer("several" if kind.endswith("[]") else "one", offered, required=required)
    if kind == "boolean":
        return _Answer("one", ("Yes", "No"), required=required, said="its values are true and false on the platform")
    if kind in ("integer", "float") and (span := _range(param)):
        return _Answer("one", span, required=required)
    if kind == "string" and "enum" not in param and "items" not in param:
        longest = param.get("maxLength")
        limit = longest if isinstance(longest, int) and not isinstance(longest, bool) and longest > 0 else None
        return _Answer("text", max_chars=limit or _longest(param.get("regex")), required=required)
    return _Answer("other", required=required, said=_strange(kind))


def _strange(kind: str) -> str:
    return f"its kind ({kind[:80]}) is not one this package has a box for: it is left to a person"


def _values(raw: Any) -> tuple[Any, ...]:
    return tuple(raw) if isinstance(raw, list) else (raw,) if isinstance(raw, str) else ()


def _longest(regex: Any) -> int | None:
    found = _LIMIT.search(regex) if isinstance(regex, str) else None
    return int(found[1]) or None if found else None


def _range(param: Mapping[str, Any]) -> tuple[int, ...]:
    low, high = param.get("minimum"), param.get("maximum")
    if type(low) is not int or type(high) is not int or not 1 <= high - low < _LONGEST_RANGE:
        return ()
    return tuple(range(high, low - 1, -1))


def _options(answer: _Answer) -> tuple[tuple[Option, ...], str, str]:
    """The values with their labels, how the platform stores them (number, colon, space, text), and what was lost."""
    pairs = [pair for raw in answer.raw if (pair := _pair(raw)) is not None]
    lost = len(answer.raw) - len(pairs)
    said = f"{lost} of its values could not be read" if lost else ""
    if answer.kind == "one" and pairs and (scale := _scale(pairs)):
        return *scale, said
    distinct = dict(reversed(pairs))
    if len(distinct) < len(pairs):
        said = "; ".join(filter(None, (said, "it offers a value twice: once is kept")))
    texts = [(value, distinct[value]) for value in dict.fromkeys(value for value, _ in pairs)]
    return tuple(Option(value=_text(value), label=label) for value, label in texts), "text", said


def _pair(raw: Any) -> tuple[int | float | str, str] | None:
    """A value and its label: of a bare value, or of ``{"value": 5, "description": "5 = Excellent"}``."""
    value, label = (raw.get("value"), raw.get("description")) if isinstance(raw, dict) else (raw, "")
    if isinstance(value, bool) or not isinstance(value, int | float | str) or value == "":
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value, " ".join(label.split()) if isinstance(label, str) else ""


def _scale(pairs: list[tuple[int | float | str, str]]) -> tuple[tuple[Option, ...], str] | None:
    """The pairs as an ordered scale, where each has a number of its own and can be written back to the letter."""
    if not any(isinstance(value, str) for value, _ in pairs):
        options = [Option(value=value, label=_bare(label, value)) for value, label in pairs]
        stored = "number"
    else:
        found = [_NUMBERED.match(value) if isinstance(value, str) else None for value, _ in pairs]
        signs = {match["sign"] if match and match["label"] else "" for match in found}
        if signs not in ({": "}, {" "}):
            return None
        options = [Option(value=_number(match["value"]), label=match["label"]) for match in found if match]
        stored = "colon" if signs == {": "} else "space"
    values = [option.value for option in options]
    return (tuple(options), stored) if len(set(values)) == len(values) >= 2 else None


def _bare(label: str, value: int | float | str) -> str:
    """A label without the value that it repeats in front: ``5 = Excellent`` of 5 is ``Excellent``."""
    found = _NUMBERED.match(label)
    return found["label"].strip() if found and float(found["value"]) == value else label


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _text(value: int | float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
