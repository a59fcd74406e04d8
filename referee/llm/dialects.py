"""One reply schema, as each provider's structured output takes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

# What OpenAI's strict mode refuses; the bounds are enforced again when the reply is read.
_NOT_STRICT = ("title", "default", "maxLength", "minLength", "format", "examples")
_NO_SCHEMA = ("enum", "required", "default", "const")


class ReplySchema(dict[str, Any]):
    """The JSON schema of a reply model, which it still knows."""

    reply: type[BaseModel]


@lru_cache(maxsize=64)
def reply_schema(reply: type[BaseModel]) -> ReplySchema:
    """The reply model as JSON schema, without references, so that every provider understands it; not to be changed."""
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})
    inlined = ReplySchema(_inline(schema, definitions))
    inlined.reply = reply
    return inlined


def strict_schema(schema: Schema) -> Schema:
    """The same for OpenAI's strict mode: every property required, nothing else allowed, no string bounds."""

    def close(node: Schema) -> None:
        for key in _NOT_STRICT:
            node.pop(key, None)
        if "const" in node:
            node["enum"] = [node.pop("const")]
        if isinstance(node.get("properties"), dict):
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])

    return _changed(schema, close)


def bounded_schema(schema: Schema) -> Schema:
    """The same for grammars and tool calls: bounds stay, titles go."""
    return _changed(schema, lambda node: node.pop("title", None))


def _changed(schema: Schema, change: Callable[[Schema], object]) -> Schema:
    """A copy in which each schema, those within it first, was changed; what is no schema is shared with the old one."""
    copied: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            copied[key] = {name: _changed_value(inner, change) for name, inner in value.items()}
        else:
            copied[key] = value if key in _NO_SCHEMA else _changed_value(value, change)
    change(copied)
    return copied


def _changed_value(value: Any, change: Callable[[Schema], object]) -> Any:
    if isinstance(value, dict):
        return _changed(value, change)
    return [_changed_value(item, change) for item in value] if isinstance(value, list) else value


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        merged = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return _inline(merged, definitions)
    return {key: _inline(value, definitions) for key, value in node.items()}
