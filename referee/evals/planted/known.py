"""How many of a paper's known errors a review names: recall over its first 5 or 10 points, and by the set's own rule.

Known errors are those of a folder that ``referee data load`` wrote. What a review raises are its points: the list items
and paragraphs of its weaknesses, in its own order, then what else of it criticises or asks; of a review without such
boxes or headings all that criticises. Of a paragraph of more than three sentences each that criticises is a point. An
error that the set took from this very review is not asked for.

``known_recall_5`` and ``known_recall_10``: a judge says of each point whether it raises the error (same, related,
other), once in either order. Found: ``same`` of one point both times; ``ambiguous``: only once. The value is found /
errors, in [0, 1]; the part ``high`` counts the ambiguous too. ``precision_at_least`` is the share of the points that
raise a known error: a lower bound, for a point outside the set's list may be true. A reply that never fitted leaves
its judge without a value: it is never a miss. A review without a point has found nothing.

``known_recall_published``: the rule of the set's authors, see ``PUBLISHED``; other sets have none that we know.

Several judges or repeats: the mean of their values. Sources: SPOT (2505.11855), SPECS (2604.13940), FLAWS (2511.21843)
and their repositories. Deviations: candidates are the points of a review, not answers to a prompt that asks for errors;
the judge's prompt is ours; of FLAWS' two directions of the rule on words both are kept, and no candidate is no find.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from referee.agents.asking import tokens_left
from referee.agents.known_judge import MOST_POINTS, PROMPT, defect_model, defect_tokens, render_defect
from referee.data.known_sets import KnownErrors
from referee.evals.behaviour.atomic import polar_boxes
from referee.evals.behaviour.atomic_rules import Unit, polarity_of, units
from referee.evals.behaviour.text import review_text
from referee.evals.judging import JudgeReply, Panel, total_usage
from referee.evals.metric import Context, Known, Load, Need, Share, failed, not_applicable
from referee.evals.planted.known_rules import (
    OURS,
    PUBLISHED,
    Find,
    Matcher,
    PointVerdict,
    alike_points,
    in_both_orders,
)
from referee.evals.quality.judged import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    Reading,
    judge_score,
    no_room,
    nobody_answered,
    over_judges,
    readings_of,
    rescored,
    result,
    rough_tokens,
)
from referee.evidence import split_sentences
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.known import KnownError, KnownSource
from referee.schemas.metric import MetricResult

_PROMPT_TOKENS = 900
_FEWEST_WORDS = 3
_LONGEST_PARAGRAPH = 3
"""Sentences; a longer paragraph raises more than one point."""
_ASKS = re.compile(r"question|comment|suggestion|remark|feedback", re.IGNORECASE)


def points_of(case: ReviewCase) -> tuple[str, ...]:
    """What a review raises, each once: weaknesses in their order, then the rest that criticises or asks."""
    boxes = polar_boxes(case)
    whole = [unit for kind, text in boxes for unit in units(text, kind)] if boxes else list(units(case.text))
    told = any(unit.under in ("strengths", "weaknesses") for unit in whole)
    first = [unit for unit in whole if unit.under == "weaknesses" or unit.under == "mixed" or not told]
    rest = [] if boxes else [unit for unit in whole if told and unit.under not in ("strengths", "weaknesses", "mixed")]
    asked = [
        unit
        for name in case.fields
        if boxes and _ASKS.search(name)
        for unit in units(review_text(case, [name]), "weaknesses")
    ]
    found = [text for unit in (*first, *rest, *asked) for text in _raised(unit)]
    # A list that asks for this and that without a word of criticism is one of points all the same; and one block with
    # "Pros:" and "Cons:" is read sentence by sentence, before a review is said to raise nothing.
    found = found or [unit.text for unit in whole if unit.mark and unit.under != "strengths"]
    found = found or [text for text in split_sentences(case.text) if polarity_of(text) == "weaknesses"]
    return tuple(dict.fromkeys(text for text in found if len(text.split()) >= _FEWEST_WORDS))


def _raised(unit: Unit) -> list[str]:
    """A list item or a short paragraph whole, a long paragraph by its sentences; what does not criticise is left out.

    Under a heading or in a box of weaknesses everything short counts, and all sentences where none criticises.
    """
    sentences = [] if unit.mark else split_sentences(unit.text)
    pieces = sentences if len(sentences) > _LONGEST_PARAGRAPH else [unit.text]
    blaming = [text for text in pieces if polarity_of(text) == "weaknesses"]
    if unit.under == "weaknesses" and (len(pieces) == 1 or not blaming):
        return pieces
    return blaming


class DefectReading(Reading):
    """One judge on one known error, in one repeat and one order, by the number of the point."""

    known: str
    has_place: bool = True
    turned: bool = False
    verdicts: dict[int, PointVerdict] = Field(default_factory=dict)


class KnownFinds(Stored):
    """What a result of these metrics keeps and is computed from.

    ``points`` are those that were asked about, ``alike`` by error those whose words are the paper's altered ones, and
    ``own`` the errors that the set took from this review.
    """

    set: KnownSource
    matcher: str
    cap: int | None
    points: tuple[str, ...]
    left_out: int = 0
    errors: tuple[str, ...]
    own: tuple[str, ...] = ()
    alike: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    readings: tuple[DefectReading, ...]


@dataclass(frozen=True)
class KnownRecall(Share):
    """One of the metrics; without a ``cap`` that of the set's authors."""

    name: str
    about: str
    counted_by: str
    cap: int | None = None
    needs: frozenset[Need] = frozenset({"judge", "known"})
    prompts: tuple[str, ...] = (PROMPT,)

    def _matcher(self, source: KnownSource) -> Matcher | None:
        if self.cap is None:
            return PUBLISHED.get(source)
        return Matcher(OURS, self.cap, in_both_orders, orders=(False, True))

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Ask about every known error: a call for ten points, an order, a judge and a repeat."""
        known, panel = context.known, context.panel
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if panel is None or known is None:
            return not_applicable(self, case, NO_JUDGE if panel is None else "there are no known errors; see --known")
        matcher = self._matcher(known.about.source)
        if matcher is None:
            return not_applicable(self, case, f"no rule of the authors of {known.about.source} is known here")
        held = known.of(case.paper_id)
        if held is None:
            return not_applicable(self, case, f"the known errors are of other papers than {case.paper_id!r}")
        errors = [error for error in held if case.case_id not in error.reported_by]
        if not errors:
            others = " but those that this review raised" if held else ""
            return not_applicable(self, case, f"no error of the paper is known{others}")
        return await self._asked(case, panel, known, matcher, errors)

    async def _asked(
        self, case: ReviewCase, panel: Panel, known: KnownErrors, matcher: Matcher, errors: Sequence[KnownError]
    ) -> MetricResult:
        raised = points_of(case)
        # Ten are asked about whatever the cap, so that recall at 5 and at 10 rest on the same replies.
        asked = raised if matcher.cap is None else raised[:MOST_POINTS]
        questions = list(_questions(errors, asked, matcher.orders))
        if not all(question.fits(panel) for question in questions):
            return failed(self, case, no_room(panel))
        outcomes = await asyncio.gather(
            *(question.ask(panel, f"{self.name} of {case.case_id}") for question in questions), return_exceptions=True
        )
        replies: list[tuple[_Question, list[JudgeReply[BaseModel]]]] = []
        for question, outcome in zip(questions, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            replies.append((question, outcome))
        own = [error.error_id for error in known.of(case.paper_id) or () if error not in errors]
        details = {
            "set": known.about.source,
            "matcher": matcher.name,
            "cap": matcher.cap,
            "points": list(asked),
            "left_out": len(raised) - len(asked),
            "errors": [error.error_id for error in errors],
            "own": own,
            "alike": {error.error_id: alike_points(asked, error.passages) for error in errors} if matcher.words else {},
            "readings": [reading for question, said in replies for reading in question.readings(said)],
        }
        usage = total_usage([one for _, said in replies for one in said])
        return result(self, case, self.outcome_of(KnownFinds.model_validate(details)), details, usage)

    def outcome_of(self, details: KnownFinds) -> Outcome:
        """What follows from the stored verdicts of all judges."""
        matcher = self._matcher(details.set)
        if matcher is None:
            return Outcome("not_applicable", reason=f"no rule of the authors of {details.set} is known here")
        if not details.points:
            parts: dict[str, float | None] = {"found": 0, "ambiguous": 0, "high": 0.0, "points": 0}
            return Outcome("scored", 0.0, parts={**parts, "errors": len(details.errors)})
        said: dict[tuple[str, int], list[DefectReading]] = defaultdict(list)
        for reading in details.readings:
            said[reading.judge, reading.repeat].append(reading)
        counted = {
            who: _Counted.of(own, details, matcher) for who, own in said.items() if not any(one.error for one in own)
        }
        judges = tuple(
            judge_score(
                next((one for one in own if one.error), own[0]), counted[who].recall if who in counted else None
            )
            for who, own in said.items()
        )
        if not counted:
            return nobody_answered([one for one in details.readings if one.error])
        parts = {
            name: over_judges([(who[0], one.parts[name]) for who, one in counted.items()])
            for name in next(iter(counted.values())).parts
        }
        return Outcome(
            "scored", over_judges([(who[0], one.recall) for who, one in counted.items()]), parts=parts, judges=judges
        )

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored verdicts."""
        return rescored(self, stored, KnownFinds, self.outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """A call for each known error, each ten points and each order; those that metrics share are made once."""
        points = points_of(case)[: MOST_POINTS if self.cap else None]
        calls = known.errors * -(-len(points) // MOST_POINTS) * (2 if self.cap else 1)
        shown = rough_tokens("\n".join(points[:MOST_POINTS]))
        return Load(judged=calls, input_tokens=_PROMPT_TOKENS + shown, output_tokens=defect_tokens(len(points)) // 2)


_ABOUT = "share of the paper's known errors that it names"
METRICS = (
    KnownRecall("known_recall_5", _ABOUT, f"{OURS}, the first 5 points", 5),
    KnownRecall("known_recall_10", _ABOUT, f"{OURS}, the first 10 points", 10),
    KnownRecall("known_recall_published", _ABOUT, "the rule of the set's authors"),
)


@dataclass(frozen=True)
class _Question:
    """One known error and up to ten points, in one order."""

    error: KnownError
    points: Mapping[int, str]
    turned: bool

    @property
    def _reply(self) -> type[BaseModel]:
        return defect_model(tuple(self.points), self.turned)

    def fits(self, panel: Panel) -> bool:
        prompt, most_out = render_defect(self.error, self.points, turned=self.turned), defect_tokens(len(self.points))
        models = (panel.door.models[role] for role in panel.judges)
        return all(tokens_left(prompt, self._reply, most_out, one.context_tokens, one.count) >= 0 for one in models)

    async def ask(self, panel: Panel, unit: str) -> list[JudgeReply[BaseModel]]:
        prompt = render_defect(self.error, self.points, turned=self.turned)
        return await panel.ask(prompt, self._reply, max_output_tokens=defect_tokens(len(self.points)), unit=unit)

    def readings(self, said: Sequence[JudgeReply[BaseModel]]) -> list[dict[str, Any]]:
        about = {"known": self.error.error_id, "has_place": bool(self.error.place), "turned": self.turned}
        return [{**reading, **about} for reading in readings_of(said, self._kept)]

    def _kept(self, reply: BaseModel) -> dict[str, Any]:
        found = reply.model_dump()
        kept = {number: found[f"p{number}"] for number in self.points}
        return {"verdicts": {n: {**one, "quoted": _holds(self.points[n], one["quote"])} for n, one in kept.items()}}


def _questions(errors: Sequence[KnownError], points: Sequence[str], orders: Sequence[bool]) -> Iterator[_Question]:
    numbered = dict(enumerate(points, start=1))
    for error in errors:
        for begin in range(1, len(points) + 1, MOST_POINTS):
            some = {number: text for number, text in numbered.items() if begin <= number < begin + MOST_POINTS}
            for turned in orders:
                yield _Question(error, some, turned)


def _holds(point: str, quote: str) -> bool:
    """Whether words are the point's own, whatever their case, blanks and the brackets a prompt shows otherwise."""
    words, own = (" ".join(re.findall(r"\w+", text.lower())) for text in (quote, point))
    return bool(words) and f" {words} " in f" {own} "


@dataclass(frozen=True)
class _Counted:
    """What one judge's verdicts in one repeat come to."""

    errors: int
    points: int
    found: int
    ambiguous: int
    hits: int

    @classmethod
    def of(cls, readings: Sequence[DefectReading], details: KnownFinds, matcher: Matcher) -> _Counted:
        counted = [number for number in range(1, len(details.points) + 1) if number <= (matcher.cap or number)]
        finds: dict[str, dict[int, Find]] = {}
        for error in details.errors:
            own = sorted((one for one in readings if one.known == error), key=lambda one: one.turned)
            alike = details.alike.get(error, ())
            finds[error] = {
                number: matcher.find(
                    [one.verdicts[number] for one in own if number in one.verdicts], own[0].has_place, number in alike
                )
                for number in counted
            }
        found = sum("found" in own.values() for own in finds.values())
        unsure = sum("found" not in own.values() and "ambiguous" in own.values() for own in finds.values())
        hits = sum(any(own[number] == "found" for own in finds.values()) for number in counted)
        return cls(len(details.errors), len(counted), found, unsure, hits)

    @property
    def recall(self) -> float:
        return self.found / self.errors

    @property
    def parts(self) -> dict[str, float]:
        return {
            "found": self.found,
            "ambiguous": self.ambiguous,
            "high": (self.found + self.ambiguous) / self.errors,
            "errors": self.errors,
            "points": self.points,
            "precision_at_least": self.hits / self.points,
        }
