"""The texts of the prompts that arms name, and how those of two arms differ.

A prompt is named by a version that ships, as ``v2``, or by a file of the user's own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from referee.experiments.arms import Arm
from referee.prompts import load_prompt
from referee.schemas.experiment import PromptChange
from referee.settings import PromptText

_HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def prompt_text(prompt_id: str, named: str | PromptText | None) -> str:
    """The prompt without its front matter.

    Args:
        prompt_id: Room and name, as ``review/single``.
        named: A version that ships, or a text of the user's own; None stands for the newest version that ships.

    Raises:
        PromptError: There is no such prompt or version.
    """
    if isinstance(named, PromptText):
        return _HEADER.sub("", named.text.replace("\r\n", "\n")).strip() + "\n"
    prompt = load_prompt(prompt_id, named)
    system = f"# system\n{prompt.system}\n\n" if prompt.system else ""
    return f"{system}# user\n{prompt.user}\n"


def prompt_changes(first: Arm, second: Arm) -> Iterator[PromptChange]:
    """How each prompt of the first arm differs from the second's, where either names it.

    Args:
        first: An arm.
        second: The arm it is compared with.
    """
    for prompt_id in sorted({*first.prompts, *second.prompts}):
        named = [arm.prompts.get(prompt_id) for arm in (second, first)]
        old, new = (prompt_text(prompt_id, one).splitlines() for one in named)
        labels = [
            "the newest that ships" if one is None else one.file if isinstance(one, PromptText) else one
            for one in named
        ]
        diff = difflib.unified_diff(old, new, labels[0], labels[1], lineterm="", n=1)
        yield PromptChange(
            first=first.name,
            second=second.name,
            prompt=prompt_id,
            named=(labels[1], labels[0]),
            diff="\n".join(diff),
        )
