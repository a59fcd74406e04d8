"""How a command runs, whatever is asked of it: where, within which limits, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.runs import Progress, silent
from referee.runs.folder import RECORD
from referee.settings import PromptText, Settings, changed_settings, load_settings

# Each function shows the estimate of its own kind, which a caller's function names as its argument's type.
Confirm = Callable[[Any], bool]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a public function runs; what is asked of it are arguments of its own.

    What is None leaves the settings as they are: those of ``settings``, or of the file and the environment.

    Attributes:
        out: The run folder; by default a new one under ``referee-runs``.
        resume: The folder of an earlier run with the same inputs, to be continued: what it has paid is kept.
        shard: Which part of a run over many papers this is, as ``2/8``; ``referee.merge`` joins the parts.
        workers: Only make the run folder, for a run that so many processes make, each a shard of it.
        parquet: Whether a run over many papers leaves its rows as Parquet too.
        base_url: An OpenAI-compatible server.
        max_cost: US dollars that no call may pass, over all starts of the run.
        max_tokens: Tokens, in and out together, that no call may pass, over all starts of the run.
        batch: Whether calls go in the provider's batches, for half the price and within a day; False by default.
        cache: Whether replies of earlier runs are used; True by default. A resumed run always uses its own.
        prompts: By a prompt's id (``referee prompts list``) what takes its place: a version that ships, as ``v1``, or a
            file of your own. They stand beside those that the settings choose, and go before them.
        settings: A ready settings tree; other options and arguments then only override what they name.
        progress: Called with each event.
        confirm: Shown the estimate before the first call; the run ends without a call where it returns False.
    """

    out: str | Path | None = None
    resume: str | Path | None = None
    shard: str | None = None
    workers: int | None = None
    parquet: bool = False
    base_url: str | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    batch: bool | None = None
    cache: bool | None = None
    prompts: Mapping[str, str | Path | PromptText] | None = None
    settings: Settings | None = None
    progress: Progress = silent
    confirm: Confirm | None = None

    def settled(
        self,
        more: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        model_for: Mapping[str, str] | None = None,
    ) -> Settings:
        """The settings a run has; what is None changes nothing.

        Args:
            more: What only one function takes, by dotted key.
            model: The model for all roles.
            model_for: Other models for single roles.

        Raises:
            SettingsError: A key is unknown or a value is not usable.
        """
        overrides = {
            "models.default": model,
            "models.roles": dict(model_for) if model_for else None,
            "models.base_url": self.base_url,
            "budget.max_cost": self.max_cost,
            "budget.max_tokens": self.max_tokens,
            "calls.batch": self.batch,
            "calls.cache": self.cache,
            **(more or {}),
        }
        settings = load_settings(overrides) if self.settings is None else changed_settings(self.settings, overrides)
        if self.prompts:
            settings = changed_settings(settings, {"prompts": {**settings.prompts, **self.prompts}})
        return settings

    def within(self, folder: Path) -> RunOptions:
        """The same for a run in this folder: the one that lies there goes on, else a new one begins."""
        there = (folder / RECORD).is_file()
        return replace(self, out=None if there else folder, resume=folder if there else None)
