"""The models of an experiment: each configuration opened once for all units, and one limit for each model over all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from referee.api.session import opened_embedder
from referee.errors import SettingsError
from referee.llm.batches.collecting import Batches
from referee.llm.batches.wire import put_into_batches
from referee.llm.catalogue import chat_model_key
from referee.llm.embeddings import Embedder
from referee.llm.limits import Limits
from referee.llm.models import ASSUMED_CONTEXT, LOCAL_CONTEXT, LOCAL_READING, Model, Models, check_models, open_models
from referee.llm.prices import known_context
from referee.llm.spec import ModelSpec
from referee.llm.tokens import count_tokens
from referee.llm.wire import Wire
from referee.runs import Progress
from referee.settings import BudgetSettings, Settings

# The embedded models' tokenizers are not ours to count with before they are loaded: they need more tokens for a text.
_MARGIN = 1.2


class OpenModels:
    """Models and embedder that are open, to be closed by who made this.

    Args:
        progress: Told about what is fetched and loaded.
        loads: Whether the embedded model is loaded; without it nothing can be asked of it, only planned.

    Attributes:
        max_cost: A limit of the experiment, with which a model without a price is refused.
        batches: Those of the experiment, where its calls go in batches.
    """

    def __init__(self, progress: Progress, *, loads: bool = True) -> None:
        self._progress, self._loads = progress, loads
        self.max_cost: float | None = None
        self.batches: Batches | None = None
        self._opened: dict[str, Models] = {}
        self._limits: dict[str, Limits] = {}
        self._embedder: Embedder | None = None
        self._opening = asyncio.Lock()

    async def of(self, settings: Settings, *, judges: Sequence[str] | None = None) -> Models:
        """The models that the settings name, or a panel of judges.

        Raises:
            SettingsError: A name or key is not usable, or a cost limit stands and a model's price is unknown.
            ModelUnavailable: A server cannot be reached.
        """
        key = f"{settings.models.model_dump_json()} {settings.calls.model_dump_json()} {judges}"
        async with self._opening:
            if key not in self._opened:
                self._opened[key] = await self._open(settings, judges)
            return self._opened[key]

    async def embedder(self, settings: Settings) -> Embedder:
        """The one embedder of all measurements."""
        async with self._opening:
            if self._embedder is None:
                self._embedder = await opened_embedder(settings, self._progress)
            return self._embedder

    async def _open(self, settings: Settings, judges: Sequence[str] | None) -> Models:
        limited = settings.model_copy(update={"budget": BudgetSettings(max_cost=self.max_cost)})
        if not self._loads and any(spec.is_local for spec in check_models(settings, judges=judges).values()):
            models = planned_models(limited, judges=judges)
        else:
            models = await open_models(limited, self._progress, judges=judges)
            if self.batches is not None:
                put_into_batches(models, self.batches, settings.calls)
        for model in models.by_role.values():
            model.limits = self._limits.setdefault(model.spec.id, model.limits)
        return models

    async def aclose(self) -> None:
        """Close all; the embedded model stays loaded for the next run."""
        try:
            if self._embedder is not None:
                await self._embedder.aclose()
        finally:
            for models in self._opened.values():
                await models.aclose()


def planned_models(settings: Settings, *, judges: Sequence[str] | None = None) -> Models:
    """The models as far as they are known without opening any, for estimates: they count tokens, and none is asked.

    Raises:
        SettingsError: A name or key is not usable, or a cost limit stands and a model's price is unknown.
    """
    specs = check_models(settings, judges=judges)
    models = Models({role: _planned(spec, settings) for role, spec in specs.items()})
    unknown = next((model for model in models.by_role.values() if model.cost(1, 1) is None), None)
    if settings.budget.max_cost is not None and unknown is not None:
        raise SettingsError(
            f"--max-cost cannot be kept: the price of {unknown.spec.id!r} is unknown.",
            hint="Give it under [models.prices] of the settings, or limit tokens with --max-tokens.",
        )
    return models


def full_id(spec_id: str) -> str:
    """A model's id as it stands in records: the embedded model under its full name."""
    provider, _, name = spec_id.partition(":")
    return ModelSpec(provider, chat_model_key(name or provider)).id if ModelSpec(provider, name).is_local else spec_id


def _planned(spec: ModelSpec, settings: Settings) -> Model:
    if spec.is_local:
        spec, context, reading = ModelSpec(spec.provider, chat_model_key(spec.name)), LOCAL_CONTEXT, LOCAL_READING
    else:
        context, reading = known_context(spec) or ASSUMED_CONTEXT, None
    return Model(
        spec=spec,
        wire=Wire(spec, key=None, timeout_s=settings.calls.timeout_s),
        limits=Limits(1, None, None),
        context_tokens=settings.models.context_tokens or context,
        prices={} if spec.is_local else settings.models.prices,
        count=lambda text: int(count_tokens(text, spec.name) * _MARGIN) + 1,
        temperature=settings.models.temperature,
        reading_tokens=settings.models.reading_tokens or reading,
        batched=settings.calls.batch,
    )
