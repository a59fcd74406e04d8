"""What strategies share that read a paper in chunks of even length and end in the points' machine of ``sections``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from referee.agents.briefing import how_read
from referee.agents.card import Card, build_card, render_card
from referee.agents.chunks import ChunkSize, paper_chunks
from referee.agents.parts import Part, render_part
from referee.agents.section_reviewer import section_budget
from referee.api.job import Job, Written
from referee.api.strategies.research import refuse_ablation, refuse_full
from referee.graphs.failure import failed_lines
from referee.llm.door import Door
from referee.prompts import Prompt, load_prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost

if TYPE_CHECKING:
    from referee.graphs.review_state import ReviewContext


@dataclass(frozen=True)
class Reading:
    """The fixed data of a run: the chunks, the card, and whether the plan is the lean one of the embedded model."""

    chunks: tuple[Part, ...]
    card: Card
    lean: bool


def is_lean(job: Job) -> bool:
    """Whether the writer is the embedded model, which gets short replies and few calls."""
    return job.models["writer"].spec.is_local


def reading(job: Job, *, tokens: int, most: int) -> Reading:
    """Cut the job's paper into chunks of so many tokens, fewer than ``most`` where the writer's context allows.

    Raises:
        ContextTooLong: The writer's context holds no chunk.
    """
    writer, lean = job.models["writer"], is_lean(job)
    size = ChunkSize(tokens, most, section_budget(writer.context_tokens, lean=lean).section)
    chunks = paper_chunks(job.paper, size, writer.count, appendices=job.settings.review.appendices)
    return Reading(chunks, build_card(job.paper, chunks or None), lean)


def load_all(job: Job, names: Sequence[str]) -> list[Prompt]:
    """The prompts of these ids, in the versions the job asks for."""
    return [load_prompt(name, job.settings.review.prompt_versions.get(name)) for name in names]


def review_context(job: Job, folder: RunFolder, door: Door, read: Reading, prompts: Sequence[Prompt]) -> ReviewContext:
    """The machine's services; without an index of the paper, because all of it is read in chunks."""
    from referee.evidence import QuotationIndex
    from referee.graphs.review_state import ReviewContext

    return ReviewContext(
        paper=job.paper,
        form=job.form,
        door=door,
        review_id=f"r-{folder.record.run_id}",
        card=read.card,
        parts=read.chunks,
        prompts=(),
        index=QuotationIndex(job.paper),
        how_read=how_read(job.paper, ()),
        instructions="\n".join(f"{prompt.system}\n{prompt.user}" for prompt in prompts),
        lean=read.lean,
        prompt_versions=job.settings.review.prompt_versions,
    )


def written(state: Mapping[str, Any]) -> Written:
    """The review and the notes of a machine that came to its end."""
    failed = failed_lines(state["failures"])
    return Written(state["review"], (), (*sorted(set(state["notes"])), *failed))


def chunk_inputs(job: Job) -> dict[str, str]:
    """What decides the chunks of a run; the keys read well after "was started with another".

    Raises:
        SettingsError: The preset ``full`` was asked for, or a step to be taken out.
    """
    refuse_ablation(job)
    refuse_full(job)
    return {
        "choice of appendices": str(job.settings.review.appendices),
        "context length of the writer": str(job.models["writer"].context_tokens),
    }


@dataclass(frozen=True)
class Work:
    """Calls of one role, the tokens that go into them together, and those of one typical reply."""

    calls: int
    tokens_in: int
    reply_tokens: int


def chunk_tokens(job: Job, read: Reading) -> list[int]:
    """Tokens of each chunk as a prompt shows it."""
    return [job.models["writer"].count(render_part(chunk, numbered=read.lean)[0]) for chunk in read.chunks]


def card_tokens(job: Job, read: Reading, room: int) -> int:
    """Tokens of the card, at most its room."""
    count = job.models["writer"].count
    return min(room, count(render_card(read.card, sys.maxsize, count)))


def planned(job: Job, strategy: str, work: Mapping[str, Work], notes: Sequence[str] = ()) -> ReviewEstimate:
    """The plan of all roles together."""
    busy = {role: share for role, share in work.items() if share.calls}
    costs = [job.models[role].cost(w.tokens_in, w.calls * w.reply_tokens) for role, w in busy.items()]
    return ReviewEstimate(
        strategy=strategy,
        models={role: job.models[role].spec.id for role in busy},
        calls=sum(w.calls for w in busy.values()),
        input_tokens=sum(w.tokens_in for w in busy.values()),
        output_tokens=sum(w.calls * w.reply_tokens for w in busy.values()),
        cost_usd=total_cost(costs),
        notes=(*job.models["writer"].notes, *notes),
    )
