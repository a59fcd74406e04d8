"""What came back from a provider: text, why it ended, and the tokens as far as their numbers can be true.

The text is looked for in every place where a provider or a server puts it: a call of our tool, the content or its
parts, a call of a tool of another name, and the reasoning, where a server's parser took the whole reply for that.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from referee.llm.bounds import body_too_long, most_characters
from referee.llm.json_text import without_reasoning

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.messages.ai import UsageMetadata

TOOL = "reply"
_MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Completion:
    """What came back. Token counts are null where the provider gave none, or none that can be true.

    ``ended`` says in the provider's words why the reply is not as the model meant it, for one that was cut off at a
    limit as well as for one that was refused or stopped by a filter; empty for a usual end.
    ``place`` is where the text stood, if that is unusual. ``cached_tokens`` are those of the input that came from the
    provider's cache, ``cache_write_tokens`` those that were written to it. ``streamed`` is whether the reply came in
    pieces.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    _: KW_ONLY
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    streamed: bool = False
    ended: str = ""
    place: str = ""


CUT_OFF = "the reply was cut off at the token limit"
_FAR_TOO_LONG = f"{CUT_OFF}: more came than such a reply can hold"
TOO_LONG = Completion("", None, None, ended=_FAR_TOO_LONG)
"""What stands for a body that no reply can be."""

_MOST_WORDS = 300
_LIMITS = frozenset({"length", "max_tokens", "model_context_window_exceeded", "model_length"})
_USUAL = frozenset({"", "stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "function_call", "eos", "load"})
_STOPPED = re.compile(
    "content_filter|refusal|safety|recitation|blocklist|prohibited_content|spii|image_safety|language"
)


def whole(message: AIMessage, max_output_tokens: int) -> Completion:
    """A message that came in one piece."""
    gathered = _Gathered()
    gathered.add(message)
    return gathered.completion(most_characters(max_output_tokens))


async def collected(
    chunks: AsyncGenerator[AIMessageChunk],
    max_output_tokens: int,
    begun: Callable[[], None],
    errors: tuple[type[Exception], ...],
) -> Completion | None:
    """A message that comes in pieces, read up to the bound; null where the stream held none, or was no stream.

    Args:
        chunks: The pieces. They are not read further once they are longer than a reply can be.
        max_output_tokens: The limit that was asked for.
        begun: Told of each piece when it comes.
        errors: What the SDK and the transport raise; another ``ValueError`` before the first piece means no stream.
    """
    most = most_characters(max_output_tokens)
    gathered, came = _Gathered(), False
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                begun()
                came = True
                gathered.add(chunk)
                if gathered.length > most:
                    break
    except Exception as error:
        if body_too_long(error):
            gathered.metadata["finish_reason"], came = "length", True
        elif came and isinstance(error, ValidationError):
            # LangChain refuses a piece whose numbers of tokens are none: the text before it is whole or is repaired.
            gathered.usage = None
        elif came or not isinstance(error, ValueError) or isinstance(error, errors):
            raise
    return replace(gathered.completion(most), streamed=True) if came else None


@dataclass
class _Gathered:
    """The parts of a message, or of its pieces, by their place."""

    parts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    calls: list[tuple[Any, str, list[str]]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    usage: UsageMetadata | None = None
    length: int = 0

    def add(self, message: AIMessage) -> None:
        """Take in a message or a piece of one."""
        from langchain_core.messages.ai import add_usage

        for place, text in _parts(message):
            self.parts[place].append(text)
            self.length += len(text) if place == "content" else 0
        for index, name, arguments in _calls(message):
            self.length += len(arguments)
            if self.calls and index is not None and self.calls[-1][0] == index:
                self.calls[-1][2].append(arguments)
            else:
                self.calls.append((index, name, [arguments]))
        self.metadata |= {name: value for name, value in message.response_metadata.items() if value}
        self.usage = add_usage(self.usage, message.usage_metadata) if message.usage_metadata else self.usage

    def completion(self, most: int) -> Completion:
        """All of it, with so many characters of text at most."""
        text, place = self._text()
        tokens: dict[str, Any] = dict(self.usage or {})
        details = tokens.get("input_token_details") or {}
        tokens_in = _number(tokens.get("input_tokens")) or None  # no prompt is empty
        # A tier of service stands before the names at OpenAI, the time of keeping in place of one at Anthropic.
        cached = sum(_number(count) or 0 for name, count in details.items() if name.endswith("cache_read"))
        written = sum(
            _number(count) or 0
            for name, count in details.items()
            if name.endswith("cache_creation") or name.startswith("ephemeral_")
        )
        believed = tokens_in is not None and cached + written <= tokens_in
        return Completion(
            text=text[:most],
            input_tokens=tokens_in,
            output_tokens=_number(tokens.get("output_tokens")) or (None if text or self.parts["reasoning"] else 0),
            cached_tokens=cached if believed else 0,
            cache_write_tokens=written if believed else 0,
            ended=self._ended(text, len(text) > most),
            place=place,
        )

    @property
    def _reason(self) -> str:
        names = ("finish_reason", "stop_reason", "done_reason")
        return str(next(filter(None, map(self.metadata.get, names)), ""))

    def _text(self) -> tuple[str, str]:
        """The text, and where it stood if that is unusual."""
        if ours := ["".join(pieces) for _, name, pieces in self.calls if name == TOOL]:
            return "\n".join(ours), ""
        content = "".join(self.parts["content"])
        if self.calls:
            _, name, _ = self.calls[0]
            text = "\n".join([content, *("".join(pieces) for _, _, pieces in self.calls)]).strip()
            return text, f"in a call of the tool {name!r}"
        if content.strip() or self.parts["refusal"] or self._reason.lower() not in _USUAL:
            return content or "".join(self.parts["refusal"]), ""
        return "".join(self.parts["reasoning"]), "in its reasoning" if self.parts["reasoning"] else ""

    def _ended(self, text: str, too_long: bool) -> str:
        """Why the reply is not as the model meant it, in the provider's words."""
        reason, feedback = self._reason, self.metadata.get("prompt_feedback") or {}
        details = self.metadata.get("stop_details") or {}
        said = [feedback.get("block_reason_message"), details.get("explanation"), "".join(self.parts["refusal"])]
        words = "".join(f": {' '.join(str(one).split())[:_MOST_WORDS]}" for one in said if one)
        if blocked := feedback.get("block_reason"):
            return f"the provider blocked the prompt ({getattr(blocked, 'value', blocked)}){words}"
        if self.parts["refusal"]:
            return f"the model declined{words}"
        if _STOPPED.fullmatch(reason.lower()):
            return f"the provider stopped the reply ({reason}){words}"
        if reason.lower() in _LIMITS:
            only_thought = (text.strip() or self.parts["reasoning"]) and not without_reasoning(text)
            return f"{CUT_OFF} ({reason}){'; all that came was reasoning' if only_thought else ''}"
        if too_long:
            return _FAR_TOO_LONG
        return "" if text.strip() or reason.lower() in _USUAL else f"the reply was empty (it ended with {reason!r})"


def _parts(message: AIMessage) -> Iterator[tuple[str, str]]:
    """The texts of a message that are no calls, each with its place: content, reasoning or refusal."""
    more = message.additional_kwargs
    for block in [message.content] if isinstance(message.content, str) else message.content:
        if isinstance(block, str):
            yield "content", block
        elif thought := block.get("thinking") or block.get("reasoning") or block.get("reasoning_content"):
            yield "reasoning", _flat(thought)
        elif block.get("refusal"):
            yield "refusal", _flat(block["refusal"])
        elif block.get("type", "text") in ("text", "output_text"):
            yield "content", _flat(block.get("text"))
    if thought := more.get("reasoning_content") or more.get("reasoning"):
        yield "reasoning", _flat(thought)
    if more.get("refusal"):
        yield "refusal", _flat(more["refusal"])


def _flat(part: Any) -> str:
    """The text of a part: a string, or parts of its own."""
    if isinstance(part, list):
        return "".join(map(_flat, part))
    return _flat(part.get("text")) if isinstance(part, dict) else part if isinstance(part, str) else ""


def _calls(message: AIMessage) -> Iterator[tuple[Any, str, str]]:
    """The calls of tools, or their pieces: which call it is (null for a whole one), the tool, and the arguments."""
    pieces: Any = getattr(message, "tool_call_chunks", None)
    calls: list[Any] = pieces if pieces is not None else [*message.tool_calls, *message.invalid_tool_calls]
    if not calls and (older := message.additional_kwargs.get("function_call")):
        calls = [{"index": "", "name": older.get("name"), "args": older.get("arguments")}]
    for call in calls:
        given = call["args"] or ""
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        yield call.get("index"), call["name"] or "", arguments


def _number(count: Any) -> int | None:
    """A number of tokens; null for what cannot be one: negative, broken, not finite, or beyond any bill."""
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= _MOST_TOKENS:
        return None
    return int(count) if count == int(count) else None
