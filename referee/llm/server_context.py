"""What a model server says of itself: its models, and how long their contexts are; each kind has its own words."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from referee.llm.bounds import bounded_body
from referee.schemas.foreign import Unreadable, json_value
from referee.secrets import scrub

logger = logging.getLogger(__name__)

_LONGEST_NAME, _MOST_TOKENS = 200, 1_000
_OWN_CONTEXT = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


class StillLoading(Exception):
    """The server is there and says that it cannot answer yet, as llama.cpp does while it loads a model."""


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers. ``most_tokens`` is what it was made for, ``tokens`` what it is set to, if known.

    ``is_loaded`` is false where the server says that it would have to load it, with a context of its own choice.
    """

    name: str
    tokens: int | None = None
    most_tokens: int | None = None
    is_loaded: bool = True

    @property
    def context(self) -> int | None:
        """What it is set to, else what it was made for."""
        return self.tokens or self.most_tokens


async def ollama_model(client: httpx.AsyncClient, root: str, name: str) -> ServedModel:
    """What ``/api/show`` says: ``model_info`` has the architecture's context, ``parameters`` that of its file."""
    said = await _json(client, "POST", f"{root}/api/show", {"model": name})
    info = said.get("model_info")
    made_for = (
        next((v for k, v in info.items() if k.endswith(".context_length")), None) if isinstance(info, dict) else None
    )
    parameters = said.get("parameters")
    own = _OWN_CONTEXT.search(parameters) if isinstance(parameters, str) else None
    return ServedModel(name, int(own[1]) if own else None, _tokens(made_for))


async def ollama_names(client: httpx.AsyncClient, root: str) -> list[str] | None:
    """The models of ``/api/tags``; null where it is no Ollama."""
    listed = (await _json(client, "GET", f"{root}/api/tags")).get("models")
    if not isinstance(listed, list):
        return None
    names = [entry.get("model") or entry.get("name") for entry in listed if isinstance(entry, dict)]
    return [str(name) for name in names if _is_name(name)]


async def served_models(client: httpx.AsyncClient, base_url: str, key: str | None = None) -> list[ServedModel] | None:
    """The models of a server that speaks OpenAI's format, with what it says of their contexts; null where it is none.

    LM Studio says more under ``/api/v0/models``, llama.cpp under ``/props``; vLLM and others name ``max_model_len`` or
    ``context_length`` in the list itself.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    listed = _entries(await _json(client, "GET", f"{base_url}/models", headers=headers))
    if listed is None:
        return None
    models = [_listed(entry) for entry in listed]
    if all(model.context for model in models):
        return models
    root = base_url.removesuffix("/v1")
    more = _entries(await _json(client, "GET", f"{root}/api/v0/models", headers=headers))
    if more is not None:
        return _studio(more)
    props = (await _json(client, "GET", f"{root}/props", headers=headers)).get("default_generation_settings")
    n_ctx = _tokens(props.get("n_ctx")) if isinstance(props, dict) else None
    return [model if model.context else ServedModel(model.name, n_ctx) for model in models]


def _listed(entry: Mapping[str, Any]) -> ServedModel:
    meta = entry.get("meta")
    own = meta.get("n_ctx") if isinstance(meta, dict) else None
    values = (entry.get("max_model_len"), entry.get("context_length"), own)
    return ServedModel(entry["id"], next(filter(None, map(_tokens, values)), None))


def _studio(entries: list[Mapping[str, Any]]) -> list[ServedModel]:
    """LM Studio's chat models, those that are loaded first."""
    chats = [entry for entry in entries if entry.get("type") != "embeddings"]
    chats.sort(key=lambda entry: entry.get("state") != "loaded")
    return [
        ServedModel(
            entry["id"],
            _tokens(entry.get("loaded_context_length")),
            _tokens(entry.get("max_context_length")),
            entry.get("state") == "loaded",
        )
        for entry in chats
    ]


def _entries(body: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The entries of a list as OpenAI's format has it, all with an id; null for anything else."""
    data = body.get("data")
    if body.get("object", "list") != "list" or not isinstance(data, list):
        return None
    entries: list[Mapping[str, Any]] = [
        entry for entry in data if isinstance(entry, dict) and _is_name(entry.get("id"))
    ]
    return entries if len(entries) == len(data) else None


async def _json(
    client: httpx.AsyncClient,
    method: str,
    address: str,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    """What stands at an address; nothing where it is no JSON object. What the connection raises is raised on."""
    with bounded_body(_MOST_TOKENS):
        response = await client.request(method, address, json=body, headers=headers)
    if response.status_code == 503:
        raise StillLoading(f"{scrub(address)} answered 503")
    if response.status_code != 200:
        return {}
    try:
        said = json_value(response.content, "the answer")
    except Unreadable as error:
        logger.info("%s is no JSON: %s", scrub(address), scrub(str(error)))
        return {}
    return said if isinstance(said, dict) else {}


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
