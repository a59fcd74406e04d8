"""The one exception tree.

Every error carries the ids involved, says whether a retry can help, and keeps the usage that was already paid.
A message names the thing with ``!r``, the cause, and the next step; ``hint`` holds that next step on its own, so
that the command line can print it on a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RefereeError(Exception):
    """Base of everything this package raises on purpose.

    Args:
        message: What went wrong: the thing with ``!r`` and the cause.
        hint: The next step for the person who reads it.
        ids: Ids involved (paper, venue, prompt, model, run, ...), for logs and reports.
        usage: Tokens and cost already paid when it happened.
    """

    retryable = False

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        ids: Mapping[str, str] | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.ids = dict(ids or {})
        self.usage = dict(usage or {})

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class SettingsError(RefereeError):
    """A setting is unknown, malformed, or contradicts another one."""


class DataError(RefereeError):
    """A file or record that came from outside cannot be used."""


class PaperParseError(DataError):
    """A paper cannot be read: missing, empty, encrypted, scanned, broken or too large."""


class VenueError(DataError):
    """A venue is unknown, or its file does not describe a form."""


class PromptError(RefereeError):
    """A prompt file is malformed, or was rendered with missing or undeclared inputs."""


class RunError(RefereeError):
    """A run folder is locked, unwritable, or belongs to other inputs."""


class RunStopped(RefereeError):
    """No further call can be made as things are: the run ends where it is, and can be resumed with other settings."""


class RunPaused(RunStopped):
    """A person is to read what was made before the run goes on; it was asked to stop there."""


class PromptCut(RunStopped):
    """A server read only a part of a prompt, in silence. Its reply is not used; every prompt as long would be cut."""


class BudgetExceeded(RunStopped):
    """The next call would pass ``--max-cost`` or ``--max-tokens``; nothing was sent."""


class ModelError(RefereeError):
    """A model could not be reached, or did not do what was asked."""


class ModelUnavailable(ModelError):
    """The provider did not answer after all tries; another run can succeed."""

    retryable = True


class ModelRefused(ModelError):
    """The provider rejected the request (key, rights, parameters) or the model declined to answer."""


class ContextTooLong(ModelError):
    """The prompt does not fit into the model's context."""


class ReplyInvalid(ModelError):
    """The model's reply did not fit its schema, after all repair rounds."""


class ReplyCut(ReplyInvalid):
    """The reply was cut off at its limit, and what came is no valid reply. It is not asked for again."""


class ReplyRefused(ModelRefused, ReplyInvalid):
    """The model declined to answer, or its provider stopped the reply or blocked the prompt."""


class RetrievalError(RefereeError):
    """The index of a paper cannot be built or searched."""


class CollectionError(RefereeError):
    """What is to be collected cannot be reached, is refused, or came in a form that cannot be used."""


class EvaluationError(RefereeError):
    """A metric cannot be computed as asked."""


class MissingExtra(SettingsError):
    """An optional package is needed; the hint holds the install command."""
