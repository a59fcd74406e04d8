"""The figures of a paper, shown to a model as pictures: cut out before the estimate, read before the review is written.

Whatever fails here is on the record, and the review goes on without: it says of each figure whether it was seen.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.agents import figure_reader
from referee.agents.figure_reader import ROLE, FigureCall, ShownFigure, figure_calls, read_figures
from referee.agents.scores import after_figures
from referee.api.session import Session
from referee.errors import DataError, PaperParseError
from referee.evidence import place_points
from referee.graphs.job import Job
from referee.graphs.strategy import Strategy, load_prompts
from referee.llm import vision
from referee.llm.door import Door
from referee.llm.images import PromptImage, read_image
from referee.llm.prices import image_tokens
from referee.llm.vision import PROBE_OUTPUT_TOKENS, known_to_take_images, probe_tokens, takes_images
from referee.papers.captions import UNCAPTIONED, captions_of, doubted_tables
from referee.papers.isolated import draw_figures
from referee.prompts import Prompt
from referee.runs import Event
from referee.schemas.estimate import Estimate, ReviewEstimate
from referee.schemas.figure import Figure, FigureReading, Figures, UnseenFigure
from referee.schemas.review import Review

FOLDER = "figures"
# Of the longest reply, a typical one takes about this share.
_TYPICAL = 0.4
_NO_FILE = "the paper was given without its file"
_NOT_ASKED = "pictures were not asked for (--figures none)"


@dataclass(frozen=True)
class Looking:
    """What there is to look at, and the calls that show it; ``asked.reason`` says why there are none."""

    asked: FigureReading
    calls: tuple[FigureCall, ...] = ()
    folder: Path | None = None

    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed."""
        return {} if self.asked.asked == "auto" else {"way to show figures": self.asked.asked}

    def prompts(self, job: Job) -> list[Prompt]:
        """The prompts of pictures."""
        return load_prompts(figure_reader.PROMPT, vision.PROMPT) if self.calls else []

    def planned(self, plan: ReviewEstimate, job: Job) -> ReviewEstimate:
        """The plan with the calls that show figures, and what they are."""
        if not self.calls:
            return plan
        model = job.models[ROLE]
        asks = probe_tokens(model)
        pictures = sum(image_tokens(model.spec, image) for call in self.calls for image in call.images)
        words = sum(model.count(call.prompt.system) + model.count(call.prompt.user) for call in self.calls)
        written = int(sum(call.most_tokens for call in self.calls) * _TYPICAL) + (PROBE_OUTPUT_TOKENS if asks else 0)
        tokens_in, calls = asks + pictures + words, len(self.calls) + (asks > 0)
        part = Estimate(
            calls=calls, input_tokens=tokens_in, output_tokens=written, cost_usd=model.cost(tokens_in, written)
        )
        shown = sum(len(call.figures) for call in self.calls)
        note = (
            f"{shown} figures and tables are shown to {model.spec.id} as pictures, about {pictures:,} tokens, if it "
            "takes pictures (--figures none leaves them out)"
        )
        return plan.beside([part], [note])


async def to_look_at(job: Job, file: Path | None, run: Session, strategy: type[Strategy] | Strategy) -> Looking | None:
    """Cut out what a model could be shown; None where the paper names no figure.

    Nothing is cut where it is known that no picture will be shown.
    """
    asked, model = job.settings.review.figures, job.models.by_role.get(ROLE)
    doubted = doubted_tables(job.paper)
    labels = [one.label for one in captions_of(job.paper) if one.kind == "figure" or one.label in doubted]
    if not labels or model is None:
        return None
    known = known_to_take_images(model)
    reason = ""
    if asked == "none":
        reason = _NOT_ASKED
    elif not strategy.takes_figures:
        reason = f"strategy {job.settings.review.strategy!r} shows no pictures"
    elif known is not None and not known.takes:
        reason = known.reason
    elif file is None:
        reason = _NO_FILE
    reading = FigureReading(asked=asked, model=model.spec.id, reason=reason, unseen=_all_unseen(labels, reason))
    if reason or file is None:
        return Looking(reading)
    folder = Path(run.enter(tempfile.TemporaryDirectory(prefix="referee-figures-"))) / FOLDER
    folder.mkdir()
    run.progress(Event("stage", "cutting the paper's figures out"))
    try:
        drawn = await draw_figures(file, job.paper, folder, job.settings.paper, whole_pages=asked == "pages")
    except (PaperParseError, OSError) as error:
        why = error.message if isinstance(error, PaperParseError) else str(error)
        run.progress(Event("note", f"no figure is shown: {why}"))
        return Looking(reading.model_copy(update={"reason": why, "unseen": _all_unseen(labels, why)}))
    shown, unseen = _shown(drawn, folder, set(labels))
    none = "" if shown else "no picture of them could be had"
    found = reading.model_copy(update={"unseen": tuple(unseen), "left_out": drawn.left_out, "reason": none})
    return Looking(found, tuple(figure_calls(job.paper, shown)), folder)


async def look(looking: Looking | None, job: Job, run: Session, door: Door) -> Job:
    """Show the figures, where the model takes pictures; the job with what was seen and what is wrong with it.

    Raises:
        RunStopped: The next call could pass a limit.
        ModelUnavailable: The provider did not answer the first question.
    """
    if looking is None or not looking.calls:
        return job if looking is None else replace(job, figures=looking.asked)
    labels = [one.figure.label for call in looking.calls for one in call.figures.values()]
    run.progress(Event("stage", f"looking at {len(labels)} figures and tables"))
    takes = await takes_images(door, ROLE)
    if not takes.takes:
        run.progress(Event("note", f"the figures were not looked at: {takes.reason}"))
        unseen = (*_all_unseen(labels, takes.reason), *looking.asked.unseen)
        return replace(job, figures=looking.asked.model_copy(update={"reason": takes.reason, "unseen": unseen}))
    _keep(looking, run)
    read = await read_figures(job.paper, looking.calls, door=door)
    reading = looking.asked.model_copy(
        update={
            "reason": takes.reason,
            "seen": read.seen,
            "unseen": (*looking.asked.unseen, *read.unseen),
            "serves": read.serves,
        }
    )
    return replace(job, figures=reading, figure_points=read.points)


def with_figures(review: Review, job: Job) -> Review:
    """The review with what was looked at, and with the points about it."""
    if job.figures is None:
        return review
    placed = place_points(job.figure_points, job.form)
    scores = tuple(after_figures(record, job.figures) for record in review.scores)
    said = {s.field: s.null_reason for s in scores if s.null_reason and s.field in review.nulls}
    return review.model_copy(
        update={
            "figures": job.figures,
            "points": (*review.points, *placed),
            "nulls": {**review.nulls, **said},
            "scores": scores,
        }
    )


def _shown(drawn: Figures, folder: Path, labels: set[str]) -> tuple[list[ShownFigure], list[UnseenFigure]]:
    shown: list[ShownFigure] = []
    unseen: list[UnseenFigure] = []
    for figure in (one for one in drawn.items if one.label in labels or one.label.startswith(UNCAPTIONED)):
        images, problems = _read(figure, folder)
        if images:
            shown.append(ShownFigure(figure, images))
        else:
            why = "; ".join(filter(None, (figure.problem, *problems))) or "no picture of it could be had"
            unseen.append(UnseenFigure(label=figure.label, reason=why))
    known = {one.label for one in drawn.items}
    unseen += _all_unseen([label for label in labels if label not in known], "no picture of it could be had")
    return shown, unseen


def _read(figure: Figure, folder: Path) -> tuple[tuple[PromptImage, ...], list[str]]:
    images, problems = [], []
    for name in figure.images:
        try:
            images.append(read_image(folder / name))
        except (DataError, OSError) as error:
            problems.append(str(error))
    return tuple(images), problems


def _keep(looking: Looking, run: Session) -> None:
    """Put what is shown into the run folder."""
    assert looking.folder is not None, "there are calls, so pictures were cut"
    kept = run.path / FOLDER
    kept.mkdir(exist_ok=True)
    for name in _names(looking.calls):
        shutil.copyfile(looking.folder / name, kept / name)


def _names(calls: Sequence[FigureCall]) -> Iterator[str]:
    for call in calls:
        for one in call.figures.values():
            yield from one.figure.images


def _all_unseen(labels: Sequence[str], reason: str) -> tuple[UnseenFigure, ...]:
    return tuple(UnseenFigure(label=label, reason=reason) for label in labels)
