"""The outcome of one metric on one review. What could not be measured is said, and never looks like a number."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from referee.schemas.base import Frozen
from referee.schemas.usage import Usage

MetricStatus = Literal["scored", "not_applicable", "failed"]


class JudgeScore(Frozen):
    """What one judge said in one repeat: its value, or why there is none."""

    judge: str
    repeat: int = Field(default=0, ge=0)
    value: float | None = None
    reason: str = ""
    calls: tuple[str, ...] = Field(default=(), description="ids of the calls in trace.jsonl")


class MetricResult(Frozen):
    """One value with everything that led to it.

    ``value`` is set exactly where ``status`` is ``scored``; else ``reason`` says why there is none. ``parts`` are
    further numbers of the same metric (precision and F1 beside recall). ``details`` hold every extracted item,
    judgement and quotation, enough to compute the value anew without a call. ``judges`` are the single judges' values.
    """

    schema_version: Literal[1] = 1
    case_id: str
    paper_id: str
    source: str
    metric: str
    version: str
    status: MetricStatus
    value: float | None = None
    reason: str = ""
    parts: dict[str, float | None] = Field(default_factory=dict)
    details: dict[str, Any] = Field(default_factory=dict)
    judges: tuple[JudgeScore, ...] = ()
    usage: Usage = Usage()
    prompts: dict[str, str] = Field(
        default_factory=dict, description="versions of prompts that were chosen in place of the newest that ship"
    )
    paid: tuple[str, ...] = Field(default=(), description="ids of the calls in trace.jsonl whose usage is counted here")

    @model_validator(mode="after")
    def _check(self) -> MetricResult:
        if (self.status == "scored") != (self.value is not None):
            raise ValueError(f"metric {self.metric!r} with status {self.status!r} has the value {self.value!r}")
        if self.status != "scored" and not self.reason:
            raise ValueError(f"metric {self.metric!r} with status {self.status!r} needs a reason")
        return self
