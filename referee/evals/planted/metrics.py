"""Planted errors as metrics: what a review of a planted copy finds, and what one of the clean twin alleges.

``planted_recall`` is the share of the planted errors that the printed review names, in [0, 1]; what was raised and not
printed stands beside it, as do the first 3, 5 and 10 remarks. ``false_alarms`` is the share of the same errors that the
review of the clean twin "finds" by the same rules (ghosts), with its remarks per 1,000 words of the paper and what its
own check refuted. Silent errors, of which the paper alone does not tell, are counted apart in both.

Without a judge what rules leave open is ambiguous: the value is the lower bound, ``recall_high`` the upper one.

Source: the specification's sections 6 and 7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from referee.agents.planted_judge import PROMPT, answers_tokens
from referee.data.planted import CLEAN, PLANTED
from referee.evals.metric import Better, Context, Known, Load, Need, Quantity, Range, failed, not_applicable
from referee.evals.planted.counts import TOP, ArmCount, PaperCount, cells
from referee.evals.planted.judge import BATCH, Judged, judge_pairs
from referee.evals.planted.matching import Pair, RecordOutcome, open_pairs, outcomes
from referee.evals.planted.places import Twin
from referee.evals.planted.services import PlantedPapers, raised_by
from referee.evals.quality.judged import stored_as
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.planted import PlantedKey

NO_KEYS = "the keys of the planted papers are needed; give their folder with --planted"
EMPTY = "the review has no text: it failed, and all its planted errors with it"
_A_RECORD = 3
_PAIR_TOKENS = 260


class PlantedDetails(Stored):
    """What a result of either metric keeps and is computed from.

    Attributes:
        copy_id: The copy.
        twin: Planted or clean; in the clean one a "found" record is a ghost.
        records: What the review makes of each record, silent ones too.
        points: Its printed remarks.
        recorded: Its recorded points; 0 for reviews of others.
        refuted: Recorded points that its own check refuted.
        words: Words of the copy.
        batches: What the judge was asked.
        failures: Why batches of the judge count for nothing.
        left_out_by_kind: See ``referee.evals.metric.LEFT_OUT``.
    """

    copy_id: str
    twin: Twin
    records: tuple[RecordOutcome, ...]
    points: int
    recorded: int = 0
    refuted: int = 0
    words: int = 0
    batches: int = 0
    failures: tuple[str, ...] = ()
    left_out_by_kind: dict[str, int] = Field(default_factory=dict)

    @property
    def counted(self) -> tuple[RecordOutcome, ...]:
        """The records of the headline: all but silent ones."""
        return tuple(record for record in self.records if not record.silent)

    @property
    def paper(self) -> PaperCount:
        """The same as counts of one paper."""
        return PaperCount(self.counted, self.points)


class _Planted(Quantity, ABC):
    """What both metrics share: which twin a review must be of, and what it raises."""

    name: str
    twin: Twin
    version = "2"  # boxes that are lists give points
    unit = "fraction"
    range: Range = (0.0, 1.0)

    def place(self, case: ReviewCase, papers: PlantedPapers | None) -> PlantedKey | str:
        """The key of the review's paper, or why there is nothing to measure."""
        if papers is None:
            return NO_KEYS
        found = papers.of(case)
        if found is None:
            return f"no key in {str(papers.folder)!r} belongs to paper {case.paper_id!r}"
        key, twin = found
        if twin != self.twin:
            other = "false_alarms" if twin == "clean" else "planted_recall"
            return f"it is a review of the {twin} copy, which {other} measures"
        return key

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Match the review by rules, and have open pairs judged where the metric asks a judge and there is one."""
        papers = context.planted
        key = self.place(case, papers)
        if isinstance(key, str) or papers is None:
            return not_applicable(self, case, str(key))
        if not case.text.strip():
            return failed(self, case, EMPTY)
        matcher, raised = papers.matcher(key, self.twin), raised_by(case)
        pairs = matcher.pairs(raised.all)
        judged = await self.judged(pairs, case, context)
        details = PlantedDetails(
            copy_id=key.copy_id,
            twin=self.twin,
            records=outcomes(matcher.records, pairs, judged.answers),
            points=len(raised.printed),
            recorded=len(raised.recorded),
            refuted=sum(point.refuted for point in raised.recorded),
            words=matcher.copy.words,
            batches=judged.batches,
            failures=tuple(judged.failures),
            left_out_by_kind={"pairs of a remark and an error that no judge was asked about": judged.unasked},
        )
        base = failed(self, case, "not measured yet", details=details.model_dump(mode="json"), usage=judged.usage)
        return self.outcome(base, details)

    async def judged(self, pairs: Sequence[Pair], case: ReviewCase, context: Context) -> Judged:
        """What a judge says of pairs that rules leave open; nothing where none is asked."""
        return Judged()

    @abstractmethod
    def outcome(self, base: MetricResult, details: PlantedDetails) -> MetricResult:
        """The result that follows from the verdicts."""

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Value and parts anew from the stored verdicts."""
        return self.outcome(stored, stored_as(PlantedDetails, stored)) if "records" in stored.details else stored


class PlantedRecall(_Planted):
    """The metric ``planted_recall``."""

    name = "planted_recall"
    about = "share of the planted errors that the printed review names"
    better: Better = "higher"
    uses: frozenset[Need] = frozenset({"judge"})
    prompts = (PROMPT,)
    twin = PLANTED

    async def judged(self, pairs: Sequence[Pair], case: ReviewCase, context: Context) -> Judged:
        """A few open pairs a record, in batches with controls."""
        if context.panel is None:
            return Judged()
        asked = open_pairs(pairs, _A_RECORD)
        judged = await judge_pairs(asked, context.panel, unit=f"{self.name} of {case.case_id}")
        judged.unasked = len(open_pairs(pairs, len(pairs))) - len(asked)
        return judged

    def outcome(self, base: MetricResult, details: PlantedDetails) -> MetricResult:
        """See ``recall_of``."""
        return recall_of(base, details)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One batch in two orders; most reviews leave fewer pairs open than one batch holds."""
        pairs = BATCH + 4
        return Load(
            judged=2, most_judged=6, input_tokens=pairs * _PAIR_TOKENS, output_tokens=answers_tokens(pairs) // 2
        )


class FalseAlarms(_Planted):
    """The metric ``false_alarms``; a judge is not asked, as the errors are not there."""

    name = "false_alarms"
    about = "share of the planted errors that a review of the clean twin 'finds'"
    better: Better = "lower"
    twin = CLEAN

    def outcome(self, base: MetricResult, details: PlantedDetails) -> MetricResult:
        """See ``alarms_of``."""
        return alarms_of(base, details)


METRICS = (PlantedRecall(), FalseAlarms())


def recall_of(base: MetricResult, details: PlantedDetails) -> MetricResult:
    """The result that follows from the verdicts; a record that a failed batch left undecided fails the review."""
    open_records = [one.record_id for one in details.counted if one.printed.verdict == "failed"]
    if open_records:
        why = details.failures[0] if details.failures else "a batch of the judge failed"
        return _with(base, "failed", None, f"{len(open_records)} planted error(s) are undecided: {why}", {})
    if not details.counted:
        return _with(base, "not_applicable", None, "the key holds no error that the paper alone tells", {})
    arm, paper = ArmCount({"": details.paper}), details.paper
    silent = [one for one in details.records if one.silent]
    parts: dict[str, float | None] = {
        "recall_low": arm.recall_low,
        "recall_high": arm.recall_high,
        "recall_raised": arm.recall_raised,
        **{f"recall_at_{k}": arm.recall_at(k) for k in TOP},
        "precision_low": arm.precision_low,
        "n": float(paper.n),
        "found": float(len(paper.found)),
        "ambiguous": float(paper.ambiguous),
        "raised": float(len(paper.raised)),
        "points": float(details.points),
        "duplicates": float(paper.duplicates),
        "silent": float(len(silent)),
        "silent_found": float(sum(one.printed.verdict == "found" for one in silent)),
    }
    strata = {by: {name: cell[:2] for name, cell in cells(details.counted, by).items()} for by in _STRATA}
    kept = {**base.details, "found_of": strata}
    return _with(base.model_copy(update={"details": kept}), "scored", arm.recall_low, "", parts)


def alarms_of(base: MetricResult, details: PlantedDetails) -> MetricResult:
    """The result that follows from the verdicts on the clean twin."""
    if not details.counted:
        return _with(base, "not_applicable", None, "the key holds no error that the paper alone tells", {})
    ghosts, n = len(details.paper.found), len(details.counted)
    parts: dict[str, float | None] = {
        "ghosts": float(ghosts),
        "n": float(n),
        "points": float(details.points),
        "points_per_1000_words": 1_000 * details.points / details.words if details.words else None,
        "refuted": float(details.refuted) if details.recorded else None,
    }
    return _with(base, "scored", ghosts / n, "", parts)


_STRATA: tuple[Literal["kind", "severity", "difficulty"], ...] = ("kind", "severity", "difficulty")


def _with(
    base: MetricResult,
    status: Literal["scored", "failed", "not_applicable"],
    value: float | None,
    reason: str,
    parts: dict[str, float | None],
) -> MetricResult:
    return MetricResult.model_validate(
        {**dict(base), "status": status, "value": value, "reason": reason, "parts": parts, "usage": base.usage}
    )
