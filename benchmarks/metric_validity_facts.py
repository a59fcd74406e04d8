"""Order tests of factual correctness: true statements, false ones, and false ones padded with absences."""

from __future__ import annotations

from typing import Any

from metric_validity_means import Means, gathered
from metric_validity_order import ROUNDING, Ranked, Relation
from metric_validity_planted import A_TEXT, Source, sources

from referee.evals.metric import Context
from referee.evals.paper_context import open_index
from referee.evals.quality.factual_correctness import METRIC
from referee.schemas.case import ReviewCase

# True of every paper here, and of nearly all others.
ABSENT = (
    "medieval shipbuilding",
    "olive harvesting",
    "railway timetables",
    "opera librettos",
    "cheese ripening",
    "chess openings",
    "lighthouse keepers",
    "tulip auctions",
    "bagpipe tuning",
    "glacier skiing",
)
EXPECTED_OF_FACTS = (Relation("true", ">", "wrong"), Relation("wrong", ">=", "absences", ROUNDING))


async def measure_facts(means: Means, papers: int | None) -> list[dict[str, Any]]:
    """A record for each paper with a full text: how its true, wrong and padded reviews are ranked."""
    jobs = [ranked(source, means) for source in list(sources(A_TEXT))[:papers]]
    found = await gathered(jobs, at_once=means.at_once, what="order of facts")
    return [one.record() for one in found]


async def ranked(source: Source, means: Means) -> Ranked:
    """One paper's reviews of at most eight retold statements."""
    edits = [one.edit for one in source.statements if one.origin == "retold"][:A_TEXT]
    wrong = "\n".join(edit.false for edit in edits)
    padding = "\n".join(f"The paper does not discuss {thing}." for thing in ABSENT)
    texts = {"true": "\n".join(edit.true for edit in edits), "wrong": wrong, "absences": f"{wrong}\n{padding}"}
    results = {}
    async with await open_index(source.paper, means.embedder) as retriever:
        context = Context(paper=source.paper, retriever=retriever, panel=means.panel)
        for name, text in texts.items():
            case = ReviewCase(case_id=name, paper_id=source.name, source="planted", kind="unknown", text=text)
            results[name] = await METRIC.measure(case, context)
    return Ranked.of(METRIC.name, source.name, results, EXPECTED_OF_FACTS)
