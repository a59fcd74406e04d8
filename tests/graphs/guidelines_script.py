"""A guideline page, and what a scripted model says of its statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.support import ChatRequest

PAGE = """# Workshop on Testing 2026: Reviewer Guidelines

Thank you for reviewing. Your review helps the authors and the chairs.

## What to look for

- Is the paper technically sound, and is every claim supported by evidence?
- Is the contribution novel with respect to prior work?
- Do the experiments compare with at least 3 strong baselines?
- Is the contribution novel with respect to the prior work?

## How to write

- Be specific: name the section and the sentence that you criticise.
- Do not reject a paper only because it lacks state-of-the-art results.
- Please write at least two sentences on the weaknesses of the paper.

You must not use ChatGPT or other language models to write your review.

## Review form

### Summary

Please summarise the paper and its contributions.

### Weaknesses

Please describe the weaknesses of the paper.

### Overall recommendation

- 4: strong accept
- 3: accept
- 2: reject
- 1: strong reject
"""

CRITERION = "criterion"
NOISE = "noise"

Say = Callable[[str], tuple[str, str, str]]


def statements(request: ChatRequest) -> dict[str, str]:
    """Id to statement, as they stand in the prompt."""
    (span,) = request.spans("statements")
    lines = (re.match(r"(g\d+): (.*)", line) for line in span.splitlines())
    return {found[1]: found[2] for found in lines if found}


def labelling(say: Say) -> Callable[[ChatRequest], dict[str, Any]]:
    """A reply that labels every statement as ``say`` does: label, kind, paraphrase."""

    def reply(request: ChatRequest) -> dict[str, Any]:
        labels = [(name, *say(words)) for name, words in statements(request).items()]
        named = (dict(zip(("id", "label", "kind", "says"), label, strict=True)) for label in labels)
        return {"labels": [{**label, "parts": []} for label in named]}

    return reply


def everything(label: str) -> Callable[[ChatRequest], dict[str, Any]]:
    """A model that gives everything one label."""
    return labelling(lambda words: (label, "subjective", ""))


def sensible(words: str) -> tuple[str, str, str]:
    """A model that takes questions and advice for criteria and repeats them with a word before them."""
    if words.startswith(("Thank", "Your review")):
        return NOISE, "subjective", ""
    return CRITERION, "objective" if "at least" in words else "subjective", f"See to this: {words}"
