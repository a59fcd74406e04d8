"""What a run was started with, so that its folder alone is enough to continue a review or an evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from referee.errors import RunError
from referee.runs.folder import check_resumable, read_record
from referee.schemas.run import RunRecord
from referee.secrets import HIDDEN
from referee.settings import Settings, changed_settings, load_settings, stored_settings

_WHOLE = {
    "review": "Give the paper, --venue and the model again, beside --resume.",
    "eval": "Give the reviews and all options again, beside --resume.",
}


@dataclass(frozen=True)
class Begun:
    """The paper (a path, an arXiv id or an address), the venue (an id or a path) and the settings of a review."""

    paper: str
    venue: str
    settings: Settings

    def continued(self) -> Settings:
        """The same settings for going on, with the context length that is set now, where one is.

        A run that ended since the context was wrong could not go on otherwise.

        Raises:
            SettingsError: What is set now cannot be read.
        """
        return changed_settings(self.settings, {"models.context_tokens": load_settings().models.context_tokens})


def begun_review(run: Path) -> Begun:
    """Read what a review was started with from its ``run.json``.

    Raises:
        RunError: There is no run, it is of another command, or it does not say all: made by an earlier version, from a
            ``Paper`` or ``VenueForm`` of a program, or with a key in a setting, which is never written down.
    """
    record, settings = _begun(run, "review", "paper", "venue")
    return Begun(record.asked["paper"], record.asked["venue"], settings)


@dataclass(frozen=True)
class BegunEvaluation:
    """The reviews of an evaluation, what else ``evaluate`` was given, and the settings."""

    reviews: Path
    options: dict[str, Any]
    settings: Settings


def begun_evaluation(run: Path) -> BegunEvaluation:
    """Read what an evaluation was started with from its ``run.json``; raises as ``begun_review``."""
    record, settings = _begun(run, "eval", "reviews", "options")
    if record.workers:
        raise RunError(f"{str(run)!r} is made by {record.workers} processes.", hint=_WHOLE["eval"])
    return BegunEvaluation(Path(record.asked["reviews"]), json.loads(record.asked["options"]), settings)


def _begun(run: Path, command: str, *names: str) -> tuple[RunRecord, Settings]:
    check_resumable(run)
    record, whole = read_record(run), _WHOLE[command]
    if record.command != command:
        raise RunError(f"{str(run)!r} is a run of `referee {record.command}`.", hint="Resume it with that command.")
    missing = [name for name in names if name not in record.asked]
    if missing:
        raise RunError(f"{str(run)!r} does not name its {' and its '.join(missing)}.", hint=whole)
    if HIDDEN in record.model_dump_json(include={"asked", "settings"}):
        raise RunError(f"{str(run)!r} was started with a key, which is not written down.", hint=whole)
    try:
        return record, stored_settings(record.settings)
    except ValidationError as error:
        raise RunError(f"the settings in {str(run)!r} are of another version.", hint=whole) from error


def named_evaluation(reviews: str | Path, options: Mapping[str, Any]) -> dict[str, str]:
    """What stands in ``run.json`` of how an evaluation was asked for; nothing where a form of a program has no name."""
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(given.get("venue", ""), str | Path):
        return {}
    for name in given.keys() & {"papers", "known", "mapping", "planted", "venue"}:
        if name != "venue" or Path(given[name]).is_file():
            given[name] = str(Path(given[name]).absolute())
    return {"reviews": str(Path(reviews).absolute()), "options": json.dumps(given, default=str)}


def named(paper: object, venue: object) -> dict[str, str]:
    """What stands in ``run.json`` of how paper and venue were named; objects of a program have no name."""
    given = {"paper": paper, "venue": venue}
    # A folder may be a paper, and no venue: that one may have the name of a venue by chance.
    places = {"paper": Path.exists, "venue": Path.is_file}
    return {
        kind: str(Path(value).absolute()) if places[kind](Path(value)) else str(value)
        for kind, value in given.items()
        if isinstance(value, str | Path)
    }
