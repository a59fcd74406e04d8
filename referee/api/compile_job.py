"""One page for one venue with one set of models: what a compilation needs, what it will cost, what defines it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from referee.agents import form_reader
from referee.agents.guideline_labeller import (
    FULL_ROOM_TOKENS,
    LEAN_ROOM_TOKENS,
    ROLE,
    cut_windows,
    label_prompt,
    needs_call,
    render_window,
    reply_tokens,
)
from referee.api.page_source import ReadPage
from referee.llm.models import Models
from referee.prompts import load_prompt
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import venue_digest
from referee.venues.page import Candidate, GuidelinePage, Window, form_fields, windows
from referee.venues.page_form import drafted_fields

# Of the longest reply a window allows, a typical reply takes about this share.
_TYPICAL_SHARE = 0.5


@dataclass(frozen=True)
class CompileJob:
    """What is cut from the page, by whom it is labelled, and whose form is borrowed, if any."""

    venue_id: str
    venue_name: str
    source: ReadPage
    paper_type: str
    cut: tuple[Candidate, ...]
    windows: tuple[Window, ...]
    lender: VenueForm | None
    settings: Settings
    models: Models

    @property
    def lean(self) -> bool:
        """Whether the model is one that reads slowly."""
        return self.models[ROLE].spec.is_local


def compile_plan(job: CompileJob) -> ReviewEstimate:
    """Calls and tokens, known before the first reply but for the length of replies."""
    model, versions = job.models[ROLE], job.settings.review.prompt_versions
    lean, language = job.lean, job.source.page.language
    asked = [window for window in job.windows if needs_call(window, lean=lean, language=language)]
    prompts = [
        render_window(window, venue_name=job.venue_name, lean=lean, language=language, prompt_versions=versions)
        for window in asked
    ]
    most_out = sum(reply_tokens(window, lean=lean) for window in asked)
    drafts = drafted_fields(form_fields(job.source.page), job.paper_type) if job.lender is None else ()
    if unclear := form_reader.unclear_scores(drafts):
        prompts.append(form_reader.render_form_prompt(unclear, venue_name=job.venue_name, prompt_versions=versions))
    tokens_in = sum(model.count(prompt.system) + model.count(prompt.user) for prompt in prompts)
    tokens_out = int(most_out * _TYPICAL_SHARE)
    return ReviewEstimate(
        strategy="guidelines",
        models={ROLE: model.spec.id},
        calls=len(prompts),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=model.cost(tokens_in, tokens_out),
        notes=tuple(model.notes),
    )


def compile_job(
    venue_id: str,
    name: str | None,
    read: ReadPage,
    cut: tuple[Candidate, ...],
    paper_type: str | None,
    lender: VenueForm | None,
    settings: Settings,
    models: Models,
) -> CompileJob:
    """Divide what was cut into windows that suit the model, and settle name and paper type."""
    model = models[ROLE]
    room = LEAN_ROOM_TOKENS if model.spec.is_local else min(FULL_ROOM_TOKENS, model.context_tokens // 3)
    return CompileJob(
        venue_id=venue_id,
        venue_name=" ".join((name or read.page.title or venue_id).split()),
        source=read,
        paper_type=_kept_type(read.page, cut, paper_type),
        cut=cut,
        windows=cut_windows(windows(cut, room, model.count), lean=model.spec.is_local),
        lender=lender,
        settings=settings,
        models=models,
    )


def _kept_type(page: GuidelinePage, cut: tuple[Candidate, ...], asked: str | None) -> str:
    """The type of paper whose guidelines were kept; ``candidates`` has refused one the page does not name."""
    if not page.paper_types:
        return ""
    named = {candidate.paper_type for candidate in cut} - {""}
    return next((kind for kind in page.paper_types if kind in named), asked or page.paper_types[0])


def job_inputs(job: CompileJob) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    return {
        "page": job.source.origin.sha256,
        "venue id": job.venue_id,
        "venue name": job.venue_name,
        "paper type": job.paper_type,
        "form to borrow": venue_digest(job.lender) if job.lender else "",
        "division of the page": _digest([[c.id, c.words] for w in job.windows for c in w.candidates]),
        **{f"version of prompt {name}": digest for name, digest in job_prompts(job).items()},
        "temperature": str(job.settings.models.temperature),
        "model": job.models[ROLE].spec.id,
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def job_prompts(job: CompileJob) -> dict[str, str]:
    """Digest by prompt and version, of the prompts a run may use."""
    versions = job.settings.review.prompt_versions
    used = (
        label_prompt(lean=job.lean, prompt_versions=versions),
        load_prompt(form_reader.PROMPT, versions.get(form_reader.PROMPT)),
    )
    return {f"{prompt.id}@{prompt.version}": prompt.digest for prompt in used}
