"""What a provider's exception means: try again, give up, or the prompt is too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from referee.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from referee.llm.providers import key_variable
from referee.llm.spec import ModelSpec
from referee.secrets import scrub

RETRYABLE_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_NO_QUOTA = ("insufficient_quota", "billing", "credit balance")
_TOO_LONG = (
    "exceed_context_size",
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "exceeds the context length",
    "context the overflows",
    "greater than the context length",
    "context size has been exceeded",
)
_GOOGLE_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
_MAX_TEXT = 300
_TIMEOUTS = {"TimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError"}

# What the SDKs raise over a body that is no chat reply: a web page, an empty object, a list.
_NO_CHAT_REPLY = (ValueError, TypeError, AttributeError, LookupError)


class NotReached(ModelUnavailable):
    """There is no server at the address: no connection, or an unknown host."""


class NoReply(ModelUnavailable):
    """What answered is no reply: a web page, nothing, half an object. A server may do that once, or be another one."""


class ParameterRefused(ModelRefused):
    """The provider does not take one of our optional parameters; the same request without it may pass."""

    def __init__(self, message: str, *, parameter: str, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.parameter = parameter


def classify(error: Exception, spec: ModelSpec, *, as_what: str = "a chat server") -> ModelError:
    """Turn an SDK's or transport's exception into ours; provider text is scrubbed of keys and shortened.

    ``as_what`` is what was expected at the address. The returned error has ``retry_after_s`` in ``ids`` where the
    provider named a pause.
    """
    status, text = _status(error), _text(error)
    ids = {"model": spec.id} | _retry_after(error)
    if _is_too_long(error, text):
        return ContextTooLong(
            f"the prompt does not fit into the context of {spec.id!r}: {text}.",
            hint="Set models.context_tokens to what the server really offers (in referee.toml, or as "
            "REFEREE_MODELS__CONTEXT_TOKENS), or use a model with a longer context.",
            ids=ids,
        )
    if status in (401, 403) or (status == 400 and "api key" in text.lower()):
        return ModelRefused(
            f"{spec.id!r} refused the key (HTTP {status}): {text}.",
            hint=f"Set {key_variable(spec)} to a key that this server takes; it was not tried again.",
            ids=ids,
        )
    if status == 404:
        return ModelRefused(
            f"{spec.id!r} was not found (HTTP 404): {text}.", hint="Check the model's name and --base-url.", ids=ids
        )
    if status == 429 and any(mark in text.lower() for mark in _NO_QUOTA):
        return ModelRefused(
            f"{spec.id!r} has no quota left: {text}.", hint="Add credit, or use another model.", ids=ids
        )
    if "more system memory" in text:
        return ModelRefused(
            f"{spec.id!r} does not fit this machine: {text}.",
            hint="Use a smaller model, or a shorter context (models.context_tokens).",
            ids=ids,
        )
    if status in RETRYABLE_STATUS or (status is not None and status >= 500):
        return ModelUnavailable(f"{spec.id!r} answered with HTTP {status}: {text}.", hint=_LATER, ids=ids)
    if status is not None:
        return _rejected(spec, status, text, ids)
    return _without_status(error, spec, text, ids, as_what)


_LATER = "Try again later: a resumed run (--resume) keeps what is done."


def _rejected(spec: ModelSpec, status: int, text: str, ids: dict[str, str]) -> ModelError:
    for parameter, marks in (
        ("temperature", ("temperature",)),
        ("response_format", ("response_format", "json_schema", "output_config", "response_json_schema")),
        ("stream", ("stream_options", "'stream'", "`stream`", "streaming")),
    ):
        if any(mark in text for mark in marks):
            return ParameterRefused(
                f"{spec.id!r} does not take {parameter} (HTTP {status}): {text}.", parameter=parameter, ids=ids
            )
    return ModelRefused(
        f"{spec.id!r} rejected the request (HTTP {status}): {text}.",
        hint="It was not tried again; check the model and its settings.",
        ids=ids,
    )


def _without_status(error: Exception, spec: ModelSpec, text: str, ids: dict[str, str], as_what: str) -> ModelError:
    names = {type(e).__name__ for e in _chain(error)}
    if names & {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror", "UnsupportedProtocol"}:
        where = spec.base_url or spec.provider
        return NotReached(
            f"no connection to {where!r} for model {spec.id!r}: {text}.",
            hint="Check that the server runs and that its address is right.",
            ids=ids,
        )
    if names & _TIMEOUTS:
        return ModelUnavailable(
            f"{spec.id!r} did not answer in time.",
            hint=f"{_LATER} calls.timeout_s is how long one call may take.",
            ids=ids,
        )
    if isinstance(error, _NO_CHAT_REPLY):
        return NoReply(
            f"{spec.id!r} answered, but not as {as_what} does ({type(error).__name__}: {text}).",
            hint="Check --base-url: it mostly ends in /v1." if spec.base_url else _LATER,
            ids=ids,
        )
    return ModelUnavailable(f"{spec.id!r} did not answer: {type(error).__name__}: {text}.", hint=_LATER, ids=ids)


def _is_too_long(error: Exception, text: str) -> bool:
    from langchain_core.exceptions import ContextOverflowError

    return isinstance(error, ContextOverflowError) or any(mark in text.lower() for mark in _TOO_LONG)


def _status(error: Exception) -> int | None:
    """The HTTP status anywhere in the chain of causes: SDKs wrap each other's errors."""
    for cause in _chain(error):
        for name in ("status_code", "code"):
            value = getattr(cause, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _retry_after(error: Exception) -> dict[str, str]:
    for cause in _chain(error):
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


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def _text(error: Exception) -> str:
    message = getattr(error, "message", None)
    text = scrub(" ".join(str(message or error).split())).rstrip(".")
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."
