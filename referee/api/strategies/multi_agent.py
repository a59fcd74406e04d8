"""Strategy ``multi-agent``: three experts without the paper question workers that hold it; comments are refined.

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
"""

from __future__ import annotations

from referee.agents import composer, lean_worker, refiner, sifter, team
from referee.api.job import Job, Written
from referee.api.strategies.chunked import (
    Reading,
    Work,
    card_tokens,
    chunk_inputs,
    chunk_tokens,
    is_lean,
    load_all,
    planned,
    reading,
    review_context,
    written,
)
from referee.api.strategies.machine import run_machine
from referee.api.strategies.strategy import Strategy
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate

ROLES = ("writer", "supervisor", "checker", "composer")

CHUNK_TOKENS, LEAN_CHUNK_TOKENS = 4_000, 3_000
MOST_WORKERS = 8

_LEAN_CARD_TOKENS = 600
# What a call typically takes beside what it reads, more where points or a form are asked for, and what replies have.
_FRAME_TOKENS, _LEAN_FRAME_TOKENS = 1_500, 900
_MESSAGE_TOKENS, _ANSWER_TOKENS, _POINTS_TOKENS, _LEAN_REPLY_TOKENS = 200, 350, 1_200, 350
_SCHEMA_TOKENS, _COMPOSING_TOKENS = 2_000, 3_000
_POINTS_A_TEAM = 4


def expected_calls(chunks: int, points: int, rounds: int) -> int:
    """Calls of a full run: three teams, one refinement a point, one composition (two where scores are sent back)."""
    return len(team.EXPERTS) * (rounds * (1 + chunks) + 1) + points + 1 if chunks else 1


def prompts(job: Job) -> list[Prompt]:
    """Every prompt a run may use."""
    experts = tuple(f"{team.ASK}{name}" for name in team.EXPERTS)
    full = (*experts, team.ANSWER, team.GATHER, refiner.PROMPT)
    lean = (lean_worker.PROMPT, sifter.PROMPT)
    return load_all(job, (*(lean if is_lean(job) else full), composer.PROMPT))


async def plan(job: Job) -> ReviewEstimate:
    """Calls and tokens from the chunks there are; how many comments there will be to refine is a guess.

    Raises:
        ContextTooLong: The writer's context holds no chunk.
    """
    read = _reading(job)
    sizes = chunk_tokens(job, read)
    if read.lean:
        frame = card_tokens(job, read, _LEAN_CARD_TOKENS) + _LEAN_FRAME_TOKENS
        work = {
            "writer": Work(len(sizes), sum(sizes) + len(sizes) * frame, _LEAN_REPLY_TOKENS),
            "supervisor": Work(int(bool(sizes)), frame, _LEAN_REPLY_TOKENS),
            "composer": Work(1, frame, _LEAN_REPLY_TOKENS),
        }
        return planned(job, "multi-agent", work, ("on the embedded model: all experts at once, one refining call",))
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
    return planned(job, "multi-agent", work, (f"{points} of the calls are a guess: one for each comment raised",))


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``multi_agent``.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.graphs.multi_agent import build_multi_agent_graph
    from referee.graphs.review_state import initial_state

    context = review_context(job, folder, door, _reading(job), prompts(job))
    return written(await run_machine(folder, build_multi_agent_graph(), context, initial_state()))


def inputs(job: Job) -> dict[str, str]:
    """What decides the chunks, and how long the teams talk.

    Raises:
        SettingsError: The preset ``full`` was asked for.
    """
    return {**chunk_inputs(job), "number of turns in a team": str(team.ROUNDS)}


def _reading(job: Job) -> Reading:
    return reading(job, tokens=LEAN_CHUNK_TOKENS if is_lean(job) else CHUNK_TOKENS, most=MOST_WORKERS)


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=inputs,
    title="three experts question workers that hold K chunks of the paper; each of P comments is refined",
    calls="6 K + P + 10, or 11 where scores are sent back; K + 2, or 3, on the embedded model",
    chain="7, or 8; 3, or 4, on the embedded model",
)
