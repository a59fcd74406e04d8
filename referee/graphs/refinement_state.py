"""What the machine ``refinement`` carries: plain data in the states, services in the context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as default
from operator import add
from typing import Annotated, TypedDict

from referee.graphs.failure import Failure
from referee.llm.door import Door
from referee.schemas.venue import Guideline, VenueForm
from referee.venues.prompts import SectionPrompt
from referee.venues.refined import Criticism, Ended, PromptVersion, RefinedGuideline, Refusal, RoundFailure


@dataclass(frozen=True)
class RefinementContext:
    """The services and the fixed data of one refinement.

    ``stored`` are the venue's prompts by guideline, of which those in ``shipped`` are ours and the others built by code
    from the guideline's text. ``lean`` are the roles that are asked in the short form.
    """

    form: VenueForm
    door: Door
    guidelines: tuple[Guideline, ...]
    stored: Mapping[str, SectionPrompt]
    shipped: frozenset[str]
    rounds: int
    until_stable: bool
    lean: frozenset[str]
    prompt_versions: Mapping[str, str] = default(default_factory=dict)

    def guideline(self, guideline_id: str) -> Guideline:
        """The guideline of that id."""
        return next(guideline for guideline in self.guidelines if guideline.id == guideline_id)


class RefinementState(TypedDict):
    """``waiting`` are the ids to refine; ``refined`` and ``stops`` grow from parallel guidelines, in no order."""

    waiting: list[str]
    refined: Annotated[list[RefinedGuideline], add]
    stops: Annotated[list[Failure], add]
    failure: Failure | None


class RefinementUpdate(TypedDict, total=False):
    """What a node may change."""

    failure: Failure


class GuidelineState(TypedDict):
    """One guideline on its way. ``round`` counts the rounds begun; lists grow by what each node adds.

    ``ended`` is null while it goes on. ``refined`` and ``stops`` are what it hands on.
    """

    guideline_id: str
    round: int
    versions: Annotated[list[PromptVersion], add]
    criticisms: Annotated[list[Criticism], add]
    refusals: Annotated[list[Refusal], add]
    failures: Annotated[list[RoundFailure], add]
    ended: Ended | None
    refined: list[RefinedGuideline]
    stops: list[Failure]


class GuidelineUpdate(TypedDict, total=False):
    """What a node of one guideline may change."""

    round: int
    versions: list[PromptVersion]
    criticisms: list[Criticism]
    refusals: list[Refusal]
    failures: list[RoundFailure]
    ended: Ended | None
    refined: list[RefinedGuideline]
    stops: list[Failure]


class GuidelineResult(TypedDict):
    """What one guideline hands on."""

    refined: list[RefinedGuideline]
    stops: list[Failure]


def initial_state(guideline_ids: Iterable[str]) -> RefinementState:
    """A state in which all guidelines still wait."""
    return RefinementState(waiting=list(guideline_ids), refined=[], stops=[], failure=None)


def begun(guideline_id: str) -> GuidelineState:
    """The state of a guideline before anything was asked about it."""
    return GuidelineState(
        guideline_id=guideline_id,
        round=0,
        versions=[],
        criticisms=[],
        refusals=[],
        failures=[],
        ended=None,
        refined=[],
        stops=[],
    )
