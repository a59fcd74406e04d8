"""What a provider's exception means: try again, give up, or the prompt is too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from referee.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from referee.llm.bounds import causes
from referee.llm.clients import transport_errors
from referee.llm.providers import key_variable, provider_of
from referee.llm.spec import ModelSpec
from referee.secrets import scrub

_RETRYABLE = (408, 409, 429)  # beside all from 500 on
_REFUSED_STATUS = (400, 422, 501)
_EMPTY_BALANCE = "credit balance is too low"  # Anthropic says it with status 400
_NO_CREDIT = ("insufficient_quota", "insufficient credit", "billing", "credit balance")
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|exceed_context|context the overflows")
# Words for a prompt that is too long, each of which stands in such a text beside the two numbers.
_INPUT = re.compile(r"prompt|input|context|sequence")
_OVERFLOW = re.compile(r"long|exceed|<=?|>|less than|at most|maximum|limit|too (?:large|many|big)|range")
_LONGEST_SMALL = 256
_GOOGLE_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
_MAX_TEXT = 300
_WEB_PAGE = re.compile(r"<!doctype html|<html")
_NO_SERVER = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror", "UnsupportedProtocol"}
_TIMEOUTS = {"TimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError"}

# What the SDKs raise over a body that is no chat reply: a web page, an empty object, a list.
_NO_CHAT_REPLY: tuple[type[Exception], ...] = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


class NotReached(ModelUnavailable):
    """There is no server at the address: no connection, or an unknown host."""


class NoReply(ModelUnavailable):
    """What answered is no reply: a web page, nothing, half an object. A server may do that once, or be another one."""


class RequestRefused(ModelRefused):
    """The server does not take the request as it is; without something in it, it may. ``said`` is all its words."""

    said = ""


@contextmanager
def classified(spec: ModelSpec, *, as_what: str = "a chat server") -> Iterator[None]:
    """What the SDK, the transport, or a body that is no valid answer leads to is raised as ``classify`` has it."""
    try:
        yield
    except (*provider_of(spec).errors(), *transport_errors(), *_NO_CHAT_REPLY) as error:
        raise classify(error, spec, as_what=as_what) from error


def classify(error: Exception, spec: ModelSpec, *, as_what: str = "a chat server") -> ModelError:
    """Turn an SDK's or transport's exception into ours; provider text is scrubbed of keys and shortened.

    ``as_what`` is what was expected at the address. The returned error has ``retry_after_s`` in ``ids`` where the
    provider named a pause.
    """
    body = _body(error)
    status, text = _status(error, body), _text(error, body)
    said = re.sub(rf"\b{status}\b", "", f"{text} {error} {dict(body)}".lower())  # its own number says nothing
    names = {type(cause).__name__ for cause in causes(error)}
    no_credit = status == 402 or (status == 429 and any(mark in said for mark in _NO_CREDIT)) or _EMPTY_BALANCE in said
    page = isinstance(error, _NO_CHAT_REPLY) and _WEB_PAGE.search(text.lower())
    shown = "a web page came" if page else f"{type(error).__name__}: {text}"
    name, model = repr(spec.id), "check the model and its settings"
    kinds: tuple[tuple[Any, type[ModelError], str, str], ...] = (
        (
            _is_too_long(error, status, said),
            ContextTooLong,
            f"the prompt does not fit into the context of {name}: {text}.",
            "Set models.context_tokens to what the server really offers (in referee.toml, or as "
            "REFEREE_MODELS__CONTEXT_TOKENS), or use a model with a longer context.",
        ),
        (
            status in (401, 403) or (status == 400 and "api key" in said),
            ModelRefused,
            f"{name} refused the key (HTTP {status}): {text}.",
            f"Set {key_variable(spec)} to a key that this server takes; it was not tried again.",
        ),
        (
            status == 404,
            ModelRefused,
            f"{name} was not found (HTTP 404): {text}.",
            "Check the model's name and --base-url.",
        ),
        (no_credit, ModelRefused, f"{name} has no credit left: {text}.", "Add credit, or use another model."),
        (
            "more system memory" in said,
            ModelRefused,
            f"{name} does not fit this machine: {text}.",
            "Use a smaller model, or a shorter context (models.context_tokens).",
        ),
        (
            status in _REFUSED_STATUS,
            RequestRefused,
            f"{name} rejected the request (HTTP {status}): {text}.",
            f"It was not tried again but for what a server may refuse; {model}.",
        ),
        (
            status in _RETRYABLE or (status or 0) >= 500,
            ModelUnavailable,
            f"{name} answered with HTTP {status}: {text}.",
            _LATER,
        ),
        (
            status is not None,
            ModelRefused,
            f"{name} rejected the request (HTTP {status}): {text}.",
            f"It was not tried again; {model}.",
        ),
        (
            names & _NO_SERVER,
            NotReached,
            f"no connection to {(spec.base_url or spec.provider)!r} for model {name}: {text}.",
            "Check that the server runs and that its address is right.",
        ),
        (
            names & _TIMEOUTS,
            ModelUnavailable,
            f"{name} did not answer in time.",
            f"{_LATER} calls.timeout_s is how long one call may take.",
        ),
        (
            isinstance(error, _NO_CHAT_REPLY),
            NoReply,
            f"{name} answered, but not as {as_what} does ({shown}).",
            "Check --base-url: it mostly ends in /v1." if spec.base_url else _LATER,
        ),
        (True, ModelUnavailable, f"{name} did not answer: {shown}.", _LATER),
    )
    _, kind, message, hint = next(row for row in kinds if row[0])
    failure = kind(message, hint=hint, ids={"model": spec.id} | _retry_after(error))
    if isinstance(failure, RequestRefused):
        failure.said = said
    return failure


_LATER = "Try again later: a resumed run (--resume) keeps what is done."


def _is_too_long(error: Exception, status: int | None, said: str) -> bool:
    """By its own type, by a usual phrase, or by two numbers of tokens beside words of input and of overflow."""
    from langchain_core.exceptions import ContextOverflowError

    if isinstance(error, ContextOverflowError) or _TOO_LONG.search(said):
        return True
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]{0,20}", said)]
    return (
        status in (400, 413, 422)
        and len(numbers) > 1
        and max(numbers) >= _LONGEST_SMALL
        and bool(re.search("token|length", said) and _INPUT.search(said) and _OVERFLOW.search(said))
        and "per minute" not in said
    )


def _body(error: Exception) -> Mapping[str, Any]:
    """The error object of the provider's answer, which some send with status 200; empty where none was kept."""
    for cause in causes(error):
        for held in (getattr(cause, "body", None), *cause.args):
            if isinstance(held, Mapping):
                inner = held.get("error")
                return inner if isinstance(inner, Mapping) else held
    return {}


def _status(error: Exception, body: Mapping[str, Any]) -> int | None:
    """The HTTP status anywhere in the chain of causes, since SDKs wrap each other's errors, or as the body has it."""
    for cause in causes(error):
        for value in (getattr(cause, "status_code", None), getattr(cause, "code", None)):
            if isinstance(value, int) and 400 <= value < 600:
                return value
    code = str(body.get("code"))
    return int(code) if re.fullmatch("[45]\\d\\d", code) else None


def _retry_after(error: Exception) -> dict[str, str]:
    for cause in causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            milliseconds, seconds = _number(headers.get("retry-after-ms")), _seconds(headers.get("retry-after"))
            seconds = milliseconds / 1000 if milliseconds is not None else seconds
            if seconds is not None:
                return {"retry_after_s": str(max(0.0, seconds))}
    in_body = _GOOGLE_DELAY.search(str(error))
    return {"retry_after_s": str(float(in_body.group(1)))} if in_body else {}


def _seconds(value: str | None) -> float | None:
    """A Retry-After value: seconds, or a date."""
    if value is None or _number(value) is not None:
        return _number(value)
    try:
        return parsedate_to_datetime(value).timestamp() - datetime.now(UTC).timestamp()
    except (TypeError, ValueError):
        return None


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and value.replace(".", "", 1).isdigit() else None


def _text(error: Exception, body: Mapping[str, Any]) -> str:
    """The provider's words; a router's own and those of the provider behind it."""
    metadata = body.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, Mapping) else None
    told = [str(part) for part in (body.get("message"), behind) if part]
    text = scrub(" ".join((": ".join(told) or str(getattr(error, "message", None) or error)).split())).rstrip(".")
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."
