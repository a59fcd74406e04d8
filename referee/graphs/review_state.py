"""What the machine ``review`` carries: plain data in the state, services in the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from operator import add
from typing import Annotated, TypedDict

from referee.agents.card import NO_CARD, Card, render_card
from referee.agents.carded import ModelWindow
from referee.agents.parts import Part
from referee.evidence import QuotationIndex
from referee.graphs.failure import Failure
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
class ReviewContext:
    """The services and the fixed data of one run.

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
    prompt_versions: Mapping[str, str] = default(default_factory=dict)
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

    def seat(self, role: str) -> ModelWindow:
        """Where the model of a role sits."""
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


class ReviewState(TypedDict):
    """``assigned`` holds, per part, the steps by guideline id; ``mapped`` says whether a model was asked for them.

    ``raised``, ``notes`` and ``failures`` grow from parallel branches and are sorted before use; the rest is replaced.
    """

    assigned: dict[str, dict[str, str]]
    mapped: bool
    raised: Annotated[list[ReviewPoint], add]
    notes: Annotated[list[str], add]
    failures: Annotated[list[Failure], add]
    points: list[ReviewPoint]
    review: Review | None
    failure: Failure | None


class ReviewUpdate(TypedDict, total=False):
    """What a node may change."""

    assigned: dict[str, dict[str, str]]
    mapped: bool
    raised: list[ReviewPoint]
    notes: list[str]
    failures: list[Failure]
    points: list[ReviewPoint]
    review: Review
    failure: Failure


class ReadTask(TypedDict):
    """One part for one reviewer."""

    part_id: str
    steps: dict[str, str]


def initial_state() -> ReviewState:
    """An empty state."""
    return ReviewState(
        assigned={}, mapped=False, raised=[], notes=[], failures=[], points=[], review=None, failure=None
    )
