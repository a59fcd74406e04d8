"""The embedded model: llama.cpp in this process, asked as a server in OpenAI's format is."""

from __future__ import annotations

from typing import Any

from referee.llm.batches.protocol import BatchProvider
from referee.llm.clients import Connection
from referee.llm.providers.protocol import WireRequest
from referee.llm.providers.server import Server
from referee.llm.spec import LOCAL, ModelSpec

# The model repeats itself and the end of its prompt, unless long copied runs are made unlikely.
_SAMPLING = {
    "repeat_penalty": 1.1,
    "cache_prompt": True,
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 16,
    "dry_penalty_last_n": 1024,
}


class Local(Server):
    """``local``, or ``local:KEY`` for one of the embedded models."""

    name = LOCAL
    forms = (LOCAL,)
    usual_address = ""
    keys = ()
    asks_context = False
    has_embeddings = False
    ports = ()

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """With sampling against copies."""
        arguments = super().arguments(request)
        arguments["extra_body"].update(_SAMPLING)
        return arguments

    def is_free(self, spec: ModelSpec) -> bool:
        """It runs on this machine."""
        return True

    def batches(self, connection: Connection) -> BatchProvider | None:
        """It has none."""
        return None
