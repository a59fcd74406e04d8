"""What the machines that raise points carry: points in the state, services in the context, and how a run ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from referee.agents.card import NO_CARD, Card, render_card
from referee.agents.carded import ModelWindow
from referee.agents.parts import Part
from referee.errors import RefereeError
from referee.evidence import QuotationIndex
from referee.graphs.criteria import CriteriaShown
from referee.graphs.failure import STOPS, Failure, first_to_end, record_failure
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.llm.models import Model
from referee.retrieval import Retriever
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm
from referee.settings import Ablation
from referee.venues.prompts import SectionPrompt


@dataclass(frozen=True)
class PartsContext:
    """The services and the fixed data of a run that goes part by part.

    ``instructions`` is what section reviewers are told, so that what they only copy can be recognised. ``retriever``
    is null on the lean plan, which shows no passages from elsewhere and asks no checker. ``ablated`` names the steps
    that a run for research does without, ``quota`` the points that it asks each reader for (0: as many as there are).
    """

    paper: Paper
    form: VenueForm
    door: Door
    review_id: str
    card: Card
    parts: tuple[Part, ...]
    prompts: tuple[SectionPrompt, ...]
    index: QuotationIndex
    how_read: str
    instructions: str
    lean: bool
    retriever: Retriever | None = None
    embedder: Embedder | None = None
    ablated: frozenset[Ablation] = frozenset()
    quota: int = 0

    def takes(self, step: Ablation) -> bool:
        """Whether the run takes a step as the strategy has it."""
        return step not in self.ablated

    @property
    def readers_card(self) -> Card:
        """The card that readers of the paper see; who composes the review has no other source and keeps it."""
        return self.card if self.takes("card") else NO_CARD

    def model(self, role: str) -> Model:
        """The model of a role."""
        return self.door.models[role]

    def window(self, role: str) -> ModelWindow:
        """How much the model of a role can read."""
        model = self.model(role)
        return ModelWindow(model.context_tokens, model.count)

    @property
    def criteria(self) -> dict[str, str]:
        """The venue's guidelines that a point may name, by id."""
        return {guideline.id: guideline.text for guideline in self.form.guidelines}

    def card_text(self, room_tokens: int, role: str) -> str:
        """The card within a number of tokens of a role's model."""
        return render_card(self.card, room_tokens, self.model(role).count)

    def part(self, part_id: str) -> Part:
        """The part of that id."""
        return next(part for part in self.parts if part.id == part_id)


class PointsState(TypedDict, total=False):
    """``raised``, ``shown``, ``notes`` and ``failures`` grow from parallel branches and are sorted before use.

    ``mapped`` says whether a model was asked which of the venue's steps go with which part, ``unread`` why a criterion
    goes to no reader, by its id.
    """

    mapped: bool
    unread: dict[str, str]
    raised: Annotated[list[ReviewPoint], add]
    shown: Annotated[list[CriteriaShown], add]
    notes: Annotated[list[str], add]
    failures: Annotated[list[Failure], add]
    points: list[ReviewPoint]
    review: Review | None
    failure: Failure | None


class PartsState(PointsState, total=False):
    """``assigned`` holds, per part, the steps by guideline id."""

    assigned: dict[str, dict[str, str]]


def no_points() -> PointsState:
    """An empty state."""
    return PointsState(
        mapped=False, unread={}, raised=[], shown=[], notes=[], failures=[], points=[], review=None, failure=None
    )


def no_parts() -> PartsState:
    """An empty state of a run part by part."""
    return PartsState(**no_points(), assigned={})


def by_id(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points from the state, by id: branches arrive in no order of ours."""
    return sorted(points, key=lambda point: point.id)


def gap_or_stop(what: str, error: RefereeError) -> PointsState:
    """The error as a gap with its name; a used-up budget as the failure that ends the run."""
    failure = record_failure(what, error)
    return {"failure": failure} if failure.kind in STOPS else {"failures": [failure]}


def stopping(failures: Sequence[Failure], branches: int) -> Failure | None:
    """What ends the run after so many parallel branches: a used-up budget, or the first failure where all failed."""
    return first_to_end(failures, any_stands=len(failures) < branches)


def go_on(state: PointsState) -> str:
    """Whether the machine goes on after a node."""
    return "stop" if state["failure"] else "go on"
