"""What the machine ``whole_paper`` carries: points in the state, services in the context."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from referee.agents.focus import FocusPart
from referee.agents.paper_run import PaperRun
from referee.graphs.failure import Failure
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.settings import Ablation
from referee.venues.prompts import SectionPrompt


@dataclass(frozen=True)
class WholeContext:
    """The services and the fixed data of one run.

    ``run`` is what its agents share. ``parts`` are read line by line, each by one call, beside one reading of the whole
    paper. ``steps`` are what the venue asks readers to look at. ``source`` is the model that reads. ``ablated`` names
    the steps that a run for research does without.
    """

    paper: Paper
    run: PaperRun
    review_id: str
    source: str
    parts: tuple[FocusPart, ...]
    steps: tuple[SectionPrompt, ...]
    ablated: frozenset[Ablation] = frozenset()

    def takes(self, step: Ablation) -> bool:
        """Whether the run takes a step as the strategy has it."""
        return step not in self.ablated


class WholeState(TypedDict):
    """``raised``, ``notes`` and ``failures`` grow from parallel branches and are sorted before use."""

    raised: Annotated[list[ReviewPoint], add]
    notes: Annotated[list[str], add]
    failures: Annotated[list[Failure], add]
    points: list[ReviewPoint]
    review: Review | None
    failure: Failure | None


class WholeUpdate(TypedDict, total=False):
    """What a node may change."""

    raised: list[ReviewPoint]
    notes: list[str]
    failures: list[Failure]
    points: list[ReviewPoint]
    review: Review
    failure: Failure


class ReadTask(TypedDict):
    """One part for one reader; empty for the whole paper."""

    part_id: str


def initial_state() -> WholeState:
    """An empty state."""
    return WholeState(raised=[], notes=[], failures=[], points=[], review=None, failure=None)
