"""Where refined prompts are kept: one JSON file per venue and model, beside the user's own venues.

The file holds what was refined or used last; what another key had left there lies beside it under that key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from referee.errors import VenueError
from referee.runs.files import write_atomically
from referee.venues.refined import RefinedPrompts
from referee.venues.registry import user_venue_dir

_KEY_CHARS = 12


def prompts_dir() -> Path:
    """The folder of refined prompts; it need not exist. ``REFEREE_CONFIG_DIR`` moves it."""
    return user_venue_dir().parent / "prompts"


def refined_path(venue: str, model: str, root: Path | None = None) -> Path:
    """The file of one venue and model."""
    return (prompts_dir() if root is None else root) / venue / f"{model_slug(model)}.json"


def model_slug(model: str) -> str:
    """A model's id as a file name."""
    return re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-.") or "model"


def find_refined(venue: str, model: str, keys: Iterable[str], root: Path | None = None) -> RefinedPrompts | None:
    """What is stored under the first of these keys that something is stored under.

    Raises:
        VenueError: The file that holds it is damaged.
    """
    path = refined_path(venue, model, root)
    for key in keys:
        for file in (path, _aside(path, key)):
            if file.is_file() and (stored := read_refined(file)).key == key:
                return stored
    return None


def store_refined(refined: RefinedPrompts, root: Path | None = None) -> Path:
    """Write the prompts as those used last of their venue and model; others are moved aside and not lost.

    Raises:
        VenueError: The folder cannot be written.
    """
    path = refined_path(refined.venue, refined.model, root)
    text = refined_json(refined)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            _keep(path, refined.key)
        write_atomically(path, text)
    except OSError as error:
        raise VenueError(
            f"the refined prompts of {refined.venue!r} cannot be stored in {str(path.parent)!r}: "
            f"{error.strerror or error}.",
            hint="Make room or mend its rights; REFEREE_CONFIG_DIR moves the folder.",
            ids={"venue": refined.venue},
        ) from error
    return path


def list_refined(venue: str, root: Path | None = None) -> list[RefinedPrompts]:
    """The prompts used last of each model for a venue, the newest first.

    Raises:
        VenueError: A file is damaged.
    """
    folder = (prompts_dir() if root is None else root) / venue
    files = [path for path in sorted(folder.glob("*.json")) if "@" not in path.name] if folder.is_dir() else []
    return sorted((read_refined(path) for path in files), key=lambda refined: refined.refined_at, reverse=True)


def choose_refined(venue: str, model: str | None = None, root: Path | None = None) -> RefinedPrompts:
    """The refined prompts of a venue by the model's id or its name; without a model those refined last.

    Raises:
        VenueError: There are none, or none of that model; the message lists what there is.
    """
    stored = list_refined(venue, root)
    chosen = [r for r in stored if model is None or model in _names(r.model)]
    if chosen:
        return chosen[0]
    there = ", ".join(sorted(refined.model for refined in stored))
    if stored:
        raise VenueError(
            f"the prompts of {venue!r} were not refined with model {model!r}.",
            hint=f"There are refined prompts of: {there}.",
            ids={"venue": venue},
        )
    raise VenueError(
        f"the prompts of {venue!r} were not refined yet.",
        hint=f"Refine them: referee venue refine {venue} --model {model or 'M'}.",
        ids={"venue": venue},
    )


def read_refined(path: Path) -> RefinedPrompts:
    """Read one file of refined prompts; each version's digest is checked.

    Raises:
        VenueError: It is damaged, was changed by hand, or is from another version.
    """
    try:
        return RefinedPrompts.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise VenueError(
            f"the refined prompts in {str(path)!r} cannot be used: {first}.",
            hint="Remove the file and refine again.",
        ) from error


def refined_json(refined: RefinedPrompts) -> str:
    """The text of a file of refined prompts."""
    return refined.model_copy(update={"reused": False}).model_dump_json(indent=2) + "\n"


def _keep(path: Path, key: str) -> None:
    """Move the file aside unless it was stored under this key; one that nobody can read stays beside it too."""
    try:
        there = read_refined(path)
    except VenueError:
        path.replace(path.with_name(f"{path.name}.damaged"))
        return
    if there.key != key:
        path.replace(_aside(path, there.key))


def _aside(path: Path, key: str) -> Path:
    return path.with_name(f"{path.stem}@{key[:_KEY_CHARS]}.json")


def _names(model: str) -> tuple[str, ...]:
    """What a person may call a model: its id, its name without provider or server, its file name."""
    name = model.partition("@")[0]
    return (model, name, name.partition(":")[2] or name, model_slug(model))
