"""Steps as a file that a person edits: a heading ``## GUIDELINE`` and numbered lines for each guideline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from referee.errors import VenueError
from referee.nearest import did_you_mean
from referee.secrets import holds_key
from referee.venues.refined import read_refined

Steps = dict[str, tuple[str, ...]]

_HEADING = re.compile(r"##\s+(\S+)\s*")
_STEP = re.compile(r"\s*(?:\d+[.)]|[-*])\s+(.*\S)\s*")


def read_steps(path: Path, guidelines: Sequence[str]) -> Steps:
    """The steps of a file by guideline: Markdown as ``steps_text`` writes it, or refined prompts as JSON.

    Args:
        path: The file. Guidelines that it does not name are left out.
        guidelines: Those that there are.

    Raises:
        VenueError: It cannot be read, names an unknown guideline or one twice, or a guideline has no step; with the
            line.
    """
    if path.suffix == ".json":
        stored = {one.guideline_id: one.current.steps for one in read_refined(path).guidelines}
        return {name: steps for name, steps in stored.items() if name in guidelines}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VenueError(
            f"the steps in {str(path)!r} cannot be read: {error}.", hint="Give a text file in UTF-8."
        ) from error
    found: dict[str, list[str]] = {}
    at: dict[str, int] = {}
    steps: list[str] | None = None
    for number, line in enumerate(lines, 1):
        heading, step = _HEADING.fullmatch(line), _STEP.fullmatch(line)
        if holds_key(line):
            raise _refused(path, number, "this looks like a key", "Take it out: steps are sent to the model.")
        if heading:
            name = heading[1]
            if name not in guidelines:
                offer = f"{did_you_mean(name, guidelines)}There are: {', '.join(guidelines)}."
                raise _refused(path, number, f"there is no guideline {name!r}", offer)
            if name in found:
                raise _refused(path, number, f"{name!r} has its steps in line {at[name]} already", "Keep one.")
            steps, at[name] = found.setdefault(name, []), number
        elif steps is None or not line.strip():
            continue
        elif step:
            steps.append(step[1])
        elif steps:
            steps[-1] = f"{steps[-1]} {line.strip()}"
        else:
            raise _refused(path, number, "no step has begun", "Begin each step with its number: 1. Look for ...")
    for name, given in found.items():
        if not given:
            raise _refused(path, at[name], f"{name!r} has no step", "Write one, or remove the heading.")
    if not found:
        raise _refused(path, 1, "there is no heading of a guideline", f"Write ## {guidelines[0]}, then its steps.")
    return {name: tuple(given) for name, given in found.items()}


def steps_text(steps: Mapping[str, Iterable[str]], head: Sequence[str]) -> str:
    """The file of these steps, under lines that say what it is for."""
    blocks = [
        "\n".join([f"## {name}", *(f"{n}. {one_line(step)}" for n, step in enumerate(given, 1))])
        for name, given in steps.items()
    ]
    return "\n\n".join(["\n".join(head), *blocks]) + "\n"


def one_line(step: str) -> str:
    """A step as it stands in a file: in one line."""
    return " ".join(step.split())


def _refused(path: Path, line: int, problem: str, hint: str) -> VenueError:
    return VenueError(f"{str(path)!r}, line {line}: {problem}.", hint=hint)
