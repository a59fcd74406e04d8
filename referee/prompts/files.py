"""Prompts as a person works on them: listed, shown, copied to a file, checked, and compared."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.errors import PromptError
from referee.prompts.loader import Prompt, load_prompt, prompt_ids, prompt_versions, shipped_text
from referee.prompts.own import own_prompt
from referee.prompts.uses import USES
from referee.settings import read_choices


@dataclass(frozen=True)
class ListedPrompt:
    """A prompt that ships: whom it asks, where, what it is given, what it must answer."""

    id: str
    role: str
    used: str
    inputs: tuple[str, ...]
    reply: str
    versions: tuple[str, ...]


def listed_prompts(part: str = "") -> list[ListedPrompt]:
    """The prompts whose id or use holds this text; all by default."""
    rows = []
    for name in prompt_ids():
        role, used = USES[name]
        if part in name or part in used:
            prompt, versions = _newest(name), tuple(prompt_versions(name))
            rows.append(ListedPrompt(name, role, used, tuple(sorted(prompt.inputs)), prompt.reply, versions))
    return rows


def described_prompt(name: str) -> Iterator[str]:
    """A prompt with all that is known about it, in lines; ``name`` is an id, or ``ID@VERSION``."""
    text, _ = _text_of(name)
    prompt_id, _, version = name.partition("@")
    prompt = load_prompt(prompt_id, version or prompt_versions(prompt_id)[-1])
    role, used = USES[prompt_id]
    yield f"{prompt.id} {prompt.version} (versions: {', '.join(prompt_versions(prompt_id))})"
    yield f"Used: {used}; asks the {role}."
    yield f"Follows: {prompt.source}"
    yield f"Last change: {prompt.changed}"
    yield f"Inputs: {', '.join(sorted(prompt.inputs)) or 'none'}"
    yield f"Reply: {prompt.reply}"
    yield f"Digest: {prompt.digest}"
    yield ""
    yield from text.splitlines()


def copy_prompt(name: str, target: Path) -> Path:
    """Write a version that ships to a new file, to be changed; ``name`` is an id, or ``ID@VERSION``.

    Raises:
        PromptError: There is no such prompt, or the file is there or cannot be written.
    """
    text, _ = _text_of(name)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise PromptError(f"{str(target)!r} is there already.", hint="Name a new file.") from error
    except OSError as error:
        cause = error.strerror or error
        raise PromptError(f"{str(target)!r} cannot be written: {cause}.", hint="Choose another place.") from error
    return target


def check_prompt(path: Path) -> Prompt:
    """The prompt of a file, checked as a run checks it.

    Raises:
        SettingsError: The file cannot be read, or holds a key.
        PromptError: It cannot take the place of the prompt that it names.
    """
    return own_prompt(read_choices({str(path): path})[str(path)])


def prompt_difference(first: str, second: str) -> list[str]:
    """What differs between two prompts as a unified diff; each is a file, an id, or ``ID@VERSION``.

    Raises:
        SettingsError: A file cannot be read, or holds a key.
        PromptError: There is no such prompt.
    """
    (one, of), (other, to) = _text_of(first), _text_of(second)
    return list(difflib.unified_diff(one.splitlines(), other.splitlines(), of, to, lineterm="", n=2))


def _text_of(name: str) -> tuple[str, str]:
    """The text of a file or of a version that ships, and its name."""
    if Path(name).is_file():
        return read_choices({name: Path(name)})[name].text, name
    prompt_id, _, version = name.partition("@")
    chosen = version or prompt_versions(prompt_id)[-1]
    return shipped_text(prompt_id, chosen), f"{prompt_id}@{chosen}"


def _newest(prompt_id: str) -> Prompt:
    return load_prompt(prompt_id, prompt_versions(prompt_id)[-1])
