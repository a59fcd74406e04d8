"""The models of a run: which one plays which role, how long its context is, how its tokens are counted."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx

from referee.errors import ModelRefused, ModelUnavailable, SettingsError
from referee.llm.bounds import BodyTooLong
from referee.llm.clients import connections
from referee.llm.limits import Limits
from referee.llm.prices import BATCH_SHARE, CACHEABLE_TOKENS, Prices, cost_usd, known_context
from referee.llm.providers import parse_model, provider_of, require_key
from referee.llm.providers.answers import AnswersFolder
from referee.llm.server_context import ServedModel, StillLoading
from referee.llm.spec import ModelSpec
from referee.llm.substitutes import substitutes_told
from referee.llm.wire import AnswersWire, Wire
from referee.nearest import did_you_mean
from referee.runs.progress import Event, Progress
from referee.runs.shared_limits import open_book
from referee.schemas.foreign import Unreadable, json_value
from referee.schemas.run import ModelRecord
from referee.secrets import scrub
from referee.settings import Settings

logger = logging.getLogger(__name__)

ROLES = ("writer", "mapper", "cross", "checker", "composer", "supervisor")
JUDGE = "judge"
GENERATOR = "generator"
ASSUMED_CONTEXT = 32_768
LOCAL_CONTEXT = 16_384
LOADING_S, LOADING_PAUSE_S = 60, 2
LOCAL_READING = 4_000

CONTEXT_QUESTION_S = 5.0

# Tokenizers differ: counts for models without one of their own are raised by this share before they bound anything.
_UNKNOWN_TOKENIZER_MARGIN = 1.2


@dataclass
class Model:
    """One model, ready to be called.

    ``uncached_calls`` counts those whose beginning the provider should have had in its cache and had not; null once
    it had one. ``refused`` is what the server does not take (``substitutes``). ``batched`` is whether its calls go in
    batches, at the price of those. ``context_known`` is whether somebody named the context: the server, the settings
    or the price list.
    """

    spec: ModelSpec
    wire: Wire
    limits: Limits
    context_tokens: int
    prices: Prices
    count: Callable[[str], int]
    temperature: float
    reading_tokens: int | None = None
    notes: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    answered: bool = False
    uncached_calls: int | None = 0
    batched: bool = False
    context_known: bool = True

    def cost(
        self, input_tokens: int, output_tokens: int, cached_tokens: int = 0, cache_write_tokens: int = 0
    ) -> float | None:
        """US dollars for a call, or None where the price is unknown.

        ``cached_tokens`` are those of the ``input_tokens`` that the provider serves from its cache, at its price for
        them, and ``cache_write_tokens`` those that it writes there.
        """
        at_once = cost_usd(
            self.spec,
            input_tokens,
            output_tokens,
            self.prices,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
        )
        return at_once * BATCH_SHARE if self.batched and at_once is not None else at_once

    def remember(self, refused: Mapping[str, int]) -> None:
        """Have later calls go without what was refused, and say so, once."""
        if not self.refused.keys() >= refused.keys():
            self.notes = [note for note in self.notes if note != substitutes_told(self.spec.id, self.refused)]
            self.refused.update(refused)
            self.notes.append(substitutes_told(self.spec.id, self.refused))

    def shared_cost(self, prefix_tokens: int, tails: Sequence[int], output_tokens: int) -> float | None:
        """US dollars to be expected for calls that begin alike, or None where the price is unknown.

        The first call writes the beginning to the provider's cache (at Anthropic for 1.25 of the price, elsewhere for
        the price itself), the others read it from there (mostly for a tenth). A beginning that is too short for the
        cache is paid whole each time, as it is where the provider has no cache, where nobody gave a price for it, and
        in batches, whose calls may find nothing there.

        Args:
            prefix_tokens: Tokens that all calls begin with: system text and prefix.
            tails: The other tokens of each call's prompt, in the order in which the calls are sent.
            output_tokens: Tokens of all replies together.
        """
        shared = prefix_tokens if prefix_tokens >= CACHEABLE_TOKENS and not self.batched else 0
        costs = [
            self.cost(
                prefix_tokens + tail,
                output_tokens * (place + 1) // len(tails) - output_tokens * place // len(tails),
                shared if place else 0,
                0 if place else shared,
            )
            for place, tail in enumerate(tails)
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def record(self) -> ModelRecord:
        """The model as it stands in ``run.json``."""
        parameters: dict[str, Any] = {"temperature": self.temperature}
        base_url = scrub(self.spec.base_url) if self.spec.base_url else None
        return ModelRecord(
            id=self.spec.id, base_url=base_url, context_tokens=self.context_tokens, parameters=parameters
        )


@dataclass(frozen=True)
class Models:
    """Role to model. Roles that share a model share its limits."""

    by_role: Mapping[str, Model]

    def __getitem__(self, role: str) -> Model:
        return self.by_role[role]

    async def aclose(self) -> None:
        """Close all connections; the embedded model stays loaded for the next run."""
        for model in {id(model): model for model in self.by_role.values()}.values():
            await model.wire.aclose()

    def ids(self) -> dict[str, str]:
        """Role to model id."""
        return {role: model.spec.id for role, model in self.by_role.items()}


def judge_role(number: int) -> str:
    """The role of a panel's judge, counted from 1: ``judge``, ``judge-2``, ..."""
    return JUDGE if number == 1 else f"{JUDGE}-{number}"


def check_models(settings: Settings, *, judges: Sequence[str] | None = None) -> dict[str, ModelSpec]:
    """Read the models' names and look for their keys, without any call.

    Args:
        settings: Names the models; the role ``judge`` is only looked at where there are judges.
        judges: Names of a panel's models; their roles alone are looked at then. An empty panel is the setting's judge.

    Raises:
        SettingsError: A role or provider is unknown, a key is missing, or a judge is named twice.
    """
    known = (*ROLES, JUDGE, GENERATOR)
    for role in settings.models.roles:
        if role not in known:
            offer = did_you_mean(role, known)
            raise SettingsError(f"there is no role {role!r}.", hint=f"{offer}Roles: {', '.join(known)}.")
    names = {role: settings.models.roles.get(role, settings.models.default) for role in ROLES}
    if judges is not None:
        panel = judges or [settings.models.roles.get(JUDGE, settings.models.default)]
        names = {judge_role(number): name for number, name in enumerate(panel, 1)}
    specs = {role: parse_model(name, settings.models.base_url) for role, name in names.items()}
    ids = [spec.id for spec in specs.values()]
    twice = [one for one in ids if ids.count(one) > 1]
    if judges is not None and twice:
        raise SettingsError(
            f"judge {twice[0]!r} is named twice: it would agree with itself.",
            hint="Name each judge once; to ask one several times, use --repeats.",
        )
    for spec in specs.values():
        require_key(spec)
        if settings.calls.batch and not provider_of(spec).has_batches:
            raise no_batches(spec, "it runs on this machine" if spec.is_local else "its provider has none")
    return specs


def no_batches(spec: ModelSpec, why: str) -> SettingsError:
    """What is said of a model that is not to be had in batches."""
    return SettingsError(
        f"model {spec.id!r} is not to be had in batches: {why}.",
        hint="Leave --batch away (calls.batch in settings), or name a model of openai:, anthropic:, google_genai: or a "
        "server with /v1/batches.",
    )


async def open_models(
    settings: Settings, progress: Progress, cache_dir: Path | None = None, *, judges: Sequence[str] | None = None
) -> Models:
    """Make every role's model ready: fetch and load the embedded one, ask servers for their context.

    With ``judges`` these are a panel's roles and no others, as ``check_models`` says.

    Raises:
        SettingsError: As ``check_models``; or a cost limit stands and a model's price is unknown.
        ModelUnavailable: A server cannot be reached.
        DataError: The embedded model's file cannot be had.
    """
    specs = check_models(settings, judges=judges)
    opened: dict[ModelSpec, Model] = {}
    for spec in specs.values():
        if spec not in opened:
            opened[spec] = await _open(spec, settings, progress, cache_dir)
    for model in opened.values():
        if settings.budget.max_cost is not None and model.cost(1, 1) is None:
            raise SettingsError(
                f"--max-cost cannot be kept: the price of {model.spec.id!r} is unknown.",
                hint=f'Give it in referee.toml ([models.prices] "{model.spec.name}" = [in, out] in dollars per million '
                "tokens), or limit tokens with --max-tokens.",
            )
    return Models({role: opened[spec] for role, spec in specs.items()})


async def _open(spec: ModelSpec, settings: Settings, progress: Progress, cache_dir: Path | None) -> Model:
    if spec.is_local:
        return await _open_local(spec, settings, progress, cache_dir)
    key = require_key(spec)
    known = settings.models.context_tokens or known_context(spec)
    unknown = f"the context of {spec.id} is unknown"
    provider = provider_of(spec)
    if provider.asks_context and (spec.is_server or not known):
        try:
            served = await _served(spec, key, progress)
        except TimeoutError:
            served, unknown = None, f"{spec.id} did not name its context within {CONTEXT_QUESTION_S:g} s"
        if settings.models.context_tokens is None and served is not None and not served.is_loaded:
            raise _unloaded(spec, served)
        known = settings.models.context_tokens or (served.context if served else None)
        if settings.calls.batch:
            await _require_batches(spec, key)
    note = provider.context_note(spec, known) if known else f"{unknown}; {ASSUMED_CONTEXT:,} tokens are assumed"
    if spec.is_answers:
        wire: Wire = AnswersWire(spec, AnswersFolder(spec, progress))
    else:
        wire = Wire(spec, key=key, timeout_s=settings.calls.timeout_s, context_tokens=known or ASSUMED_CONTEXT)
    return Model(
        spec=spec,
        wire=wire,
        limits=_limits(settings, spec),
        context_tokens=known or ASSUMED_CONTEXT,
        prices=settings.models.prices,
        count=_counter(spec),
        temperature=settings.models.temperature,
        reading_tokens=settings.models.reading_tokens,
        notes=[note] if note else [],
        batched=settings.calls.batch,
        context_known=bool(known),
    )


async def _open_local(spec: ModelSpec, settings: Settings, progress: Progress, cache_dir: Path | None) -> Model:
    from referee.llm.catalogue import chat_model_key
    from referee.llm.fetch import fetch_model
    from referee.llm.local import get_local_server

    key = chat_model_key(spec.name)

    def fetched(text: str, done: int, total: int) -> None:
        progress(Event("fetch", text, done=done, total=total))

    await fetch_model(key, cache_dir=cache_dir, progress=fetched)
    progress(Event("stage", f"loading the embedded model {key}"))
    server = await get_local_server(key, n_ctx=settings.models.context_tokens or LOCAL_CONTEXT, cache_dir=cache_dir)
    spec = ModelSpec(spec.provider, key)
    return Model(
        spec=spec,
        wire=Wire(spec, key=server.api_key, timeout_s=settings.calls.timeout_s, base_url=server.base_url),
        limits=Limits(1, None, None),
        context_tokens=server.context_tokens,
        prices={},
        count=server.count_tokens,
        temperature=settings.models.temperature,
        reading_tokens=settings.models.reading_tokens or LOCAL_READING,
    )


def _limits(settings: Settings, spec: ModelSpec) -> Limits:
    calls = settings.calls
    if calls.batch or spec.is_answers:  # what waits for a batch, or for a person, keeps no call from joining it
        return Limits(sys.maxsize, None, None)
    book = open_book(calls.shared_limits) if calls.shared_limits else None
    return Limits(calls.concurrency, calls.requests_per_minute, calls.tokens_per_minute, book=book, model=spec.id)


def _counter(spec: ModelSpec) -> Callable[[str], int]:
    from referee.llm.tokens import count_tokens

    margin = 1.0 if provider_of(spec).exact_counts else _UNKNOWN_TOKENIZER_MARGIN
    # The same card, section and instructions are weighed many times until a prompt fits.
    return lru_cache(maxsize=512)(lambda text: int(count_tokens(text, spec.name) * margin) + 1)


async def _served(spec: ModelSpec, key: str | None, progress: Progress) -> ServedModel | None:
    """Ask a server what it says of the model; null where it does not know it, or says nothing of its context.

    A server that is still loading is waited for, a minute at most.

    Raises:
        ModelUnavailable: There is no connection, or the server is loading still.
        ModelRefused: It is an Ollama that has no such model.
        TimeoutError: There was no whole answer in time.
    """
    address = spec.base_url or provider_of(spec).address
    for waited in range(0, LOADING_S + 1, LOADING_PAUSE_S):
        try:
            async with asyncio.timeout(CONTEXT_QUESTION_S), connections(address, CONTEXT_QUESTION_S) as client:
                return await provider_of(spec).served(client, spec, key)
        except StillLoading:
            progress(Event("stage", f"the server at {address} is loading its model ({waited} s)"))
            await asyncio.sleep(LOADING_PAUSE_S)
        except httpx.ConnectError as error:
            raise ModelUnavailable(
                f"no connection to {address!r} for model {spec.name!r}: {scrub(str(error))}.",
                hint="Check that the server runs and that its address (--base-url) is right; `referee doctor` looks "
                "for servers on this machine.",
                ids={"model": spec.id},
            ) from error
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.HTTPError, BodyTooLong) as error:
            logger.info("the server's model list could not be read: %s", scrub(str(error)))
            return None
    raise ModelUnavailable(
        f"the server at {address!r} was still loading its model after {LOADING_S} s.",
        hint="Start again when it is ready.",
        ids={"model": spec.id},
    )


def _unloaded(spec: ModelSpec, served: ServedModel) -> ModelRefused:
    """What is said of a model whose server would load it with a context that nobody knows before."""
    most = f" (at most {served.most_tokens:,})" if served.most_tokens else ""
    return ModelRefused(
        f"{spec.id!r} is not loaded, and its server would load it with a context of its own choice{most}.",
        hint=f"Load it with a context that holds a paper: lms load {spec.name} --context-length 32768. Or set "
        "models.context_tokens to what it will have.",
        ids={"model": spec.id},
    )


async def _require_batches(spec: ModelSpec, key: str | None) -> None:
    """See that an OpenAI-compatible server has batches at all, before anything is asked of it.

    Raises:
        SettingsError: It has none.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with connections(spec.base_url, CONTEXT_QUESTION_S) as client:
            response = await client.get(f"{spec.base_url}/batches?limit=1", headers=headers)
            why = (
                ""
                if isinstance(json_value(response.content, "it").get("data"), list)
                else f"HTTP {response.status_code}"
            )
    except (httpx.HTTPError, BodyTooLong, Unreadable, AttributeError) as error:
        why = f"no list of batches came ({scrub(str(error)) or type(error).__name__})"
    if why:
        raise no_batches(spec, f"GET {scrub(str(spec.base_url))}/batches gave {why}")
