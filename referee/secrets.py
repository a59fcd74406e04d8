"""Keys: how they are recognised, and how they are kept out of every text this package writes."""

from __future__ import annotations

import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

HIDDEN = "[key removed]"

_NAMES = re.compile(
    r"(API_?KEY|_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PASS|CREDENTIALS?)(_\d+)?$", re.IGNORECASE
)
_PLACE = re.compile(r"CREDENTIALS?(_\d+)?$", re.IGNORECASE)  # often of a file with a key; its place is none
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{12,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|\b(?:gsk|hf|gh[pousr])_[A-Za-z0-9]{16,}"
    r"|\bxai-[A-Za-z0-9]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{16,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"
    r"|(?<=Bearer )\S{8,}"
    r"|(?i:(?<=authorization: basic ))\S{8,}"
)
_LOGIN = re.compile(r"(?<=://)[^\s/?#'\"<>]+(?=@)")
_QUERY = re.compile(
    r"([?&][^\s=&#'\"]*(?:key|token|secret|pass|sig|auth|cred)[^\s=&#'\"]*=)[^\s&#'\"<>]+", re.IGNORECASE
)
_SHORTEST = 6
_SHORTEST_PART = 8
# How a value's bytes fall into base64's groups of three: what stands before it decides the first characters.
_BASE64_STARTS = ((0, 0), (1, 2), (2, 3))


def scrub(text: str, env: Mapping[str, str] | None = None) -> str:
    """Remove keys from a text.

    These are the values of the environment's key variables, also where they are escaped for an address, in base64, or
    cut so that half of them is left (8 characters or more); what has the shape of a provider's key; and in addresses
    the login and the values of parameters named like keys. Values under 6 characters are left alone: removing them
    would garble ordinary words.
    """
    for form in _forms_of_environment(_bytes_of(os.environ)) if env is None else _forms(_values(env)):
        text = _without(text, form)
    text = _SHAPES.sub(HIDDEN, text)
    if "://" not in text and "?" not in text and "&" not in text:
        return text
    return _QUERY.sub(rf"\1{HIDDEN}", _LOGIN.sub(HIDDEN, text))


def scrub_tree(value: Any, env: Mapping[str, str] | None = None) -> Any:
    """``scrub`` for all strings in mappings and sequences, the mappings' keys included."""
    if isinstance(value, str):
        return scrub(value, env)
    if isinstance(value, Mapping):
        return {scrub_tree(key, env): scrub_tree(inner, env) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(scrub_tree(inner, env) for inner in value)
    return value


def holds_key(text: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether ``scrub`` would remove something."""
    return scrub(text, env) != text


def names_key(name: str) -> bool:
    """Whether a setting or variable of this name would hold a key."""
    return name.replace("-", "_").lower().endswith(("key", "token", "secret", "password"))


def _values(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values of key variables, the longest first: one may be a part of another."""
    found = {
        value.strip()
        for name, value in env.items()
        if _NAMES.search(name) and not (_PLACE.search(name) and value.startswith(("/", "~", ".")))
    }
    return tuple(sorted((value for value in found if len(value) >= _SHORTEST), key=lambda v: (-len(v), v)))


def _bytes_of(environment: Any) -> frozenset[tuple[bytes, bytes]]:
    """The environment as it is kept: to decode all of it for each text took a tenth of a review's time."""
    return frozenset(environment._data.items())


@lru_cache(maxsize=8)
def _forms_of_environment(kept: frozenset[tuple[bytes, bytes]]) -> tuple[str, ...]:
    return _forms(_values({os.fsdecode(name): os.fsdecode(value) for name, value in kept}))


@lru_cache(maxsize=8)
def _forms(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for value in values for form in _forms_of(value)))


def _forms_of(value: str) -> Iterator[str]:
    """A value as it is, escaped as in addresses and in Python's repr, and in base64 wherever it begins."""
    yield value
    yield quote(value, safe="")
    yield repr(value)[1:-1]
    raw = value.encode("utf-8", "surrogateescape")
    for encode in (b64encode, urlsafe_b64encode):
        for before, unsure in _BASE64_STARTS:
            yield encode(bytes(before) + raw).decode().rstrip("=")[unsure:-1]


def _without(text: str, secret: str) -> str:
    """The text without each stretch that shares half of the secret's characters with it in a row."""
    width = min(len(secret), max(_SHORTEST_PART, len(secret) // 2))
    covered: list[tuple[int, int]] = []
    for start in range(len(secret) - width + 1):
        part, at = secret[start : start + width], -1
        while (at := text.find(part, at + 1)) >= 0:
            covered.append((at, at + width))
    for begin, end in reversed(_joined(covered)):
        text = text[:begin] + HIDDEN + text[end:]
    return text


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
