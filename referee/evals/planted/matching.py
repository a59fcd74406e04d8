"""Which remark of a review names which planted error: place and content rule together, one verdict a record.

A record counts once: further remarks on it are duplicates, no alarms. A remark may stand for several records where its
words name each. Without a judge what is left open is ``ambiguous``.

Source: the specification's section 6. Where its table is silent: a remark whose content rule holds and whose verified
quotations all stand elsewhere is left to the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.evals.planted.content import Content, Said, Sides, content, sides_of
from referee.evals.planted.places import CopyText, Ends, Spot, Twin, ends_of
from referee.evals.planted.points import Point, Raised
from referee.schemas.base import Stored
from referee.schemas.planted import Difficulty, PlantedKey, PlantedKind, PlantedRecord

Place = Literal["yes", "close", "no"]
Verdict = Literal["found", "judge", "ambiguous", "failed", "near", "missed"]
"""Best first. ``judge`` is open; asked or not, it ends as one of the others. ``near`` counts as missed."""
Answer = Literal["same", "related", "other", "split", "failed"]
"""What the judge says of a pair; ``split``: its two answers differ; ``failed``: of its batch nothing counts."""
Answers = Mapping[tuple[str, str], Answer]

_ORDER: tuple[Verdict, ...] = ("found", "failed", "ambiguous", "judge", "near", "missed")
_EXCERPT = 400


class Hit(Stored):
    """The remark that decides a record, and why.

    Attributes:
        verdict: What it comes to.
        point: The remark's id; empty where none came near.
        rank: Its place in print; null for a recorded point and where there is none.
        place: How near it stands.
        content: What it says.
        text: The words of it that decide, cut after 400 characters; of a remark that is near, its beginning.
        duplicates: Ids of further remarks that name the record.
        answer: The judge's, where it was asked.
    """

    verdict: Verdict
    point: str = ""
    rank: int | None = None
    place: Place = "no"
    content: Content = "other"
    text: str = ""
    duplicates: tuple[str, ...] = ()
    answer: Answer | None = None


class RecordOutcome(Stored):
    """One record and what a review makes of it: in print, and among all that was raised."""

    record_id: str
    kind: PlantedKind
    severity: Literal["H", "M", "L"]
    difficulty: Difficulty
    silent: bool = False
    statement: str = ""
    printed: Hit
    raised: Hit


@dataclass(frozen=True)
class Pair:
    """A remark beside a record, with what code says of the two."""

    record: PlantedRecord
    point: Point
    place: Place
    content: Content
    words: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Record and remark."""
        return self.record.record_id, self.point.id

    @property
    def verdict(self) -> Verdict:
        """Section 6's table."""
        if self.content == "vague":
            return "judge"
        if self.content in ("both", "named"):
            sure = self.place != "no" or (self.content == "both" and not self.point.quotations)
            return "found" if sure else "judge"
        if self.content == "open":
            return "judge" if self.place != "no" else "missed"
        return "near" if self.place == "yes" else "missed"


class Matcher:
    """One copy and its key.

    Args:
        key: The copy's key.
        text: The Markdown of the planted copy, or of its clean twin.
        twin: Which of the two; in the clean one what a record would be found by is a ghost.
    """

    def __init__(self, key: PlantedKey, text: str, twin: Twin = "planted") -> None:
        self.copy = CopyText(text)
        self.records = tuple(record for record in key.records if record.kind != "neutral")
        self._read: dict[str, tuple[Ends, Sides]] = {
            record.record_id: (ends_of(record, key, self.copy, twin), sides_of(record, twin, self.copy.common_stems))
            for record in self.records
        }

    def pairs(self, points: Iterable[Point]) -> list[Pair]:
        """Every remark beside every record."""
        found = []
        for point in points:
            spots = [spot for quote in point.quotations for spot in self.copy.find(quote)]
            said = Said.by(point)
            found += [self._pair(record, point, said, spots) for record in self.records]
        return found

    def _pair(self, record: PlantedRecord, point: Point, said: Said, spots: Sequence[Spot]) -> Pair:
        ends, sides = self._read[record.record_id]
        place = self._place(ends, point, spots)
        level, words = content(said, sides, points_at_end=place != "no")
        return Pair(record, point, place, level, words)

    def _place(self, ends: Ends, point: Point, spots: Sequence[Spot]) -> Place:
        if any(spot.meets(end) for spot in spots for end in ends.all):
            return "yes"
        beside = {spot.paragraph for spot in spots} & {end.paragraph for end in ends.all}
        return "close" if beside or any(self.copy.names(end, point.text) for end in ends.all) else "no"


def outcomes(records: Sequence[PlantedRecord], pairs: Sequence[Pair], answers: Answers) -> tuple[RecordOutcome, ...]:
    """What a review makes of each record.

    Args:
        records: All records of the key.
        pairs: All remarks beside all records.
        answers: The judge's, of the pairs that it was asked about; the other open ones are ambiguous.
    """
    return tuple(_outcome(record, [pair for pair in pairs if pair.record is record], answers) for record in records)


def open_pairs(pairs: Sequence[Pair], most: int) -> list[Pair]:
    """The pairs that a judge decides: of records that no remark names for certain, a few each.

    Args:
        pairs: All remarks beside all records.
        most: Remarks a record, those that print or say most first.
    """
    by_record: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_record.setdefault(pair.record.record_id, []).append(pair)
    chosen = []
    for own in by_record.values():
        printed, recorded = ([p for p in own if (p.point.rank is not None) is printed] for printed in (True, False))
        for some in (printed, recorded):
            if not any(pair.verdict == "found" for pair in some):
                waiting = [pair for pair in some if pair.verdict == "judge"]
                chosen += sorted(waiting, key=lambda pair: _CONTENT.index(pair.content))[:most]
    return chosen


_CONTENT: tuple[Content, ...] = ("both", "named", "open", "vague", "other")


def _outcome(record: PlantedRecord, pairs: Sequence[Pair], answers: Answers) -> RecordOutcome:
    return RecordOutcome(
        record_id=record.record_id,
        kind=record.kind,
        severity=record.severity,
        difficulty=record.difficulty,
        silent=record.silent,
        statement=record.statement,
        printed=_hit([pair for pair in pairs if pair.point.rank is not None], answers),
        raised=_hit(pairs, answers),
    )


def _hit(pairs: Sequence[Pair], answers: Answers) -> Hit:
    decided = [(_decided(pair, answers), pair) for pair in pairs]
    if not decided:
        return Hit(verdict="missed")
    verdict, best = min(decided, key=lambda one: (_ORDER.index(one[0]), one[1].point.rank or len(pairs)))
    if verdict == "missed":
        return Hit(verdict="missed")
    again = [pair.point.id for own, pair in decided if own == "found" and pair is not best]
    point = best.point
    return Hit(
        verdict=verdict,
        point=point.id,
        rank=point.rank,
        place=best.place,
        content=best.content,
        text=_short(best.words or point.text),
        duplicates=tuple(again),
        answer=answers.get(best.key),
    )


def _short(text: str) -> str:
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]} […]"


def _decided(pair: Pair, answers: Answers) -> Verdict:
    if pair.verdict != "judge":
        return pair.verdict
    missed: Verdict = "near" if pair.place == "yes" else "missed"
    said = answers.get(pair.key)
    decided: Mapping[Answer | None, Verdict] = {"same": "found", "related": missed, "other": missed, "failed": "failed"}
    return decided.get(said, "ambiguous")


def matched(matcher: Matcher, raised: Raised, answers: Answers | None = None) -> tuple[RecordOutcome, ...]:
    """All at once, without a judge or with answers that are there."""
    return outcomes(matcher.records, matcher.pairs(raised.all), answers or {})
