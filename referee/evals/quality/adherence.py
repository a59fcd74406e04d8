"""How far a review follows its venue's rules.

Criteria are the guidelines of the venue's form, subjective (0 to 3 by a judge) or objective (3 or 0), and what the form
itself prescribes (``form:...``: required boxes, scales, lengths), which is objective. What code can decide it decides
(``form_checks``); all other criteria go to the judge in one call. A rule that does not occur in the review (one on
complaints about novelty, where there is none) has an answer of its own and is in no mean. Where a set has AI and human
reviews of a venue, boxes that only one side fills are taken for absent on both (``not_compared``). Eq. 6: the mean of
each kind, summed, over 6; with one kind only, its mean over 3. The value is in [0, 1], higher is better. Without
guidelines it is not applicable.

Several judges or repeats: the mean of their values, the decisions of code being the same in each.

Source: *ReviewEval* section 3.5, Eq. 6. Deviations: code decides before the judge does; the judge's examples are the
same for all venues and stand in the prompt, so nothing has to be generated or cached per venue; a rule may not occur,
of which the paper does not speak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, Field

from referee.agents.adherence_judge import (
    HIGHEST,
    PROMPT,
    SILENT,
    adherence_model,
    adherence_tokens,
    read_adherence,
    render_adherence,
)
from referee.evals.metric import Context, Known, Load, Need, Share, failed, not_applicable
from referee.evals.quality.form_checks import FORM_CHECKS, Decision, Record, decide
from referee.evals.quality.judged import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    Question,
    Reading,
    answered,
    ask_judges,
    judge_score,
    nobody_answered,
    over_judges,
    rescored,
    result,
    rough_tokens,
)
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult
from referee.schemas.venue import Guideline, VenueForm

_NONE_APPLIES = "no rule occurs in this review"
NO_VENUE = "there is no form for this review; name the venue with --venue"

_PROMPT_TOKENS = 1_200
_TOKENS_A_RULE = 90
_WHOLE = 0.9


def adherence(subjective: Sequence[float], objective: Sequence[float]) -> float | None:
    """Eq. 6 for scores in [0, 3] (objective ones 0 or 3); with one kind its mean / 3; null without any."""
    means = [fmean(kind) for kind in (subjective, objective) if kind]
    return sum(means) / (HIGHEST * len(means)) if means else None


class Adherence(Share):
    """The metric ``adherence``."""

    name = "adherence"
    about = "share of the venue's rules and boxes that the review keeps"
    version = "2"
    needs: frozenset[Need] = frozenset({"judge", "venue"})
    prompts = (PROMPT,)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Decide what code can, and have all other criteria judged in one call a judge and repeat."""
        form, panel = context.form, context.panel
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if form is None:
            return not_applicable(self, case, NO_VENUE)
        if not form.guidelines:
            return not_applicable(self, case, f"the form {form.id!r} holds no guidelines")
        record = Record(case, form, context.boxes)
        decided, open_rules = _split(record)
        details: dict[str, Any] = {"venue": form.id, "criteria": decided, "readings": [], "cut": None}
        details["placeholders"] = list(record.placeholders)
        details["not_compared"] = [field.name for field in form.reviewer_fields if field not in record.fields]
        if not open_rules:
            return result(self, case, outcome_of(Sheets.model_validate(details)), details)
        if panel is None:
            return not_applicable(self, case, NO_JUDGE)
        details["criteria"] = [*decided, *map(_judges_own, open_rules)]
        filled, text = _laid_out(record)
        question = Question(
            lambda text: render_adherence(form.name, open_rules, filled, text),
            adherence_model([rule.kind for rule in open_rules]),
            adherence_tokens(open_rules),
            lambda reply, _: {"answers": _answers(reply, open_rules)},
        )
        asked = await ask_judges(question, text, panel, f"{self.name} of {case.case_id}")
        if asked.no_room:
            return failed(self, case, asked.no_room)
        details |= {"readings": asked.readings, "cut": asked.cut}
        return result(self, case, outcome_of(Sheets.model_validate(details)), details, asked.usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored decisions and answers."""
        return rescored(self, stored, Sheets, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call about the rules that code leaves open; none where it leaves none, or there are none."""
        rules = (
            _split(Record(case, known.form, known.boxes))[1] if known.form is not None and known.form.guidelines else ()
        )
        if not rules:
            return Load(judged=0)
        tokens = _PROMPT_TOKENS + len(rules) * _TOKENS_A_RULE + rough_tokens(case.text)
        return Load(input_tokens=tokens, output_tokens=adherence_tokens(rules) // 2)


METRIC = Adherence()


class RuleScore(Stored):
    """The score of one criterion, in [0, 3]; null where it does not apply."""

    score: float | None = None


class Criterion(RuleScore):
    """One criterion with the score that code gives it; a judge's stand in the readings."""

    id: str
    kind: Literal["subjective", "objective"]
    by: Literal["code", "judge"]


class RuleReading(Reading):
    """One judge's scores, by criterion."""

    answers: dict[str, RuleScore] = Field(default_factory=dict)


class Sheets(Stored):
    """What a result of this metric keeps and is computed from."""

    criteria: tuple[Criterion, ...]
    readings: tuple[RuleReading, ...]


def outcome_of(details: Sheets) -> Outcome:
    """What follows from the stored criteria and answers. ``parts`` hold the mean of each kind, in [0, 3]."""
    criteria, readings = details.criteria, details.readings
    usable = answered(readings)
    if not usable and any(criterion.by == "judge" for criterion in criteria):
        return nobody_answered(readings)
    # Where code decided everything, there is one reading: the code's.
    sheets = [(reading.judge, _sheet(criteria, reading.answers)) for reading in usable] or [
        ("code", _sheet(criteria, {}))
    ]
    values = [(judge, value) for judge, sheet in sheets if (value := adherence(*sheet)) is not None]
    if not values:
        return Outcome("not_applicable", reason="no criterion of the venue can be decided from this review")
    parts = {
        "subjective": _mean([(judge, sheet[0]) for judge, sheet in sheets]),
        "objective": _mean([(judge, sheet[1]) for judge, sheet in sheets]),
        "criteria": float(len(criteria)),
        "decided_by_code": float(sum(criterion.by == "code" for criterion in criteria)),
        "did_not_apply": over_judges([(judge, len(criteria) - sum(map(len, sheet))) for judge, sheet in sheets]),
    }
    judges = tuple(_judged(criteria, reading) for reading in readings)
    return Outcome("scored", over_judges(values), parts=parts, judges=judges)


def _judged(criteria: Sequence[Criterion], reading: RuleReading) -> JudgeScore:
    value = None if reading.error else adherence(*_sheet(criteria, reading.answers))
    return judge_score(reading, value, _NONE_APPLIES if value is None else "")


def _split(record: Record) -> tuple[list[dict[str, Any]], tuple[Guideline, ...]]:
    """The criteria that code decides, with its decisions, and the guidelines that are left to a judge."""
    decided: list[dict[str, Any]] = []
    for criterion_id, (text, check) in FORM_CHECKS.items():
        decision = check(record)
        if decision is not None:
            decided.append(_codes_own(criterion_id, text, decision))
    left: list[Guideline] = []
    for guideline in record.form.guidelines:
        decision = decide(guideline, record)
        if decision is None:
            left.append(guideline)
        else:
            decided.append(_codes_own(guideline.id, guideline.text, decision))
    return decided, tuple(left)


def _codes_own(criterion_id: str, text: str, decision: Decision) -> dict[str, Any]:
    return {
        "id": criterion_id,
        "kind": "objective",
        "text": text,
        "by": "code",
        "score": HIGHEST * decision.met,
        "finding": decision.finding,
    }


def _answers(reply: BaseModel, rules: Sequence[Guideline]) -> dict[str, dict[str, Any]]:
    return {
        one.rule: {"score": one.score, "finding": one.finding, **({"answer": SILENT} if one.score is None else {})}
        for one in read_adherence(reply, rules)
    }


def _judges_own(rule: Guideline) -> dict[str, Any]:
    return {"id": rule.id, "kind": rule.kind, "text": rule.text, "by": "judge"}


def _sheet(criteria: Sequence[Criterion], answers: Mapping[str, RuleScore]) -> tuple[list[float], list[float]]:
    """The scores under one reading, subjective and objective, of the criteria that apply."""
    sheet: dict[str, list[float]] = {"subjective": [], "objective": []}
    for criterion in criteria:
        own = criterion if criterion.by == "code" else answers[criterion.id]
        if own.score is not None:
            sheet[criterion.kind].append(own.score)
    return sheet["subjective"], sheet["objective"]


def _mean(scores: Sequence[tuple[str, Sequence[float]]]) -> float | None:
    held = [(judge, fmean(own)) for judge, own in scores if own]
    return over_judges(held) if held else None


def _laid_out(record: Record) -> tuple[str, str]:
    """The boxes that hold a value, a line each, and the prose: under the boxes' titles where the record has them all.

    Rules speak of boxes ("the summary holds no criticism"), and the canonical text has no titles. A record whose boxes
    hold less than the text is shown as text, so that nothing is lost.
    """
    values = {name: value for name, value in record.boxes.items() if record.form.field(name).kind != "text"}
    overall = [field.name for field in record.fields if field.name == record.form.overall]
    if overall and record.case.rating is not None:
        values.setdefault(overall[0], record.case.rating)
    filled = "\n".join(f"{_title(record.form, name)}: {_said(value)}" for name, value in values.items())
    texts = (field for field in record.fields if field.kind == "text")
    prose = [(field.name, text) for field in texts if (text := record.prose(field))]
    text = "\n\n".join(f"{_title(record.form, name)}:\n{value}" for name, value in prose)
    held = sum(len(value.split()) for _, value in prose)
    return filled, text if prose and held >= _WHOLE * len(record.case.text.split()) else record.case.text


def _title(form: VenueForm, name: str) -> str:
    return form.field(name).title or name


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
