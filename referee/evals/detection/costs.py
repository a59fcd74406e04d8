"""What a detector costs, before it runs: passes and tokens of models, and about how much is computed.

A pass of a model of P parameters over n tokens takes about 2 P n operations. How long that lasts depends on the
machine and is not said.

Source: the specification's section 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from referee.evals.detection.canonical import canonical_review
from referee.schemas.estimate import PartEstimate

if TYPE_CHECKING:
    from referee.evals.detection.detectors.base import Detector
    from referee.evals.detection.services import DetectionServices
    from referee.llm.models import Model
    from referee.schemas.case import ReviewCase

# English text has about four tokens in three words.
_TOKENS_A_WORD = 4 / 3


@dataclass(frozen=True)
class Cost:
    """The work of one model for a detector on some text.

    Attributes:
        model: Its name.
        work: What it does; detectors that name the same work of one model share it, and it is done once.
        passes: Times the model reads a text.
        tokens: Tokens read over all passes.
        parameters: Of the model; 0 where that is not known.
        generated: Tokens that it writes.
        calls: Calls through the door; 0 for what runs here.
    """

    model: str
    work: str
    passes: int
    tokens: int
    parameters: int = 0
    generated: int = 0
    calls: int = 0

    @property
    def flops(self) -> float | None:
        """About 2 operations a parameter and token, read or written; None where the size is not known."""
        return 2.0 * self.parameters * (self.tokens + self.generated) if self.parameters else None

    def times(self, factor: float) -> Cost:
        """The same so many times."""
        numbers = {name: round(getattr(self, name) * factor) for name in ("passes", "tokens", "generated", "calls")}
        return replace(self, **numbers)


def tokens_of_words(words: int, most: int) -> int:
    """About how many tokens a model reads of so many words."""
    return min(round(words * _TOKENS_A_WORD), most)


def cost_estimates(
    metrics: Sequence[Detector],
    planned: Sequence[PartEstimate],
    sample: Sequence[ReviewCase],
    services: DetectionServices,
    generator: Model | None,
) -> tuple[PartEstimate, ...]:
    """The parts of an estimate with what runs here, on what, and with the calls of detectors that let a model write.

    Args:
        metrics: The detectors.
        planned: Their parts, in the same order; ``units`` counts the reviews.
        sample: Some of the reviews; the others are taken to be like them.
        services: The models; a detector whose model is absent says that.
        generator: Who writes, for the price.
    """
    words = [len(canonical_review(case).text.split()) for case in sample if case.text.strip()]
    done: dict[tuple[str, str], str] = {}
    return tuple(
        _estimated(metric, part, words, services, generator, done)
        for metric, part in zip(metrics, planned, strict=True)
    )


def _estimated(
    metric: Detector,
    part: PartEstimate,
    words: Sequence[int],
    services: DetectionServices,
    generator: Model | None,
    done: dict[tuple[str, str], str],
) -> PartEstimate:
    if why := metric.without(services):
        return replace(part, units=0, runs=f"cannot run: {why}")
    costs = list(_summed(metric, services, words, part.units))
    own = [cost for cost in costs if (cost.model, cost.work) not in done]
    shared = {(cost.work, done[cost.model, cost.work]) for cost in costs if (cost.model, cost.work) in done}
    done |= {(cost.model, cost.work): metric.name for cost in own}
    said = [_said(cost) for cost in own if not cost.calls]
    said += [f"shares the {work} of {name}" for work, name in sorted(shared)]
    asked = [cost for cost in own if cost.calls]
    tokens_in, tokens_out = sum(cost.tokens for cost in asked), sum(cost.generated for cost in asked)
    price = generator.cost(tokens_in, tokens_out) if generator and asked else 0.0
    return replace(
        part,
        calls=sum(cost.calls for cost in asked),
        most_calls=sum(cost.calls for cost in asked),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=price,
        runs="; ".join(said),
    )


def _summed(metric: Detector, services: DetectionServices, words: Sequence[int], units: int) -> Iterator[Cost]:
    """The costs of all reviews, one a model and work."""
    each: dict[tuple[str, str], list[Cost]] = {}
    for count in words:
        for cost in metric.cost(services, count):
            each.setdefault((cost.model, cost.work), []).append(cost)
    for costs in each.values():
        yield _sum(costs).times(units / len(words))


def _sum(costs: Iterable[Cost]) -> Cost:
    given = list(costs)
    numbers = {name: sum(getattr(one, name) for one in given) for name in ("passes", "tokens", "generated", "calls")}
    return replace(given[0], **numbers)


def _said(cost: Cost) -> str:
    passes = f"{cost.passes:,} pass{'' if cost.passes == 1 else 'es'}"
    written = f" and {cost.generated:,} written" if cost.generated else ""
    much = f", about {cost.flops:.1e} FLOP" if cost.flops is not None else ""
    return f"{cost.model}: {passes}, about {cost.tokens:,} tokens read{written}{much}"
