"""The settings of one call of a public function: those in force, changed by what its arguments name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.settings import Settings, changed_settings, load_settings


def settings_of_call(
    ready: Settings | None,
    more: Mapping[str, Any] | None = None,
    *,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    base_url: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    cache: bool | None = None,
) -> Settings:
    """The settings a call runs with; an argument that is None changes nothing.

    Args:
        ready: The tree that is changed; None stands for that of file and environment.
        more: What only this function takes, by dotted key.
        model: The model for all roles.
        model_for: Other models for single roles.
        base_url: An OpenAI-compatible server.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out together, that no call may pass.
        cache: Whether replies of earlier runs are used.

    Raises:
        SettingsError: A key is unknown or a value is not usable.
    """
    overrides = {
        "models.default": model,
        "models.roles": dict(model_for) if model_for else None,
        "models.base_url": base_url,
        "budget.max_cost": max_cost,
        "budget.max_tokens": max_tokens,
        "calls.cache": cache,
        **(more or {}),
    }
    return load_settings(overrides) if ready is None else changed_settings(ready, overrides)
