"""Prompts as versioned files: ``<room>/<name>/v1.md`` with front matter, a ``# system`` and a ``# user`` part."""

from referee.prompts.loader import Prompt, RenderedPrompt, load_prompt, prompt_ids
from referee.prompts.material import delimit

__all__ = ["Prompt", "RenderedPrompt", "delimit", "load_prompt", "prompt_ids"]
