"""Prompts of the user's own in place of those that ship: what is checked of a file, and how it becomes active.

A prompt of one's own has the shipped one's id, inputs and reply, because the program fills in the one and reads the
other. Its version is the file's name and the first digits of the template's digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NoReturn

from referee.errors import PromptError
from referee.prompts.loader import (
    HEADER_KEYS,
    PLACE,
    Prompt,
    active_prompts,
    load_prompt,
    parse_prompt,
    prompt_versions,
)
from referee.settings import PromptText

_DIGITS = 8
_NAME = re.compile(r"[^A-Za-z0-9._-]+")  # it goes into a header of each call
_BRACES = re.compile(r"\{\{|\}\}")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9_-]*)\b[^<>]*>")


def chosen_prompts(choices: Mapping[str, str | PromptText]) -> dict[str, Prompt]:
    """The prompts that settings choose, checked, by id.

    Raises:
        PromptError: There is no such prompt or version, or a prompt of the user's own cannot take its place.
    """
    return {
        name: own_prompt(given, name) if isinstance(given, PromptText) else _shipped(name, given)
        for name, given in choices.items()
    }


def own_prompt(given: PromptText, prompt_id: str | None = None) -> Prompt:
    """A prompt of the user's own, for ``prompt_id`` or by default for the id that its header names.

    Raises:
        PromptError: Its header, inputs, reply or template do not fit the shipped one's; the message names the line.
    """
    check = _Check(given)
    header, at = check.header()
    if prompt_id is not None and header["id"] != prompt_id:
        check.refuse(
            at["id"], f"its id is {header['id']!r}, and it was given for {prompt_id!r}.", f"Write id: {prompt_id}"
        )
    name = header["id"]
    try:
        shipped = load_prompt(name, prompt_versions(name)[-1])
    except PromptError as error:
        raise PromptError(f"{given.file!r}, line {at['id']}: {error.message}", hint=error.hint) from error
    if header["reply"] not in {load_prompt(name, version).reply for version in prompt_versions(name)}:
        check.refuse(
            at["reply"],
            f"its reply is {header['reply']!r}, and the program reads {shipped.reply!r}.",
            f"Write reply: {shipped.reply}",
        )
    check.inputs(header["inputs"], at["inputs"], shipped)
    check.parts(has_system=bool(shipped.system))
    check.template(shipped, at["inputs"])
    prompt = parse_prompt(check.text, name, header["version"])
    prompt = replace(prompt, version=f"{_NAME.sub('-', given.file)}-{prompt.digest[:_DIGITS]}", is_own=True)
    prompt.render(**{one: f"<{one}>" for one in prompt.inputs})
    return prompt


def own_versions(prompt_ids: Iterable[str]) -> dict[str, str]:
    """Of these prompts those for which the run has chosen another than the newest that ships: version by id."""
    chosen = active_prompts()
    return {name: chosen[name].version for name in prompt_ids if name in chosen}


def kept_name(prompt_id: str) -> str:
    """Where a run folder keeps the text of a prompt of the user's own."""
    return f"prompts/{prompt_id.replace('/', '+')}.md"


def _shipped(prompt_id: str, version: str) -> Prompt:
    prompt, newest = load_prompt(prompt_id, version), load_prompt(prompt_id, prompt_versions(prompt_id)[-1])
    if prompt.inputs != newest.inputs:
        odd = ", ".join(sorted(prompt.inputs ^ newest.inputs))
        raise PromptError(
            f"prompt {prompt_id!r} {version} can no longer be used: its inputs and those of {newest.version} differ in "
            f"{odd}.",
            hint=f"Use {newest.version}, or a file of your own that has its inputs.",
        )
    return prompt


class _Check:
    """Finds what is wrong with a file, and the line."""

    def __init__(self, given: PromptText) -> None:
        self.text = given.text.replace("\r\n", "\n")
        self.file = given.file
        self._lines = self.text.splitlines()
        self._body = 0

    def refuse(self, line: int, problem: str, hint: str) -> NoReturn:
        raise PromptError(f"{self.file!r}, line {line}: {problem}", hint=hint)

    def header(self) -> tuple[dict[str, str], dict[str, int]]:
        """The front matter's values, and the line of each."""
        lines = self._lines
        if not lines or lines[0] != "---" or "---" not in lines[1:]:
            self.refuse(
                1, "there is no front matter between --- lines.", "Begin with a copy: referee prompts copy ID FILE"
            )
        self._body = lines.index("---", 1) + 1
        values, at = {}, {}
        for number, line in enumerate(lines[1 : self._body - 1], 2):
            key, colon, value = line.partition(":")
            key = key.strip()
            if not line.strip():
                continue
            if not colon or key not in HEADER_KEYS or key in values:
                why = "twice" if key in values else "unknown"
                self.refuse(
                    number, f"{key!r} is {why} in the front matter.", f"It has {', '.join(sorted(HEADER_KEYS))}."
                )
            values[key], at[key] = value.strip().strip('"'), number
        missing = [key for key in sorted(HEADER_KEYS) if key not in values]
        if missing:
            self.refuse(self._body, f"the front matter lacks {', '.join(missing)}.", "Add it above this line.")
        return values, at

    def inputs(self, written: str, line: int, shipped: Prompt) -> None:
        """See that it takes what the program gives."""
        names = {name.strip() for name in written.strip("[]").split(",")} - {""}
        wanted = f"Write inputs: [{', '.join(sorted(shipped.inputs))}]"
        if missing := sorted(shipped.inputs - names):
            self.refuse(line, f"its inputs lack {', '.join(missing)}.", wanted)
        if unknown := sorted(names - shipped.inputs):
            self.refuse(line, f"nothing is given for its inputs {', '.join(unknown)}.", wanted)

    def parts(self, *, has_system: bool) -> None:
        """See that it has the parts of the shipped one."""
        at = {text: n for n, text in reversed([*enumerate(self._lines, 1)]) if n > self._body}
        first = next((n for n, line in enumerate(self._lines, 1) if n > self._body and line.strip()), self._body)
        user, system = at.get("# user"), at.get("# system")
        if user is None:
            self.refuse(
                len(self._lines), "there is no '# user' part.", "Write '# user' above the task, on a line alone."
            )
        if first != min(user, system or user):
            self.refuse(
                first, "text stands before the first part.", "Begin with '# system' or '# user', on a line alone."
            )
        if system is not None and not has_system:
            self.refuse(
                system, "it has a '# system' part, and follows a prompt that has one.", "Put all under '# user'."
            )

    def template(self, shipped: Prompt, line: int) -> None:
        """See that its places are its inputs, that no braces are left over, and that no delimiter ends unopened."""
        seen: set[str] = set()
        open_tags: set[str] = set()
        for number, text in enumerate(self._lines[self._body :], self._body + 1):
            names = set(PLACE.findall(text))
            if unknown := sorted(names - shipped.inputs):
                known = ", ".join(sorted(shipped.inputs))
                self.refuse(number, f"nothing is given for {{{{{unknown[0]}}}}}.", f"Its inputs are {known}.")
            seen |= names
            if _BRACES.search(PLACE.sub("", text)):
                self.refuse(number, "braces are left over: a place is {{name}}.", "Close it, or take the braces out.")
            for closing, tag in _TAG.findall(text):
                if closing and tag not in open_tags:
                    self.refuse(
                        number,
                        f"</{tag}> closes what was not opened: material given as <{tag}> would seem to end.",
                        "Take it out; the program puts delimiters around what it fills in.",
                    )
                open_tags.add(tag)
        if unused := sorted(shipped.inputs - seen):
            self.refuse(
                line, f"its text has no place for {', '.join(unused)}.", f"Write {{{{{unused[0]}}}}} where it belongs."
            )
