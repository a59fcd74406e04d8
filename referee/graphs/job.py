"""What a review is made of and with: the same for every strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from referee.llm.models import Model, Models
from referee.runs import Budget, Progress
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut, PaperNotRead
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Cut, Review
from referee.schemas.venue import VenueForm
from referee.settings import Settings

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder
    from referee.venues.refined import RefinedPrompts

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """One paper on one form with one set of models.

    ``refined`` are prompts to go by in place of those in the store, ``literature`` is what a search for it found.
    ``figures`` says what was looked at as pictures, and ``figure_points`` are what was seen to be wrong with it.
    """

    paper: Paper
    form: VenueForm
    settings: Settings
    models: Models
    progress: Progress
    refined: RefinedPrompts | None = None
    literature: Literature | None = None
    figures: FigureReading | None = None
    figure_points: tuple[ReviewPoint, ...] = ()
    _made: dict[Callable[[Job], Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, make: Callable[[Job], T]) -> T:
        """What a function makes of this job, made at the first call: estimate, prompts and run share it."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made


@dataclass(frozen=True)
class Shared:
    """What several runs of one command share: models that are open, with their limits, and one budget over all runs.

    Who opened models and embedder closes them. ``budget`` holds what the runs that are resumed have spent before.
    """

    models: Models
    budget: Budget
    embedder: Embedder | None = None


def joined(first: ReviewEstimate, then: ReviewEstimate) -> ReviewEstimate:
    """The estimate of both, one after the other."""
    return replace(then.holding([first, then]), models={**first.models, **then.models})


def too_little_read(cut: PaperCut | None, least: float, paper: Paper, model: Model) -> PaperNotRead | None:
    """The refusal of a model whose window holds less than this share of the paper's body; None where it holds enough.

    Who can ask a person raises it only after a no.
    """
    if cut is None or not cut.is_under(least):
        return None
    return PaperNotRead(
        cut, title=paper.title, paper_id=paper.paper_id, model=model.spec.id, context_tokens=model.context_tokens
    )


@dataclass(frozen=True)
class Written:
    """What a strategy hands back: the review, what of the paper was not shown (by section, and in all), and notes.

    ``prompts`` are the digests of steps that do not ship with referee, by name. ``mark`` is a sentence without its
    full stop that every reader of the review must meet, as that it is no assessment.
    """

    review: Review
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    prompts: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
    cut: PaperCut | None = None
