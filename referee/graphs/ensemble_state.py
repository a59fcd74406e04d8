"""What the machine ``ensemble`` carries: plain data in the state, services in the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import field as default
from operator import add
from typing import Annotated, Any, TypedDict

from referee.agents.meta_reviewer import MemberReview
from referee.agents.single_reviewer import Variation
from referee.evidence import QuotationIndex
from referee.graphs.failure import Failure
from referee.graphs.single import Checked
from referee.llm.door import Door
from referee.llm.models import Model
from referee.schemas.paper import Paper
from referee.schemas.review import DroppedQuotation, Evidence
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


@dataclass(frozen=True)
class Draft:
    """A review on its way: what was checked of it, its scores with the ids they cite, its ticks."""

    checked: Checked
    scores: dict[str, dict[str, Any]]
    choices: dict[str, Any]

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {
            **asdict(self),
            "checked": {
                **asdict(self.checked),
                "evidence": [e.model_dump() for e in self.checked.evidence],
                "dropped": [d.model_dump() for d in self.checked.dropped],
            },
        }

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Draft:
        """From plain data."""
        checked = Checked(
            data["checked"]["texts"],
            data["checked"]["echoes"],
            tuple(Evidence.model_validate(e) for e in data["checked"]["evidence"]),
            tuple(DroppedQuotation.model_validate(d) for d in data["checked"]["dropped"]),
        )
        return cls(checked, data["scores"], data["choices"])

    def as_member(self, number: int) -> MemberReview:
        """As the area chair sees it."""
        return MemberReview(number, self.checked.texts, self.scores, self.choices, self.checked.evidence)


class EnsembleState(TypedDict):
    """``members`` hold ``number``, ``draft``, ``cuts`` and ``notes``; ``draft`` is the review after the latest step.

    ``members``, ``failures`` and ``notes`` grow, the first two from parallel branches; they are sorted before use.
    ``rounds`` counts the reflections asked for, and ``settled`` says that no other will be.
    """

    members: Annotated[list[dict[str, Any]], add]
    failures: Annotated[list[Failure], add]
    notes: Annotated[list[str], add]
    draft: dict[str, Any] | None
    rounds: int
    settled: bool
    review: dict[str, Any] | None
    failure: Failure | None


class EnsembleUpdate(TypedDict, total=False):
    """What a node may change."""

    members: list[dict[str, Any]]
    failures: list[Failure]
    notes: list[str]
    draft: dict[str, Any]
    rounds: int
    settled: bool
    review: dict[str, Any]
    failure: Failure


class MemberTask(TypedDict):
    """One reviewer, counted from 1."""

    number: int


def initial_state() -> EnsembleState:
    """An empty state."""
    return EnsembleState(
        members=[], failures=[], notes=[], draft=None, rounds=0, settled=False, review=None, failure=None
    )
