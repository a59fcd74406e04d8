"""What the machine ``guidelines`` carries: plain data in the state, services in the context."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from referee.agents.guideline_labeller import Labelled
from referee.agents.page_reader import PageReply
from referee.graphs.failure import Failure
from referee.llm.door import Door
from referee.schemas.venue import Aspect, FactConfidence, VenueForm
from referee.venues.page import GuidelinePage, Window
from referee.venues.statements import Statement


@dataclass(frozen=True)
class PageOrigin:
    """Where a page was had: ``name`` is an address or a file's name without its folders, ``url`` empty for a file.

    ``retrieved`` is a day, ``sha256`` of the bytes as they came.
    """

    name: str
    url: str
    retrieved: str
    sha256: str

    @property
    def confidence(self) -> FactConfidence:
        """``official`` for what was fetched from its address; a saved file could have been changed: ``secondary``."""
        return "official" if self.url else "secondary"


@dataclass(frozen=True)
class GuidelinesContext:
    """The services and the fixed data of one run.

    ``pieces`` are what a model is given to read, ``most_out`` tokens the longest reply to one; where there are none,
    code has cut the page into ``windows`` whose statements are labelled. ``page`` is all pages in one; where there are
    several, ``others`` holds each. ``lender`` is the venue whose form is borrowed, if any.
    """

    venue_id: str
    venue_name: str
    page: GuidelinePage
    origin: PageOrigin
    paper_type: str
    windows: tuple[Window, ...]
    lean: bool
    door: Door
    pieces: tuple[str, ...] = ()
    most_out: int = 0
    force: bool = False
    others: tuple[tuple[GuidelinePage, PageOrigin], ...] = ()
    lender: VenueForm | None = None


class GuidelinesState(TypedDict, total=False):
    """``labelled``, ``readings``, ``notes`` and ``failures`` grow from parallel branches and are sorted before use."""

    labelled: Annotated[list[Labelled], add]
    notes: Annotated[list[str], add]
    failures: Annotated[list[Failure], add]
    readings: Annotated[list[PageReply], add]
    statements: list[Statement]
    aspects: dict[str, Aspect]
    venue: VenueForm | None
    failure: Failure | None


class LabelTask(TypedDict):
    """One window for one call."""

    window: str


class ReadTask(TypedDict):
    """One piece of the page for one call."""

    piece: int


def initial_state() -> GuidelinesState:
    """An empty state."""
    return GuidelinesState(
        labelled=[], readings=[], notes=[], failures=[], statements=[], aspects={}, venue=None, failure=None
    )
