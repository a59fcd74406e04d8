"""Strategies that read a paper in chunks of even length and write as ``sections`` does.

``multi-agent``: three experts without the paper question workers that hold it; comments are refined.

Source: MARG, multi-agent review generation for scientific papers (2401.04259), its specialised variant: a paper longer
than a context is dealt out in chunks to worker agents; a leader without the paper sends them messages and gathers their
answers; separate groups with experts for experiments, clarity and impact each write comments; a further pass makes each
comment specific or discards it.

Deviations, each for a reason:

- the number of turns is fixed (``ROUNDS``) instead of the leader ending the talk: calls are known before the first one;
- leader and expert of a group are one agent: the expert's instruction leads the talk; it has the paper's card (claims,
  outline, definitions, numbers), so that its points can say what they threaten;
- a comment is refined by one call that sees the chunks it quotes, not by another group;
- comments are points of the schema of ``sections``, with quotations that code looks up, and code merges them;
- the wording that a refinement replaces stays on the record, a refined point is never graver than its comment, and
  rules without a model, absence search, scores from points and places are those of ``sections``;
- there is no check in a fresh context, and none is claimed.

``progressive``: passages in order, each read with a running summary of the ones before, then consolidation.

Source: the progressive method of OpenAIReview (repository and its report on planted symbol errors): a paper is cut into
passages; each call gets the running summary of definitions, settings and claims so far and the next passage, returns
comments and the updated summary; at the end the comments are consolidated.

Deviations, each for a reason:

- consolidation names pairs of ids that say the same, and code merges them; it rewrites nothing and drops nothing.
  There, consolidation by a model that writes the list anew lost 10 of 23 references found, and 12 of 93 plants;
- the paper's claims, with ids, stand beside each passage, so that a point can say what it threatens; the definitions
  that ``sections`` puts there do not: they are the running summary's to keep;
- comments are points of the schema of ``sections``, with quotations that code looks up; rules without a model, absence
  search, scores from points and places are those of ``sections``; there is no check in a fresh context.

The passages are a chain of calls by design: each needs the summary of the one before.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from referee.agents import composer, lean_worker, passage_reviewer, refiner, team
from referee.agents.briefing import how_read
from referee.agents.card import Card, build_card, render_card
from referee.agents.chunks import ChunkSize, paper_chunks
from referee.agents.parts import Part, render_part
from referee.agents.section_reviewer import section_budget
from referee.graphs.failure import failed_lines
from referee.graphs.job import Job, Written
from referee.graphs.running import run_machine
from referee.graphs.strategy import Strategy, load_prompts
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost

if TYPE_CHECKING:
    from referee.graphs.sections.state import PartsContext


_LEAN_CARD_TOKENS, _CLAIMS_TOKENS = 600, 500
# What a call typically takes beside what it reads, more where points or a form are asked for, and what replies have.
_FRAME_TOKENS, _PASSAGE_FRAME_TOKENS, _LEAN_FRAME_TOKENS = 1_500, 2_600, 900
_MESSAGE_TOKENS, _ANSWER_TOKENS, _POINTS_TOKENS, _LEAN_REPLY_TOKENS = 200, 350, 1_200, 350
_PASSAGE_REPLY_TOKENS, _LEAN_PASSAGE_REPLY_TOKENS = 1_500, 500
_SUMMARY_TOKENS, _LEAN_SUMMARY_TOKENS = 700, 200
_SCHEMA_TOKENS, _COMPOSING_TOKENS = 2_000, 3_000
_POINTS_A_TEAM = 4


@dataclass(frozen=True)
class Chunks:
    """The fixed data of a run: the chunks, the card, and whether the plan is the lean one of the embedded model."""

    chunks: tuple[Part, ...]
    card: Card
    lean: bool


@dataclass(frozen=True)
class Work:
    """Calls of one role, the tokens that go into them together, and those of one typical reply."""

    calls: int
    tokens_in: int
    reply_tokens: int


class Chunked(Strategy):
    """What both share: how a paper is cut, the plan over all roles, and the machine's services.

    A chunk has ``chunk_tokens``, on the lean plan ``lean_chunk_tokens``; there are ``most_chunks`` where the writer's
    context allows so few.
    """

    chunk_tokens: ClassVar[int]
    lean_chunk_tokens: ClassVar[int]
    most_chunks: ClassVar[int]

    def cut(self, job: Job) -> Chunks:
        """Cut the job's paper.

        Raises:
            ContextTooLong: The writer's context holds no chunk.
        """
        writer, lean = job.models["writer"], is_lean(job)
        tokens = self.lean_chunk_tokens if lean else self.chunk_tokens
        size = ChunkSize(tokens, self.most_chunks, section_budget(writer.context_tokens, lean=lean).section)
        chunks = paper_chunks(job.paper, size, writer.count, appendices=job.settings.review.appendices)
        return Chunks(chunks, build_card(job.paper, chunks or None), lean)

    def work(self, job: Job, read: Chunks, sizes: list[int]) -> tuple[Mapping[str, Work], str]:
        """What each role has to do, given the tokens of each chunk as a prompt shows it; and a note on it."""
        raise NotImplementedError

    def machine(self) -> tuple[Any, Any]:
        """The uncompiled machine and its empty state."""
        raise NotImplementedError

    async def plan(self, job: Job) -> ReviewEstimate:
        """Calls and tokens from the chunks there are; what they raise is a guess."""
        read, writer = job.once(self.cut), job.models["writer"]
        sizes = [writer.count(render_part(chunk, numbered=read.lean)[0]) for chunk in read.chunks]
        work, note = self.work(job, read, sizes)
        busy = {role: share for role, share in work.items() if share.calls}
        costs = [job.models[role].cost(w.tokens_in, w.calls * w.reply_tokens) for role, w in busy.items()]
        return ReviewEstimate(
            strategy=self.name,
            models={role: job.models[role].spec.id for role in busy},
            calls=sum(w.calls for w in busy.values()),
            input_tokens=sum(w.tokens_in for w in busy.values()),
            output_tokens=sum(w.calls * w.reply_tokens for w in busy.values()),
            cost_usd=total_cost(costs),
            notes=(*writer.notes, *([note] if note else [])),
        )

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Run the machine."""
        build, empty = self.machine()
        context = _context(job, folder, door, job.once(self.cut), self.prompts(job))
        state = await run_machine(build, context, empty)
        notes = (*sorted(set(state["notes"])), *failed_lines(state["failures"]))
        return Written(state["review"], (), notes)

    def takes_rules(self, job: Job) -> bool:
        """Always."""
        return True

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the chunks of a run."""
        return {
            **super().inputs(job),
            "choice of appendices": str(job.settings.review.appendices),
            "context length of the writer": str(job.models["writer"].context_tokens),
        }


class MultiAgent(Chunked):
    """Experts without the paper, workers with a chunk of it each."""

    name = "multi-agent"
    title = "three experts question workers that hold K chunks of the paper; each of P comments is refined"
    calls = "6 K + P + 10, or 11 where scores are sent back; K + 2, or 3, on the embedded model"
    chain = "7, or 8; 3, or 4, on the embedded model"
    roles = ("writer", "supervisor", "checker", "composer")
    chunk_tokens, lean_chunk_tokens, most_chunks = 4_000, 3_000, 8

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        experts = tuple(f"{team.ASK}{name}" for name in team.EXPERTS)
        full = (*experts, team.ANSWER, team.GATHER, refiner.PROMPT)
        lean = (lean_worker.PROMPT, refiner.SIFT_PROMPT)
        return load_prompts(*(lean if is_lean(job) else full), composer.PROMPT)

    def work(self, job: Job, read: Chunks, sizes: list[int]) -> tuple[Mapping[str, Work], str]:
        """How many comments there will be to refine is a guess."""
        if read.lean:
            frame = card_tokens(job, read, _LEAN_CARD_TOKENS) + _LEAN_FRAME_TOKENS
            work = {
                "writer": Work(len(sizes), sum(sizes) + len(sizes) * frame, _LEAN_REPLY_TOKENS),
                "supervisor": Work(int(bool(sizes)), frame, _LEAN_REPLY_TOKENS),
                "composer": Work(1, frame, _LEAN_REPLY_TOKENS),
            }
            return work, "on the embedded model: all experts at once, one refining call"
        frame = card_tokens(job, read, team.CARD_TOKENS) + _FRAME_TOKENS
        teams, asked = len(team.EXPERTS), len(team.EXPERTS) * team.ROUNDS
        points = teams * _POINTS_A_TEAM if sizes else 0
        talk = team.ROUNDS * (_MESSAGE_TOKENS + len(sizes) * _ANSWER_TOKENS)
        leading = asked * (frame + talk // 2) + teams * (frame + talk + _SCHEMA_TOKENS)
        typical = sum(sizes) // max(len(sizes), 1)
        work = {
            "writer": Work(asked * len(sizes), asked * (sum(sizes) + len(sizes) * frame), _ANSWER_TOKENS),
            "supervisor": Work(asked + teams if sizes else 0, leading, (_MESSAGE_TOKENS + _POINTS_TOKENS) // 2),
            "checker": Work(points, points * (frame + typical + _SCHEMA_TOKENS), _ANSWER_TOKENS),
            "composer": Work(1, frame + _COMPOSING_TOKENS, _POINTS_TOKENS),
        }
        return work, f"{points} of the calls are a guess: one for each comment raised"

    def machine(self) -> tuple[Any, Any]:
        """Talk, gather, refine, settle, compose."""
        from referee.graphs.chunked.multi_agent import build_multi_agent_graph
        from referee.graphs.sections.state import no_points

        return build_multi_agent_graph, no_points()

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the chunks, and how long the teams talk."""
        return {**super().inputs(job), "number of turns in a team": str(team.ROUNDS)}


class Progressive(Chunked):
    """One passage after the other."""

    name = "progressive"
    title = "N passages in order with a running summary, then duplicates are named by id"
    calls = "N + 2, or 3 where scores are sent back; N + 1, or 2, on the embedded model"
    chain = "all of them, by design: each passage needs the one before"
    roles = ("writer", "cross", "composer")
    chunk_tokens, lean_chunk_tokens, most_chunks = 1_500, 3_000, 30

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        if is_lean(job):
            return load_prompts(passage_reviewer.LEAN_PROMPT, composer.PROMPT)
        return load_prompts(passage_reviewer.PROMPT, passage_reviewer.PAIRS_PROMPT, composer.PROMPT)

    def work(self, job: Job, read: Chunks, sizes: list[int]) -> tuple[Mapping[str, Work], str]:
        """How long the running summary grows is a guess."""
        frame, reply = (
            (_LEAN_FRAME_TOKENS, _LEAN_PASSAGE_REPLY_TOKENS)
            if read.lean
            else (_PASSAGE_FRAME_TOKENS, _PASSAGE_REPLY_TOKENS)
        )
        beside = card_tokens(job, read, _CLAIMS_TOKENS) + frame
        summary = _LEAN_SUMMARY_TOKENS if read.lean else _SUMMARY_TOKENS
        chained = f"{len(sizes)} passages are read one after the other: none can begin before the one before has ended"
        work = {
            "writer": Work(len(sizes), sum(sizes) + len(sizes) * (beside + summary), reply),
            "cross": Work(0 if read.lean or not sizes else 1, frame, _LEAN_PASSAGE_REPLY_TOKENS),
            "composer": Work(1, beside + (0 if read.lean else _COMPOSING_TOKENS), reply),
        }
        return work, chained

    def machine(self) -> tuple[Any, Any]:
        """Read passage by passage, gather, consolidate, settle, compose."""
        from referee.graphs.chunked.progressive import build_progressive_graph, passage_state

        return build_progressive_graph, passage_state()


def is_lean(job: Job) -> bool:
    """Whether the writer is the embedded model, which gets short replies and few calls."""
    return job.models["writer"].spec.is_local


def card_tokens(job: Job, read: Chunks, room: int) -> int:
    """Tokens of the card, at most its room."""
    count = job.models["writer"].count
    return min(room, count(render_card(read.card, sys.maxsize, count)))


def _context(job: Job, folder: RunFolder, door: Door, read: Chunks, prompts: Sequence[Prompt]) -> PartsContext:
    """The machine's services; without an index of the paper, because all of it is read in chunks."""
    from referee.evidence import QuotationIndex
    from referee.graphs.sections.state import PartsContext

    return PartsContext(
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
    )
