"""Whether the blind check of a model strikes what is false and leaves what is true: docs/canary.md.

    python benchmarks/canary.py [--model local] [--base-url URL] [--embedder local] [--repeats 1] [--json FILE]

Ten true and ten false points about the example paper go the way of any points of a review: quotations are looked up,
absences searched for, passages retrieved, the rest is asked in batches, and code maps the answers to what becomes of
each. Ends with 0 when at least 8 false points were struck and at most 1 true one, every time; with 1 when not; with 2
when it could not be run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from canary_report import report
from canary_set import Canary, CanarySet, Share, as_raised, load_canaries, passes
from langgraph.runtime import Runtime
from rapidfuzz import fuzz

import referee
from referee.agents.briefing import how_read
from referee.agents.card import build_card
from referee.agents.parts import content_parts
from referee.errors import ModelUnavailable, RefereeError
from referee.evidence import QuotationIndex
from referee.graphs.sections.by_part import check
from referee.graphs.sections.points import rule_points, shown_to_the_check, verified
from referee.graphs.sections.state import PartsContext, by_id, no_parts
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.llm.models import Models, open_models
from referee.papers import load_paper
from referee.retrieval import open_embedder, open_retriever
from referee.runs import Event, silent
from referee.schemas.point import ReviewPoint
from referee.settings import Settings, load_settings
from referee.venues import load_venue

_SAME_WORDS = 90


@dataclass(frozen=True)
class Known:
    """What code alone says of one point, and whether a checker can see what refutes it.

    ``refutation_shown`` is null for a true point.
    """

    quotations: str
    code: str
    refutation_shown: bool | None


@dataclass(frozen=True)
class Ruled:
    """What became of one point in one repetition."""

    id: str
    true: bool
    verdict: str
    by: str
    reason: str
    struck: bool


def main() -> int:
    """Run the set, print the tables, write the JSON."""
    given = _arguments()
    overrides = {"models.default": given.model, "models.base_url": given.base_url, "embedder": given.embedder}
    try:
        settings = load_settings({**overrides, "calls.cache": False})
        figures = asyncio.run(_measured(settings, given.repeats))
    except RefereeError as error:
        print(error, file=sys.stderr)
        return 2
    print(report(figures))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if all(run["passed"] for run in figures["runs"]) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="as for referee review")
    parser.add_argument("--base-url", help="as for referee review")
    parser.add_argument("--embedder", help="what finds the passages")
    parser.add_argument("--repeats", type=int, default=1, help="how often the check is run")
    parser.add_argument("--json", type=Path, help="also write everything here")
    given = parser.parse_args()
    if given.repeats < 1:
        parser.error("--repeats must be above 0")
    return given


@asynccontextmanager
async def canary_context(canaries: CanarySet, door: Door, embedder: Embedder) -> AsyncIterator[PartsContext]:
    """What a review of the set's paper with check calls would have."""
    paper = load_paper(canaries.paper)
    parts = content_parts(paper)
    async with await open_retriever(paper, embedder) as retriever:
        yield PartsContext(
            paper=paper,
            form=load_venue(canaries.venue),
            door=door,
            review_id="canary",
            card=build_card(paper, parts),
            parts=tuple(parts),
            prompts=(),
            index=QuotationIndex(paper),
            how_read=how_read(paper, ()),
            instructions="",
            lean=False,
            retriever=retriever,
            embedder=embedder,
        )


def raised_points(canaries: CanarySet, context: PartsContext) -> list[ReviewPoint]:
    """The set's points after their quotations were looked up, as a review gathers them."""
    claims = tuple(sorted(context.card.claim_ids))
    return verified(as_raised(canaries.points, context.paper, context.parts, claims), context)


async def checked_points(points: Sequence[ReviewPoint], context: PartsContext) -> list[ReviewPoint]:
    """The points after the step ``check`` of a review.

    Raises:
        ModelUnavailable: The step failed as a whole; single batches that fail leave their points unchecked.
    """
    update = await check({**no_parts(), "points": list(points)}, Runtime(context=context))
    failures = [*update.get("failures", ()), *([update["failure"]] if update.get("failure") else [])]
    if failures:
        raise ModelUnavailable(failures[0]["message"], hint="See whether the model answers: referee doctor.")
    return by_id(update["points"])


async def known(canaries: CanarySet, points: Sequence[ReviewPoint], context: PartsContext) -> dict[str, Known]:
    """By canary id: what is settled before any model is asked."""
    without_calls = {p.id: p for p in await checked_points(points, replace(context, lean=True))}
    rules, told = rule_points(context.paper), {}
    for canary, point in _paired(canaries, points):
        after = without_calls[point.id]
        alone = [f"{after.check.verdict}: {after.check.by}"] if after.check else []
        alone += ["becomes a question"] if after.polarity == "question" else []
        alone += [f"found by rule {rule.prompt}" for rule in rules if _same_place(rule, point)]
        found = (await shown_to_the_check([point], {}, context))[point.id]
        shown = [e.quote for e in point.evidence if e.status != "not_found"] + [p.text for p in found]
        told[canary.id] = Known(
            quotations=", ".join(e.status for e in point.evidence),
            code="; ".join(alone),
            refutation_shown=None if canary.true else _any_in(canary.refuting, shown),
        )
    return told


def ruled(canaries: CanarySet, checked: Sequence[ReviewPoint]) -> list[Ruled]:
    """What became of each point of the set."""
    return [
        Ruled(
            id=canary.id,
            true=canary.true,
            verdict=point.check.verdict if point.check else "none",
            by=point.check.by if point.check else "",
            reason=point.check.reason if point.check else "",
            struck=point.outcome == "struck",
        )
        for canary, point in _paired(canaries, checked)
    ]


def totals(results: Sequence[Ruled]) -> dict[str, Share]:
    """Struck points among the false and among the true ones."""
    return {
        name: Share(sum(r.struck for r in results if r.true is kind), sum(r.true is kind for r in results))
        for name, kind in (("false", False), ("true", True))
    }


async def _measured(settings: Settings, repeats: int) -> dict[str, Any]:
    canaries = load_canaries()
    models = await open_models(settings, silent)
    base_url = None if settings.embedder.startswith("local") else settings.models.base_url
    try:
        embedder = await open_embedder(settings.embedder, base_url=base_url)
        try:
            async with canary_context(canaries, Door(models, calls=settings.calls), embedder) as context:
                points = raised_points(canaries, context)
                before = await known(canaries, points, context)
                runs = [await _run(canaries, points, models, settings, context) for _ in range(repeats)]
        finally:
            await embedder.aclose()
    finally:
        await models.aclose()
    return {
        "version": referee.__version__,
        "model": models["checker"].spec.id,
        "embedder": settings.embedder,
        "known": {name: asdict(what) for name, what in before.items()},
        "runs": runs,
    }


async def _run(
    canaries: CanarySet, points: Sequence[ReviewPoint], models: Models, settings: Settings, context: PartsContext
) -> dict[str, Any]:
    # A door of its own: its ledger would answer a repeated question from memory.
    door, started = Door(models, calls=settings.calls, progress=_say), time.monotonic()
    results = ruled(canaries, await checked_points(points, replace(context, door=door)))
    counted, usage = totals(results), door.ledger.usage()
    return {
        "points": [asdict(result) for result in results],
        "struck": {name: [share.count, share.total, *share.interval] for name, share in counted.items()},
        "passed": passes(counted["false"].count, counted["true"].count),
        "seconds": round(time.monotonic() - started, 1),
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _say(event: Event) -> None:
    print(f"{time.strftime('%H:%M:%S')} {event.text}", file=sys.stderr, flush=True)


def _paired(canaries: CanarySet, points: Sequence[ReviewPoint]) -> list[tuple[Canary, ReviewPoint]]:
    by_id = {point.id: point for point in points}
    return [(canary, by_id[f"p-{canary.id}-1"]) for canary in canaries.points]


def _same_place(rule: ReviewPoint, point: ReviewPoint) -> bool:
    pairs = ((a.quote, b.quote) for a in rule.evidence for b in point.evidence if b.status != "not_found")
    return any(fuzz.partial_ratio(a, b) >= _SAME_WORDS for a, b in pairs)


def _any_in(words: Iterable[str], texts: Sequence[str]) -> bool:
    return any(_squeezed(one) in _squeezed(text) for one in words for text in texts)


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


if __name__ == "__main__":
    sys.exit(main())
