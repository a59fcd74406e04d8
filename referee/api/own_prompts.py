"""Prompts of the user's own in a run: kept in its folder, and taken from there when the run goes on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from pydantic import ValidationError

from referee.api.places import RunPlace
from referee.errors import ContextTooLong, RunError
from referee.llm.models import Models
from referee.prompts import active_prompts
from referee.prompts.own import kept_name
from referee.runs import RunFolder
from referee.runs.folder import RECORD, read_record
from referee.settings import PromptText, Settings, stored_settings

_SHARDS = "shards"


def with_kept_prompts(settings: Settings, place: RunPlace, asked: Iterable[str]) -> Settings:
    """The settings with the prompts that the run began with, where it goes on or is a part of one that has begun.

    Args:
        settings: Those of this start.
        place: Where the run lies.
        asked: The prompts that this start names itself; others, of a settings file, may have changed meanwhile.

    Raises:
        RunError: This start names another prompt than the run began with, or the run's record is of another version.
    """
    whole = place.path.absolute().parent.parent
    is_part = place.path.absolute().parent.name == _SHARDS and (whole / RECORD).is_file()
    if not (place.resumed or is_part):
        return settings
    kept = _kept(whole if is_part else place.path)
    if not is_part:
        for name in asked:
            if _text(kept.get(name)) != _text(settings.prompts[name]):
                raise _changed(name, place.path, kept.get(name), settings.prompts[name])
    return settings.model_copy(update={"prompts": kept})


def keep_prompts(run: RunFolder, settings: Settings) -> None:
    """Write the texts of the user's own prompts into the run folder, to be read; ``run.json`` holds them too."""
    for name, given in settings.prompts.items():
        if isinstance(given, PromptText):
            run.write(kept_name(name), given.text)


def require_room(models: Models) -> None:
    """See that each prompt of the user's own fits into the widest of the run's models, before anything is asked.

    Raises:
        ContextTooLong: One does not, whatever is filled in.
    """
    own = [prompt for prompt in active_prompts().values() if prompt.is_own]
    if not (own and models.by_role):
        return
    widest = max(models.by_role.values(), key=lambda model: model.context_tokens)
    for prompt in own:
        tokens = widest.count(f"{prompt.system}\n{prompt.user}")
        if tokens >= widest.context_tokens:
            raise ContextTooLong(
                f"prompt {prompt.id!r} ({prompt.version}) has {tokens:,} tokens, and {widest.spec.id} takes "
                f"{widest.context_tokens:,} with the paper.",
                hint="Shorten the prompt, or name a model with a longer context.",
                ids={"prompt": prompt.id},
            )


def _kept(run: Path) -> dict[str, str | PromptText]:
    try:
        stored = read_record(run).settings
        earlier = {"prompt_versions": stored.get("review", {}).get("prompt_versions", {})}
        return stored_settings({"prompts": stored.get("prompts", {}), "review": earlier}).prompts
    except ValidationError as error:
        raise RunError(f"the prompts in {str(run)!r} cannot be read.", hint="Start a new run.") from error


def _changed(name: str, run: Path, kept: str | PromptText | None, given: str | PromptText) -> RunError:
    """What is said of a prompt that is another one than before: which, and the first line that differs."""
    was, now = (_named(one) for one in (kept, given))
    line = ""
    if isinstance(kept, PromptText) and isinstance(given, PromptText):
        pairs = zip_longest(kept.text.splitlines(), given.text.splitlines())
        number = next((n for n, (one, other) in enumerate(pairs, 1) if one != other), None)
        line = f"; the texts differ first in line {number}" if number else "; the texts differ in how lines end"
    where = f" (its text is {run / kept_name(name)})" if isinstance(kept, PromptText) else ""
    return RunError(
        f"run {str(run)!r} was started with another prompt {name!r}: {was}, and now it is {now}{line}.",
        hint=f"Leave --prompt away to go on with what the run began with{where}, or start a new run.",
        ids={"run": str(run), "prompt": name},
    )


def _text(given: str | PromptText | None) -> str | None:
    return given.text if isinstance(given, PromptText) else given


def _named(given: str | PromptText | None) -> str:
    if given is None:
        return "the one that ships"
    return repr(given.file) if isinstance(given, PromptText) else given
