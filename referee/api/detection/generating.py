"""``detect_generate``: human reviews in, reviews that a model wrote, edited or expanded from them out."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from referee.api.arena.job import folder_name
from referee.api.detection.generation import (
    ON_FORM,
    Generation,
    GenerationJob,
    Piece,
    find_pieces,
    generation_estimate,
    prompts_of,
    write_text,
)
from referee.api.detection.many import Writing, require_text
from referee.api.detection.similarity import EditSimilarity, edit_similarity
from referee.api.evaluations.review_set import ReviewSet, read_for
from referee.api.options import RunOptions
from referee.api.reviewing import review
from referee.api.session import Session, session
from referee.data import canonical_text, read_papers
from referee.data.generated import TREE, Pair, write_tree
from referee.errors import DataError, EvaluationError, ModelRefused, RefereeError
from referee.evals.forms import Forms
from referee.experiments.units import finished_review, folder_usage
from referee.graphs.job import Shared
from referee.llm.completions import Completion
from referee.llm.door import Door
from referee.llm.models import Models, check_models
from referee.llm.providers.protocol import Messages, WireRequest
from referee.llm.wire import Wire
from referee.runs import Budget, Event
from referee.schemas.case import FieldText, ReviewCase
from referee.schemas.paper_cut import PaperCut, PaperNotRead, cuts_told
from referee.schemas.review import Review
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings
from referee.venues import load_venue

_Write = Callable[[Piece], Awaitable[Pair]]

GENERATED, REVIEWS, SIMILARITY = "generated.jsonl", "reviews", "similarity.json"


@dataclass(frozen=True)
class Generated:
    """Finished work: its folder, the reviews, how many pieces ended how, and the cost over all starts.

    ``unplaced`` reviews name no conference and year, and stand in ``generated.jsonl`` alone. ``similarity`` is there
    for edits, where an embedder is. ``cuts`` say for each review how much of its paper the model read, and ``unread``
    for those that were not asked for, because it would have been too little.
    """

    run: Path
    reviews: tuple[ReviewCase, ...]
    counts: Counter[str]
    skipped: Mapping[str, int]
    unplaced: int
    similarity: EditSimilarity | None
    usage: Usage
    cuts: tuple[PaperCut | None, ...] = ()
    unread: tuple[PaperCut, ...] = ()

    @property
    def cut_line(self) -> str:
        """What of the papers was not read; empty where all of each was."""
        return cuts_told([*self.cuts, *self.unread], [*(True for _ in self.cuts), *(False for _ in self.unread)])


@dataclass(frozen=True)
class ShownPrompt:
    """What would be sent for one piece: messages as (role, text)."""

    piece: str
    messages: Messages


async def detect_generate(asked: Generation, *, options: RunOptions = RunOptions()) -> Generated:
    """Let a model write, edit or expand reviews, for studying how they are detected.

    The run folder holds ``generated.jsonl`` (our cases; ``extra`` has ``task``, ``level`` and ``source_review``),
    ``dataset`` (the benchmark's layout, each AI row beside its human one), for edits ``similarity.json``, and for
    tasks on forms the run of each review in ``reviews``. What a resumed run has paid for is not asked again.

    Args:
        asked: What is generated from what.
        options: How it runs.

    Returns:
        The reviews. Refusals and replies that stay invalid are dropped and counted.

    Raises:
        DataError: Reviews or papers cannot be read, or no human review can be used.
        SettingsError: The task, a level, a model or a key is not usable.
        VenueError: The venue is unknown.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model leaves reviews unanswered, one after another.
        EvaluationError: Nothing came about.
        BudgetExceeded: The next call could pass a limit; what is there is written, resume with a higher limit.

    Source: "Is Your Paper Being Reviewed by an LLM?", its generation and editing of reviews.
    """
    settings = _settled(asked, options)
    async with _opened(asked, options, settings) as (run, job, read):
        run.check_inputs(job.inputs())
        if run.is_asked:
            run.confirm(await generation_estimate(job))
        write = _begun_forms(run, job) if asked.task in ON_FORM else _begun_texts(run, job)
        read.keep_in(run.folder)
        return await _generated(run, job, write)


async def generation_prompts(
    asked: Generation, *, each: int = 1, options: RunOptions = RunOptions()
) -> list[ShownPrompt]:
    """The prompts of the first reviews, as they would be sent; nothing is asked or written.

    Of ``bullets`` only the first of the two is known beforehand.

    Args:
        asked: As for ``detect_generate``, whose errors these are.
        each: For how many reviews, of each level.
        options: Names the server and the settings.
    """
    settings = changed_settings(_settled(asked, options), {"calls.cache": False})
    async with _opened(asked, options, settings) as (_, job, _):
        wire = _ShowingWire(job.model.wire)
        models = {role: replace(model, wire=wire) for role, model in job.models.by_role.items()}
        shown = replace(job, models=Models(models))
        levels = len(asked.used_levels)
        return [ShownPrompt(piece.name, await wire.shown(piece, shown)) for piece in shown.pieces[: each * levels]]


def _settled(asked: Generation, options: RunOptions) -> Settings:
    asked.check()
    settings = options.settled({"embedder": asked.embedder}, model=asked.model)
    check_models(settings)
    return settings


@asynccontextmanager
async def _opened(
    asked: Generation, options: RunOptions, settings: Settings
) -> AsyncIterator[tuple[Session, GenerationJob, ReviewSet]]:
    """Read the set and open the model."""
    venue = load_venue(asked.venue) if isinstance(asked.venue, str | Path) else asked.venue
    name = Path(asked.reviews).stem
    async with session("detect generate", asked.task, name, options=options, settings=settings) as run:
        store = read_papers(Path(asked.papers)) if asked.papers is not None else None
        run.progress(Event("stage", f"reading {asked.reviews}"))
        read = read_for(run, asked.reviews, mapping=asked.mapping, layout=asked.layout)
        forms = Forms(venue)
        humans = (case for paper in sorted(read.store.papers) for case in read.store.humans(paper))
        pieces, skipped = find_pieces(humans, asked, store, forms)
        if not pieces:
            why = skipped.most_common(1)[0][0] if skipped else "there is none"
            raise DataError(
                f"no human review in {str(asked.reviews)!r} can be used: {why}.",
                hint="Give a set that says which reviews people wrote (docs/data.md).",
            )
        models = await run.open_models()
        yield run, GenerationJob(asked, pieces, skipped, store, forms, venue, run.settings, models, run.progress), read


def _begun_texts(run: Session, job: GenerationJob) -> _Write:
    """Open the folder; texts are asked for by the run itself."""
    door = run.begin(job.models, prompts=job.prompts(), roles=("writer",))

    async def write(piece: Piece) -> Pair:
        text, model, cut = await write_text(piece, job, door)
        return _pair(piece, job, source=model, text=text, prompts=prompts_of(piece), cut=cut)

    return write


def _begun_forms(run: Session, job: GenerationJob) -> _Write:
    """Open the folder; each review is a run of its own within it, and all share the limits."""
    run.open_folder(job.models, roles=("writer",), prompts=job.prompts())
    reviews = run.path / REVIEWS
    reviews.mkdir(exist_ok=True)
    run.record(partial(_paid, reviews))
    shared = Shared(job.models, run.budget(job.settings.budget, run.usage))

    async def write(piece: Piece) -> Pair:
        return await _on_form(piece, job, shared, reviews / folder_name(piece.source.case_id))

    return write


def _paid(reviews: Path) -> Usage:
    return sum((folder_usage(folder) for folder in sorted(reviews.iterdir()) if folder.is_dir()), Usage())


async def _on_form(piece: Piece, job: GenerationJob, shared: Shared, folder: Path) -> Pair:
    def inner(event: Event) -> None:
        if event.kind not in ("run", "stage", "note"):
            job.progress(event)

    form, settings = job.form(piece), job.form_settings(piece)
    found = finished_review(folder)
    if found is None:
        options = RunOptions(settings=settings, progress=inner).within(folder)
        found = await review(job.paper(piece), venue=form, shared=shared, options=options)
    text = require_text(canonical_text(found.fields, form), f"review {piece.name!r}")
    given = {"persona": settings.review.persona, "target": settings.review.target}
    return _pair(
        piece,
        job,
        source=found.source,
        text=text,
        prompts=sorted(found.provenance.prompts) if found.provenance else (),
        form=form,
        fields=_boxes(found, form),
        confidence=_stated(found, _confidence(form)),
        rating=_stated(found, form.overall),
        given={name: value for name, value in given.items() if value},
        cut=found.provenance.cut if found.provenance else None,
    )


def _boxes(found: Review, form: VenueForm) -> dict[str, FieldText]:
    """What the model wrote and chose; the review itself keeps only the scores that it can back."""
    stated = {record.field: record.stated for record in found.scores}
    texts = {f.name: found.fields.get(f.name) for f in form.reviewer_fields if f.kind != "score"}
    return {name: value for name, value in {**texts, **stated}.items() if value is not None}


def _confidence(form: VenueForm) -> str | None:
    return next((f.name for f in form.fields if f.aspect == "confidence" and f.kind == "score"), None)


def _stated(found: Review, name: str | None) -> float | None:
    value = next((record.stated for record in found.scores if record.field == name), None)
    return float(value) if isinstance(value, int | float) else None


def _pair(
    piece: Piece,
    job: GenerationJob,
    *,
    source: str,
    text: str,
    prompts: Sequence[str],
    form: VenueForm | None = None,
    fields: Mapping[str, FieldText] | None = None,
    rating: float | None = None,
    confidence: float | None = None,
    given: Mapping[str, str] | None = None,
    cut: PaperCut | None = None,
) -> Pair:
    human, known = piece.source, form or job.forms.of(piece.source)
    extra = {
        "task": piece.task,
        "level": piece.level,
        "source_review": human.case_id,
        "split": str(human.extra.get("split") or job.asked.split),
        "prompt": ", ".join(prompts),
        "temperature": job.settings.models.temperature,
        **(given or {}),
        **({"cut": cut.model_dump(mode="json")} if cut else {}),
    }
    made = ReviewCase(
        case_id=piece.name,
        paper_id=human.paper_id,
        paper_title=human.paper_title,
        venue=known.id if known else human.venue,
        year=human.year or (known.year if known else None),
        source=source,
        kind="ai",
        text=text,
        fields=dict(fields or {}),
        # An edited review is still the person's verdict.
        rating=rating if form else human.rating,
        confidence=confidence if form else human.confidence,
        extra=extra,
    )
    return Pair(human, made, on_form=form is not None)


async def _generated(run: Session, job: GenerationJob, write: _Write) -> Generated:
    unread: dict[str, PaperCut] = {}

    async def written(piece: Piece) -> Pair:
        try:
            return await write(piece)
        except PaperNotRead as error:
            unread[piece.name] = error.cut
            raise

    writing: Writing[Piece, Pair] = Writing(
        written,
        lambda piece: f"review {piece.name!r}",
        1 if job.model.spec.is_local else job.settings.units_at_once,
        run.progress,
    )
    try:
        await writing.run(job.pieces)
    finally:
        pairs = [pair for _, pair in sorted(writing.written, key=lambda one: one[0].name)]
        run.write(GENERATED, "".join(f"{pair.made.model_dump_json()}\n" for pair in pairs))
        cut = {pair.made.case_id: one for pair in pairs if (one := _cut_of(pair))}
        run.cuts = dict(sorted((cut | unread).items()))
        unplaced = write_tree(run.path / TREE, pairs, job.model.spec.name)
    if not pairs:
        raise EvaluationError(
            f"none of the {len(writing.lost)} reviews came about; the first reason: {writing.lost[0][2]}",
            hint=f"Look into the run's folder; --resume {run.path} tries them again.",
        )
    if writing.lost:
        run.remark = f"{len(writing.lost)} review(s) are missing; --resume tries them again"
    similarity = await _similarity(run, pairs) if job.asked.task == "edit" else None
    made = tuple(pair.made for pair in pairs)
    cuts = tuple(map(_cut_of, pairs))
    none = tuple(unread.values())
    return Generated(run.path, made, writing.counts, job.skipped, len(unplaced), similarity, run.usage, cuts, none)


def _cut_of(pair: Pair) -> PaperCut | None:
    cut = pair.made.extra.get("cut")
    return PaperCut.model_validate(cut) if cut else None


async def _similarity(run: Session, pairs: list[Pair]) -> EditSimilarity | None:
    """How far the levels are from their originals; where there is no embedder that is said, and nothing is lost."""
    try:
        found = await edit_similarity(pairs, await run.open_embedder())
    except RefereeError as error:
        run.progress(Event("note", f"how far edits are from their originals was not measured: {error}"))
        return None
    run.write(SIMILARITY, found.model_dump_json(indent=2) + "\n")
    return found


class _ShowingWire(Wire):
    """Keeps what would be sent, and sends nothing."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._sent: list[Messages] = []

    async def send(self, request: WireRequest) -> Completion:
        self._sent.append(request.messages)
        raise ModelRefused("the prompt is only shown.", hint="Leave --dry-run away.")

    async def stream(self, request: WireRequest, begun: Callable[[], None]) -> Completion:
        return await self.send(request)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def shown(self, piece: Piece, job: GenerationJob) -> Messages:
        """What is sent first for the piece.

        Raises:
            DataError: The paper cannot be had.
            ContextTooLong: It does not fit.
        """
        self._sent.clear()
        with tempfile.TemporaryDirectory(prefix="referee-") as aside:
            try:
                if piece.task in ON_FORM:
                    await _on_form(piece, job, Shared(job.models, Budget()), Path(aside) / "run")
                else:
                    await write_text(piece, job, Door(job.models, calls=job.settings.calls))
            except ModelRefused:
                if not self._sent:
                    raise
        return self._sent[0]
