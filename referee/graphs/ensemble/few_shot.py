"""Worked examples of reviews from a file of the user's, as text for a prompt; none ships."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import SettingsError
from referee.prompts import delimit
from referee.schemas.foreign import Unreadable, json_value
from referee.secrets import scrub

MAX_BYTES = 400_000

_SHAPE = 'a JSON list of {"paper": TEXT, "review": TEXT or fields}, or a Markdown or text file with one example'


@dataclass(frozen=True)
class Examples:
    """``text`` is delimited material; ``digest`` is the file's sha-256, empty where there are none."""

    text: str = ""
    count: int = 0
    digest: str = ""


def read_examples(path: str | None) -> Examples:
    """Read the file that ``review.few_shot`` names.

    Args:
        path: A ``.json`` file with a list of examples (or one of them), or any other text file, which is one example.

    Raises:
        SettingsError: The file cannot be read, is too large, holds no example, or is JSON of another shape.
    """
    if path is None:
        return Examples()
    try:
        raw = Path(path).read_bytes()
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, f"cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}") from error
    if len(raw) > MAX_BYTES:
        raise _unusable(path, f"has {len(raw):,} bytes; examples may have {MAX_BYTES:,}")
    shown = _from_json(path, text) if Path(path).suffix.lower() == ".json" else [text.strip()]
    shown = [example for example in shown if example]
    if not shown:
        raise _unusable(path, "holds no example")
    numbered = (delimit("example", example, number=str(n)) for n, example in enumerate(shown, start=1))
    return Examples(
        "How a review on this form may look:\n" + "\n".join(numbered), len(shown), hashlib.sha256(raw).hexdigest()
    )


def _from_json(path: str, text: str) -> list[str]:
    try:
        data = json_value(text, "the file")
    except Unreadable as error:
        raise _unusable(path, error.reason) from error
    items = data if isinstance(data, list) else [data]
    return [_example(path, number, item) for number, item in enumerate(items, start=1)]


def _example(path: str, number: int, item: Any) -> str:
    if not isinstance(item, dict) or not item.get("review"):
        raise _unusable(path, f"has no 'review' in example {number}")
    paper, review = item.get("paper") or "", item["review"]
    if not isinstance(paper, str) or not isinstance(review, str | dict):
        raise _unusable(path, f"has another shape in example {number}")
    body = review if isinstance(review, str) else json.dumps(review, ensure_ascii=False, indent=1)
    return f"Paper: {paper}\nReview: {body}" if paper else f"Review: {body}"


def _unusable(path: str, why: str) -> SettingsError:
    return SettingsError(
        f"the examples {scrub(repr(path))} of review.few_shot: the file {why}.", hint=f"Give {_SHAPE}."
    )
