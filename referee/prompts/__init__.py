"""Prompts as versioned files: ``<room>/<name>/v1.md`` with front matter, a ``# system`` and a ``# user`` part."""

from referee.prompts.loader import Prompt, RenderedPrompt, delimit, load_prompt, prompt_ids

__all__ = ["Prompt", "RenderedPrompt", "delimit", "load_prompt", "prompt_ids"]
