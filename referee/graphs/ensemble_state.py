"""What the machine ``ensemble`` carries: plain data in the state, services in the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from operator import add
from typing import Annotated, TypedDict

from referee.agents.single_reviewer import Variation
from referee.evidence import QuotationIndex
from referee.graphs.failure import Failure
from referee.graphs.single import Checked
from referee.llm.door import Door
from referee.llm.models import Model
from referee.schemas.base import Frozen
from referee.schemas.paper import Paper
from referee.schemas.review import Cut, Review
from referee.schemas.venue import VenueForm


@dataclass(frozen=True)
class EnsembleContext:
    """The services and the fixed data of one run. ``members`` are the reviewers' prompts, in their order."""

    paper: Paper
    form: VenueForm
    door: Door
    review_id: str
    members: tuple[Variation, ...]
    reflections: int
    index: QuotationIndex
    prompt_versions: Mapping[str, str] = default(default_factory=dict)

    def model(self, role: str) -> Model:
        """The model of a role."""
        return self.door.models[role]


class Member(Frozen):
    """A reviewer's review with its number, counted from 1, what of the paper it was not shown, and its notes."""

    number: int
    review: Checked
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]


class EnsembleState(TypedDict):
    """``draft`` is the review after the latest step.

    ``members``, ``failures`` and ``notes`` grow, the first two from parallel branches; they are sorted before use.
    ``rounds`` counts the reflections asked for, and ``settled`` says that no other will be.
    """

    members: Annotated[list[Member], add]
    failures: Annotated[list[Failure], add]
    notes: Annotated[list[str], add]
    draft: Checked | None
    rounds: int
    settled: bool
    review: Review | None
    failure: Failure | None


class EnsembleUpdate(TypedDict, total=False):
    """What a node may change."""

    members: list[Member]
    failures: list[Failure]
    notes: list[str]
    draft: Checked
    rounds: int
    settled: bool
    review: Review
    failure: Failure


class MemberTask(TypedDict):
    """One reviewer, counted from 1."""

    number: int


def initial_state() -> EnsembleState:
    """An empty state."""
    return EnsembleState(
        members=[], failures=[], notes=[], draft=None, rounds=0, settled=False, review=None, failure=None
    )
