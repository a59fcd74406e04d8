"""What a review is made of and with: the same for every strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from referee.llm.models import Models
from referee.runs import Budget, Progress
from referee.schemas.paper import Paper
from referee.schemas.review import Cut, Review
from referee.schemas.venue import VenueForm
from referee.settings import Settings


@dataclass(frozen=True)
class Job:
    """One paper on one form with one set of models."""

    paper: Paper
    form: VenueForm
    settings: Settings
    models: Models
    progress: Progress


@dataclass(frozen=True)
class Shared:
    """What several runs of one command share: models that are open, with their limits, and one budget over all runs.

    Who opened the models closes them. ``budget`` holds what the runs that are resumed have spent before.
    """

    models: Models
    budget: Budget


@dataclass(frozen=True)
class Plan:
    """An estimate before the first call. ``cost_usd`` is null where a model's price is unknown.

    Input tokens are those of the prompts and schemas that will be sent, as far as they are known before the first
    reply; output tokens are typical. What bounds a run is ``--max-cost`` and ``--max-tokens``. Repairs and retries
    come on top and are reported. ``preset`` is ``quick`` or ``full`` where a strategy has both, and ``other`` is the
    estimate of the one that was not chosen.
    """

    strategy: str
    models: dict[str, str]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    notes: tuple[str, ...] = ()
    preset: str = ""
    other: Plan | None = None


def joined(first: Plan, then: Plan) -> Plan:
    """The estimate of both, one after the other."""
    costs = (first.cost_usd, then.cost_usd)
    return replace(
        then,
        models={**first.models, **then.models},
        calls=first.calls + then.calls,
        input_tokens=first.input_tokens + then.input_tokens,
        output_tokens=first.output_tokens + then.output_tokens,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


@dataclass(frozen=True)
class Written:
    """What a strategy hands back: the review, what of the paper was not shown, and notes on the way.

    ``prompts`` are the digests of steps that do not ship with referee, by name. ``mark`` is a sentence without its
    full stop that every reader of the review must meet, as that it is no assessment.
    """

    review: Review
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    prompts: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
