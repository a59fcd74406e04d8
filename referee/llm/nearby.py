"""Model servers on this machine, at the ports that they usually take. Nothing else than loopback is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote

import httpx

from referee.llm.bounds import BodyTooLong
from referee.llm.clients import connections
from referee.llm.server_context import ServedModel, StillLoading, ollama_model, ollama_names, served_models

PORTS = {"ollama": 11434, "lmstudio": 1234, "llama.cpp": 8080, "vllm": 8000}
"""Where Ollama, LM Studio, llama.cpp and vLLM listen unless they are told otherwise."""

_PATIENCE_S = 1.0
_MOST_ASKED = 8


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
            if kind == "ollama":
                return await _ollama(client, root)
            models = await served_models(client, f"{root}/v1")
    except StillLoading:
        return NearbyServer(kind, root, (), "", is_loading=True) if kind in ("llama.cpp", "vllm") else None
    except (httpx.HTTPError, BodyTooLong, TimeoutError, OSError):
        return None
    if models is None:
        return None
    short = kind == "lmstudio" and root.endswith(f":{PORTS['lmstudio']}")
    flags = "--model lmstudio:NAME" if short else f"--model NAME --base-url {root}/v1"
    return NearbyServer(kind, root, tuple(models), flags)


async def _ollama(client: httpx.AsyncClient, root: str) -> NearbyServer | None:
    names = await ollama_names(client, root)
    if names is None:
        return None
    shown = await asyncio.gather(*(ollama_model(client, root, name) for name in names[:_MOST_ASKED]))
    models = (*shown, *map(ServedModel, names[_MOST_ASKED:]))
    usual = root.endswith(f":{PORTS['ollama']}")
    return NearbyServer("ollama", root, models, "--model ollama:NAME" + ("" if usual else f" --base-url {root}"))
