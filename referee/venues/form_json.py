"""A review form as JSON becomes a venue: an OpenReview invitation of API v1 or v2, or its fields alone. No model."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.errors import VenueError
from referee.schemas.foreign import Unreadable, json_value
from referee.schemas.venue import Fact, FormProvenance, LlmPolicy, Source, VenueForm
from referee.venues.form_json_fields import ReadField, is_field, read_field
from referee.venues.registry import Stored, check_storable, store_venue

MAX_BYTES = 10 * 2**20
_MOST_FIELDS = 200
_SOURCE = "form"
_MODELS = re.compile(r"\b(?:LLMs?|language models?|generative AI|AI (?:tools?|assistan\w+)|chat ?gpt)\b", re.IGNORECASE)
# Where an invitation holds the fields of the note it asks for, and the API that writes it so.
_PLACES = (
    (("edit", "note", "content"), "OpenReview, API v2"),
    (("edit", "invitation", "edit", "note", "content"), "OpenReview, API v2"),
    (("reply", "content"), "OpenReview, API v1"),
)
_EXPECTED = (
    "an invitation of OpenReview: its fields under reply.content (API v1), edit.note.content or "
    "edit.invitation.edit.note.content (API v2), or these fields alone"
)


def read_form_json(path: Path, *, venue_id: str, name: str | None = None) -> VenueForm:
    """The venue whose boxes are those of a form in JSON: in the form's order, with its names, values and labels.

    What this package does not know is kept and said under the form's ``unknown``: a kind of field it has no box for
    is listed for a person and never filled. The file has no rule on language models and no guidelines.

    Raises:
        VenueError: The file cannot be read, is no JSON, or holds no review form, or several.
    """
    data = _bytes(path)
    platform, invitation, content = _content(path, _decoded(path, data))
    entries = sorted(content.items(), key=lambda entry: _order(entry[1]))
    if len(entries) > _MOST_FIELDS:
        raise VenueError(
            f"{str(path)!r} has {len(entries)} fields; a review form has {_MOST_FIELDS} at most.",
            hint="Check the file.",
        )
    fact = Fact(confidence="secondary", sources=(_SOURCE,))
    read = [read_field(name, spec, fact) for name, spec in entries]
    fields = tuple(one.field for one in read if one.field is not None)
    if not any(not field.attestation for field in fields):
        raise VenueError(
            f"{str(path)!r} holds no box that a reviewer fills.", hint=f"Give {_EXPECTED}.", ids={"venue": venue_id}
        )
    scores = [field.name for field in fields if field.kind == "score" and field.aspect == "overall"]
    today = datetime.now(UTC).date()
    title = f"Review form in {path.name}{f', invitation {invitation}' if invitation else ''}"
    digest = hashlib.sha256(data).hexdigest()
    return VenueForm(
        id=venue_id,
        name=name or _venue_name(invitation) or venue_id,
        fields=fields,
        overall=scores[0] if len(scores) == 1 else None,
        llm_policy=_policy(content),
        sources={_SOURCE: Source(title=f"{title} (sha-256 {digest[:12]})", date=today.isoformat())},
        provenance=FormProvenance(
            checked=today,
            platform=platform,
            venue_id=invitation.partition("/-/")[0],
            unknown=tuple(_unknown(read, scores)),
            notes=tuple(note for one in read for note in one.notes),
        ),
    )


def compile_form(
    path: Path, *, venue_id: str, name: str | None = None, force: bool = False
) -> tuple[VenueForm, Stored]:
    """Make a venue of the user's own from a form in JSON, and say where it lies.

    Raises:
        VenueError: As ``read_form_json``; or the id is unusable, or taken and ``force`` is not given.
    """
    check_storable(venue_id, force=force)
    form = read_form_json(path, venue_id=venue_id, name=name)
    return form, store_venue(form, force=force)


def is_form_file(source: str) -> bool:
    """Whether a source of ``venue compile`` is a form in JSON and no page."""
    return source.lower().endswith(".json") and "://" not in source


def _unknown(read: list[ReadField], scores: list[str]) -> list[str]:
    several = f"; {len(scores)} could be: {', '.join(scores)}" if scores else ""
    overall = [f"which score is the overall rating: the form does not say{several}"] if len(scores) != 1 else []
    return [
        *(item for one in read for item in one.unknown),
        *(overall or ["which value of the overall rating leans to acceptance"]),
        "the venue's guidelines for reviewers: a form has none",
        "the rule on language models for reviewers: none was looked for",
    ]


def _policy(content: Mapping[str, Any]) -> LlmPolicy:
    named = [name for name, spec in content.items() if _MODELS.search(json.dumps(spec, default=str))]
    mention = f" Fields that mention language models: {', '.join(named)}; read them." if named else ""
    return LlmPolicy(
        status="unknown",
        sentence=f"A review form has no rule on reviewers' use of language models.{mention}",
        applies_to="reviewers",
        fact=Fact(confidence="secondary", sources=(_SOURCE,), note="Only the form was read."),
    )


def _venue_name(invitation: str) -> str:
    return invitation.partition("/-/")[0]


def _order(spec: Any) -> float:
    """The place that a field names; fields that name none follow the others as the file has them."""
    order = spec.get("order") if isinstance(spec, dict) else None
    if isinstance(order, bool) or not isinstance(order, int | float) or not abs(order) < 1e9:
        return float("inf")
    return float(order)


def _content(path: Path, data: Any) -> tuple[str, str, Mapping[str, Any]]:
    """The platform, the invitation's id and the fields; refuses what is something else, and says what it is."""
    listed = data.get("invitations") if isinstance(data, dict) else None
    if isinstance(listed, list):
        if len(listed) != 1:
            raise _no_form(path, f"a list of {len(listed)} invitations", "Save the one of the reviews as a file.")
        data = listed[0]
    if not isinstance(data, dict):
        raise _no_form(path, f"a {_kind(data)}")
    for keys, platform in _PLACES:
        found = _inside(data, keys)
        if isinstance(found, dict) and found:
            _check_fields(path, found)
            return platform, str(data.get("id") or ""), found
        if found is not None:
            raise _no_form(path, f"an invitation without fields under {'.'.join(keys)}")
    if data and all(is_field(spec) for spec in data.values()):
        version = 2 if any("value" in spec for spec in data.values()) else 1
        return f"OpenReview, API v{version}", "", data
    raise _other(path, data)


def _other(path: Path, data: Mapping[str, Any]) -> VenueError:
    if {"fields", "llm_policy"} <= set(data):
        return _no_form(path, "a venue file already", f"Write: referee venue show {path}")
    forms = [str(key) for key, inner in data.items() if _is_form(inner)]
    if forms:
        return _no_form(path, f"{len(forms)} forms ({', '.join(forms[:6])})", "Save the one of the reviews as a file.")
    if isinstance(data.get("content"), dict):
        return _no_form(path, "a note, that is a filled form", "Save the invitation that the note names.")
    broken = [str(key) for key, spec in data.items() if not is_field(spec)]
    near = [key for key in data if key not in broken]
    if near:
        return _no_form(path, f"fields beside something else: {', '.join(map(repr, broken[:6]))}")
    return _no_form(path, "no invitation")


def _is_form(inner: Any) -> bool:
    return isinstance(inner, dict) and bool(inner) and all(is_field(spec) for spec in inner.values())


def _check_fields(path: Path, content: Mapping[str, Any]) -> None:
    broken = [name for name, spec in content.items() if not isinstance(spec, dict)]
    if broken:
        raise _no_form(path, f"an invitation whose field {broken[0]!r} is no field but {_kind(content[broken[0]])}")


def _no_form(path: Path, what: str, hint: str = "") -> VenueError:
    return VenueError(f"{str(path)!r} holds {what}, and not one review form.", hint=hint or f"Give {_EXPECTED}.")


def _kind(value: Any) -> str:
    names = {list: "list", str: "text", bool: "truth value", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _inside(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise VenueError(f"{str(path)!r} is no file.", hint="Name one JSON file with the form.")
        if path.stat().st_size > MAX_BYTES:
            raise VenueError(
                f"{str(path)!r} has more than {MAX_BYTES >> 20} MB.", hint="Save only the invitation of the reviews."
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise VenueError(f"form {str(path)!r} does not exist.", hint="Check the path.") from error
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise VenueError(f"form {str(path)!r} cannot be read: {cause}.", hint="Check the path.") from error


def _decoded(path: Path, data: bytes) -> Any:
    try:
        return json_value(data, f"form {str(path)!r}", keys_once=True)  # a key twice would lose a field in silence
    except Unreadable as error:
        raise VenueError(
            error.message, hint=f"Save it again as UTF-8; it may have been cut off. Give {_EXPECTED}."
        ) from error
