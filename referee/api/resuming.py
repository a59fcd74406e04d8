"""What a run was started with, so that its folder alone is enough to continue a review."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from referee.errors import RunError
from referee.runs.folder import check_resumable, read_record
from referee.secrets import HIDDEN
from referee.settings import Settings, changed_settings, load_settings, stored_settings

_WHOLE = "Give the paper, --venue and the model again, beside --resume."


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
    check_resumable(run)
    record = read_record(run)
    if record.command != "review":
        raise RunError(f"{str(run)!r} is a run of `referee {record.command}`.", hint="Resume it with that command.")
    missing = [name for name in ("paper", "venue") if name not in record.asked]
    if missing:
        raise RunError(f"{str(run)!r} does not name its {' and its '.join(missing)}.", hint=_WHOLE)
    if HIDDEN in record.model_dump_json(include={"asked", "settings"}):
        raise RunError(f"{str(run)!r} was started with a key, which is not written down.", hint=_WHOLE)
    try:
        settings = stored_settings(record.settings)
    except ValidationError as error:
        raise RunError(f"the settings in {str(run)!r} are of another version.", hint=_WHOLE) from error
    return Begun(record.asked["paper"], record.asked["venue"], settings)


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
