"""What is said of a stored file that cannot be read: it is damaged, or of a newer version of this package."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from referee.errors import RunError
from referee.version import VERSION


def unreadable(file: Path, error: ValidationError | UnicodeDecodeError, hint: str) -> RunError:
    """The error that names a file and what is wrong with it.

    Args:
        file: The file.
        error: What reading it raised.
        hint: The next step where it is damaged; one of a newer version says to update.
    """
    if isinstance(error, UnicodeDecodeError):
        return RunError(f"{str(file)!r} is damaged: it is not UTF-8.", hint=hint)
    mistakes = sorted(error.errors(), key=lambda one: one["type"] == "extra_forbidden")
    places = [".".join(map(str, one["loc"])) for one in mistakes[:3]]
    if all(one["type"] == "extra_forbidden" or _is_higher(one) for one in mistakes):
        return RunError(
            f"{str(file)!r} is of a newer version of referee than this one, {VERSION} ({', '.join(places)}).",
            hint="Update referee, then try again.",
        )
    return RunError(f"{str(file)!r} is damaged ({places[0] or 'no JSON'}: {mistakes[0]['msg']}).", hint=hint)


def _is_higher(mistake: ErrorDetails) -> bool:
    """Whether a schema's version is beyond ours."""
    given = mistake["input"]
    return mistake["loc"] == ("schema_version",) and isinstance(given, int) and given > 1
