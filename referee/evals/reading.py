"""What is read out of one review before any number is made of it, and the numbers that are made of it alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from referee.evals.behaviour import TextMetrics, text_metrics
from referee.evals.behaviour.atomic import AtomicItems, atomic_items
from referee.evals.behaviour.fidelity import Fidelity, Redundancy, fidelity, redundancy
from referee.evals.metric import Better, Context, Quantity, Range, not_applicable, scored
from referee.literature.checking import Checked
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

Part = Literal["text", "items", "scores", "ranks"]


@dataclass(frozen=True)
class Reading:
    """One review as it was read.

    Attributes:
        case: The review.
        text: What its text holds.
        items: Its atomic strengths and weaknesses; None where they were not asked for.
        engages: Whether it works with the paper's mathematics; None with ``engages_why``.
        checked: Its formal citations looked up; None where nobody was asked.
        rank: Where its rating stands among its form's values, 0 to 1; None on an unknown form or outside it.
    """

    case: ReviewCase
    text: TextMetrics
    items: AtomicItems | None = None
    engages: bool | None = None
    engages_why: str = ""
    checked: tuple[Checked, ...] | None = None
    rank: float | None = None

    @cached_property
    def fidelity(self) -> Fidelity | None:
        """Whether its items are its own words; None without items."""
        return fidelity(self.items) if self.items is not None else None

    @cached_property
    def redundancy(self) -> Redundancy | None:
        """How much its items repeat each other; None without items."""
        return redundancy(self.items.all) if self.items is not None else None


def no_reason(reading: Reading) -> str:
    """Why what is made of the text is null."""
    return reading.text.reason


@dataclass(frozen=True)
class ReadMetric(Quantity):
    """A number made of one reading, without a model; a metric like any other.

    Attributes:
        name: How it is asked for, and its column.
        about: What it is, in a line.
        unit: Its unit, as ``words`` or ``fraction``.
        range: Lowest and highest value; None where there is none.
        of: Makes the number; None where it is not defined.
        why: Says why it is not.
        part: What has to be read.
        scaled: It stands on the scale of a form, and is only compared within one scale.
        variant_of: What it is nearly the same as: it is shown, and p values are corrected for the other alone.
        better: Whether more is better; None where neither is.
        version: Raised when its meaning changes.
    """

    name: str
    about: str = field()
    unit: str = field()
    of: Callable[[Reading], float | None] = field()
    range: Range = (0.0, None)
    why: Callable[[Reading], str] = no_reason
    part: Part = "text"
    scaled: bool = False
    variant_of: str = ""
    better: Better = None
    version: str = "1"

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Read the review by rules, once for all metrics that are made of its reading."""

        async def read() -> Reading:
            return read_by_rules(case, context)

        reading = await context.shared.once(("reading", case.case_id), read)
        value = self.of(reading)
        if value is None:
            return not_applicable(self, case, self.why(reading) or "the review does not have it")
        return scored(self, case, float(value))


def read_by_rules(case: ReviewCase, context: Context) -> Reading:
    """A reading without a model: items by rules, mathematics by the heuristic, citations not looked up."""
    from referee.evals.agreement import scale_of

    text = text_metrics(case.text)
    read = text.status == "scored"
    scale = scale_of(context.form) if context.form is not None else None
    return Reading(
        case,
        text,
        items=atomic_items(case),
        engages=text.engages if read else None,
        engages_why=text.reason,
        rank=scale.rank(case.rating) if scale is not None and case.rating is not None else None,
    )
