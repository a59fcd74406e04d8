"""Prompts as versioned files: ``<room>/<name>/v1.md`` with front matter, a ``# system`` and a ``# user`` part."""

from referee.prompts.loader import (
    Prompt,
    RenderedPrompt,
    active,
    active_prompts,
    delimit,
    is_in_run,
    load_prompt,
    prompt_digests,
    prompt_ids,
    prompt_versions,
)
from referee.prompts.own import chosen_prompts, own_versions

__all__ = [
    "Prompt",
    "RenderedPrompt",
    "active",
    "active_prompts",
    "chosen_prompts",
    "delimit",
    "is_in_run",
    "load_prompt",
    "own_versions",
    "prompt_digests",
    "prompt_ids",
    "prompt_versions",
]
