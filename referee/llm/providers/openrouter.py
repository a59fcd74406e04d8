"""OpenRouter: models of many makers behind one key, in OpenAI's format. A name is ``MAKER/MODEL``."""

from __future__ import annotations

from referee.llm.dialects import strict_schema
from referee.llm.providers.openai import OpenAI

OPENROUTER = OpenAI(
    name="openrouter",
    forms=("openrouter",),
    address="https://openrouter.ai/api/v1",
    keys=("OPENROUTER_API_KEY",),
    price_list="openrouter",
    limit_names=("max_tokens", "max_completion_tokens"),
    schema_first=True,
    dialect=strict_schema,
    has_embeddings=True,
    asks_context=True,
)
