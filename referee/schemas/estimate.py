"""What a run will ask and cost, before its first call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from referee.schemas.paper_cut import PaperCut, PaperNotRead


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Calls, tokens and money that are to be expected; repairs and retries come on top and are reported.

    Input tokens are those of prompts and schemas as far as they are known before the first reply, output tokens are
    typical. What bounds a run is ``--max-cost`` and ``--max-tokens``.

    Attributes:
        calls: What is expected.
        most_calls: The most it can come to, where that is more.
        input_tokens: Tokens in.
        output_tokens: Tokens out.
        cost_usd: US dollars; None where a model's price is unknown.
        notes: What is worth knowing before it is confirmed.
    """

    calls: int = 0
    most_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    notes: tuple[str, ...] = ()

    def holding(self, parts: Iterable[Estimate]) -> Self:
        """The same with the calls, tokens and cost of these parts together."""
        given = list(parts)
        return replace(
            self,
            calls=sum(part.calls for part in given),
            most_calls=sum(max(part.calls, part.most_calls) for part in given),
            input_tokens=sum(part.input_tokens for part in given),
            output_tokens=sum(part.output_tokens for part in given),
            cost_usd=total_cost(part.cost_usd for part in given),
        )

    def times(self, factor: float) -> Self:
        """The same so many times over; what was estimated by a part of the work stands for all of it."""
        return replace(
            self,
            calls=round(self.calls * factor),
            most_calls=round(self.most_calls * factor),
            input_tokens=round(self.input_tokens * factor),
            output_tokens=round(self.output_tokens * factor),
            cost_usd=None if self.cost_usd is None else self.cost_usd * factor,
        )


@dataclass(frozen=True, kw_only=True)
class PartEstimate(Estimate):
    """A metric's or an arm's share: ``units`` to be made, of which some are ``there`` and some ``impossible``.

    ``runs`` says what is computed on this machine, on what; empty where nothing is.
    """

    name: str
    units: int
    there: int = 0
    impossible: int = 0
    runs: str = ""


@dataclass(frozen=True, kw_only=True)
class ReviewEstimate(Estimate):
    """Of one review, or of the prompts for one.

    ``models`` are ids by role. ``preset`` is ``quick`` or ``full`` where a strategy has both, and ``other`` is the
    estimate of the one that was not chosen. ``cut`` says what of the paper will not be read; ``refusal`` is the error
    of a run that does not go on with so little of it.
    """

    strategy: str
    models: Mapping[str, str]
    preset: str = ""
    other: ReviewEstimate | None = None
    cut: PaperCut | None = None
    refusal: PaperNotRead | None = None

    def beside(self, parts: Sequence[Estimate], notes: Iterable[str]) -> ReviewEstimate:
        """The same with what comes beside the review's own calls, and with more notes."""
        joined = self.holding([self, *parts]) if parts else self
        most = joined.most_calls if self.most_calls else 0
        return replace(joined, most_calls=most, notes=(*self.notes, *notes))


@dataclass(frozen=True, kw_only=True)
class SetEstimate(Estimate):
    """Of measuring a set of reviews. ``rejected`` rows were not usable; ``metrics`` are its parts, where it has any."""

    reviews: int
    papers: int
    judges: tuple[str, ...]
    rejected: int = 0
    repeats: int = 1
    metrics: tuple[PartEstimate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ArenaEstimate(Estimate):
    """Of reviewing papers on their forms: how many by form, those ``there`` already, and ``skipped`` by reason."""

    model: str = ""
    forms: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    there: int = 0


@dataclass(frozen=True, kw_only=True)
class WritingEstimate(Estimate):
    """Of writing reviews that detection is studied on: how many ``reviews``, by ``models``; ``skipped`` by reason."""

    what: str
    reviews: int
    models: tuple[str, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlantEstimate(Estimate):
    """Of planting errors with models: at most ``plants`` errors in ``papers`` papers, worded and read by ``models``."""

    papers: int
    plants: int
    models: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ExperimentEstimate(Estimate):
    """Of an experiment on a split of its papers, or on ``all``: the arms' reviews, and what is left to measure."""

    split: str
    papers: int
    excluded: int
    arms: tuple[PartEstimate, ...]
    judging: SetEstimate | None = None

    @property
    def units(self) -> int:
        """All reviews the plan asks for."""
        return sum(arm.units for arm in self.arms)


@dataclass(frozen=True, kw_only=True)
class SearchEstimate(Estimate):
    """Of a search for better prompts, at most: ``proposing``, ``reviewing`` and ``measuring`` are its parts.

    ``rounds`` are versions and papers of each round of halving.
    """

    objective: str
    guidelines: int
    development: int
    held_out: int
    rounds: tuple[tuple[int, int], ...]
    parts: tuple[PartEstimate, ...] = ()


def total_cost(costs: Iterable[float | None]) -> float | None:
    """What costs come to; None where one is unknown."""
    given = list(costs)
    return None if None in given else sum(cost for cost in given if cost is not None)
