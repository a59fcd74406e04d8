"""The arithmetic of ``factuality``: verified quotations, what votes count for, counts of all kinds, the share of valid.

Nothing here asks a model, so that every number can be computed anew from what was stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.agents.questions import PassageAnswer
from referee.agents.rebuttal_judge import FactVerdict, Vote, agreement, majority, settled
from referee.evidence import NotFound, QuotationIndex
from referee.graphs.factuality.records import (
    AbsenceRecord,
    AnswerRecord,
    DroppedRecord,
    ExaminedRecord,
    FoundRecord,
    PointRecord,
    QuotationRecord,
)

OUTCOMES = (
    "valid",
    "invalid",
    "absence_valid",
    "absence_invalid",
    "undecided",
    "not_checkable",
    "not_examined",
    "failed",
)
NO_EVIDENCE = "nothing in the paper was found on it"


@dataclass(frozen=True)
class Tally:
    """How many points of a review have each outcome, and the share of valid ones among those decided.

    Claims that something is missing are counted apart: anybody can list what a paper does not speak of.
    """

    counts: Mapping[str, int]

    @property
    def decided(self) -> int:
        """Points that are valid or invalid, without claims of absence."""
        return self.counts["valid"] + self.counts["invalid"]

    @property
    def value(self) -> float | None:
        """Valid / (valid + invalid) in [0, 1], higher is better; null where no such point was decided."""
        return self.counts["valid"] / self.decided if self.decided else None

    @property
    def absence(self) -> float | None:
        """The same share over the claims of absence alone."""
        valid, invalid = self.counts["absence_valid"], self.counts["absence_invalid"]
        return valid / (valid + invalid) if valid + invalid else None


def tally(points: Sequence[PointRecord]) -> Tally:
    """Count the outcomes of stored points; every kind is counted, those that never occur as 0."""
    return _tally([_kept_apart(point, outcome_of(point)) for point in points])


def _tally(outcomes: Sequence[str]) -> Tally:
    counted = Counter(outcomes)
    return Tally({kind: counted[kind] for kind in OUTCOMES})


def _kept_apart(point: PointRecord, outcome: str) -> str:
    """The outcome, marked where it decides a claim for which the whole text was searched."""
    absent = outcome in ("valid", "invalid") and point.examined is not None and point.examined.absence is not None
    return f"absence_{outcome}" if absent else outcome


def verified_answer(answer: PassageAnswer, found: FoundRecord, index: QuotationIndex) -> AnswerRecord:
    """An answer with those of its quotations that stand in the paper, in the paper's words; the others are dropped."""
    kept: list[QuotationRecord] = []
    dropped: list[DroppedRecord] = []
    for passage, quote in answer.quotes:
        match = index.find(quote)
        if isinstance(match, NotFound):
            dropped.append(DroppedRecord(passage=passage, quote=quote, reason=match.reason))
        elif all(match.quote != other.quote for other in kept):
            name = f"q{found.place + 1}.{len(kept) + 1}"
            kept.append(QuotationRecord(**dict(match), id=name, source="answer", passage=passage))
    return AnswerRecord(
        place=found.place,
        sub_question=found.sub_question,
        passages=found.passages,
        shown=tuple(one.id for one in found.shown),
        text=answer.text,
        found=answer.found,
        counts=bool(kept),
        quotations=tuple(kept),
        dropped=tuple(dropped),
        call_id=answer.call_id,
        notes=answer.notes,
        usage=answer.usage,
    )


def counted_as(vote: Vote, exhibits: Sequence[str], absence: AbsenceRecord | None) -> tuple[FactVerdict | None, str]:
    """What a stored vote counts for, and why for less than it says; null where the judge did not answer."""
    if vote.verdict is None:
        return None, vote.error
    absent = absence is not None and absence.empty
    return settled(vote.verdict, vote.named, exhibits, absent=absent)


def point_verdict(counted: Sequence[FactVerdict | None]) -> FactVerdict | None:
    """The majority of what the votes count for; null where no judge answered."""
    given = [verdict for verdict in counted if verdict is not None]
    return majority(given) if given else None


def outcome_of(point: PointRecord) -> str:
    """The outcome of one stored point, computed anew from its kind, its failures, its evidence and its votes."""
    if not point.checkable:
        return "not_checkable"
    examined = point.examined
    if examined is None:
        return "not_examined"
    if examined.failures:
        return "failed"
    counted = _counted(examined)
    if not counted:
        return "undecided"
    return point_verdict(counted) or "failed"


def judge_values(points: Sequence[PointRecord]) -> dict[tuple[str, int], tuple[float | None, list[str]]]:
    """Per judge and repeat its own share of valid points and the ids of its calls; null where it decided none."""
    outcomes: dict[tuple[str, int], list[str]] = {}
    calls: dict[tuple[str, int], list[str]] = {}
    for point in points:
        examined = point.examined
        if examined is None or examined.failures:
            continue
        for vote, verdict in zip(examined.votes, _counted(examined), strict=True):
            key = (vote.judge, vote.repeat)
            outcomes.setdefault(key, []).append(_kept_apart(point, verdict or "failed"))
            calls.setdefault(key, []).extend(filter(None, [vote.call_id]))
    return {key: (_tally(found).value, calls[key]) for key, found in outcomes.items()}


def mean_agreement(points: Sequence[PointRecord]) -> float | None:
    """The share of pairs of judges that agree on a point, averaged over points; null for a single judge."""
    shares = []
    for point in points:
        examined = point.examined
        if examined is not None and not examined.failures:
            shares.append(agreement([verdict for verdict in _counted(examined) if verdict is not None]))
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _counted(examined: ExaminedRecord) -> list[FactVerdict | None]:
    ids = [quotation.id for quotation in examined.exhibits]
    return [counted_as(vote, ids, examined.absence)[0] for vote in examined.votes]
