"""The embedded model: llama.cpp in this process, asked as a server in OpenAI's format is."""

from __future__ import annotations

from referee.llm.providers.server import Server

LOCAL_MODEL = Server(
    name="local",
    forms=("local",),
    key_is_optional=True,
    limit_names=("max_tokens", "max_completion_tokens"),
    # The model repeats itself and the end of its prompt, unless long copied runs are made unlikely.
    sampling={
        "repeat_penalty": 1.1,
        "cache_prompt": True,
        "dry_multiplier": 0.8,
        "dry_base": 1.75,
        "dry_allowed_length": 16,
        "dry_penalty_last_n": 1024,
    },
)
