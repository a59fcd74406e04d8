"""Model servers on this machine, at the ports that they usually take. Nothing else than loopback is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote

import httpx

from referee.llm.bounds import BodyTooLong
from referee.llm.clients import connections
from referee.llm.providers import PROVIDERS
from referee.llm.server_context import ServedModel, StillLoading

_PROVIDERS = {kind: provider for provider in PROVIDERS.values() for kind, _ in provider.ports}
PORTS = {kind: port for provider in PROVIDERS.values() for kind, port in provider.ports}
"""Where Ollama, LM Studio, llama.cpp and vLLM listen unless they are told otherwise."""

_PATIENCE_S = 1.0


@dataclass(frozen=True)
class NearbyServer:
    """A server that answered. ``flags`` name one of its models on the command line, with ``NAME`` to be filled in.

    Without a model it lists none, or ``is_loading``.
    """

    kind: str
    address: str
    models: tuple[ServedModel, ...]
    flags: str
    is_loading: bool = False

    @property
    def no_model_fix(self) -> str:
        """What to do where it lists none."""
        return _PROVIDERS[self.kind].no_model_fix

    def command(self, model: ServedModel) -> str:
        """The options that use a model."""
        return self.flags.replace("NAME", quote(model.name))


async def servers_nearby(ports: Mapping[str, int] | None = None) -> list[NearbyServer]:
    """The servers that answer as one of these does, within a second; a stranger at such a port is none.

    Args:
        ports: Where to look, by kind; the usual ports by default.
    """
    asked = PORTS if ports is None else ports
    found = await asyncio.gather(*(_asked(kind, f"http://127.0.0.1:{port}") for kind, port in asked.items()))
    return [server for server in found if server is not None]


async def _asked(kind: str, root: str) -> NearbyServer | None:
    try:
        async with asyncio.timeout(_PATIENCE_S), connections(root, _PATIENCE_S) as client:
            found = await _PROVIDERS[kind].nearby(client, kind, root)
    except StillLoading:
        return NearbyServer(kind, root, (), "", is_loading=True) if kind in ("llama.cpp", "vllm") else None
    except (httpx.HTTPError, BodyTooLong, TimeoutError, OSError):
        return None
    return None if found is None else NearbyServer(kind, root, tuple(found[0]), found[1])
