"""Factual correctness: of a review's points that its paper can settle, the share that the paper bears out.

S_fact = valid / (valid + invalid), in [0, 1], higher is better. Points that say something is missing are not in it: a
list of what a paper does not speak of is true and says nothing, and would raise any review. Their share stands apart
as ``absence``. ``parts`` hold the counts of all kinds.

Deviations from the source, which prints a share over points without saying how one is made: the review is cut into
points first; points that the paper's text cannot settle are counted and never scored as true; a verdict needs words of
the paper that were found in it, else the point is undecided; claims of absence, which the source counts like all
others, have a share of their own.

Source: ReviewEval, section 3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from referee.agents import point_splitter, questions, rebuttal_judge
from referee.errors import RefereeError, RunStopped
from referee.evals.judging import Panel
from referee.evals.metric import Context, Known, Load, Need, Share, failed, not_applicable
from referee.evals.quality.judged import rough_tokens, stored_as
from referee.evidence import QuotationIndex, TermIndex
from referee.graphs.factuality.records import LEAN, Bounds, Facts, FactualityContext, PointRecord
from referee.graphs.factuality.search import names_a_place
from referee.graphs.factuality.verdicts import Tally, judge_values, mean_agreement, outcome_of, tally
from referee.llm.door import Door
from referee.llm.models import Model
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult
from referee.schemas.paper import Paper
from referee.schemas.usage import Usage

# Above this share of failed points the rest says too little about the review.
MOST_FAILED = 0.5
_PROMPT_TOKENS, _REPLY_TOKENS = 700, 200
_SHARE_OF_CONTEXT = 0.5
_VERDICT_TOKENS, _ABSTRACT_TOKENS = 500, 300
# So many of a review's sentences evaluate or state facts (DISAPERE: 2,297 of 5,687); the others retell, ask or greet.
_CLAIMS = 0.4


class FactualCorrectness(Share):
    """The metric ``factual_correctness``.

    Args:
        bounds: How much is asked about a review; by default more of a provider's model than of the embedded one.
    """

    name = "factual_correctness"
    about = "share of its claims about the paper that the paper bears out"
    version = "2"
    needs: frozenset[Need] = frozenset({"paper", "judge", "embedder"})
    prompts = (
        point_splitter.PROMPT,
        point_splitter.LEAN_PROMPT,
        questions.QUESTIONS_PROMPT,
        questions.ANSWERS_PROMPT,
        rebuttal_judge.PROMPT,
    )

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Check a review's points against its paper.

        Without text, paper, search or judge it is not applicable; a splitting that fails, or more than half of the
        points that fail, is a failure.

        Raises:
            BudgetExceeded: A call could pass a limit.
        """
        if not case.text.strip():
            return not_applicable(self, case, "the review is empty")
        if context.paper is None:
            return not_applicable(self, case, "the paper is not here; name its folder or file with --papers")
        if context.panel is None:
            return not_applicable(self, case, "no judge was named; choose one with --judge")
        if context.retriever is None:
            return not_applicable(self, case, "there is no search over the paper; choose an embedder with --embedder")
        if context.retriever.paper_id != context.paper.paper_id:
            return failed(self, case, f"the search is over another paper, {context.retriever.paper_id[:12]!r}")
        # Loaded here: listing the metrics does not wait for LangGraph.
        from referee.graphs.factuality.machine import check_facts

        quotations, terms = await asyncio.to_thread(_laid_out, context.paper)
        services = FactualityContext(
            paper=context.paper,
            retriever=context.retriever,
            panel=context.panel,
            quotations=quotations,
            terms=terms,
            case_id=case.case_id,
            text=case.text,
            bounds=self.bounds or bounds_for(context.panel),
        )
        try:
            facts = await check_facts(services)
        except RunStopped:
            raise
        except RefereeError as error:
            return failed(self, case, error.message, usage=Usage.model_validate(error.usage))
        start = failed(self, case, "not measured yet", usage=_usage(facts))
        return _measured(start, facts, facts.model_dump(mode="json"))

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Value, counts and judges' values from the stored points, evidence and votes; no call.

        A result without points (an empty review, a splitting that failed) is returned as it is.
        """
        if "points" not in stored.details:
            return stored
        return _measured(stored, stored_as(Facts, stored), stored.details)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """What a review costs, from its sentences: two in five are taken for a point that can be checked."""
        bounds = self.bounds or (bounds_of(known.judge) if known.judge else Bounds())
        sentences = len(point_splitter.number_sentences(case.text))
        splits = point_splitter.count_windows(case.text, bounds.window_tokens)
        points = max(1, min(bounds.points, round(_CLAIMS * sentences)))
        most_points = min(bounds.points, sentences * point_splitter.most_points(lean=bounds.by_sentence))
        subs = (bounds.sub_questions + 1) // 2
        shown = bounds.passage_tokens + _named_tokens(case.text, bounds)
        read = rough_tokens(case.text) + points * (subs * shown + _VERDICT_TOKENS)
        once = splits + points * (1 + subs)
        return Load(
            once=once,
            judged=points,
            input_tokens=_PROMPT_TOKENS + read // (once + points),
            output_tokens=_REPLY_TOKENS,
            most_once=splits + most_points * (1 + bounds.sub_questions),
            most_judged=most_points,
        )


def bounds_for(panel: Panel) -> Bounds:
    """What a panel's first judge can read: lean for the embedded model, never more than half of its context."""
    if not isinstance(panel.door, Door):
        return Bounds()
    return bounds_of(panel.door.models[panel.first])


def bounds_of(model: Model) -> Bounds:
    """The same for one model."""
    bounds = LEAN if model.spec.is_local else Bounds()
    room = int(model.context_tokens * _SHARE_OF_CONTEXT)
    named = min(bounds.named_tokens, room // 3)
    return replace(
        bounds,
        passage_tokens=min(bounds.passage_tokens, room - named),
        named_tokens=named,
        window_tokens=min(bounds.window_tokens, room),
    )


METRIC = FactualCorrectness()


def _named_tokens(text: str, bounds: Bounds) -> int:
    """About what the abstract and the named places come to: as much as may be for each sentence that names one."""
    said = list(point_splitter.number_sentences(text).values())
    naming = sum(map(names_a_place, said)) / max(1, len(said))
    return min(bounds.named_tokens, _ABSTRACT_TOKENS + round(naming * bounds.named_tokens))


def _measured(base: MetricResult, facts: Facts, details: Mapping[str, Any]) -> MetricResult:
    """The result that follows from the facts: status, value, parts, judges. ``details`` are the same as stored."""
    points = facts.points
    outcomes = {point.id: outcome_of(point) for point in points}
    counts = tally(points)
    agreed = mean_agreement(points)
    status, reason = _status(counts)
    said = {**details, "outcomes": outcomes, "agreement": agreed}
    fields = base.model_dump() | {
        "status": status,
        "value": counts.value if status == "scored" else None,
        "reason": reason,
        "parts": {
            **{kind: float(number) for kind, number in counts.counts.items()},
            "n": float(counts.decided),
            "absence": counts.absence,
            "agreement": agreed,
        },
        "details": said,
        "judges": _judges(points),
        "usage": base.usage,
    }
    return MetricResult.model_validate(fields)


def _status(counts: Tally) -> tuple[str, str]:
    number = counts.counts
    absences = number["absence_valid"] + number["absence_invalid"]
    examined = counts.decided + absences + number["undecided"] + number["failed"]
    if not examined:
        return "not_applicable", "the review has no point that can be checked against the paper"
    if number["failed"] > MOST_FAILED * examined or (number["failed"] and not counts.decided + absences):
        return "failed", f"{number['failed']} of {examined} points could not be examined"
    if absences and not counts.decided:
        return "not_applicable", f"only claims that something is missing could be decided, {absences} of {examined}"
    if not counts.decided:
        return "not_applicable", f"none of {examined} points could be decided from the paper"
    return "scored", ""


def _judges(points: Sequence[PointRecord]) -> tuple[JudgeScore, ...]:
    return tuple(
        JudgeScore(
            judge=judge,
            repeat=repeat,
            value=value,
            reason="" if value is not None else "it decided no point",
            calls=tuple(calls),
        )
        for (judge, repeat), (value, calls) in judge_values(points).items()
    )


def _usage(facts: Facts) -> Usage:
    """What all calls behind the facts cost together, those of failures included."""
    spent = [facts.split.usage]
    for examined in (point.examined for point in facts.points if point.examined is not None):
        parts = (examined.asked, *examined.answers, *examined.votes, *examined.failures)
        spent += [part.usage for part in parts if part is not None]
    return sum(spent, Usage())


def _laid_out(paper: Paper) -> tuple[QuotationIndex, TermIndex]:
    return QuotationIndex(paper), TermIndex(paper)
