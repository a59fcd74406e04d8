"""The texts of the prompts that arms name, and how those of two arms differ.

A prompt is named by a version that ships, as ``v2``, or by a file of the user's own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.errors import PromptError
from referee.experiments.arms import Arm
from referee.experiments.plan import file_of, is_file
from referee.prompts import load_prompt
from referee.schemas.experiment import PromptChange

_HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def prompt_text(prompt_id: str, named: Any, folder: Path) -> str:
    """The prompt without its front matter.

    Args:
        prompt_id: Room and name, as ``review/single``.
        named: A version, a file, or a file that was read; None stands for the newest version that ships.
        folder: What files are beside.

    Raises:
        PromptError: There is no such prompt, version or file.
    """
    if named is not None and is_file(named):
        return _HEADER.sub("", _file_text(prompt_id, named, folder)).strip() + "\n"
    prompt = load_prompt(prompt_id, None if named is None else file_of(named))
    system = f"# system\n{prompt.system}\n\n" if prompt.system else ""
    return f"{system}# user\n{prompt.user}\n"


def prompt_changes(first: Arm, second: Arm, folder: Path) -> Iterator[PromptChange]:
    """How each prompt of the first arm differs from the second's, where either names it.

    Args:
        first: An arm.
        second: The arm it is compared with.
        folder: What files are beside.
    """
    for prompt_id in sorted({*first.prompts, *second.prompts}):
        named = [arm.prompts.get(prompt_id) for arm in (second, first)]
        old, new = (prompt_text(prompt_id, one, folder).splitlines() for one in named)
        labels = ["the newest that ships" if one is None else file_of(one) for one in named]
        diff = difflib.unified_diff(old, new, labels[0], labels[1], lineterm="", n=1)
        yield PromptChange(
            first=first.name,
            second=second.name,
            prompt=prompt_id,
            named=(labels[1], labels[0]),
            diff="\n".join(diff),
        )


def _file_text(prompt_id: str, named: Any, folder: Path) -> str:
    text = getattr(named, "text", None)
    if text is not None:
        return str(text).replace("\r\n", "\n")
    try:
        return (folder / file_of(named)).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(
            f"prompt {prompt_id!r}: {file_of(named)!r} cannot be read: {error}.",
            hint="Name a file beside the plan, or a version that ships, as v1.",
        ) from error
