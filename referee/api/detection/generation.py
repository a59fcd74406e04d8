"""What is generated: which human reviews are edited, condensed or written again, how, and what it will cost."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from pydantic import BaseModel

from referee.agents.asking import Asks
from referee.agents.text_writers import (
    LEVELS,
    REPLY_TOKENS,
    Level,
    condense_review,
    edit_review,
    expand_points,
    extend_review,
)
from referee.api.detection.many import require_text
from referee.data import PaperStore
from referee.errors import ContextTooLong, DataError, SettingsError
from referee.evals.forms import Forms
from referee.graphs.job import Job, too_little_read
from referee.graphs.single.research import drawn_persona
from referee.graphs.strategies import STRATEGIES
from referee.llm.dialects import reply_schema
from referee.llm.door import Answer
from referee.llm.models import Model, Models
from referee.nearest import did_you_mean
from referee.prompts import RenderedPrompt, load_prompt, prompt_digests
from referee.runs import Progress
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import Estimate, WritingEstimate
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings
from referee.venues import venue_digest

Task = Literal["aligned", "archetype", "enriched", "edit", "bullets"]
TASKS: tuple[Task, ...] = get_args(Task)
ON_FORM: tuple[Task, ...] = ("aligned", "archetype", "enriched")
"""Tasks that fill the venue's form anew, by the strategy of that name."""

T = TypeVar("T", bound=BaseModel)

_ROLE = "writer"
_LOOKED_AT = 20
_FORMS_LOOKED_AT = 5
_PROMPTS: Mapping[Task, tuple[str, ...]] = {
    "edit": ("detect/edit", "detect/extend"),
    "bullets": ("detect/bullets", "detect/expand"),
    **{task: (f"review/{task}", f"review/{task}-brief") for task in ON_FORM},
}


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What is asked for.

    Attributes:
        reviews: The set whose human reviews are taken, a file or a folder in one of the layouts of ``referee.data``.
        task: ``aligned``, ``archetype`` and ``enriched`` write a review on the form for each human one; ``edit`` lets
            the model edit it; ``bullets`` condenses it and expands the bullets without the paper.
        model: Who writes; there is no default.
        papers: The reviewed papers; only ``bullets`` and the three lower levels of ``edit`` do without.
        levels: Of ``edit``; all four by default.
        venue: The form of reviews that name no known venue themselves.
        split: Where the set does not say it.
        limit: Take so many human reviews only, the first by paper.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        embedder: Measures how far edits are from their originals.
    """

    reviews: str | Path
    task: Task
    model: str
    papers: str | Path | None = None
    levels: Sequence[str] = ()
    venue: str | Path | VenueForm | None = None
    split: str = "test"
    limit: int | None = None
    mapping: str | Path | None = None
    layout: str | None = None
    embedder: str | None = None

    def check(self) -> None:
        """See that it can be done.

        Raises:
            SettingsError: The task or a level is unknown, no model is named, or papers are missing.
        """
        if self.task not in TASKS:
            raise SettingsError(
                f"there is no task {self.task!r}.", hint=f"{did_you_mean(self.task, TASKS)}Tasks: {', '.join(TASKS)}."
            )
        if not self.model.strip():
            raise SettingsError("no model is named, and there is no default.", hint="Give --model.")
        if self.levels and self.task != "edit":
            raise SettingsError(f"task {self.task!r} has no levels.", hint="Leave --levels away, or take --task edit.")
        for level in self.levels:
            if level not in LEVELS:
                raise SettingsError(
                    f"there is no level {level!r}.", hint=f"{did_you_mean(level, LEVELS)}Levels: {', '.join(LEVELS)}."
                )
        if self.papers is None and (self.task in ON_FORM or "maximum" in self.used_levels):
            raise SettingsError(
                f"task {self.task!r} needs the papers.",
                hint="Give --papers" + (", or leave the level maximum out." if self.task == "edit" else "."),
            )

    @property
    def used_levels(self) -> tuple[Level | Literal[""], ...]:
        """The levels in their order; for other tasks one that is empty."""
        if self.task != "edit":
            return ("",)
        return tuple(level for level in LEVELS if level in (self.levels or LEVELS))


@dataclass(frozen=True)
class Piece:
    """One review to be made of a human one."""

    source: ReviewCase
    task: Task
    level: Level | Literal[""] = ""

    @property
    def name(self) -> str:
        """The id of what is made."""
        return "-".join(part for part in (self.source.case_id, self.task, self.level) if part)


@dataclass(frozen=True)
class GenerationJob:
    """Pieces, and what they are made with. ``skipped`` human reviews are counted by reason."""

    asked: Generation
    pieces: tuple[Piece, ...]
    skipped: Counter[str]
    store: PaperStore | None
    forms: Forms
    venue: VenueForm | None
    settings: Settings
    models: Models
    progress: Progress
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        """Who writes."""
        return self.models[_ROLE]

    def paper(self, piece: Piece) -> Paper:
        """The reviewed paper.

        Raises:
            DataError: It is not there, or cannot be read.
        """
        paper = self.store.get(piece.source.paper_id) if self.store is not None else None
        if paper is None:
            raise DataError(f"there is no paper {piece.source.paper_id!r}.", hint="See --papers.")
        return paper

    def form(self, piece: Piece) -> VenueForm:
        """The form of the human review; pieces without one are skipped."""
        form = self.forms.of(piece.source)
        assert form is not None, "pieces on forms have one"
        return form

    def form_settings(self, piece: Piece) -> Settings:
        """The settings of the review that is written for a human one: its strategy, and its rating or a persona."""
        given: dict[str, str] = {"review.strategy": piece.task}
        if piece.task == "archetype":
            given["review.persona"] = drawn_persona(piece.source.case_id)
        else:
            given["review.target"] = f"{piece.source.rating:g}"
        return changed_settings(self.settings, given)

    def prompts(self) -> dict[str, str]:
        """Digest by prompt and version, of the prompts that its task may use."""
        used = [load_prompt(name) for name in _PROMPTS.get(self.asked.task, ())]
        return prompt_digests(used)

    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed."""
        named = (f"{piece.name}\0{piece.source.text}" for piece in self.pieces)
        return {
            "task": self.asked.task,
            "set of reviews": hashlib.sha256("\n".join(named).encode()).hexdigest(),
            "set of papers": hashlib.sha256("\0".join(self.store.ids() if self.store else ()).encode()).hexdigest(),
            "venue form": venue_digest(self.venue) if self.venue else "none",
            **{f"version of prompt {name}": digest for name, digest in self.prompts().items()},
            "temperature": str(self.settings.models.temperature),
            "model": self.model.spec.id,
        }


def find_pieces(
    humans: Iterable[ReviewCase], asked: Generation, store: PaperStore | None, forms: Forms
) -> tuple[tuple[Piece, ...], Counter[str]]:
    """The pieces to be made of human reviews, and why others are skipped."""
    pieces: list[Piece] = []
    skipped: Counter[str] = Counter()
    taken = 0
    for case in humans:
        if asked.limit is not None and taken >= asked.limit:
            break
        if reason := _unusable(case, asked, store, forms):
            skipped[reason] += 1
            continue
        taken += 1
        pieces += [Piece(case, asked.task, level) for level in asked.used_levels]
    return tuple(pieces), skipped


def _unusable(case: ReviewCase, asked: Generation, store: PaperStore | None, forms: Forms) -> str:
    if not case.text.strip():
        return "the review has no text"
    if (asked.task in ON_FORM or "maximum" in asked.used_levels) and not (store and store.has(case.paper_id)):
        return "its paper is not there"
    if asked.task not in ON_FORM:
        return ""
    form = forms.of(case)
    if form is None:
        return forms.why_none(case)
    if asked.task == "archetype":
        return ""
    if case.rating is None:
        return "the review has no rating to agree with"
    values = [option.value for option in form.field(form.overall).options] if form.overall else []
    return "" if case.rating in values else f"its rating is none that the form {form.id} offers"


def prompts_of(piece: Piece) -> tuple[str, ...]:
    """Prompts and versions by which a text without a form is written."""
    names = _PROMPTS[piece.task]
    if piece.task == "edit":
        names = names[1:] if piece.level == "maximum" else names[:1]
    return tuple(f"{prompt.id}@{prompt.version}" for prompt in map(load_prompt, names))


async def write_text(piece: Piece, job: GenerationJob, door: Asks) -> tuple[str, str, PaperCut | None]:
    """The text of a task without a form, the model that wrote it, and what of a paper it was not shown.

    Raises:
        DataError: The paper is needed and cannot be had.
        PaperNotRead: The model's window holds too little of it.
        ModelRefused: The model declined.
        ModelError: The model did not answer validly.
    """
    cut: PaperCut | None = None
    if piece.task == "bullets":
        points = await condense_review(piece.source.text, door=door, role=_ROLE)
        answer = await expand_points(points.value.points, door=door, role=_ROLE)
    elif piece.level == "maximum":
        model, paper = job.model, job.paper(piece)

        def check(shown: PaperCut | None) -> None:
            if refusal := too_little_read(shown, job.settings.paper.min_read, paper, model):
                raise refusal

        answer, cut = await extend_review(
            piece.source.text,
            paper,
            door=door,
            context_tokens=model.context_tokens,
            count=model.count,
            role=_ROLE,
            check=check,
        )
    else:
        assert piece.level, "edits have a level"
        answer = await edit_review(piece.source.text, piece.level, door=door, role=_ROLE)
    return require_text(answer.value.text, f"review {piece.name!r}"), answer.model, cut


async def generation_estimate(job: GenerationJob) -> WritingEstimate:
    """By the first reviews; the others are taken to be like them."""
    most = _FORMS_LOOKED_AT if job.asked.task in ON_FORM else _LOOKED_AT
    first, notes = job.pieces[:most], list(job.notes)
    parts: list[Estimate] = []
    for piece in first:
        try:
            parts.append(await _part(piece, job))
        except (DataError, ContextTooLong) as error:
            notes.append(f"review {piece.name!r}: {error.message.rstrip('.')}")
    if len(job.pieces) > most:
        notes.append(f"tokens and cost are estimated by the first {most} of {len(job.pieces):,} reviews")
    ids = (job.model.spec.id,)
    notes += [note for part in parts for note in part.notes] or job.model.notes
    whole = WritingEstimate(what=job.asked.task, reviews=len(job.pieces), models=ids, skipped=job.skipped)
    return replace(whole.holding(parts).times(len(job.pieces) / len(first)), notes=tuple(dict.fromkeys(notes)))


async def _part(piece: Piece, job: GenerationJob) -> Estimate:
    if piece.task in ON_FORM:
        made = Job(job.paper(piece), job.form(piece), job.form_settings(piece), job.models, job.progress)
        plan = await STRATEGIES[piece.task].plan(made)
        if plan.refusal is not None:
            raise plan.refusal
        return plan
    try:
        await write_text(piece, job, _ClosedDoor())
    except _Reached as question:
        count, calls = job.model.count, 2 if piece.task == "bullets" else 1
        tokens_in = calls * sum(map(count, question.texts))
        tokens_out = min(calls * count(piece.source.text), calls * REPLY_TOKENS)
        cost = job.model.cost(tokens_in, tokens_out)
        return Estimate(calls=calls, most_calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost)
    raise AssertionError("every piece asks")


class _Reached(Exception):
    """The question could be asked."""

    def __init__(self, texts: Iterator[str]) -> None:
        super().__init__("reached")
        self.texts = tuple(texts)


class _ClosedDoor:
    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        raise _Reached(iter((prompt.system, prompt.user, str(reply_schema(reply)))))
