"""Scripts: what each role answers."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from tests.support.faults import Fault
from tests.support.request import ChatRequest

Scripted: TypeAlias = Mapping[str, Any] | BaseModel | str | Fault
Entry: TypeAlias = Scripted | Callable[[ChatRequest], Any] | list[Any]

_PLACE = re.compile(r"\{\{(quote|sentence)(?: ([\w-]+))?\}\}")


class ScriptError(AssertionError):
    """A script was asked for what it does not hold, or its own code failed. ``outcome`` is the call log's word."""

    def __init__(self, message: str, outcome: Literal["script_exhausted", "script_error"] = "script_error") -> None:
        super().__init__(message)
        self.outcome = outcome


class Script:
    """What to answer to whom.

    An entry is looked up by prompt id (``review/map@v2``, then ``review/map``), then role, then the name of the
    reply's schema, then ``*``. It is

    - a mapping or pydantic model: sent as JSON, each time. In its strings ``{{quote}}`` becomes a verbatim span of the
      prompt's longest delimited text, ``{{quote TAG}}`` one from the longest ``<TAG>``, ``{{sentence N}}`` the N-th
      sentence, counted from 0;
    - a string: sent as it is (JSON, or anything else);
    - a ``Fault``: happens;
    - a function of the ``ChatRequest``, plain or async, that returns one of these;
    - a list of these: a queue, one a call. Running out is a loud error, recorded and raised when the server closes.

    Args:
        entries: Key to entry.
        rules: Substring of the messages to role, for clients that send no ``x-referee-role`` header; first hit wins.
        otherwise: What calls without an entry get: a generated ``instance`` of the schema asked for, or ``fail``.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry] | None = None,
        *,
        rules: Mapping[str, str] | None = None,
        otherwise: Literal["instance", "fail"] = "instance",
    ) -> None:
        self.entries = {
            key: list(entry) if isinstance(entry, list) else entry for key, entry in (entries or {}).items()
        }
        self.rules = dict(rules or {})
        self.otherwise = otherwise

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a JSON file with the keys ``entries``, ``rules`` and ``otherwise``."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def role_of(self, text: str) -> str:
        """The role whose rule the messages' text matches; empty if none does."""
        return next((role for part, role in self.rules.items() if part in text), "")

    async def answer(self, request: ChatRequest) -> str | Fault:
        """The reply's text, or the fault that happens instead.

        Raises:
            ScriptError: A queue ran out, nothing is held for the request, or the script's own code raised.
        """
        keys = (request.prompt_id, request.prompt_id.partition("@")[0], request.role, request.schema_name, "*")
        key = next((key for key in keys if key and key in self.entries), None)
        if key is None:
            return self._otherwise(request)
        entry = self.entries[key]
        if isinstance(entry, list):
            if not entry:
                raise ScriptError(f"the script for {key!r} has run out of replies.", "script_exhausted")
            entry = entry.pop(0)
        if callable(entry):
            entry = await _call(entry, request, key)
        return _as_text(entry, request)

    def unused(self) -> dict[str, int]:
        """How many replies are left in each queue that still holds some."""
        return {key: len(entry) for key, entry in self.entries.items() if isinstance(entry, list) and entry}

    def _otherwise(self, request: ChatRequest) -> str:
        if self.otherwise == "fail":
            raise ScriptError(
                f"the script holds nothing for role {request.role!r}, prompt {request.prompt_id!r}, "
                f"reply {request.schema_name!r}."
            )
        return generated(request)


def generated(request: ChatRequest) -> str:
    """What is answered without a script: an instance of the schema, or a remark with a quotation.

    Raises:
        ScriptError: The schema is malformed, or nothing fits it.
    """
    if request.schema is not None:
        try:
            return json.dumps(request.instance(), ensure_ascii=False)
        except (ValueError, TypeError, KeyError, AttributeError, re.error) as error:
            raise ScriptError(f"no reply could be made up: {error}") from error
    remark = f"Remark on the material: {request.quotation()}"
    return json.dumps({"remark": remark}, ensure_ascii=False) if request.json_mode else remark


async def _call(function: Callable[[ChatRequest], Any], request: ChatRequest, key: str) -> Scripted:
    """Call a script's function; whatever it raises comes back as one error with the cause attached."""

    async def run() -> Any:
        result = function(request)
        return await result if inspect.isawaitable(result) else result

    result: Any = (await asyncio.gather(run(), return_exceptions=True))[0]
    if isinstance(result, ScriptError):
        raise result
    if isinstance(result, BaseException):
        raise ScriptError(f"the script's function for {key!r} raised {result!r}.") from result
    scripted: Scripted = result
    return scripted


def _as_text(entry: Any, request: ChatRequest) -> str | Fault:
    if isinstance(entry, str | Fault):
        return entry
    if isinstance(entry, BaseModel):
        entry = entry.model_dump(mode="json")
    if not isinstance(entry, Mapping | list):
        raise ScriptError(f"the script answers with a {type(entry).__name__}; it takes a mapping, a model or a string.")
    return json.dumps(_fill(entry, request, request.rng()), ensure_ascii=False)


def _fill(value: Any, request: ChatRequest, rng: random.Random) -> Any:
    if isinstance(value, str):
        return _PLACE.sub(lambda place: _place(place.group(1), place.group(2), request, rng), value)
    if isinstance(value, Mapping):
        return {key: _fill(item, request, rng) for key, item in value.items()}
    return [_fill(item, request, rng) for item in value] if isinstance(value, list | tuple) else value


def _place(kind: str, argument: str | None, request: ChatRequest, rng: random.Random) -> str:
    if kind == "quote":
        return request.quotation(argument, rng)
    found = request.sentences()
    number = int(argument or 0)
    if number >= len(found):
        raise ScriptError(f"a script asks for sentence {number}; the prompt's material has {len(found)}.")
    return found[number]
