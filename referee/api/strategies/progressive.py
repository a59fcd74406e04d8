"""Strategy ``progressive``: passages in order, each read with a running summary of the ones before, then consolidation.

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

from referee.agents import composer, consolidator, passage_reviewer
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

ROLES = ("writer", "cross", "composer")

PASSAGE_TOKENS, LEAN_PASSAGE_TOKENS = 1_500, 3_000
MOST_PASSAGES = 30

_CLAIMS_TOKENS = 500
# What a call typically takes beside what it reads, what a typical reply has, and how long a summary grows.
_FRAME_TOKENS, _LEAN_FRAME_TOKENS = 2_600, 900
_REPLY_TOKENS, _LEAN_REPLY_TOKENS = 1_500, 500
_SUMMARY_TOKENS, _LEAN_SUMMARY_TOKENS = 700, 200
_COMPOSING_TOKENS = 3_000


def expected_calls(passages: int, *, lean: bool = False) -> int:
    """Calls of a run: the passages, the consolidation (not on the lean plan), one composition.

    The consolidation is left out where fewer than two points stand; the composition is done twice where scores are
    sent back.
    """
    return passages + (0 if lean or not passages else 1) + 1


def prompts(job: Job) -> list[Prompt]:
    """Every prompt a run may use."""
    if is_lean(job):
        return load_all(job, (passage_reviewer.LEAN_PROMPT, composer.PROMPT))
    return load_all(job, (passage_reviewer.PROMPT, consolidator.PROMPT, composer.PROMPT))


async def plan(job: Job) -> ReviewEstimate:
    """Calls and tokens from the passages there are; how long the running summary grows is a guess.

    Raises:
        ContextTooLong: The writer's context holds no passage.
    """
    read = _reading(job)
    sizes = chunk_tokens(job, read)
    frame, reply = (_LEAN_FRAME_TOKENS, _LEAN_REPLY_TOKENS) if read.lean else (_FRAME_TOKENS, _REPLY_TOKENS)
    beside = card_tokens(job, read, _CLAIMS_TOKENS) + frame
    summary = _LEAN_SUMMARY_TOKENS if read.lean else _SUMMARY_TOKENS
    chained = f"{len(sizes)} passages are read one after the other: none can begin before the one before has ended"
    return planned(
        job,
        "progressive",
        {
            "writer": Work(len(sizes), sum(sizes) + len(sizes) * (beside + summary), reply),
            "cross": Work(0 if read.lean or not sizes else 1, frame, _LEAN_REPLY_TOKENS),
            "composer": Work(1, beside + (0 if read.lean else _COMPOSING_TOKENS), reply),
        },
        (chained,),
    )


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``progressive``.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.graphs.progressive import build_progressive_graph, passage_state

    context = review_context(job, folder, door, _reading(job), prompts(job))
    return written(await run_machine(folder, build_progressive_graph(), context, passage_state()))


def inputs(job: Job) -> dict[str, str]:
    """What decides the passages.

    Raises:
        SettingsError: The preset ``full`` was asked for.
    """
    return chunk_inputs(job)


def _reading(job: Job) -> Reading:
    return reading(job, tokens=LEAN_PASSAGE_TOKENS if is_lean(job) else PASSAGE_TOKENS, most=MOST_PASSAGES)


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=inputs,
    title="N passages in order with a running summary, then duplicates are named by id",
    calls="N + 2, or 3 where scores are sent back; N + 1, or 2, on the embedded model",
    chain="all of them, by design: each passage needs the one before",
)
