"""What a server may refuse, and what is sent in its place: one table for all providers.

A refusal says little: servers word it as they like, or not at all. So each feature that a refused request carries may
be replaced once, first those that the server's words suggest. What helped is remembered with the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from referee.llm.providers.protocol import WireRequest

STREAM = "stream"
_PICTURES, _LENGTH, _SCHEMA = "pictures", "so long a reply", "response_format"
_SYSTEM, _TEMPERATURE, _NAME = "a system message", "temperature", "the limit of tokens by its usual name"
_LIMIT = r"max_(?:completion_|output_|new_)?tokens|max_?output_?tokens|(?:output|completion) tokens"
_FEATURES = {
    _PICTURES: (r"image|picture|vision|multi-?modal", ""),
    _LENGTH: (_LIMIT, "replies are limited to {:,} tokens"),
    _SCHEMA: (r"response_format|schema|grammar|structured output|output_config|tool_choice", "it is in the prompt"),
    _SYSTEM: (r"\bsystem\b", "its text is at the head of the user's"),
    STREAM: (r"stream_options|['`]stream['`]|streaming", "replies come whole"),
    _TEMPERATURE: (r"temperature", "it was left out"),
    _NAME: (_LIMIT, "the other name is used"),
}
"""In the order in which they are replaced where no words help: what suggests a feature, and what is done instead.

Pictures have no substitute here: a reply about a picture that was not shown would look like any other. Whether a model
takes pictures is asked before (``vision``).
"""
_LEAST_REPLY = 16


def substitute(
    said: str, request: WireRequest, tried: Mapping[str, int], *, streamed: bool, has_names: bool, guess: bool
) -> tuple[str, int, bool] | None:
    """What to replace in a refused request; null where nothing is left.

    Args:
        said: The server's words.
        request: As it was sent.
        tried: What was replaced for this call before.
        streamed: Whether the reply was to come in pieces.
        has_names: Whether the limit of tokens has another name.
        guess: Whether features that the words do not suggest are replaced as well: a batch would take hours for each.

    Returns:
        The feature, the limit that the words name (0 without one), and whether the words suggest the feature.
    """
    suggested = [name for name, (words, _) in _FEATURES.items() if re.search(words, said, re.IGNORECASE)]
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]{0,20}\d", said)]
    lower = max((number for number in numbers if _LEAST_REPLY <= number < request.max_output_tokens), default=0)
    carried = {
        _LENGTH: _LENGTH in suggested and lower > 0 and _LENGTH not in tried,
        _SCHEMA: request.native,
        _SYSTEM: request.system_role,
        STREAM: streamed,
        _TEMPERATURE: request.temperature is not None,
        _NAME: has_names and not request.renamed_limit,
    }
    if request.images and _PICTURES in suggested:
        return None
    found = next((name for name in (*suggested, *(_FEATURES if guess else ())) if carried.get(name)), None)
    return None if found is None else (found, lower if found == _LENGTH else 0, found in suggested)


def accepted(request: WireRequest, refused: Mapping[str, int]) -> WireRequest:
    """The request with substitutes for what was refused; its digest stays that of the full one."""
    return replace(
        request,
        temperature=None if _TEMPERATURE in refused else request.temperature,
        native=request.native and _SCHEMA not in refused,
        system_role=_SYSTEM not in refused,
        renamed_limit=_NAME in refused,
        max_output_tokens=min(request.max_output_tokens, refused.get(_LENGTH, request.max_output_tokens)),
    )


def substitutes_told(model: str, refused: Mapping[str, int]) -> str:
    """One sentence on what a model does not take, and what is done instead."""
    told = [f"{name} ({_FEATURES[name][1].format(limit)})" for name, limit in refused.items()]
    return f"{model} does not take {', '.join(told)}"
